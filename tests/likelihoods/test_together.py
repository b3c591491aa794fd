"""Several likelihoods, unknown scales, intercepts, groups and every kernel, with latents."""

import numpy as np
import pymc as pm
import pytest
from scipy import special, stats
from step.regressions import bernoulli
from support.significance import assert_holds, batch_pvalues
from support.speed import slow_but

from likelihoods.families import (
    BINARY,
    CUT,
    FAMILIES,
    REAL,
    SUCCESSES,
    TRIALS,
    UNBOUNDED,
    D,
    N,
    P,
    X,
    exact,
    make_model,
    natural,
    run,
)
from likelihoods.quadrature import posterior
from likelihoods.test_families import compare

SEED = 11


@pytest.mark.parametrize("truncated", slow_but([False], [False, True]))
def test_likelihoods_of_different_families_share_weights(truncated):
    """A Gaussian, a binary, a heavy-tailed and a censored outcome of the same two weights."""
    Z = np.random.default_rng(3).normal(size=(N, D))
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        w = pm.HalfNormal("w", 1.2, shape=D) if truncated else pm.Normal("w", 0, 1.2, shape=D)
        beta = gamma * w
        pm.Normal("a", Z @ beta, 1.5, observed=REAL)
        pm.Bernoulli("b", logit_p=X @ beta, observed=BINARY)
        pm.StudentT("c", nu=3, mu=X @ beta, sigma=2.0, observed=REAL)
        pm.Bernoulli("d", p=pm.math.invprobit(Z @ beta), observed=BINARY)
        pm.Censored("e", pm.Normal.dist(X @ beta, 2.0), lower=-0.6, upper=0.9, observed=CUT)

    def log_likelihood(eta):
        x, z = eta[:, :N], eta[:, N:]
        signs = np.where(BINARY == 1, 1, -1)
        low, high = special.log_ndtr((-0.6 - x) / 2), special.log_ndtr((x - 0.9) / 2)
        cut = np.where(CUT <= -0.6, low, np.where(CUT >= 0.9, high, stats.norm.logpdf(CUT, x, 2)))
        rows = stats.norm.logpdf(REAL, z, 1.5) + special.log_expit(signs * x)
        rows += stats.t.logpdf(REAL, 3, x, 2.0) + special.log_ndtr(signs * z) + cut
        return rows.sum(axis=-1)

    law = UNBOUNDED | {"sd": 1.2, "lower": 0.0 if truncated else -np.inf}
    both = np.concatenate([X, Z])
    answer = posterior(log_likelihood, both, range(D), log_prior=bernoulli(P), **law)
    s, points = run(model, 9000, seed=SEED)
    w = natural(model, points).reshape(-1, D)
    assert_holds(*compare(s, w, answer), seed=SEED)


@pytest.mark.parametrize("family", slow_but(["censored"], ["logit", "student", "censored"]))
@pytest.mark.parametrize("slab", ["normal", "half-normal"])
def test_papers_kernel(family, slab):
    """Given the latents the paper's own kernel moves indicators and weights."""
    model = make_model(family, slab)
    s, points = run(model, 15_000, seed=SEED, kernel="paper")
    w = natural(model, points).reshape(-1, D)
    assert_holds(*compare(s, w, exact(family, slab, posterior)), seed=SEED)


@pytest.mark.slow
@pytest.mark.parametrize("augmentation", ["exponential", "box"])
def test_other_augmentations(augmentation):
    """Untruncated weights are integrated out given the latents, over any augmentation."""
    model = make_model("logit", "normal")
    s, points = run(model, 9000, seed=SEED, augmentation=augmentation)
    w = natural(model, points).reshape(-1, D)
    assert_holds(*compare(s, w, exact("logit", "normal", posterior)), seed=SEED)


