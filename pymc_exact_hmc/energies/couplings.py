"""Quadratic energies: log f(s) = h's + ½ s'Js with J symmetric and a zero diagonal.

A diagonal of the model's own quadratic form is part of h, because s_j² = s_j. The cached
local field is h + Js, so that Δ_j = (1 − 2s_j)(h + Js)_j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.energies.fields import field_at
from pymc_exact_hmc.energies.verbs import commit, energy_drop, log_density, refresh

Vector = npt.NDArray[np.float64]


class SparseCouplings(NamedTuple):
    """Row j of J holds ``values[k]`` in column ``columns[k]``, start[j] ≤ k < start[j+1]."""

    h: Vector
    start: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: Vector
    local_field: Vector


class DenseCouplings(NamedTuple):
    """J as a full matrix."""

    h: Vector
    J: npt.NDArray[np.float64]
    local_field: Vector


@energy_drop.register(DenseCouplings)
@energy_drop.register(SparseCouplings)
def _energy_drop(energy, s, j):
    return (1 - 2 * s[j]) * energy.local_field[j]


@commit.register(SparseCouplings)
def _commit_sparse(energy, s, j):
    sign = 2 * s[j] - 1
    for k in range(energy.start[j], energy.start[j + 1]):
        energy.local_field[energy.columns[k]] += sign * energy.values[k]


@commit.register(DenseCouplings)
def _commit_dense(energy, s, j):
    sign = 2 * s[j] - 1
    row = energy.J[j]
    for i in range(s.size):
        energy.local_field[i] += sign * row[i]


@refresh.register(SparseCouplings)
def _refresh_sparse(energy, s):
    for j in range(s.size):
        field = energy.h[j]
        for k in range(energy.start[j], energy.start[j + 1]):
            field += energy.values[k] * s[energy.columns[k]]
        energy.local_field[j] = field


@refresh.register(DenseCouplings)
def _refresh_dense(energy, s):
    # Written as loops: assigning a slice allocates, and kernels may not.
    for i in range(s.size):
        energy.local_field[i] = energy.h[i]
    for j in range(s.size):
        if s[j] == 1:
            for i in range(s.size):
                energy.local_field[i] += energy.J[j, i]


@log_density.register(SparseCouplings)
def _log_density_sparse(energy, s):
    total = 0.0
    for j in range(s.size):
        total += field_at(energy.h[j], s[j])
        if s[j] == 1:
            for k in range(energy.start[j], energy.start[j + 1]):
                total += 0.5 * energy.values[k] * s[energy.columns[k]]
    return total


@log_density.register(DenseCouplings)
def _log_density_dense(energy, s):
    total = 0.0
    for j in range(s.size):
        total += field_at(energy.h[j], s[j])
        if s[j] == 1:
            for i in range(s.size):
                total += 0.5 * energy.J[j, i] * s[i]
    return total
