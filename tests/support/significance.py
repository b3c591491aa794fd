"""Tests of hypotheses with p-values: each assertion may fail by chance once in a million."""

import numpy as np
from scipy import stats

ALPHA = 1e-6
"""Probability that an assertion rejects what is true."""
FEWEST = 10
"""Expected count below which cells of a χ² test are put together."""
UNLIKE = 10
"""Draws of a batch that are as good as independent, at the least."""


def uniform_pvalue(sample, cdf):
    """p-value that independent draws have the continuous law ``cdf`` (Kolmogorov–Smirnov)."""
    return float(stats.kstest(sample, cdf).pvalue)


def stationarity_pvalue(after, probability):
    """p-value that the states ``after`` a transition follow ``probability`` (χ²).

    States so rare that together they have no χ² law may not be met too often.
    """
    counts = np.bincount(after, minlength=probability.size)
    if counts[probability == 0].any():
        return 0.0
    expected = after.size * probability
    big = expected >= FEWEST
    observed = np.append(counts[big], counts[~big].sum())
    wanted = np.append(expected[big], expected[~big].sum())
    keep = wanted >= FEWEST
    rare = stats.poisson.sf(observed[-1] - 1, wanted[-1]) if not keep[-1] else 1.0
    statistic = np.sum((observed - wanted)[keep] ** 2 / wanted[keep])
    common = stats.chi2.sf(statistic, keep.sum() - 1) if keep.sum() > 1 else 1.0
    return float(min(1.0, 2 * min(common, rare)))


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

    Of a column that never changes there is no error to estimate. If it is an event that never
    happens, or always, the p-value is the probability that ``UNLIKE`` draws of each batch miss
    what has the probability |mean − exact|; anything else that stands still is wrong.
    """
    size = len(draws) // batches
    kept = np.asarray(draws[: size * batches], float).reshape(batches * size, -1)
    means = kept.reshape(batches, size, -1).mean(axis=1)
    error, off = means.std(axis=0, ddof=1) / np.sqrt(batches), means.mean(axis=0) - exact
    missed = np.clip(1.0 - np.abs(off), 0.0, 1.0) ** (UNLIKE * batches)
    still = np.where(np.isin(kept[0], (0, 1)), missed, np.abs(off) < 1e-9)
    moving = 2 * stats.t.sf(np.abs(off) / np.maximum(error, 1e-12), batches - 1)
    return np.where(np.ptp(kept, axis=0) == 0, still, moving)


def assert_holds(*pvalues, seed):
    """Reject if any p-value is below ALPHA, shared out over them (Bonferroni)."""
    worst = np.min(pvalues)  # not a number if any is none
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
