"""Posteriors of small problems by enumeration of the indicators."""

import itertools

import numpy as np
from scipy.stats import multivariate_normal

from pymc_exact_hmc.energies import Fields, log_density
from pymc_exact_hmc.energies import refresh as refresh_energy
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.block import LAM, LAMBDA, SLAB_LOWER, SLAB_UPPER
from pymc_exact_hmc.weights.truncated_draw import draw_truncated

MOST_GATES = 10


def states(n_gates):
    assert n_gates <= MOST_GATES, "2^d states would be too many"
    return np.array(list(itertools.product([0, 1], repeat=n_gates)), dtype=np.int8)


def code(s):
    """The row of ``states`` that s is."""
    return np.asarray(s, np.int64) @ (1 << np.arange(np.shape(s)[-1])[::-1])


def box_probability(mu, Sigma, lower, upper):
    """P(lower ≤ N(μ, Σ) ≤ upper)."""
    if not (np.isfinite(lower).any() or np.isfinite(upper).any()):
        return 1.0
    rng = np.random.default_rng(0)
    return multivariate_normal.cdf(
        upper, mu, Sigma, lower_limit=lower, abseps=1e-8, releps=1e-6, maxpts=500_000, rng=rng
    )


def log_evidence(problem, s):
    """log ∫ exp(−½w'(GMG + Λ)w + (Gr + λ)'w) dw over the bounds of s."""
    P, mu, Sigma = problem.gaussian(s)
    inside = box_probability(mu, Sigma, problem.lower[P], problem.upper[P]) if len(P) else 1.0
    log_det = np.linalg.slogdet(2 * np.pi * Sigma)[1]
    closed = problem.block.log_slab[np.asarray(s) == 0].sum()
    return 0.5 * mu @ problem.b[P] + 0.5 * log_det + np.log(inside) + closed


def posterior(problem, prior=None):
    """Probability of every state."""
    prior = Fields(problem.log_odds) if prior is None else prior
    log_p = []
    for s in states(len(problem.log_odds)):
        refresh_energy(prior, s)
        log_p.append(log_evidence(problem, s) + log_density(prior, s))
    p = np.exp(np.array(log_p) - np.max(log_p))
    return p / p.sum()


def draw_given(problem, s, size, rng):
    """Exact draws of w | s, by rejection."""
    P, mu, Sigma = problem.gaussian(s)
    w = np.empty((size, len(problem.b)))
    kept, root = np.empty((0, len(P))), np.linalg.cholesky(Sigma)
    for _ in range(10_000):
        x = mu + rng.normal(size=(4 * size + 100, len(P))) @ root.T
        inside = ((problem.lower[P] <= x) & (x <= problem.upper[P])).all(axis=1)
        kept = np.concatenate([kept, x[inside]])
        if len(kept) >= size:
            break
    else:
        raise RuntimeError("too little of the Gaussian is inside the bounds")
    w[:, P] = kept[:size]
    stream = seed_words(rng)
    c = problem.block.coefficients
    for i in np.setdiff1d(np.arange(len(problem.b)), P):
        law = c[LAMBDA, i], c[LAM, i], c[SLAB_LOWER, i], c[SLAB_UPPER, i]
        w[:, i] = [draw_truncated(stream, *law) for _ in range(size)]
    return w


def exact_draws(problem, p, size, rng):
    """Independent exact draws of (s, w)."""
    every = states(len(problem.log_odds))
    index = rng.permutation(np.repeat(np.arange(len(p)), rng.multinomial(size, p)))
    w = np.empty((size, len(problem.b)))
    for i in np.unique(index):
        w[index == i] = draw_given(problem, every[i], int((index == i).sum()), rng)
    return every[index], w
