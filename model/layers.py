"""The linear layers of one transformer block: one list for the scales and for the graph."""

from __future__ import annotations

from dataclasses import dataclass

from weights import Float32, Weights


@dataclass(frozen=True)
class Linear:
    """A product with a weight matrix: the weights it stacks; `wide` if it reads the wide side."""

    name: str
    parts: tuple[str, ...]
    wide: bool = False

    def tag(self, layer: int) -> str:
        """The name of this product in the graph and in the activation maxima."""
        return f"l{layer}.{self.name}"

    def matrix(self, weights: Weights, layer: int) -> Float32:
        """The weights as 32-bit floats, [outputs, inputs]."""
        return weights.linear(
            layer, self.parts, weights.feed_forward if self.wide else weights.hidden
        )


QKV = Linear("qkv", ("q", "k", "v"))
ATTENTION_OUT = Linear("ao", ("ao",))
FEED_IN = Linear("fi", ("fi",))
FEED_OUT = Linear("fo", ("fo",), wide=True)
ALL = (QKV, ATTENTION_OUT, FEED_IN, FEED_OUT)
