"""Probit: y = [z > 0] with z ~ N(η, 1)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.error_function import erfcx
from pymc_exact_hmc.likelihoods.verbs import add_slopes, draw_latents, log_likelihood
from pymc_exact_hmc.weights.truncated_draw import draw_truncated


class Probit(NamedTuple):
    """Responses 0 and 1."""

    y: npt.NDArray[np.float64]


@draw_latents.register(Probit)
def _draw_probit(family, eta, precision, stream, target, factor):
    for n in range(eta.size):
        sign = 1.0 if family.y[n] > 0.5 else -1.0
        target[n] = sign * draw_truncated(stream, 1.0, sign * eta[n], 0.0, np.inf)
        factor[n] = 1.0


@log_likelihood.register(Probit)
def _log_likelihood_probit(family, eta):
    total = 0.0
    for n in range(eta.size):
        total += log_normal_cdf(eta[n] if family.y[n] > 0.5 else -eta[n])
    return total


@add_slopes.register(Probit)
def _add_slopes_probit(family, eta, sums):
    for n in range(eta.size):
        sign = 1.0 if family.y[n] > 0.5 else -1.0
        x = sign * eta[n]
        mills = normal_hazard(x)
        sums[0, n] += eta[n]
        sums[1, n] += sign * mills
        sums[2, n] += mills * (mills + x)


@kernel
def log_normal_cdf(x):
    """Log Φ(x)."""
    if x < 0.0:
        return math.log(0.5 * erfcx(-x * math.sqrt(0.5))) - 0.5 * x * x
    return math.log1p(-0.5 * math.erfc(x * math.sqrt(0.5)))


@kernel
def normal_hazard(x):
    """φ(x)/Φ(x)."""
    if x < 0.0:
        return math.sqrt(2.0 / math.pi) / erfcx(-x * math.sqrt(0.5))
    cdf = 1.0 - 0.5 * math.erfc(x * math.sqrt(0.5))
    return math.exp(-0.5 * x * x) / (math.sqrt(2.0 * math.pi) * cdf)
