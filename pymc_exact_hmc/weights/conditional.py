"""Draws of the weights given the indicators, where no weight in P is truncated."""

from __future__ import annotations

import math

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.active import HERE, MU, SIZE, U
from pymc_exact_hmc.weights.block import LAM, LAMBDA, SLAB_LOWER, SLAB_UPPER
from pymc_exact_hmc.weights.flight import draw_gaussian
from pymc_exact_hmc.weights.normal import normal
from pymc_exact_hmc.weights.truncated_draw import draw_truncated


@kernel
def draw_weights(block, active, w, stream):
    """Draw w | s where no weight in P is truncated."""
    k = active.counts[SIZE]
    draw_gaussian(stream, active.Sigma, active.factor, active.seats[U], k, active.seats[HERE])
    for a in range(k):
        w[active.P[a]] = active.seats[MU, a] + active.seats[HERE, a]
    draw_slabs(stream, block.coefficients, active.place, w)


@kernel
def draw_slabs(stream, coefficients, place, w):
    """Draw the weights outside P from their slabs.

    Whole and half normal laws are drawn here; most slabs have the scale of the one before.
    """
    known, scale = -1.0, 0.0
    for i in range(w.size):
        if place[i] >= 0:
            continue
        Lambda, lam = coefficients[LAMBDA, i], coefficients[LAM, i]
        lower, upper = coefficients[SLAB_LOWER, i], coefficients[SLAB_UPPER, i]
        if Lambda != known and Lambda > 0.0:
            known, scale = Lambda, 1.0 / math.sqrt(Lambda)
        if Lambda == known and upper == np.inf and lower == -np.inf:
            w[i] = scale * (scale * lam + normal(stream))
        elif Lambda == known and upper == np.inf and lam == Lambda * lower:
            w[i] = lower + scale * abs(normal(stream))
        else:
            w[i] = draw_truncated(stream, Lambda, lam, lower, upper)
