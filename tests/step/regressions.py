"""Small regressions with gated weights, and their exact posteriors by enumeration."""

import itertools

import numpy as np
from scipy.stats import multivariate_normal, norm

RNG = np.random.default_rng(20131209)
N, D = 25, 4
X = RNG.normal(size=(N, D))
X[:, 1] += 1.5 * X[:, 0]
Y = X @ np.array([0.8, 0.0, 0.5, 0.0]) + RNG.normal(size=N)
SIGMA, P = 1.0, 0.35


def log_box(mean, covariance, lower, upper):
    """log P(lower ≤ N(mean, covariance) ≤ upper)."""
    if not (np.isfinite(lower).any() or np.isfinite(upper).any()):
        return 0.0
    if len(mean) == 1:
        sd = np.sqrt(covariance[0, 0])
        return np.log(norm.cdf((upper[0] - mean[0]) / sd) - norm.cdf((lower[0] - mean[0]) / sd))
    rng = np.random.default_rng(0)
    inside = multivariate_normal.cdf(
        upper, mean, covariance, lower_limit=lower, abseps=1e-9, releps=1e-7, rng=rng
    )
    return np.log(inside)


def exact_states(
    columns, y, sigma, *, mean, sd, gate, log_prior, lower=-np.inf, upper=np.inf, n_gates=None
):
    """Return all states and their probabilities, the weights integrated out.

    Weight i has the column ``columns[:, i]``, a Gaussian slab cut to its bounds, and the
    indicator ``gate[i]`` (−1: always on); ``log_prior(s)`` is the prior of the indicators.
    """
    gate = np.asarray(gate)
    n = columns.shape[1]
    mean, sd, lower, upper = (
        np.broadcast_to(np.asarray(x, float), n) for x in (mean, sd, lower, upper)
    )
    d = int(gate.max()) + 1 if n_gates is None else n_gates
    states = np.array(list(itertools.product([0, 1], repeat=d)))
    log_p = np.empty(len(states))
    for k, s in enumerate(states):
        on = np.flatnonzero((gate < 0) | (s[np.maximum(gate, 0)] == 1))
        A = columns[:, on].T @ columns[:, on] / sigma**2 + np.diag(1 / sd[on] ** 2)
        b = columns[:, on].T @ y / sigma**2 + mean[on] / sd[on] ** 2
        covariance = np.linalg.inv(A)
        centre = covariance @ b
        log_p[k] = log_prior(s) + 0.5 * b @ centre - 0.5 * np.linalg.slogdet(A)[1]
        if len(on):
            log_p[k] += log_box(centre, covariance, lower[on], upper[on])
        log_p[k] -= sum(
            0.5 * mean[i] ** 2 / sd[i] ** 2
            + np.log(sd[i])
            + log_box(mean[[i]], sd[[i]][:, None] ** 2, lower[[i]], upper[[i]])
            for i in on
        )
    p = np.exp(log_p - log_p.max())
    return states, p / p.sum()


def bernoulli(p):
    """Return the log prior of independent indicators."""
    return lambda s: float(np.sum(np.where(s == 1, np.log(p), np.log1p(-np.asarray(p)))))
