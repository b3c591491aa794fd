"""Gaussian augmentation: p(y | s) ∝ exp(−y·y/2) on the orthant of s."""

from __future__ import annotations

import math
from typing import NamedTuple


class Gaussian(NamedTuple):
    """y_j(t) is a sine wave: every wall is hit once in π, for ever in the same order.

    A fresh e_j is (y² + q²)/2, half of a χ² with two degrees of freedom: Exp(1). ``hit_time`` is
    the travel time in which a wall is hit once on average.
    """

    hit_time: float = math.pi
