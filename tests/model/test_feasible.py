"""Starts inside a region: found where there is one, and by the shortest steps."""

import numpy as np
import pytest

from pymc_exact_hmc.model.feasible import (
    ROOM,
    EmptyRegionError,
    _by_programme,
    _step_towards,
    feasible_start,
)
from pymc_exact_hmc.regions.region import Law, factor_value, make_region, violated

RNG = np.random.default_rng(8)


def law(d):
    root = np.tril(RNG.normal(size=(d, d))) + 2 * np.eye(d)
    Sigma, mu = root @ root.T, RNG.normal(size=d)
    A = np.linalg.inv(Sigma)
    return Law(A, A @ mu, mu, Sigma, root)


def round_law(d):
    return Law(np.eye(d), np.zeros(d), np.zeros(d), np.eye(d), np.eye(d))


def test_a_point_inside_is_kept():
    """Nothing is moved without need."""
    w = np.array([1.0, 2.0])
    assert feasible_start(make_region(np.eye(2), [0, 0]), law(2), w, ["c"] * 2) is w


def test_linear_conditions_leave_room_and_little_is_moved():
    """F w + g ≥ ROOM·|F|, in the units of the law, and no further along one wall alone."""
    normal = law(3)
    F, g = RNG.normal(size=(4, 3)), np.array([-3.0, -2.0, 1.0, 0.5])
    w = _by_programme(make_region(F, g), normal, np.zeros(3), np.ones(4, bool))
    size = np.sqrt(np.einsum("ki,ij,kj->k", F, normal.Sigma, F))
    assert ((F @ w + g) / size > 0).all()
    alone = _by_programme(make_region(F[:1], g[:1]), normal, np.zeros(3), np.ones(1, bool))
    assert (F[0] @ alone + g[0]) / size[0] == pytest.approx(ROOM)
    # One wall is reached along the weight that goes there in the fewest of its own scales.
    assert np.count_nonzero(alone) == 1
    assert np.argmax(np.abs(F[0]) * np.sqrt(np.diag(normal.Sigma))) == np.flatnonzero(alone)


def test_only_conditions_that_stand_alone_and_are_linear_bind_the_programme():
    """A factor of a product may be negative, a quadratic one is not a line."""
    F, g, Q = [[0, -1], [0, 1], [0, 1], [0, 0]], [-6.0, 5.0, 4.0, 100.0], -np.eye(2)[None]
    region = make_region(F, g, Q, product=[-1, 0, 0, -1])
    w = feasible_start(region, law(2), np.zeros(2), ["c"] * 4)
    assert violated(region, w) < 0
    # As a line the last factor would be 0·w + g: one that is negative there must not matter.
    region = make_region([[0, -1], [0, 0]], [-6.0, -1.0], np.eye(2)[None])
    assert violated(region, feasible_start(region, law(2), np.zeros(2), ["c"] * 2)) < 0


def test_a_step_makes_a_linear_factor_positive():
    """Between once and one and a half times the way to the wall, and a little more."""
    normal, F = law(3), np.array([1.0, -2.0, 0.5])
    region, w = make_region([F], [-4.0]), np.array([2.0, 3.0, -1.0])
    moved = _step_towards(region, normal, w, 0, RNG)
    beyond = factor_value(region, 0, moved) - 0.05 * np.sqrt(F @ normal.Sigma @ F)
    assert 0 <= beyond <= 0.5 * -factor_value(region, 0, w)


def test_a_ball_is_entered_after_some_steps():
    """Each step goes along the gradient, 2Qw + F, and comes nearer."""
    region, w = make_region(np.zeros((2, 3)), [1.0, 1.0], -np.eye(3)[None]), np.array([2, 3, -1.0])
    for _ in range(12):
        moved = _step_towards(region, round_law(3), w, 1, RNG)
        np.testing.assert_allclose(np.cross(moved, w), 0, atol=1e-12)
        assert factor_value(region, 1, moved) > factor_value(region, 1, w)
        w = moved
        if factor_value(region, 1, w) > 0:
            return
    raise AssertionError(w)


def test_a_factor_of_a_product_changes_its_sign():
    """w_0·w_1 ≥ 0 is reached by crossing either line."""
    region = make_region(np.eye(2), [0, 0], product=[0, 0])
    for _ in range(10):
        w = _step_towards(region, round_law(2), np.array([1.5, -0.5]), 1, RNG)
        assert w[0] * w[1] > 0


def test_curved_and_product_conditions_are_met_by_search():
    """A start in a ring's outer half, where a product of lines is positive."""
    Q = np.stack([-np.eye(2), np.eye(2)])
    region = make_region(
        [[1, 1], [1, -1], [0, 0], [0, 0]], [0, 0, 9.0, -4.0], Q, product=[0, 0, -1, -1]
    )
    w = feasible_start(region, law(2), np.array([0.0, 1.0]), list("abcd"))
    assert violated(region, w) < 0


def test_empty_regions_are_named():
    """Linear conditions that contradict each other, and a ball that does not exist."""
    region = make_region([[1.0], [-1.0]], [-1.0, 0.0])
    with pytest.raises(EmptyRegionError, match="linear conditions of low, high together"):
        feasible_start(region, law(1), np.zeros(1), ["low", "high"])
    # A point, or an edge, has no inside.
    region = make_region([[1.0], [-1.0]], [-1.0, 1.0])
    with pytest.raises(EmptyRegionError, match="linear conditions of low, high together"):
        feasible_start(region, round_law(1), np.zeros(1), ["low", "high"])
    region = make_region(np.zeros((1, 2)), [-1.0], -np.eye(2)[None])
    with pytest.raises(EmptyRegionError, match="no start that satisfies ball was found"):
        feasible_start(region, law(2), np.zeros(2), ["ball"])
