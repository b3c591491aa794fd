"""Gated weights through the step: every prior, kernel and spelling against enumeration."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy.special import expit
from step.regressions import SIGMA, D, N, P, X, Y, bernoulli, exact_states
from support.significance import assert_holds, batch_pvalues
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.weights.block import LAM, LAMBDA, LOWER, UPPER, R

SEED = 7


def run(model, draws, **options):
    """Return (s, w) of a chain of the step alone: nothing else moves."""
    with model:
        step = ExactBinaryHMC(**options)
    rng = np.random.default_rng(SEED)
    step.set_rng(rng)
    point = model.initial_point()
    s = np.empty((draws, step.layout[-1].stop), int)
    values = []
    for k in range(draws):
        point, _ = step.step(point)
        s[k] = np.concatenate([point[b.name].ravel() for b in step.layout])
        values.append(dict(point))
    return s, values


def assert_matches(model, states, p, draws=6000, **options):
    """Inclusion probabilities and all pairs of them are the exact ones."""
    s, _ = run(model, draws, **options)
    pairs = [(i, j) for i in range(states.shape[1]) for j in range(i)]
    exact = np.concatenate([p @ states, [p @ (states[:, i] * states[:, j]) for i, j in pairs]])
    found = np.column_stack([s, *[s[:, i] * s[:, j] for i, j in pairs]])
    assert_holds(*batch_pvalues(found, exact), seed=SEED)


PRIORS = {
    "normal": (lambda: pm.Normal("w", 0.4, 1.5, shape=D), {"mean": 0.4, "sd": 1.5}),
    "tau": (lambda: pm.Normal("w", 0, tau=0.5, shape=D), {"mean": 0.0, "sd": 0.5**-0.5}),
    "half-normal": (lambda: pm.HalfNormal("w", 2.0, shape=D), {"mean": 0, "sd": 2, "lower": 0}),
    "no transform": (
        lambda: pm.HalfNormal("w", 2.0, shape=D, default_transform=None),
        {"mean": 0, "sd": 2, "lower": 0},
    ),
    "truncated": (
        lambda: pm.TruncatedNormal(
            "w", 0.5, 1.0, lower=[-1, 0, -np.inf, 0.2], upper=[0.5, np.inf, 1.0, 0.9], shape=D
        ),
        {"mean": 0.5, "sd": 1, "lower": [-1, 0, -np.inf, 0.2], "upper": [0.5, np.inf, 1.0, 0.9]},
    ),
    "pm.Truncated": (
        lambda: pm.Truncated("w", pm.Normal.dist(0.5, 1.0), lower=0.1, upper=2.0, shape=D),
        {"mean": 0.5, "sd": 1, "lower": 0.1, "upper": 2.0},
    ),
}


@pytest.mark.parametrize("prior", slow_but(["normal", "truncated"], PRIORS))
def test_every_prior_matches_enumeration(prior):
    """p(s | data) is Bernoulli prior times marginal likelihood, truncated or not."""
    make, slab = PRIORS[prior]
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        pm.Normal("y", X @ (gamma * make()), SIGMA, observed=Y)
    exact = exact_states(X, Y, SIGMA, gate=range(D), log_prior=bernoulli(P), **slab)
    assert_matches(model, *exact)


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["normal", "half-normal"])
def test_paper_kernel_matches_enumeration(prior):
    """The paper's own kernel leaves the same posterior invariant."""
    make, slab = PRIORS[prior]
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        pm.Normal("y", X @ (gamma * make()), SIGMA, observed=Y)
    exact = exact_states(X, Y, SIGMA, gate=range(D), log_prior=bernoulli(P), **slab)
    assert_matches(model, *exact, draws=30_000, kernel="paper")


