"""The caches of the weights that are switched on."""

import numpy as np
import pytest
from problems import fresh_caches, make_problem, regression

from pymc_exact_hmc.weights.active import (
    FULL,
    MU,
    PAIR_D,
    PAIR_M,
    SINGULAR,
    SIZE,
    SLOT,
    SMALL_PIVOT,
    expire,
    make_active,
    remember_gram,
    rescale_gram,
)
from pymc_exact_hmc.weights.block import LAMBDA
from pymc_exact_hmc.weights.collapsed import switch_gate
from pymc_exact_hmc.weights.crossing import join
from pymc_exact_hmc.weights.evidence import known_entry
from pymc_exact_hmc.weights.refreshing import MOST_CALLS, prepare, refresh_active

GROUPED = np.array([-1, 0, 1, 2, 2, 3, -1, 4, 5, 5, 5, 6, 7, 8])


def check(problem, active, s, rtol):
    D, rho = fresh_caches(problem, s)
    P, mu, Sigma = problem.gaussian(s)
    k = active.counts[SIZE]
    order = np.argsort(active.P[:k])
    np.testing.assert_array_equal(active.P[:k][order], P)
    np.testing.assert_allclose(active.D, D, rtol=rtol)
    np.testing.assert_allclose(active.rho, rho, rtol=rtol, atol=rtol * np.abs(rho).max())
    seen = active.Sigma[np.ix_(order, order)]
    np.testing.assert_allclose(seen, Sigma, rtol=rtol, atol=rtol * np.abs(Sigma).max(initial=0))
    np.testing.assert_allclose(active.seats[MU, order], mu, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(active.rows[active.slots[SLOT, :k]], problem.M[active.P[:k]])
    for p, (i, j) in enumerate(problem.block.pairs.T):
        if s[problem.block.gate[i]] == 0:
            m = problem.M[np.ix_(P, [i, j])]
            schur = problem.M[i, j] - m[:, 0] @ Sigma @ m[:, 1]
            assert active.pair[PAIR_D, p] == pytest.approx(schur, rel=rtol, abs=rtol)


@pytest.mark.parametrize("correlation", [0.1, 0.9, 0.995])
@pytest.mark.parametrize("design", [False, True])
def test_caches_equal_a_fresh_computation_after_ten_thousand_crossings(correlation, design):
    """10⁴ rank-one updates drift by less than 1e-7, and a refresh takes that away."""
    rng = np.random.default_rng(11)
    problem = regression(rng, GROUPED, correlation=correlation, design=design, lam=0.3)
    s = rng.integers(0, 2, 9).astype(np.int8)
    active = make_active(problem.block)
    refresh_active(problem.block, active, s)
    check(problem, active, s, 1e-9)
    for g in rng.integers(0, 9, 10_000):
        s[g] ^= 1
        switch_gate(problem.block, active, g, bool(s[g]))
    check(problem, active, s, 1e-7)
    refresh_active(problem.block, active, s)
    check(problem, active, s, 1e-9)


def test_rescaling_equals_a_new_gram_matrix():
    """When only σ changes nothing is read from M again."""
    rng = np.random.default_rng(12)
    problem = regression(rng, GROUPED)
    s = rng.integers(0, 2, 9).astype(np.int8)
    active = make_active(problem.block)
    refresh_active(problem.block, active, s)
    gram = problem.block.gram
    gram.M.setflags(write=True)
    for scale in (0.7, 3.0):
        rescale_gram(gram, scale, active.diagonal, active.pair[PAIR_M], active.rows, active.slots)
    refresh_active(problem.block, active, s)
    check(problem._replace(M=3.0 * problem.M), active, s, 1e-9)
    # Rows that were not remembered are read at the new scale.
    refresh_active(problem.block, active, 1 - s)
    check(problem._replace(M=3.0 * problem.M), active, 1 - s, 1e-9)


def test_a_new_gram_matrix_is_read_again():
    """After M has changed no row of the old one is used."""
    rng = np.random.default_rng(15)
    problem, other = (regression(rng, GROUPED) for _ in range(2))
    s = rng.integers(0, 2, 9).astype(np.int8)
    active = make_active(problem.block)
    refresh_active(problem.block, active, s)
    problem.block.gram.M[:] = other.M
    remember_gram(
        problem.block.gram, problem.block.pairs, active.diagonal, active.pair[PAIR_M], active.slots
    )
    refresh_active(problem.block, active, s)
    check(problem, active, s, 1e-9)


def test_rows_are_found_again_in_few_seats():
    """With fewer seats than weights, slots are taken over and rows read again when needed."""
    rng = np.random.default_rng(16)
    problem = regression(rng, np.arange(9), lam=0.3)
    active = make_active(problem.block, 4)
    s = np.zeros(9, np.int8)
    refresh_active(problem.block, active, s)
    for g in rng.integers(0, 9, 400):
        if s[g] == 1 or s.sum() < 4:
            s[g] ^= 1
            switch_gate(problem.block, active, g, bool(s[g]))
            check(problem, active, s, 1e-8)


def test_old_caches_are_computed_afresh():
    """After MOST_CALLS calls, or if they belong to another state, and not before."""
    rng = np.random.default_rng(17)
    problem = regression(rng, GROUPED)
    s = rng.integers(0, 2, 9).astype(np.int8)
    active = make_active(problem.block)
    prepare(problem.block, active, s)
    check(problem, active, s, 1e-9)
    drifted = active.D[0] = 1.001 * active.D[0]
    for _ in range(MOST_CALLS):
        prepare(problem.block, active, s)
        assert active.D[0] == drifted
    prepare(problem.block, active, s)
    check(problem, active, s, 1e-9)
    s[3] ^= 1
    prepare(problem.block, active, s)
    check(problem, active, s, 1e-9)
    expire(active)
    active.D[0] = drifted
    prepare(problem.block, active, s)
    check(problem, active, s, 1e-9)


def test_precisions_never_fall_below_those_of_the_slab():
    """Exact copies of a column leave D = Λ + what the slab of the copy lets through."""
    rng = np.random.default_rng(13)
    M = np.full((4, 4), 1e6)
    problem = make_problem(M=M, r=np.ones(4), Lambda=1e-6, gate=np.arange(4))
    active = make_active(problem.block)
    s = np.zeros(4, np.int8)
    refresh_active(problem.block, active, s)
    for g in rng.integers(0, 4, 1000):
        s[g] ^= 1
        switch_gate(problem.block, active, g, bool(s[g]))
        assert (problem.block.coefficients[LAMBDA] <= active.D).all()
    # Parallel columns: what is left of D is rounding error of either sign.
    x = np.exp(rng.normal(size=40))
    problem = make_problem(M=np.outer(x, x), r=x, Lambda=1e-17, gate=np.arange(40))
    active = make_active(problem.block)
    refresh_active(problem.block, active, np.zeros(40, np.int8))
    switch_gate(problem.block, active, 1, True)
    assert (problem.block.coefficients[LAMBDA] <= active.D).all()
    assert (np.delete(active.D / x**2, 1) < 1e-10).all()


def test_small_and_singular_pivots_are_flagged():
    """A pivot of 1e-10 asks for a refresh; one of rounding error cannot be inverted."""
    for Lambda, singular in [(1e-10, False), (0.0, True)]:
        problem = make_problem(M=np.ones((2, 2)), r=np.ones(2), Lambda=Lambda, gate=[0, 1], lower=0)
        problem.block.log_slab[:] = 0.0
        active = make_active(problem.block)
        refresh_active(problem.block, active, np.array([1, 0], np.int8))
        assert active.counts[SMALL_PIVOT] == active.counts[SINGULAR] == 0
        join(problem.block, active, 1)
        assert active.counts[SMALL_PIVOT] == 1
        assert active.counts[SINGULAR] == singular
        refresh_active(problem.block, active, np.array([1, 1], np.int8))
        assert active.counts[SMALL_PIVOT] == 0
        assert active.counts[SINGULAR] == singular


def test_nearly_dependent_weights_are_repaired():
    """A crossing with a small pivot computes the caches afresh, so that nothing is lost."""
    rng = np.random.default_rng(18)
    X = rng.normal(size=(20, 3))
    X[:, 1] = X[:, 0] + 1e-6 * rng.normal(size=20)
    problem = make_problem(M=X.T @ X, r=X.T @ rng.normal(size=20), Lambda=1e-9, gate=range(3))
    active = make_active(problem.block)
    s = np.array([1, 0, 1], np.int8)
    refresh_active(problem.block, active, s)
    s[1] = 1
    switch_gate(problem.block, active, 1, True)
    fresh = make_active(problem.block)
    refresh_active(problem.block, fresh, s)
    assert active.counts[SMALL_PIVOT] == active.counts[SINGULAR] == 0
    # Seats differ in their order only.
    order = np.argsort(active.P[:3])
    np.testing.assert_allclose(active.Sigma[np.ix_(order, order)], fresh.Sigma[:3, :3], rtol=1e-2)
    np.testing.assert_allclose(active.D, fresh.D, rtol=1e-2)


def test_too_many_weights_are_flagged():
    """With every seat taken a crossing raises the flag and touches nothing."""
    rng = np.random.default_rng(14)
    problem = regression(rng, np.arange(6))
    active = make_active(problem.block, 3)
    s = np.array([1, 1, 1, 0, 0, 0], np.int8)
    refresh_active(problem.block, active, s)
    assert active.counts[FULL] == 0
    check(problem, active, s, 1e-9)
    switch_gate(problem.block, active, 4, True)
    assert active.counts[FULL] == 1
    check(problem, active, s, 1e-9)
    refresh_active(problem.block, active, np.ones(6, np.int8))
    assert active.counts[FULL] == 1


def test_entries_of_a_gram_matrix_that_is_not_formed():
    """Remembered or computed afresh, an entry is X'X without the scale of the noise."""
    problem = regression(np.random.default_rng(67), range(5), design=True)
    gram = problem.block.gram
    active = make_active(problem.block)
    refresh_active(problem.block, active, np.array([1, 0, 1, 0, 1], np.int8))
    exact = gram.X.T * gram.row_weights @ gram.X
    assert gram.scale[0] != 1.0
    assert sorted(active.kept >= 0) == [False, False, True, True, True]
    known = active.rows, active.slots, active.kept
    found = [[known_entry(gram, *known, i, j) for j in range(5)] for i in range(5)]
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-12)