@pytest.mark.parametrize("family", slow_but(["logit"], ["probit", "logit"]))
def test_intercept_and_group(family):
    """Three weights: two that come and go together and one that is always on."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P)
        w = pm.Normal("w", 0, 1.5, shape=D)
        intercept = pm.Normal("intercept", 0.5, 1.0)
        FAMILIES[family][0](intercept + X @ (gamma * w))
    columns = np.column_stack([X, np.ones(N)])
    law = UNBOUNDED | {"mean": [0, 0, 0.5], "sd": [1.5, 1.5, 1.0]}
    answer = posterior(
        lambda eta: FAMILIES[family][1](eta).sum(-1), columns, [0, 0, -1],
        log_prior=bernoulli(P), **law,
    )  # fmt: skip
    s, points = run(model, 9000, seed=SEED)
    w = np.column_stack([natural(model, points), natural(model, points, "intercept")])
    on = np.column_stack([s, s, np.ones(len(s))]) * w
    states, p, first, second = answer
    found = np.column_stack([s, on, on * w])
    wanted = np.concatenate([p @ states, first, second])
    assert_holds(*batch_pvalues(found, wanted), seed=SEED)


def scale_posterior(log_rows, log_prior_of_scale, scales):
    """Inclusion probabilities and mean log scale, by quadrature over a grid of scales too."""
    total, inclusion, mean = [], [], []
    for scale in scales:
        law = UNBOUNDED | {"sd": 1.5}

        def log_likelihood(eta, scale=scale):
            return log_rows(eta, scale).sum(axis=-1)

        states, p, _, _, evidence = posterior(
            log_likelihood, X, range(D), log_prior=bernoulli(P), evidence=True, **law
        )
        total.append(evidence + log_prior_of_scale(scale))
        inclusion.append(p @ states)
        mean.append(np.log(scale))
    weight = np.exp(np.array(total) - max(total)) * np.gradient(scales)
    weight /= weight.sum()
    return weight @ np.array(inclusion), weight @ np.array(mean)


SCALED = {
    "student": (
        lambda eta, sigma: pm.StudentT("y", nu=3.0, mu=eta, sigma=sigma, observed=REAL),
        lambda eta, sigma: stats.t.logpdf(REAL, 3.0, eta, sigma),
    ),
    "laplace": (
        lambda eta, sigma: pm.Laplace("y", eta, sigma, observed=REAL),
        lambda eta, sigma: stats.laplace.logpdf(REAL, eta, sigma),
    ),
    "censored": (
        lambda eta, sigma: pm.Censored(
            "y", pm.Normal.dist(eta, sigma), lower=-0.6, upper=0.9, observed=CUT
        ),
        lambda eta, sigma: np.where(
            CUT <= -0.6,
            special.log_ndtr((-0.6 - eta) / sigma),
            np.where(
                CUT >= 0.9,
                special.log_ndtr((eta - 0.9) / sigma),
                stats.norm.logpdf(CUT, eta, sigma),
            ),
        ),
    ),
}


@pytest.mark.parametrize("family", slow_but(["student"], SCALED))
def test_noise_scale_is_moved_given_the_latents(family):
    """An unknown scale is sampled inside the step; its law is that of the marginal model."""
    make, log_rows = SCALED[family]
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        sigma = pm.LogNormal("sigma", 0.0, 0.5)
        make(X @ (gamma * pm.Normal("w", 0, 1.5, shape=D)), sigma)
    s, points = run(model, 9000, seed=SEED)
    assert len({float(p["sigma_log__"]) for p in points}) > 1000
    log_sigma = np.array([p["sigma_log__"] for p in points])
    scales = np.exp(np.linspace(-1.8, 2.0, 60))
    prior = stats.lognorm(0.5).logpdf
    inclusion, mean = scale_posterior(log_rows, prior, scales)
    found = np.column_stack([s, log_sigma])
    assert_holds(*batch_pvalues(found, np.append(inclusion, mean)), seed=SEED)


@pytest.mark.slow
def test_slab_scale_and_inclusion_probability_of_a_binary_outcome():
    """Hyperparameters of the prior are moved given the latents; NUTS is left with nothing."""
    with pm.Model() as model:
        a = pm.Beta("a", 2, 2)
        tau = pm.LogNormal("tau", 0.0, 0.5)
        gamma = pm.Bernoulli("gamma", a, shape=D)
        w = pm.Normal("w", 0, tau, shape=D)
        pm.Binomial("y", TRIALS, logit_p=X @ (gamma * w), observed=SUCCESSES)
    taus = np.exp(np.linspace(-2.2, 2.2, 45))
    total, inclusion = [], []
    for tau in taus:
        law = UNBOUNDED | {"sd": tau}
        # Beta(2, 2) integrated out: B(2 + k, 2 + D − k)/B(2, 2).
        states, p, _, _, evidence = posterior(
            lambda eta: stats.binom.logpmf(SUCCESSES, TRIALS, special.expit(eta)).sum(-1),
            X, range(D), evidence=True,
            log_prior=lambda s: special.betaln(2 + s.sum(), 2 + D - s.sum()), **law,
        )  # fmt: skip
        total.append(evidence + stats.lognorm(0.5).logpdf(tau))
        inclusion.append(np.append(p @ states, p @ ((2 + states.sum(1)) / (4 + D))))
    weight = np.exp(np.array(total) - max(total)) * np.gradient(taus)
    weight /= weight.sum()
    wanted = np.append(weight @ np.array(inclusion), weight @ np.log(taus))
    s, points = run(model, 9000, seed=SEED)
    a = special.expit([p["a_logodds__"] for p in points])
    log_tau = np.array([p["tau_log__"] for p in points])
    assert_holds(*batch_pvalues(np.column_stack([s, a, log_tau]), wanted), seed=SEED)


@pytest.mark.parametrize("kernel", slow_but(["sheared"], ["sheared", "paper"]))
def test_scales_and_weights_belong_together(kernel):
    """E[τ-dependent moments of w] are exact also if a short trajectory hardly moves w."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8, 2))
    y = x @ [1.0, 0.5] + rng.normal(size=8)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.5, shape=2)
        tau = pm.LogNormal("tau", 0.0, 1.0)
        pm.Normal("y", x @ (gamma * pm.Normal("w", 0, tau, shape=2)), 1.0, observed=y)
    log_taus = np.linspace(-4.5, 4.5, 46)
    total, moments = [], []
    for log_tau in log_taus:
        _, _, _, second, evidence = posterior(
            lambda eta: stats.norm.logpdf(y, eta, 1.0).sum(-1), x, range(2), evidence=True,
            log_prior=bernoulli(0.5), **(UNBOUNDED | {"sd": np.exp(log_tau)}),
        )  # fmt: skip
        total.append(evidence + stats.norm.logpdf(log_tau))
        moments.append(np.append(log_tau * second, log_tau))
    weight = np.exp(np.array(total) - max(total))
    wanted = weight @ np.array(moments) / weight.sum()
    s, points = run(model, 20_000, seed=SEED, kernel=kernel, travel_time=0.9)
    log_tau = np.array([p["tau_log__"] for p in points])[:, None]
    on = s * np.array([p["w"] for p in points]) ** 2
    assert_holds(*batch_pvalues(np.column_stack([log_tau * on, log_tau]), wanted), seed=SEED)
