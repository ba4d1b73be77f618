"""The compact `tokenizer.json`: the model's own file reduced to the kept pieces.

Normaliser and post-processor are taken over as they are, scores too; only ids are renumbered. An id
of the result is the row of the graph's word table, so both must be made from the same `kept`.

One thing is better than in the original: there the pieces `<s>`, `<pad>`, `</s>`, `<unk>` and
`<mask>` have the score 0, the best of all, so a text that contains one of them literally always
becomes the control token, even for a caller that asks for special tokens to be encoded as text.
Here their score is too bad to be chosen, as SentencePiece itself never chooses a control symbol.
The worst score of the vocabulary also sets the price of an unknown character; that changes
nothing as long as each character of each kept piece is a kept piece itself, which is checked: an
unknown character is then unknown on every path.
"""

from __future__ import annotations

import json
from typing import Any, Sequence

SPECIAL_SCORE = -1000.0
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
# `query: ` and `passage: ` come out as these; without them every vector is bad.
PREFIX_PIECES = ("▁que", "ry", "▁passage", ":")


class TokenizerError(ValueError):
    """The tokenizer does not fit the weights or the kept pieces."""


def metaspace(section: dict[str, Any]) -> dict[str, Any]:
    """The pre-tokenizer in today's spelling; the original writes `add_prefix_space`."""
    if section.get("type") != "Metaspace" or not section.get("add_prefix_space"):
        raise TokenizerError("the pre-tokenizer is not the Metaspace this module knows")
    return {
        "type": "Metaspace",
        "replacement": section["replacement"],
        "prepend_scheme": "always",
        "split": True,
    }


def compact(original: dict[str, Any], pieces: Sequence[str], kept: Sequence[int]) -> dict[str, Any]:
    """The tokenizer over the kept pieces. `pieces` are those of the weights, as a check."""
    model = original["model"]
    if model["type"] != "Unigram" or [piece for piece, _ in model["vocab"]] != list(pieces):
        raise TokenizerError("the pieces of the tokenizer are not those of the weights")
    renumbered = {int(old): new for new, old in enumerate(kept)}
    vocabulary = [model["vocab"][old] for old in renumbered]
    vocabulary = [
        [piece, SPECIAL_SCORE if piece in SPECIAL else score] for piece, score in vocabulary
    ]
    known = {piece for piece, _ in vocabulary}
    lost = [piece for piece in (*SPECIAL, *PREFIX_PIECES) if piece not in known]
    if lost:
        raise TokenizerError(f"the kept pieces lack {lost}")
    characters = {piece for piece, _ in model["vocab"] if len(piece) == 1}
    characters.update(*(known - set(SPECIAL)))
    if not characters <= known:
        raise TokenizerError(f"the kept pieces lack {len(characters - known)} single characters")

    post_processor = json.loads(json.dumps(original["post_processor"]))
    for special in post_processor["special_tokens"].values():
        special["ids"] = [renumbered[old] for old in special["ids"]]
    return {
        "version": original["version"],
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {**token, "id": renumbered[token["id"]]} for token in original["added_tokens"]
        ],
        "normalizer": original["normalizer"],
        "pre_tokenizer": metaspace(original["pre_tokenizer"]),
        "post_processor": post_processor,
        "decoder": metaspace(original["decoder"]),
        "model": {
            "type": "Unigram",
            "unk_id": renumbered[model["unk_id"]],
            "vocab": vocabulary,
            "byte_fallback": False,
        },
    }


def serialise(tokenizer: dict[str, Any]) -> bytes:
    """The file's bytes: compact, UTF-8."""
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
