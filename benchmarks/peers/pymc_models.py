"""The PyMC model of a case, and a run of it."""

import time

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from peers import Draws, is_mixture, is_spins


def model_of(case):
    if is_spins(case):
        return spins(case)
    return mixture(case) if is_mixture(case) else selection(case)


def selection(case):
    d = case.X.shape[1]
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", case.a, shape=d)
        slab = pm.HalfNormal if case.positive else pm.Normal
        w = slab("w", sigma=case.tau, shape=d)
        eta = case.X @ (gamma * w)
        if case.family == "gaussian":
            pm.Normal("y", eta, case.sigma, observed=case.y)
        elif case.family == "probit":
            pm.Bernoulli("y", p=pm.math.invprobit(eta), observed=case.y)
        else:
            pm.Bernoulli("y", logit_p=eta, observed=case.y)
    return model


def spins(case):
    with pm.Model() as model:
        s = 2 * pm.Bernoulli("x", 0.5, shape=case.shape) - 1
        bonds = sum((s * pt.roll(s, 1, axis)).sum() for axis in range(len(case.shape)))
        pm.Potential("coupling", case.beta * bonds)
    return model


def mixture(case):
    with pm.Model() as model:
        mu = pm.Normal("mu", np.array(case.prior_mean), case.prior_sd)
        z = pm.Bernoulli("z", case.share, shape=case.y.size)
        pm.Normal("y", mu[z], 1.0, observed=case.y)
    return model


def sampled(model, draws, tune, seed, method=None):
    """Return ``Draws`` of one chain; ``method`` makes the step, or PyMC chooses."""
    start = time.perf_counter()
    with model:
        idata = pm.sample(
            draws, tune=tune, chains=1, cores=1, step=method and method(), random_seed=seed,
            progressbar=False, quiet=True, compute_convergence_checks=False,
        )  # fmt: skip
    whole = time.perf_counter() - start
    values = {name: idata.posterior[name].values[0] for name in idata.posterior.data_vars}
    if "gamma" in values:
        values["beta"] = values["gamma"] * values.pop("w")
    # PyMC reports one time for warm-up and draws.
    seconds = idata.posterior.attrs["sampling_time"] * draws / (draws + tune)
    return Draws(values, seconds, whole)
