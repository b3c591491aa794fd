"""Links are found however they are written, and nothing else is taken for one."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from support.speed import slow_but

from likelihoods.families import BINARY, COUNTS, REAL, SUCCESSES, TRIALS, D, P, X, make_model
from pymc_exact_hmc import ExactBinaryHMC, explain

LOGIT = {
    "logit_p": lambda eta: pm.Bernoulli("y", logit_p=eta, observed=BINARY),
    "pm.math.sigmoid": lambda eta: pm.Bernoulli("y", pm.math.sigmoid(eta), observed=BINARY),
    "pm.math.invlogit": lambda eta: pm.Bernoulli("y", pm.math.invlogit(eta), observed=BINARY),
    "pt.expit": lambda eta: pm.Bernoulli("y", pt.expit(eta), observed=BINARY),
    "by hand": lambda eta: pm.Bernoulli("y", 1 / (1 + pt.exp(-eta)), observed=BINARY),
    "odds": lambda eta: pm.Bernoulli("y", pt.exp(eta) / (1 + pt.exp(eta)), observed=BINARY),
    "complement": lambda eta: pm.Bernoulli("y", 1 - pm.math.sigmoid(-eta), observed=BINARY),
    "tanh": lambda eta: pm.Bernoulli("y", 0.5 * (1 + pt.tanh(eta / 2)), observed=BINARY),
    "deterministic": lambda eta: pm.Bernoulli(
        "y", pm.Deterministic("p", pm.math.sigmoid(eta)), observed=BINARY
    ),
    "switched": lambda eta: pm.Bernoulli("y", logit_p=-eta, observed=1 - BINARY),
    "booleans": lambda eta: pm.Bernoulli("y", logit_p=eta, observed=BINARY == 1),
    "one trial": lambda eta: pm.Binomial("y", 1, logit_p=eta, observed=BINARY),
}
PROBIT = {
    "pm.math.invprobit": lambda eta: pm.Bernoulli("y", pm.math.invprobit(eta), observed=BINARY),
    "erf": lambda eta: pm.Bernoulli("y", 0.5 * (1 + pt.erf(eta / np.sqrt(2))), observed=BINARY),
    "erfc": lambda eta: pm.Bernoulli("y", 0.5 * pt.erfc(-eta / np.sqrt(2)), observed=BINARY),
    "logcdf": lambda eta: pm.Bernoulli(
        "y", pm.math.exp(pm.logcdf(pm.Normal.dist(0, 1), eta)), observed=BINARY
    ),
    "complement": lambda eta: pm.Bernoulli("y", 1 - pm.math.invprobit(-eta), observed=BINARY),
}
COUNTING = {
    "binomial": lambda eta: pm.Binomial("y", TRIALS, pm.math.sigmoid(eta), observed=SUCCESSES),
    "mu": lambda eta: pm.NegativeBinomial("y", mu=2.5 * pt.exp(eta), alpha=2.5, observed=COUNTS),
    "p": lambda eta: pm.NegativeBinomial("y", n=2.5, p=1 / (1 + pt.exp(eta)), observed=COUNTS),
}


def model_of(likelihood):
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        w = pm.Normal("w", 0, 1.5, shape=D)
        intercept = pm.Normal("intercept", 0, 2)
        likelihood(intercept + X @ (gamma * w))
    return model


def latent_of(model):
    step = ExactBinaryHMC(model=model)
    (latent,) = step._move.gaussian.latents
    return step, latent


@pytest.mark.parametrize("counts", [pm.Binomial, pm.NegativeBinomial])
def test_counts_have_no_probit(counts):
    """Latents of Φ are known for one trial; the indicators are taken all the same."""
    model = model_of(
        lambda eta: counts("y", n=TRIALS, p=pm.math.invprobit(eta), observed=SUCCESSES)
    )
    assert "w (the predictor of y is Φ of a predictor, of counts" in str(explain(model))


@pytest.mark.parametrize("name", slow_but(list(LOGIT)[::3], LOGIT))
def test_every_spelling_of_log_odds(name):
    """The same exponents and the same design, up to the sign of a switched response."""
    step, latent = latent_of(model_of(LOGIT[name]))
    assert latent.scheme == "logistic"
    sign = -1 if name == "switched" else 1
    np.testing.assert_array_equal(latent.family.a, BINARY if sign == 1 else 1 - BINARY)
    np.testing.assert_array_equal(latent.family.b, 1)
    rows = step._move.gaussian.rows[0].read({})
    np.testing.assert_allclose(rows.X, sign * np.column_stack([X, np.ones(len(X))]), atol=1e-12)
    np.testing.assert_allclose(rows.offset, 0, atol=1e-12)


@pytest.mark.parametrize("name", slow_but(list(PROBIT)[::2], PROBIT))
def test_every_spelling_of_probit(name):
    """The predictor of Φ is the one that was written."""
    step, latent = latent_of(model_of(PROBIT[name]))
    assert latent.scheme == "probit"
    rows = step._move.gaussian.rows[0].read({})
    np.testing.assert_allclose(rows.X, np.column_stack([X, np.ones(len(X))]), atol=1e-9)


@pytest.mark.parametrize("name", COUNTING)
def test_counts_with_log_odds(name):
    """A mean α exp(η) and a probability 1/(1 + exp η) are the same model."""
    step, latent = latent_of(model_of(COUNTING[name]))
    rows = step._move.gaussian.rows[0].read({})
    sign = 1 if name == "binomial" else -1
    np.testing.assert_allclose(rows.X, sign * np.column_stack([X, np.ones(len(X))]), atol=1e-9)
    np.testing.assert_allclose(rows.offset, 0, atol=1e-6)
    wanted = (SUCCESSES, TRIALS) if sign == 1 else (2.5 + 0 * COUNTS, 2.5 + COUNTS)
    np.testing.assert_allclose(latent.family.a, wanted[0])
    np.testing.assert_allclose(latent.family.b, wanted[1])


def test_random_dispersion_moves_the_offset():
    """With mu = exp(η) the log-odds are η − log α, whatever α is at the time."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        alpha = pm.Exponential("alpha", 1.0)
        mu = pm.math.exp(X @ (gamma * pm.Normal("w", shape=D)))
        pm.NegativeBinomial("y", mu=mu, alpha=alpha, observed=COUNTS)
    step, latent = latent_of(model)
    point = model.initial_point() | {"alpha_log__": np.log(3.0)}
    latent.update(point)
    np.testing.assert_allclose(step._move.gaussian.rows[0].read(point).offset, np.log(3.0))
    np.testing.assert_allclose(latent.family.b, 3.0 + COUNTS)
    assert "alpha (it enters the mean of y" in str(explain(model))


