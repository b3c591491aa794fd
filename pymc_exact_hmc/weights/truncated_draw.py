"""Exact draws from the density ∝ exp(−½Dx² + ρx) on an interval.

Rejection from a normal or a uniform law where the mean is inside or near. Where it lies
outside the interval, t = x − lower has the density ∝ exp(κt − ½Dt²) with the slope
κ = ρ − D·lower < 0. Then E = −κt + ½Dt² is nearly exponential: drawn from Exp(1), with

    t = 2E / (−κ + √(κ² + 2DE)),    accept with probability −κ/√(κ² + 2DE)

(Marsaglia 1964), which stays exact for D = 0 and in the farthest tail.
"""

from __future__ import annotations

import math

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import exponential, uniform
from pymc_exact_hmc.weights.normal import normal


@kernel
def draw_truncated(stream, D, rho, lower, upper):
    """Return a draw from exp(−½Dx² + ρx) on lower ≤ x ≤ upper (D ≥ 0, a proper law)."""
    # Not a number would never be accepted.
    if not (D >= 0.0 and abs(rho) < np.inf and lower < upper):
        return np.nan
    if 2.0 * rho < D * (lower + upper) or upper == np.inf:
        x = _draw_near_lower(stream, D, rho, lower, upper)
    else:
        x = -_draw_near_lower(stream, D, -rho, -upper, -lower)
    return min(max(x, lower), upper)


@kernel
def _draw_near_lower(stream, D, rho, lower, upper):
    """Mean nearer to the lower bound than to the upper one, or no upper bound."""
    if lower == -np.inf:
        return (rho + math.sqrt(D) * normal(stream)) / D if D > 0.0 else np.nan
    kappa = rho - D * lower
    width = upper - lower
    if kappa == 0.0 and upper == np.inf and D > 0.0:
        return lower + abs(normal(stream)) / math.sqrt(D)
    if kappa < 0.0 and kappa * kappa >= 0.2 * D:
        return lower + _draw_tail(stream, D, kappa, width)
    if D * width * width < 3.0:
        return lower + _draw_by_uniform(stream, D, kappa, width)
    if not D > 0.0:
        return np.nan
    scale = 1.0 / math.sqrt(D)
    while True:
        t = kappa / D + scale * normal(stream)
        if 0.0 <= t <= width:
            return lower + t


@kernel
def _draw_tail(stream, D, kappa, width):
    # The share of Exp(1) that falls into the interval.
    share = 1.0
    if width < np.inf:
        share = -math.expm1(width * (kappa - 0.5 * D * width))
    while True:
        energy = -math.log1p(-share * uniform(stream)) if share < 1.0 else exponential(stream)
        root = math.sqrt(kappa * kappa + 2.0 * D * energy)
        if uniform(stream) * root <= -kappa:
            return 2.0 * energy / (root - kappa)


@kernel
def _draw_by_uniform(stream, D, kappa, width):
    """Reject from U(0, width); the density is highest at the mean, or at 0."""
    top = kappa / D if kappa > 0.0 else 0.0
    while True:
        t = width * uniform(stream)
        drop = (t - top) * (kappa - 0.5 * D * (t + top))
        if -exponential(stream) <= drop:
            return t
