"""Calls that outgrow their memory, singular precisions, and Rao–Blackwell odds."""

import numpy as np
import pytest
from exact import draw_given, exact_draws, posterior, states
from invariance import ALPHA
from kernels import Mover
from problems import make_problem, regression
from scipy import stats
from scipy.special import expit

from pymc_exact_hmc.dynamics.transition import refresh_caches
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights import calls
from pymc_exact_hmc.weights.active import expire, make_active
from pymc_exact_hmc.weights.calls import Call, SingularPrecisionError, make_call
from pymc_exact_hmc.weights.inclusion import inclusion_log_odds
from pymc_exact_hmc.weights.integrated import integrated_transition
from pymc_exact_hmc.weights.refreshing import refresh_active
from pymc_exact_hmc.weights.sheared import sheared_transition

INF = np.inf


def call_of(problem, transition, capacity=None):
    m = Mover(problem)
    active = make_active(problem.block, capacity)
    return Call(transition, m.prior, problem.block, active, m.walls, m.clocks, m.tally, m.attempts)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("transition", [sheared_transition, integrated_transition])
def test_a_call_without_enough_seats_equals_one_with_enough(transition, coupled):
    """Growing the memory in the middle of a chain does not change a single draw, nor a count.

    Nor do the caches of a prior that couples the gates, which the undone call has moved on.
    """
    rng = np.random.default_rng(41)
    lower = 0.0 if transition is sheared_transition else -INF
    problem = regression(rng, range(8), lower=lower, log_odds=0.5, signal=0.5)
    if coupled:
        J = np.triu(rng.normal(size=(8, 8)), 1)
        problem = problem._replace(coupling=J + J.T)
    small, large = call_of(problem, transition, 1), call_of(problem, transition)
    s, w = np.zeros(8, np.int8), np.ones(8)
    other_s, other_w = s.copy(), w.copy()
    for call in (small, large):
        refresh_caches(call.prior, s)
    for _ in range(50):
        stream, before = seed_words(rng), small
        small = make_call(small, s, w, stream.copy())
        if small is not before:
            # New memory seats the weights in their order; so must the other.
            expire(large.active)
        large = make_call(large, other_s, other_w, stream)
        np.testing.assert_array_equal(s, other_s)
        np.testing.assert_allclose(w, other_w, rtol=1e-8)
        for mine, other in zip(
            [*small.tally, *small.attempts], [*large.tally, *large.attempts], strict=True
        ):
            np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-8)
    assert small.active.P.size > 1


def test_a_flight_that_is_given_up_draws_what_is_off_and_keeps_the_rest(monkeypatch):
    """The scales of weights that are off may be new: their old values are not a draw any more."""
    monkeypatch.setattr(calls, "MOST_CONTACTS", 0)
    rng = np.random.default_rng(46)
    problem = regression(rng, [0, 1, -1, 2], lower=0.0, Lambda=0.25)
    call = call_of(problem, sheared_transition)
    s, w = np.array([1, 0, 0], np.int8), np.ones(4)
    refresh_caches(call.prior, s)
    closed = []
    for n in range(500):
        call = make_call(call, s, w, seed_words(rng))
        closed.append(w[[1, 3]])
        assert call.attempts.given_up[0] == n + 1
    np.testing.assert_array_equal(s, [1, 0, 0])
    np.testing.assert_array_equal(w[[0, 2]], 1.0)
    assert stats.kstest(np.ravel(closed), stats.halfnorm(scale=2.0).cdf).pvalue > ALPHA
    fresh = make_active(problem.block)
    refresh_active(problem.block, fresh, s)
    np.testing.assert_array_equal(call.active.place, fresh.place)
    np.testing.assert_array_equal([call.active.D, call.active.rho], [fresh.D, fresh.rho])


