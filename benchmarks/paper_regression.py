"""The paper's regression: data, PyMC models, and what is effective about a run of one."""

import time
from typing import NamedTuple

import numpy as np
import pymc as pm
from effective import effective_size, worst

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


def sample_whole(model, draws, tune, seed, method=None, chains=1):
    """Return as ``sample`` does, and the seconds of everything: compilation, warm-up and draws."""
    start = time.perf_counter()
    step = method(model=model) if method else None
    posterior, seconds = sample(model, draws, tune, seed, step=step, chains=chains)
    return posterior, seconds, time.perf_counter() - start


def open_indicators(gamma):
    """Return the indicators whose inclusion is neither all but certain nor all but excluded."""
    inclusion = gamma.reshape(-1, gamma.shape[-1]).mean(axis=0)
    return np.flatnonzero((inclusion > 0.02) & (inclusion < 0.98))


class Chosen(NamedTuple):
    """Which indicators and which weights count: the open ones, and those that are not excluded."""

    indicators: np.ndarray
    weights: np.ndarray


def choose(gamma):
    """Choose by the inclusion probabilities of one run, the same for all that are compared."""
    inclusion = gamma.reshape(-1, gamma.shape[-1]).mean(axis=0)
    return Chosen(open_indicators(gamma), np.flatnonzero(inclusion > 0.02))


def worst_indicator(gamma, among=None):
    """Return the smallest effective size of an open indicator, summed over chains."""
    chosen = open_indicators(gamma) if among is None else among
    sizes = [effective_size(chain[:, chosen].astype(float)) for chain in gamma]
    return float(np.sum(sizes, axis=0).min())


def log_joint(X, z, gamma, w, sigma, tau, a):
    """Return log p(z, γ, w) up to a constant, without the weights that are off.

    ``sigma``, ``tau`` and ``a`` are numbers or have the shape of a draw.
    """
    sigma, tau, a = (np.asarray(value, float)[..., None] for value in (sigma, tau, a))
    beta = gamma * w
    residual = z - beta @ X.T
    likelihood = -0.5 * (residual / sigma) ** 2 - np.log(sigma)
    slab = gamma * (-0.5 * (beta / tau) ** 2 - np.log(tau) + np.log(a)) + (1 - gamma) * np.log1p(-a)
    return likelihood.sum(axis=-1) + slab.sum(axis=-1)


def worst_of_three(gamma, w, energy, chosen, **more):
    """Return the smallest effective size of indicators, weights and energy, and its name."""
    beta = (gamma * w)[..., chosen.weights]
    indicators = gamma[..., chosen.indicators]
    return worst({"indicators": indicators, "weights": beta, "energy": energy[..., None]} | more)


def worst_of_all(posterior, chosen, X, z):
    """Return the smallest effective size of everything, the scales included, and its name."""
    gamma, w = posterior["gamma"].values, posterior["w"].values
    scales = {name: posterior[name].values for name in ("sigma", "tau", "a")}
    energy = log_joint(X, z, gamma, w, **scales)
    logs = {name: np.log(values)[..., None] for name, values in scales.items()}
    return worst_of_three(gamma, w, energy, chosen, **logs)
