"""The weights integrated out: an energy of the indicators alone.

Exact when no weight is truncated while its gate is open. The binary trajectories run over
it, summed with the prior on the indicators, and w | s is drawn once at the end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies import commit, energy_drop, log_density, refresh
from pymc_exact_hmc.weights.active import FULL, MU, SINGULAR, SIZE, SMALL_PIVOT, Active
from pymc_exact_hmc.weights.block import (
    LAM,
    SOLE,
    START,
    Block,
    R,
)
from pymc_exact_hmc.weights.crossing import join, leave
from pymc_exact_hmc.weights.groups import LOG_SQRT_2PI
from pymc_exact_hmc.weights.odds import group_odds, log_gaussian_integral
from pymc_exact_hmc.weights.refreshing import compute_caches, refresh_active


class Collapsed(NamedTuple):
    """log f(s) = log ∫ exp(−½w'(GMG + Λ)w + (Gr + λ)'w) dw."""

    block: Block
    active: Active


@energy_drop.register(Collapsed)
def _energy_drop(energy, s, j):
    i = energy.block.gates[SOLE, j]
    if energy.active.counts[FULL] == 1:
        # The call will be undone, so nothing need move any more.
        odds = np.nan
    elif i >= 0:
        odds = log_gaussian_integral(energy.active.D[i], energy.active.rho[i])
        odds -= energy.block.log_slab[j]
    else:
        odds = group_odds(energy.block, energy.active, j, s[j] == 0)
    return (1 - 2 * s[j]) * odds


@commit.register(Collapsed)
def _commit(energy, s, j):
    switch_gate(energy.block, energy.active, j, s[j] == 1)


@refresh.register(Collapsed)
def _refresh(energy, s):
    refresh_active(energy.block, energy.active, s)


@log_density.register(Collapsed)
def _log_density(energy, s):
    return log_evidence(energy.block, energy.active, s)


@kernel
def switch_gate(block, active, g, opened):
    """Let the weights of gate g join or leave P, one after the other."""
    first, last = block.gates[START, g], block.gates[START, g + 1]
    if opened and active.counts[SIZE] + last - first > active.P.size:
        active.counts[FULL] = 1
        return
    for i in range(first, last):
        if opened:
            join(block, active, block.members[i])
        else:
            leave(block, active, block.members[i])
    if active.counts[SMALL_PIVOT] == 1 and active.counts[SINGULAR] == 0:
        compute_caches(block, active)


@kernel
def log_evidence(block, active, s):
    """Return log f(s) = ½μ_P·(r + λ)_P + ½ log|2πΣ_P| + Σ log_slab of the closed gates."""
    total = 0.0
    for a in range(active.counts[SIZE]):
        i = active.P[a]
        slope = block.coefficients[R, i] + block.coefficients[LAM, i]
        # Right after a refresh ``factor`` holds the factor C⁻¹ of Σ_P.
        total += 0.5 * active.seats[MU, a] * slope + math.log(active.factor[a, a]) + LOG_SQRT_2PI
    for g in range(s.size):
        if s[g] == 0:
            total += block.log_slab[g]
    return total
