"""Which form each spelling is recognised as, and that large models stay small."""

import tracemalloc

import cloudpickle
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from support.models import binary_block, forms_of, worst_error

from pymc_exact_hmc import ExactBinaryHMC, explain
from pymc_exact_hmc.dynamics.transition import fresh_log_density
from pymc_exact_hmc.energies import DenseCouplings, Fields, SparseCouplings
from pymc_exact_hmc.model.binaries import lay_out, select_variables
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.probabilities import inclusion_probabilities
from pymc_exact_hmc.model.recognise import recognise
from pymc_exact_hmc.weights.block import R

Y = np.random.default_rng(81).normal(size=6)
W = np.random.default_rng(82).normal(size=(6, 6))

LABELS = {
    "blend": lambda z, a, b: z * a + (1 - z) * b,
    "switch": lambda z, a, b: pt.switch(z, a, b),
    "eq": lambda z, a, b: pt.switch(pt.eq(z, 1), a, b),
    "eq 0": lambda z, a, b: pt.where(pt.eq(z, 0), b, a),
    "index": lambda z, a, b: pt.stack([b, a])[z],
    "power": lambda z, a, b: pt.exp(a) ** z * pt.exp(b) ** (1 - z),
    "spins": lambda z, a, b: (a + b) / 2 + (2 * z - 1) * (a - b) / 2,
    "nested": lambda z, a, b: pt.switch(z > 0, pt.switch(z < 1, 99.0, a), b),
}


@pytest.mark.parametrize("spelling", LABELS)
def test_labels_of_a_mixture_are_separable(spelling):
    """Blend, switch, eq, index, power and spins are one thing."""
    with pm.Model() as model:
        a, b = pm.Normal("mean a"), pm.Normal("mean b")
        z = pm.Bernoulli("z", pm.Beta("p", 1, 1), shape=6)
        pm.Normal("y", LABELS[spelling](z, a, b), 1.0, observed=Y)
    assert forms_of(model) == {"separable"}


PAIRS = {
    "roll": lambda s: (s * pt.roll(s, 1)).sum(),
    "slices": lambda s: (s[1:] * s[:-1]).sum(),
    "indices": lambda s: (s[np.arange(5)] * s[np.arange(1, 6)]).sum(),
    "quadratic form": lambda s: s @ W @ s,
    "dot": lambda s: pt.dot(s, pt.dot(W, s)),
    "square": lambda s: -((s.sum() - 2) ** 2),
    "squared residuals": lambda s: -pt.sqr(Y - pt.dot(W, s)).sum(),
    "spins": lambda s: ((2 * s - 1) * pt.roll(2 * s - 1, 1)).sum(),
}


@pytest.mark.parametrize("spelling", PAIRS)
def test_pairs_are_quadratic(spelling):
    """Products of pairs are couplings, however they are written."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=6)
        pm.Potential("pairs", pm.HalfNormal("beta") * PAIRS[spelling](s))
    assert forms_of(model, "pairs") == {"quadratic"}


def test_couplings_of_different_strengths():
    """Each is rescaled by its own."""
    with pm.Model() as model:
        s, a, b = pm.Bernoulli("s", 0.5, shape=9), pm.HalfNormal("a"), pm.HalfNormal("b")
        pm.Potential("near", a * (s[1:] * s[:-1]).sum())
        pm.Potential("far", b * (s[2:] * s[:-2]).sum())
    assert forms_of(model, "near") == forms_of(model, "far") == {"quadratic"}
    assert worst_error(model, [{"a_log__": 0.7, "b_log__": -0.4}]) < 1e-9


def test_entries_that_an_indicator_chooses_of_others():
    """Both what is chosen from and what chooses are unknown."""
    with pm.Model() as model:
        s, z = pm.Bernoulli("s", 0.5, shape=2), pm.Bernoulli("z", 0.5, shape=3)
        pm.Potential("chosen", (np.array([1.0, -2.0]) * (1 + s))[z].sum())
    assert worst_error(model) < 1e-9


def test_products_of_batches_of_indicators():
    """Both factors of a product of matrices are indicators."""
    with pm.Model() as model:
        a, b = pm.Bernoulli("a", 0.5, shape=(2, 2, 2)), pm.Bernoulli("b", 0.5, shape=(2, 2, 1))
        pm.Potential("pairs", (0.3 * (a @ b)).sum())
    assert worst_error(model) < 1e-9


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_along_one_axis_couple_what_they_add_up(axis):
    """A matrix of indicators: rows, or columns, that should have two members each."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=(3, 4))
        pm.Potential("two", -((s.sum(axis=axis) - 2) ** 2))
    assert forms_of(model, "two") == {"quadratic"}
    assert worst_error(model) < 1e-9


