"""Clocks, walls and counters of transitions that move weights."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import exponential, fill_exponential, shuffle_front, uniform

Indices = npt.NDArray[np.int64]

# Rows of ``Walls.slab``.
SLAB_W, SLAB_V, SLAB_TIME = range(3)


class Clocks(NamedTuple):
    """How far w and y travel in one call.

    w travels for ``w_time`` while y makes a number of half turns, each a hit of every wall,
    that is uniform on [fewest, most]. A hit is *held* with the probability ``held``.
    """

    w_time: float = 0.5 * math.pi
    fewest: float = 0.85
    most: float = 1.15
    held: float = 0.1


class Walls(NamedTuple):
    """Scratch memory: the k-th wall of ``order`` is hit at phase[k] + 0, 1, … half turns.

    It carries the energy ``kinetic[k]``. Rows of ``slab`` are position, velocity and time of every
    weight that moves in its slab, which is asked for by the paper's kernel only.
    """

    order: npt.NDArray[np.int32]
    phase: npt.NDArray[np.float64]
    kinetic: npt.NDArray[np.float64]
    slab: npt.NDArray[np.float64]


class Attempts(NamedTuple):
    """Counters beside the tally.

    ``contacts`` counts reflections at bounds; ``infeasible[g]`` counts crossings of wall g
    that had the energy but would have put a weight outside its bounds; ``given_up`` counts
    calls that did not end and have kept the old state.
    """

    contacts: Indices
    infeasible: Indices
    given_up: Indices


def make_walls(n_gates: int, n_weights: int) -> Walls:
    """Return scratch memory for a number of walls and weights."""
    order, phase, kinetic = np.zeros(n_gates, np.int32), np.zeros(n_gates), np.zeros(n_gates)
    return Walls(order, phase, kinetic, np.zeros((3, n_weights)))


def empty_attempts(n_gates: int) -> Attempts:
    """Return counters of nothing yet."""
    return Attempts(np.zeros(1, np.int64), np.zeros(n_gates, np.int64), np.zeros(1, np.int64))


@kernel
def draw_schedule(stream, clocks, order, phase, kinetic):
    """Draw order, phases and energies of the hits; return the number of half turns.

    Phases are the order statistics of uniform variables: partial sums of exponential ones.
    """
    n = order.size
    shuffle_front(stream, order, n)
    fill_exponential(stream, phase, n)
    total = 0.0
    for k in range(n):
        total += phase[k]
        phase[k] = total
    total += exponential(stream)
    for k in range(n):
        phase[k] /= total
    fill_exponential(stream, kinetic, n)
    return clocks.fewest + (clocks.most - clocks.fewest) * uniform(stream)
