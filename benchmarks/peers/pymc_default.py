"""What pm.sample does by itself: BinaryGibbsMetropolis, and NUTS for the rest."""

from peers.pymc_models import model_of, sampled


def run(case, draws, tune, seed):
    return sampled(model_of(case), draws, tune, seed)
