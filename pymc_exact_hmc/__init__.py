"""Exact Hamiltonian Monte Carlo for binary unknowns, as a PyMC step method.

with model:
    idata = pm.sample(step=ExactBinaryHMC())
"""

from pymc_exact_hmc._version import __version__
from pymc_exact_hmc.explain import Explanation, explain
from pymc_exact_hmc.plots.coefficients import plot_coefficients
from pymc_exact_hmc.plots.coinclusion import plot_coinclusion
from pymc_exact_hmc.plots.crossings import plot_crossings
from pymc_exact_hmc.plots.inclusion import plot_inclusion
from pymc_exact_hmc.plots.models import plot_models
from pymc_exact_hmc.plots.sizes import plot_sizes
from pymc_exact_hmc.plots.trajectory import plot_trajectory
from pymc_exact_hmc.results.inclusion import inclusion_summary
from pymc_exact_hmc.results.models import ModelSummary, model_summary
from pymc_exact_hmc.results.prior import PriorInclusion, prior_inclusion
from pymc_exact_hmc.step import ExactBinaryHMC

__all__ = [
    "ExactBinaryHMC",
    "Explanation",
    "ModelSummary",
    "PriorInclusion",
    "__version__",
    "explain",
    "inclusion_summary",
    "model_summary",
    "plot_coefficients",
    "plot_coinclusion",
    "plot_crossings",
    "plot_inclusion",
    "plot_models",
    "plot_sizes",
    "plot_trajectory",
    "prior_inclusion",
]
