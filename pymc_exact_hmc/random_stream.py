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


@kernel(inline="always")
def advance(s0, s1, s2, s3):
    """Return 64 random bits and the next state (xoshiro256++, Blackman and Vigna 2019)."""
    total = s0 + s3
    word = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return word, s0, s1, s2, s3


@kernel
def next_word(stream):
    """Return 64 random bits."""
    word, s0, s1, s2, s3 = advance(stream[0], stream[1], stream[2], stream[3])
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
def fill_exponential(stream, out, n):
    """Draw ``out[:n]`` from Exp(1): what ``exponential`` would draw, in two thirds of its time."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    for i in range(n):
        word, s0, s1, s2, s3 = advance(s0, s1, s2, s3)
        layer = np.int64(word & np.uint64(_LAYERS - 1))
        x = np.float64(word >> np.uint64(11)) * 2.0**-53 * _EDGE[layer]
        if not x < _EDGE[layer + 1]:
            stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3
            x = beyond_layer(stream, layer, x)
            s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
        out[i] = x
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3


@kernel
def beyond_layer(stream, layer, x):
    """Return what the ziggurat makes of a point to the right of the next layer's edge."""
    if layer == 0:
        return _TAIL_START + exponential(stream)
    low, high = _HEIGHT[layer], _HEIGHT[layer + 1]
    if low + (high - low) * uniform(stream) < math.exp(-x):
        return x
    return exponential(stream)


@kernel
def half_gamma(stream):
    """Return a draw from Gamma(½, 1), the law of q²/2 with q ~ N(0, 1)."""
    return exponential(stream) * math.cos(math.pi * uniform(stream)) ** 2


@kernel
def shuffle_front(stream, order, n):
    """Make ``order[:n]`` the start of a uniformly random permutation of 0 … d−1.

    Two places from each word: up to d/2³² from uniform, which no law of s depends on, because
    walls that are hit in any order leave it invariant.
    """
    d = order.size
    for i in range(d):
        order[i] = i
    word = np.uint64(0)
    for i in range(n):
        word = next_word(stream) if i % 2 == 0 else word >> np.uint64(32)
        low = word & np.uint64(0xFFFFFFFF)
        k = i + np.int64((low * np.uint64(d - i)) >> np.uint64(32))
        order[i], order[k] = order[k], order[i]


@kernel
def binomial(stream, n, p):
    """Return a draw from Bin(n, p): how many of n uniform numbers are below p.

    They are compared with p bit by bit, 64 at a time, until all are known to differ from it.
    """
    total = np.int64(0)
    for first in range(0, n, 64):
        # Lanes whose numbers have so far the same bits as p.
        equal = ~np.uint64(0) >> np.uint64(64 - min(64, n - first))
        rest = p
        while equal != np.uint64(0) and rest > 0.0:
            word = next_word(stream)
            rest *= 2.0
            if rest >= 1.0:
                rest -= 1.0
                total += count_bits(equal & ~word)
                equal &= word
            else:
                equal &= ~word
    return total


@kernel
def count_bits(word):
    """Return how many bits of a word are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    fours = np.uint64(0x3333333333333333)
    word = (word & fours) + ((word >> np.uint64(2)) & fours)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def draw_hits(stream, d, half_turns, n_hits):
    """Draw the number of hits of d walls in some half turns, several times."""
    for i in range(n_hits.size):
        n_hits[i] = number_of_hits(stream, d, half_turns)


@kernel
def number_of_hits(stream, d, half_turns):
    """Return a whole number of hits of every wall, and one more of some.

    Those are the walls whose first hit, uniform over a half turn, falls into the last part.
    """
    whole = np.int64(half_turns)
    return whole * d + binomial(stream, d, half_turns - whole)
