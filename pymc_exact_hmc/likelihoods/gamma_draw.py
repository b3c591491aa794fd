"""Gamma draws inside kernels (Marsaglia and Tsang 2000)."""

from __future__ import annotations

import math

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import exponential
from pymc_exact_hmc.weights.normal import normal


@kernel
def gamma(stream, shape):
    """Return a draw from Gamma(shape, 1), shape > 0."""
    if shape < 1.0:
        # Gamma(a) = Gamma(a + 1) · U^(1/a), and −log U is exponential.
        return gamma_above_one(stream, shape + 1.0) * math.exp(-exponential(stream) / shape)
    return gamma_above_one(stream, shape)


@kernel
def gamma_above_one(stream, shape):
    """Return a draw from Gamma(shape, 1), shape ≥ 1."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    # Not a number would never be accepted.
    while d < math.inf:
        x = normal(stream)
        v = (1.0 + c * x) ** 3
        # −log U of the textbook's uniform.
        if v > 0.0 and exponential(stream) > -0.5 * x * x - d * (1.0 - v + math.log(v)):
            return d * v
    return math.nan
