"""Slice sampling of scales: the density is right, and the move leaves it invariant."""

import numpy as np
import pymc as pm
from scipy import stats
from support.significance import assert_holds, reversibility_pvalue, uniform_pvalue

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.tapes.program import ALL
from pymc_exact_hmc.weights.evidence import gather, log_density_of_scales

RNG = np.random.default_rng(20131209)
N, D = 30, 4
X = RNG.normal(size=(N, D)) + 0.7
GROUP = np.arange(N) % 2
Y = X @ np.array([1.0, 0.0, -0.5, 0.0]) + 2.0 + RNG.normal(size=N) * (0.7 + GROUP)
SEED = 3


def two_noises(slab):
    """Two noise scales, a slab with its own scale and mean, an intercept."""
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 2, shape=2)
        tau = pm.Gamma("tau", 2, 1)
        a = pm.Beta("a", 1, 3)
        gamma = pm.Bernoulli("gamma", a, shape=D)
        intercept = pm.Normal("intercept", 0, 3)
        w = slab(tau)
        pm.Normal("y", intercept + X @ (gamma * w), sigma[GROUP], observed=Y)
    return model


def log_prior(model):
    """Return the model's own log-density of hyperparameters and indicators."""
    logp = model.logp([model[n] for n in ("sigma", "tau", "a", "gamma")], jacobian=True)
    return model.compile_fn(logp, inputs=model.value_vars, on_unused_input="ignore")


def density(model, step, point, s, w):
    """Return the kernel's log-density of the hyperparameters of a point."""
    hyper = step._move.hyper
    hyper.block.tape.load(point)
    active, gram = step._move._active, step._move.gaussian.block.gram
    rows = (active.rows, active.slots, active.kept)
    gather(hyper._evidence, hyper._gathered, gram, *rows, s, w)
    return log_density_of_scales(hyper._evidence, hyper._gathered, ALL, True, 0.0)[0]


def settings(model, step, rng):
    point = model.initial_point()
    names = [h.value for h in step._move.hyper.block.hyperparameters]
    for _ in range(6):
        yield point | {n: np.asarray(point[n] + rng.standard_normal(point[n].shape)) for n in names}


def test_collapsed_density_is_the_marginal_likelihood():
    """log p(θ | s, data) is prior × N(y; X_P m, X_P S X_P' + Ω⁻¹), from dense linear algebra."""
    model = two_noises(lambda tau: pm.Normal("w", 0.5, tau, shape=D))
    with model:
        step = ExactBinaryHMC()
    rng = np.random.default_rng(1)
    prior = log_prior(model)
    for s in ([0, 0, 0, 0], [1, 0, 1, 1]):
        s = np.array(s, np.int8)
        differences = []
        for point in settings(model, step, rng):
            point["gamma"] = s.astype(point["gamma"].dtype)
            sigma, tau = np.exp(point["sigma_log__"]), np.exp(point["tau_log__"])
            XP = np.column_stack([X[:, s == 1], np.ones(N)])
            mean = np.append(np.full(s.sum(), 0.5), 0.0)
            slab = np.append(np.full(s.sum(), tau**2), 9.0)
            covariance = XP * slab @ XP.T + np.diag(sigma[GROUP] ** 2)
            exact = stats.multivariate_normal.logpdf(Y, XP @ mean, covariance) + prior(point)
            differences.append(density(model, step, point, s, np.zeros(D + 1)) - exact)
        np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-9)


def test_held_density_leaves_out_the_weights_that_are_off():
    """With truncated weights, log p(θ, w_P | s, data) up to a constant, from scipy's densities."""
    model = two_noises(lambda tau: pm.HalfNormal("w", tau, shape=D))
    with model:
        step = ExactBinaryHMC()
    rng = np.random.default_rng(2)
    prior = log_prior(model)
    s = np.array([1, 0, 0, 1], np.int8)
    # In the order in which the step lays out its weights.
    names = [p.name for p in step._move._placed]
    assert names == ["intercept", "w_log__"]
    w = np.array([1.7, 0.4, 2.0, 3.0, 0.9])
    differences = []
    for point in settings(model, step, rng):
        point["gamma"] = s.astype(point["gamma"].dtype)
        sigma, tau = np.exp(point["sigma_log__"]), np.exp(point["tau_log__"])
        fit = w[0] + X @ (s * w[1:])
        exact = stats.norm.logpdf(Y, fit, sigma[GROUP]).sum() + prior(point)
        exact += stats.halfnorm.logpdf(w[1:][s == 1], scale=tau).sum()
        differences.append(density(model, step, point, s, w) - exact)
    np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-9)


def test_slice_move_keeps_a_conjugate_posterior():
    """From exact draws of a | s ~ Beta(α + k, β + d − k), one move gives such draws again.

    It is also reversible: no more moves lead from one tenth of the range to another than back.
    """
    d, k, draws = 6, 2, 20_000
    with pm.Model() as model:
        a = pm.Beta("a", 1.5, 2.5)
        pm.Bernoulli("gamma", a, shape=d)
    with model:
        hyper = ExactBinaryHMC()._move.hyper
    law = stats.beta(1.5 + k, 2.5 + d - k)
    rng = np.random.default_rng(SEED)
    hyper.tuning = False
    before, after = law.rvs(draws, random_state=rng), np.empty(draws)
    s = (np.arange(d) < k).astype(np.int8)
    point = model.initial_point() | {"gamma": s.astype(np.int64)}
    for i, x in enumerate(before):
        point["a_logodds__"] = np.asarray(np.log(x / (1 - x)))
        moved = hyper(point, s, np.zeros(0), rng)["a_logodds__"]
        after[i] = 1 / (1 + np.exp(-moved))
    cells = [np.floor(10 * law.cdf(x)).astype(int) for x in (before, after)]
    assert_holds(uniform_pvalue(after, law.cdf), reversibility_pvalue(*cells, 10), seed=SEED)
    assert np.mean(before == after) == 0
