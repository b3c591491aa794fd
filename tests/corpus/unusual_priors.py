"""Priors, potentials, chains and layouts that are unusual.

Docstrings say what a model might be mistaken for.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from corpus.data import keeper, xy

MODELS = {}
add = keeper(MODELS)


# Priors of weights.


@add("general: g, w")
def mvnormal_chol_fixed_slab():
    """correlated slab through chol=, entries gated."""
    X, y = xy(78)
    L = np.array([[1.0, 0, 0], [0.8, 0.6, 0], [-0.3, 0.4, 0.9]])
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.MvNormal("w", mu=np.array([0.3, 0, -0.3]), chol=L)
        pm.Normal("y", X @ (g * w), pm.HalfNormal("s", 1), observed=y)
    return m


@add("general: g, w")
def lkj_slab():
    """slab covariance from LKJCholeskyCov."""
    X, y = xy(79, beta=(1.0, 0.8))
    with pm.Model() as m:
        chol, _, _ = pm.LKJCholeskyCov(
            "chol", n=2, eta=2.0, sd_dist=pm.LogNormal.dist(0.0, 0.5, shape=2), compute_corr=True
        )
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.MvNormal("w", mu=np.zeros(2), chol=chol)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("general: g, z")
def noncentred_chol_product():
    """w = L @ z non-centred: gate j sees several raw weights."""
    X, y = xy(80)
    L = np.array([[1.0, 0, 0], [0.8, 0.6, 0], [-0.3, 0.4, 0.9]])
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        z = pm.Normal("z", 0, 1, shape=3)
        tau = pm.HalfNormal("tau", 1)
        w = pm.Deterministic("w", tau * pt.dot(L, z))
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("general: corr, g, w")
def outcome_covariance_by_flag():
    """MvNormal outcome whose covariance is switched by a flag, mean gated by another."""
    X, y = xy(81, n=4, beta=(1.2, 0.0))
    D = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    with pm.Model() as m:
        corr = pm.Bernoulli("corr", 0.5)
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        cov = pt.switch(corr, 0.6 * 0.7**D, 0.6 * np.eye(4))
        pm.MvNormal("y", X @ (g * w), cov=cov, observed=y)
    return m


@add("binary: g")
def random_walk_gated():
    """GaussianRandomWalk values, each gated; step size unknown."""
    rng = np.random.default_rng(82)
    y = np.array([0.2, 0.5, 0.0, 1.2])[:, None] + 0.4 * rng.normal(size=(4, 2))
    with pm.Model() as m:
        s = pm.HalfNormal("step", 1)
        f = pm.GaussianRandomWalk("f", sigma=s, init_dist=pm.Normal.dist(0, 1), steps=3)
        g = pm.Bernoulli("g", 0.6, shape=4)
        pm.Normal("y", (g * f)[:, None], 0.5, observed=y)
    return m


@add("sheared: g, w, tau_log__")
def hierarchical_mean_weights():
    """weights around a random mean that is itself seen elsewhere."""
    X, y = xy(83, beta=(1.0, 0.9))
    with pm.Model() as m:
        mu = pm.Normal("mu", 0.5, 1)
        tau = pm.HalfNormal("tau", 0.5)
        g = pm.Bernoulli("g", 0.6, shape=2)
        w = pm.Normal("w", mu, tau, shape=2)
        pm.Normal("y", pt.dot(X, g * w), 0.7, observed=y)
        pm.Normal("meta", mu, 0.4, observed=0.8)
    return m


@add("sheared: g, w, s_log__")
def studentt_slab_by_scale_mixture():
    """each weight has its own Gamma precision: a Student-t slab."""
    X, y = xy(84, beta=(1.5, 0.0))
    with pm.Model() as m:
        lam = pm.Gamma("lam", 2, 2, shape=2)
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, pt.reciprocal(pt.sqrt(lam)), shape=2)
        pm.Normal("y", X @ (g * w), pm.HalfNormal("s", 1), observed=y)
    return m


@add("binary: g")
def laplace_slab_and_uniform_slab():
    """Laplace and Uniform slabs: neither Gaussian."""
    X, y = xy(85, beta=(1.0, 0.8))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        a = pm.Laplace("a", 0, 0.8)
        b = pm.Uniform("b", -0.5, 1.5)
        pm.Normal("y", pt.dot(X, g * pt.stack([a, b])), 0.7, observed=y)
    return m


@add("sheared: g, w_interval__")
def truncated_prior_dist():
    """pm.Truncated(Normal) weights, asymmetric window with mean outside, gated with a minus."""
    X, y = xy(86, beta=(-0.6, -1.2))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Truncated(
            "w",
            pm.Normal.dist(-0.5, 1.0),
            lower=0.2,
            upper=2.0,
            shape=2,
            initval=np.array([0.5, 1.0]),
        )
        pm.Normal("y", -pt.dot(X, g * w), 0.7, observed=y)
    return m


@add("sheared: g, w_interval__, c_log__")
def bounds_from_a_scale():
    """TruncatedNormal within +-c, c a free parameter.

    Its normaliser must be kept even when gated off.
    """
    X, y = xy(87, beta=(1.0, 0.0))
    with pm.Model() as m:
        c = pm.LogNormal("c", 0, 0.6)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.TruncatedNormal("w", 0, 1.0, lower=-c, upper=c, shape=2)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("binary: h, g")
def bounds_from_a_flag():
    """the window of a weight depends on a flag; another flag gates it."""
    X, y = xy(88, beta=(0.8, 0.0))
    with pm.Model() as m:
        h = pm.Bernoulli("h", 0.5, shape=2)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.TruncatedNormal("w", 0.2, 1.0, lower=-1.5 - h, upper=1.0 + 2.0 * h, shape=2)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("sheared: g, w_interval__, tau_log__, pi_logodds__")
def truncated_slab_unknown_tau():
    """TruncatedNormal with nonzero mean and unknown tau: the truncation constant depends on tau."""
    X, y = xy(89, beta=(1.0, 0.5))
    with pm.Model() as m:
        tau = pm.HalfNormal("tau", 1.0)
        g = pm.Bernoulli("g", pm.Beta("pi", 1, 1), shape=2)
        w = pm.TruncatedNormal("w", mu=0.7, sigma=tau, lower=0.0, shape=2)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("sheared: g, w_log__, lam_log__, s_log__")
def exponential_rate_random():
    """Exponential slab with random rate, one column entering with a minus sign."""
    X, y = xy(90, beta=(1.0, -0.7))
    with pm.Model() as m:
        lam = pm.Gamma("lam", 2, 2)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Exponential("w", lam, shape=2)
        pm.Normal(
            "y", X[:, 0] * g[0] * w[0] - X[:, 1] * g[1] * w[1], pm.HalfNormal("s", 1), observed=y
        )
    return m


@add("binary: g")
def ordered_gated_weights():
    """ordered transform on gated weights (order holds also while off).

    Density is on the ordered cone.
    """
    X, y = xy(91, beta=(-0.5, 0.4, 1.2))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal(
            "w",
            [0.0, 0.3, 0.6],
            [1.0, 0.5, 1.0],
            shape=3,
            transform=pm.distributions.transforms.ordered,
            initval=np.array([-0.5, 0.2, 0.9]),
        )
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


# Potentials.


@add("sheared: g, w")
def potential_forbids_pairs():
    """hereditary wall on flags plus coupling whose strength is random."""
    X, y = xy(92)
    with pm.Model() as m:
        J = pm.Normal("J", 0.5, 0.5)
        g = pm.Bernoulli("g", 0.5, shape=3, initval=np.zeros(3, int))
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Potential("heredity", pt.switch(pt.and_(pt.eq(g[2], 1), pt.eq(g[0], 0)), -np.inf, 0.0))
        pm.Potential("mrf", J * (g[1:] * g[:-1]).sum())
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("binary: g")
def potential_conditional_order():
    """if both gates are on, w[0] must exceed w[1]; otherwise free."""
    X, y = xy(93, beta=(0.3, 0.6))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2, initval=np.zeros(2, int))
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
        pm.Potential("order", pt.switch(pt.eq(g.sum(), 2) & (w[0] < w[1]), -np.inf, 0.0))
    return m


@add("general: g, w")
def potential_soft_sum_to_one():
    """Gaussian soft constraint on the sum of gated weights, and a ridge on raw ones."""
    X, y = xy(94, beta=(0.7, 0.4, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
        pm.Potential("sum1", -0.5 * ((g * w).sum() - 1) ** 2 / 0.3**2)
        pm.Potential("ridge", -0.5 * pt.sum(w[:2] ** 2))
    return m


@add("binary: g")
def potential_l1_on_gated():
    """absolute penalty on gated weights: not Gaussian, vanishes when off."""
    X, y = xy(95, beta=(0.9, 0.2))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
        pm.Potential("l1", -1.5 * pt.abs(g * w).sum())
    return m


@add("sheared: g, w")
def potential_gates_via_count_table():
    """model-size prior looked up in a table by the integer sum of flags.

    No polynomial of low degree.
    """
    X, y = xy(96, beta=(1.0, 0.8, 0.0))
    tab = np.array([-1.2, -0.9, -3.0, -1.2])
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=3, initval=np.zeros(3, int))
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Potential("size", pt.as_tensor_variable(tab)[g.sum()])
        pm.Normal("y", X @ (g * w), 0.8, observed=y)
    return m


@add("general: g, w")
def whole_posterior_in_potential():
    """Likelihood as a Potential through pm.logp of a Normal dist, integers cast and compared."""
    X, y = xy(97, beta=(1.0, 0.0))
    with pm.Model() as m:
        g = pm.Binomial("g", n=1, p=0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        s = pm.HalfNormal("s", 1)
        mu = pt.dot(X, pt.cast(g > 0, "float64") * w)
        pm.Potential("ll", pm.logp(pm.Normal.dist(mu, s), y).sum())
    return m


@add("sheared: g, w_log__")
def budget_on_raw_weights():
    """wall on raw positive weights' sum (holds when off), gates on the mean."""
    X, y = xy(98, beta=(1.2, 0.9))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.HalfNormal("w", 1.0, shape=2, initval=np.array([0.4, 0.4]))
        pm.Normal("y", X @ (g * w), 0.8, observed=y)
        pm.Potential("budget", pm.math.switch(pm.math.le(w[0] + 2 * w[1], 2.0), 0.0, -np.inf))
    return m


