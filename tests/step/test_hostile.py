"""Hostile input: it is sampled rightly, or answered with a plain sentence."""

import copy
import functools
import warnings

import cloudpickle
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from fuzz.check import judge_model
from pymc.exceptions import SamplingError
from pymc.model.fgraph import clone_model
from support.conditional import exact_moments
from support.significance import assert_holds, batch_pvalues
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 3))
Y = X[:, 0] - 0.5 * X[:, 1] + RNG.normal(size=6)
SEED = 7


def regression(columns=X, y=Y, *, p=0.4, prior=pm.Normal, slab=1.5, sigma=0.9, start=None):
    with pm.Model() as model:
        d = columns.shape[1]
        gamma = pm.Bernoulli("gamma", p, shape=d, initval=start)
        w = prior("w", sigma=slab, shape=d)
        pm.Normal("y", columns @ (gamma * w), sigma, observed=y)
    return model


def draws(model, size=200, **options):
    """Indicators and weights, flat, by name, of a chain from the model's own start."""
    step = ExactBinaryHMC(model=model, **options)
    step.set_rng(np.random.default_rng(SEED))
    step.stop_tuning()
    point, kept = model.initial_point(), []
    for _ in range(size):
        point, _ = step.step(point)
        kept.append(np.concatenate([np.ravel(point[name]) for name in sorted(point)]))
    return np.array(kept)