def test_random_factor_of_the_odds_moves_the_offset():
    """Odds exp(α) exp(η) have the predictor α + η, also where α starts at 0."""
    with pm.Model() as model:
        gamma, alpha = pm.Bernoulli("gamma", P, shape=D), pm.StudentT("alpha", 3)
        odds = pt.exp(alpha) * pt.exp(X @ (gamma * pm.Normal("w", shape=D)))
        pm.Bernoulli("y", odds / (1 + odds), observed=BINARY)
    step, _ = latent_of(model)
    for value in (0.0, 1.3):
        point = model.initial_point() | {"alpha": np.array(value)}
        offset = step._move.gaussian.rows[0].read(point).offset
        np.testing.assert_allclose(offset, value, rtol=1e-9, atol=1e-12)


REFUSED = {
    "cauchit": lambda eta: 0.5 + pt.arctan(eta) / np.pi,
    "complementary log-log": lambda eta: 1 - pt.exp(-pt.exp(eta)),
    "clipped": lambda eta: pt.clip(pm.math.sigmoid(eta), 1e-6, 1 - 1e-6),
    "hardly clipped": lambda eta: pt.clip(pm.math.sigmoid(eta), 1e-10, 1 - 1e-10),
    "at most nearly one": lambda eta: pt.minimum(pm.math.sigmoid(eta), 1 - 1e-7),
    "clipped predictor": lambda eta: pm.math.sigmoid(pt.clip(eta, -20, 20)),
    "guessing": lambda eta: 0.05 + 0.9 * pm.math.sigmoid(eta),
    "nonlinear": lambda eta: pm.math.sigmoid(eta + 0.1 * eta**2),
    "rows mixed": lambda eta: pm.math.sigmoid(eta) * pm.math.sigmoid(eta).mean(),
    "nearly": lambda eta: pm.math.sigmoid(eta + 1e-4 * pt.sin(eta)),
    "linear": lambda eta: 0.5 + 0.01 * eta,
    "another later": lambda eta: pt.switch(
        pm.Poisson("k", 1.0) > 5, pm.math.invprobit(eta), pm.math.sigmoid(eta)
    ),
    "guesses smoothly later": lambda eta: (
        pm.math.sigmoid(eta) * (1 - 0.4 * pm.math.sigmoid(60 * pm.Laplace("c", -2.0, 1.0)))
    ),
    "guesses later": lambda eta: pm.math.sigmoid(eta) ** (1 + pt.clip(pm.Normal("c", -5), 0, 1)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_link_is_refused(name):
    """Weights are left to other steps, with a sentence; indicators are still sampled."""
    make = REFUSED[name]
    model = model_of(lambda eta: pm.Bernoulli("y", make(eta), observed=BINARY))
    text = str(explain(model))
    assert "takes gamma (2): 2 indicators\n" in text
    assert "w (the predictor of y is neither the logistic function nor Φ of a predictor" in text


@pytest.mark.parametrize("family", ["logit", "student", "binomial"])
def test_a_matrix_of_responses(family):
    """Rows and columns of data meet their own predictors."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", P, shape=D), pm.Normal("w", shape=D)
        eta = (X @ (gamma * w)).reshape((3, -1))
        if family == "logit":
            pm.Bernoulli("y", logit_p=eta, observed=BINARY.reshape(3, -1))
        elif family == "binomial":
            n = TRIALS.reshape(3, -1)
            pm.Binomial("y", n=n, logit_p=eta, observed=SUCCESSES.reshape(3, -1))
        else:
            pm.StudentT("y", nu=3, mu=eta, sigma=1.0, observed=REAL.reshape(3, -1))
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == {"gamma", "w"}


def test_indicators_outside_the_predictor_are_refused():
    """A probability that depends on indicators apart from the weights has no such predictor."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        eta = X @ (gamma * pm.Normal("w", shape=D))
        pm.Bernoulli("y", pm.math.sigmoid(eta) * (0.5 + 0.5 * gamma[0]), observed=BINARY)
    assert "w (the predictor of y is neither" in str(explain(model))


BAD = {
    "responses must be 0 or 1": lambda eta: pm.Bernoulli(
        "y", pm.math.invprobit(eta), observed=BINARY + 1
    ),
    "whole numbers between 0 and": lambda eta: pm.Bernoulli("y", logit_p=eta, observed=2 * BINARY),
    "trials": lambda eta: pm.Binomial("y", 3, logit_p=eta, observed=4 + 0 * BINARY),
    "nu must be positive": lambda eta: pm.StudentT("y", nu=-1.0, mu=eta, observed=X[:, 0]),
}


@pytest.mark.parametrize("words", BAD)
def test_impossible_data(words):
    """Data that the likelihood cannot give are refused with the name of the variable."""
    with pytest.raises(ValueError, match=f"The data of y are impossible.*{words}"):
        ExactBinaryHMC(model=model_of(BAD[words]))


def test_counts_beside_a_real_number_are_whole():
    """(y + n) − n is a rounded y where n is not a whole number, and no reason to refuse y."""
    counts = np.arange(BINARY.size) ** 2
    with pm.Model():
        gamma = pm.Bernoulli("gamma", P, shape=D)
        eta = X @ (gamma * pm.Normal("w", shape=D))
        pm.NegativeBinomial("y", n=1.7, p=pm.math.sigmoid(eta), observed=counts)
        step = ExactBinaryHMC()
    assert [v.name for v in step.vars] == ["gamma", "w"]


def test_a_row_that_the_model_does_not_know_says_nothing():
    """Beyond six standard deviations PyMC's own 1 − Φ has few digits: states are not compared."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", P), pm.Normal("w")
        eta = np.array([8.0, 0.5, -0.3]) * gamma * w
        pm.Bernoulli("y", pm.math.invprobit(eta), observed=[0, 1, 0])
    move, s = ExactBinaryHMC(model=model)._move, np.ones(1, np.int8)
    for w, known in ((0.1, True), (1.0, False)):
        terms = move.density_terms(model.initial_point() | {"w": np.array(w)}, s)
        assert np.isfinite(terms).all() == known


@pytest.mark.parametrize(
    ("family", "changes"), [("censored", False), ("probit", False), ("student", True)]
)
def test_latents_that_change_precisions_are_known(family, changes):
    """The others leave X'X as it is."""
    latents = ExactBinaryHMC(model=make_model(family, "normal"))._move.gaussian.latents
    assert [latent.changes_precision for latent in latents] == [changes]
