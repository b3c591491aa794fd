"""Gaussian augmentation: p(y | s) ∝ exp(−y·y/2) on the orthant of s."""

from __future__ import annotations

import math
from typing import NamedTuple

from pymc_exact_hmc.augmentations.verbs import draw_kinetic, period
from pymc_exact_hmc.random_stream import exponential


class Gaussian(NamedTuple):
    """y_j(t) is a sine wave: every wall is hit once in π, for ever in the same order.

    ``hit_time`` is the travel time in which a wall is hit once on average.
    """

    hit_time: float = math.pi


@draw_kinetic.register(Gaussian)
def _draw_kinetic(augmentation, stream):
    # (y² + q²)/2, half of a χ² with two degrees of freedom.
    return exponential(stream)


@period.register(Gaussian)
def _period(augmentation, kinetic):
    return math.pi
