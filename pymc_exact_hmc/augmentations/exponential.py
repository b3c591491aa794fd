"""Exponential augmentation: p(y | s) ∝ exp(−Σ|y_j|) on the orthant of s."""

from __future__ import annotations

import math
from typing import NamedTuple

from pymc_exact_hmc.augmentations.verbs import draw_kinetic, period
from pymc_exact_hmc.random_stream import exponential, half_gamma


class Exponential(NamedTuple):
    """y_j(t) is a parabola: a wall left with little energy is soon reached again.

    ``hit_time`` is the travel time in which a wall is hit once on average,
    1/E[1/period] = √(2π) for e ~ Gamma(3/2).
    """

    hit_time: float = math.sqrt(2 * math.pi)


@draw_kinetic.register(Exponential)
def _draw_kinetic(augmentation, stream):
    # |y| + q²/2
    return exponential(stream) + half_gamma(stream)


@period.register(Exponential)
def _period(augmentation, kinetic):
    return 2.0 * math.sqrt(2.0 * kinetic)