def test_trajectories_of_a_draw_are_made_and_counted():
    """A draw of three trajectories hits the walls three times as often and is exact."""
    make, slab = PRIORS["half-normal"]
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        pm.Normal("y", X @ (gamma * make()), SIGMA, observed=Y)
        steps = [ExactBinaryHMC(trajectories=k) for k in (1, 3)]
    exact = exact_states(X, Y, SIGMA, gate=range(D), log_prior=bernoulli(P), **slab)
    assert_matches(model, *exact, draws=1000, trajectories=3)
    hits = []
    for step in steps:
        step.set_rng(np.random.default_rng(SEED))
        point = model.initial_point()
        counts = []
        for _ in range(200):
            point, [stats] = step.step(point)
            counts.append(stats["ehmc_hits"])
        hits.append(counts)
    # 0.85 to 1.15 hits of each of the D walls in a trajectory.
    assert max(hits[0]) <= 2 * D
    assert min(hits[1]) > 1.5 * D


@pytest.mark.parametrize(
    "augmentation", ["exponential", pytest.param("box", marks=pytest.mark.slow)]
)
def test_other_augmentations_match_enumeration(augmentation):
    """Untruncated weights are integrated out, and any augmentation runs over what is left."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        pm.Normal("y", X @ (gamma * pm.Normal("w", 0, 2, shape=D)), SIGMA, observed=Y)
    exact = exact_states(X, Y, SIGMA, mean=0, sd=2, gate=range(D), log_prior=bernoulli(P))
    assert_matches(model, *exact, augmentation=augmentation)


def test_exponential_slab_matches_quadrature():
    """An exponential slab has no curvature of its own: one weight, by numerical integration."""
    x = X[:, 0]
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P)
        pm.Normal("y", x * gamma * pm.Exponential("w", 1.5), SIGMA, observed=Y)
    w = np.linspace(0, 12, 200_001)
    log_ratio = (x @ Y) * w / SIGMA**2 - 0.5 * (x @ x) * w**2 / SIGMA**2
    bayes = np.trapezoid(np.exp(log_ratio) * 1.5 * np.exp(-1.5 * w), w)
    odds = P / (1 - P) * bayes
    s, values = run(model, 6000)
    natural = np.exp([v["w_log__"] for v in values])
    density = np.exp(log_ratio) * np.exp(-1.5 * w)
    mean_on = np.trapezoid(w * density, w) / np.trapezoid(density, w)
    inclusion = odds / (1 + odds)
    mean = inclusion * mean_on + (1 - inclusion) / 1.5
    draws = np.column_stack([s[:, 0], natural])
    assert_holds(*batch_pvalues(draws, [inclusion, mean]), seed=SEED)


@pytest.mark.slow
def test_ising_prior_on_the_gates():
    """Structured sparsity: a potential over the indicators joins their prior."""
    coupling = 0.9

    def log_prior(s):
        return bernoulli(P)(s) + coupling * float(np.sum(s[1:] * s[:-1]))

    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        pm.Potential("smooth", coupling * (gamma[1:] * gamma[:-1]).sum())
        pm.Normal("y", X @ (gamma * pm.HalfNormal("w", 2, shape=D)), SIGMA, observed=Y)
    exact = exact_states(X, Y, SIGMA, mean=0, sd=2, lower=0, gate=range(D), log_prior=log_prior)
    assert_matches(model, *exact)


@pytest.mark.parametrize("truncated", [False, True])
def test_groups_and_intercept(truncated):
    """Weights of one gate come and go together; an intercept is always on."""
    group = np.array([0, 0, 1, 2])
    bound = {"lower": [0.0] * D + [-np.inf]} if truncated else {}
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=3)
        w = pm.HalfNormal("w", 2, shape=D) if truncated else pm.Normal("w", 0, 2, shape=D)
        intercept = pm.Normal("intercept", 1.0, 3.0)
        pm.Normal("y", intercept + X @ (w * gamma[group]), SIGMA, observed=Y)
    columns = np.column_stack([X, np.ones(N)])
    exact = exact_states(
        columns,
        Y,
        SIGMA,
        mean=[0] * D + [1.0],
        sd=[2] * D + [3.0],
        gate=[*group, -1],
        log_prior=bernoulli(P),
        **bound,
    )
    assert_matches(model, *exact)


def spellings():
    """The same model, as people write it: ``gamma`` and ``w`` of length D."""
    yield "matmul", lambda g, w: X @ (g * w)
    yield "pt.dot", lambda g, w: pt.dot(X, g * w)
    yield "pm.math.dot", lambda g, w: pm.math.dot(X, w * g)
    yield "columns first", lambda g, w: (X * g) @ w
    yield "sum", lambda g, w: (X * g * w).sum(-1)
    yield "switch", lambda g, w: X @ pm.math.switch(g, w, 0)
    yield "where eq", lambda g, w: X @ pt.where(pt.eq(g, 1), w, 0.0)
    yield "where not eq 0", lambda g, w: X @ pt.switch(pt.neq(g, 0), w, 0.0)
    yield "loop", lambda g, w: sum(g[j] * w[j] * X[:, j] for j in range(D))
    yield "deterministic", lambda g, w: X @ pm.Deterministic("beta", g * w)
    yield "stack", lambda g, w: X @ pt.stack([g[j] * w[j] for j in range(D)])
    yield "two matmuls", lambda g, w: X[:, :2] @ (g * w)[:2] + X[:, 2:] @ (g * w)[2:]
    yield "spins", lambda g, w: X @ (0.5 * ((2 * g - 1) + 1) * w)
    yield "outer", lambda g, w: (X * (g * w)[None, :]).sum(axis=1)
    yield "set_subtensor", lambda g, w: X @ pt.zeros(D)[np.arange(D)].set(g * w)
    yield (
        "set_subtensor twice",
        lambda g, w: X @ pt.zeros(D)[:2].set((g * w)[:2])[2:].set((g * w)[2:]),
    )
    yield "added to entries", lambda g, w: X @ pt.zeros(D)[np.arange(D)].inc(g * w)
    yield "added to slices", lambda g, w: X @ pt.zeros(D)[1:].inc((g * w)[1:])[:1].inc((g * w)[0])
    yield (
        "added in halves",
        lambda g, w: X @ pt.zeros(D)[np.tile(np.arange(D), 2)].inc(pt.tile(0.5 * g * w, 2)),
    )
    yield "einsum", lambda g, w: pt.einsum("ij,j->i", X, g * w)
    yield "einsum of three", lambda g, w: pt.einsum("ij,j,j->i", pm.Data("X", X), 1.0 * g, w)
    yield (
        "two einsums",
        lambda g, w: (
            pt.einsum("ij,j->i", X[:, :1], (g * w)[:1])
            + pt.einsum("ij,j->i", X[:, 1:], (g * w)[1:])
        ),
    )
    yield "einsum of einsum", lambda g, w: pt.einsum("ij,j->i", X, pt.einsum("j,j->j", 1.0 * g, w))
    yield "diagonal", lambda g, w: pt.tensordot(X, pt.diag(1.0 * g), axes=1) @ w
    yield "column vector", lambda g, w: (X @ (g * w)[:, None])[:, 0]
    yield "data", lambda g, w: pm.Data("X", X) @ (g * w)
    yield "scaled twice", lambda g, w: 2.0 * (0.5 * X) @ (g * w)
    yield "divided before the gate", lambda g, w: 2.0 * X @ (g * (w / 2.0))


@pytest.mark.parametrize("name", [name for name, _ in spellings()])
def test_every_spelling_gives_the_same_coefficients(name):
    """M = X'X/σ², r = X'y/σ², Λ, λ and the gates, however the predictor is written."""
    predictor = dict(spellings())[name]
    with pm.Model():
        gamma = pm.Bernoulli("gamma", P, shape=D)
        w = pm.TruncatedNormal("w", 0.5, 2.0, lower=0.0, shape=D)
        pm.Normal("y", predictor(gamma, w), SIGMA, observed=Y)
        step = ExactBinaryHMC()
    block = step._move.gaussian.block
    assert block.gate.tolist() == list(range(D))
    rows = block.coefficients
    np.testing.assert_allclose(block.gram.scale[0] * block.gram.M, X.T @ X, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(rows[R], X.T @ Y, rtol=1e-10)
    np.testing.assert_allclose(rows[LAMBDA], 0.25, rtol=1e-6)
    np.testing.assert_allclose(rows[LAM], 0.125, rtol=1e-6)
    assert (rows[LOWER] == 0).all()
    assert np.isinf(rows[UPPER]).all()


def test_correlated_pairs_agree_between_chains():
    """Two pairs of predictors correlated 0.95: all chains agree with 2⁸ marginal likelihoods."""
    rng = np.random.default_rng(95)
    base = rng.normal(size=(100, 8))
    for a, b in ((0, 1), (2, 3)):
        base[:, b] = 0.95 * base[:, a] + np.sqrt(1 - 0.95**2) * base[:, b]
    y = base @ np.array([1.0, 0, 0.5, 0.5, 0, 0, 0, 0.2]) + 2 * rng.normal(size=100)
    with pm.Model():
        gamma = pm.Bernoulli("gamma", 0.2, shape=8)
        pm.Normal("y", base @ (gamma * pm.Normal("w", 0, 5, shape=8)), 2.0, observed=y)
        # One draw in twenty is effective here: fewer would leave R-hat itself to chance.
        idata = pm.sample(
            8000,
            tune=100,
            chains=4,
            cores=1,
            step=ExactBinaryHMC(),
            random_seed=5,
            progressbar=False,
            compute_convergence_checks=False,
        )
    states, p = exact_states(base, y, 2.0, mean=0, sd=5, gate=range(8), log_prior=bernoulli(0.2))
    s = idata.posterior["gamma"].values
    for chain in s:
        assert_holds(*batch_pvalues(chain, p @ states), seed=5)
    between = s.mean(axis=1).var(axis=0, ddof=1)
    within = s.var(axis=1, ddof=1).mean(axis=0)
    r_hat = np.sqrt(1 + between / np.maximum(within, 1e-12))
    assert r_hat.max() < 1.01


@pytest.mark.slow
def test_start_under_a_prior_that_lets_in_hundreds():
    """Beta(1, 1) and 1 500 predictors: the way to a first draw does not pass all of them."""
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(80, 1500))
    y = columns[:, 0] * 2 + rng.normal(size=80)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 1), shape=1500)
        pm.Normal("y", columns @ (gamma * pm.Normal("w", 0, 1, shape=1500)), 1.0, observed=y)
        step = ExactBinaryHMC()
    step.set_rng(rng)
    point, _ = step.step(model.initial_point())
    assert np.isfinite(model.compile_logp(mode="FAST_COMPILE")(point))


def test_a_trajectory_begins_where_the_last_one_ended(monkeypatch):
    """Several trajectories of a draw share the point, not only the indicators."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=3), pm.HalfNormal("w", shape=3)
        pm.Normal("y", gamma * w, 1.0, observed=np.ones(3))
        step = ExactBinaryHMC(trajectories=3)
    seen = []

    def one_round(point, s, rng, *, check):
        seen.append(point["w_log__"])
        return {"w_log__": point["w_log__"] + 1.0}

    monkeypatch.setattr(step._move, "_round", one_round)
    start = model.initial_point()
    moved = step._move(start, np.zeros(3, np.int8), np.random.default_rng(1), check=False)
    found = [x[0] - start["w_log__"][0] for x in (*seen, moved["w_log__"])]
    assert found == pytest.approx([0.0, 1.0, 2.0, 3.0])


