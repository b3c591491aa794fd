"""Posteriors of small problems by enumeration of indicators and quadrature over weights."""

import itertools

import numpy as np
from scipy.stats import norm

NODES = {0: 1, 1: 400, 2: 100, 3: 56}
"""Nodes in each direction, by the number of weights that are on."""
NEGLIGIBLE = 40.0
"""Drop of the log-density beyond which nothing counts."""


def grid(low, high, points):
    """Return all points of a regular grid, ends included."""
    axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    return np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)


def box(log_density, mean, sd, lower, upper):
    """Return the region that holds all but a negligible part of a density."""
    low, high = np.maximum(mean - 9 * sd, lower), np.minimum(mean + 9 * sd, upper)
    for _ in range(4):
        points = 25
        w = grid(low, high, points)
        values = log_density(w)
        inside = w[values > values.max() - NEGLIGIBLE]
        cell = (high - low) / (points - 1)
        low = np.maximum(inside.min(axis=0) - cell, low)
        high = np.minimum(inside.max(axis=0) + cell, high)
    return low, high


def posterior(log_likelihood, columns, gate, *, mean, sd, lower, upper, log_prior, evidence=False):
    """Return states, their probabilities, and E[w] and E[w²] of every weight that is on.

    ``log_likelihood`` maps predictors (points × rows) to totals; moments of weights that are
    off count as 0, and the expectations are over the whole posterior. ``evidence`` adds the log
    of the normaliser.
    """
    gate, n = np.asarray(gate), columns.shape[1]
    mean, sd, lower, upper = (np.broadcast_to(np.asarray(x, float), n) for x in
                              (mean, sd, lower, upper))  # fmt: skip
    states = np.array(list(itertools.product([0, 1], repeat=gate.max() + 1)))
    log_p, first, second = np.empty(len(states)), [], []
    for k, s in enumerate(states):
        on = np.flatnonzero((gate < 0) | (s[np.maximum(gate, 0)] == 1))

        def log_density(w, on=on):
            own = -0.5 * np.square((w - mean[on]) / sd[on]).sum(axis=-1)
            return own + log_likelihood(w @ columns[:, on].T)

        one, two = np.zeros(n), np.zeros(n)
        if on.size:
            low, high = box(log_density, mean[on], sd[on], lower[on], upper[on])
            x, v = np.polynomial.legendre.leggauss(NODES[on.size])
            axes = [0.5 * (a + b) + 0.5 * (b - a) * x for a, b in zip(low, high, strict=True)]
            w = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
            weight = np.prod(np.meshgrid(*[v] * on.size, indexing="ij"), axis=0).ravel()
            weight = weight * np.prod(0.5 * (high - low))
            values = log_density(w)
            top = values.max()
            mass = weight * np.exp(values - top)
            log_p[k] = top + np.log(mass.sum())
            one[on], two[on] = mass @ w / mass.sum(), mass @ w**2 / mass.sum()
        else:
            log_p[k] = log_density(np.zeros((1, 0)))[0]
        log_p[k] += log_prior(s) - sum(normaliser(mean[i], sd[i], lower[i], upper[i]) for i in on)
        first.append(one)
        second.append(two)
    p = np.exp(log_p - log_p.max())
    total = log_p.max() + np.log(p.sum())
    p /= p.sum()
    answer = states, p, p @ np.array(first), p @ np.array(second)
    return (*answer, total) if evidence else answer


def normaliser(mean, sd, lower, upper):
    """log ∫ exp(−½((w − mean)/sd)²) dw over the bounds."""
    inside = norm.cdf((upper - mean) / sd) - norm.cdf((lower - mean) / sd)
    return np.log(sd * np.sqrt(2 * np.pi) * inside)
