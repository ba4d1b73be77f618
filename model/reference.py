"""Writes `reference.json`: token ids and vectors that every other embedder must reproduce.

    python3 model/reference.py MODEL_DIR [--wheels DIR] [--output FILE]

The vectors are those of the shipped model in the Python ONNX Runtime. `fp32_cosine` compares each
with the same weights in 32-bit arithmetic and must not fall under `LOWEST_FP32_COSINE`. Run it
after a deliberate change of the model, with `fetch.sh --reference` done and PYTHONPATH set.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

import build
import command
import folder
import inputs
import texts

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "reference.json"
LOWEST_FP32_COSINE = 0.995
DECIMALS = 6


def items(model_folder: Path, wheels: Path) -> list[dict[str, object]]:
    """Every text with its ids, its vector and its cosine to 32-bit arithmetic."""
    import embedder

    tokenizer = embedder.read_tokenizer((model_folder / folder.TOKENIZER).read_text("utf-8"))
    shipped = embedder.Embedder(model_folder / folder.GRAPH, tokenizer)
    yardstick = embedder.Embedder(build.make_yardstick(wheels), tokenizer)
    result = []
    for text, kind in texts.all_texts():
        ids = shipped.ids(text, kind)
        vector = shipped.vector(ids)
        result.append(
            {
                "text": text,
                "kind": kind,
                "ids": ids,
                "vector": [round(float(value), DECIMALS) for value in vector],
                "fp32_cosine": round(embedder.cosine(vector, yardstick.vector(ids)), DECIMALS),
            }
        )
    return result


def write(model_folder: Path, wheels: Path, output: Path) -> str:
    """Writes the file and returns a summary."""
    different = folder.differences(folder.read_digests(model_folder))
    if different:
        raise command.Failure(f'"{model_folder}" is not the expected model: {", ".join(different)}')
    found = items(model_folder, wheels)
    cosines = [float(str(item["fp32_cosine"])) for item in found]
    # One item a line: a changed text shows as a changed line.
    lines = ",\n".join(json.dumps(item) for item in found)
    output.write_text(
        f'{{"runtime": "{folder.RUNTIME}", "items": [\n{lines}\n]}}\n', encoding="utf-8"
    )
    lowest = min(cosines)
    if lowest < LOWEST_FP32_COSINE:
        text = found[cosines.index(lowest)]["text"]
        raise command.Failure(f"cosine to fp32 is {lowest} < {LOWEST_FP32_COSINE} for {text!r}")
    return (
        f"{output}: {len(found)} texts, {output.stat().st_size / 1e3:.0f} kB, "
        f"cosine to fp32 min {lowest:.6f} mean {statistics.mean(cosines):.6f}"
    )


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Writes the reference ids and vectors.")
    parser.add_argument("model", type=Path, metavar="MODEL_DIR", help="folder made by build.py")
    parser.add_argument("--wheels", type=Path, metavar="DIR", default=inputs.DEFAULT_WHEELS)
    parser.add_argument("--output", type=Path, metavar="FILE", default=OUTPUT)
    arguments = parser.parse_args()
    return command.run(lambda: write(arguments.model, arguments.wheels, arguments.output))


if __name__ == "__main__":
    sys.exit(main())
