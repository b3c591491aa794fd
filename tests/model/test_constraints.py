"""Constraints as people write them: every spelling gives the same region, or a reason."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.exceptions import SamplingError
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC, explain
from pymc_exact_hmc.model.conditions import UnreadableError, read_conditions
from pymc_exact_hmc.regions.region import violated

D = 3
INF = np.inf


def orders():
    """w_0 ≤ w_1 ≤ w_2 and w_0 + w_1 + w_2 ≤ 1, as people write it."""
    rises = lambda w: w[1:] >= w[:-1]  # noqa: E731
    small = lambda w: w.sum() <= 1  # noqa: E731
    both = lambda w: pt.and_(pt.all(rises(w)), small(w))  # noqa: E731
    yield "switch", lambda w: pt.switch(both(w), 0, -INF)
    yield "where", lambda w: pt.where(both(w), 0.0, -INF)
    yield "pm.math.switch", lambda w: pm.math.switch(both(w), 0, -INF)
    yield "mirrored", lambda w: pt.switch(pt.invert(both(w)), -INF, 0)
    yield "bad", lambda w: pt.switch(pt.or_(pt.any(w[1:] < w[:-1]), w.sum() > 1), -INF, 0.0)
    yield "bitwise", lambda w: pt.switch((w[0] <= w[1]) & (w[2] >= w[1]) & small(w), 0, -INF)
    yield "pm.math.and_", lambda w: pt.switch(pm.math.and_(pt.all(rises(w)), small(w)), 0, -INF)
    yield "vector", lambda w: pt.switch(rises(w), 0, -INF).sum() + pt.switch(small(w), 0, -INF)
    yield "not added up", lambda w: pt.switch(pt.and_(rises(w), small(w)), 0, -INF)
    yield "nested", lambda w: pt.switch(pt.all(rises(w)), pt.switch(small(w), 0, -INF), -INF)
    yield "diff", lambda w: pt.switch(pt.and_(pt.all(pt.diff(w) > 0), small(w)), 0, -INF)
    yield "log", lambda w: pt.log(pt.switch(both(w), 1.0, 0.0))
    yield "product of conditions", lambda w: pt.log(pt.prod(rises(w)) * small(w))
    yield (
        "stack",
        lambda w: pt.switch(
            pt.all(pt.stack([w[1] - w[0] >= 0, w[2] - w[1] > 0, 1 - w.sum() > 0])), 0, -INF
        ),
    )
    yield (
        "matrix",
        lambda w: pt.switch(
            pt.all(np.array([[-1.0, 1, 0], [0, -1, 1], [-1, -1, -1]]) @ w + [0.0, 0.0, 1.0] >= 0),
            0,
            -INF,
        ),
    )


SPELLINGS = [name for name, _ in orders()]


@pytest.mark.parametrize("name", slow_but([*SPELLINGS[::3], "product of conditions"], SPELLINGS))
def test_every_spelling_gives_the_same_region(name):
    """A region is known by which points are in it."""
    with pm.Model():
        w = pm.Normal("w", 0.2, 1.0, shape=D)
        pm.Potential("c", dict(orders())[name](w))
        step = ExactBinaryHMC()
    region = step._move.gaussian.walls.region
    assert region.is_convex
    assert {"c"} == set(step._move.gaussian.walls.labels)
    points = np.random.default_rng(1).normal(size=(300, D))
    expected = (np.diff(points, axis=1) >= 0).all(axis=1) & (points.sum(axis=1) <= 1)
    assert [violated(region, p) < 0 for p in points] == expected.tolist()


def test_several_potentials_and_other_variables_in_them():
    """Coefficients that depend on other random variables are read again at each call."""
    with pm.Model() as model:
        size = pm.Gamma("size", 5, 1)
        w = pm.Normal("w", 0, 1, shape=D)
        pm.Potential("ball", pt.switch((w**2).sum() <= size**2, 0, -INF))
        pm.Potential("slope", pt.switch(w[0] + size * w[1] >= 0, 0, -INF))
        pm.Potential("bent", pt.switch((size * w**2).sum() + w[0] * w[1] <= 40, 0, -INF))
        step = ExactBinaryHMC()
    walls, point = step._move.gaussian.walls, model.initial_point()
    for log_size in (0.0, 1.0):
        point["size_log__"] = np.array(log_size)
        step.step(point)
        k, q = walls.labels.index("slope"), walls.labels.index("ball")
        np.testing.assert_allclose(walls.region.F[k], [1, np.exp(log_size), 0])
        np.testing.assert_allclose(walls.region.g[q], np.exp(2 * log_size))
        bent = walls.region.Q[walls.labels.index("bent") - len(walls.labels)]
        np.testing.assert_allclose(np.diag(bent), -np.exp(log_size))
        np.testing.assert_allclose(bent[0, 1], -0.5)
    assert "evaluated when other variables change" in str(step.explain())


def test_products_keep_their_factors():
    """Above degree 2 a product with 0 on the other side is a condition on its own signs."""
    with pm.Model():
        w = pm.Normal("w", 0, 1, shape=D)
        pm.Potential("signs", pt.switch(-2 * w[0] * (w[1] - 1) * ((w**2).sum() - 1) <= 0, 0, -INF))
        pm.Potential("more", pt.switch((w[0] - 1) * (w[1] + 1) * w[2] >= 0, 0, -INF))
        step = ExactBinaryHMC()
    region = step._move.gaussian.walls.region
    points = 1.5 * np.random.default_rng(2).normal(size=(300, D))
    signs = points[:, 0] * (points[:, 1] - 1) * ((points**2).sum(axis=1) - 1)
    more = (points[:, 0] - 1) * (points[:, 1] + 1) * points[:, 2]
    assert [violated(region, p) < 0 for p in points] == ((signs >= 0) & (more >= 0)).tolist()
    assert ((signs < 0) & (more < 0)).any()  # which no product of all six factors would forbid


def test_scales_of_weights_under_constraints_are_left_to_other_steps():
    """Weights that a region cuts are not integrated out; probabilities do not meet them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, D))
    with pm.Model() as model:
        tau, sigma, p = pm.HalfNormal("tau"), pm.HalfNormal("sigma"), pm.Beta("p", 1, 2)
        gamma, w = pm.Bernoulli("gamma", p, shape=D), pm.Normal("w", 0, tau, shape=D)
        pm.Normal("y", X @ (gamma * w), sigma, observed=rng.normal(size=8))
        pm.Potential("c", pt.switch(w.sum() <= 1, 0, -INF))
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == {"gamma", "w", "p_logodds__"}
    assert "tau (weights under constraints cannot be integrated out" in str(explain(model))