@pytest.mark.parametrize("bounds", [{"lower": [-INF, 0.0]}, {"upper": [INF, 1.0]}])
def test_a_bound_on_either_side_truncates(bounds):
    """Blocks with bounds must not be drawn as if they had none."""
    rng = np.random.default_rng(45)
    assert not regression(rng, range(2)).block.is_truncated
    assert regression(rng, range(2), **bounds).block.is_truncated


def test_dependent_weights_are_refused_and_the_state_is_kept():
    """Two copies of a column under exponential priors have no Gaussian of their own."""
    problem = make_problem(
        M=np.ones((2, 2)), r=np.ones(2), Lambda=0.0, lam=-1.0, gate=[0, 1], lower=0.0, log_odds=3.0
    )
    call = call_of(problem, sheared_transition)
    rng = np.random.default_rng(42)
    s, w = np.zeros(2, np.int8), np.ones(2)
    message = ""
    for _ in range(100):
        before = s.copy(), w.copy()
        try:
            call = make_call(call, s, w, seed_words(rng))
        except SingularPrecisionError as error:
            message = str(error)
            break
    assert "linearly dependent" in message
    np.testing.assert_array_equal(s, before[0])
    np.testing.assert_array_equal(w, before[1])


@pytest.mark.parametrize(
    "bounds",
    [
        {},
        {"lower": 0.0},
        {"lower": [0.0, -INF, -INF, -INF, -1.0]},
    ],
)
def test_average_inclusion_odds_are_the_inclusion_probabilities(bounds):
    """E sigmoid(L_g) = P(s_g = 1), with less noise than the indicators have."""
    rng = np.random.default_rng(43)
    rest = {"signal": 0.5, "N": 12, "Lambda": 0.5} | bounds
    problem = regression(rng, [0, 1, 2, 2, -1], **rest)
    p = posterior(problem)
    exact = p @ states(3)
    s, w = exact_draws(problem, p, 4000, rng)
    mover = Mover(problem)
    odds = np.empty((len(s), 3))
    for i in range(len(s)):
        refresh_active(problem.block, mover.active, s[i])
        refresh_caches(mover.prior, s[i])
        inclusion_log_odds(mover.prior, problem.block, mover.active, s[i], w[i], odds[i])
    estimate = expit(odds)
    for g in range(3):
        error = estimate[:, g].std() / np.sqrt(len(s))
        z = (estimate[:, g].mean() - exact[g]) / error
        assert 2 * stats.norm.sf(abs(z)) > ALPHA
    assert (estimate.var(axis=0) <= s.var(axis=0) + 1e-12).all()
    if not bounds:
        assert (estimate.var(axis=0) < 0.8 * s.var(axis=0)).all()


def test_without_held_moves_the_chain_can_be_stuck():
    """w₀ ∈ [0, 0.1] always on and w₁ ∈ [0.5, 2] gated with u ≈ 1: every shear is infeasible."""
    M = 50.0 * np.array([[1.0, 0.99], [0.99, 1.0]])
    problem = make_problem(
        M=M, r=[30.0, 40.0], Lambda=0.1, gate=[-1, 0], lower=[0.0, 0.5], upper=[0.1, 2.0],
        log_odds=-8.5,
    )  # fmt: skip
    exact = posterior(problem)[1]
    assert 0.9 < exact < 0.99
    rng = np.random.default_rng(44)
    for held, reaches in [(0.0, False), (0.1, True)]:
        mover = Mover(problem)
        mover.clocks = mover.clocks._replace(held=held)
        s, w, opened = np.zeros(1, np.int8), draw_given(problem, [0], 1, rng)[0], []
        for _ in range(20_000):
            mover.move(s, w, seed_words(rng))
            opened.append(s[0])
        if reaches:
            batches = np.reshape(opened, (50, -1)).mean(axis=1)
            z = (batches.mean() - exact) / (batches.std(ddof=1) / np.sqrt(50))
            assert 2 * stats.t.sf(abs(z), 49) > ALPHA
        else:
            assert sum(opened) == 0
            assert mover.attempts.infeasible[0] > 1000
