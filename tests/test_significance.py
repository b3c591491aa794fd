"""The p-values that tests rest on: uniform where all is right, tiny where it is not."""

import numpy as np
import pytest
from scipy import stats
from support.significance import ALPHA, assert_holds, batch_pvalues, stationarity_pvalue


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
        assert pvalues[0] > 0.5
        assert pvalues[1:].max() < ALPHA
    frozen = batch_pvalues(np.full((600, 2), 0.1), np.array([0.1, 0.2]))
    np.testing.assert_array_equal(frozen, [1.0, 0.0])


def test_what_is_not_a_number_is_rejected():
    """Wherever it stands among the p-values, and in whichever draw."""
    draws = autoregression(3000, 2, np.random.default_rng(3))
    draws[17, 1] = np.nan
    for pvalues in ((0.5, np.nan, 0.7), batch_pvalues(draws, 0.0)):
        with pytest.raises(AssertionError, match="nan"):
            assert_holds(*pvalues, seed=3)


def test_states_that_hardly_exist_are_rejected():
    """Also if many of them are met, or a common one, a little too often each."""
    rng, p = np.random.default_rng(3), np.array([0.5, 0.5 - 1e-5, 5e-6, 5e-6])
    right = rng.choice(4, 8000, p=p)
    assert stationarity_pvalue(right, p) > ALPHA
    leak = right.copy()
    leak[:20] = 2 + np.arange(20) % 2
    assert stationarity_pvalue(leak, p) < ALPHA
    assert stationarity_pvalue(np.zeros(50, int), np.array([1.0 - 1e-9, 1e-9])) == 1.0
