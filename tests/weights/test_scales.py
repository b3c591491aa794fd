"""Slice sampling of scales: the density is right, and the move leaves it invariant."""

from functools import partial

import numpy as np
import pymc as pm
import pytest
from scipy import stats
from support.significance import assert_holds, reversibility_pvalue, uniform_pvalue

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.random_stream import exponential, seed_words, shuffle_front, uniform
from pymc_exact_hmc.tapes.program import ALL
from pymc_exact_hmc.weights.block import LOWER, SLAB_LOWER, SLAB_UPPER, UPPER
from pymc_exact_hmc.weights.evidence import (
    gather,
    log_density_of_scales,
    log_evidence_of_scales,
    make_gathered,
)
from pymc_exact_hmc.weights.slices import MOST_STEPS

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


def marginal(s, sigma, tau):
    """Return log N(y; X_P m, X_P S X_P' + Ω⁻¹) of ``two_noises`` with slabs N(½, τ²)."""
    XP = np.column_stack([X[:, s == 1], np.ones(N)])
    mean = np.append(np.full(s.sum(), 0.5), 0.0)
    slab = np.append(np.full(s.sum(), tau**2), 9.0)
    covariance = XP * slab @ XP.T + np.diag(sigma[GROUP] ** 2)
    return stats.multivariate_normal.logpdf(Y, XP @ mean, covariance)


def density(model, step, point, s, w):
    """Return the kernel's log-density of the hyperparameters of a point."""
    hyper = step._move.hyper
    hyper.block.tape.load(point)
    active, gram = step._move._active, step._move.gaussian.block.gram
    rows = (active.rows, active.slots, active.kept)
    # Room for the weights that are on, and for no more.
    on = np.count_nonzero(np.append(s, 1)[hyper._evidence.gate])
    hyper._gathered = make_gathered(hyper.block.n_noise, on)
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
            exact = marginal(s, sigma, tau) + prior(point)
            differences.append(density(model, step, point, s, np.zeros(D + 1)) - exact)
        np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-9)


def two_sided(tau):
    return pm.TruncatedNormal("w", 0.5, tau, lower=-1.0, upper=4.0, shape=D)


def truncated_logpdf(w, tau):
    return stats.truncnorm.logpdf(w, -1.5 / tau, 3.5 / tau, loc=0.5, scale=tau)


TRUNCATED = {
    "half-normal": (
        lambda tau: pm.HalfNormal("w", tau, shape=D),
        lambda w, tau: stats.halfnorm.logpdf(w, scale=tau),
        "w_log__",
    ),
    "two-sided": (two_sided, truncated_logpdf, "w_interval__"),
}


@pytest.mark.parametrize("slab", TRUNCATED)
def test_held_density_leaves_out_the_weights_that_are_off(slab):
    """With truncated weights, log p(θ, w_P | s, data) up to a constant, from scipy's densities."""
    make, logpdf, name = TRUNCATED[slab]
    model = two_noises(make)
    with model:
        step = ExactBinaryHMC()
    rng = np.random.default_rng(2)
    prior = log_prior(model)
    s = np.array([1, 0, 0, 1], np.int8)
    # In the order in which the step lays out its weights.
    names = [p.name for p in step._move._placed]
    assert names == ["intercept", name]
    w = np.array([1.7, 0.4, 2.0, 3.0, 0.9])
    differences = []
    for point in settings(model, step, rng):
        point["gamma"] = s.astype(point["gamma"].dtype)
        sigma, tau = np.exp(point["sigma_log__"]), np.exp(point["tau_log__"])
        fit = w[0] + X @ (s * w[1:])
        exact = stats.norm.logpdf(Y, fit, sigma[GROUP]).sum() + prior(point)
        exact += logpdf(w[1:][s == 1], tau).sum()
        differences.append(density(model, step, point, s, w) - exact)
    np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-9)


