"""Rao–Blackwell: the conditional log-odds that each gate is open.

Averages of sigmoid(L_g) estimate inclusion probabilities with less noise than averages of s.
"""

from __future__ import annotations

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies import energy_drop
from pymc_exact_hmc.weights.active import CEILING, FLOOR, HERE, SIZE
from pymc_exact_hmc.weights.block import LOWER, SOLE, START, UPPER
from pymc_exact_hmc.weights.odds import group_odds, held_odds, log_gaussian_integral


@kernel
def inclusion_log_odds(prior, block, active, s, w, out):
    """Write the log-odds of s_g = 1 given the other indicators, after a transition.

    The weights are integrated out where no weight in P or of gate g is truncated; else those
    of g are, given the others. For a truncated group there is no closed form: the log-odds
    are ±∞, those of the indicator itself.
    """
    seats, bounded = active.seats, 0
    for a in range(active.counts[SIZE]):
        seats[HERE, a] = w[active.P[a]]
        bounded += seats[FLOOR, a] > -np.inf or seats[CEILING, a] < np.inf
    for g in range(s.size):
        drop = energy_drop(prior, s, g)
        out[g] = drop if s[g] == 0 else -drop
        j, own = block.gates[SOLE, g], 0
        for i in range(block.gates[START, g], block.gates[START, g + 1]):
            member = block.members[i]
            lower, upper = block.coefficients[LOWER, member], block.coefficients[UPPER, member]
            own += lower > -np.inf or upper < np.inf
        if own > 0 and j < 0:
            out[g] = np.inf if s[g] == 1 else -np.inf
        elif bounded + own > 0:
            out[g] += held_odds(block, active, g)
        elif j < 0:
            out[g] += group_odds(block, active, g, s[g] == 0)
        else:
            out[g] += log_gaussian_integral(active.D[j], active.rho[j]) - block.log_slab[g]
