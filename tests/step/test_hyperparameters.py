"""Scales and inclusion probabilities inside the step, against grids × enumeration."""

import itertools

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.exceptions import SamplingError
from scipy import stats
from scipy.special import betaln, logsumexp
from step.regressions import exact_states
from support.significance import assert_holds, batch_pvalues
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC, explain
from pymc_exact_hmc.model.legality import parameter_conditions
from pymc_exact_hmc.tapes.program import ALL, run
from pymc_exact_hmc.weights.evidence import make_gathered

RNG = np.random.default_rng(20131210)
N, D = 24, 3
X = RNG.normal(size=(N, D))
X[:, 1] += X[:, 0]
Y = X @ np.array([0.9, 0.0, 0.4]) + RNG.normal(size=N)
SEED, DRAWS = 11, 24_000
GRID = 48


def chain(model, names, draws=DRAWS, **options):
    """Return draws of s and of value variables, by the step alone."""
    with model:
        step = ExactBinaryHMC(**options)
    step.set_rng(np.random.default_rng(SEED))
    point, found = model.initial_point(), []
    for k in range(draws + 500):
        if k == 500:
            step.stop_tuning()
        point, _ = step.step(point)
        if k >= 500:
            found.append(np.concatenate([point[n].ravel().astype(float) for n in names]))
    return np.array(found)


def log_evidence(columns, sigma, sd):
    """Return log p(y | s, σ, τ) for every pair of scales and every state, up to a constant.

    The precision X'X/σ² + 1/τ² of the weights that are on has the eigenvectors of X'X for all
    scales.
    """
    states = np.array(list(itertools.product([0, 1], repeat=columns.shape[1])))
    empty = -0.5 * Y @ Y / sigma**2 - N * np.log(sigma)
    found = np.repeat(empty[:, None], len(states), axis=1)
    for k, s in enumerate(states):
        on = columns[:, s == 1]
        eigenvalues, vectors = np.linalg.eigh(on.T @ on)
        slope = vectors.T @ (on.T @ Y)
        precision = eigenvalues / sigma[:, None] ** 2 + 1 / sd[:, None] ** 2
        gain = (slope / sigma[:, None] ** 2) ** 2 / precision - np.log(precision)
        found[:, k] += 0.5 * gain.sum(axis=1) - s.sum() * np.log(sd)
    return states, found


def log_evidence_within(columns, sigma, sd, bounds):
    """Return the same for weights within bounds, one pair of scales after the other."""
    found = []
    for x, t in zip(sigma, sd, strict=True):
        states, p = exact_states(
            columns, Y, x, mean=0.0, sd=t, gate=range(columns.shape[1]),
            log_prior=lambda s: 0.0, **bounds,
        )  # fmt: skip
        # exact_states normalises: the empty model's own likelihood brings the constant back.
        found.append(np.log(p) - np.log(p[0]) - 0.5 * Y @ Y / x**2 - N * np.log(x))
    return states, np.array(found)


def test_evidences_agree():
    """Those by eigenvectors, and those of the enumeration that other tests use."""
    sigma, sd = np.array([0.5, 1.3, 2.0]), np.array([0.1, 1.0, 9.0])
    states, found = log_evidence(X, sigma, sd)
    same, expected = log_evidence_within(X, sigma, sd, {})
    np.testing.assert_array_equal(states, same)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def truth(
    columns, log_sigma, log_tau, log_prior, alpha, beta, slab_of=lambda tau, sigma: tau, **bounds
):
    """Return E of (s, log σ, log²σ, log τ, log²τ, a, s·log τ) by grid × enumeration."""
    d = columns.shape[1]
    u, v = (grid.ravel() for grid in np.meshgrid(log_sigma, log_tau, indexing="ij"))
    sigma, tau = np.exp(u), np.exp(v)
    scales = columns, sigma, slab_of(tau, sigma)
    states, evidence = log_evidence_within(*scales, bounds) if bounds else log_evidence(*scales)
    k = states.sum(axis=1)
    log_w = evidence + betaln(alpha + k, beta + d - k) + (log_prior(sigma, tau) + u + v)[:, None]
    p = np.exp(log_w - logsumexp(log_w))
    of_scales, of_states = p.sum(axis=1), p.sum(axis=0)
    a = of_states @ (alpha + k) / (alpha + beta + d)
    scales = [of_scales @ x for x in (u, u * u, v, v * v)]
    return np.array([*(of_states @ states), *scales, a, v @ p @ k])


