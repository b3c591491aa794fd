"""Carry the indicators between PyMC's points and the flat state s."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.model.binaries import BinaryVariable

JITTER = 0.3
"""Standard deviation by which continuous variables are moved, on their unconstrained scale."""
FARTHER = (0.3, 1.0, 3.0, 8.0)
"""The same, for conclusions about all settings: functions may be all but constant near one."""


def read_state(
    point: dict[str, np.ndarray], layout: tuple[BinaryVariable, ...]
) -> npt.NDArray[np.int8]:
    """Return s as a new array."""
    if len(layout) == 1:  # by far the most frequent, and twice as fast
        return point[layout[0].name].ravel().astype(np.int8)
    s = np.empty(layout[-1].stop if layout else 0, np.int8)
    for binary in layout:
        s[binary.start : binary.stop] = point[binary.name].ravel()
    return s


def write_state(
    point: dict[str, np.ndarray], s: npt.NDArray[np.int8], layout: tuple[BinaryVariable, ...]
) -> dict[str, np.ndarray]:
    """Return a copy of the point, in its own order and types, with the indicators set to s.

    PyMC records points by position and may share the memory of the old one with the trace.
    """
    new = dict(point)
    for binary in layout:
        value = s[binary.start : binary.stop].astype(point[binary.name].dtype)
        new[binary.name] = value if value.shape == binary.shape else value.reshape(binary.shape)
    return new


def jittered(
    point: dict[str, np.ndarray], rng: np.random.Generator, *, by: float = JITTER
) -> dict[str, np.ndarray]:
    """Return a second setting of the continuous variables."""
    return {
        name: (value + by * rng.standard_normal(value.shape)).astype(value.dtype)
        if value.dtype.kind == "f"
        else value
        for name, value in point.items()
    }


def spread(
    point: dict[str, np.ndarray], rng: np.random.Generator
) -> Iterator[dict[str, np.ndarray]]:
    """Return settings of the continuous variables, near and far, on both sides of the point."""
    for by in FARTHER:
        setting = jittered(point, rng, by=by)
        yield setting
        yield {
            name: 2 * value - setting[name] if value.dtype.kind == "f" else value
            for name, value in point.items()
        }
