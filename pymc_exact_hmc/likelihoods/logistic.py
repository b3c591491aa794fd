"""Likelihoods exp(aη)/(1 + exp η)^b: Bernoulli, Binomial and NegativeBinomial log-odds.

With ω ~ PG(b, η) the row says −½ω(κ/ω − η)², κ = a − b/2 (Polson, Scott and Windle 2013).

The Pólya–Gamma sampler wants b ≥ 1. For b < 1 one more binary latent u ~ Bernoulli(sigmoid(η))
makes it so: exp(aη)/(1 + exp η)^b = Σ_u exp((a + u)η)/(1 + exp η)^(b + 1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.likelihoods.polya_gamma import polya_gamma
from pymc_exact_hmc.likelihoods.verbs import add_slopes, draw_latents, log_likelihood
from pymc_exact_hmc.random_stream import uniform


class Logistic(NamedTuple):
    """The exponents a and b of each row."""

    a: npt.NDArray[np.float64]
    b: npt.NDArray[np.float64]


@draw_latents.register(Logistic)
def _draw_logistic(family, eta, precision, stream, target, factor):
    for n in range(eta.size):
        a, b = family.a[n], family.b[n]
        if 0.0 < b < 1.0:
            b += 1.0
            # Written so that neither exponential overflows into a wrong answer.
            a += 1.0 if uniform(stream) * (1.0 + math.exp(-eta[n])) < 1.0 else 0.0
        if b > 0.0:
            factor[n] = polya_gamma(stream, b, eta[n])
            target[n] = (a - 0.5 * b) / factor[n]
        else:
            # No trials: the row says nothing.
            factor[n] = target[n] = 0.0


@log_likelihood.register(Logistic)
def _log_likelihood_logistic(family, eta):
    total = 0.0
    for n in range(eta.size):
        softplus = max(eta[n], 0.0) + math.log1p(math.exp(-abs(eta[n])))
        total += family.a[n] * eta[n] - family.b[n] * softplus
    return total


@add_slopes.register(Logistic)
def _add_slopes_logistic(family, eta, sums):
    for n in range(eta.size):
        # The smaller of p and 1 − p, with all its digits.
        tail = 1.0 / (1.0 + math.exp(abs(eta[n])))
        p = 1.0 - tail if eta[n] > 0.0 else tail
        sums[0, n] += eta[n]
        sums[1, n] += family.a[n] - family.b[n] * p
        sums[2, n] += family.b[n] * tail * (1.0 - tail)
