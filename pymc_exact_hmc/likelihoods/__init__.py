"""Latent variables that make a likelihood Gaussian in its linear predictor η.

Each ingredient holds the data of one likelihood; the verb ``draw_latents`` draws its latent
variables from their exact conditional and writes, for every row, a working target t and a
factor λ, such that given the latents the row says

    −½ λ·precision (t − η)².

Latents live for one call only: the transition remains a function of the point alone.
"""

from pymc_exact_hmc.likelihoods.censored import Censored
from pymc_exact_hmc.likelihoods.laplace import Laplace
from pymc_exact_hmc.likelihoods.logistic import Logistic
from pymc_exact_hmc.likelihoods.probit import Probit
from pymc_exact_hmc.likelihoods.student import Student
from pymc_exact_hmc.likelihoods.verbs import draw_latents

__all__ = ["Censored", "Laplace", "Logistic", "Probit", "Student", "draw_latents"]
