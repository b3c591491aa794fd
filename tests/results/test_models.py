"""model_summary and prior_inclusion: counts, Bayes factors and prior sizes by hand."""

import itertools

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import stats
from traces import DIMS, NAMES, trace

from pymc_exact_hmc import model_summary, prior_inclusion
from pymc_exact_hmc.results.bayes import bayes_factors
from pymc_exact_hmc.results.intervals import with_zeros
from pymc_exact_hmc.results.reading import read_indicators
from pymc_exact_hmc.results.sizes import size_distribution
from pymc_exact_hmc.results.visits import count_visits

# Twenty draws: {age, height} 10 times, {age} 6 times, {} 3 times, {income} once.
STATES = [[1, 0, 1]] * 5 + [[1, 0, 0]] * 3 + [[0, 0, 0]] * 2
OTHERS = [[1, 0, 0]] * 3 + [[1, 0, 1]] * 5 + [[0, 1, 0]] + [[0, 0, 0]]
IDATA = trace(gamma=(DIMS, np.array([STATES, OTHERS])), coords={"predictor": NAMES})


@pytest.fixture(scope="module")
def summary():
    return model_summary(IDATA, prior=0.25, groups={"body": ["age", "height"]})


def test_models_by_hand(summary):
    """Most visited first, with sizes and names."""
    assert list(summary.models["probability"]) == [0.5, 0.3, 0.15, 0.05]
    assert list(summary.models["size"]) == [2, 1, 0, 1]
    assert list(summary.models["predictors"]) == ["age, height", "age", "none", "income"]
    assert (summary.n_visited, summary.n_draws) == (4, 20)


def test_sizes_by_hand(summary):
    """Shares of the draws with 0, 1 and 2 predictors, beside the binomial prior."""
    np.testing.assert_allclose(summary.sizes["probability"], [0.15, 0.35, 0.5])
    np.testing.assert_allclose(summary.sizes["prior"], [0.75**3, 3 * 0.25 * 0.75**2, 3 * 0.75 / 16])


def test_conclusions_by_hand(summary):
    """height is in half of the draws: not above one half, but in the most probable model."""
    assert summary.most_probable == ["age", "height"]
    assert summary.median_probability == ["age"]


def test_bayes_factors_by_hand(summary):
    """Posterior odds over prior odds, of one and of a group."""
    factor = summary.bayes_factors["bayes_factor"]
    assert factor["age"] == pytest.approx((0.8 / 0.2) / (1 / 3))
    assert factor["height"] == pytest.approx(1 / (1 / 3))
    assert factor["any of body"] == pytest.approx((0.8 / 0.2) / ((1 - 0.75**2) / 0.75**2))
    inside = summary.bayes_factors
    assert (inside["low"] <= inside["bayes_factor"]).all()
    assert (inside["bayes_factor"] <= inside["high"]).all()


def test_no_bayes_factor_without_a_switch():
    """Evidence that the draws cannot measure is not called infinite."""
    gamma = np.ones((2, 20, 2), int)
    # One chain that moves is enough.
    gamma[1, ::3, 1] = 0
    groups = {"g": [0], "h": [1]}
    table = model_summary(trace(gamma=(DIMS, gamma)), prior=0.5, groups=groups).bayes_factors
    assert list(table["note"]) == ["never moved", ""] * 2
    assert list(np.isfinite(table["bayes_factor"])) == [False, True] * 2


def test_recorded_probabilities_measure_what_never_switched():
    """Probabilities that were recorded at each draw tell how much evidence there is."""
    gamma, p = np.ones((2, 20, 2), int), np.full((2, 20, 2), 0.97)
    p[:, ::2] = 0.99
    stats = {"ehmc_inclusion": (("chain", "draw", "k"), p)}
    table = model_summary(trace(gamma=(DIMS, gamma), stats=stats), prior=0.5).bayes_factors
    assert list(table["note"]) == ["", ""]
    np.testing.assert_allclose(table["bayes_factor"], 0.98 / 0.02)


def test_text_and_html(summary):
    """The summary prints, and shows as tables."""
    text, html = str(summary), summary._repr_html_()
    for words in ("4 models in 20 draws", "age, height", "any of body", "bayes_factor"):
        assert words in text
        assert words in html
    assert html.count("<table") == 3
    assert repr(summary) == text