def test_a_wall_that_comes_to_meet_an_exponential_weight_is_refused():
    """At the start nothing multiplies it; later its slab would be cut, and is not Gaussian."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, 2))
    with pm.Model() as model:
        gamma, slope = pm.Bernoulli("gamma", 0.4, shape=2), pm.Normal("slope", 0, 1)
        w0, w1 = pm.Normal("w0", 1, 1), pm.Exponential("w1", 1.0)
        pm.Normal("y", X @ (gamma * pt.stack([w0, w1])), 1.0, observed=rng.normal(size=8))
        pm.Potential("c", pt.switch(w0 + slope * w1 >= 0, 0, -INF))
    step = ExactBinaryHMC([gamma, w0, w1], model=model)
    point, _ = step.step(model.initial_point())
    with pytest.raises(SamplingError, match="w0, w1: it enters a constraint on raw weights"):
        step.step(point | {"slope": np.array(0.5)})


def test_conditions_on_weights_that_are_off_are_not_gated():
    """A sum over closed gates vanishes where gates are open, not where they are closed."""
    model = gated(lambda g, w: pt.switch(((1 - g) * w).sum() <= 1, 0, -INF))
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == {"gamma"}


def test_products_of_vectors_are_a_product_for_each_entry():
    """Two wrong signs in one entry are right, one in each of two entries are not."""
    with pm.Model():
        w = pm.Normal("w", 0, 1, shape=(3, 2))
        pm.Potential("signs", pt.switch(pt.all(w[0] * w[1] * w[2] >= 0), 0, -INF))
        step = ExactBinaryHMC()
    region = step._move.gaussian.walls.region
    points = np.random.default_rng(2).normal(size=(300, 3, 2))
    right = (points.prod(axis=1) >= 0).all(axis=1)
    assert [violated(region, p.ravel()) < 0 for p in points] == right.tolist()


def test_a_factor_of_all_entries_counts_in_each():
    """A number times vectors is a product for each entry, with the sign of the number."""
    with pm.Model():
        a, w = pm.Normal("a"), pm.Normal("w", 0, 1, shape=(2, 3))
        pm.Potential("signs", pt.switch(pt.all(a * w[0] * w[1] >= 0), 0, -INF))
        step = ExactBinaryHMC()
    region = step._move.gaussian.walls.region
    points = np.random.default_rng(2).normal(size=(300, 7))
    right = (points[:, :1] * points[:, 1:4] * points[:, 4:] >= 0).all(axis=1)
    assert [violated(region, p) < 0 for p in points] == right.tolist()
    assert right.any()


def test_conditions_on_raw_and_on_gated_weights_in_one_potential():
    """Each is what it is by itself."""
    model = gated(lambda g, w: pt.switch(((g * w).sum() <= 1) & (w[0] <= 2), 0, -INF))
    walls = ExactBinaryHMC(model=model)._move.walls
    assert walls.region.gated[[x == "c" for x in walls.labels]].tolist() == [1, 0]


UNREADABLE = {
    "or": (lambda w: pt.switch(pt.or_(w[0] > 0, w[1] > 0), 0, -INF), "'or'"),
    "not and": (lambda w: pt.switch(pt.and_(w[0] > 0, w[1] > 0), -INF, 0), "'or'"),
    "not all": (lambda w: pt.switch(pt.all(w > 0), -INF, 0), "'or'"),
    "any": (lambda w: pt.switch(pt.any(w > 0), 0, -INF), "'or'"),
    "equal": (lambda w: pt.switch(pt.eq(w[0], 0), 0, -INF), "equality"),
    "soft": (lambda w: pt.switch(w[0] > 0, 0, -1e10), "neither side is -inf"),
    "random": (lambda w: pt.switch(w[0] > 0, 0, pm.Normal("u")), "neither side is -inf"),
    "soft inside": (lambda w: pt.switch(w[0] > w[1], -((w[0] - 1) ** 2), -INF), "it goes through"),
    "soft behind": (
        lambda w: pt.switch(w.sum() > 1, -INF, -0.5 * (w**2).sum()),
        "it goes through",
    ),
    "maximum": (lambda w: pt.switch(pt.max(w) <= 1, 0, -INF), "not linear, quadratic"),
    "cubic": (lambda w: pt.switch(w[0] ** 3 <= w[1], 0, -INF), "not linear, quadratic"),
    "absolute": (lambda w: pt.switch(pt.abs(w[0]) <= 1, 0, -INF), "not linear, quadratic"),
    "factor that may be 0": (
        lambda w: pt.switch(pm.Poisson("k", 1.0) * w[0] * w[1] * w[2] >= 0, 0, -INF),
        "a factor that may be 0",
    ),
    "inverse of a number": (
        lambda w: pt.switch(~((w[0] > 1).astype("int64")), 0, -INF),
        "its condition goes through",
    ),
    "counted": (lambda w: pt.switch((w > 0).sum() >= 2, 0, -INF), "not linear, quadratic"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_refused_with_the_reason(name):
    """Nothing is guessed: the weights are left alone, and the reason names the potential."""
    make, reason = UNREADABLE[name]
    with pm.Model() as model:
        w = pm.Normal("w", 0, 1, shape=D)
        pm.Potential("c", make(w))
    with pytest.raises(ValueError, match=rf"w \(.*enters c, .*{reason}"):
        ExactBinaryHMC(model=model)


def test_conditions_of_a_potential_that_is_no_constraint():
    """A log-density is not a constraint, also where it is the logarithm of a density."""
    w = pt.vector("w")
    with pytest.raises(UnreadableError, match="not through a switch"):
        read_conditions(pt.exp(w).sum(), {w})
    density = pt.exp(-w[0])
    for cut in (pt.switch(w.sum() > 0, density, 0), pt.switch(w.sum() <= 0, 0, density)):
        with pytest.raises(UnreadableError, match="a switch that is not between 0 and 1"):
            read_conditions(pt.log(cut), {w})


def gated(potential, slab=lambda: pm.Normal("w", 0, 1.5, shape=D)):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, D))
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.4, shape=D)
        w = slab()
        pm.Normal("y", X @ (gamma * w), 1.0, observed=rng.normal(size=8))
        pm.Potential("c", potential(gamma, w))
    return model


GATED = {
    "raw": (lambda g, w: w.sum() <= 1, 0),
    "product": (lambda g, w: (g * w).sum() <= 1, 1),
    "switch": (lambda g, w: pm.math.switch(g, w, 0).sum() <= 1, 1),
    "deterministic": (lambda g, w: pm.Deterministic("beta", g * w).sum() <= 1, 1),
    "matrix": (lambda g, w: np.eye(D)[::-1] @ (w * g) <= 1, 1),
    "quadratic": (lambda g, w: pt.dot(g * w, np.ones((D, D)) @ (g * w)) <= 1, 1),
    "spins": (lambda g, w: (0.5 * ((2 * g - 1) + 1) * w).sum() <= 1, 1),
    "factors": (lambda g, w: (g[0] * w[0] - 1) * (g[1] * w[1] + 2) * (g[2] * w[2] - 3) >= 0, 1),
}


@pytest.mark.parametrize("name", GATED)
def test_constraints_on_gated_weights(name):
    """Weights times indicators are told from weights themselves."""
    condition, is_gated = GATED[name]
    model = gated(lambda g, w: pt.switch(condition(g, w), 0, -INF))
    step = ExactBinaryHMC(model=model)
    walls = step._move.walls
    assert {g for g, x in zip(walls.region.gated, walls.labels, strict=True) if x == "c"} == {
        is_gated
    }
    text = str(step.explain())
    assert "c (constraint)" in text
    assert "c (potential)" not in text


def test_constraints_on_weights_that_share_an_indicator():
    """The kernel knows one weight per gate: groups are left to other steps, with the reason."""
    X = np.random.default_rng(3).normal(size=(8, 3))
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=2), pm.Normal("w", shape=3)
        pm.Normal("y", X @ (gamma[np.array([0, 0, 1])] * w), 1.0, observed=X[:, 0])
        pm.Potential("c", pt.switch(w.sum() <= 1, 0, -INF))
    assert "w (it enters constraints, and weights share an indicator" in str(explain(model))


def test_an_exponential_weight_that_is_always_on_bounds_gated_ones():
    """It has no gate that could take the precision of the data from it."""
    X = np.random.default_rng(3).normal(size=(8, 3))
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=3), pm.Normal("w", shape=3)
        b = pm.Exponential("b", 1.0)
        pm.Normal("y", b + X @ (gamma * w), 1.0, observed=X[:, 0])
        pm.Potential("c", pt.switch(pt.all(w <= b), 0, -INF))
    assert {v.name for v in ExactBinaryHMC(model=model).vars} >= {"gamma", "w", "b_log__"}


def test_constraints_on_raw_weights_need_a_gaussian_slab():
    """Weights that are off are cut as well, and fly, which takes a precision of their own.

    Bounds of single weights do not count: those that are off are drawn from between them.
    """

    def slab():
        return pm.Exponential("w", 1, shape=D)

    model = gated(lambda g, w: pt.switch(w[0] + w[1] <= 3, 0, -INF), slab)
    assert "w (it enters a constraint on raw weights, which needs a" in str(explain(model))
    model = gated(lambda g, w: pt.switch((g * w).sum() <= 3, 0, -INF), slab)
    assert "weights w (3)" in explain(model).taken


NOT_GATED = {
    "other gate": lambda g, w: (g[::-1] * w).sum() <= 1,
    "gate and raw": lambda g, w: (g * w + w).sum() <= 1,
    "indicators apart": lambda g, w: (g * w).sum() <= g.sum(),
    "two gates": lambda g, w: g[0] * g[1] * w[0] <= 1,
    "open when closed": lambda g, w: ((1 - g) * w).sum() <= 1,
    "open later": lambda g, w: (pt.switch(g, 1, 1.0 * (pm.Poisson("k", 1) > 3)) * w).sum() <= 1,
}


@pytest.mark.parametrize("name", NOT_GATED)
def test_other_mixtures_of_indicators_and_weights_are_not_taken(name):
    """The weights are left to other steps, and the potential to the indicators' own."""
    model = gated(lambda g, w: pt.switch(NOT_GATED[name](g, w), 0, -INF))
    text = str(explain(model))
    assert "w (it enters c, which depends on indicators in another way" in text
    assert "c (potential)" in text


