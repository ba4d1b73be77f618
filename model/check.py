"""Checks a built model folder against what is pinned and recorded here.

    python3 model/check.py MODEL_DIR [--wheels DIR]

- the files are those of `expected.json`;
- token ids equal those of `reference.json`, vectors agree with it;
- the compact tokenizer agrees with the model's own on every recorded text and on every kept piece
  taken as a text, wherever the own one uses kept pieces only;
- a control token written out in a text is never read as one.

Needs the packages of `fetch.sh --reference`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import build
import command
import folder
import inputs
import reference
import tokenizer

# The same runtime on another CPU sums in another order; more than this is another model.
LOWEST_COSINE = 0.9999
LENGTH_TOLERANCE = 1e-5


def check_files(model_folder: Path) -> None:
    """The folder holds the pinned files."""
    different = folder.differences(folder.read_digests(model_folder))
    if different:
        raise command.Failure(f'"{model_folder}" differs from expected.json: {different}')


def check_vectors(model_folder: Path) -> float:
    """Ids and vectors agree with the reference; returns the lowest cosine."""
    import numpy as np

    import embedder

    recorded = json.loads(reference.OUTPUT.read_text("utf-8"))
    if recorded["runtime"] != folder.RUNTIME:
        raise command.Failure(f"reference.json is of ONNX Runtime {recorded['runtime']}")
    text = (model_folder / folder.TOKENIZER).read_text("utf-8")
    model = embedder.Embedder(model_folder / folder.GRAPH, embedder.read_tokenizer(text))
    lowest = 1.0
    for item in recorded["items"]:
        ids = model.ids(item["text"], item["kind"])
        if ids != item["ids"]:
            raise command.Failure(f"token ids differ for {item['text']!r}")
        vector = model.vector(ids)
        if abs(float(np.linalg.norm(vector)) - 1) > LENGTH_TOLERANCE:
            raise command.Failure(f"vector is not of length one for {item['text']!r}")
        cosine = embedder.cosine(vector, np.array(item["vector"], np.float32))
        if math.isnan(cosine) or cosine < LOWEST_COSINE:
            raise command.Failure(f"cosine to the reference is {cosine} for {item['text']!r}")
        if item["fp32_cosine"] < reference.LOWEST_FP32_COSINE:
            raise command.Failure(f"recorded cosine to fp32 is too low for {item['text']!r}")
        lowest = min(lowest, cosine)
    return lowest


def compare_tokenizers(
    compact: Any, original: Any, kept: list[int], candidates: Iterable[str]
) -> tuple[int, int]:
    """How many texts both cut alike, and how many the compact one cannot cut alike."""
    new_id = {old: new for new, old in enumerate(kept)}
    same = without = 0
    for text in candidates:
        wanted = [new_id.get(old) for old in original.encode(text).ids]
        if None in wanted:
            without += 1
        elif wanted == compact.encode(text).ids:
            same += 1
        else:
            raise command.Failure(f"tokenizers differ for {text!r}")
    return same, without


def check_tokenizer(model_folder: Path, wheels: Path) -> tuple[int, int]:
    """The compact tokenizer against the model's own."""
    import embedder
    import texts

    compact = embedder.read_tokenizer((model_folder / folder.TOKENIZER).read_text("utf-8"))
    source = inputs.tokenizer(wheels)
    original = embedder.read_tokenizer(json.dumps(source))
    kept = build.read_kept().tolist()

    def has_control(text: str) -> bool:
        return any(special in text for special in tokenizer.SPECIAL)

    # The original reads a control token in a text as one, whatever it is told: no parity there.
    recorded = [text for text, _ in texts.all_texts()]
    for text in [*filter(has_control, recorded), *tokenizer.SPECIAL]:
        inner = compact.encode(text).tokens[1:-1]
        if set(inner) & set(tokenizer.SPECIAL):
            raise command.Failure(f"a control token is read inside {text!r}")
    pieces = (source["model"]["vocab"][old][0] for old in kept)
    candidates = [text for text in (*recorded, *pieces) if not has_control(text)]
    return compare_tokenizers(compact, original, kept, candidates)


def check(model_folder: Path, wheels: Path) -> str:
    """All checks; returns a summary."""
    check_files(model_folder)
    lowest = check_vectors(model_folder)
    same, without = check_tokenizer(model_folder, wheels)
    return (
        f"{model_folder}: files as pinned, lowest cosine to the reference {lowest:.6f}, "
        f"{same} texts tokenised as by the original ({without} need pieces left out)"
    )


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Checks a built model folder.")
    parser.add_argument("model", type=Path, metavar="MODEL_DIR", help="folder made by build.py")
    parser.add_argument("--wheels", type=Path, metavar="DIR", default=inputs.DEFAULT_WHEELS)
    arguments = parser.parse_args()
    return command.run(lambda: check(arguments.model, arguments.wheels))


if __name__ == "__main__":
    sys.exit(main())
