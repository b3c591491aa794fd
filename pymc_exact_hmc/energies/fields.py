"""Separable energies: every term of log f touches one indicator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.energies.verbs import commit, energy_drop, log_density, refresh


class Fields(NamedTuple):
    """log f(s) = Σ_j h_j s_j.

    Mixture labels, outlier flags and independent priors. An infinite h_j pins s_j.
    """

    h: npt.NDArray[np.float64]


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
        # A pinned indicator never moves: its infinite field is a constant.
        if s[j] == 1 and np.isfinite(energy.h[j]):
            total += energy.h[j]
    return total
