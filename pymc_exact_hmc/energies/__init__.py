"""Flip oracles, one file each: what the energy of a state changes by when one bit flips."""

from pymc_exact_hmc.energies.callbacks import Callback, Multilinear
from pymc_exact_hmc.energies.couplings import DenseCouplings, SparseCouplings
from pymc_exact_hmc.energies.fields import Fields
from pymc_exact_hmc.energies.sums import Sum
from pymc_exact_hmc.energies.tables import Tables
from pymc_exact_hmc.energies.verbs import commit, energy_drop, log_density, refresh

__all__ = [
    "Callback",
    "DenseCouplings",
    "Fields",
    "Multilinear",
    "SparseCouplings",
    "Sum",
    "Tables",
    "commit",
    "energy_drop",
    "log_density",
    "refresh",
]