def features(draws, d):
    """Return the draws of what ``truth`` gives the means of."""
    s, u, v, logit = draws[:, :d], draws[:, d], draws[:, d + 1], draws[:, d + 2]
    a = 1 / (1 + np.exp(-logit))
    return np.column_stack([s, u, u * u, v, v * v, a, s.sum(1) * v])


PRIORS = {
    # name: (σ, τ, log prior density of both, α, β)
    "half-normal, gamma": (
        lambda: pm.HalfNormal("sigma", 1.5),
        lambda: pm.Gamma("tau", 3, 2),
        lambda x, t: stats.halfnorm.logpdf(x, scale=1.5) + stats.gamma.logpdf(t, 3, scale=0.5),
    ),
    "log-normal, exponential": (
        lambda: pm.LogNormal("sigma", 0, 0.5),
        lambda: pm.Exponential("tau", 1),
        lambda x, t: stats.lognorm.logpdf(x, 0.5) + stats.expon.logpdf(t),
    ),
    "inverse gamma, half-Cauchy": (
        lambda: pm.InverseGamma("sigma", 3, 3),
        lambda: pm.HalfCauchy("tau", 1),
        lambda x, t: stats.invgamma.logpdf(x, 3, scale=3) + stats.halfcauchy.logpdf(t),
    ),
}


@pytest.mark.parametrize("prior", slow_but(["half-normal, gamma"], PRIORS))
def test_untruncated_posterior_is_that_of_grid_and_enumeration(prior):
    """Means and second moments of (s, log σ, log τ, a), all weights integrated out."""
    make_sigma, make_tau, log_prior = PRIORS[prior]
    with pm.Model() as model:
        sigma, tau, a = make_sigma(), make_tau(), pm.Beta("a", 1, 2)
        gamma = pm.Bernoulli("gamma", a, shape=D)
        w = pm.Normal("w", 0, tau, shape=D)
        pm.Normal("y", X @ (gamma * w), sigma, observed=Y)
    wide = 14 if "Cauchy" in prior else 7
    grids = np.linspace(-1.2, 1.2, GRID), np.linspace(-9, wide, 2 * GRID)
    exact = truth(X, *grids, log_prior, 1, 2)
    draws = chain(model, ["gamma", "sigma_log__", "tau_log__", "a_logodds__"])
    assert_holds(*batch_pvalues(features(draws, D), exact), seed=SEED)