def test_reflections_are_those_of_one_draw():
    """They are counted anew for each."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.6, shape=3), pm.HalfNormal("w", shape=3)
        pm.Normal("y", gamma * w, 1.0, observed=np.zeros(3))
        step, point = ExactBinaryHMC(rng=1), model.initial_point()
    found = []
    for _ in range(40):
        point, (report,) = step.step(point)
        found.append(report["ehmc_reflections"])
    assert max(found) > 0
    assert 0 in found[np.argmax(found) :]


def test_inclusion_of_every_variable_is_its_own():
    """Two variables of indicators, of different sizes, have a statistic each."""
    with pm.Model() as model:
        g, h = pm.Bernoulli("g", 0.3, shape=2), pm.Bernoulli("h", 0.6, shape=D - 2)
        w = pm.Normal("w", 0, 1, shape=D)
        pm.Normal("y", X @ (pt.concatenate([g, h]) * w), 1.0, observed=Y)
    step = ExactBinaryHMC(model=model, inclusion=True)
    _, (stats,) = step.step(model.initial_point())
    found = [stats["ehmc_inclusion_g"], stats["ehmc_inclusion_h"]]
    assert [x.size for x in found] == [2, D - 2]
    np.testing.assert_array_equal(np.concatenate(found), step._move.inclusion)
    assert np.unique(step._move.inclusion).size == D


def test_the_paper_travels_half_as_far_and_takes_weights_as_given():
    """T = π would bring every weight to its mirror image; scales are drawn given w."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", P, shape=D), pm.Normal("w", 0, 1, shape=D)
        pm.Normal("y", X @ (gamma * w), pm.HalfNormal("sigma"), observed=Y)
    for kernel, held in (("paper", 1), ("sheared", 0)):
        step = ExactBinaryHMC(model=model, kernel=kernel)
        assert ("travel time 1.57," in str(step.explain())) == bool(held)
        assert step._move.hyper._evidence.held[0] == held