INSERTED = {
    "shifted": lambda s: (s * pt.set_subtensor(pt.zeros_like(s)[1:], s[:-1])).sum(),
    "padded": lambda s: (s * pt.zeros(14, dtype="int64")[1:-1].set(s)[2:]).sum(),
    "added up": lambda s: (pt.zeros(3, dtype="int64")[np.arange(12) % 3].inc(s) ** 2).sum(),
    "added to others": lambda s: (s[:6][np.array([0, 1, 0])].inc(s[6:9]) ** 2).sum(),
    "diagonal": lambda s: (pt.diag(s) @ np.ones((12, 12)) @ s).sum(),
}


@pytest.mark.parametrize("spelling", INSERTED)
def test_whole_numbers_that_others_are_put_into(spelling):
    """Derivatives go through targets of whole numbers, too."""
    with pm.Model() as model:
        pm.Potential("pairs", 0.4 * INSERTED[spelling](pm.Bernoulli("s", 0.5, shape=12)))
    assert forms_of(model, "pairs") == {"quadratic"}
    assert worst_error(model) < 1e-9


@pytest.mark.parametrize("filled", [pt.ones_like, lambda s: pt.full(s.shape, 2.0)])
def test_the_number_of_indicators_is_nothing_of_them(filled):
    """A factor that takes their shape alone does not depend on them."""
    with pm.Model(coords={"k": list("abcd")}) as model:
        s, theta = pm.Bernoulli("s", 0.5, dims="k"), pm.Laplace("theta", 0, 1)
        pm.Potential("alone", (theta * filled(s)).sum())
        pm.Potential("both", (theta * filled(s)).sum() + s[0] * s[1])
    assert [factor.name for factor in binary_block(model).factors] == ["s", "both"]
    assert forms_of(model, "both") <= {"quadratic", "local"}
    assert "alone" not in str(explain(model))
    assert worst_error(model, [{"theta": 1.5}]) < 1e-9


@pytest.mark.parametrize(
    ("count", "taken"),
    [(lambda w: w.shape[0], {"gamma", "w"}), (lambda w: w[w > 1].shape[0], {"gamma"})],
)
def test_how_many_weights_are_large_is_something_of_them(count, taken):
    """Unlike how many there are."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=3), pm.Normal("w", shape=3)
        pm.Normal("y", gamma * w, 1.0, observed=np.ones(3))
        pm.Potential("few", -2.0 * count(w))
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == taken


def test_numbers_of_categories_may_be_data():
    """As many as the probabilities that were given as data, or up to a number that was."""
    with pm.Model() as model:
        pm.Categorical("z", p=pm.Data("p", [0.3, 0.7]), shape=5)
        pm.DiscreteUniform("u", 0, pm.Data("n", 2) - 1, shape=3)
        pm.Categorical("three", p=pm.Data("q", [0.3, 0.3, 0.4]), shape=5)
    assert [v.name for v in ExactBinaryHMC(model=model).vars] == ["z", "u"]


def test_the_shape_of_an_indicator_is_no_parent():
    """Weights may be made in the shape of their gates."""
    with pm.Model(coords={"k": list("abcdef")}) as model:
        gamma = pm.Bernoulli("gamma", 0.4, dims="k")
        pm.Normal("y", W @ (gamma * pm.Normal("w", 0, 1, shape=gamma.shape)), 1.0, observed=Y)
    step = ExactBinaryHMC(model=model)
    assert {v.name for v in step.vars} == {"gamma", "w"}
    assert step._move.kernel == "sheared"


DECIDED_ELSEWHERE = {
    "exponent": ("local", lambda s, k: (s[:3].sum() - 2.0) ** k),
    "start of a slice": ("generic", lambda s, k: pt.sqr(pt.as_tensor(Y)[k:] - s[0]).sum()),
    "end of a slice": ("generic", lambda s, k: pt.sqr(pt.as_tensor(Y)[:k] - s[0]).sum()),
}


@pytest.mark.parametrize("name", DECIDED_ELSEWHERE)
def test_what_another_variable_decides_is_not_that_of_the_start(name):
    """An exponent or a length that may change proves no form."""
    form, make = DECIDED_ELSEWHERE[name]
    with pm.Model() as model:
        k = pm.DiscreteUniform("k", 1, 4, initval=2)
        pm.Potential("a", make(pm.Bernoulli("s", 0.5, shape=6), k))
    assert forms_of(model, "a") == {form}


def test_a_length_that_is_data_is_no_function_of_the_indicators():
    """Where their number is not known beforehand, the square of a mean is quadratic as ever."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", pm.Data("p", np.full(6, 0.4)))
        pm.Potential("mean", -((s.mean() - 0.3) ** 2))
        pm.Potential("share", -((s.sum() / s.shape[0] - 0.3) ** 2))
    assert s.type.shape == (None,)
    assert forms_of(model, "mean") == forms_of(model, "share") == {"quadratic"}


