"""PyMC's transforms of bounded and ordered variables, with bounds that may differ by entry."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
TINY = float(np.finfo(float).tiny)


def from_interval(value: Vector, lower: Vector, upper: Vector) -> Vector:
    """Return w of the value variable; infinite bounds are none."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    with np.errstate(over="ignore", invalid="ignore"):
        rise = np.exp(value)
        share = np.where(value > 0, 1 / (1 + np.exp(-value)), rise / (1 + rise))
        both = lower + (upper - lower) * share
        one = np.where(below, lower + rise, np.where(above, upper - rise, value))
    return np.where(below & above, both, one)


def to_interval(w: Vector, lower: Vector, upper: Vector) -> Vector:
    """Return the value variable of w; a weight on its bound stays finite."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    from_lower = np.log(np.maximum(np.where(below, w - lower, 1.0), TINY))
    from_upper = np.log(np.maximum(np.where(above, upper - w, 1.0), TINY))
    one = np.where(below, from_lower, np.where(above, from_upper, w))
    return np.where(below & above, from_lower - from_upper, one)


def from_steps(value: Vector, transform: str) -> Vector:
    """Return ordered weights from the first of them and the logarithms of the steps."""
    steps = np.exp(value)
    if "positive" not in transform:
        steps[..., 0] = value[..., 0]
    w = np.cumsum(steps, axis=-1)
    return w[..., ::-1] if "descending" in transform else w


def to_steps(w: Vector, transform: str) -> Vector:
    """Return the first of ordered weights and the logarithms of the steps."""
    rising = w[..., ::-1] if "descending" in transform else w
    steps = np.diff(rising, axis=-1, prepend=0.0)
    value = np.log(np.maximum(steps, TINY))
    if "positive" not in transform:
        value[..., 0] = rising[..., 0]
    return value
