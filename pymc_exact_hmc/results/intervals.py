"""Mean, spread and highest-density interval of draws that are exactly 0 when switched off."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
SPREAD = ("mean", "sd", "hdi_low", "hdi_high")


def highest_density(x: Float, prob: float) -> tuple[float, float]:
    """Return the shortest interval that holds a share of sorted draws, as ArviZ defines it."""
    if x.size == 0:
        return np.nan, np.nan
    inside = int(np.floor(prob * x.size))
    start = int(np.argmin(x[inside:] - x[: x.size - inside]))
    return float(x[start]), float(x[start + inside])


def spread(x: Float, prob: float) -> tuple[float, float, float, float]:
    """Return mean, standard deviation and interval of sorted draws."""
    if x.size == 0:
        return (np.nan,) * 4
    sd = float(x.std(ddof=1)) if x.size > 1 else np.nan
    return float(x.mean()), sd, *highest_density(x, prob)


def with_zeros(x: Float, n: int) -> Float:
    """Return sorted draws of which n more are 0."""
    place = int(np.searchsorted(x, 0.0))
    return np.concatenate([x[:place], np.zeros(n), x[place:]])
