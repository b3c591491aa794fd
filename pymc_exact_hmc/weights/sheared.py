"""The sheared kernel, a transition that leaves p(s, w) exactly invariant.

A wall j is hit at times that do not depend on (s, w). With e_j its energy and L_j the odds
of its weights, collapsed or held, *opening* crosses iff e_j + Δ_j + L_j > 0 and *closing* iff
e_j + Δ_j − L_j > 0, where Δ_j is the energy drop of the prior on the indicators; and then only
if the crossing is feasible. Between attempted crossings the weights fly.
"""

from __future__ import annotations

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies import commit, energy_drop
from pymc_exact_hmc.random_stream import uniform
from pymc_exact_hmc.weights.active import CONTACTS, FULL, HERE, SINGULAR, SIZE
from pymc_exact_hmc.weights.block import LAMBDA, LOWER, SOLE, UPPER
from pymc_exact_hmc.weights.conditional import draw_slabs
from pymc_exact_hmc.weights.flight import fly, set_out, take_off
from pymc_exact_hmc.weights.groups import held_slope
from pymc_exact_hmc.weights.integral import log_integral
from pymc_exact_hmc.weights.odds import group_odds, held_odds, log_gaussian_integral
from pymc_exact_hmc.weights.refreshing import prepare
from pymc_exact_hmc.weights.shear import try_joining, try_leaving
from pymc_exact_hmc.weights.workspace import draw_schedule


@kernel
def sheared_transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts):
    """Move s and w in place by one call; the caches are up to date when this returns.

    ``prior`` is an energy of the indicators with caches up to date. If a flag of
    ``active.counts`` is up, the call must be undone: see ``weights.calls``.
    """
    prepare(block, active, s)
    if active.counts[FULL] + active.counts[SINGULAR] > 0:
        return
    seats, Sigma, clock, count = active.seats, active.Sigma, active.clock, active.counts
    take_off(stream, active.P, seats, Sigma, active.factor, clock, count, w)
    half_turns = draw_schedule(stream, clocks, walls.order, walls.phase, walls.kinetic)
    n, k, cycle = s.size, 0, 0
    while n > 0 and count[FULL] + count[SINGULAR] == 0:
        turns = cycle + walls.phase[k]
        if not turns <= half_turns:
            break
        g = walls.order[k]
        e = walls.kinetic[k]
        time = clocks.w_time * turns / half_turns
        held = uniform(stream) < clocks.held
        if held:
            fly(seats, Sigma, clock, count, time)
        drop = energy_drop(prior, s, g)
        drop += weights_drop(block, active, g, s[g] == 0, held, e + drop)
        tally.hits[0] += 1
        if e + drop > 0.0:
            if not held:
                fly(seats, Sigma, clock, count, time)
            if cross(block, active, g, s[g] == 0, held, time, stream):
                s[g] ^= 1
                commit(prior, s, g)
                walls.kinetic[k] = e + drop
                tally.crossings[0] += 1
                tally.drop[0] += drop
                tally.per_wall[g] += 1
            else:
                attempts.infeasible[g] += 1
        elif np.isnan(drop):
            tally.undefined[0] += 1
        k += 1
        if k == n:
            k, cycle = 0, cycle + 1
    fly(seats, Sigma, clock, count, clocks.w_time)
    for a in range(count[SIZE]):
        w[active.P[a]] = seats[HERE, a]
    draw_slabs(stream, block.coefficients, active.place, w)
    attempts.contacts[0] += count[CONTACTS]


@kernel(inline="always")
def weights_drop(block, active, g, closed, held, energy):
    """Return what the weights add to the energy drop of gate g.

    A closed gate that bounces with the odds its weight would have without bounds bounces with
    the true ones, which are lower and costlier.
    """
    j = block.gates[SOLE, g]
    if j < 0:
        odds = held_odds(block, active, g) if held else group_odds(block, active, g, closed)
    else:
        D, rho = active.D[j], active.rho[j]
        if held:
            D = active.diagonal[j] + block.coefficients[LAMBDA, j]
            rho = held_slope(block, active, j)
        odds = log_gaussian_integral(D, rho) - block.log_slab[g]
        if not closed or not energy + odds <= 0.0:
            lower, upper = block.coefficients[LOWER, j], block.coefficients[UPPER, j]
            odds = log_integral(D, rho, lower, upper) - block.log_slab[g]
    return odds if closed else -odds


@kernel
def cross(block, active, g, closed, held, time, stream):
    """Switch gate g and set out anew, if that is feasible; return whether it was."""
    if closed:
        feasible = try_joining(block, active, g, held, stream)
    else:
        feasible = try_leaving(block, active, g, held)
    if feasible:
        set_out(active.seats, active.counts[SIZE], active.clock, time)
    return feasible
