"""One scale for all latents of a probit likelihood, moved with the weights integrated out.

Where responses are well separated, latents and weights only grow or shrink together, and
drawing the ones given the others takes small steps. Given s, and with w integrated out,

    log p(gz) + (N − 1) log g = −½Ag² + Bg + (N − 1) log g + const,

    A = z'z − u'Σu,   B = z'offset + u'Σ(λ − X'offset),   u = X'z,   Σ = (X'X + Λ)⁻¹ over P,

is a law of g under which z ← gz leaves p(z | s) invariant (Liu and Wu 1999; Liu and Sabatti
2000). One step of slice sampling in log g from g = 1 does too, since it knows no origin.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.weights.block import LAM, LAMBDA
from pymc_exact_hmc.weights.grams import DenseGram

Vector = npt.NDArray[np.float64]


def can_rescale(gaussian: WeightCoefficients) -> bool:
    """Return whether every likelihood is a probit and X'X is at hand."""
    return (
        len(gaussian.latents) == len(gaussian.rows) == len(gaussian.noise)
        and all(latent.scheme == "probit" for latent in gaussian.latents)
        and isinstance(gaussian.block.gram, DenseGram)
    )


def rescale_latents(
    gaussian: WeightCoefficients, point: Point, s: npt.NDArray[np.int8], rng: np.random.Generator
) -> float:
    """Multiply all latents by one number, which is returned; w must be drawn afresh later."""
    block, statistics = gaussian.block, gaussian.statistics
    rows = [source.read(point) for source in gaussian.rows]
    P = np.flatnonzero((block.gate < 0) | (s[np.maximum(block.gate, 0)] == 1))
    z = np.concatenate([latent.target for latent in gaussian.latents])
    offset = np.concatenate([part.offset for part in rows])
    # The slopes are X'(z − offset).
    from_offset = sum(part.X[:, P].T @ part.offset for part in rows)
    u = statistics.slopes.sum(axis=0)[P] + from_offset
    A, B = float(z @ z), float(z @ offset)
    if P.size:
        precision = gaussian.scale * block.gram.M[np.ix_(P, P)]
        precision = precision + np.diag(block.coefficients[LAMBDA, P])
        solved = np.linalg.solve(precision, u)
        A -= float(u @ solved)
        B += float(solved @ (block.coefficients[LAM, P] - from_offset))
    g = math.exp(_slice(lambda x: _log_law(x, A, B, z.size), rng, 1.0 / math.sqrt(z.size)))
    for latent, part in zip(gaussian.latents, rows, strict=True):
        latent.target *= g
        t = latent.target - part.offset
        statistics.slopes[latent.likelihood] = t @ part.X
        statistics.squares[latent.likelihood] = t @ t
    gaussian.temper(1.0)
    return g


def _log_law(log_g: float, A: float, B: float, N: int) -> float:
    """Return the log-density of log g, which gains one more power of g than that of g."""
    g = math.exp(log_g)
    return -0.5 * A * g * g + B * g + N * log_g


def _slice(log_density: object, rng: np.random.Generator, width: float) -> float:
    """Return a step of slice sampling from 0, stepping out (Neal 2003)."""
    assert callable(log_density)
    level = log_density(0.0) - rng.exponential()
    lower = -width * rng.random()
    upper = lower + width
    while log_density(lower) > level:
        lower -= width
    while log_density(upper) > level:
        upper += width
    while True:
        x = lower + (upper - lower) * rng.random()
        if log_density(x) > level:
            return float(x)
        if x < 0.0:
            lower = x
        else:
            upper = x
