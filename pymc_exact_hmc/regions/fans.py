"""A hit of a gate inside a region: the two lines of a fan, their odds, and the crossing.

``gated`` says what a fan is, and why the hit is exact.
"""

from __future__ import annotations

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.regions.flight import NORMAL, TURNED, X
from pymc_exact_hmc.regions.lines import COUNT, LOG_TOTAL, draw_on_line, find_segments, trace_line
from pymc_exact_hmc.regions.region import violated
from pymc_exact_hmc.regions.view import show_column
from pymc_exact_hmc.weights.active import HERE, SIZE, SLOT, U
from pymc_exact_hmc.weights.block import LAM, LAMBDA, SOLE
from pymc_exact_hmc.weights.collapsed import switch_gate
from pymc_exact_hmc.weights.groups import held_slope
from pymc_exact_hmc.weights.odds import log_gaussian_integral


@kernel
def look_around(active, w):
    """Have the caches know where the weights in P are."""
    for a in range(active.counts[SIZE]):
        active.seats[HERE, a] = w[active.P[a]]


@kernel
def hit(block, active, fence, s, w, g, held, energy):
    """Return ±L of gate g; leaves the two lines, and in X and NORMAL w⁰ and the direction.

    ``energy`` is what the prior leaves: a closed gate that would bounce without the region
    bounces in it.
    """
    j = block.gates[SOLE, g]
    if j < 0:
        return 0.0
    closed, particle = s[g] == 0, fence.scratch.flight.particle
    D, rho = active.D[j], active.rho[j]
    if held:
        D = active.diagonal[j] + block.coefficients[LAMBDA, j]
        rho = held_slope(block, active, j)
    if closed and fence.carried[j] == 0:
        bound = log_gaussian_integral(D, rho) - block.log_slab[g]
        if not energy + bound > 0.0:
            return bound
    aim(active, held, w, j, particle[X], particle[NORMAL])
    line, closed_line, view = fence.scratch.line, fence.closed_line, fence.shown
    line.total[COUNT] = closed_line.total[COUNT] = 0.0
    show_column(fence.region, view, block.gate, s, j, True)
    trace_line(view, line, particle[X], particle[NORMAL])
    find_segments(view, line, D, rho)
    show_column(fence.region, view, block.gate, s, j, False)
    for i in range(w.size):
        particle[TURNED, i] = 1.0 if i == j else 0.0
    trace_line(view, closed_line, particle[X], particle[TURNED])
    Lambda, lam = block.coefficients[LAMBDA, j], block.coefficients[LAM, j]
    find_segments(view, closed_line, Lambda, lam)
    show_column(fence.region, view, block.gate, s, j, not closed)
    odds = line.total[LOG_TOTAL] - closed_line.total[LOG_TOTAL]
    here = closed_line if closed else line
    if not here.total[COUNT] > 0.0:
        # Rounding: the state itself is on its line.
        return -np.inf
    return odds if closed else -odds


@kernel
def aim(active, held, w, j, base, direction):
    """Write w⁰, with 0 for weight j, and the direction of the open states."""
    k, seats, Sigma = active.counts[SIZE], active.seats, active.Sigma
    own = active.place[j]
    for i in range(w.size):
        base[i], direction[i] = w[i], 0.0
    base[j], direction[j] = 0.0, 1.0
    if held:
        return
    u = seats[U]
    for a in range(k):
        if own >= 0:
            u[a] = 0.0 if a == own else -Sigma[a, own] / Sigma[own, own]
        else:
            u[a] = 0.0
            for b in range(k):
                u[a] += Sigma[a, b] * active.rows[active.slots[SLOT, b], j]
    for a in range(k):
        if a != own:
            direction[active.P[a]] = -u[a]
            if own >= 0:
                base[active.P[a]] += u[a] * w[j]


@kernel
def take(block, active, fence, s, w, g, stream):
    """Cross: draw the weight of gate g on the other line; return whether that went well."""
    j = block.gates[SOLE, g]
    if j < 0:
        return True
    closed, particle, view = s[g] == 0, fence.scratch.flight.particle, fence.shown
    base, direction, trial = particle[X], particle[NORMAL], particle[TURNED]
    line = fence.scratch.line if closed else fence.closed_line
    x = draw_on_line(stream, line)
    for i in range(w.size):
        trial[i] = base[i]
        if closed:
            trial[i] += x * direction[i]
    if not closed:
        trial[j] = x
    show_column(fence.region, view, block.gate, s, j, closed)
    # Rounding at the end of a segment.
    if violated(view, trial) >= 0:
        show_column(fence.region, view, block.gate, s, j, not closed)
        return False
    for i in range(w.size):
        w[i] = trial[i]
    switch_gate(block, active, g, closed)
    look_around(active, w)
    return True
