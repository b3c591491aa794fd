"""Separable energies: every term of log f touches one indicator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies.verbs import commit, energy_drop, log_density, refresh


class Fields(NamedTuple):
    """log f(s) = Σ_j h_j s_j.

    Mixture labels, outlier flags and independent priors. An infinite h_j pins s_j.
    """

    h: npt.NDArray[np.float64]


@kernel
def field_at(h, s):
    """Return h·s; where h is infinite, 0 for the value that it pins s to and −inf for the other."""
    if h == np.inf:
        return 0.0 if s == 1 else -np.inf
    return h if s == 1 else 0.0


@energy_drop.register(Fields)
def _energy_drop(energy, s, j):
    return (1 - 2 * s[j]) * energy.h[j]


@commit.register(Fields)
def _commit(energy, s, j):
    pass


@refresh.register(Fields)
def _refresh(energy, s):
    pass


@log_density.register(Fields)
def _log_density(energy, s):
    total = 0.0
    for j in range(s.size):
        total += field_at(energy.h[j], s[j])
    return total
