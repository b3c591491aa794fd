"""Inverse Gaussian draws inside kernels (Michael, Schucany and Haas 1976)."""

from __future__ import annotations

import math

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import uniform
from pymc_exact_hmc.weights.normal import normal

TINY = 1e-300


@kernel
def inverse_gaussian(stream, q):
    """Return a draw from the inverse Gaussian of mean 1/q and shape 1; q = 0 gives 1/χ²₁.

    In terms of 1/mean nothing cancels, however large the mean.
    """
    x = normal(stream)
    y = max(x * x, TINY)
    small = 1.0 / (q + 0.5 * (y + math.sqrt(y * (4.0 * q + y))))
    if uniform(stream) * (1.0 + q * small) <= 1.0:
        return small
    return 1.0 / (q * q * small)
