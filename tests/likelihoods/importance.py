"""Posteriors of up to six gated weights by importance sampling of every model.

Nothing of the package takes part: each of the 2^d models has its own multivariate Student-t
proposal, centred by an optimiser and fitted to the moments of its own weighted draws.
"""

import itertools

import numpy as np
from scipy import optimize, stats

BATCHES = 20
DEGREES = 6.0


def model_evidence(log_density, k, draws, rng):
    """Return the evidence of a model of k weights in batches, and its mean weights in each."""
    if k == 0:
        value = log_density(np.zeros((1, 0)))[0]
        return np.full(BATCHES, value), np.zeros((BATCHES, 0))
    mode = optimize.minimize(lambda w: -log_density(w[None])[0], np.zeros(k), method="Powell").x
    centre, spread = mode, 0.1 * np.eye(k)
    for _ in range(4):
        law = stats.multivariate_t(centre, spread, DEGREES, seed=rng)
        w = law.rvs(2000).reshape(-1, k)
        log_weight = log_density(w) - law.logpdf(w)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        centre = weight @ w
        spread = (w - centre).T @ ((w - centre) * weight[:, None]) + 1e-6 * np.eye(k)
    law = stats.multivariate_t(centre, spread, DEGREES, seed=rng)
    w = law.rvs(draws).reshape(BATCHES, -1, k)
    log_weight = np.stack([log_density(x) - law.logpdf(x) for x in w])
    top = log_weight.max()
    weight = np.exp(log_weight - top)
    means = (weight[..., None] * w).sum(axis=1) / weight.sum(axis=1)[:, None]
    return top + np.log(weight.mean(axis=1)), means


def posterior(log_rows, X, *, inclusion, slab, draws, rng):
    """Return estimates of P(s_i = 1) and E[s_i w_i], and their standard errors."""
    d = X.shape[1]
    evidence, first, states = [], [], np.array(list(itertools.product([0, 1], repeat=d)))
    for s in states:
        on = np.flatnonzero(s)

        def log_density(w, on=on):
            prior = stats.norm.logpdf(w, 0.0, slab).sum(axis=-1)
            return prior + log_rows(w @ X[:, on].T).sum(axis=-1)

        log_z, means = model_evidence(log_density, on.size, draws, rng)
        log_z = log_z + on.size * np.log(inclusion) + (d - on.size) * np.log1p(-inclusion)
        whole = np.zeros((BATCHES, d))
        whole[:, on] = means
        evidence.append(log_z)
        first.append(whole)
    log_z, first = np.array(evidence), np.array(first)
    p = np.exp(log_z - log_z.max())
    p /= p.sum(axis=0)
    answers = np.concatenate([p.T @ states, (p[..., None] * first).sum(axis=0)], axis=1)
    return answers.mean(axis=0), answers.std(axis=0, ddof=1) / np.sqrt(BATCHES)
