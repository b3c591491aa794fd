"""A transition that leaves a Gaussian inside a region exactly invariant.

The velocity is drawn afresh, the flight is a reversible map that preserves volume and energy,
and a flight that was given up, or that rounding left outside, keeps the old state: the same is
true of the way back. In a region that is not convex a draw from the exact conditional along a
random line comes before or after (hit and run), which also reaches pieces that a flight cannot.
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
    orient,
)
from pymc_exact_hmc.regions.lines import Line, draw_on_line, find_segments, make_line, trace_line
from pymc_exact_hmc.regions.region import Region, violated
from pymc_exact_hmc.weights.normal import normal

# Places in ``Scratch.counts``.
REFLECTIONS, REJECTED = range(2)


class Scratch(NamedTuple):
    """Scratch memory of a transition, and its counters: reflections, and flights not taken.

    ``energy`` is that of the particle before and after the flight.
    """

    flight: Flight
    line: Line
    counts: npt.NDArray[np.int64]
    energy: npt.NDArray[np.float64]


def make_scratch(region: Region) -> Scratch:
    """Return scratch memory for transitions in a region of this size."""
    return Scratch(make_flight(region), make_line(region), np.zeros(2, np.int64), np.zeros(2))


@kernel
def truncated_transition(region, law, scratch, w, time, lines, stream):
    """Move w in place: a flight of this time, and draws along ``lines`` random lines.

    A coin decides which come first, so that the call is reversible. The Gram matrix of the
    walls must be up to date: see ``measure_walls``.
    """
    flight, counts = scratch.flight, scratch.counts
    counts[REFLECTIONS] = counts[REJECTED] = 0
    first = lines > 0 and uniform(stream) < 0.5
    if first:
        for _ in range(lines):
            run_along_line(region, law, scratch, w, stream)
    launch(region, law.root, flight, w, stream)
    scratch.energy[0] = energy_of(law.A, law.mu, flight.particle)
    fly(region, law.mu, law.Sigma, flight, time)
    scratch.energy[1] = energy_of(law.A, law.mu, flight.particle)
    counts[REFLECTIONS] += flight.counts[CONTACTS]
    land(region, flight, w, counts)
    if not first:
        for _ in range(lines):
            run_along_line(region, law, scratch, w, stream)


@kernel
def launch(region, root, flight, w, stream):
    """Start at w with a velocity from N(0, Σ)."""
    v, noise = flight.particle[V], flight.particle[NORMAL]
    n = w.size
    for i in range(n):
        noise[i] = normal(stream)
        flight.particle[W, i] = w[i]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += root[i, j] * noise[j]
        v[i] = total
    orient(region, flight.walls, w)


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
    if flight.counts[GIVEN_UP] == 1 or violated(region, flight.particle[W]) >= 0:
        counts[REJECTED] += 1
        return
    for i in range(w.size):
        w[i] = flight.particle[W, i]


@kernel
def run_along_line(region, law, scratch, w, stream):
    """Draw w afresh on a line through it with a direction from N(0, Σ)."""
    particle, line, n = scratch.flight.particle, scratch.line, w.size
    v, noise, trial = particle[V], particle[NORMAL], particle[TURNED]
    for i in range(n):
        noise[i] = normal(stream)
    D = rho = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += law.root[i, j] * noise[j]
        v[i] = total
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
