"""What a trajectory asks of an energy −log f(s), s ∈ {0, 1}^d.

An energy is a ``NamedTuple`` of arrays with an implementation of each verb below.
"""

from __future__ import annotations

from pymc_exact_hmc.compilation import verb


@verb
def energy_drop(energy, s, j):
    """Return Δ_j = log f(s with s_j flipped) − log f(s), positive downhill."""
    raise TypeError(f"{type(energy).__name__} has no energy_drop")


@verb
def commit(energy, s, j):
    """Bring the caches up to date after s_j was flipped; follows ``energy_drop`` of j."""
    raise TypeError(f"{type(energy).__name__} has no commit")


@verb
def refresh(energy, s):
    """Compute every cache afresh from s."""
    raise TypeError(f"{type(energy).__name__} has no refresh")


@verb
def log_density(energy, s):
    """Return log f(s) up to a constant, right after ``refresh``."""
    raise TypeError(f"{type(energy).__name__} has no log_density")
