"""Distributions of the number of indicators that are on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

Float = npt.NDArray[np.float64]
BLOCK = 256


def size_distribution(p: Float) -> Float:
    """Return P(Σ s = 0 … d) for independent indicators with probabilities p.

    By its Fourier transform, ∏ (1 − p_j + p_j e^{iωk}); binomial if all p are the same.
    """
    d = p.size
    values, counts = np.unique(p, return_counts=True)
    if values.size == 1:
        return np.asarray(binom.pmf(np.arange(d + 1), d, values[0]))
    half = np.arange((d + 1) // 2 + 1)
    z = np.exp(-2j * np.pi * half / (d + 1))
    transform = np.ones(half.size, complex)
    for value, count in zip(values, counts, strict=True):
        transform *= (1.0 - value + value * z) ** int(count)
    return np.maximum(np.fft.irfft(transform, d + 1), 0.0)


def mean_size_distribution(given: Float) -> Float:
    """Return the average of the distributions of rows of probabilities."""
    same = (given == given[:, :1]).all(axis=1)
    d = given.shape[1]
    total = np.zeros(d + 1)
    for p in given[~same]:
        total += size_distribution(p)
    p = given[same, 0]
    for start in range(0, p.size, BLOCK):
        total += binom.pmf(np.arange(d + 1), d, p[start : start + BLOCK, None]).sum(axis=0)
    return total / len(given)
