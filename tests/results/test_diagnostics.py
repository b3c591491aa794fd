"""Effective draws and R-hat of many binary series at once."""

import warnings

import arviz as az
import numpy as np
import pytest
from traces import markov_chains

from pymc_exact_hmc.results import diagnostics
from pymc_exact_hmc.results.diagnostics import mixing, switches


def by_arviz(x):
    """Bulk effective draws and rank-normalised R-hat of one series (chain, draw)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(az.ess(x, method="bulk")), float(az.rhat(x))


@pytest.mark.parametrize(("chains", "draws"), [(4, 100), (2, 501), (4, 1000), (3, 11)])
def test_agrees_with_arviz(chains, draws):
    """Ranks of a binary series are affine in it, so both numbers are ArviZ's wherever it moves."""
    rng = np.random.default_rng(1)
    stay = np.concatenate([np.zeros(8), rng.random(8) ** 0.2])
    x = markov_chains(rng, rng.random(16), stay, chains, draws)
    x[:, :, 0] = (np.arange(draws) % 2) ^ (rng.random((chains, draws)) < 0.1)
    judged = mixing(x)
    moving = np.flatnonzero([len(np.unique(x[:, :, j])) == 2 for j in range(16)])
    assert moving.size > 10
    for j in moving:
        ess, r_hat = by_arviz(x[:, :, j])
        np.testing.assert_allclose(judged.ess[j], ess, rtol=1e-9)
        # Infinite when all halves of chains are constant, of which ArviZ makes NaN or 1e16.
        if np.isfinite(judged.r_hat[j]):
            np.testing.assert_allclose(judged.r_hat[j], r_hat, rtol=1e-9)


def test_of_floats_is_arviz_without_ranks():
    """For any series these are ArviZ's effective draws of the mean, with its standard error."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(4, 200, 3)).cumsum(axis=1) * [1.0, 0.1, 0.0] + rng.normal(size=(4, 200, 3))
    judged = mixing(x)
    for j in range(3):
        np.testing.assert_allclose(judged.ess[j], float(az.ess(x[:, :, j], method="mean")))
        np.testing.assert_allclose(
            judged.mcse[j], np.asarray(az.mcse(x[:, :, j], method="mean")).item()
        )


def test_blocks_of_columns_do_not_matter(monkeypatch):
    """One column at a time gives the same numbers as all at once."""
    x = markov_chains(np.random.default_rng(3), np.full(9, 0.4), np.full(9, 0.5), 2, 60)
    whole, counted = mixing(x), switches(x)
    monkeypatch.setattr(diagnostics, "BLOCK_VALUES", 1)
    for one, other in zip(whole, mixing(x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_array_equal(counted, switches(x))


def test_constant_series_have_no_effective_draws():
    """A series that never moved is not as good as independent draws, whatever ArviZ says."""
    x = np.ones((2, 50, 3), int)
    x[1, :, 1] = 0
    x[0, 10:, 2] = 0
    judged = mixing(x)
    assert np.isnan([judged.ess[0], judged.mcse[0], judged.r_hat[0]]).all()
    assert np.isinf(judged.r_hat[1])
    assert judged.ess[1] < 5
    assert np.isfinite(judged.ess[2])


def test_switches_by_hand():
    """Changes from one draw to the next, in each chain."""
    x = np.array([[[0, 1], [1, 1], [0, 1]], [[0, 0], [0, 1], [1, 0]]])
    np.testing.assert_array_equal(switches(x), [[2, 0], [1, 2]])


def test_too_few_draws_are_not_judged():
    """Three draws cannot be split into halves with a variance."""
    judged = mixing(np.array([[[0], [1], [0]]]))
    assert judged.mean[0] == pytest.approx(1 / 3)
    assert np.isnan(judged.ess[0])
