"""What a transition reports of itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Tally(NamedTuple):
    """Counters that trajectories add to.

    ``hits`` and ``crossings`` count wall hits and crossings, ``undefined`` the hits whose
    energy drop was not a number (they bounce); ``drop`` is the sum of the energy drops of
    all crossings and ``per_wall`` counts crossings of each wall.
    """

    hits: npt.NDArray[np.int64]
    crossings: npt.NDArray[np.int64]
    undefined: npt.NDArray[np.int64]
    drop: npt.NDArray[np.float64]
    per_wall: npt.NDArray[np.int64]


def empty_tally(d: int) -> Tally:
    """Return a tally of nothing yet, for d walls."""
    return Tally(
        hits=np.zeros(1, np.int64),
        crossings=np.zeros(1, np.int64),
        undefined=np.zeros(1, np.int64),
        drop=np.zeros(1),
        per_wall=np.zeros(d, np.int64),
    )


def clear(tally: Tally) -> None:
    """Set all counters but those of single walls to zero."""
    tally.hits[0] = tally.crossings[0] = tally.undefined[0] = 0
    tally.drop[0] = 0.0
