"""Carry weights between PyMC's points and the flat vector w on the natural scale."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pymc.distributions.transforms import Ordered
from pymc.logprob.transforms import IntervalTransform, LogTransform
from pymc.model import Model

from pymc_exact_hmc.model.weights import WeightVariable

Vector = npt.NDArray[np.float64]
TINY = float(np.finfo(float).tiny)


class PlacedWeight(NamedTuple):
    """A weight in a point: the name of its value variable, and how that is transformed.

    ``label`` is the name that the model gave it.
    """

    name: str
    label: str
    shape: tuple[int, ...]
    start: int
    stop: int
    transform: str


def place_weights(model: Model, weights: list[WeightVariable]) -> list[PlacedWeight]:
    """Return where each weight stands in a point of the model."""
    placed = []
    for w in weights:
        kind = _kind(model.rvs_to_transforms.get(w.rv))
        name = model.rvs_to_values[w.rv].name
        placed.append(PlacedWeight(name, w.name, w.shape, w.start, w.stop, kind))
    return placed


def _kind(transform: Any) -> str:
    if transform is None:
        return "none"
    if isinstance(transform, LogTransform):
        return "log"
    if isinstance(transform, Ordered):
        positive = " positive" if transform.positive else ""
        return "ordered" + positive + ("" if transform.ascending else " descending")
    assert isinstance(transform, IntervalTransform)
    return "interval"


def read_weights(
    point: dict[str, np.ndarray], placed: list[PlacedWeight], lower: Vector, upper: Vector
) -> Vector:
    """Return w on the natural scale, strictly inside its bounds."""
    w = np.empty(placed[-1].stop)
    for p in placed:
        part = slice(p.start, p.stop)
        if p.transform == "none":
            w[part] = point[p.name].ravel()
        elif p.transform == "log":
            np.exp(point[p.name].ravel(), out=w[part])
        elif p.transform == "interval":
            w[part] = _from_interval(point[p.name].ravel(), lower[part], upper[part])
        else:
            w[part] = _from_steps(point[p.name], p.transform).ravel()
    return w


def write_weights(
    point: dict[str, np.ndarray],
    w: Vector,
    placed: list[PlacedWeight],
    lower: Vector,
    upper: Vector,
) -> None:
    """Set the weights of a new point, which may be written into."""
    for p in placed:
        part = slice(p.start, p.stop)
        if p.transform == "none":
            value = w[part].copy()
        elif p.transform == "log":
            value = np.maximum(w[part], TINY)
            np.log(value, out=value)
        elif p.transform == "interval":
            value = _to_interval(w[part], lower[part], upper[part])
        else:
            value = _to_steps(w[part].reshape(p.shape), p.transform)
        if value.shape != p.shape:
            value = value.reshape(p.shape)
        point[p.name] = value.astype(point[p.name].dtype, copy=False)


def _from_interval(value: Vector, lower: Vector, upper: Vector) -> Vector:
    below, above = np.isfinite(lower), np.isfinite(upper)
    with np.errstate(over="ignore", invalid="ignore"):
        rise = np.exp(value)
        share = np.where(value > 0, 1 / (1 + np.exp(-value)), rise / (1 + rise))
        both = lower + (upper - lower) * share
        one = np.where(below, lower + rise, np.where(above, upper - rise, value))
    return np.where(below & above, both, one)


def _to_interval(w: Vector, lower: Vector, upper: Vector) -> Vector:
    """Return the value variable of w; a weight on its bound stays finite."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    from_lower = np.log(np.maximum(np.where(below, w - lower, 1.0), TINY))
    from_upper = np.log(np.maximum(np.where(above, upper - w, 1.0), TINY))
    one = np.where(below, from_lower, np.where(above, from_upper, w))
    return np.where(below & above, from_lower - from_upper, one)


def _from_steps(value: Vector, transform: str) -> Vector:
    """Return ordered weights from the first of them and the logarithms of the steps."""
    steps = np.exp(value)
    if "positive" not in transform:
        steps[..., 0] = value[..., 0]
    w = np.cumsum(steps, axis=-1)
    return w[..., ::-1] if "descending" in transform else w


def _to_steps(w: Vector, transform: str) -> Vector:
    """Return the first of ordered weights and the logarithms of the steps."""
    rising = w[..., ::-1] if "descending" in transform else w
    steps = np.diff(rising, axis=-1, prepend=0.0)
    value = np.log(np.maximum(steps, TINY))
    if "positive" not in transform:
        value[..., 0] = rising[..., 0]
    return value