@pytest.mark.parametrize("kernel", slow_but(["sheared"], ["sheared", "paper"]))
def test_truncated_posterior_is_that_of_grid_and_enumeration(kernel):
    """As above for weights that are positive: those that are on are held."""
    log_prior = PRIORS["half-normal, gamma"][2]
    with pm.Model() as model:
        sigma, tau = pm.HalfNormal("sigma", 1.5), pm.Gamma("tau", 3, 2)
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 2), shape=2)
        w = pm.HalfNormal("w", tau, shape=2)
        pm.Normal("y", X[:, :2] @ (gamma * w), sigma, observed=Y)
    grids = np.linspace(-1.2, 1.2, GRID // 2), np.linspace(-6, 4, GRID // 2)
    exact = truth(X[:, :2], *grids, log_prior, 1, 2, lower=0.0)
    draws = chain(model, ["gamma", "sigma_log__", "tau_log__", "a_logodds__"], kernel=kernel)
    assert_holds(*batch_pvalues(features(draws, 2), exact), seed=SEED)


SPELLINGS = {
    "tau times sigma": (
        lambda sigma, tau: {"sigma": tau * sigma},
        lambda sigma: {"sigma": sigma},
        lambda tau, sigma: tau * sigma,
    ),
    "precisions": (
        lambda sigma, tau: {"tau": 1 / tau**2},
        lambda sigma: {"tau": 1 / sigma**2},
        lambda tau, sigma: tau,
    ),
    "deterministic": (
        lambda sigma, tau: {"sigma": pm.Deterministic("slab", pm.math.sqrt(tau**2))},
        lambda sigma: {"sigma": pm.Deterministic("noise", sigma * np.ones(N))},
        lambda tau, sigma: tau,
    ),
}


@pytest.mark.parametrize("spelling", slow_but(["precisions"], SPELLINGS))
def test_scales_through_deterministic_functions(spelling):
    """Products, precisions and deterministics of hyperparameters are followed."""
    slab, noise, slab_of = SPELLINGS[spelling]
    log_prior = PRIORS["half-normal, gamma"][2]
    with pm.Model() as model:
        sigma, tau = pm.HalfNormal("sigma", 1.5), pm.Gamma("tau", 3, 2)
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 2), shape=D)
        w = pm.Normal("w", 0, **slab(sigma, tau), shape=D)
        pm.Normal("y", X @ (gamma * w), **noise(sigma), observed=Y)
    grids = np.linspace(-1.2, 1.2, GRID), np.linspace(-7, 5, 2 * GRID)
    exact = truth(X, *grids, log_prior, 1, 2, slab_of)
    draws = chain(model, ["gamma", "sigma_log__", "tau_log__", "a_logodds__"])
    assert_holds(*batch_pvalues(features(draws, D), exact), seed=SEED)


NON_CENTRED = {
    # name: (mean, the scale of the slab of the coefficients)
    "product": (lambda g, w, tau, sigma: X @ (g * tau * w), lambda tau, sigma: tau),
    "outside": (lambda g, w, tau, sigma: tau * (X @ (g * w)), lambda tau, sigma: tau),
    "quotient": (
        lambda g, w, tau, sigma: X @ pm.math.switch(g, w * sigma / (1 / tau), 0),
        lambda tau, sigma: tau * sigma,
    ),
}


@pytest.mark.parametrize("spelling", slow_but(["product"], NON_CENTRED))
def test_non_centred_weights_and_their_scale(spelling):
    """A scale that multiplies weights is moved as that of a centred slab, w with it."""
    mean, slab_of = NON_CENTRED[spelling]
    log_prior = PRIORS["half-normal, gamma"][2]
    with pm.Model() as model:
        sigma, tau = pm.HalfNormal("sigma", 1.5), pm.Gamma("tau", 3, 2)
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 2), shape=D)
        w = pm.Normal("w", 0, 1, shape=D)
        pm.Normal("y", mean(gamma, w, tau, sigma), sigma, observed=Y)
    grids = np.linspace(-1.2, 1.2, GRID), np.linspace(-7, 5, 2 * GRID)
    exact = truth(X, *grids, log_prior, 1, 2, slab_of)
    draws = chain(model, ["gamma", "sigma_log__", "tau_log__", "a_logodds__"])
    assert_holds(*batch_pvalues(features(draws, D), exact), seed=SEED)


