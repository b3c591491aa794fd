"""The paper's probit scheme: latents, weights and indicators as one truncated Gaussian."""

import numpy as np
import pymc as pm
import pytest
from step.regressions import bernoulli
from support.significance import assert_holds
from support.speed import slow_but

from likelihoods.families import (
    BINARY,
    FAMILIES,
    UNBOUNDED,
    D,
    P,
    X,
    exact,
    make_model,
    natural,
    run,
)
from likelihoods.quadrature import posterior
from likelihoods.test_families import compare
from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.moves.joint_probit import JointProbitMove
from pymc_exact_hmc.weights.block import R

SEED = 13


@pytest.mark.parametrize("slab", slow_but(["half-normal"], ["normal", "half-normal"]))
def test_posterior_is_exact(slab):
    """The joint scheme leaves the same posterior invariant as holding the latents does."""
    model = make_model("probit", slab)
    with model:
        assert isinstance(ExactBinaryHMC(kernel="paper")._move, JointProbitMove)
    s, points = run(model, 12_000, seed=SEED, kernel="paper")
    w = natural(model, points).reshape(-1, D)
    assert_holds(*compare(s, w, exact("probit", slab, posterior)), seed=SEED)


def test_offset():
    """What the predictor holds beside the weights moves the latents, not the weights."""
    offset, log_density = np.linspace(-1.5, 2.5, len(BINARY)), FAMILIES["probit"][1]
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", P, shape=D), pm.Normal("w", 0, 2, shape=D)
        pm.Bernoulli("y", pm.math.invprobit(offset + X @ (gamma * w)), observed=BINARY)
    s, points = run(model, 6000, seed=SEED, kernel="paper")
    wanted = posterior(
        lambda eta: log_density(eta + offset).sum(axis=-1), X, range(D),
        log_prior=bernoulli(P), **(UNBOUNDED | {"mean": 0.0, "sd": 2.0}),
    )  # fmt: skip
    assert_holds(*compare(s, natural(model, points), wanted), seed=SEED)


def test_beside_a_likelihood_of_another_kind():
    """Its rows have no latents to fly with: the latents of the probit are held."""
    with pm.Model() as model:
        beta = pm.Bernoulli("gamma", P, shape=D) * pm.Normal("w", 0, 2, shape=D)
        pm.Bernoulli("y", pm.math.invprobit(X @ beta), observed=BINARY)
        pm.Normal("z", X @ beta, 1.0, observed=X[:, 0])
    step = ExactBinaryHMC(model=model, kernel="paper")
    assert not isinstance(step._move, JointProbitMove)
    assert step._move.kernel == "paper"
    step.step(model.initial_point())


def test_inclusion_is_refused():
    """Odds given latents that have moved on are not those of the indicators."""
    with pytest.raises(ValueError, match="leave out kernel='paper'"):
        ExactBinaryHMC(model=make_model("probit", "normal"), kernel="paper", inclusion=True)


def test_too_many_responses_are_refused():
    """Thousands of latents are not moved jointly."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        eta = np.tile(X, (200, 1)) @ (gamma * pm.Normal("w", shape=D))
        pm.Bernoulli("y", pm.math.invprobit(eta), observed=np.tile(BINARY, 200))
    with pytest.raises(ValueError, match="4802 weights and latents jointly"):
        ExactBinaryHMC(model=model, kernel="paper")


def test_predictors_that_change():
    """The joint precision of weights and latents follows them."""
    with pm.Model() as model:
        beta = pm.Bernoulli("gamma", P, shape=D) * pm.Normal("w", shape=D)
        eta = (X + pm.Uniform("u") * X[::-1]) @ beta
        pm.Bernoulli("y", pm.math.invprobit(eta), observed=BINARY)
        step = ExactBinaryHMC([model["gamma"], model["w"]], kernel="paper", rng=1)
    for value in (0.5, -1.0):
        point = model.initial_point() | {"u_interval__": np.array(value)}
        step.step(point)
        columns = X + X[::-1] / (1 + np.exp(-value))
        M = step._move._joint.gram.M
        # The predictor is read off its probabilities, which costs digits.
        np.testing.assert_allclose(M[:D, :D], columns.T @ columns, rtol=1e-6)
        np.testing.assert_allclose(M[:D, D:], -columns.T, rtol=0, atol=1e-6)


def test_offsets_that_change():
    """They reach the slopes of weights and latents at every call, beside columns that stay."""
    with pm.Model() as model:
        beta = pm.Bernoulli("gamma", P, shape=D) * pm.Normal("w", shape=D)
        u, trend = pm.Uniform("u"), np.linspace(-1, 2, len(BINARY))
        pm.Bernoulli("y", pm.math.invprobit(u * trend + X @ beta), observed=BINARY)
        step = ExactBinaryHMC([model["gamma"], model["w"]], kernel="paper", rng=1)
    assert not any(source.X_varies for source in step._move.gaussian.rows)
    for value in (0.5, -1.0):
        step.step(model.initial_point() | {"u_interval__": np.array(value)})
        offset = trend / (1 + np.exp(-value))
        slopes = step._move._joint.coefficients[R]
        # The predictor is read off its probabilities, which costs digits.
        np.testing.assert_allclose(slopes[D:], offset, rtol=0, atol=1e-6)
        np.testing.assert_allclose(slopes[:D], -X.T @ offset, rtol=0, atol=1e-5)
