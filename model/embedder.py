"""Runs a model with the Python ONNX Runtime, for the reference vectors only.

One text a run, one thread: dynamic quantisation is per tensor, so a text's vector would change with
its batch.
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # must be set before the library is loaded

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import command
import folder
import texts
from weights import Float32

PREFIXES = {texts.PASSAGE: folder.PASSAGE_PREFIX, texts.QUERY: folder.QUERY_PREFIX}


def read_tokenizer(content: str) -> Tokenizer:
    """A tokenizer that takes control tokens in a text as text, and neither cuts nor pads."""
    tokenizer = Tokenizer.from_str(content)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


class Embedder:
    """A session and a tokenizer."""

    def __init__(self, model: bytes | Path, tokenizer: Tokenizer) -> None:
        if onnxruntime.__version__ != folder.RUNTIME:
            raise command.Failure(
                f"ONNX Runtime is {onnxruntime.__version__}, not {folder.RUNTIME}"
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            model if isinstance(model, bytes) else str(model),
            options,
            providers=["CPUExecutionProvider"],
        )
        self.tokenizer = tokenizer

    def ids(self, text: str, kind: str) -> list[int]:
        """The token ids of a text, prefix and control tokens included."""
        return self.tokenizer.encode(PREFIXES[kind] + text).ids

    def vector(self, ids: list[int]) -> Float32:
        """The sentence embedding."""
        batch = np.array([ids], np.int64)
        feed = {"input_ids": batch, "attention_mask": np.ones_like(batch)}
        vector: Float32 = self.session.run(["sentence_embedding"], feed)[0][0]
        return vector


def cosine(left: Float32, right: Float32) -> float:
    """The cosine of two vectors, in double precision."""
    a, b = left.astype(np.float64), right.astype(np.float64)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