@pytest.mark.parametrize("sign", [pytest.param(1.0, marks=pytest.mark.slow), -1.0])
def test_non_centred_truncated_weights(sign):
    """Bounds of w are bounds of τw, which a negative factor exchanges; w stays in its own."""
    log_prior = PRIORS["half-normal, gamma"][2]
    with pm.Model() as model:
        sigma, tau = pm.HalfNormal("sigma", 1.5), pm.Gamma("tau", 3, 2)
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 2), shape=2)
        w = pm.HalfNormal("w", 1, shape=2)
        pm.Normal("y", X[:, :2] @ (gamma * w * (sign * tau)), sigma, observed=sign * Y)
    grids = np.linspace(-1.2, 1.2, GRID // 2), np.linspace(-6, 4, GRID // 2)
    exact = truth(X[:, :2], *grids, log_prior, 1, 2, lower=0.0)
    draws = chain(model, ["gamma", "sigma_log__", "tau_log__", "a_logodds__"])
    assert_holds(*batch_pvalues(features(draws, 2), exact), seed=SEED)


def regression(*, local=False):
    with pm.Model() as model:
        sigma, a = pm.HalfNormal("sigma", 1.5), pm.Beta("a", 1, 2)
        tau = pm.HalfCauchy("tau", 1)
        scale = tau * pm.HalfCauchy("local", 1, shape=D) if local else tau
        gamma = pm.Bernoulli("gamma", a, shape=D)
        w = pm.Normal("w", 0, scale, shape=D)
        pm.Normal("y", X @ (gamma * w), sigma, observed=Y)
    return model


def test_everything_is_taken_and_nuts_is_not_made():
    """A model with nothing left over needs no other step."""
    model = regression()
    with model:
        step = ExactBinaryHMC()
    assert {v.name for v in step.vars} == {v.name for v in model.value_vars}
    assert "Left to PyMC" not in str(step.explain())


def test_vars_limit_what_is_taken():
    """Scales that are not given are left to other steps."""
    model = regression()
    with model:
        step = ExactBinaryHMC([model["gamma"], model["w"], model["tau"]])
    assert {v.name for v in step.vars} == {"gamma", "w", "tau_log__"}
    with model:
        step = ExactBinaryHMC([model["gamma"]])
    assert {v.name for v in step.vars} == {"gamma"}


def test_local_scales_stay_with_nuts():
    """One scale for each weight is left over, with the reason; the global ones are taken."""
    model = regression(local=True)
    with model:
        step = ExactBinaryHMC()
    names = {v.name for v in step.vars}
    assert names == {"gamma", "w", "tau_log__", "sigma_log__", "a_logodds__"}
    assert "local (it holds a scale for every single weight)" in str(explain(model))


def test_local_units_stay_with_nuts():
    """The same where weights are measured in their scales: w = tau · local · u."""
    with pm.Model() as model:
        tau, local = pm.HalfCauchy("tau", 1), pm.HalfCauchy("local", 1, shape=D)
        gamma, u = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("u", 0, 1, shape=D)
        pm.Normal("y", X @ (gamma * (tau * local * u)), 1.0, observed=Y)
        step = ExactBinaryHMC()
    assert {v.name for v in step.vars} == {"gamma", "u", "tau_log__"}
    assert "local (it holds a scale for every single weight)" in str(explain(model))


def test_units_are_followed_through_a_switch():
    """tau · switch(gamma, u, 0) is a weight in units of tau; with a number for 0 it is not."""
    for other, taken in ((0.0, {"gamma", "u", "tau_log__"}), (0.6, {"gamma", "u"})):
        with pm.Model():
            tau, gamma = pm.HalfNormal("tau", 1), pm.Bernoulli("gamma", 0.4, shape=D)
            w = tau * pt.switch(gamma, pm.Normal("u", 0, 1, shape=D), other)
            pm.Normal("y", X @ w, 1.0, observed=Y)
            assert {v.name for v in ExactBinaryHMC().vars} == taken


def test_scales_that_enter_something_else_stay_with_nuts():
    """A hyperparameter of a factor that is not of the block is left over, with the reason."""
    model = regression()
    with model:
        pm.Poisson("count", model["sigma"], observed=3)
        pm.Potential("belief", -model["tau"])
    text = str(explain(model))
    assert "sigma (it enters count, which is neither" in text
    assert "tau (it enters belief, which is neither" in text


@pytest.mark.slow
def test_agrees_with_nuts_beside_the_step():
    """Means of log σ, log τ, a and of the indicators are those found with NUTS on the scales."""
    model = regression()
    with model:
        step = ExactBinaryHMC([model["gamma"], model["w"]])
        beside = pm.sample(
            2000, tune=1000, chains=2, cores=1, step=step, random_seed=SEED, progressbar=False,
            compute_convergence_checks=False, nuts={"target_accept": 0.95},
        )  # fmt: skip
    post = beside.posterior
    nuts = np.concatenate(
        [
            np.column_stack(
                [post["gamma"][c], np.log(post["sigma"][c]), np.log(post["tau"][c]), post["a"][c]]
            )
            for c in range(2)
        ]
    )
    own = chain(model, ["gamma", "sigma_log__", "tau_log__", "a_logodds__"])
    own[:, -1] = 1 / (1 + np.exp(-own[:, -1]))
    means = [x.reshape(40, -1, x.shape[1]).mean(axis=1) for x in (nuts, own)]
    error = sum(m.var(axis=0, ddof=1) / 40 for m in means) ** 0.5
    z = (means[0].mean(axis=0) - means[1].mean(axis=0)) / error
    assert_holds(*(2 * stats.t.sf(np.abs(z), 39)), seed=SEED)


def test_state_can_be_saved_and_restored():
    """After restoring the sampling state, the same draws follow, but for rounding.

    Caches are computed afresh, in another order than that in which they were updated.
    """
    model = regression()
    with model:
        step = ExactBinaryHMC()
    step.set_rng(np.random.default_rng(1))
    point = model.initial_point()
    for _ in range(30):
        point, _ = step.step(point)
    saved = step.sampling_state
    first = [point]
    for _ in range(5):
        first.append(step.step(first[-1])[0])
    step.sampling_state = saved
    again = [point]
    for _ in range(5):
        again.append(step.step(again[-1])[0])
    for a, b in zip(first, again, strict=True):
        for name in a:
            np.testing.assert_allclose(a[name], b[name], rtol=1e-12)


def test_slab_scale_beside_noise_that_changes_row_by_row():
    """Noise that is left to NUTS does not keep the step from moving τ."""
    x = np.linspace(-1, 1, N)
    with pm.Model() as model:
        slope, tau = pm.Normal("slope", 0, 0.5), pm.HalfNormal("tau", 1)
        gamma = pm.Bernoulli("gamma", 0.3, shape=D)
        w = pm.Normal("w", 0, tau, shape=D)
        pm.Normal("y", X @ (gamma * w), pm.math.exp(slope * x), observed=Y)
        step = ExactBinaryHMC()
    assert {v.name for v in step.vars} == {"gamma", "w", "tau_log__"}
    point = model.initial_point()
    for value in (0.0, 0.4, -0.3):
        point, _ = step.step(point | {"slope": np.array(value)})


def test_slab_scale_of_several_likelihoods_without_gram_matrices(monkeypatch):
    """Where X'X is not kept for each noise scale, τ is left over with the reason."""
    monkeypatch.setattr("pymc_exact_hmc.model.weight_coefficients.MAX_DENSE_GRAM", 1)
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1)
        gamma = pm.Bernoulli("gamma", 0.3, shape=D)
        w = pm.Normal("w", 0, tau, shape=D)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
        pm.Normal("z", X @ (gamma * w), 0.5, observed=Y)
    assert "tau (there are several noise scales, and X'X is not kept" in str(explain(model))


