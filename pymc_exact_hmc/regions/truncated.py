"""A transition that leaves a Gaussian inside a region exactly invariant.

The velocity is drawn afresh, the flight is a reversible map that preserves volume and energy,
and a flight that was given up, or that rounding left outside, keeps the old state: the same is
true of the way back. In a convex region sweeps may come before or after (see ``sweeps``), or take
the place of a flight. In one that is not, a draw from the exact conditional along a random line
does (hit and run), which also reaches pieces that a flight cannot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import uniform
from pymc_exact_hmc.regions.flight import (
    CONTACTS,
    GIVEN_UP,
    NORMAL,
    TURNED,
    Flight,
    V,
    W,
    fly,
    make_flight,
    measure_walls,
    orient,
)
from pymc_exact_hmc.regions.lines import Line, draw_on_line, find_segments, make_line, trace_line
from pymc_exact_hmc.regions.region import Region, violated
from pymc_exact_hmc.regions.sparse import gather_columns, inside
from pymc_exact_hmc.regions.sweeps import Sweep, make_sweep, sweep_axes
from pymc_exact_hmc.weights.normal import normal

# Places in ``Scratch.counts``.
REFLECTIONS, REJECTED = range(2)


class Scratch(NamedTuple):
    """Scratch memory of a transition, and its counters: reflections, and moves not taken.

    ``energy`` is that of the particle before and after the flight, if it is asked for.
    """

    flight: Flight
    sweep: Sweep
    line: Line
    counts: npt.NDArray[np.int64]
    energy: npt.NDArray[np.float64]


def make_scratch(region: Region) -> Scratch:
    """Return scratch memory for transitions in a region of this size."""
    parts = make_flight(region), make_sweep(region), make_line(region)
    return Scratch(*parts, np.zeros(2, np.int64), np.zeros(2))


@kernel
def measure_region(region, law, scratch):
    """Bring what is kept about the walls up to date, after they or Σ have changed."""
    measure_walls(region, law.Sigma, scratch.flight)
    if scratch.sweep.trial.size > 0:
        gather_columns(region.F, scratch.sweep.columns)


@kernel
def truncated_transition(region, law, scratch, w, time, sweeps, lines, check, stream):
    """Move w in place: a flight of this time, sweeps, and draws along random lines.

    A coin decides whether they come in this order or in reverse, so that the call is
    reversible. ``check`` asks for the energy. See ``measure_region`` for what must be ready;
    sweeps are for convex regions.
    """
    counts = scratch.counts
    counts[REFLECTIONS] = counts[REJECTED] = 0
    forwards = uniform(stream) < 0.5
    if forwards:
        soar(region, law, scratch, w, time, check, stream)
    else:
        run_along_lines(region, law, scratch, w, lines, stream)
    if sweeps > 0:
        rows, sweep = scratch.flight.rows, scratch.sweep
        if not sweep_axes(region, rows, law, sweep, w, sweeps, forwards, stream):
            counts[REJECTED] += 1
    if forwards:
        run_along_lines(region, law, scratch, w, lines, stream)
    else:
        soar(region, law, scratch, w, time, check, stream)


@kernel
def soar(region, law, scratch, w, time, check, stream):
    """Fly for a time, if any, with a velocity from N(0, Σ); take the end if it is inside."""
    if not time > 0.0:
        return
    flight, counts = scratch.flight, scratch.counts
    particle = flight.particle
    for i in range(w.size):
        particle[W, i] = w[i]
    draw_velocity(law.root, particle[NORMAL], particle[V], stream)
    orient(region, flight.walls, w)
    if check:
        scratch.energy[0] = energy_of(law.A, law.mu, particle)
    fly(region, law.mu, law.Sigma, flight, time)
    if check:
        scratch.energy[1] = energy_of(law.A, law.mu, particle)
    counts[REFLECTIONS] += flight.counts[CONTACTS]
    land(region, flight, w, counts)


@kernel
def draw_velocity(root, noise, v, stream):
    """Draw v from N(0, Σ); the root is upper triangular."""
    n = v.size
    for i in range(n):
        noise[i] = normal(stream)
        v[i] = 0.0
    for j in range(n):
        column, size = root[:, j], noise[j]
        for i in range(j + 1):
            v[i] += column[i] * size


@kernel
def energy_of(A, mu, particle):
    """Return ½(w − μ)'A(w − μ) + ½v'Av."""
    n, total = mu.size, 0.0
    for i in range(n):
        x, push, pull = particle[W, i] - mu[i], 0.0, 0.0
        for j in range(n):
            push += A[i, j] * particle[V, j]
            pull += A[i, j] * (particle[W, j] - mu[j])
        total += particle[V, i] * push + x * pull
    return 0.5 * total


@kernel
def land(region, flight, w, counts):
    """Take the end of the flight if it is inside."""
    if flight.counts[GIVEN_UP] == 1 or not inside(region, flight.rows, flight.particle[W]):
        counts[REJECTED] += 1
        return
    for i in range(w.size):
        w[i] = flight.particle[W, i]


@kernel
def run_along_lines(region, law, scratch, w, lines, stream):
    """Draw w afresh on lines through it with directions from N(0, Σ)."""
    for _ in range(lines):
        run_along_line(region, law, scratch, w, stream)


@kernel
def run_along_line(region, law, scratch, w, stream):
    """Draw w afresh on one such line."""
    particle, line, n = scratch.flight.particle, scratch.line, w.size
    v, noise, trial = particle[V], particle[NORMAL], particle[TURNED]
    draw_velocity(law.root, noise, v, stream)
    D = rho = 0.0
    for i in range(n):
        push, pull = 0.0, law.b[i]
        for j in range(n):
            push += law.A[i, j] * v[j]
            pull -= law.A[i, j] * w[j]
        D += push * v[i]
        rho += pull * v[i]
    trace_line(region, line, w, v)
    find_segments(region, line, D, rho)
    x = draw_on_line(stream, line)
    for i in range(n):
        trial[i] = w[i] + x * v[i]
    # Not a number, or rounding at an end of a segment.
    if violated(region, trial) < 0:
        for i in range(n):
            w[i] = trial[i]
