"""NumPyro's DiscreteHMCGibbs, set as in its documentation."""

from numpyro.infer import NUTS, DiscreteHMCGibbs

from peers.numpyro_models import model_of, sampled


def run(case, draws, tune, seed):
    kernel = DiscreteHMCGibbs(NUTS(model_of(case)), modified=True)
    return sampled(kernel, draws, tune, seed)
