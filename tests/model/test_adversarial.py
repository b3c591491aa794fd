"""Models made up to mislead: each is sampled exactly, or left to other steps with a reason."""

import warnings

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from fuzz.check import STARTS, judge_model
from support.speed import slow_but

RNG = np.random.default_rng(11)
X = RNG.normal(size=(5, 2))
Y = X[:, 0] + 0.7 * RNG.normal(size=5)
MODELS = {}


def adversarial(build):
    MODELS[build.__name__] = build
    return build


def gates(n=2, p=0.4):
    return pm.Bernoulli("gamma", p, shape=n)


@adversarial
def bound_that_is_random():
    tau = pm.LogNormal("tau", 0.0, 0.5)
    w = pm.TruncatedNormal("w", 0.0, 1.5, lower=tau, shape=2)
    pm.Normal("y", X @ (gates() * w), 0.8, observed=Y)


@adversarial
def a_slab_with_a_normal_scale():
    tau = pm.Normal("tau", 0.5, 1.0, initval=0.5)
    pm.Normal("y", X @ (gates() * pm.Normal("w", 0, tau, shape=2)), 1.0, observed=Y)


@adversarial
def half_slabs_and_noise_with_normal_scales():
    tau, sigma = pm.Normal("tau", 0.3, 1.0, initval=0.5), pm.Normal("sigma", 0.5, 1.0, initval=1.0)
    pm.Normal("y", X @ (gates() * pm.HalfNormal("w", tau, shape=2)), sigma, observed=Y)


@adversarial
def bounds_on_both_sides_that_are_random():
    tau = pm.LogNormal("tau", 0.0, 0.4)
    w = pm.TruncatedNormal("w", 0.2, tau, lower=-tau, upper=2 * tau, shape=2)
    pm.Normal("y", X @ (gates() * w), 0.8, observed=Y)


@adversarial
def a_unit_for_each_group():
    tau = pm.LogNormal("tau", 0.0, 0.4, shape=2)
    u = pm.Normal("u", 0, 1, shape=3)
    columns = np.column_stack([X, X[:, 0] ** 2])
    w = tau[np.array([0, 1, 1])] * u
    pm.Normal("y", columns @ (gates()[np.array([0, 1, 1])] * w), 0.8, observed=Y)


@adversarial
def a_scale_in_slab_and_noise():
    tau = pm.LogNormal("tau", 0.0, 0.4)
    w = pm.Normal("w", 0, tau, shape=2)
    pm.Normal("y", X @ (gates() * w), 0.5 * tau + 0.3, observed=Y)


@adversarial
def a_scale_in_slab_and_mean():
    tau = pm.LogNormal("tau", 0.0, 0.4)
    w = pm.Normal("w", tau, tau, shape=2)
    pm.Normal("y", X @ (gates() * w), 0.8, observed=Y)


@adversarial
def a_scale_as_unit_and_noise():
    tau = pm.LogNormal("tau", 0.0, 0.4)
    u = pm.HalfNormal("u", 1, shape=2)
    pm.Normal("y", X @ (gates() * tau * u), tau, observed=Y)


@adversarial
def a_matrix_of_responses():
    B = pm.Normal("B", 0, 1.2, shape=(2, 2))
    pm.Normal("y", X @ (gates()[:, None] * B), 0.8, observed=np.column_stack([Y, -Y[::-1]]))


@adversarial
def a_matrix_of_gates():
    gamma = pm.Bernoulli("gamma", 0.4, shape=(2, 2))
    B = pm.Normal("B", 0, 1.2, shape=(2, 2))
    noise = np.array([0.6, 1.1])
    pm.Normal("y", X @ (gamma * B), noise, observed=np.column_stack([Y, -Y[::-1]]))


@adversarial
def two_gates_in_two_likelihoods():
    gamma, w = gates(), pm.Normal("w", 0, 1.5, shape=2)
    pm.Normal("y", X[:, 0] * gamma[0] * w[0], 0.8, observed=Y)
    pm.Normal("z", X[:, 1] * gamma[1] * w[0], 0.8, observed=-Y)
    pm.Normal("v", w[1], 1.0, observed=0.3)


@adversarial
def gates_shared_by_two_likelihoods():
    gamma, w, v = gates(), pm.Normal("w", 0, 1.5, shape=2), pm.HalfNormal("v", 1.0, shape=2)
    pm.Normal("y", X @ (gamma * w), pm.LogNormal("sigma", 0, 0.4), observed=Y)
    pm.Normal("z", X @ (gamma * v), 0.8, observed=Y[::-1])


