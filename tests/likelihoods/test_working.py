"""Predictors and sums of working rows, from their definitions."""

import numpy as np

from pymc_exact_hmc.likelihoods.working import add_up, predict


def test_predictor():
    """η = offset + X(s∘w), with weights that are always on."""
    rng = np.random.default_rng(1)
    X, offset, w = rng.normal(size=(7, 5)), rng.normal(size=7), rng.normal(size=5)
    gate = np.array([2, -1, 0, 2, 1])
    for s in ([1, 0, 1], [0, 1, 0], [0, 0, 0]):
        eta = np.empty(7)
        predict(X, offset, gate, np.array(s, np.int8), w, np.zeros(5, np.int64), eta)
        on = np.where(gate < 0, 1, np.array(s)[gate])
        np.testing.assert_allclose(eta, offset + X @ (on * w), rtol=1e-12)


def test_sums_by_class():
    """r_c = X'Vt and t'Vt of each class, t without the offset; other classes are left alone."""
    rng = np.random.default_rng(2)
    n, label = 9, np.array([3, 3, 2, 2, 2, 3, 2, 3, 2])
    X, offset, target = rng.normal(size=(n, 4)), rng.normal(size=n), rng.normal(size=n)
    relative, factor = rng.random(n), rng.random(n)
    slopes, squares = np.full((5, 4), 7.0), np.full(5, 7.0)
    add_up(X, offset, label, relative, target, factor, slopes, squares)
    v, t = relative * factor, target - offset
    for c in (2, 3):
        mine = label == c
        np.testing.assert_allclose(slopes[c], (v * t)[mine] @ X[mine], rtol=1e-12)
        np.testing.assert_allclose(squares[c], (v * t * t)[mine].sum(), rtol=1e-12)
    assert (slopes[[0, 1, 4]] == 7.0).all()
    assert (squares[[0, 1, 4]] == 7.0).all()


def test_sums_of_one_row_and_of_none():
    """One row is its own sum; without rows there is nothing to add, nor to read."""
    slopes, squares = np.full((2, 3), 7.0), np.full(2, 7.0)
    nothing, no_label = np.zeros(0), np.zeros(0, np.int64)
    add_up(np.zeros((0, 3)), nothing, no_label, nothing, nothing, nothing, slopes, squares)
    assert (slopes == 7.0).all()
    x, one = np.array([[1.0, -2.0, 0.5]]), np.ones(1)
    add_up(x, 0.5 * one, np.array([1]), 2.0 * one, 2.0 * one, 3.0 * one, slopes, squares)
    np.testing.assert_allclose(slopes[1], 9.0 * x[0])
    assert squares.tolist() == [7.0, 13.5]