def test_refusals():
    """Groups need a prior, labels must exist, probabilities must be inside (0, 1)."""
    with pytest.raises(ValueError, match="prior="):
        model_summary(IDATA, groups={"body": ["age"]})
    with pytest.raises(ValueError, match=r"'weight'.*age, income, height"):
        model_summary(IDATA, prior=0.5, groups={"body": ["weight"]})
    with pytest.raises(ValueError, match="between 0 and 1"):
        model_summary(IDATA, prior=1.0)
    with pytest.raises(ValueError, match="no members"):
        model_summary(IDATA, prior=0.5, groups={"body": []})


def test_size_distribution_by_enumeration():
    """The number of successes of independent trials, against the sum over all outcomes."""
    p = np.array([0.1, 0.1, 0.5, 0.9, 1.0, 0.0, 0.3])
    expected = np.zeros(8)
    for s in itertools.product([0, 1], repeat=7):
        expected[sum(s)] += np.prod(np.where(s, p, 1 - p))
    np.testing.assert_allclose(size_distribution(p), expected, atol=1e-14)
    np.testing.assert_allclose(size_distribution(np.full(2, 0.3)), [0.49, 0.42, 0.09])


def regression(p):
    with pm.Model(coords={"predictor": NAMES}) as model:
        # Rows have a length and no names.
        pm.Data("X", np.zeros((4, 3)), dims=("row", "predictor"))
        pm.Bernoulli("gamma", p() if callable(p) else p, dims="predictor")
        pm.Normal("y", 0, 1, observed=1.0)
    return model


