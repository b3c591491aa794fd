"""Tests of hypotheses with p-values: each assertion may fail by chance once in a million."""

import numpy as np
from scipy import stats

ALPHA = 1e-6
"""Probability that an assertion rejects what is true."""
FEWEST = 10
"""Expected count below which cells of a χ² test are put together."""


def uniform_pvalue(sample, cdf):
    """p-value that independent draws have the continuous law ``cdf`` (Kolmogorov–Smirnov)."""
    return float(stats.kstest(sample, cdf).pvalue)


def stationarity_pvalue(after, probability):
    """p-value that the states ``after`` a transition follow ``probability`` (χ²)."""
    counts = np.bincount(after, minlength=probability.size)
    if counts[probability == 0].any():
        return 0.0
    expected = after.size * probability
    big = expected >= FEWEST
    observed = np.append(counts[big], counts[~big].sum())
    wanted = np.append(expected[big], expected[~big].sum())
    keep = wanted >= FEWEST
    statistic = np.sum((observed - wanted)[keep] ** 2 / wanted[keep])
    return float(stats.chi2.sf(statistic, keep.sum() - 1))


def reversibility_pvalue(before, after, n_states):
    """p-value that i → j is as frequent as j → i (Bowker 1948)."""
    table = np.zeros((n_states, n_states))
    np.add.at(table, (before, after), 1)
    upper, lower = table[np.triu_indices(n_states, 1)], table.T[np.triu_indices(n_states, 1)]
    total = upper + lower
    enough = total >= FEWEST
    # Rare pairs are tested together, by their joint excess of i → j for i < j.
    upper = np.append(upper[enough], upper[~enough].sum())
    total = np.append(total[enough], total[~enough].sum())
    keep = total >= FEWEST
    statistic = np.sum((2 * upper - total)[keep] ** 2 / total[keep])
    return float(stats.chi2.sf(statistic, keep.sum())) if keep.any() else 1.0


def zero_mean_pvalue(sample):
    """p-value that independent draws have mean zero."""
    sample = np.asarray(sample, float)
    spread = sample.std(ddof=1)
    if spread == 0:
        return float(sample[0] == 0)
    return float(2 * stats.norm.sf(abs(sample.mean()) / (spread / np.sqrt(sample.size))))


def batch_pvalues(draws, exact, batches=60):
    """p-values that the means of correlated draws are as given, from means of batches.

    Of an event that never happens, or always, there is no error to estimate: the p-value is the
    probability that a draw from each batch misses what has the probability |mean − exact|.
    """
    size = len(draws) // batches
    means = draws[: size * batches].reshape(batches, size, -1).mean(axis=1)
    error, off = means.std(axis=0, ddof=1) / np.sqrt(batches), means.mean(axis=0) - exact
    still = np.clip(1.0 - np.abs(off), 0.0, 1.0) ** batches
    moving = 2 * stats.t.sf(np.abs(off) / np.maximum(error, 1e-12), batches - 1)
    return np.where(np.ptp(means, axis=0) > 0, moving, still)


def assert_holds(*pvalues, seed):
    """Reject if any p-value is below ALPHA, shared out over them (Bonferroni)."""
    worst = min(pvalues)
    assert worst > ALPHA / len(pvalues), f"p = {worst:.2g} (seed {seed})"


def between_pvalue(x, edges, cdf):
    """p-value of the mean rank of draws between the two edges next to them.

    A ziggurat that takes a wrong share of the corner of a layer is hardly seen elsewhere.
    """
    place = np.searchsorted(edges, x)
    inside = (place > 0) & (place < edges.size)
    place, at = place[inside], cdf(edges)
    ranks = (cdf(x[inside]) - at[place - 1]) / (at[place] - at[place - 1])
    return 2 * stats.norm.sf(abs(ranks.mean() - 0.5) * np.sqrt(12 * ranks.size))
