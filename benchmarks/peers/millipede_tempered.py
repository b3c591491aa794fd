"""millipede: weighted tempered Gibbs sampling of the indicators, with weights integrated out.

Its slab has the variance σ²/tau and its σ² an inverse gamma prior, here so narrow that σ is known.
Its own estimate of an inclusion probability averages the probability of each indicator given the
rest, which is less noisy than the indicator: it is credited with that.
"""

import time

import numpy as np
import pandas as pd
import torch
from millipede import BernoulliLikelihoodVariableSelector, NormalLikelihoodVariableSelector

from peers import Draws

CERTAIN = 1e7


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
    seconds = selector.ts[-1] - selector.ts[tune]
    return Draws(values, seconds, whole, np.asarray(samples.weight).ravel())