@adversarial
def truncated_by_pm_truncated():
    w = pm.Truncated("w", pm.Normal.dist(0.2, 1.0), lower=-0.4, upper=1.5, shape=2)
    pm.Normal("y", X @ (gates() * w), 0.8, observed=Y)


@adversarial
def noise_of_a_multivariate_response_is_random():
    w = pm.Normal("w", 0, 1.2, shape=2)
    scale = pm.LogNormal("scale", 0, 0.4)
    K = np.exp(-np.abs(np.subtract.outer(np.arange(5), np.arange(5))))
    pm.MvNormal("y", X @ (gates() * w), scale**2 * K, observed=Y)


@adversarial
def correlation_of_a_multivariate_response_is_random():
    w, rho = pm.Normal("w", 0, 1.2, shape=2), pm.Uniform("rho", 0.1, 0.9)
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    pm.MvNormal("y", X @ (gates() * w), rho**distance, observed=Y)


@adversarial
def a_covariance_that_changes_beside_a_slab_scale():
    rho, s, tau = pm.Uniform("rho", 0.1, 0.9), pm.HalfNormal("s", 1), pm.LogNormal("tau", 0, 0.5)
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    mean = X @ (gates() * pm.Normal("w", 0, tau, shape=2))
    pm.MvNormal("y", mean, rho**distance + s**2 * np.eye(5), observed=Y)


@adversarial
def scaled_columns():
    w = pm.HalfNormal("w", 1.2, shape=2)
    pm.Normal("y", (X * gates()) @ w, 0.8, observed=Y)


@adversarial
def an_indicator_that_is_a_gate_and_a_cause():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    pm.Normal("y", X @ (gamma * w), 0.8, observed=Y)
    pm.Poisson("count", 0.5 + 2.0 * gamma[0], observed=np.array([1, 3]))
    pm.Bernoulli("seen", 0.2 + 0.6 * gamma[0] * gamma[1], observed=1)


@adversarial
def an_indicator_in_the_noise_of_another():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    pm.Normal("y", X @ (gamma * w), 0.8, observed=Y)
    pm.Normal("z", 0.0, 0.5 + gamma[1], observed=np.array([1.0, -0.4]))


@adversarial
def a_weight_that_is_a_parameter_too():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    pm.Normal("y", X @ (gamma * w), 0.8, observed=Y)
    v = pm.Normal("v", w[0], 0.7)
    pm.Normal("z", v, 0.5, observed=0.6)


@adversarial
def a_weight_that_is_a_scale_too():
    gamma, w = gates(), pm.HalfNormal("w", 1.2, shape=2)
    pm.Normal("y", X @ (gamma * w), 0.8, observed=Y)
    pm.Normal("z", 0.0, 0.5 + w[0], observed=0.6)


@adversarial
def gates_partly_observed():
    gamma = pm.Bernoulli("gamma", 0.4, observed=np.ma.masked_values([1, -1, -1], -1))
    w = pm.Normal("w", 0, 1.2, shape=3)
    pm.Normal("y", np.column_stack([X, X[:, 0] * X[:, 1]]) @ (gamma * w), 0.8, observed=Y)


@adversarial
def weights_partly_observed():
    w = pm.Normal("w", 0.2, 1.2, observed=np.ma.masked_invalid([np.nan, 0.7]))
    pm.Normal("y", X @ (gates() * w), 0.8, observed=Y)


@adversarial
def a_gate_with_random_odds_of_a_weight():
    w = pm.Normal("w", 0, 1.2, shape=2)
    gamma = pm.Bernoulli("gamma", pm.math.sigmoid(w))
    pm.Normal("y", X @ (gamma * w), 0.8, observed=Y)


@adversarial
def a_gate_of_a_gate():
    outer = pm.Bernoulli("outer", 0.6)
    gamma = pm.Bernoulli("gamma", 0.1 + 0.7 * outer, shape=2)
    w = pm.Normal("w", 0, 1.2, shape=2)
    pm.Normal("y", X @ (outer * gamma * w), 0.8, observed=Y)


@adversarial
def a_slab_chosen_by_another_indicator():
    wide = pm.Bernoulli("wide", 0.5)
    w = pm.Normal("w", 0, pt.switch(wide, 2.0, 0.4), shape=2)
    pm.Normal("y", X @ (gates() * w), 0.8, observed=Y)


@adversarial
def a_probability_that_is_a_scale_too():
    a = pm.Beta("a", 2, 2)
    w = pm.Normal("w", 0, 0.5 + a, shape=2)
    pm.Normal("y", X @ (pm.Bernoulli("gamma", a, shape=2) * w), 0.8, observed=Y)


