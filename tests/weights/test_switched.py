"""Switched slabs against the definition: gains, caches after many switches, draws."""

import numpy as np
import pytest
from scipy import stats
from support.significance import assert_holds

from pymc_exact_hmc.dynamics.transition import fresh_log_density
from pymc_exact_hmc.energies import commit, energy_drop
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.switched import MU, draw_switched, make_switched

CONTROL = np.array([-1, 0, 2, 0, 1, 2, 2])
GATES = 4  # the last one switches nothing


def problem(rng):
    n = CONTROL.size
    energy = make_switched(n, CONTROL, n_gates=GATES)
    X = rng.normal(size=(n + 3, n))
    energy.M[:] = X.T @ X
    energy.r[:] = 3 * rng.normal(size=n)
    energy.slabs[:2] = np.exp(rng.normal(size=(2, n)))
    energy.slabs[2:] = rng.normal(size=(2, n))
    return energy


def slabs_at(energy, s):
    t = np.where(CONTROL >= 0, s[np.maximum(CONTROL, 0)], 0)
    return np.where(t == 1, energy.slabs[[1, 3]], energy.slabs[[0, 2]])


def log_evidence(energy, s):
    """log ∫ exp(−½w'Mw + r'w) ∏ N(w_i; slab of s) dw, up to a constant."""
    Lambda, lam = slabs_at(energy, s)
    A, b = energy.M + np.diag(Lambda), energy.r + lam
    return (
        0.5 * b @ np.linalg.solve(A, b) - 0.5 * np.linalg.slogdet(A)[1]
        + 0.5 * np.log(Lambda).sum() - 0.5 * (lam**2 / Lambda).sum()
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_gains_are_differences_of_evidences(seed):
    """energy_drop of each gate and log_density are those of the definition."""
    rng = np.random.default_rng(seed)
    energy = problem(rng)
    s = rng.integers(0, 2, GATES).astype(np.int8)
    assert fresh_log_density(energy, s) == pytest.approx(log_evidence(energy, s), abs=1e-11)
    for j in range(GATES):
        flipped = s.copy()
        flipped[j] ^= 1
        exact = log_evidence(energy, flipped) - log_evidence(energy, s)
        assert energy_drop(energy, s, j) == pytest.approx(exact, abs=1e-11)


@pytest.mark.parametrize("sd", [1e-4, 1e-5, 1e-9, 1e-14])
@pytest.mark.parametrize("group", [[0, 1, 2, 3], [0, 0, 1, 1]], ids=["alone", "in pairs"])
def test_spikes_that_are_very_narrow(sd, group):
    """Weights that come out of them, and go back, keep their digits."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4))
    energy = make_switched(4, group, n_gates=max(group) + 1)
    energy.M[:], energy.r[:] = X.T @ X, X.T @ (X @ [0.5, 0.0, 0.3, 0.0] + rng.normal(size=30))
    energy.slabs[0], energy.slabs[1], energy.slabs[2:] = sd**-2, 1.0, 0.0

    def evidence(s):
        Lambda = np.where(s[group] == 1, 1.0, sd**-2)
        A = energy.M + np.diag(Lambda)
        fit = 0.5 * energy.r @ np.linalg.solve(A, energy.r)
        return fit - 0.5 * np.linalg.slogdet(A)[1] + 0.5 * np.log(Lambda).sum()

    s = np.zeros(max(group) + 1, np.int8)
    fresh_log_density(energy, s)
    for j in [*range(s.size), 0, *range(s.size)]:
        flipped = s.copy()
        flipped[j] ^= 1
        exact = evidence(flipped) - evidence(s)
        assert energy_drop(energy, s, j) == pytest.approx(exact, abs=1e-6)
        s[j] ^= 1
        commit(energy, s, j)
        Sigma = np.linalg.inv(energy.M + np.diag(np.where(s[group] == 1, 1.0, sd**-2)))
        np.testing.assert_allclose(np.diag(energy.Sigma), np.diag(Sigma), rtol=1e-6)


def test_caches_after_many_switches():
    """10⁴ rank-one updates leave Σ and μ where a fresh computation puts them, to rounding."""
    rng = np.random.default_rng(8)
    energy = problem(rng)
    s = np.zeros(GATES, np.int8)
    fresh_log_density(energy, s)
    for j in rng.integers(0, GATES, 10_000):
        s[j] ^= 1
        commit(energy, s, j)
    Lambda, lam = slabs_at(energy, s)
    Sigma = np.linalg.inv(energy.M + np.diag(Lambda))
    np.testing.assert_allclose(energy.Sigma, Sigma, rtol=0, atol=1e-9 * np.abs(Sigma).max())
    mu = Sigma @ (energy.r + lam)
    np.testing.assert_allclose(energy.means[MU], mu, rtol=0, atol=1e-9 * np.abs(mu).max())


def test_draws_have_the_mean_and_covariance_of_the_state():
    """w | s ~ N(μ, Σ): whitened draws have mean 0 and covariance I."""
    rng = np.random.default_rng(9)
    energy = problem(rng)
    s = np.array([1, 0, 1, 0], np.int8)
    fresh_log_density(energy, s)
    Lambda, lam = slabs_at(energy, s)
    A = energy.M + np.diag(Lambda)
    draws = np.empty((40_000, CONTROL.size))
    for row in draws:
        draw_switched(energy, seed_words(rng), row)
    white = (draws - np.linalg.solve(A, energy.r + lam)) @ np.linalg.cholesky(A)
    n = len(white)
    pvalues = list(2 * stats.norm.sf(np.abs(white.mean(axis=0)) * np.sqrt(n)))
    second = white.T @ white / n - np.eye(CONTROL.size)
    size = np.sqrt((1 + np.eye(CONTROL.size)) / n)
    pvalues += list(2 * stats.norm.sf(np.abs(second / size))[np.triu_indices(CONTROL.size)])
    assert_holds(*pvalues, seed=9)
