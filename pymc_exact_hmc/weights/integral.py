"""log ∫ exp(−½Dx² + ρx) dx over an interval, without cancellation or overflow.

Measured from a bound b, x = b + t, the exponent is −½Db² + ρb plus κt − ½Dt² with the
slope κ = ρ − Db. A Gaussian whose mean lies outside the interval is integrated from the
nearer bound, where κ points outwards and

    J(D, κ) = ∫₀^∞ exp(κt − ½Dt²) dt = √(π/2D) erfcx(−κ/√(2D)),    κ ≤ 0.

The form ½ρ²/D + log Φ(·) cancels catastrophically there.
"""

from __future__ import annotations

import math

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.error_function import erfcx

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(12)


@kernel
def tail_integral(D, kappa):
    """Return J(D, κ) for κ ≤ 0; D = 0 is allowed when κ < 0."""
    # Beyond, J(D, κ) = −1/κ to rounding, and D = 0 is met here.
    if kappa * kappa > 1e17 * D:
        return -1.0 / kappa
    return math.sqrt(0.5 * math.pi / D) * erfcx(-kappa / math.sqrt(2.0 * D))


@kernel
def log_integral(D, rho, lower, upper):
    """Return log ∫ exp(−½Dx² + ρx) dx for lower ≤ x ≤ upper.

    D ≥ 0. Infinite, where the integral is.
    """
    if lower == -np.inf:
        if upper == np.inf:
            return 0.5 * rho * rho / D + 0.5 * math.log(2.0 * math.pi / D) if D > 0.0 else np.inf
        return _log_half_line(D, -rho, -upper)
    if upper == np.inf:
        return _log_half_line(D, rho, lower)
    if 2.0 * rho < D * (lower + upper):
        return _log_interval(D, rho, lower, upper)
    # Mirrored, so that the mean is nearer to the lower bound.
    return _log_interval(D, -rho, -upper, -lower)


@kernel
def _log_half_line(D, rho, lower):
    kappa = rho - D * lower
    if kappa < 0.0 or (kappa == 0.0 and D > 0.0):
        return lower * (rho - 0.5 * D * lower) + math.log(tail_integral(D, kappa))
    if not D > 0.0:
        return np.inf
    # The mean is inside: 1 − ½ erfc(z) lies between ½ and 1.
    z = kappa / math.sqrt(2.0 * D)
    mass = 1.0 - 0.5 * math.exp(-z * z) * erfcx(z)
    return 0.5 * rho * rho / D + math.log(math.sqrt(2.0 * math.pi / D) * mass)


@kernel
def _log_interval(D, rho, lower, upper):
    """Bounds finite, mean nearer to the lower bound or below it."""
    width = upper - lower
    kappa = rho - D * lower
    base = lower * (rho - 0.5 * D * lower)
    if max(abs(kappa), D * width) * width < 2.0:
        return base + math.log(_quadrature(D, kappa, width))
    if kappa > 0.0:
        scale = math.sqrt(0.5 / D)
        mass = math.erf(kappa * scale) + math.erf((D * width - kappa) * scale)
        return 0.5 * rho * rho / D + math.log(math.sqrt(0.5 * math.pi / D) * mass)
    rest = math.exp(width * (kappa - 0.5 * D * width)) * tail_integral(D, kappa - D * width)
    return base + math.log(tail_integral(D, kappa) - rest)


@kernel
def _quadrature(D, kappa, width):
    """∫₀^width exp(κt − ½Dt²) dt by Gauss–Legendre: every term is positive."""
    total = 0.0
    for node in range(_NODES.size):
        t = 0.5 * width * (1.0 + _NODES[node])
        total += _NODE_WEIGHTS[node] * math.exp(t * (kappa - 0.5 * D * t))
    return 0.5 * width * total