def test_each_of_several_constraints_must_be_gated():
    """Not the first alone."""
    model = gated(lambda g, w: pt.switch((g * w).sum() <= 1, 0, -INF))
    with model:
        g, w = model["gamma"], model["w"]
        pm.Potential("second", pt.switch((g * w).sum() <= 3 - g.sum(), 0, -INF))
    text = str(explain(model))
    assert "w (it enters second, which depends on indicators in another way" in text


def test_entries_of_one_variable_with_and_without_gates():
    """An intercept in the same variable does not hide that w_1 enters raw as well."""
    X = np.random.default_rng(3).normal(size=(8, D))
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", shape=D + 1)
        beta = gamma * w[1:]
        pm.Normal("y", w[0] + X @ beta, 1.0, observed=X[:, 0])
        pm.Potential("c", pt.switch(beta.sum() + w[1] <= 2, 0, -INF))
    text = str(explain(model))
    assert "w (it enters c, which depends on indicators in another way" in text


def test_weights_under_constraints_are_in_units_of_the_model():
    """Walls are not measured in τ, and so weights are not: X'X is multiplied by τ² instead."""
    X = np.random.default_rng(3).normal(size=(8, D))
    with pm.Model() as model:
        tau = pm.HalfNormal("tau")
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", shape=D)
        pm.Normal("y", X @ (gamma * tau * w), 1.0, observed=X[:, 0])
        pm.Potential("c", pt.switch((gamma * w).sum() <= 1, 0, -INF))
        move = ExactBinaryHMC([gamma, w])._move
    move.gaussian.update(model.initial_point() | {"tau_log__": np.array(0.7)})
    M = move.gaussian.scale * move.gaussian.block.gram.M
    np.testing.assert_allclose(M, np.exp(1.4) * X.T @ X, rtol=1e-9)
    np.testing.assert_allclose(move.walls.region.F[-1], -1.0)


