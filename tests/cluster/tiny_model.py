"""Writes embedding models of a few kilobytes: any number of dimensions, ready in a millisecond.

A model is a table with one row a byte; a text's vector is the mean of its bytes' rows. It ranks like a bag of
bytes, which is enough to tell vectors of one model from those of another. Rows are drawn from a seed, so the
same arguments give the same vectors everywhere. One byte can be poisoned: its row is not a number.

The ONNX file is written by hand (field numbers from onnx.proto), so that no test needs the onnx package.
"""

from __future__ import annotations

import json
import math
import random
import struct
from pathlib import Path

# Byte whose row is NaN in a poisoned model.
POISON = "~"
VOCABULARY = 256

FLOAT, INT64 = 1, 7


def write(folder: Path, *, dims: int, seed: int = 1, poisoned: bool = False):
    """Writes a model into `folder`, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    source = random.Random(seed)
    table = [source.uniform(-1.0, 1.0) for _ in range(VOCABULARY * dims)]
    if poisoned:
        start = ord(POISON) * dims
        table[start:start + dims] = [math.nan] * dims
    (folder / "model.onnx").write_bytes(_model(table, dims))
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()), encoding="utf-8")
    manifest = {"name": folder.name, "dims": dims, "pooling": "mean", "max_tokens": 512, "vocab_size": VOCABULARY}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def _tokenizer() -> dict:
    """One token a byte: byte-level BPE without merges."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    # The spelling of bytes that GPT-2 introduced.
    spelling = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
            "vocab": {spelling[byte]: byte for byte in range(256)}, "merges": [],
        },
    }


def _model(table: list[float], dims: int) -> bytes:
    """ModelProto: last_hidden_state = Gather(table, input_ids)."""
    weights = b"".join([
        _number(1, VOCABULARY), _number(1, dims), _number(2, FLOAT), _text(8, "table"),
        _block(9, struct.pack(f"<{len(table)}f", *table)),
    ])
    gather = b"".join([_text(1, "table"), _text(1, "input_ids"), _text(2, "last_hidden_state"), _text(4, "Gather")])
    graph = b"".join([
        _block(1, gather), _text(2, "tiny"), _block(5, weights),
        _block(11, _tensor("input_ids", INT64, "batch", "tokens")),
        _block(11, _tensor("attention_mask", INT64, "batch", "tokens")),
        _block(12, _tensor("last_hidden_state", FLOAT, "batch", "tokens", dims)),
    ])
    operators = _text(1, "") + _number(2, 17)
    return _number(1, 8) + _block(7, graph) + _block(8, operators)


def _tensor(name: str, kind: int, *shape: str | int) -> bytes:
    """ValueInfoProto; a size is a number or a name."""
    sizes = b"".join(_block(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape)
    return _text(1, name) + _block(2, _block(1, _number(1, kind) + _block(2, sizes)))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _block(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _block(field, value.encode())