@add("sheared: g, w")
def jeffreys_potential_on_scale():
    """A Potential reweights the noise scale and the inclusion probability."""
    X, y = xy(99)
    with pm.Model() as m:
        s = pm.HalfNormal("s", 1.5)
        pi = pm.Beta("pi", 1, 1)
        g = pm.Bernoulli("g", pi, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ (g * w), s, observed=y)
        pm.Potential("reweight", -2 * pt.log(1 + s) + 1.5 * pt.log1p(-pi) + 0.7 * s * pi)
    return m


# Chains, bits, layouts.


@add("general: z0, z1, z2, z3, w, stay_logodds__")
def hmm_chain_with_gated_emission():
    """hidden chain of scalars; state gates a weight that emits, transition random."""
    y = np.array([0.1, 1.3, 1.6, -0.2])
    with pm.Model() as m:
        a = pm.Beta("stay", 4, 2)
        w = pm.Normal("w", 1, 1)
        z = [pm.Bernoulli("z0", 0.5)]
        for t in range(1, 4):
            z.append(pm.Bernoulli(f"z{t}", pt.switch(z[-1], a, 1 - a)))
        pm.Normal("y", pt.stack(z) * w, 0.6, observed=y)
    return m


@add("general: g, h, w")
def two_flag_vectors_overlapping_slices():
    """w[:3] gated by g, w[1:] also gated by h: middle weights need both, ends one."""
    X, y = xy(101, beta=(0.8, 0.9, 0.0, -0.7))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=3)
        h = pm.Bernoulli("h", 0.6, shape=3)
        w = pm.Normal("w", 0, 1, shape=4)
        b = pt.set_subtensor(w[:3], w[:3] * g)
        b = pt.set_subtensor(b[1:], b[1:] * h)
        pm.Normal("y", X @ b, 0.7, observed=y)
    return m


