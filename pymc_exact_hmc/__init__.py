"""Exact Hamiltonian Monte Carlo for binary unknowns, as a PyMC step method.

with model:
    idata = pm.sample(step=ExactBinaryHMC())
"""

from pymc_exact_hmc._version import __version__
from pymc_exact_hmc.explain import Explanation, explain
from pymc_exact_hmc.step import ExactBinaryHMC

__all__ = ["ExactBinaryHMC", "Explanation", "__version__", "explain"]
