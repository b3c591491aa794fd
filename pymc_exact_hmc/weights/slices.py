"""Slice sampling of scales, one coordinate after the other (Neal 2003).

An interval of a given width is laid around the present value at random, stepped out until
both ends are below the level, and shrunk until a point above it is found. That leaves the
density invariant whatever the width is; widths are learnt during tuning only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import exponential, shuffle_front, uniform
from pymc_exact_hmc.tapes.program import ALL
from pymc_exact_hmc.weights.evidence import log_density_of_scales

MOST_STEPS = 64
"""Steps by which an interval may grow, divided at random between its two sides."""
TINY = 1e-14


class Coordinates(NamedTuple):
    """Places of the coordinates in the tape's memory, masks, and whether they reach weights.

    ``widths`` are those of the first intervals; ``moved`` is how far each went last time.
    """

    places: npt.NDArray[np.int64]
    masks: npt.NDArray[np.int64]
    reach: npt.NDArray[np.int64]
    order: npt.NDArray[np.int32]
    widths: npt.NDArray[np.float64]
    moved: npt.NDArray[np.float64]


@kernel
def move_scales(evidence, gathered, coordinates, stream):
    """Move every coordinate once, in random order; return whether the start was possible."""
    memory = evidence.program.memory
    current, part = log_density_of_scales(evidence, gathered, ALL, True, 0.0)
    if not current > -np.inf:
        return False
    shuffle_front(stream, coordinates.order, coordinates.order.size)
    for i in coordinates.order:
        place = coordinates.places[i]
        start = memory[place]
        current, part = move_one(evidence, gathered, coordinates, i, current, part, stream)
        coordinates.moved[i] = abs(memory[place] - start)
    return True


@kernel
def move_one(evidence, gathered, coordinates, i, current, part, stream):
    """Move one coordinate; return the log-density there and its part from data and weights."""
    memory, place = evidence.program.memory, coordinates.places[i]
    x, width = memory[place], coordinates.widths[i]
    level = current - exponential(stream)
    lower = x - width * uniform(stream)
    upper = lower + width
    left = np.int64(MOST_STEPS * uniform(stream))
    right = MOST_STEPS - 1 - left
    while left > 0 and look(evidence, gathered, coordinates, i, lower, part)[0] > level:
        lower -= width
        left -= 1
    while right > 0 and look(evidence, gathered, coordinates, i, upper, part)[0] > level:
        upper += width
        right -= 1
    while True:
        y = lower + (upper - lower) * uniform(stream)
        value, new_part = look(evidence, gathered, coordinates, i, y, part)
        if value > level:
            return value, new_part
        if y < x:
            lower = y
        else:
            upper = y
        if not upper - lower > TINY * (1.0 + abs(x)):
            # Nothing but the present value is left to rounding.
            return look(evidence, gathered, coordinates, i, x, part)


@kernel
def look(evidence, gathered, coordinates, i, x, part):
    """Set a coordinate; return the log-density there and its part from data and weights."""
    evidence.program.memory[coordinates.places[i]] = x
    return log_density_of_scales(
        evidence, gathered, coordinates.masks[i], coordinates.reach[i] == 1, part
    )