@add("general: c, w")
def categorical_two_class_gate():
    """Categorical with two classes from softmaxed logits as the gate, eq to 0 means on."""
    X, y = xy(102, beta=(1.0, 0.0))
    with pm.Model() as m:
        a = pm.Normal("a", 0, 1)
        c = pm.Categorical("c", logit_p=pt.stack([a, -a]), shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ pt.switch(pt.eq(c, 0), w, 0.0), 0.7, observed=y)
    return m


@add("general: g, w")
def boolean_mask_product_prod():
    """gate is a product along an axis of a (2, 3) flag matrix: pt.prod / all."""
    X, y = xy(103, beta=(1.0, 0.6))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.75, shape=(2, 3), initval=np.ones((2, 3), int))
        w = pm.Normal("w", 0, 1, shape=2)
        gate = pt.stack([pt.prod(g[0]), pt.cast(pt.all(g[1], axis=0), "int64")])
        pm.Normal("y", X @ (gate * w), 0.7, observed=y)
    return m


@add("general: g, w, b0")
def gate_vs_threshold_of_sum():
    """weight on when at least two of three flags are on (majority)."""
    X, y = xy(104, beta=(1.1,))
    with pm.Model() as m:
        g = pm.Bernoulli("g", [0.3, 0.5, 0.6], shape=3)
        w = pm.Normal("w", 0.3, 1)
        b0 = pm.Normal("b0", 0, 1)
        pm.Normal("y", b0 + X[:, 0] * pt.ge(pt.sum(g), 2) * w, pm.HalfNormal("s", 1), observed=y)
    return m


