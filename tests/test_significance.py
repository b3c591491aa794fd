"""The p-values that tests rest on: uniform where all is right, tiny where it is not."""

import numpy as np
from scipy import stats
from support.significance import ALPHA, batch_pvalues


def autoregression(size, columns, rng):
    """Correlated draws with mean 0."""
    x = rng.normal(size=(size, columns))
    for k in range(1, size):
        x[k] = 0.5 * x[k - 1] + np.sqrt(0.75) * x[k]
    return x


def test_batches_of_correlated_draws_give_uniform_pvalues():
    """Under the mean that they have; another one is rejected."""
    draws = autoregression(3000, 400, np.random.default_rng(3))
    assert stats.kstest(batch_pvalues(draws, np.zeros(400)), "uniform").pvalue > ALPHA
    assert batch_pvalues(draws, np.full(400, 0.3)).max() < ALPHA


def test_chains_that_never_move_are_rejected():
    """Unless the other state is so rare that none of the batches need have seen it."""
    for constant in (0.0, 1.0):
        still = np.full((600, 3), constant)
        pvalues = batch_pvalues(still, np.abs(constant - np.array([1e-3, 0.4, 0.98])))
        assert pvalues[0] > 0.9
        assert pvalues[1:].max() < ALPHA
    np.testing.assert_array_equal(batch_pvalues(np.full((600, 1), 0.1), 0.1), 1.0)
