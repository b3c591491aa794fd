"""Log-odds that a gate puts on its weights, with the weights integrated out.

    L_g = log ∫ exp(−½w'Dw + ρ'w) dw − log ∫ exp(−½w'Λw + λ'w) dw

over the bounds of the gate's weights when open and when closed. *Collapsed* odds integrate
over every other weight too; *held* odds keep the others where they are.
"""

from __future__ import annotations

import math

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.block import LAMBDA, LOWER, SOLE, START, UPPER
from pymc_exact_hmc.weights.groups import (
    LOG_SQRT_2PI,
    held_slope,
    load_closed,
    load_held,
    load_open,
)
from pymc_exact_hmc.weights.integral import log_integral


@kernel
def log_gaussian_integral(D, rho):
    """Return log ∫ exp(−½Dx² + ρx) dx over all x, at least that over an interval."""
    return 0.5 * (rho * rho / D - math.log(D)) + LOG_SQRT_2PI


@kernel
def group_odds(block, active, g, closed):
    """Return the collapsed L_g of a gate with any number of weights but one, as if unbounded."""
    if block.gates[START, g] == block.gates[START, g + 1]:
        return 0.0
    if closed:
        return load_closed(block, active, g) - block.log_slab[g]
    return load_open(block, active, g) - block.log_slab[g]


@kernel
def held_odds(block, active, g):
    """Return L_g with the weights of the other gates held where they are (HERE)."""
    j = block.gates[SOLE, g]
    if j >= 0:
        D = active.diagonal[j] + block.coefficients[LAMBDA, j]
        rho = held_slope(block, active, j)
        lower, upper = block.coefficients[LOWER, j], block.coefficients[UPPER, j]
        return log_integral(D, rho, lower, upper) - block.log_slab[g]
    if block.gates[START, g] == block.gates[START, g + 1]:
        return 0.0
    return load_held(block, active, g) - block.log_slab[g]