def test_a_weight_outside_its_bounds_is_impossible():
    """Given w, scales that would put it outside its bounds have no density.

    Open or closed, its gate has the bounds of the point at which the block is written.
    """
    with pm.Model() as model:
        top = pm.HalfNormal("top", 2.0)
        gamma = pm.Bernoulli("gamma", 0.5, shape=D)
        w = pm.TruncatedNormal("w", 0.0, 1.0, lower=-1.0, upper=top, shape=D)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
    with model:
        step = ExactBinaryHMC()
    hyper, block = step._move.hyper, step._move.gaussian.block
    assert [h.name for h in hyper.block.hyperparameters] == ["top"]
    w = np.array([0.9, 0.2, -0.5, 0.1])
    point = model.initial_point()
    for s, bound, possible in [(1, 1.0, True), (1, 0.8, False), (0, 0.8, True)]:
        state = np.array([s, 1, 1, 1], np.int8)
        setting = point | {"top_log__": np.asarray(np.log(bound))}
        assert np.isfinite(density(model, step, setting, state, w)) == possible
        hyper._write(hyper._evidence, *hyper._written())
        np.testing.assert_allclose(block.coefficients[[LOWER, SLAB_LOWER]], -1.0, rtol=1e-12)
        np.testing.assert_allclose(block.coefficients[[UPPER, SLAB_UPPER]], bound, rtol=1e-12)
        slab = np.log(stats.norm.cdf(bound) - stats.norm.cdf(-1.0)) + 0.5 * np.log(2 * np.pi)
        np.testing.assert_allclose(block.log_slab, slab, rtol=1e-9)


@pytest.mark.parametrize("precision", [0.0, -1.0, np.inf, np.nan])
def test_a_noise_precision_that_is_none_is_impossible(precision):
    """Scales at which the noise has no precision get no density, not all of it."""
    model = two_noises(lambda tau: pm.Normal("w", 0.5, tau, shape=D))
    step = ExactBinaryHMC(model=model)
    s, w = np.ones(D, np.int8), np.zeros(D + 1)
    assert np.isfinite(density(model, step, model.initial_point(), s, w))
    evidence = step._move.hyper._evidence
    evidence.program.memory[evidence.noise[0]] = precision
    assert log_evidence_of_scales(evidence, step._move.hyper._gathered) == -np.inf


def one_noise(slab):
    with pm.Model() as model:
        sigma, tau = pm.HalfNormal("sigma", 2), pm.Gamma("tau", 2, 1)
        gamma = pm.Bernoulli("gamma", 0.4, shape=D)
        pm.Normal("y", pm.Normal("b") + X @ (gamma * slab(tau)), sigma, observed=Y)
    return model


@pytest.mark.parametrize("noises", [one_noise, two_noises])
def test_scales_are_written_to_the_block(noises):
    """After a move the block is that of the point to which the scales have moved.

    After the second one: a chain reads its Gram matrix at the first.
    """
    model = noises(lambda tau: pm.Normal("w", 0.5, tau, shape=D))
    with model:
        step, other = ExactBinaryHMC(), ExactBinaryHMC()
    rng = np.random.default_rng(4)
    point = model.initial_point()
    s, w = np.array([1, 0, 1, 1], np.int8), np.zeros(D + 1)
    moved = point | step._move._move_scales(point, s, w, rng)
    moved |= step._move._move_scales(moved, s, w, rng)
    other._move._update_gaussian(moved)
    mine, fresh = step._move.gaussian, other._move.gaussian
    grams = [x.block.gram.M * x.block.gram.scale for x in (mine, fresh)]
    np.testing.assert_allclose(grams[0], grams[1], rtol=1e-9)
    diagonals = [x._move._active.diagonal for x in (step, other)]
    np.testing.assert_allclose(diagonals[0], diagonals[1], rtol=1e-9)
    np.testing.assert_allclose(mine.block.coefficients, fresh.block.coefficients, rtol=1e-9)
    np.testing.assert_allclose(mine.block.log_slab, fresh.block.log_slab, rtol=1e-9)
    np.testing.assert_allclose(mine.statistics.precisions, fresh.statistics.precisions, rtol=1e-9)


