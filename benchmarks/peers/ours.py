"""The step of this package, in pm.sample."""

from peers.pymc_models import model_of, sampled
from pymc_exact_hmc import ExactBinaryHMC


def run(case, draws, tune, seed):
    return sampled(model_of(case), draws, tune, seed, ExactBinaryHMC)
