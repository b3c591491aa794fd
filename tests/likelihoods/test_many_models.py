"""Four and six weights: the step against importance sampling of every model."""

import numpy as np
import pymc as pm
import pytest
from scipy import special, stats
from support.significance import assert_holds
from support.speed import slow_but

from likelihoods.families import run
from likelihoods.importance import posterior

SEED, INCLUSION, SLAB, N = 29, 0.3, 1.5, 40


def design(d):
    """Correlated columns; the first and the third matter."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(N, d)) + 0.7 * rng.normal(size=(N, 1))
    beta = np.zeros(d)
    beta[[0, 2]] = 1.0, -0.7
    return X, X @ beta, rng


def cut(value):
    return np.clip(value, -1.0, 1.5)


def censored(y, eta):
    low, high = special.log_ndtr(-1.0 - eta), special.log_ndtr(eta - 1.5)
    return np.where(y <= -1.0, low, np.where(y >= 1.5, high, stats.norm.logpdf(y, eta, 1.0)))


FAMILIES = {
    # name: data given the predictor, PyMC's likelihood, SciPy's log-density
    "probit": (
        lambda rng, eta: (rng.random(N) < special.ndtr(eta)).astype(int),
        lambda eta, y: pm.Bernoulli("y", p=pm.math.invprobit(eta), observed=y),
        lambda y, eta: special.log_ndtr((2 * y - 1) * eta),
    ),
    "logit": (
        lambda rng, eta: (rng.random(N) < special.expit(eta)).astype(int),
        lambda eta, y: pm.Bernoulli("y", logit_p=eta, observed=y),
        lambda y, eta: special.log_expit((2 * y - 1) * eta),
    ),
    "Binomial": (
        lambda rng, eta: rng.binomial(6, special.expit(eta)),
        lambda eta, y: pm.Binomial("y", n=6, logit_p=eta, observed=y),
        lambda y, eta: y * eta - 6 * np.logaddexp(0, eta),
    ),
    "NegativeBinomial": (
        lambda rng, eta: rng.negative_binomial(1.7, special.expit(eta)),
        lambda eta, y: pm.NegativeBinomial("y", n=1.7, p=pm.math.sigmoid(eta), observed=y),
        lambda y, eta: 1.7 * eta - (1.7 + y) * np.logaddexp(0, eta),
    ),
    "Student-t": (
        lambda rng, eta: eta + rng.standard_t(2.0, N),
        lambda eta, y: pm.StudentT("y", nu=2.0, mu=eta, sigma=1.0, observed=y),
        lambda y, eta: stats.t.logpdf(y - eta, 2.0),
    ),
    "Laplace": (
        lambda rng, eta: eta + rng.laplace(size=N),
        lambda eta, y: pm.Laplace("y", eta, 1.0, observed=y),
        lambda y, eta: -np.abs(y - eta),
    ),
    "AsymmetricLaplace": (
        lambda rng, eta: eta + rng.laplace(size=N),
        lambda eta, y: pm.AsymmetricLaplace("y", mu=eta, b=1.0, kappa=0.6, observed=y),
        lambda y, eta: -(y - eta) * np.where(y > eta, 0.6, -1 / 0.6),
    ),
    "censored Normal": (
        lambda rng, eta: cut(eta + rng.normal(size=N)),
        lambda eta, y: pm.Censored(
            "y", pm.Normal.dist(eta, 1.0), lower=-1.0, upper=1.5, observed=y
        ),
        censored,
    ),
}


def check(name, d, *, draws, importance):
    """Inclusion probabilities and means of weights, within the errors of both."""
    X, eta, rng = design(d)
    make, write, log_density = FAMILIES[name]
    y = make(rng, eta)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", INCLUSION, shape=d)
        write(X @ (gamma * pm.Normal("w", 0, SLAB, shape=d)), y)
    s, points = run(model, draws, seed=SEED)
    found = np.column_stack([s, s * np.array([p["w"] for p in points])])
    batches = found.reshape(60, -1, 2 * d).mean(axis=1)
    wanted, error = posterior(
        lambda at: log_density(y, at), X, inclusion=INCLUSION, slab=SLAB, draws=importance, rng=rng
    )
    variance = batches.var(axis=0, ddof=1) / 60
    # Indicators that never changed: no better known than from independent draws.
    variance[:d] = np.maximum(variance[:d], wanted[:d] * (1 - wanted[:d]) / draws)
    error = np.sqrt(error**2 + variance)
    z = (batches.mean(axis=0) - wanted) / error
    assert_holds(*(2 * stats.t.sf(np.abs(z), 59)), seed=SEED)


@pytest.mark.parametrize("name", slow_but(["probit"], ["probit", "Student-t"]))
def test_four_weights(name):
    """Sixteen models."""
    check(name, 4, draws=6000, importance=4000)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_six_weights(name):
    """Sixty-four models, with a hundred thousand draws for each."""
    check(name, 6, draws=60_000, importance=100_000)