def test_data_that_are_unknown_are_not_a_scale_as_well():
    """A variable that the weights predict and that enters a noise scale is left to NUTS."""
    with pm.Model():
        gamma = pm.Bernoulli("gamma", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.3, shape=2)
        mean = 0.5 + (gamma * w)[0]
        odds = pm.distributions.transforms.logodds
        latent = pm.Normal("latent", mean, 0.15, transform=odds, initval=0.5)
        pm.Normal("y", X[:, :2] @ (gamma * w), 0.2 + latent, observed=Y)
        step = ExactBinaryHMC()
    assert "latent_logodds__" not in {v.name for v in step.vars}


def test_missing_data_keep_the_fast_path():
    """Missing responses are data of the weights, not weights; scales stay inside the step."""
    masked = np.ma.masked_array(Y, mask=np.arange(N) % 7 == 0)
    with pm.Model() as model:
        sigma, tau = pm.HalfNormal("sigma", 1.5), pm.Gamma("tau", 3, 2)
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 2), shape=D)
        w = pm.Normal("w", 0, tau, shape=D)
        with pytest.warns(pm.exceptions.ImputationWarning):
            pm.Normal("y", X @ (gamma * w), sigma, observed=masked)
    with model:
        step = ExactBinaryHMC()
    names = {v.name for v in step.vars}
    assert names == {"gamma", "w", "sigma_log__", "tau_log__", "a_logodds__"}