def energy_of(model):
    block = binary_block(model)
    return Coefficients(block.terms, block.layout, model.initial_point()).energy


def test_a_wall_keeps_its_sign():
    """Minus a wall is +inf where the wall forbids, not another wall."""
    for sign in (1.0, -1.0):
        with pm.Model() as model:
            s = pm.Bernoulli("s", 0.4, shape=3)
            pm.Potential("wall", sign * pt.switch(s.sum() <= 1, 0.0, -np.inf))
        energy = energy_of(model)
        assert fresh_log_density(energy, np.ones(3, np.int8)) == -sign * np.inf


def test_matrix_is_full_only_if_most_pairs_are_coupled():
    """A ring is sparse, a quadratic form with a full matrix is dense, labels have neither."""
    with pm.Model() as ring:
        s = pm.Bernoulli("s", 0.5, shape=30)
        pm.Potential("pairs", 0.4 * (s * pt.roll(s, 1)).sum())
    energy = energy_of(ring)
    assert isinstance(energy, SparseCouplings)
    assert energy.values.size == 60
    with pm.Model() as full:
        s = pm.Bernoulli("s", 0.5, shape=6)
        pm.Potential("pairs", s @ W @ s)
    assert isinstance(energy_of(full), DenseCouplings)
    with pm.Model() as labels:
        z = pm.Bernoulli("z", 0.5, shape=6)
        pm.Normal("y", 2.0 * z, 1.0, observed=Y)
    assert isinstance(energy_of(labels), Fields)


def lattice(s):
    return (s * pt.roll(s, 1, axis=0)).sum() + (s * pt.roll(s, 1, axis=1)).sum()


@pytest.mark.parametrize(
    ("shape", "pairs"), [((10_000,), 20_000), ((100, 100), 40_000)], ids=["ring", "lattice"]
)
def test_ten_thousand_spins_never_become_a_matrix(shape, pairs):
    """A d × d matrix of d = 10 000 has 10⁸ entries; a sparse model needs a few d."""
    with pm.Model() as model:
        beta = pm.HalfNormal("beta")
        s = 2 * pm.Bernoulli("s", 0.5, shape=shape) - 1
        energy = lattice(s) if len(shape) == 2 else (s * pt.roll(s, 1)).sum()
        pm.Potential("pairs", beta * energy)
    tracemalloc.start()
    energy = energy_of(model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(energy, SparseCouplings)
    assert energy.values.size == pairs
    assert peak < 1e8  # bytes: one for each entry of the matrix that must not be


def test_a_fault_of_the_analysis_shows(monkeypatch):
    """An error inside the analysis is a warning, and the factor takes the path that needs none."""

    def faulty(situation, d):
        raise IndexError("planted")

    monkeypatch.setattr("pymc_exact_hmc.model.analysis.transfer", faulty)
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=3)
        pm.Potential("pair", s[0] * s[1])
    with pytest.warns(RuntimeWarning, match=r"analysis of the operation .*IndexError: planted"):
        forms = forms_of(model, "pair")
    assert forms == {"generic"}


