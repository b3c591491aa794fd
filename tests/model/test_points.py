"""Points and flat vectors: everything comes back where it was."""

import numpy as np
import pymc as pm
import pytest
from pymc.distributions.transforms import Ordered

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.model.binaries import lay_out, select_variables
from pymc_exact_hmc.model.natural import PlacedWeight, read_weights, write_weights
from pymc_exact_hmc.model.points import jittered, read_state, write_state

INF = np.inf
BOUNDS = {
    "none": (-INF, INF),
    "log": (0.0, INF),
    "interval": (-1.0, 2.0),
    "interval above": (-1.5, INF),
    "interval below": (-INF, 0.5),
}


def test_indicators_of_several_variables():
    """Each variable has its own slice, in the model's order, of any shape and type."""
    with pm.Model() as model:
        pm.Bernoulli("a", 0.5, shape=(2, 3))
        pm.Categorical("b", [0.5, 0.5])
        pm.Binomial("c", 1, 0.5, shape=2)
    point = model.initial_point()
    layout = lay_out(select_variables(model, None)[0], point)
    s = np.array([1, 0, 0, 1, 1, 0, 1, 0, 1], np.int8)
    new = write_state(point, s, layout)
    np.testing.assert_array_equal(new["a"], [[1, 0, 0], [1, 1, 0]])
    assert new["b"] == 1
    np.testing.assert_array_equal(new["c"], [0, 1])
    assert {k: (v.dtype, v.shape) for k, v in new.items()} == {
        k: (v.dtype, v.shape) for k, v in point.items()
    }
    np.testing.assert_array_equal(read_state(new, layout), s)


def test_a_state_is_a_copy():
    """Moving it must not write into the point, of whatever type the indicators are."""
    with pm.Model() as model:
        pm.Bernoulli("a", 0.5, shape=3)
    layout = lay_out(select_variables(model, None)[0], model.initial_point())
    point = {"a": np.ones(3, np.int8)}
    read_state(point, layout)[:] = 0
    np.testing.assert_array_equal(point["a"], 1)


@pytest.mark.parametrize("name", BOUNDS)
def test_weights_come_back(name):
    """Reading what was written gives the weights, and what was written is PyMC's transform.

    In the order of rows.
    """
    rng, (low, high) = np.random.default_rng(3), BOUNDS[name]
    lower, upper = np.full(6, low), np.full(6, high)
    middle = 0.0 if not np.isfinite([low, high]).all() else 0.5 * (low + high)
    middle = low + 1.0 if np.isfinite(low) and not np.isfinite(high) else middle
    middle = high - 1.0 if np.isfinite(high) and not np.isfinite(low) else middle
    w = middle + 0.4 * rng.uniform(-1, 1, 6)
    placed = [PlacedWeight("v", "v", (2, 3), 0, 6, name.split()[0])]
    point = {"v": np.zeros((2, 3))}
    write_weights(point, w, placed, lower, upper)
    np.testing.assert_allclose(read_weights(point, placed, lower, upper), w, rtol=1e-12)
    bounds = [None if np.isinf(b) else b for b in (low, high)]
    truth = {
        "none": w.reshape(2, 3),
        "log": np.log(np.abs(w)).reshape(2, 3),
    }.get(name)
    if truth is None:
        truth = pm.distributions.transforms.Interval(*bounds).forward(w.reshape(2, 3)).eval()
    np.testing.assert_allclose(point["v"], truth, rtol=1e-12)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_are_written_in_the_type_of_the_point(name, dtype):
    """PyMC's functions take no other."""
    low, high = (np.full(2, bound) for bound in BOUNDS[name])
    point = {"v": np.zeros(2, dtype)}
    placed = [PlacedWeight("v", "v", (2,), 0, 2, name.split()[0])]
    write_weights(point, np.array([0.1, 0.2]), placed, low, high)
    assert point["v"].dtype == dtype


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("positive", [False, True])
def test_ordered_weights_come_back(positive, ascending):
    """The same for PyMC's ordered transforms, row by row."""
    transform = Ordered(positive=positive, ascending=ascending)
    kind = "ordered" + (" positive" if positive else "") + ("" if ascending else " descending")
    w = np.array([[0.2, 0.9, 1.4], [0.1, 0.15, 3.0]])
    w = w if ascending else w[:, ::-1]
    placed = [PlacedWeight("v", "v", (2, 3), 0, 6, kind)]
    point = {"v": np.zeros((2, 3))}
    bound = np.full(6, INF)
    write_weights(point, w.ravel(), placed, -bound, bound)
    np.testing.assert_allclose(point["v"], transform.forward(w).eval(), rtol=1e-12)
    np.testing.assert_allclose(read_weights(point, placed, -bound, bound), w.ravel(), rtol=1e-12)


def test_weights_on_their_bounds_stay_finite():
    """A weight that touches its bound has a finite value variable, in any transform."""
    for name, (low, high) in BOUNDS.items():
        for bound in (low, high):
            if np.isfinite(bound):
                point = {"v": np.zeros(1)}
                placed = [PlacedWeight("v", "v", (1,), 0, 1, name.split()[0])]
                ends = np.array([low]), np.array([high])
                write_weights(point, np.array([bound]), placed, *ends)
                assert np.isfinite(point["v"]).all()


def test_chains_have_seeds_of_their_own():
    """Two chains of one call differ, and the same seed gives the same draws again."""
    with pm.Model():
        pm.Bernoulli("s", 0.5, shape=20)
        options = {"tune": 0, "chains": 2, "cores": 1, "progressbar": False}
        options |= {"compute_convergence_checks": False, "random_seed": 4}
        draws = [
            pm.sample(20, step=ExactBinaryHMC(), **options).posterior["s"].values for _ in range(2)
        ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0][0] != draws[0][1]).any()
    assert len({row.tobytes() for row in draws[0][0]}) > 15


def test_a_second_setting_keeps_the_types():
    """Also in single precision, which compiled functions insist on; each entry moves alone."""
    point = {"a": np.zeros(2, np.float32), "b": np.zeros((), np.float64), "c": np.zeros(1, int)}
    moved = jittered(point, np.random.default_rng(1))
    assert {k: v.dtype for k, v in moved.items()} == {k: v.dtype for k, v in point.items()}
    assert (moved["a"] != 0).all()
    assert moved["a"][0] != moved["a"][1]
    assert (moved["c"] == 0).all()


def test_each_weight_has_its_own_bounds():
    """Two intervals that differ, after a weight without bounds."""
    lower, upper = np.array([-np.inf, 0.0, 0.0, -5.0]), np.array([np.inf, 1.0, 2.0, 0.0])
    placed = [
        PlacedWeight("a", "a", (1,), 0, 1, "none"),
        PlacedWeight("b", "b", (2,), 1, 3, "interval"),
        PlacedWeight("c", "c", (1,), 3, 4, "interval"),
    ]
    w = np.array([7.0, 0.3, 1.7, -4.0])
    point = {"a": np.zeros(1), "b": np.zeros(2), "c": np.zeros(1)}
    write_weights(point, w, placed, lower, upper)
    logit = np.log((w - lower)[1:] / (upper - w)[1:])
    np.testing.assert_allclose(np.concatenate([point["b"], point["c"]]), logit, rtol=1e-12)
    np.testing.assert_allclose(read_weights(point, placed, lower, upper), w, rtol=1e-12)