@pytest.mark.parametrize("likelihood", ["normal", "logit"])
def test_weights_that_are_off_get_new_values_at_new_scales(likelihood):
    """The paper's kernel flies on from where weights are, so those that are off are drawn."""
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 2.0)
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", 0, tau, shape=D)
        if likelihood == "normal":
            pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
        else:
            pm.Bernoulli("y", logit_p=X @ (gamma * w), observed=Y > 0)
        step = ExactBinaryHMC(kernel="paper")
    assert step._move.hyper is not None
    s, w = (np.arange(D) % 2).astype(np.int8), np.full(D, 0.3)
    step._move._move_scales(model.initial_point(), s, w, np.random.default_rng(1))
    np.testing.assert_array_equal(w == 0.3, s == 1)


def test_what_scales_are_given():
    """Weights are integrated out, but held where they are bounded or fly on (paper's kernel)."""
    for slab, options, held in (
        (pm.Normal, {}, 0), (pm.HalfNormal, {}, 1), (pm.Normal, {"kernel": "paper"}, 1)
    ):  # fmt: skip
        with pm.Model():
            tau = pm.HalfNormal("tau", 2.0)
            gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), slab("w", sigma=tau, shape=D)
            pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
            assert ExactBinaryHMC(**options)._move.hyper._evidence.held[0] == held


def test_degrees_of_freedom_are_no_noise_scale():
    """They shape the latents: NUTS moves them."""
    with pm.Model() as model:
        mean = X @ (pm.Bernoulli("gamma", 0.4, shape=D) * pm.Normal("w", shape=D))
        nu, sigma = pm.Gamma("nu", 2, 0.1), pm.HalfNormal("sigma")
        pm.StudentT("y", nu, mu=mean, sigma=sigma, observed=Y)
        step = ExactBinaryHMC()
    assert {v.name for v in step.vars} == {"gamma", "w", "sigma_log__"}
    assert "nu (it enters y not only as its noise scale)" in str(explain(model))


def test_a_scale_of_a_scale_reaches_the_weights():
    """Where its child is stretched by a transform, so is what the weights are drawn from."""
    with pm.Model():
        upper = pm.Uniform("upper", 1.0, 4.0)
        tau = pm.Uniform("tau", 0.0, upper)
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", 0, tau, shape=D)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
        hyper = ExactBinaryHMC()._move.hyper
    assert {h.name for h in hyper.block.hyperparameters} == {"upper", "tau"}
    assert hyper.coordinates.reach.all()