def test_a_compiled_factor_is_the_same_in_another_process():
    """What is called back from machine code is made again after pickling."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=12)
        pm.Potential("bent", -pt.sqrt(1.0 + s.sum()))
    block, point = binary_block(model), model.initial_point()
    here = Coefficients(block.terms, block.layout, point)
    state = np.arange(12, dtype=np.int8) % 2
    value = fresh_log_density(here.energy, state)
    np.testing.assert_allclose(value - fresh_log_density(here.energy, 0 * state), 1 - 7**0.5)
    there = cloudpickle.loads(cloudpickle.dumps(here))
    assert fresh_log_density(there.energy, state) == value


def test_couplings_follow_in_another_process():
    """What is pickled after its use is brought to other values as it is here."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=6)
        pm.Potential("pairs", pm.HalfNormal("beta") * (s @ W @ s))
    block, point = binary_block(model), model.initial_point()
    here = Coefficients(block.terms, block.layout, point)
    assert isinstance(here.energy, DenseCouplings)
    there, state = cloudpickle.loads(cloudpickle.dumps(here)), np.ones(6, np.int8)
    before = fresh_log_density(here.energy, state)
    for coefficients in (here, there):
        coefficients.update(point | {"beta_log__": np.array(1.3)})
    after = fresh_log_density(here.energy, state)
    assert after != before
    assert fresh_log_density(there.energy, state) == after


def test_only_the_factors_named_are_left_to_others():
    """A name that begins like that of a factor which is served elsewhere is another factor."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=6)
        pm.Normal("y", s, 1.0, observed=Y)
        pm.Potential("y_too", s.sum())
    point = model.initial_point()
    block = recognise(model, lay_out(model.value_vars, point), point, without={"y"})
    assert {factor.name for factor in block.factors} == {"s", "y_too"}


def test_data_of_data():
    """What depends on observed values depends on no variable behind them."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=6), pm.Normal("w", shape=6)
        y = pm.Normal("y", W @ (gamma * w), pm.HalfNormal("sigma"), observed=Y)
        pm.Normal("z", 2 * y, 1.0, observed=Y)
        assert {v.name for v in ExactBinaryHMC().vars} == {"gamma", "w", "sigma_log__"}
    assert model["z"] in model.observed_RVs


@pytest.mark.parametrize(
    "repeated", [lambda a: a, lambda a: pt.alloc(a, 3), lambda a: pt.full_like(np.zeros(3), a)]
)
def test_probabilities_are_known_however_they_are_repeated(repeated):
    """A number, or an array that is full of it."""
    with pm.Model() as model:
        pm.Bernoulli("s", repeated(pm.Beta("a", 1, 1)), shape=3)
    layout = lay_out(select_variables(model, None)[0], model.initial_point())
    assert [x.name for x in inclusion_probabilities(model, layout)] == ["a"]


def test_data_in_the_mean_of_other_data():
    """They are read, not drawn."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=6), pm.Normal("w", shape=6)
        y = pm.Normal("y", 0.0, 1.0, observed=Y)
        pm.Normal("z", 0.5 * y + W @ (gamma * w), 1.0, observed=2.0 * Y)
    gaussian = ExactBinaryHMC(model=model)._move.gaussian
    np.testing.assert_allclose(gaussian.block.coefficients[R], 1.5 * W.T @ Y)


def test_a_probability_for_each_indicator_is_none_of_all():
    """Only a number that all of them share is watched for its bounds."""
    with pm.Model() as model:
        pm.Bernoulli("s", pm.Beta("a", 1, 1, shape=3))
    point = model.initial_point()
    layout = lay_out(select_variables(model, None)[0], point)
    assert inclusion_probabilities(model, layout) == []


def test_probabilities_know_their_indicators():
    """A probability is that of its own variable, whatever comes before it."""
    with pm.Model() as model:
        pm.Bernoulli("first", 0.5, shape=7)
        pm.Categorical("other", [0.4, 0.6])
        pm.Bernoulli("second", pm.Beta("a", 1, 1), shape=3)
    point = model.initial_point()
    layout = lay_out(select_variables(model, None)[0], point)
    (found,) = inclusion_probabilities(model, layout)
    assert (found.name, found.indicators, found.count) == ("a", "second", 3)
