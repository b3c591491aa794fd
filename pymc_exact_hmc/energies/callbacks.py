"""Energies known only through a compiled function of s, called inside the compiled loop.

The functions are numba first-class functions, whose type is their signature: a kernel that
calls one is compiled once for all models and cached on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.energies.verbs import commit, energy_drop, log_density, refresh

Vector = npt.NDArray[np.float64]


class Callback(NamedTuple):
    """Any log f: ``value(s, theta, data)``, one evaluation per wall hit."""

    value: Callable[..., float]
    theta: Vector
    data: tuple[Any, ...]
    current: Vector
    proposed: Vector


class Multilinear(NamedTuple):
    """log f affine in each s_j: Δ_j = (1 − 2s_j) ∂log f/∂s_j, exactly.

    ``value(s, theta, data, slope)`` returns log f and writes its gradient; it is needed
    again only after a crossing.
    """

    value: Callable[..., float]
    theta: Vector
    data: tuple[Any, ...]
    slope: Vector


@energy_drop.register(Callback)
def _energy_drop(energy, s, j):
    s[j] ^= 1
    value = energy.value(s, energy.theta, energy.data)
    s[j] ^= 1
    energy.proposed[0] = value
    return value - energy.current[0]


@commit.register(Callback)
def _commit(energy, s, j):
    energy.current[0] = energy.proposed[0]


@refresh.register(Callback)
def _refresh(energy, s):
    energy.current[0] = energy.value(s, energy.theta, energy.data)


@log_density.register(Callback)
def _log_density(energy, s):
    return energy.value(s, energy.theta, energy.data)


@energy_drop.register(Multilinear)
def _energy_drop_multilinear(energy, s, j):
    return (1 - 2 * s[j]) * energy.slope[j]


@commit.register(Multilinear)
def _commit_multilinear(energy, s, j):
    energy.value(s, energy.theta, energy.data, energy.slope)


@refresh.register(Multilinear)
def _refresh_multilinear(energy, s):
    energy.value(s, energy.theta, energy.data, energy.slope)


@log_density.register(Multilinear)
def _log_density_multilinear(energy, s):
    return energy.value(s, energy.theta, energy.data, energy.slope)
