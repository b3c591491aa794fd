"""Tests of invariance from exact starts: p-values, and nothing tuned by eye."""

import numpy as np
from scipy import stats
from support.significance import ALPHA, reversibility_pvalue, stationarity_pvalue


def invariance(p, start, end, other):
    """p-values by name: (s, w) at the start and the end of one call, and other exact draws.

    Stationarity of s and of each weight, and detailed balance of s and of s with the half in
    which one weight lies.
    """
    (code_start, _), (code_end, w_end), (_, w_other) = start, end, other
    values = {
        "stationary s": stationarity_pvalue(code_end, p),
        "reversible s": reversibility_pvalue(code_start, code_end, len(p)),
    }
    for i in range(w_end.shape[1]):
        values[f"stationary w[{i}]"] = stats.ks_2samp(w_end[:, i], w_other[:, i]).pvalue
        middle = np.median(w_other[:, i])
        halves = [2 * c + (w[:, i] > middle) for c, w in (start, end)]
        values[f"reversible w[{i}]"] = reversibility_pvalue(*halves, 2 * len(p))
    return values


def assert_invariant(values, seed):
    """No p-value below ALPHA, shared among them."""
    assert np.isfinite(list(values.values())).all(), f"not a number: {values}, seed {seed}"
    name = min(values, key=values.get)
    assert values[name] > ALPHA / len(values), f"{name}: p = {values[name]:.2g}, seed {seed}"