@adversarial
def a_scale_with_a_potential():
    tau = pm.LogNormal("tau", 0, 0.5)
    pm.Potential("pull", -((tau - 1.0) ** 2))
    w = pm.Normal("w", 0, tau, shape=2)
    pm.Normal("y", X @ (gates() * w), 0.8, observed=Y)


@adversarial
def a_potential_of_scale_and_indicators():
    tau, gamma = pm.LogNormal("tau", 0, 0.5), gates()
    pm.Potential("pull", -tau * gamma.sum())
    w = pm.HalfNormal("w", tau, shape=2)
    pm.Normal("y", X @ (gamma * w), 0.8, observed=Y)


@adversarial
def a_jump_far_away():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    mean = X @ (gamma * w)
    pm.Normal("y", mean + pt.switch(w[0] > 1.0, 1.0, 0.0), 0.8, observed=Y)


@adversarial
def a_noise_that_switches_with_a_scale():
    sigma = pm.LogNormal("sigma", 0, 0.5)
    w = pm.Normal("w", 0, pt.switch(sigma > 1.0, 0.5, 2.0), shape=2)
    pm.Normal("y", X @ (gates() * w), sigma, observed=Y)


@adversarial
def data_of_unequal_lengths_in_one_vector():
    gamma, w = gates(), pm.HalfNormal("w", 1.2, shape=2)
    mean = pt.concatenate([X[:2, 0] * gamma[0] * w[0], X[2:, 1] * gamma[1] * w[1]])
    pm.Normal("y", mean, np.array([0.5, 0.6, 0.7, 0.8, 0.9]), observed=Y)


@adversarial
def a_cap_on_the_number_of_weights():
    gamma, w = gates(), pm.HalfNormal("w", pm.LogNormal("tau", 0, 0.4), shape=2)
    pm.Potential("cap", pt.switch(gamma.sum() <= 1, 0.0, -np.inf))
    pm.Normal("y", X @ (gamma * w), 0.8, observed=Y)


@adversarial
def a_cut_of_the_scale():
    tau = pm.LogNormal("tau", 0, 0.5)
    pm.Potential("cut", pt.switch(tau < 1.5, 0.0, -np.inf))
    w = pm.Normal("w", 0, tau, shape=2)
    pm.Normal("y", X @ (gates() * w), 0.8, observed=Y)


@adversarial
def student_with_random_scale_and_freedom():
    nu, sigma = pm.Gamma("nu", 4, 1), pm.LogNormal("sigma", -0.3, 0.4)
    w = pm.HalfNormal("w", 1.2, shape=2)
    pm.StudentT("y", nu + 1, mu=X @ (gates() * w), sigma=sigma, observed=Y)


@adversarial
def censored_and_counted():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    mean = X @ (gamma * w)
    pm.Censored("y", pm.Normal.dist(mean, 0.8), lower=None, upper=0.5, observed=np.minimum(Y, 0.5))
    pm.Binomial("k", 4, pm.math.sigmoid(mean), observed=np.array([1, 2, 4, 0, 3]))


@adversarial
def a_constraint_and_a_noise_that_is_random():
    sigma = pm.LogNormal("sigma", -0.2, 0.4)
    weights = gates() * pm.Normal("w", 0, 1.2, shape=2)
    pm.Potential("cap", pt.switch(weights.sum() <= 1.0, 0, -np.inf))
    pm.Normal("y", X @ weights, sigma, observed=Y)


@adversarial
def a_unit_around_a_switch():
    tau, u = pm.LogNormal("tau", 0.0, 0.4), pm.Normal("u", 0, 1, shape=2)
    pm.Normal("y", X @ (tau * pt.switch(gates(), u, 0.0)), 0.8, observed=Y)


@adversarial
def a_unit_around_a_switch_to_a_number():
    tau, u = pm.LogNormal("tau", 0.0, 0.4), pm.Normal("u", 0, 1, shape=2)
    pm.Normal("y", X @ (tau * pt.switch(gates(), u, 0.6)), 0.8, observed=Y)


@adversarial
def two_noises_that_are_random():
    w = gates() * pm.Normal("w", 0, 1.2, shape=2)
    pm.Normal("y", X @ w, pm.LogNormal("sigma", 0, 0.4), observed=Y)
    pm.Normal("z", X[:3] @ w[::-1], pm.LogNormal("rho", 0, 0.5), observed=Y[2:])


@adversarial
def a_constraint_without_indicators_and_a_noise_that_is_random():
    w = pm.Normal("w", 0, 1.2, shape=2)
    pm.Potential("cap", pt.switch(w.sum() <= 0.8, 0, -np.inf))
    pm.Normal("y", X @ w, pm.LogNormal("sigma", -0.3, 0.5), observed=Y)


