"""Carry weights between PyMC's points and the flat vector w on the natural scale."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from pymc.distributions.transforms import Ordered
from pymc.logprob.transforms import IntervalTransform, LogTransform
from pymc.model import Model

from pymc_exact_hmc.model.transforms import (
    TINY,
    Vector,
    from_interval,
    from_steps,
    to_interval,
    to_steps,
)
from pymc_exact_hmc.model.weight_block import WeightVariable


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
            w[part] = from_interval(point[p.name].ravel(), lower[part], upper[part])
        else:
            w[part] = from_steps(point[p.name], p.transform).ravel()
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
            value = to_interval(w[part], lower[part], upper[part])
        else:
            value = to_steps(w[part].reshape(p.shape), p.transform)
        if value.shape != p.shape:
            value = value.reshape(p.shape)
        point[p.name] = value.astype(point[p.name].dtype, copy=False)
