"""Exact posteriors of models that are Gaussian given their indicators, from the model alone."""

import itertools

import numpy as np
from scipy.special import logsumexp

from pymc_exact_hmc.model.evaluation import ONCE


def exact_moments(model, binaries, weights):
    """Return all states, their probabilities, and E[w | s], E[w² | s] by second differences.

    Every free variable must be named; ``weights`` must have value variables on the natural
    scale.
    """
    names = [model.rvs_to_values[model[n]].name for n in (*binaries, *weights)]
    assert set(names) == {v.name for v in model.value_vars}
    start = model.initial_point()
    log_p = model.compile_logp(jacobian=False, mode=ONCE)
    sizes = [start[n].size for n in names]
    ends = np.cumsum(sizes)
    d = int(sum(sizes[: len(binaries)]))
    n = int(ends[-1]) - d

    def value(s, w):
        flat = np.concatenate([s, w])
        parts = np.split(flat, ends[:-1])
        point = {
            name: part.reshape(start[name].shape).astype(start[name].dtype)
            for name, part in zip(names, parts, strict=True)
        }
        return float(log_p(point))

    states = np.array(list(itertools.product([0, 1], repeat=d)))
    log_w, means, squares = [], [], []
    eye = np.eye(n)
    for s in states:
        c = value(s, np.zeros(n))
        if not np.isfinite(c):
            log_w.append(-np.inf)
            means.append(np.zeros(n))
            squares.append(np.zeros(n))
            continue
        up = np.array([value(s, e) for e in eye])
        down = np.array([value(s, -e) for e in eye])
        b = 0.5 * (up - down)
        A = np.zeros((n, n))
        for i in range(n):
            A[i, i] = 2 * c - up[i] - down[i]
            for j in range(i):
                A[i, j] = A[j, i] = up[i] + up[j] - c - value(s, eye[i] + eye[j])
        covariance = np.linalg.inv(A)
        mean = covariance @ b
        log_w.append(c + 0.5 * b @ mean - 0.5 * np.linalg.slogdet(A)[1])
        means.append(mean)
        squares.append(mean**2 + np.diagonal(covariance))
    p = np.exp(np.array(log_w) - logsumexp(log_w))
    return states, p, np.array(means), np.array(squares)
