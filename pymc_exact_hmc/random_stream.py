"""Random numbers inside kernels: xoshiro256++ seeded afresh at every call.

Handing a ``numpy.random.Generator`` to compiled code costs about 13 µs per call and 5 to
7 ns per number; four seed words drawn from that generator cost 1 µs and 1 to 3 ns. The
words come from the chain's own generator, so a draw is still a function of its seed.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel

Stream = npt.NDArray[np.uint64]

_LAYERS = 256
# Marsaglia and Tsang (2000): right edge of the base layer and area of each of the 256 layers.
_TAIL_START = 7.69711747013104972
_LAYER_AREA = 0.0039496598225815571993


def seed_words(rng: np.random.Generator) -> Stream:
    """Return the four words that start a stream."""
    return rng.bit_generator.random_raw(4)


def _layer_edges() -> npt.NDArray[np.float64]:
    """Right edges x_0 > x_1 > … > x_256 = 0 of layers of equal area under exp(−x)."""
    x = np.zeros(_LAYERS + 1)
    x[0] = _LAYER_AREA * math.exp(_TAIL_START)
    x[1] = _TAIL_START
    for i in range(2, _LAYERS):
        x[i] = -math.log(math.exp(-x[i - 1]) + _LAYER_AREA / x[i - 1])
    return x


_EDGE = _layer_edges()
_HEIGHT = np.exp(-_EDGE)


@kernel
def next_word(stream):
    """Return 64 random bits (xoshiro256++, Blackman and Vigna 2019)."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    total = s0 + s3
    word = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3
    return word


@kernel
def uniform(stream):
    """Return a draw from U[0, 1)."""
    return np.float64(next_word(stream) >> np.uint64(11)) * 2.0**-53


@kernel
def exponential(stream):
    """Return a draw from Exp(1), by the ziggurat."""
    shift = 0.0
    while True:
        word = next_word(stream)
        layer = np.int64(word & np.uint64(_LAYERS - 1))
        x = np.float64(word >> np.uint64(11)) * 2.0**-53 * _EDGE[layer]
        if x < _EDGE[layer + 1]:
            return shift + x
        if layer == 0:
            # Beyond the base layer the law is Exp(1) again, moved to the right.
            shift += _TAIL_START
        else:
            low, high = _HEIGHT[layer], _HEIGHT[layer + 1]
            if low + (high - low) * uniform(stream) < math.exp(-x):
                return shift + x


@kernel
def half_gamma(stream):
    """Return a draw from Gamma(½, 1), the law of q²/2 with q ~ N(0, 1)."""
    return exponential(stream) * math.cos(math.pi * uniform(stream)) ** 2


@kernel
def shuffle_front(stream, order, n):
    """Make ``order[:n]`` the start of a uniformly random permutation of 0 … d−1."""
    d = order.size
    for i in range(d):
        order[i] = i
    for i in range(n):
        k = i + np.int64(uniform(stream) * (d - i))
        order[i], order[k] = order[k], order[i]
