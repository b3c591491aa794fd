"""Tests of invariance from exact starts: p-values, and nothing tuned by eye."""

import numpy as np
from scipy import stats

ALPHA = 1e-6


def chi_square(counts, p):
    """p-value of counts against probabilities, rare cells pooled."""
    n = counts.sum()
    rare = n * p < 10
    expected = np.append(n * p[~rare], n * p[rare].sum())
    observed = np.append(counts[~rare], counts[rare].sum())
    if expected[-1] < 5:
        expected, observed = expected[:-1], observed[:-1]
        expected = expected * observed.sum() / expected.sum()
    return stats.chisquare(observed, expected).pvalue if len(expected) > 1 else 1.0


def bowker(before, after, n):
    """p-value of the symmetry of the table of moves between n states."""
    table = np.zeros((n, n))
    np.add.at(table, (before, after), 1)
    i, j = np.triu_indices(n, 1)
    total, difference = table[i, j] + table[j, i], table[i, j] - table[j, i]
    used = total >= 10
    if not used.any():
        return 1.0
    return stats.chi2.sf((difference[used] ** 2 / total[used]).sum(), used.sum())


def invariance(p, start, end, other):
    """p-values by name: (s, w) at the start and the end of one call, and other exact draws.

    Stationarity of s and of each weight, and detailed balance of s and of s with the half in
    which one weight lies.
    """
    (code_start, _), (code_end, w_end), (_, w_other) = start, end, other
    values = {
        "stationary s": chi_square(np.bincount(code_end, minlength=len(p)), p),
        "reversible s": bowker(code_start, code_end, len(p)),
    }
    for i in range(w_end.shape[1]):
        values[f"stationary w[{i}]"] = stats.ks_2samp(w_end[:, i], w_other[:, i]).pvalue
        middle = np.median(w_other[:, i])
        halves = [2 * c + (w[:, i] > middle) for c, w in (start, end)]
        values[f"reversible w[{i}]"] = bowker(*halves, 2 * len(p))
    return values


def assert_invariant(values, seed):
    """No p-value below ALPHA, shared among them."""
    name = min(values, key=values.get)
    assert values[name] > ALPHA / len(values), f"{name}: p = {values[name]:.2g}, seed {seed}"