AT_ZERO = {
    "positive": (lambda g, w: g * w > 0, "compares by < or >"),
    "negative sum": (lambda g, w: (g * w).sum() < 0, "compares by < or >"),
    "not below": (lambda g, w: pt.invert(pt.any(g * w <= 0)), "compares by < or >"),
    "not a ball": (lambda g, w: pt.sum((g * w) ** 2) > 0, "compares by < or >"),
    "no constant": (lambda g, w: (g * w).sum() + 1 > 1, "compares by < or >"),
    "a number": (lambda g, w: (g * w).sum() < pm.Poisson("k", 2), "compares by < or >"),
    "a cut": (
        lambda g, w: (g * w).sum() < pt.maximum(pm.StudentT("u", 3), 0),
        "compares by < or >",
    ),
    "signs": (lambda g, w: (g * w)[0] * (g * w)[1] * (g * w)[2] >= 0, "compares a product"),
}
"""Conditions on what may be exactly 0 while gates are closed, which has a probability."""


@pytest.mark.parametrize("name", AT_ZERO)
def test_conditions_that_decide_about_zero_are_not_taken(name):
    """A region holds its edge, factor by factor; where the model does not, w is left alone."""
    condition, reason = AT_ZERO[name]
    model = gated(lambda g, w: pt.switch(condition(g, w), 0, -INF))
    explanation = explain(model)
    assert explanation.taken == "gamma (3): 3 indicators"
    assert reason in str(explanation)