def assert_exact(model, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = judge_model(model, options, SEED)
    assert verdict.kind == "exact", verdict.detail


def assert_like_enumeration(model, size=6000):
    """The chain has the probabilities and the mean of gamma·w of 2^d closed forms."""
    states, p, means, _ = exact_moments(model, ["gamma"], ["w"])
    kept = draws(model, size)
    d = states.shape[1]
    found = np.column_stack([kept[:, :d], kept[:, :d] * kept[:, d:]])
    wanted = np.concatenate([p @ states, p @ (states * means)])
    pvalues = batch_pvalues(found / np.abs(kept).max(axis=0), wanted / np.abs(kept).max(axis=0))
    assert_holds(*pvalues, seed=SEED)


COLUMNS = {
    "collinear": np.column_stack([X[:, 0], X[:, 1], X[:, 0] + 2 * X[:, 1]]),
    "duplicated": X[:, [0, 0, 1]],
    "nearly duplicated": np.column_stack([X[:, 0], X[:, 0] * (1 + 1e-13), X[:, 1]]),
    "constant": np.column_stack([np.ones(6), X[:, 0], np.full(6, -3.0)]),
    "zero": np.column_stack([np.zeros(6), X[:, 0], np.zeros(6)]),
    "one row": X[:1],
    "one column": X[:, :1],
    "one number": X[:1, :1],
}


@pytest.mark.parametrize(
    ("name", "prior"),
    slow_but(
        [("nearly duplicated", pm.Normal), ("zero", pm.Normal), ("collinear", pm.HalfNormal)],
        [(name, pm.Normal) for name in COLUMNS]
        + [(name, pm.HalfNormal) for name in ("collinear", "duplicated", "one number")],
    ),
)
def test_columns(name, prior):
    """Predictors that say the same, or nothing, or hardly anything, are sampled exactly."""
    columns = COLUMNS[name]
    assert_exact(regression(columns, Y[: len(columns)], prior=prior))


@functools.cache
def usual(prior):
    return draws(regression(prior=prior))


@pytest.mark.parametrize("size", [1e-12, 1e12])
@pytest.mark.parametrize(
    "prior", slow_but([pm.HalfNormal], [pm.Normal, pm.HalfNormal]), ids=["normal", "half normal"]
)
def test_units_of_a_predictor(size, prior):
    """Measuring predictors in other units changes nothing but the units of their weights."""
    plain = usual(prior)
    other = draws(regression(X * size, prior=prior, slab=1.5 / size))
    assert_same(plain, other, size, prior)


@pytest.mark.parametrize("size", [1e-12, 1e12])
@pytest.mark.parametrize(
    "prior", slow_but([pm.HalfNormal], [pm.Normal, pm.HalfNormal]), ids=["normal", "half normal"]
)
def test_units_of_the_response(size, prior):
    """Measuring the response in other units changes nothing but the units of the weights."""
    plain = usual(prior)
    other = draws(regression(X, Y * size, prior=prior, slab=1.5 * size, sigma=0.9 * size))
    assert_same(plain, other, 1 / size, prior)


def assert_same(plain, other, size, prior):
    np.testing.assert_array_equal(plain[:, :3], other[:, :3])
    if prior is pm.HalfNormal:
        np.testing.assert_allclose(other[:, 3:] + np.log(size), plain[:, 3:], rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_allclose(other[:, 3:] * size, plain[:, 3:], rtol=1e-6, atol=1e-9)


def test_columns_of_very_different_sizes():
    """One predictor in billions and one in billionths."""
    sizes = np.array([1e-9, 1.0, 1e9])
    plain = usual(pm.Normal)
    other = draws(regression(X * sizes, slab=1.5 / sizes))
    np.testing.assert_array_equal(plain[:, :3], other[:, :3])
    np.testing.assert_allclose(other[:, 3:] * sizes, plain[:, 3:], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("start", [np.zeros(3, int), np.ones(3, int)], ids=["none", "all"])
@pytest.mark.parametrize("kernel", slow_but(["sheared"], ["sheared", "paper"]))
def test_starts_with_none_and_with_all(start, kernel):
    """A chain that starts with every weight off, or on, forgets it."""
    model = regression(start=start)
    states, p, *_ = exact_moments(model, ["gamma"], ["w"])
    kept = draws(model, 6000, kernel=kernel)[:, :3]
    assert_holds(*batch_pvalues(kept, p @ states), seed=SEED)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_probabilities_of_nothing_and_of_certainty(p):
    """Indicators that cannot be otherwise stay, and their weights are drawn."""
    start = np.full(3, int(p))
    kept = draws(regression(p=np.full(3, p), start=start))
    assert (kept[:, :3] == p).all()
    assert kept[:, 3:].std(axis=0).min() > 0.1
    assert_exact(regression(p=np.array([0.0, 0.5, 1.0]), start=np.array([0, 1, 1])))


@pytest.mark.parametrize("slab", [1e3, 1e6])
def test_huge_slabs(slab):
    """Lindley's paradox is sampled as it is: prior odds make up for the slab."""
    odds = slab / 3
    assert_like_enumeration(regression(p=odds / (1 + odds), slab=slab))


def test_slab_that_is_a_spike():
    """Tiny slabs as well."""
    assert_like_enumeration(regression(slab=1e-8))


EMPTY = {
    "no columns": lambda: regression(X[:, :0]),
    "no rows": lambda: regression(X[:0], Y[:0]),
    "no entries": lambda: _binary(0),
}


def _binary(d):
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.4, shape=d)
        pm.Potential("size", -0.3 * s.sum() ** 2)
    return model


@pytest.mark.parametrize(
    "name", ["no columns", pytest.param("no rows", marks=pytest.mark.slow), "no entries"]
)
def test_empty_shapes(name):
    """Without rows the prior is sampled; without indicators a sentence says so."""
    model = EMPTY[name]()
    if name == "no rows":
        assert_like_enumeration(model)
        return
    with pytest.raises(ValueError, match=r"(gamma|s) .*no entries.*\.$"):
        ExactBinaryHMC(model=model)


def test_an_empty_variable_beside_others():
    """A variable of shape 0 beside one that is not does no harm."""
    with pm.Model() as model:
        s, none = pm.Bernoulli("s", 0.4, shape=2), pm.Bernoulli("none", 0.4, shape=0)
        pm.Potential("pull", 0.8 * s[0] * s[1] + none.sum())
    assert_exact(model)


BROKEN = {
    "data": (lambda bad: pm.Normal("y", pm.Bernoulli("s", 0.5, shape=2) * 1.0, 1.0, observed=bad)),
    "potential": (lambda bad: pm.Potential("y", (pm.Bernoulli("s", 0.5, shape=2) * bad).sum())),
    "prior": (lambda bad: pm.Bernoulli("y", np.array([0.5, 0.5]) * bad)),
}


@pytest.mark.parametrize("where", BROKEN)
@pytest.mark.parametrize("entry", [np.inf, -np.inf, np.nan])
def test_numbers_that_are_not_finite(where, entry):
    """A sentence names the factor that is not finite; NaN in data is a missing value to PyMC."""
    bad = np.array([0.3, entry])
    with pm.Model() as model, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        BROKEN[where](bad)
        if where == "data" and np.isnan(entry):
            assert "y_unobserved" in model.named_vars
            return
    with pytest.raises((ValueError, SamplingError), match=r"\by\b.*\.$"):
        ExactBinaryHMC(model=model).step(model.initial_point())


def frozen(array, **how):
    array = np.array(array, **how)
    array.flags.writeable = False
    return array


LAYOUTS = {
    "read-only": (frozen(X), frozen(Y)),
    "Fortran": (np.asfortranarray(X), Y),
    "strided": (np.repeat(X, 2, axis=1)[:, ::2], np.repeat(Y, 2)[::2]),
    "reversed": (X[::-1][::-1], Y[::-1][::-1]),
    "single": (X.astype("float32").astype("float64"), Y),
}


@pytest.mark.parametrize("name", slow_but(["read-only", "strided"], LAYOUTS))
def test_memory_of_the_data(name):
    """The layout of the data in memory does not matter, and they are not written to."""
    columns, y = LAYOUTS[name]
    before = columns.copy(), y.copy()
    found = draws(regression(columns, y))
    np.testing.assert_array_equal(columns, before[0])
    np.testing.assert_array_equal(y, before[1])
    plain = draws(regression(np.array(columns, order="C"), y.copy()))
    np.testing.assert_allclose(found, plain, rtol=1e-9)


def test_points_that_cannot_be_written():
    """The step does not write into the point it is given."""
    model = regression()
    step = ExactBinaryHMC(model=model)
    point = model.initial_point()
    for _ in range(5):
        for value in point.values():
            value.flags.writeable = False
        point, _ = step.step(point)


def with_data():
    with pm.Model() as model:
        columns, y = pm.Data("X", X), pm.Data("data", Y)
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=3), pm.Normal("w", 0, 1.5, shape=3)
        sigma = pm.HalfNormal("sigma", 1.0)
        pm.Normal("y", columns @ (gamma * w), sigma, observed=y, shape=columns.shape[0])
    return model


def test_data_changed_between_runs():
    """After pm.set_data the old step refuses; a new one samples the new data, of any length."""
    model = with_data()
    step = ExactBinaryHMC(model=model)
    with model:
        pm.set_data({"X": X[:4] * 2, "data": -Y[:4]})
    with pytest.raises(SamplingError, match=r"data of the model have changed.*new one"):
        step.step(model.initial_point())
    assert_exact(model)


def pickled(model):
    return cloudpickle.loads(cloudpickle.dumps(model))


@pytest.mark.parametrize(
    "copied",
    slow_but([clone_model, pickled],
             [copy.copy, copy.deepcopy, clone_model, lambda m: m.copy(), pickled]),
    ids=["copy", "deepcopy", "clone_model", "model.copy", "cloudpickle"],
)  # fmt: skip
def test_copies(copied):
    """A copy of a model is sampled as the model is, draw by draw."""
    model = with_data()
    np.testing.assert_array_equal(draws(copied(model), 50), draws(model, 50))


def test_a_pickled_step_goes_on():
    """A step that was pickled in the middle of a chain goes on as the other does."""
    model = with_data()
    step = ExactBinaryHMC(model=model)
    step.set_rng(np.random.default_rng(SEED))
    point = model.initial_point()
    for _ in range(5):
        point, _ = step.step(point)
    other, other_point = pickled(step), point
    for _ in range(20):
        point, _ = step.step(point)
        other_point, _ = other.step(other_point)
    for name in point:
        np.testing.assert_allclose(other_point[name], point[name], rtol=1e-9)


CONDITIONED = {
    "do w": lambda m: pm.do(m, {"w": np.array([0.5, -0.5, 1.0])}),
    "do sigma": lambda m: pm.do(m, {"sigma": np.array(0.8)}),
    "observe w": lambda m: pm.observe(m, {"w": np.array([0.5, -0.5, 1.0])}),
    "observe sigma": lambda m: pm.observe(m, {"sigma": 0.8}),
}


@pytest.mark.parametrize("name", slow_but(["do w", "observe sigma"], CONDITIONED))
def test_conditioned(name):
    """pm.do and pm.observe give models like any other."""
    assert_exact(CONDITIONED[name](with_data()))


def test_observed_indicators_leave_nothing():
    """A model whose indicators are all observed has nothing to sample."""
    model = pm.observe(with_data(), {"gamma": np.array([1, 0, 1])})
    with pytest.raises(ValueError, match=r"no free binary variable"):
        ExactBinaryHMC(model=model)


def test_switched_off_by_a_number():
    """A gate that is a constant 0 for some weights: their priors are sampled."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=3), pm.Normal("w", 1.0, 1.5, shape=3)
        on = gamma * np.array([1, 0, 1])
        pm.Normal("y", X @ (pt.as_tensor(on) * w), 0.9, observed=Y)
    assert_exact(model)


def test_a_likelihood_whose_data_are_all_missing():
    """It says nothing about the weights beside the values that are imputed."""
    X = np.array([[-1.15, 1.43], [0.3, 0.5]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.exceptions.ImputationWarning)
        with pm.Model() as model:
            gamma = pm.Bernoulli("gamma", 0.4, shape=2)
            w = pm.Normal("w", 0, 1.5, shape=2)
            sigma = np.array([0.5, 0.8])
            pm.Normal("y", X @ (gamma * w), sigma, observed=np.ma.masked_invalid([np.nan] * 2))
            pm.Normal("z", gamma[0] * w[0], 0.9, observed=0.4)
    step, point = ExactBinaryHMC(model=model), model.initial_point()
    assert "w" in [v.name for v in step.vars]
    for _ in range(20):
        point, _ = step.step(point)
    assert np.isfinite(model.compile_logp()(point))