def test_prior_of_constants_is_exact():
    """With constant probabilities the prior needs no draws."""
    prior = prior_inclusion(regression([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(prior.inclusion, [0.1, 0.2, 0.3])
    assert list(prior.inclusion.index) == NAMES
    assert prior.expected_size == pytest.approx(0.6)
    assert prior.any_of([0, 2]) == pytest.approx(1 - 0.9 * 0.7)
    assert "0.1 to 0.3" in str(prior)


def test_prior_of_what_is_certain():
    """One draw of several parameters; and no Bayes factor where the prior leaves no doubt."""
    with pm.Model() as model:
        a, b = pm.Uniform("a"), pm.Uniform("b")
        pm.Bernoulli("gamma", pt.stack([a, b, a * b]))
    assert prior_inclusion(model, draws=1, random_seed=1).given.shape == (1, 3)
    with pm.Model() as model:
        pm.Bernoulli("gamma", [1.0, 0.5])
    gamma = np.random.default_rng(9).integers(0, 2, (2, 50, 2))
    gamma[:, :, 0] = 1
    table = bayes_factors(read_indicators(trace(gamma=(DIMS, gamma))), model)
    assert np.isnan(table["bayes_factor"].iloc[0])
    assert np.isfinite(table["bayes_factor"].iloc[1])


def test_interval_of_a_prior_leaves_half_of_the_rest_on_each_side():
    """Of ten fair coins 2 to 8 come up with a probability of at least 0.9."""
    with pm.Model() as model:
        pm.Bernoulli("gamma", 0.5, shape=10)
    prior = prior_inclusion(model)
    law = stats.binom(10, 0.5)
    for prob in (0.5, 0.8, 0.9, 0.99):
        tail = 0.5 * (1 - prob)
        assert prior.interval(prob) == (law.ppf(tail), law.ppf(1 - tail))


def test_uniform_probability_makes_all_sizes_alike():
    """p ~ Beta(1, 1) gives each size the probability 1/(d + 1), and P(any of k) = k/(k + 1)."""
    prior = prior_inclusion(regression(lambda: pm.Beta("p", 1, 1)))
    np.testing.assert_allclose(prior.sizes, 0.25, atol=1e-6)
    np.testing.assert_allclose(prior.inclusion, 0.5, atol=1e-9)
    assert prior.any_of([0, 1]) == pytest.approx(2 / 3, abs=1e-6)
    assert "Expected number on: 1.5" in prior._repr_html_()
    other = prior_inclusion(regression(lambda: pm.Uniform("p", 0, 1)))
    np.testing.assert_allclose(other.sizes, 0.25, atol=1e-6)


def test_prior_of_several_hyperparameters_is_drawn():
    """E[a b] = 1/4 for independent uniform a, b, within five standard errors of the draws."""

    def product():
        return pm.Uniform("a", 0, 1) * pm.Uniform("b", 0, 1)

    prior = prior_inclusion(regression(product), draws=2000, random_seed=1)
    error = np.sqrt((1 / 9 - 1 / 16) / 2000)
    np.testing.assert_allclose(prior.inclusion, 0.25, atol=5 * error)
    assert prior.sizes.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pm.DiscreteUniform("gamma", 0, 1, shape=2),
        lambda: pm.Binomial("gamma", 1, 0.5, shape=2),
        lambda: pm.Categorical("gamma", [0.5, 0.5], shape=2),
        lambda: pm.Bernoulli("gamma", logit_p=0.0, shape=2),
    ],
)
def test_every_spelling_of_a_fair_coin(make):
    """All binary distributions are read."""
    with pm.Model() as model:
        make()
    np.testing.assert_allclose(prior_inclusion(model).sizes, [0.25, 0.5, 0.25])


def test_prior_of_a_model_gives_bayes_factors():
    """The model may be given instead of its prior."""
    by_model = model_summary(IDATA, prior=regression(lambda: pm.Beta("p", 1, 1)))
    by_number = model_summary(IDATA, prior=0.5)
    np.testing.assert_allclose(
        by_model.bayes_factors["bayes_factor"], by_number.bayes_factors["bayes_factor"], rtol=1e-8
    )


def test_potentials_on_the_prior_are_refused():
    """A potential on the indicators changes the prior in a way that draws do not see."""
    with regression(0.5) as model:
        pm.Potential("at most two", -(model["gamma"].sum() ** 2))
    with pytest.raises(ValueError, match="'at most two'"):
        prior_inclusion(model)
    with pm.Model() as several:
        pm.Bernoulli("a", 0.5)
        pm.Bernoulli("b", 0.5)
    with pytest.raises(ValueError, match="a, b"):
        prior_inclusion(several)
    assert prior_inclusion(several, "b").expected_size == 0.5
    with pytest.raises(ValueError, match="'c'"):
        prior_inclusion(several, "c")


def test_uneven_categories():
    """The probability of 1 is that of the second category."""
    with pm.Model() as model:
        pm.Categorical("gamma", [0.9, 0.1], shape=2)
    np.testing.assert_allclose(prior_inclusion(model).inclusion, 0.1)


def test_potentials_on_the_probability_are_refused():
    """They change the prior of the indicators through their parent."""
    with pm.Model() as model:
        p = pm.Beta("p", 1, 1)
        pm.Bernoulli("gamma", p, shape=3)
        pm.Potential("few", -5 * p)
    with pytest.raises(ValueError, match="'few'"):
        prior_inclusion(model)


def test_prior_of_sizes_that_begin_beyond_none():
    """Each size has its own prior, also where the empty model was never visited."""
    gamma = np.ones((2, 10, 3), int)
    gamma[:, ::2, 0] = 0
    sizes = model_summary(trace(gamma=(DIMS, gamma)), prior=0.2).sizes
    assert list(sizes.index) == [2, 3]
    np.testing.assert_allclose(sizes["prior"], [3 * 0.2**2 * 0.8, 0.2**3])


def test_visits_of_many_models():
    """The place of each draw is that of its own model, whatever their order."""
    rng = np.random.default_rng(8)
    draws = (rng.random((2, 300, 4)) < [0.2, 0.5, 0.7, 0.4]).astype(np.int8)
    visits = count_visits(draws)
    np.testing.assert_array_equal(visits.models[visits.which], draws)
    np.testing.assert_allclose(visits.share, np.bincount(visits.which.ravel()) / 600)


def test_whole_numbers_are_labels_first():
    """Indicators called 1 … 3 are found by these names."""
    gamma = np.random.default_rng(9).integers(0, 2, (2, 50, 3))
    idata = trace(gamma=(DIMS, gamma), coords={"predictor": [1, 2, 3]})
    read = read_indicators(idata, "gamma")
    assert [read.position(label) for label in (1, 2, 3)] == [0, 1, 2]
    assert read.position(0) == 0


def test_draws_with_zeros_are_sorted():
    """Zeros go between negative and positive draws."""
    np.testing.assert_array_equal(with_zeros(np.array([-2.0, -1.0, 3.0]), 2), [-2, -1, 0, 0, 3])