def plain_slice(log_density, x, width, stream):
    """One move as Neal (2003) writes it: figures 3 and 5, with the random numbers in order."""
    level = log_density(x) - exponential(stream)
    lower = x - width * uniform(stream)
    upper = lower + width
    left = int(MOST_STEPS * uniform(stream))
    right = MOST_STEPS - 1 - left
    while left > 0 and log_density(lower) > level:
        lower, left = lower - width, left - 1
    while right > 0 and log_density(upper) > level:
        upper, right = upper + width, right - 1
    while True:
        y = lower + (upper - lower) * uniform(stream)
        if log_density(y) > level:
            return y
        lower, upper = (y, upper) if y < x else (lower, y)


@pytest.mark.parametrize("width", [0.02, 1.0, 8.0])
def test_slice_move_is_the_plain_one(width):
    """Same random numbers, same moves, from narrow to wide first intervals; two coordinates."""
    d = 6
    with pm.Model() as model:
        a, b = pm.Beta("a", 1.5, 2.5), pm.Beta("b", 4.0, 1.0)
        pm.Bernoulli("gamma", a, shape=d)
        pm.Bernoulli("delta", b, shape=d)
    with model:
        hyper = ExactBinaryHMC()._move.hyper
    assert [h.name for h in hyper.block.hyperparameters] == ["a", "b"]
    hyper.tuning = False
    hyper.coordinates.widths[:] = width
    ones = np.array([2, 5])
    alpha, beta = np.array([1.5, 4.0]) + ones, np.array([2.5, 1.0]) + d - ones
    bits = [(np.arange(d) < k).astype(np.int64) for k in ones]
    point = model.initial_point() | {"gamma": bits[0], "delta": bits[1]}
    rng, other = np.random.default_rng(SEED), np.random.default_rng(SEED)
    s = np.concatenate(bits).astype(np.int8)
    x = np.array([float(point[name]) for name in ("a_logodds__", "b_logodds__")])
    for _ in range(40):
        stream, order = seed_words(other), np.empty(2, np.int32)
        shuffle_front(stream, order, 2)
        for i in order:
            # log-odds: the density of Beta with its Jacobian.
            law = partial(lambda t, p, q: -p * np.logaddexp(0, -t) - q * np.logaddexp(0, t),
                          p=alpha[i], q=beta[i])  # fmt: skip
            x[i] = plain_slice(law, x[i], width, stream)
        moved = hyper(point, s, np.zeros(0), rng)
        np.testing.assert_allclose([moved["a_logodds__"], moved["b_logodds__"]], x, rtol=1e-9)
        point = point | moved


def test_slice_moves_of_noise_slab_and_inclusion_are_the_plain_ones():
    """The same where data and weights, integrated out, say something about some coordinates."""
    model = two_noises(lambda tau: pm.Normal("w", 0.5, tau, shape=D))
    with model:
        step = ExactBinaryHMC()
    hyper, prior = step._move.hyper, log_prior(model)
    hyper.tuning = False
    hyper.coordinates.widths[:] = 1.0
    names = ["sigma_log__", "tau_log__", "a_logodds__"]
    assert [h.value for h in hyper.block.hyperparameters] == names
    s, w = np.array([1, 0, 1, 1], np.int8), np.zeros(D + 1)
    point = model.initial_point() | {"gamma": s.astype(np.int64)}

    def log_density(x):
        at = point | {"sigma_log__": x[:2], "tau_log__": x[2], "a_logodds__": x[3]}
        return marginal(s, np.exp(x[:2]), np.exp(x[2])) + prior(at)

    def along(x, i, t):
        return log_density(np.where(np.arange(4) == i, t, x))

    x = np.concatenate([np.ravel(point[name]) for name in names])
    rng, other = np.random.default_rng(SEED), np.random.default_rng(SEED)
    for _ in range(20):
        stream, order = seed_words(other), np.empty(4, np.int32)
        shuffle_front(stream, order, 4)
        for i in order:
            x[i] = plain_slice(partial(along, x, i), x[i], 1.0, stream)
        moved = step._move._move_scales(point, s, w, rng)
        found = np.concatenate([np.ravel(moved[name]) for name in names])
        np.testing.assert_allclose(found, x, rtol=0, atol=1e-8)
        point = point | moved


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
