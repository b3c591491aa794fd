"""Sums of energies: the same trajectory runs over several terms of log f at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pymc_exact_hmc.energies.verbs import commit, energy_drop, log_density, refresh


class Sum(NamedTuple):
    """log f = log f₁ + log f₂; ``second`` may be a sum again, and should be the costlier."""

    first: Any
    second: Any


@energy_drop.register(Sum)
def _energy_drop(energy, s, j):
    drop = energy_drop(energy.first, s, j)
    # What the cheap energy forbids is not shown to the costly one.
    if drop != -np.inf:
        drop += energy_drop(energy.second, s, j)
    return drop


@commit.register(Sum)
def _commit(energy, s, j):
    commit(energy.first, s, j)
    commit(energy.second, s, j)


@refresh.register(Sum)
def _refresh(energy, s):
    refresh(energy.first, s)
    refresh(energy.second, s)


@log_density.register(Sum)
def _log_density(energy, s):
    return log_density(energy.first, s) + log_density(energy.second, s)