EDGES = {
    "edge allowed": lambda g, w: g * w >= 0,
    "edge elsewhere": lambda g, w: g * w > -1,
    "edge that is random": lambda g, w: (g * w).sum() < pm.Normal("u"),
    "edge of raw weights": lambda g, w: (g * w).sum() < w[0],
    "factors without zeros": lambda g, w: (w[0] - 1) * (w[1] + 1) * (w[2] - 2) > 0,
}
"""Conditions whose edge is allowed, or has no probability."""


@pytest.mark.parametrize("name", EDGES)
def test_edges_without_a_probability_do_not_matter(name):
    """Whether the edge itself is allowed makes no difference then."""
    model = gated(lambda g, w: pt.switch(EDGES[name](g, w), 0, -INF))
    names = explain(model).taken
    assert ("weights w (3)" in names) == (name != "edge of raw weights")


@pytest.mark.parametrize("name", ["positive", "signs"])
def test_zeros_that_are_read_wrongly_are_noticed(name, monkeypatch):
    """Also where gates are closed a region is compared with the model."""
    monkeypatch.setattr("pymc_exact_hmc.model.gated_constraints._why_not_at_zero", lambda *_: "")
    model = gated(lambda g, w: pt.switch(AT_ZERO[name][0](g, w), 0, -INF))
    with pytest.raises(ValueError, match="does not reproduce"):
        ExactBinaryHMC(model=model)
