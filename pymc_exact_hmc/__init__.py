"""Exact Hamiltonian Monte Carlo for binary unknowns, as a PyMC step method.

with model:
    idata = pm.sample(step=ExactBinaryHMC())
"""

from pymc_exact_hmc._version import __version__
from pymc_exact_hmc.explain import Explanation, explain
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
    "prior_inclusion",
]
