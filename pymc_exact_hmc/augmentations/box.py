"""Box augmentation: p(y | s) uniform on |y_j| ≤ 1, y_j of the sign of s."""

from __future__ import annotations

import math
from typing import NamedTuple

from pymc_exact_hmc.augmentations.verbs import draw_kinetic, period
from pymc_exact_hmc.random_stream import half_gamma


class Box(NamedTuple):
    """Billiards: y_j(t) moves on a straight line to the outer wall |y_j| = 1 and back.

    ``hit_time`` is the travel time in which a wall is hit once on average,
    2/E|q| = √(2π).
    """

    hit_time: float = math.sqrt(2 * math.pi)


@draw_kinetic.register(Box)
def _draw_kinetic(augmentation, stream):
    # q²/2
    return half_gamma(stream)


@period.register(Box)
def _period(augmentation, kinetic):
    return 2.0 / math.sqrt(2.0 * kinetic)
