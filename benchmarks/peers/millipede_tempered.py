"""millipede: weighted tempered Gibbs sampling of the indicators, with weights integrated out.

Its slab has the variance σ²/tau and its σ² an inverse gamma prior, here so narrow that σ is known.
Its own estimate of an inclusion probability averages the probability of each indicator given the
rest, which is less noisy than the indicator: it is credited with that.

Version 0.1.7 draws coefficients with noise L⁻¹ε where L is the Cholesky factor of their precision,
which should be L'⁻¹ε: their covariance is right for uncorrelated predictors only. In a linear
regression nothing else depends on these draws, so they are made again here, without being timed.
"""

import time

import numpy as np
import pandas as pd
import torch
from millipede import BernoulliLikelihoodVariableSelector, NormalLikelihoodVariableSelector

from peers import Draws

CERTAIN = 1e7


def coefficients(case, gamma, rng):
    """Draw the coefficients given the indicators of each draw."""
    beta = np.zeros(gamma.shape)
    for row, on in zip(beta, gamma > 0, strict=True):
        X, k = case.X[:, on] / case.sigma, int(on.sum())
        L = np.linalg.cholesky(X.T @ X + np.eye(k) / case.tau**2)
        mean = np.linalg.solve(L, X.T @ case.y / case.sigma)
        row[on] = np.linalg.solve(L.T, mean + rng.normal(size=k))
    return beta


def run(case, draws, tune, seed):
    torch.set_num_threads(1)
    start = time.perf_counter()
    frame = pd.DataFrame(case.X, columns=[f"x{k}" for k in range(case.X.shape[1])])
    frame["y"] = np.asarray(case.y, float)
    expected = float(case.a * case.X.shape[1])
    if case.family == "gaussian":
        selector = NormalLikelihoodVariableSelector(
            frame, "y", S=expected, tau=(case.sigma / case.tau) ** 2, include_intercept=False,
            nu0=CERTAIN, lambda0=case.sigma**2, precompute_XX=case.X.shape[1] <= 1000,
        )  # fmt: skip
    else:
        # The intercept cannot be left out, but held at zero.
        selector = BernoulliLikelihoodVariableSelector(
            frame, "y", S=expected, tau=case.tau**-2, tau_intercept=CERTAIN
        )
    selector.run(T=draws, T_burnin=tune, streaming=False, verbosity=None, seed=seed)
    whole = time.perf_counter() - start
    samples, d = selector.samples, case.X.shape[1]
    values = {
        "gamma": np.asarray(samples.gamma)[:, :d].astype(float),
        "beta": np.asarray(samples.beta)[:, :d],
        "inclusion": np.asarray(samples.pip)[:, :d],
    }
    if case.family == "gaussian":
        values["beta"] = coefficients(case, values["gamma"], np.random.default_rng(seed))
    seconds = selector.ts[-1] - selector.ts[tune]
    return Draws(values, seconds, whole, np.asarray(samples.weight).ravel())