@add("binary: g")
def min_of_gated_predictors():
    """mean is the minimum of two gated predictors: max-plus structure."""
    X, y = xy(105, beta=(1.0, -1.0), intercept=-0.4)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", pt.minimum(g[0] * w[0] * X[:, 0], g[1] * w[1] * X[:, 1]), 0.6, observed=y)
    return m


@add("binary: g")
def relu_outcome_far_from_kink():
    """maximum(eta, -3): bends only in the tail."""
    X, y = xy(106, beta=(2.0, 0.0))
    y = np.maximum(y, -2.0)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 2, shape=2)
        pm.Normal("y", pt.maximum(X @ (g * w), -2.0), 0.6, observed=y)
    return m


@add("general: g, v")
def stick_breaking_flags():
    """cumprod(1 - g): first flag on takes the component; remaining mass to the last mean."""
    rng = np.random.default_rng(107)
    y = 0.9 + 0.5 * rng.normal(size=5)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        v = pm.Normal("v", [-1, 0, 1, 2], 0.5, shape=4)
        rest = pt.concatenate([pt.ones(1), pt.cumprod(1 - g)])
        share = rest * pt.concatenate([g, pt.ones(1)])
        pm.Normal("y", pm.math.sum(share * v), 0.6, observed=y)
    return m


@add("general: g, w")
def extreme_probabilities():
    """p holds exact 0 and 1.

    The gate of a weight is half the number of flags in its column (0, 0.5, 1).
    """
    X, y = xy(108, beta=(1.0, 0.0, 0.7))
    with pm.Model() as m:
        p = np.array([[0.0, 0.4, 1.0], [0.3, 0.3, 0.8]])
        g = pm.Bernoulli("g", p, shape=(2, 3), initval=np.array([[0, 0, 1], [0, 1, 1]]))
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ (g.sum(axis=0) * w * 0.5), 0.7, observed=y)
    return m
