"""Flip oracles: drops, caches and log-densities agree with a plain evaluation of log f."""

import numpy as np
import pytest
from support.cases import CASES, make
from support.enumeration import states

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.dynamics.transition import fresh_log_density, refresh_caches
from pymc_exact_hmc.energies import Fields, Sum, commit, energy_drop, log_density


@kernel
def all_drops(energy, s, drops):
    for j in range(s.size):
        drops[j] = energy_drop(energy, s, j)


@kernel
def walk(energy, s, proposals):
    """Flip s_j for each proposal that log f allows, committing every flip."""
    for k in range(proposals.size):
        j = proposals[k]
        if np.isfinite(energy_drop(energy, s, j)):
            s[j] ^= 1
            commit(energy, s, j)


@kernel
def cached_log_density(energy, s):
    return log_density(energy, s)


def drops_of(case, s):
    drops = np.empty(case.d)
    all_drops(case.energy, s, drops)
    return drops


@pytest.mark.parametrize("name", CASES)
def test_drops_and_log_density_are_those_of_log_f(name):
    """Δ_j = log f(s with s_j flipped) − log f(s) at every state that log f allows.

    Refreshed caches are all that Δ_j needs.
    """
    case = make(name)
    possible = [s for s in states(case.d) if np.isfinite(case.log_f(s))]
    base, own_base = case.log_f(possible[0]), fresh_log_density(case.energy, possible[0].copy())
    for s in possible:
        refresh_caches(case.energy, s.copy())
        drops = drops_of(case, s.copy())
        own = fresh_log_density(case.energy, s.copy()) - own_base
        assert own == pytest.approx(case.log_f(s) - base, rel=1e-12, abs=1e-12)
        for j in range(case.d):
            flipped = s.copy()
            flipped[j] ^= 1
            expected = case.log_f(flipped) - case.log_f(s)
            assert drops[j] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_a_drop_leaves_the_state_alone(name):
    """Asking for Δ_j changes neither s nor any later answer."""
    case = make(name)
    s = next(s for s in states(case.d) if np.isfinite(case.log_f(s))).copy()
    fresh_log_density(case.energy, s)
    before = s.copy()
    np.testing.assert_array_equal(drops_of(case, s), drops_of(case, s))
    np.testing.assert_array_equal(s, before)


@pytest.mark.parametrize("name", CASES)
def test_caches_equal_a_fresh_computation(name):
    """After 10⁴ committed flips every cache gives what computing it afresh gives."""
    case = make(name, d=8)
    s = next(s for s in states(case.d) if np.isfinite(case.log_f(s))).copy()
    refresh_caches(case.energy, s)
    walk(case.energy, s, np.random.default_rng(31).integers(0, case.d, 10_000))
    cached = drops_of(case, s), cached_log_density(case.energy, s)
    refresh_caches(case.energy, s)
    afresh = drops_of(case, s), cached_log_density(case.energy, s)
    # Each flip may add one rounding error of numbers of the size of the coefficients.
    np.testing.assert_allclose(cached[0], afresh[0], rtol=0, atol=1e4 * 1e-15)
    assert cached[1] == pytest.approx(afresh[1], rel=0, abs=1e4 * 1e-15)


@pytest.mark.parametrize("name", ["fields", "sparse couplings", "dense couplings"])
def test_an_infinite_field_pins_an_indicator(name):
    """It is a constant of log f, in which it does not count, and no flip takes the indicator away.

    The others are as free as before.
    """
    case = make(name)
    h = case.energy.h.copy()
    h[0] = np.inf
    pinned = case._replace(energy=case.energy._replace(h=h))
    for s in states(case.d)[states(case.d)[:, 0] == 1]:
        own = fresh_log_density(pinned.energy, s.copy())
        assert own == pytest.approx(case.log_f(s) - case.energy.h[0], rel=1e-12, abs=1e-12)
        drops = drops_of(pinned, s.copy())
        refresh_caches(case.energy, s.copy())
        assert drops[0] == -np.inf
        np.testing.assert_allclose(drops[1:], drops_of(case, s.copy())[1:], rtol=1e-12)


def test_forbidden_flips_are_infinitely_uphill():
    """A flip into a state that log f forbids has Δ = −inf, not NaN, in a sum too."""
    case = make("sum")
    for s in states(case.d):
        if np.isfinite(case.log_f(s)):
            fresh_log_density(case.energy, s.copy())
            assert not np.isnan(drops_of(case, s.copy())).any()


def test_parts_of_a_sum_may_be_large_and_cancel():
    """What one part makes improbable another may make up for."""
    h = np.array([800.0, -800.0])
    drops = np.empty(2)
    all_drops(Sum(Fields(h), Fields(0.25 - h)), np.zeros(2, np.int8), drops)
    np.testing.assert_allclose(drops, 0.25, rtol=1e-12)
