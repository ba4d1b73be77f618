"""SmoothQuant: the factors that move the range of the activations into the weights.

Source: Xiao et al. 2022, arXiv:2211.10438, equation 4, with the factors of a layer divided by their
geometric mean. The activation maxima (per input channel of every linear layer, measured once over
Chinese and English text) come from `activation_maxima.npz`.

What must hold: the same bits on every machine, because `expected.json` pins the model. numpy's own
`power`, `exp` and `log` depend on the vector instructions of the CPU, so the few thousand factors
are computed one by one in double precision and rounded to 32 bits once. `MARGIN` proves that an
error of the last bits of a double cannot change that rounding.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import layers
from weights import Float32, Weights

ALPHA = 0.65
FLOOR = 1e-4  # a channel that never fires or never counts must not give an infinite factor
MARGIN = 1e-13  # relative; some twenty times the rounding error of the double computation


class UnstableScale(ArithmeticError):
    """A factor lies too close to the middle of two floats: its rounding could differ elsewhere."""


def round_factor(value: float) -> np.float32:
    """Rounds to 32 bits, refusing a value whose rounding hangs on the last bits of the double."""
    low, high = np.float32(value * (1 - MARGIN)), np.float32(value * (1 + MARGIN))
    if low != high:
        raise UnstableScale(f"factor {value!r} has no stable 32-bit rounding")
    return low


def layer_factors(activation: Float32, weight: Float32) -> Float32:
    """The factors of one layer from the maxima per input channel."""
    logs = [
        ALPHA * math.log(max(float(a), FLOOR)) - (1 - ALPHA) * math.log(max(float(w), FLOOR))
        for a, w in zip(activation, weight, strict=True)
    ]
    mean = math.fsum(logs) / len(logs)
    return np.array([round_factor(math.exp(value - mean)) for value in logs], np.float32)


def factors(weights: Weights, maxima_file: Path) -> dict[str, Float32]:
    """The factors of every linear layer by tag; activations are divided, weight rows multiplied."""
    result = {}
    with np.load(maxima_file) as maxima:
        for layer in range(weights.layers):
            for linear in layers.ALL:
                channel_max = np.abs(linear.matrix(weights, layer)).max(axis=0)
                tag = linear.tag(layer)
                result[tag] = layer_factors(maxima[tag], channel_max)
    return result
