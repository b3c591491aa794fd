"""Gated Gaussian weights inside a region: a transition that leaves p(s, w) exactly invariant.

    p(s, w) ∝ f(s) exp(−½w'(GMG + Λ)w + (Gr + λ)'w)  where (s, w) is in the region.

All weights are present. Factors on raw w cut the slabs of closed weights as well, jointly, so
that these cannot be integrated out; gated factors see closed weights as 0. One call is a
flight of w at the given s (see ``truncated``) and hits of the walls of the indicators with w
where it is, in an order that a coin decides, so that the call is reversible as its parts are.

**A hit of gate j.** Given the other indicators, split all states into *fans*, one for each
place w⁰ of the weights that are on and each place of the closed ones: the closed states with
w_P = w⁰ and any w_j = z, and the open ones with w_P = w⁰ − u x and w_j = x. For any fixed u the
map (w⁰, x) → (w_P, w_j) has Jacobian 1. With u = Σ_P M_Pj, the shear, or u = 0, a *held* hit,
the density on a fan is

    closed:  f(s) exp(−½Λ_j z² + λ_j z),      open:  f(s') exp(−½D x² + ρ x),

times what is the same for all of the fan. So with X and Z the parts of the two lines that are
in the region, the odds of the open states are f(s')/f(s) times

    exp(L) = ∫_X exp(−½D x² + ρ x) dx / ∫_Z exp(−½Λ_j z² + λ_j z) dz.

*Opening* crosses iff e_j + Δ_j + L > 0, *closing* iff e_j + Δ_j − L > 0, e_j moves by the same
amount, and the new w_j is drawn on its line: f·e^{−e} is kept, and given the side w_j has its
conditional law before and after. A line that misses the region makes the odds 0 or infinite.
Whether a hit is held does not depend on the state.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies import commit, energy_drop
from pymc_exact_hmc.random_stream import uniform
from pymc_exact_hmc.regions.fans import hit, look_around, take
from pymc_exact_hmc.regions.flight import CONTACTS, TURNED, V, W, fly, measure_walls, orient
from pymc_exact_hmc.regions.lines import Line, draw_on_line, find_segments, make_line, trace_line
from pymc_exact_hmc.regions.region import Region, violated
from pymc_exact_hmc.regions.truncated import REFLECTIONS, REJECTED, Scratch, land, make_scratch
from pymc_exact_hmc.regions.view import make_view, show
from pymc_exact_hmc.weights.active import HERE, MU, SINGULAR, SIZE, SLOT, U
from pymc_exact_hmc.weights.block import LAM, LAMBDA, SLAB_LOWER, SLAB_UPPER
from pymc_exact_hmc.weights.flight import draw_gaussian
from pymc_exact_hmc.weights.normal import normal
from pymc_exact_hmc.weights.refreshing import prepare
from pymc_exact_hmc.weights.truncated_draw import draw_truncated
from pymc_exact_hmc.weights.workspace import draw_schedule


class Fence(NamedTuple):
    """The region, its view at the current state, the embedded Gaussian, and scratch memory.

    ``carried[j]`` tells whether weight j meets a raw factor, beside its own bounds, and so
    must be moved while its gate is closed.
    """

    region: Region
    shown: Region
    carried: npt.NDArray[np.int8]
    mu: npt.NDArray[np.float64]
    Sigma: npt.NDArray[np.float64]
    scratch: Scratch
    closed_line: Line


def make_fence(region: Region, own: npt.NDArray[np.bool_]) -> Fence:
    """Return a fence; ``own[k]`` tells whether factor k is a bound of one weight."""
    n = region.F.shape[1]
    scratch, line = make_scratch(region), make_line(region)
    carried = np.zeros(n, np.int8)
    mark_carried(region, own, carried)
    return Fence(region, make_view(region), carried, np.zeros(n), np.zeros((n, n)), scratch, line)


def mark_carried(region: Region, own: npt.NDArray[np.bool_], carried: npt.NDArray[np.int8]) -> None:
    """Write which weights meet a raw factor that is not a bound of their own."""
    raw, q = (region.gated == 0) & ~own, len(region.Q)
    met = (region.F[raw] != 0).any(axis=0)
    if q:
        met |= (region.Q[raw[-q:]] != 0).any(axis=(0, 1))
    carried[:] = met


@kernel
def fenced_transition(prior, block, active, fence, walls, clocks, s, w, stream, tally, attempts):
    """Move s and w in place by one call; see ``sheared_transition`` for the arguments.

    There must be a seat for every weight. A singular precision is flagged in ``active``.
    """
    counts = fence.scratch.counts
    counts[REFLECTIONS] = counts[REJECTED] = 0
    prepare(block, active, s)
    if active.counts[SINGULAR] > 0:
        return
    show(fence.region, fence.shown, block.gate, s)
    bent = fence.shown.Q.shape[0] + fence.shown.sign.size > 0
    first = uniform(stream) < 0.5
    if first:
        soar(block, active, fence, w, clocks.w_time, stream)
        if bent:
            run(block, active, fence, w, stream)
    look_around(active, w)
    hit_walls(prior, block, active, fence, walls, clocks, s, w, stream, tally)
    if not first and active.counts[SINGULAR] == 0:
        if bent:
            run(block, active, fence, w, stream)
        soar(block, active, fence, w, clocks.w_time, stream)
    draw_apart(block.coefficients, active.place, fence.carried, w, stream)
    attempts.contacts[0] += counts[REFLECTIONS]


@kernel
def hit_walls(prior, block, active, fence, walls, clocks, s, w, stream, tally):
    """Let the walls of the indicators be hit, with w where it is."""
    half_turns = draw_schedule(stream, clocks, walls.order, walls.phase, walls.kinetic)
    n, k, cycle = s.size, 0, 0
    while n > 0 and active.counts[SINGULAR] == 0:
        if not cycle + walls.phase[k] <= half_turns:
            break
        g, e = walls.order[k], walls.kinetic[k]
        drop = energy_drop(prior, s, g)
        held = uniform(stream) < clocks.held
        drop += hit(block, active, fence, s, w, g, held, e + drop)
        tally.hits[0] += 1
        if e + drop > 0.0 and take(block, active, fence, s, w, g, stream):
            s[g] ^= 1
            commit(prior, s, g)
            walls.kinetic[k] = e + drop
            tally.crossings[0] += 1
            tally.drop[0] += drop
            tally.per_wall[g] += 1
        elif np.isnan(drop):
            tally.undefined[0] += 1
        k += 1
        if k == n:
            k, cycle = 0, cycle + 1


@kernel
def draw_apart(coefficients, place, carried, w, stream):
    """Draw from its slab each closed weight that meets nothing but its own bounds."""
    for i in range(w.size):
        if place[i] < 0 and carried[i] == 0:
            lower, upper = coefficients[SLAB_LOWER, i], coefficients[SLAB_UPPER, i]
            w[i] = draw_truncated(
                stream, coefficients[LAMBDA, i], coefficients[LAM, i], lower, upper
            )


@kernel
def embed(block, active, fence, w, stream, v):
    """Write mean and covariance of all weights, and draw a velocity; the rest stands still."""
    mu, Sigma, coefficients = fence.mu, fence.Sigma, block.coefficients
    k, n = active.counts[SIZE], w.size
    for i in range(n):
        for j in range(n):
            Sigma[i, j] = 0.0
    noise, speed = active.seats[U], active.seats[HERE]
    draw_gaussian(stream, active.Sigma, active.factor, noise, k, speed)
    for a in range(k):
        i = active.P[a]
        mu[i], v[i] = active.seats[MU, a], speed[a]
        for b in range(k):
            Sigma[i, active.P[b]] = active.Sigma[a, b]
    for i in range(n):
        if active.place[i] < 0:
            mu[i], v[i] = w[i], 0.0
            if fence.carried[i] == 1:
                Sigma[i, i] = 1.0 / coefficients[LAMBDA, i]
                mu[i] = coefficients[LAM, i] * Sigma[i, i]
                v[i] = normal(stream) * math.sqrt(Sigma[i, i])


@kernel
def soar(block, active, fence, w, time, stream):
    """Fly at the given s and take the end if it is inside."""
    flight, view, counts = fence.scratch.flight, fence.shown, fence.scratch.counts
    particle = flight.particle
    embed(block, active, fence, w, stream, particle[V])
    for i in range(w.size):
        particle[W, i] = w[i]
    orient(view, flight.walls, w)
    measure_walls(view, fence.Sigma, flight)
    fly(view, fence.mu, fence.Sigma, flight, time)
    counts[REFLECTIONS] += flight.counts[CONTACTS]
    land(view, flight, w, counts)


@kernel
def run(block, active, fence, w, stream):
    """Draw w afresh on a random line through it, at the given s (hit and run)."""
    particle, line, view = fence.scratch.flight.particle, fence.scratch.line, fence.shown
    v, trial, coefficients = particle[V], particle[TURNED], block.coefficients
    embed(block, active, fence, w, stream, v)
    D = rho = 0.0
    for i in range(w.size):
        slope, bend = 0.0, 0.0
        a = active.place[i]
        if a >= 0:
            row = active.rows[active.slots[SLOT, a]]
            # −A(w − μ) and Av of the weights in P.
            for b in range(active.counts[SIZE]):
                j = active.P[b]
                slope -= row[j] * (w[j] - fence.mu[j])
                bend += row[j] * v[j]
        slope -= coefficients[LAMBDA, i] * (w[i] - fence.mu[i])
        bend += coefficients[LAMBDA, i] * v[i]
        D += bend * v[i]
        rho += slope * v[i]
    trace_line(view, line, w, v)
    find_segments(view, line, D, rho)
    x = draw_on_line(stream, line)
    for i in range(w.size):
        trial[i] = w[i] + x * v[i]
    if violated(view, trial) < 0:
        for i in range(w.size):
            w[i] = trial[i]
