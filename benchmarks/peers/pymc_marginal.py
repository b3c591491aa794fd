"""NUTS on a mixture whose labels are summed out; they are drawn afterwards, given the means."""

import numpy as np
import pymc as pm

from peers.pymc_models import sampled


def run(case, draws, tune, seed):
    with pm.Model() as model:
        mu = pm.Normal("mu", np.array(case.prior_mean), case.prior_sd)
        shares = np.array([1 - case.share, case.share])
        pm.NormalMixture("y", w=shares, mu=mu, sigma=1.0, observed=case.y)
    found = sampled(model, draws, tune, seed)
    probability = case.probability(found.values["mu"])
    found.values["z"] = np.random.default_rng(seed).random(probability.shape) < probability
    return found
