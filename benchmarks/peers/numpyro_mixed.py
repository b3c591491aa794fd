"""NumPyro's MixedHMC, set as in its documentation; as many discrete updates as variables."""

from numpyro.infer import HMC, MixedHMC

from peers.numpyro_models import model_of, sampled


def run(case, draws, tune, seed):
    kernel = MixedHMC(HMC(model_of(case), trajectory_length=1.2))
    return sampled(kernel, draws, tune, seed)