@pytest.mark.parametrize("kernel", ["sheared", "general", "binary"])
def test_indicators_without_a_say_do_not_flip_in_every_draw(kernel):
    """Exactly one hit per wall would flip them all for ever."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", np.zeros((3, 2)) @ (gamma * w), 1.0, observed=np.ones(3))
    s, _ = run(model, 300, kernel=kernel)
    flips = np.diff(s, axis=0) != 0
    assert not flips.all(axis=0).any()
    assert flips.any(axis=0).all()
    assert 0 < np.sum(s[:, 0] == s[:, 1]) < 300


@pytest.mark.parametrize("fenced", [False, True])
def test_where_no_shear_is_possible_weights_are_switched_by_held_hits(fenced):
    """w₀ ∈ [0, 0.1] and w₁ ∈ [0.5, 2] on columns that are nearly one, with and without a wall."""
    M, r = 50.0 * np.array([[1.0, 0.99], [0.99, 1.0]]), np.array([30.0, 40.0])
    columns = np.linalg.cholesky(M).T
    sd, lower, upper, p = 10**0.5, [0.0, 0.5], [0.1, 2.0], expit(-8.5)
    y = np.linalg.solve(columns.T, r)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", p)
        w = pm.TruncatedNormal("w", 0, sd, lower=lower, upper=upper, shape=2)
        gated = gamma * w[1]
        pm.Normal("y", columns @ pt.stack([w[0], gated]), 1.0, observed=y)
        if fenced:  # by a wall that is out of reach
            pm.Potential("c", pt.switch(gated <= 3.0, 0.0, -np.inf))
    states, exact = exact_states(
        columns, y, 1.0, mean=0.0, sd=sd, lower=lower, upper=upper, gate=[-1, 0],
        log_prior=bernoulli(p),
    )  # fmt: skip
    assert 0.9 < exact[1] < 0.99
    s, _ = run(model, 15_000)
    assert_holds(*batch_pvalues(s, exact @ states), seed=SEED)