def test_widths_are_kept_once_tuning_ends():
    """A width that follows the draws would make later ones depend on earlier ones."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", pm.Beta("p", 1, 1), shape=4)
        pm.Potential("pairs", (gamma[1:] * gamma[:-1]).sum())
        step = ExactBinaryHMC()
    step.set_rng(np.random.default_rng(2))
    point, widths = model.initial_point(), step._move.hyper.coordinates.widths
    learnt = []
    for _ in range(3):
        for _ in range(5):
            point, _ = step.step(point)
        learnt.append(widths.copy())
        if len(learnt) == 2:
            step.stop_tuning()
    assert (learnt[0] != learnt[1]).all()
    np.testing.assert_array_equal(learnt[1], learnt[2])


def test_a_new_chain_has_learnt_no_widths():
    """What a chain does must not depend on the one that the step has made before."""
    with pm.Model() as model:
        pm.Bernoulli("gamma", pm.Beta("a", 1, 1), shape=D)
        step = ExactBinaryHMC()
    step.step(model.initial_point())
    widths = step._move.hyper.coordinates.widths
    assert (widths != 1.0).all()
    step.set_rng(np.random.default_rng(1))
    assert (widths == 1.0).all()


def draws_of_a_chain(step, start, n):
    """Let a step make the first draws of a chain as PyMC does, while tuning."""
    step.set_rng(np.random.default_rng(5))
    step.tune = True
    draws, point = [], start
    for _ in range(n):
        point, _ = step.step(point)
        draws.append(np.concatenate([np.ravel(value) for value in point.values()]))
    return np.array(draws)


@pytest.mark.parametrize("likelihood", ["normal", "logit"])
def test_a_second_chain_is_that_of_a_new_step(likelihood):
    """One process or several, the draws are the same: to the last bit, and while tuning too."""
    with pm.Model() as model:
        w = pm.HalfNormal("w", pm.HalfNormal("tau"), shape=D)
        mean = X @ (pm.Bernoulli("gamma", 0.4, shape=D) * w)
        if likelihood == "normal":
            pm.Normal("y", mean, pm.HalfNormal("sigma"), observed=Y)
        else:
            pm.Bernoulli("y", logit_p=mean, observed=Y > 0)
        step = ExactBinaryHMC()
    start = model.initial_point()
    first = draws_of_a_chain(step, start, 60)
    step.stop_tuning()
    point = start
    for _ in range(20):
        point, _ = step.step(point)
    np.testing.assert_array_equal(draws_of_a_chain(step, start, 60), first)


def test_scales_of_groups_beside_latents_are_left():
    """Rows have precisions of their own, so there is no Gram matrix for each scale."""
    with pm.Model() as model:
        mean = X @ (pm.Bernoulli("gamma", 0.4, shape=D) * pm.Normal("w", shape=D))
        b = pm.HalfNormal("b", shape=2)
        pm.Laplace("y", mean, b[np.arange(N) % 2], observed=Y)
        step = ExactBinaryHMC()
    assert {v.name for v in step.vars} == {"gamma", "w"}
    assert "b (" in str(explain(model)).partition("Left to")[2]


def test_a_probability_is_taken_whatever_its_indicators_enter():
    """It reaches the data through them alone."""
    with pm.Model():
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 1), shape=D)
        pm.Normal("y", 2.0 * gamma, 1.0, observed=Y[:D])
        assert {v.name for v in ExactBinaryHMC().vars} == {"gamma", "a_logodds__"}


def test_noise_that_loses_its_proportions_is_refused(monkeypatch):
    """Rows that change their class, though nothing told that they might, are noticed."""
    monkeypatch.setattr("pymc_exact_hmc.model.likelihood_rows.is_smooth", lambda *_: True)
    with pm.Model() as model:
        change, sigma = pm.DiscreteUniform("change", 0, N), pm.HalfNormal("sigma")
        mean = X @ (pm.Bernoulli("gamma", 0.4, shape=D) * pm.Normal("w", shape=D))
        pm.Normal("y", mean, sigma * pt.switch(np.arange(N) < change, 1.0, 3.0), observed=Y)
        step = ExactBinaryHMC()
    point = model.initial_point()
    step.step(point)
    with pytest.raises(SamplingError, match="sigma enter no longer change in proportion"):
        step.step(point | {"change": point["change"] - 5})


def test_a_bound_that_the_step_moves_is_compared_where_it_allows_the_weights():
    """Weights beyond a bound of another setting are no misreading."""
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1.0)
        gamma = pm.Bernoulli("gamma", 0.4, shape=D)
        w = pm.TruncatedNormal("w", 0, 1, lower=0, upper=tau, shape=D)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
    assert {v.name for v in ExactBinaryHMC(model=model).vars} >= {"gamma", "w_interval__"}


NEGATIVE = {
    "slab": lambda tau: (pm.Normal("w", 0, tau, shape=D), 1.0),
    "half a slab": lambda tau: (pm.HalfNormal("w", tau, shape=D), 1.0),
    "a slab from 1 on": lambda tau: (pm.Normal("w", 0, 1 + tau, shape=D), 1.0),
    "noise": lambda tau: (pm.Normal("w", 0, 1, shape=D), tau),
    "upper bound": lambda tau: (pm.TruncatedNormal("w", 0, 1, lower=-0.5, upper=tau, shape=D), 1.0),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_scales_with_a_prior_on_the_whole_line_stay_where_the_model_has_a_density(name):
    """Squares of scales do not tell the sign; the density of the model is 0 there."""
    with pm.Model() as model:
        tau = pm.Normal("tau", 0.5, 1.0, initval=0.5)
        gamma = pm.Bernoulli("gamma", 0.4, shape=D)
        w, sigma = NEGATIVE[name](tau)
        pm.Normal("y", X @ (gamma * w), sigma, observed=Y)
        step = ExactBinaryHMC()
    tape, point = step._move.hyper.block.tape, model.initial_point()
    for value in (-3.0, -0.6, 0.3, 2.0):
        allowed = value > {"a slab from 1 on": -1.0, "upper bound": -0.5}.get(name, 0.0)
        assert np.isfinite(tape(point | {"tau": np.array(value)})[0]) == allowed


def test_scales_that_cannot_be_negative_are_not_asked():
    """Checks that always hold cost nothing."""
    with pm.Model() as model:
        tau, precision = pm.HalfCauchy("tau", 1.0), pm.Gamma("precision", 2.0, 1.0)
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", 0, 2 * tau, shape=D)
        y = pm.Normal("y", X @ (gamma * w), tau=precision, observed=Y)
    values = {model.rvs_to_values[tau], model.rvs_to_values[precision]}
    assert parameter_conditions(model, [w, y], values, set()) == []


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_units_of_weights_in_log_odds_are_taken(link):
    """Conditions of the likelihood on its probability are not those of a scale alone."""
    with pm.Model() as model:
        gamma, tau = pm.Bernoulli("gamma", 0.4, shape=D), pm.HalfNormal("tau")
        eta = X @ (gamma * tau * pm.Normal("w", shape=D))
        link = {"logit": pm.math.sigmoid, "probit": pm.math.invprobit}[link]
        pm.Bernoulli("y", link(eta), observed=(Y > 0).astype(int))
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == {"gamma", "w", "tau_log__"}


def test_many_weights_that_are_on_have_room():
    """The call in which room is made is that of a step that has it."""
    rng, n = np.random.default_rng(6), 40
    columns = rng.normal(size=(50, n))
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=n), pm.HalfNormal("w", 1.0, shape=n)
        pm.Normal("y", columns @ (gamma * w), pm.HalfNormal("sigma"), observed=columns[:, 0])
    ends = []
    for room in (None, 64):
        hyper = ExactBinaryHMC(model=model)._move
        gaussian, hyper = hyper.gaussian, hyper.hyper
        point = model.initial_point()
        gaussian.update(point)
        if room is not None:
            hyper._gathered = make_gathered(hyper.block.n_noise, room)
        ends.append(hyper(point, np.ones(n, np.int8), np.ones(n), np.random.default_rng(1)))
    assert ends[0]["sigma_log__"] == pytest.approx(ends[1]["sigma_log__"], rel=1e-9)


def test_each_of_many_scales_reaches_what_it_enters():
    """What one of ten alone makes run gives what a whole run gives."""
    with pm.Model() as model:
        mean = 0.0
        for k in range(5):
            tau, p = pm.HalfNormal(f"tau{k}"), pm.Beta(f"p{k}", 1, 1)
            gamma = pm.Bernoulli(f"gamma{k}", p, shape=2)
            mean = mean + X[:, :2] @ (gamma * pm.Normal(f"w{k}", 0, tau, shape=2))
        pm.Normal("y", mean, 1.0, observed=Y)
    hyper = ExactBinaryHMC(model=model)._move.hyper
    tape, places, masks = hyper.block.tape, hyper.coordinates.places, hyper.coordinates.masks
    assert len(places) == 10
    memory, total = tape.program.memory, tape.outputs[0]
    before = tape(model.initial_point())[0].item()
    for place, mask in zip(places, masks, strict=True):
        memory[place] += 0.3
        run(tape.program, mask)
        alone = memory[total].item()
        run(tape.program, ALL)
        assert alone == memory[total].item() != before
        before = alone


def test_scales_beside_a_unit_that_starts_below_zero():
    """Weights are measured in a number that may have either sign."""
    with pm.Model():
        unit, w = pm.Laplace("unit", -1.0, 1.0), pm.Normal("w", shape=D)
        mean = X @ (pm.Bernoulli("gamma", 0.4, shape=D) * unit * w)
        pm.Normal("y", mean, pm.HalfNormal("sigma"), observed=Y)
        step = ExactBinaryHMC()
    assert {v.name for v in step.vars} == {"gamma", "w", "unit", "sigma_log__"}
