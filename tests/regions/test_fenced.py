"""Constraints with gates: one call from exact starts, for regions on raw and on gated weights."""

import fenced_reference as reference
import numpy as np
import pytest
from fenced_problems import REGIONS, Mover, Problem, exact
from scipy import stats
from support.significance import (
    ALPHA,
    assert_holds,
    reversibility_pvalue,
    stationarity_pvalue,
)
from support.speed import slow_but

from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.region import make_region

N = 6000
CODE = np.array([4, 2, 1])


def one_call(problem, seed, n=N, change=None, **options):
    """p-values of stationarity and detailed balance of s, and of s with each weight."""
    rng = np.random.default_rng(seed)
    p, states, code, w = exact(problem, 2 * n, rng)
    mover, stream = Mover(problem, **options), seed_words(rng)
    if change is not None:
        change(mover)
    start, other = w[:n], w[n:]
    s_end, w_end = states[code[:n]].copy(), start.copy()
    for s, x in zip(s_end, w_end, strict=True):
        mover.move(s, x, stream)
        assert problem.allowed(s, x[None])[0]
    end = s_end @ CODE
    # Probabilities come from counts of their own, and so does the other sample.
    table = np.stack([np.bincount(end, minlength=8), np.bincount(code[n:], minlength=8)])
    table = table[:, table.sum(axis=0) > 20]
    values = [stats.chi2_contingency(table).pvalue, reversibility_pvalue(code[:n], end, 8)]
    for i in range(4):
        values.append(stats.ks_2samp(w_end[:, i], other[:, i]).pvalue)
        values.append(
            stats.ks_2samp(w_end[:, i] * w_end[:, i - 1], other[:, i] * other[:, i - 1]).pvalue
        )
        middle = np.median(other[:, i])
        halves = [2 * c + (x[:, i] > middle) for c, x in ((code[:n], start), (end, w_end))]
        values.append(reversibility_pvalue(*halves, 16))
    assert mover.tally.crossings[0] > n / 20
    assert stationarity_pvalue(code, p) > 0
    return values


FAST = [name for name in REGIONS if name not in ("gated ellipsoid", "raw outside a ball")]


@pytest.mark.parametrize("lower", slow_but([-0.3], [-np.inf, -0.3]))
@pytest.mark.parametrize("name", slow_but(FAST, REGIONS))
def test_one_call_keeps_exact_draws_exact(name, lower):
    """Enumeration times rejection, with and without bounds on each weight."""
    values = one_call(Problem(REGIONS[name], lower), seed=21)
    assert_holds(*values, seed=21)


@pytest.mark.parametrize("held", [0.0, 1.0])
@pytest.mark.parametrize("name", ["raw sum", "gated order"])
def test_sheared_and_held_hits_are_exact_alone(name, held):
    """Whatever their mixture."""
    assert_holds(*one_call(Problem(REGIONS[name], -np.inf), seed=22, held=held), seed=22)


@pytest.mark.parametrize("lower", [-np.inf, -0.3])
@pytest.mark.parametrize("name", REGIONS)
def test_transition_is_the_plain_one(name, lower):
    """Full matrices with the same random numbers lead to the same states and weights."""
    problem, rng = Problem(REGIONS[name], lower), np.random.default_rng(20)
    _, states, code, w = exact(problem, 30, rng, draws=4000)
    flips = 0
    for s, x in zip(states[code], w, strict=True):
        # A new one each time: the seats of the weights have no history.
        mover, stream = Mover(problem), seed_words(rng)
        *expected, counts = reference.transition(problem, s, x, mover.clocks, stream.copy())
        found = s.copy(), x.copy()
        mover.move(*found, stream)
        np.testing.assert_array_equal(found[0], expected[0])
        # Contacts amplify rounding.
        np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-6)
        assert mover.tally.hits[0] == counts.hits
        assert mover.tally.crossings[0] == mover.tally.per_wall.sum() == counts.crossings
        assert mover.attempts.contacts[0] == counts.contacts
        flips += (found[0] != s).sum()
    assert flips > 10


def integrate_closed_weights_out(mover):
    """Closed weights drawn from their slabs, as if a raw constraint did not cut them."""
    mover.fence.carried[:] = 0


def forget_the_data(mover):
    """ρ of half the size."""
    mover.block.coefficients[0] *= 0.5


@pytest.mark.parametrize("change", [forget_the_data])
def test_wrong_kernels_are_rejected(change):
    """The p-values are small where something is wrong."""
    values = one_call(Problem(REGIONS["raw sum"], -np.inf), seed=23, change=change)
    assert min(values) < ALPHA / len(values)


def test_closed_weights_must_not_be_drawn_apart_under_raw_constraints():
    """With closed weights integrated out, draws leave the region at once."""
    problem = Problem(REGIONS["raw sum"], -np.inf)
    with pytest.raises(AssertionError):
        one_call(problem, seed=24, n=500, change=integrate_closed_weights_out)


def test_weights_that_meet_gated_walls_only_are_drawn_apart():
    """They need not be carried; under raw walls they must, also in a product with another."""
    assert Mover(Problem(REGIONS["gated order"], -0.3)).fence.carried.tolist() == [0, 0, 0, 0]
    assert Mover(Problem(REGIONS["raw order"], -0.3)).fence.carried.tolist() == [1, 1, 1, 1]
    mixed = Mover(Problem(REGIONS["raw and gated"], -0.3)).fence.carried.tolist()
    assert mixed == [1, 1, 0, 0]
    pair = np.zeros((4, 4))
    pair[0, 2] = -1.0
    bilinear = Problem(make_region(np.zeros((1, 4)), [1.0], [pair]), -0.3)
    assert Mover(bilinear).fence.carried.tolist() == [1, 0, 1, 0]
