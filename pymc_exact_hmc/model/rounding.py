"""How precise the numbers of a model are, by PyTensor's ``floatX``."""

from __future__ import annotations

from pytensor import config

ROUNDING = {"float64": 1e-10, "float32": 1e-6, "float16": 1e-3}
"""Share of the sizes of what is added up that rounding may change."""


def rounding() -> float:
    """Return the share that rounding may change."""
    return ROUNDING[config.floatX]


def at_least_rounding(tolerance: float) -> float:
    """Return a tolerance that was chosen for double precision, or what rounding needs."""
    return max(tolerance, 10 * rounding() if config.floatX != "float64" else 0.0)
