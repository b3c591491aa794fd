"""Beside NUTS: posteriors of hyperparameters and indicators are those of a grid."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import stats
from support.enumeration import states
from support.significance import assert_holds

from pymc_exact_hmc import ExactBinaryHMC

BATCHES = 40
SEED = 91


def batch_pvalue(draws, exact):
    """p-value that the mean of correlated draws is as given, from means of batches."""
    means = np.asarray(draws, float).reshape(BATCHES, -1).mean(axis=1)
    z = (means.mean() - exact) / (means.std(ddof=1) / np.sqrt(BATCHES))
    return 2 * stats.t.sf(abs(z), BATCHES - 1)


def sample(model):
    with model:
        idata = pm.sample(
            draws=2000, tune=1000, chains=4, cores=1, step=ExactBinaryHMC(), random_seed=SEED,
            progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip
    return {name: np.asarray(idata.posterior[name]) for name in idata.posterior.data_vars}


def test_ising_model_with_unknown_coupling():
    """E β and E s of a small Ising model with a prior on β equal those of grid × enumeration."""
    d, y = 5, np.array([1.0, 0.8, -0.3, 0.9, 1.2])
    with pm.Model() as model:
        beta = pm.HalfNormal("beta", 0.25)
        s = pm.Bernoulli("s", 0.5, shape=d)
        spin = 2 * s - 1
        pm.Potential("pairs", beta * (spin * pt.roll(spin, 1)).sum())
        pm.Normal("y", spin, 1.0, observed=y)
    draws = sample(model)
    spins = 2.0 * states(d) - 1
    grid = (np.arange(8000) + 0.5) * 1e-3  # to thirty standard deviations
    pairs = (spins * np.roll(spins, 1, axis=1)).sum(1)
    fit = -0.5 * ((y - spins) ** 2).sum(1)
    log_w = np.outer(pairs, grid) + fit[:, None] - 0.5 * (grid / 0.25) ** 2
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    exact_beta, exact_s = w.sum(0) @ grid, w.sum(1) @ states(d)
    pvalues = [batch_pvalue(draws["s"][..., j], exact_s[j]) for j in range(d)]
    assert_holds(batch_pvalue(draws["beta"], exact_beta), *pvalues, seed=SEED)


def test_labels_with_unknown_probability():
    """E p and E z of mixture labels with p ~ Beta equal those of a grid."""
    y = np.array([-1.5, -0.2, 0.4, 1.1, 2.0])
    with pm.Model() as model:
        p = pm.Beta("p", 2, 1)
        z = pm.Bernoulli("z", p, shape=5)
        pm.Normal("y", pt.switch(pt.eq(z, 1), 1.0, -1.0), 1.0, observed=y)
    draws = sample(model)
    grid = (np.arange(20_000) + 0.5) / 20_000
    one, zero = (np.exp(-0.5 * (y - m) ** 2) for m in (1.0, -1.0))
    each = grid[:, None] * one + (1 - grid[:, None]) * zero
    w = grid * each.prod(1)
    w /= w.sum()
    exact_z = w @ (grid[:, None] * one / each)
    pvalues = [batch_pvalue(draws["z"][..., j], exact_z[j]) for j in range(5)]
    assert_holds(batch_pvalue(draws["p"], w @ grid), *pvalues, seed=SEED)
