"""Travel times: fixed, or drawn from an interval at each call."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.augmentations import Augmentation, Gaussian
from pymc_exact_hmc.random_stream import draw_hits, seed_words

DEFAULT_HITS_PER_WALL = (0.5, 1.0)
"""Hits per wall, on average, of the shortest and the longest default trajectory.

About one hit per wall is most efficient; exactly one, for every wall and every call, would
not be ergodic (independent fair spins would flip for ever), so the time is jittered.
"""


class TravelTime(NamedTuple):
    """Travel time uniform on [shortest, longest]."""

    shortest: float
    longest: float

    def draw(
        self, rng: np.random.Generator, augmentation: Augmentation, d: int, trajectories: int
    ) -> tuple[float, npt.NDArray[np.int64]]:
        """Draw a travel time, and how many hits of d walls each trajectory makes in it.

        Gaussian augmentation only: ⌊T/π⌋ hits of every wall, and one more of those whose
        first hit, uniform on (0, π), falls into the rest of T. Zero otherwise.
        """
        time = self.shortest + (self.longest - self.shortest) * rng.random()
        if not isinstance(augmentation, Gaussian):
            return time, np.zeros(trajectories, np.int64)
        n_hits = np.empty(trajectories, np.int64)
        draw_hits(seed_words(rng), d, time / math.pi, n_hits)
        return time, n_hits


def parse_travel_time(
    value: float | tuple[float, float] | None, augmentation: Augmentation
) -> TravelTime:
    """Return the travel time a user asked for, or the default of the augmentation."""
    if value is None:
        low, high = DEFAULT_HITS_PER_WALL
        return TravelTime(low * augmentation.hit_time, high * augmentation.hit_time)
    try:
        ends = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        ends = np.empty(0)
    if ends.ndim != 1 or ends.size not in (1, 2):
        raise ValueError(
            f"travel_time must be a positive number or a pair (shortest, longest), got {value!r}."
        )
    shortest, longest = float(ends[0]), float(ends[-1])
    if not (math.isfinite(longest) and shortest <= longest):
        raise ValueError(f"travel_time must be finite, shortest first, got {value!r}.")
    if shortest < 0 or longest <= 0:
        raise ValueError(f"travel_time must be positive, got {value!r}.")
    if shortest == longest:
        _refuse_whole_turns(shortest, augmentation)
    return TravelTime(shortest, longest)


def _refuse_whole_turns(time: float, augmentation: Augmentation) -> None:
    """Refuse T = nπ, with which every wall is hit n times at every call."""
    turns = time / math.pi
    whole = isinstance(augmentation, Gaussian) and round(turns) >= 1
    if whole and math.isclose(turns, round(turns), rel_tol=1e-9):
        raise ValueError(
            f"travel_time = {round(turns)}π hits every wall equally often at every call, which is "
            "not ergodic. Use (n + ½)π, for example travel_time="
            f"{round(turns) + 0.5}*math.pi, or an interval such as (0.5*math.pi, math.pi)."
        )
