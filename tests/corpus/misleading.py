"""Models that look like what is recognised and are not, or not everywhere."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions import transforms

from corpus.data import keeper, predictors_and_outcome, predictors_and_response

MODELS = {}
add = keeper(MODELS)


@add("binary: g")
def clipped_coefficients():
    X, y = predictors_and_response(201, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ pt.clip(g * w, -0.8, 0.8), 1.0, observed=y)
    return model


@add("binary: g")
def clip_far_away_on_predictor():
    X, y = predictors_and_response(202, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        pm.Normal("y", pt.clip(X @ (g * w), -4.0, 4.0), 1.0, observed=y)
    return model


@add("binary: g")
def relu_of_predictor():
    X, y = predictors_and_response(203, p=3)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0.3, 1, shape=3)
        pm.Normal("y", pt.maximum(X @ (g * w), 0.0), 1.0, observed=y)
    return model


@add("binary: g")
def sorted_gated_coefficients():
    X, y = predictors_and_response(204, p=3)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ pt.sort(g * w), 1.0, observed=y)
    return model


@add("binary: g")
def hard_thresholded_weights():
    X, y = predictors_and_response(205, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (g * w * (pt.abs(w) > 0.3)), 1.0, observed=y)
    return model


@add("binary: g")
def rounded_predictor_plus_line():
    X, y = predictors_and_response(206, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal(
            "y", 0.5 * pt.round(2 * w[0]) * g[0] * X[:, 0] + g[1] * w[1] * X[:, 1], 1.0, observed=y
        )
    return model


@add("sheared: g, w")
def column_chosen_by_categorical():
    X, y = predictors_and_response(207, p=3)
    with pm.Model() as model:
        col = pm.Categorical("col", p=[0.4, 0.3, 0.3])
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        Xt = pt.as_tensor_variable(X)
        pm.Normal("y", g[0] * w[0] * Xt[:, col] + g[1] * w[1] * X[:, 0], 1.0, observed=y)
    return model


@add("sheared: g, w")
def changepoint_discrete_uniform_with_gate():
    rng = np.random.default_rng(208)
    y = np.r_[np.zeros(4), np.full(4, 0.8)] + 0.8 * rng.normal(size=8)
    t = np.arange(8)
    with pm.Model() as model:
        tau = pm.DiscreteUniform("tau", 1, 6)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", g[0] * w[0] * (t >= tau) + g[1] * w[1] * (t - 3.5) / 4, 0.8, observed=y)
    return model


@add("sheared: g, w")
def power_from_poisson():
    x = np.linspace(0.2, 1.6, 8)
    y = 0.6 * x + 0.5 * np.random.default_rng(209).normal(size=8)
    with pm.Model() as model:
        k = pm.Poisson("k", 1.0)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal(
            "y",
            g[0] * w[0] * pt.as_tensor_variable(x) ** pt.minimum(k, 4) + g[1] * w[1],
            0.6,
            observed=y,
        )
    return model


@add("binary: g")
def weight_also_in_noise_scale():
    X, y = predictors_and_response(210, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.7, shape=2)
        pm.Normal("y", X @ (g * w), pt.exp(0.3 * w[0]), observed=y)
    return model


@add("binary: g")
def gated_weight_in_noise_scale_of_one_row():
    X, y = predictors_and_response(211, p=2)
    s = np.ones(12)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        sd = pt.set_subtensor(pt.as_tensor_variable(s)[7], 1.0 + pt.abs(g[1] * w[1]))
        pm.Normal("y", X @ (g * w), sd, observed=y)
    return model


@add("binary: g")
def exp_weight_in_one_row_only():
    X, y = predictors_and_response(212, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.8, shape=2)
        mu = X @ (g * w)
        mu = pt.set_subtensor(mu[0], pt.exp(g[0] * w[0]) - 1)
        pm.Normal("y", mu, 1.0, observed=y)
    return model


@add("general: g, w0, w1")
def prior_mean_is_another_weight():
    X, y = predictors_and_response(213, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w0 = pm.Normal("w0", 0, 1)
        w1 = pm.Normal("w1", w0, 0.5)
        pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], 1.0, observed=y)
    return model


@add("general: g, w0, w1")
def prior_mean_is_gated_weight():
    X, y = predictors_and_response(214, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w0 = pm.Normal("w0", 0.5, 1)
        w1 = pm.Normal("w1", 0.8 * g[0] * w0, 0.6)
        pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], 1.0, observed=y)
    return model


@add("general: g, w")
def prior_sd_from_other_indicator():
    X, y = predictors_and_response(215, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, pt.stack([1.0, 0.4 + 1.2 * g[0]]), shape=2)
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
    return model


@add("general: g, w1")
def prior_sd_from_other_weight():
    X, y = predictors_and_response(216, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w0 = pm.Normal("w0", 0, 1)
        w1 = pm.Normal("w1", 0, 0.3 + pt.abs(w0))
        pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], 1.0, observed=y)
    return model


@add("binary: g")
def upper_bound_is_another_weight():
    X, y = predictors_and_response(217, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w0 = pm.HalfNormal("w0", 1)
        w1 = pm.TruncatedNormal("w1", 0, 1, lower=0, upper=w0)
        pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], 1.0, observed=y)
    return model


@add("binary: g")
def lower_bound_from_indicator():
    X, y = predictors_and_response(218, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.TruncatedNormal("w", 0, 1, lower=-1.0 - g[::-1], upper=3.0, shape=2)
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
    return model


@add("general: a, b, w")
def one_weight_two_gates_two_likelihoods():
    X, y = predictors_and_response(219, n=8, p=2)
    y2 = np.random.default_rng(220).normal(0.3, 1, 8)
    with pm.Model() as model:
        a = pm.Bernoulli("a", 0.5, shape=2)
        b = pm.Bernoulli("b", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (a * w), 1.0, observed=y)
        pm.Normal("y2", X @ (b * w), 1.3, observed=y2)
    return model


@add("general: g, w")
def gate_and_noise_share_indicator():
    X, y = predictors_and_response(220, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        s = pm.HalfNormal("s", 1)
        pm.Normal("y", X @ (g * w), s * (1 + 0.5 * g[0]), observed=y)
    return model


@add("general: g, w")
def noise_from_model_size():
    X, y = predictors_and_response(221)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ (g * w), 1.5 / pt.sqrt(1.0 + pt.sum(g)), observed=y)
    return model


@add("general: g, w")
def gate_only_for_some_rows():
    X, y = predictors_and_response(222, p=2)
    late = np.arange(12) >= 6
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        eff = pt.where(late[:, None], (g * w)[None, :], w[None, :])
        pm.Normal("y", (X * eff).sum(1), 1.0, observed=y)
    return model


@add("binary: g")
def branch_on_the_data():
    X, y = predictors_and_response(223, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        eta = X @ (g * w)
        r = y - eta
        ll = pt.switch(y > 0, -0.5 * r**2, -pt.abs(r))
        pm.Potential("ll", ll.sum())
    return model


@add("binary: g")
def huber_potential_branch_on_residual():
    X, y = predictors_and_response(224, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        r = pt.as_tensor_variable(y) - pm.math.dot(X, g * w)
        pm.Potential("huber", -pt.switch(pt.abs(r) < 1.0, 0.5 * r**2, pt.abs(r) - 0.5).sum())
    return model


@add("general: g, w")
def integer_division_of_size():
    X, y = predictors_and_response(225, p=1, n=9)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=4)
        w = pm.Normal("w", 0.4, 0.8)
        pm.Normal("y", w * X[:, 0] * (g.sum() // 2) + 0.3 * (g.sum() % 2), 1.0, observed=y)
    return model


@add("general: a, b, w")
def xor_gate():
    X, y = predictors_and_response(226, p=2)
    with pm.Model() as model:
        a = pm.Bernoulli("a", 0.5, shape=2)
        b = pm.Bernoulli("b", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (pt.neq(a, b) * w), 1.0, observed=y)
    return model


@add("general: a, b, c, w")
def or_and_gates_bool():
    X, y = predictors_and_response(227, p=2)
    with pm.Model() as model:
        a = pm.Bernoulli("a", 0.4)
        b = pm.Bernoulli("b", 0.4)
        c = pm.Bernoulli("c", 0.6)
        w = pm.Normal("w", 0, 1, shape=2)
        either = pt.or_(pt.eq(a, 1), pt.eq(b, 1))
        both = pt.and_(pt.eq(b, 1), pt.eq(c, 0))
        pm.Normal("y", either * w[0] * X[:, 0] + both * w[1] * X[:, 1], 1.0, observed=y)
    return model


@add("binary: g")
def weak_threshold_potential():
    X, y = predictors_and_response(228, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
        pm.Potential("mild", pt.switch(w > 0.0, 0.0, -0.7).sum())
    return model


@add("binary: g")
def disjunction_constraint():
    X, y = predictors_and_response(229, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2, initval=np.array([1.0, 0.2]))
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
        pm.Potential("outside", pt.switch((w[0] > 0.5) | (w[0] < -0.5), 0.0, -np.inf))
    return model


@add("binary: g")
def user_interval_transform_on_normal():
    X, y = predictors_and_response(230, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2, transform=transforms.Interval(-1.0, 1.5))
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
    return model


@add("binary: g")
def halfnormal_without_transform_and_log_normal_twist():
    X, y = predictors_and_response(231, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w0 = pm.HalfNormal("w0", 1, default_transform=None)
        w1 = pm.Normal("w1", 0.5, 1, transform=transforms.log)
        pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], 1.0, observed=y)
    return model


@add("binary: g")
def truncated_cauchy_and_laplace_weights():
    X, y = predictors_and_response(232, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w0 = pm.Truncated("w0", pm.Laplace.dist(0, 0.8), lower=-0.5, upper=2.0, initval=0.5)
        w1 = pm.Truncated("w1", pm.Cauchy.dist(0, 0.5), lower=0.0, upper=3.0, initval=0.7)
        pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], 1.0, observed=y)
    return model


@add("binary: g")
def censored_laplace_not_normal():
    X, y = predictors_and_response(233, p=2)
    y = np.maximum(y, -0.3)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Censored("y", pm.Laplace.dist(X @ (g * w), 1.0), lower=-0.3, upper=None, observed=y)
    return model


@add("sheared: g, w, tau_log__")
def hyperparameter_in_slab_and_inclusion():
    X, y = predictors_and_response(234)
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1)
        g = pm.Bernoulli("g", tau / (1 + tau), shape=3)
        w = pm.Normal("w", 0, tau, shape=3)
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
    return model


@add("general: g, w")
def zellner_g_prior():
    X, y = predictors_and_response(235)
    V = np.linalg.inv(X.T @ X)
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 1.5)
        gpar = pm.InverseGamma("gpar", 2, 12)
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.MvNormal("w", mu=np.zeros(3), cov=gpar * sigma**2 * V, shape=3)
        pm.Normal("y", X @ (g * w), sigma, observed=y)
    return model


@add("sheared: g, w0, w1, sigma_log__")
def conjugate_scale_and_nonscale_weight():
    X, y = predictors_and_response(236, p=2)
    with pm.Model() as model:
        sigma = pm.InverseGamma("sigma", 3, 2)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w0 = pm.Normal("w0", 0, sigma * 1.5)
        w1 = pm.Normal("w1", 0.3 * sigma, 1.0)
        pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], sigma, observed=y)
    return model


@add("sheared: g0, g1, g2, w")
def bernoulli_chain_with_zero_and_one():
    X, y = predictors_and_response(237)
    with pm.Model() as model:
        g0 = pm.Bernoulli("g0", 0.5, initval=1)
        g1 = pm.Bernoulli("g1", 0.7 * g0, initval=1)
        g2 = pm.Bernoulli("g2", pt.switch(g1, 1.0, 0.3), initval=1)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ (pt.stack([g0, g1, g2]) * w), 1.0, observed=y)
    return model


@add("sheared: g, w, s_log__")
def certain_and_impossible_inclusion():
    X, y = predictors_and_response(238, p=4)
    with pm.Model() as model:
        g = pm.Bernoulli("g", p=np.array([1.0, 0.0, 0.5, 0.4]), initval=np.array([1, 0, 1, 0]))
        w = pm.Normal("w", 0, 1, shape=4)
        s = pm.HalfNormal("s", 1)
        pm.Normal("y", X @ (g * w), s, observed=y)
    return model


@add("binary: g")
def bilinear_and_squared_weights():
    X, y = predictors_and_response(239)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0.5, 0.8, shape=3)
        mu = g[0] * w[0] * X[:, 0] + g[1] * w[1] * w[0] * X[:, 1] + g[2] * w[2] ** 2 * X[:, 2]
        pm.Normal("y", mu, 1.0, observed=y)
    return model


@add("binary: g")
def lapse_rate_around_logit():
    X, y = predictors_and_outcome(240, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1.2, shape=2)
        pm.Bernoulli("y", p=0.03 + 0.94 * pm.math.sigmoid(X @ (g * w)), observed=y)
    return model


@add("binary: g")
def cloglog_and_rescaled_links():
    X, y = predictors_and_outcome(241, p=2)
    X2, y2 = predictors_and_outcome(242, n=8, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.8, shape=2)
        pm.Bernoulli("y", p=1 - pt.exp(-pt.exp(X @ (g * w) - 0.4)), observed=y)
        pm.Bernoulli("y2", p=0.5 * (1 + pt.tanh(X2 @ (g * w))), observed=y2)
    return model


@add("binary: g, steep")
def probit_without_sqrt_two_and_gate_in_slope():
    X, y = predictors_and_outcome(243, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        steep = pm.Bernoulli("steep", 0.4)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Bernoulli("y", p=0.5 * (1 + pt.erf((1 + steep) * (X @ (g * w)))), observed=y)
    return model


@add("binary: g")
def negbin_softplus_and_gated_dispersion():
    rng = np.random.default_rng(244)
    X = rng.normal(size=(9, 2))
    c = rng.poisson(1.5, 9)
    d = rng.poisson(1.5, 9)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.8, shape=2)
        eta = 0.4 + X @ (g * w)
        pm.NegativeBinomial("c", mu=pt.softplus(eta), alpha=2.0, observed=c)
        pm.NegativeBinomial("d", mu=pt.exp(eta), alpha=1.5 + 2.0 * g[0], observed=d)
    return model


@add("binary: g, heavy")
def studentt_nu_from_indicator():
    X, y = predictors_and_response(245, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        heavy = pm.Bernoulli("heavy", 0.5)
        w = pm.Normal("w", 0, 1, shape=2)
        s = pm.HalfNormal("s", 1)
        pm.StudentT("y", nu=pt.switch(heavy, 2.5, 30.0), mu=X @ (g * w), sigma=s, observed=y)
    return model


@add("sheared: g, w")
def not_quite_binary_gates():
    X, y = predictors_and_response(246)
    with pm.Model() as model:
        dose = pm.Binomial("dose", n=2, p=0.4)
        side = pm.DiscreteUniform("side", 1, 2)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.8, shape=3)
        mu = dose * w[0] * X[:, 0] + (side - 1) * g[0] * w[1] * X[:, 1] + g[1] * w[2] * X[:, 2]
        pm.Normal("y", mu, 1.0, observed=y)
    return model


@add("general: g, w")
def gates_that_do_not_reach_zero():
    X, y = predictors_and_response(247)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0, 0.7, shape=3)
        mult = pt.stack([2.0 ** g[0], 1.0 / (1.0 + g[1]), 0.5 - g[2]])
        pm.Normal("y", X @ (mult * w), 1.0, observed=y)
    return model


@add("general: g, linked, w")
def slab_covariance_from_indicators():
    X, y = predictors_and_response(248, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        linked = pm.Bernoulli("linked", 0.5)
        rho = 0.8 * linked
        cov = pt.stack([pt.stack([1.0, rho]), pt.stack([rho, 1.0])])
        w = pm.MvNormal("w", mu=np.zeros(2), cov=cov, shape=2)
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
    return model


@add("binary: g")
def cumulative_product_gates_and_argmax():
    X, y = predictors_and_response(249)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.6, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        best = pt.argmax(w)
        mu = X @ (pt.cumprod(g) * w) + 0.4 * g[best]
        pm.Normal("y", mu, 1.0, observed=y)
    return model


@add("binary: g")
def mixture_with_gated_component_mean():
    X, y = predictors_and_response(250, n=9, p=2)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        eta = X @ (g * w)
        comps = [pm.Normal.dist(eta, 0.8), pm.Normal.dist(0.0, 2.5)]
        pm.Mixture("y", w=np.array([0.8, 0.2]), comp_dists=comps, observed=y)
    return model


@add("general: g, w1, y_unobserved")
def imputed_values_reused_and_weight_as_slab():
    X, y = predictors_and_response(251, n=9, p=2)
    y[4] = np.nan
    v = np.random.default_rng(252).normal(0.2, 1, 4)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w0 = pm.HalfNormal("w0", 1)
        w1 = pm.Normal("w1", 0, 0.2 + w0)
        yy = pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], 1.0, observed=y)
        pm.Normal("v", g[0] * yy[4] * np.array([0.5, -0.2, 0.3, 0.1]), 1.0, observed=v)
    return model
