"""Draws of the weights given the indicators, where no weight in P is truncated."""

from __future__ import annotations

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.active import HERE, MU, SIZE, U
from pymc_exact_hmc.weights.block import LAM, LAMBDA, SLAB_LOWER, SLAB_UPPER
from pymc_exact_hmc.weights.flight import draw_gaussian
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
    """Draw the weights outside P from their slabs."""
    for i in range(w.size):
        if place[i] < 0:
            lower, upper = coefficients[SLAB_LOWER, i], coefficients[SLAB_UPPER, i]
            w[i] = draw_truncated(
                stream, coefficients[LAMBDA, i], coefficients[LAM, i], lower, upper
            )