@adversarial
def a_constraint_that_is_random():
    w, cap = pm.Normal("w", 0, 1.2, shape=2), pm.Gamma("cap", 3, 3)
    pm.Potential("below", pt.switch(w.sum() <= cap, 0, -np.inf))
    pm.Normal("y", X @ w, 0.8, observed=Y)


@adversarial
def an_indicator_apart_that_is_divided():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    pm.Normal("y", (X @ (gamma * w) + 0.7 * gamma[0] * X[:, 0]) / 1.5, 0.8, observed=Y)


@adversarial
def an_indicator_apart_in_a_switch():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    pm.Normal("y", X @ (gamma * w + pt.switch(gamma, 0.7, 0.0)), 0.8, observed=Y)


@adversarial
def an_indicator_apart_times_a_variable_that_starts_at_zero():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    b = pm.Laplace("b", 0, 1)
    pm.Normal("y", X @ (gamma * w) + b * gamma[0], 0.8, observed=Y)


@adversarial
def weights_chosen_by_an_index():
    gamma, w = gates(), pm.Normal("w", 0, 1.2, shape=2)
    chosen = pt.stack([pt.zeros(2), w])[gamma.astype("int64"), np.arange(2)]
    pm.Normal("y", X @ chosen, 0.8, observed=Y)


@adversarial
def jumps_and_an_inclusion_probability():
    """Jumps move the indicators before the probability is moved given them."""
    gamma = pm.Bernoulli("gamma", pm.Beta("p", 1, 2), shape=2)
    w = pm.Normal("w", 0, 1.5, shape=2)
    pm.Bernoulli("y", logit_p=X @ (gamma * w), observed=np.array([1, 0, 1, 1, 0]))


@adversarial
def jumps_and_a_scale_of_the_slabs():
    w = pm.Normal("w", 0, pm.LogNormal("tau", 0.3, 0.5), shape=2)
    pm.Bernoulli("y", pm.math.invprobit(X @ (gates() * w)), observed=np.array([1, 0, 1, 1, 0]))


@adversarial
def several_trajectories_and_an_inclusion_probability():
    gamma = pm.Bernoulli("gamma", pm.Beta("p", 1, 1), shape=2)
    pm.Normal("y", X @ (gamma * pm.Normal("w", 0, 1.2, shape=2)), 0.8, observed=Y)


@adversarial
def several_trajectories_in_a_fence_and_an_inclusion_probability():
    gamma = pm.Bernoulli("gamma", pm.Beta("p", 1, 1), shape=2)
    w = pm.Normal("w", 0, 1.5, shape=2)
    pm.Potential("c", pt.switch((gamma * w).sum() <= 1, 0.0, -np.inf))
    pm.Normal("y", X @ (gamma * w), 0.8, observed=Y)


@adversarial
def several_trajectories_of_switched_slabs_and_an_inclusion_probability():
    gamma = pm.Bernoulli("gamma", pm.Beta("p", 1, 1), shape=2)
    w = pm.Normal("w", 0, pt.switch(gamma, 1.5, 0.1), shape=2)
    pm.Normal("y", X @ w, 0.8, observed=Y)


FAST = (
    "weights_chosen_by_an_index",
    "a_constraint_without_indicators_and_a_noise_that_is_random",
    "a_constraint_and_a_noise_that_is_random",
    "bound_that_is_random",
    "gates_partly_observed",
    "noise_of_a_multivariate_response_is_random",
    "correlation_of_a_multivariate_response_is_random",
    "a_covariance_that_changes_beside_a_slab_scale",
)
OPTIONS = {
    **{name: {"trajectories": 7} for name in MODELS if name.startswith("several_trajectories")},
    "a_unit_for_each_group": {"augmentation": "box"},
    "gates_shared_by_two_likelihoods": {"augmentation": "exponential"},
    "a_scale_in_slab_and_noise": {"augmentation": "box"},
    "a_matrix_of_gates": {"kernel": "paper"},
}


@pytest.mark.parametrize("name", slow_but(FAST, MODELS))
def test_is_sampled_exactly(name):
    """From exact starts the chain keeps the posterior that follows from the model's log-density."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pm.Model() as model:
            MODELS[name]()
        starts = 4000 if name.startswith(("jumps", "several_trajectories")) else STARTS
        verdict = judge_model(model, OPTIONS.get(name, {}), starts=starts)
    assert verdict.kind == "exact", f"{verdict.kind}: {verdict.detail} ({verdict.taken})"
