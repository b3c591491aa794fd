"""Standard normal draws inside kernels, by the ziggurat."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import exponential, next_word, uniform

_LAYERS = 256
# Marsaglia and Tsang (2000): right edge of the base layer and area of each of the 256 layers.
_TAIL_START = 3.6541528853610088
_LAYER_AREA = 0.00492867323399


def _layer_edges() -> npt.NDArray[np.float64]:
    """Right edges x_0 > x_1 > … > x_256 = 0 of layers of equal area under exp(−x²/2)."""
    x = np.zeros(_LAYERS + 1)
    x[0] = _LAYER_AREA * math.exp(0.5 * _TAIL_START**2)
    x[1] = _TAIL_START
    for i in range(2, _LAYERS):
        x[i] = math.sqrt(-2.0 * math.log(math.exp(-0.5 * x[i - 1] ** 2) + _LAYER_AREA / x[i - 1]))
    return x


_EDGE = _layer_edges()
_HEIGHT = np.exp(-0.5 * _EDGE**2)


@kernel
def normal(stream):
    """Return a draw from N(0, 1)."""
    while True:
        word = next_word(stream)
        layer = np.int64(word & np.uint64(_LAYERS - 1))
        # The bits above the layer's: one for the sign, 53 for the place in the layer.
        sign = 1.0 - 2.0 * np.float64((word >> np.uint64(8)) & np.uint64(1))
        x = np.float64(word >> np.uint64(11)) * 2.0**-53 * _EDGE[layer]
        if x < _EDGE[layer + 1]:
            return sign * x
        if layer == 0:
            return sign * _normal_tail(stream)
        low, high = _HEIGHT[layer], _HEIGHT[layer + 1]
        if low + (high - low) * uniform(stream) < math.exp(-0.5 * x * x):
            return sign * x


@kernel
def _normal_tail(stream):
    """Return a draw from N(0, 1) beyond the base layer (Marsaglia 1964)."""
    while True:
        x = exponential(stream) / _TAIL_START
        if 2.0 * exponential(stream) > x * x:
            return _TAIL_START + x
