"""The finished model folder: its files, its manifest, and whether it is the one expected.

Standard library only, so that "is it already there?" is answered before any package is imported.
`expected.json` pins the SHA-256 of every file; a folder is right when all of them match.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected.json"
LICENSE = HERE / "LICENSE-multilingual-e5-small"

NAME = "multilingual-e5-small"
GRAPH = "model.onnx"
DATA = "model.onnx.data"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
LICENSE_NAME = "LICENSE"
QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "
RUNTIME = "1.28.0"  # the ONNX Runtime every figure and `reference.json` were made with


def manifest(
    contents: dict[str, bytes], max_tokens: int, dims: int, pad_id: int, source: str
) -> bytes:
    """What a reader of the folder must know besides the graph and the tokenizer, as JSON."""
    fields = {
        "name": NAME,
        "output": "sentence_embedding",
        "pooling": "mean",
        "normalize": True,
        "query_prefix": QUERY_PREFIX,
        "passage_prefix": PASSAGE_PREFIX,
        "max_tokens": max_tokens,
        "dims": dims,
        "pad_id": pad_id,
        "license": "MIT",
        "source": source,
        "runtime": RUNTIME,
        "files": digests(contents),
    }
    return (json.dumps(fields, indent=2) + "\n").encode("utf-8")


def digests(contents: dict[str, bytes]) -> dict[str, str]:
    """SHA-256 by file name."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def expected() -> dict[str, str]:
    """The pinned SHA-256 by file name."""
    return json.loads(EXPECTED.read_text("utf-8"))["files"]


def differences(found: dict[str, str]) -> list[str]:
    """The names of the files that are missing, additional or other than pinned."""
    pinned = expected()
    names = sorted(pinned.keys() | found.keys())
    return [name for name in names if pinned.get(name) != found.get(name)]


def read_digests(folder: Path) -> dict[str, str]:
    """SHA-256 of the pinned files that exist in a folder; other files there are not looked at."""
    result = {}
    for name in expected():
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                result[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return result


def write(folder: Path, contents: dict[str, bytes]) -> None:
    """Writes every file whole or not at all; the manifest comes last and marks a finished folder.

    A file is replaced, never written over: a server may have the old one mapped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(contents, key=lambda name: (name == MANIFEST, name)):
        handle, path = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(contents[name])
                os.fchmod(file.fileno(), 0o644)  # the server runs as another user
            os.replace(path, folder / name)
        except BaseException:
            os.unlink(path)
            raise


def pin(found: dict[str, str]) -> None:
    """Writes `expected.json`."""
    EXPECTED.write_text(json.dumps({"files": found}, indent=2) + "\n", "utf-8")
