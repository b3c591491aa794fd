"""The paper's regression: data, PyMC models, and what is effective about a run of one."""

import numpy as np
import pymc as pm
from effective import effective_size

A, TAU, SIGMA, N, D = 0.1, 10.0, 10.0, 700, 150


def paper_data(correlation, rng, n=N, d=D):
    """Columns of variance 3, ten coefficients from 1 to 10."""
    cov = 3.0 * (np.full((d, d), correlation) + (1 - correlation) * np.eye(d))
    X = rng.normal(size=(n, d)) @ np.linalg.cholesky(cov).T
    beta = np.zeros(d)
    beta[:10] = np.linspace(1.0, 10.0, 10)
    return X, X @ beta + SIGMA * rng.normal(size=n)


def known_scales(X, z):
    """Positive coefficients; noise, slab and inclusion probability are known."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", A, shape=X.shape[1])
        w = pm.HalfNormal("w", TAU, shape=X.shape[1])
        pm.Normal("z", X @ (gamma * w), SIGMA, observed=z)
    return model


def unknown_scales(X, z, *, truncated):
    """As most people have it: noise, slab and inclusion probability are unknown."""
    d = X.shape[1]
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 20.0)
        tau = pm.HalfNormal("tau", 20.0)
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1.0, 9.0), shape=d)
        w = pm.HalfNormal("w", tau, shape=d) if truncated else pm.Normal("w", 0, tau, shape=d)
        pm.Normal("z", X @ (gamma * w), sigma, observed=z)
    return model


def sample(model, draws, tune, seed, step=None, chains=1):
    """Return the posterior and the seconds that sampling took, warm-up not counted.

    PyMC reports one time for both, which is divided by the number of draws of each.
    """
    with model:
        idata = pm.sample(
            draws, tune=tune, chains=chains, cores=1, step=step, random_seed=seed,
            progressbar=False, quiet=True, compute_convergence_checks=False,
        )  # fmt: skip
    seconds = idata.posterior.attrs["sampling_time"] * draws / (draws + tune)
    return idata.posterior, seconds


def open_indicators(gamma):
    """Return the indicators whose inclusion is neither all but certain nor all but excluded."""
    inclusion = gamma.reshape(-1, gamma.shape[-1]).mean(axis=0)
    return np.flatnonzero((inclusion > 0.02) & (inclusion < 0.98))


def worst_indicator(gamma, among=None):
    """Return the smallest effective size of an open indicator, summed over chains."""
    chosen = open_indicators(gamma) if among is None else among
    sizes = [effective_size(chain[:, chosen].astype(float)) for chain in gamma]
    return float(np.sum(sizes, axis=0).min())


def worst_of_all(posterior, among):
    """Return the smallest effective size of indicators, coefficients and scales, and its name."""
    gamma, w = posterior["gamma"].values, posterior["w"].values
    sizes = {"indicators": worst_indicator(gamma, among)}
    beta = (gamma * w)[..., among]
    sizes["coefficients"] = float(sum(effective_size(chain) for chain in beta).min())
    for name in ("sigma", "tau", "a"):
        logs = np.log(posterior[name].values)
        sizes[name] = float(sum(effective_size(chain[:, None]) for chain in logs)[0])
    name = min(sizes, key=sizes.get)
    return sizes[name], name
