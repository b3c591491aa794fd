"""Binary responses that a predictor separates, under flat, wide and proper priors."""

import numpy as np
import pymc as pm
import pytest

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.model import separation

RNG = np.random.default_rng(8)
X = RNG.normal(size=(20, 2))
SEPARATED = (X[:, 0] > 0).astype(int)
MIXED = np.where(np.arange(20) % 5 == 0, 1 - SEPARATED, SEPARATED)


def regression(y, *, slab=lambda: pm.Normal("w", 0, 2, shape=2), intercept=None, link="logit"):
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.5, shape=2)
        eta = X @ (gamma * slab())
        if intercept is not None:
            eta = eta + intercept()
        if link == "logit":
            pm.Bernoulli("y", logit_p=eta, observed=y)
        elif link == "probit":
            pm.Bernoulli("y", p=pm.math.invprobit(eta), observed=y)
        else:
            pm.Binomial("y", n=3, logit_p=eta, observed=3 * y)
    return model


@pytest.mark.parametrize("link", ["logit", "probit", "binomial"])
def test_flat_weights(link):
    """No posterior, whichever way: refused with the names of the response and of the weights."""
    for y in (SEPARATED, 1 - SEPARATED):
        model = regression(y, slab=lambda: pm.Flat("w", shape=2), link=link)
        with pytest.raises(ValueError, match="y are separated by the predictors of w, whose"):
            ExactBinaryHMC(model=model)


def test_half_flat_weights():
    """Half a line is as endless, but in its own direction only."""
    model = regression(SEPARATED, slab=lambda: pm.HalfFlat("w", shape=2))
    with pytest.raises(ValueError, match="responses y are separated by the predictors of w, whose"):
        ExactBinaryHMC(model=model)
    ExactBinaryHMC(model=regression(1 - SEPARATED, slab=lambda: pm.HalfFlat("w", shape=2)))


def test_flat_intercept_of_one_class():
    """Responses that are all 1 are separated by an intercept."""
    model = regression(np.ones(20, int), intercept=lambda: pm.Flat("intercept"))
    with pytest.raises(ValueError, match=r"predictors of intercept.*proper prior, such as"):
        ExactBinaryHMC(model=model)


def test_very_wide_slab():
    """A posterior exists, but is the prior's: said, and sampled."""
    model = regression(SEPARATED, slab=lambda: pm.Normal("w", 0, 1000, shape=2))
    with pytest.warns(UserWarning, match="separated by the predictors of w, whose prior is so"):
        ExactBinaryHMC(model=model)


def test_nothing_is_said_otherwise():
    """Of mixed responses, of proper priors, and of responses within the number of trials."""
    ExactBinaryHMC(model=regression(SEPARATED))
    ExactBinaryHMC(model=regression(MIXED, intercept=lambda: pm.Flat("intercept")))
    ExactBinaryHMC(model=regression(MIXED, slab=lambda: pm.Normal("w", 0, 1000, shape=2)))


def test_counts_between_none_and_all_separate_nothing():
    """Both were seen in every row, whatever the predictors."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.Flat("w", shape=2)
        pm.Binomial("y", n=3, logit_p=pm.Flat("a") + X @ (gamma * w), observed=1 + SEPARATED)
    assert [v.name for v in ExactBinaryHMC(model=model).vars] == ["gamma"]


def test_rows_with_both_outcomes_hold_a_weight_that_others_would_let_go():
    """The first predictor separates what is all or nothing, but says something of the rest too."""
    between = np.arange(20) % 3 == 0
    y = np.where(between, 1 + (np.arange(20) % 2), 3 * SEPARATED)
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.Flat("w", shape=2)
        pm.Binomial("y", n=3, logit_p=X @ (gamma * w), observed=y)
    assert [v.name for v in ExactBinaryHMC(model=model).vars] == ["gamma"]
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.Flat("w", shape=2)
        others = np.where(between[:, None], 0.0, X)  # of which the rows between say nothing
        pm.Binomial("y", n=3, logit_p=others @ (gamma * w), observed=y)
    with pytest.raises(ValueError, match="y are separated"):
        ExactBinaryHMC(model=model)


def test_other_variables_have_shapes_of_their_own():
    """The value of a variable that sums to 0 is shorter than itself."""
    group = np.arange(20) % 4
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.Normal("w", 0, 1, shape=2)
        rest = pm.Normal("wide", 0, 100) + pm.ZeroSumNormal("a", shape=4)[group]
        pm.Bernoulli("y", logit_p=rest + X @ (gamma * w), observed=MIXED)
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == {"gamma", "w", "wide"}


def test_numbers_of_trials_that_are_unknown_say_nothing(monkeypatch):
    """What was seen may be all there was, or not."""
    asked = []
    monkeypatch.setattr(separation, "_design", lambda *_: asked.append(1))
    for trials in (lambda: pm.Poisson("n", 4.0, shape=20, initval=[9] * 20), lambda: 1):
        with pm.Model() as model:
            gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.Normal("w", 0, 1000, shape=2)
            eta = X @ (gamma * w)
            pm.Binomial("y", n=trials(), logit_p=eta, observed=SEPARATED)
        separation.refuse_separation(model)
    assert asked == [1]


def test_rows_without_trials_say_nothing():
    """None of none is neither all nor nothing."""
    trials = np.where(np.arange(20) == np.argmin(X[:, 0]), 0, 3)
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.Flat("w", shape=2)
        observed = trials * SEPARATED
        pm.Binomial("y", n=trials, logit_p=X @ (gamma * w), observed=observed)
    with pytest.raises(ValueError, match="y are separated"):
        ExactBinaryHMC(model=model)
