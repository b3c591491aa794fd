"""Truncated Gaussians and constraints through the step, with and without indicators."""

import cloudpickle
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.exceptions import SamplingError
from scipy import stats
from scipy.stats import multivariate_normal
from step.regressions import SIGMA, D, N, P, X, Y
from support.significance import assert_holds, batch_pvalues
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC, explain
from pymc_exact_hmc.model.truncated_gaussian import TruncatedGaussian
from pymc_exact_hmc.model.truncated_weights import UNTRUNCATED, recognise_truncated
from pymc_exact_hmc.moves.plan import Plan, _effective_share

BATCHES = 50
SEED = 9
INF = np.inf


def run(model, draws, *names, point=None, **options):
    """Return natural draws of the named variables, by the step alone."""
    with model:
        step = ExactBinaryHMC(**options)
    step.set_rng(np.random.default_rng(SEED))
    natural = model.compile_fn(
        model.replace_rvs_by_values([model[name] for name in names]), on_unused_input="ignore"
    )
    point = model.initial_point() if point is None else point
    out = []
    for _ in range(draws):
        point, (info,) = step.step(point)
        assert info["ehmc_rejected"] == 0
        out.append(np.concatenate([np.ravel(x) for x in natural(point)]))
    return np.array(out)


def assert_moments(draws, exact, seed=SEED):
    """First and second moments, products among them, are those of exact draws."""

    def moments(w):
        i, j = np.triu_indices(w.shape[1])
        return np.column_stack([w, w[:, i] * w[:, j]])

    means, target = moments(draws), moments(exact)
    size = len(means) // BATCHES
    batches = means[: size * BATCHES].reshape(BATCHES, size, -1).mean(axis=1)
    error = batches.var(axis=0, ddof=1) / BATCHES + target.var(axis=0) / len(target)
    z = (batches.mean(axis=0) - target.mean(axis=0)) / np.sqrt(error)
    assert_holds(*(2 * stats.t.sf(np.abs(z), BATCHES - 1)), seed=seed)


def rejection(A, b, allowed, n=20_000, seed=1):
    """Exact draws from N(A⁻¹b, A⁻¹) where ``allowed``."""
    rng = np.random.default_rng(seed)
    covariance = np.linalg.inv(A)
    found = []
    while sum(map(len, found)) < n:
        w = rng.multivariate_normal(covariance @ b, covariance, size=200_000)
        found.append(w[allowed(w)])
    return np.concatenate(found)[:n]


A_DATA, B_DATA = X.T @ X / SIGMA**2, X.T @ Y / SIGMA**2


def non_negative():
    w = pm.HalfNormal("w", 2.0, shape=D)
    pm.Normal("y", X @ w, SIGMA, observed=Y)
    return A_DATA + np.eye(D) / 4, B_DATA, lambda w: (w >= 0).all(axis=1)


def no_transform():
    w = pm.TruncatedNormal("w", 0.5, 1.0, lower=-0.1, upper=0.6, shape=D, default_transform=None)
    pm.Normal("y", X @ w, SIGMA, observed=Y)
    return A_DATA + np.eye(D), B_DATA + 0.5, lambda w: ((w >= -0.1) & (w <= 0.6)).all(axis=1)


def exponential():
    w = pm.Exponential("w", 1.5, shape=D)
    pm.Normal("y", X @ w, SIGMA, observed=Y)
    return A_DATA, B_DATA - 1.5, lambda w: (w >= 0).all(axis=1)


def monotone():
    w = pm.Normal("w", 0, 2, shape=D)
    pm.Normal("y", w[np.arange(N) % D], 3.0, observed=Y)
    pm.Potential("rising", pt.switch(pt.all(w[1:] >= w[:-1]), 0, -INF))
    counts = np.bincount(np.arange(N) % D)
    sums = np.bincount(np.arange(N) % D, weights=Y)
    return (
        np.diag(counts / 9 + 0.25),
        sums / 9,
        lambda w: (np.diff(w, axis=1) >= 0).all(axis=1),
    )


def ordered():
    transform = pm.distributions.transforms.ordered
    w = pm.Normal("w", 0, 2, shape=D, transform=transform, initval=np.arange(D) * 1.0)
    pm.Normal("y", w[np.arange(N) % D], 3.0, observed=Y)
    counts = np.bincount(np.arange(N) % D)
    sums = np.bincount(np.arange(N) % D, weights=Y)
    return (
        np.diag(counts / 9 + 0.25),
        sums / 9,
        lambda w: (np.diff(w, axis=1) >= 0).all(axis=1),
    )


def positive_rows_in_descending_order():
    transform = pm.distributions.transforms.Ordered(positive=True, ascending=False)
    start = np.array([[1.0, 0.5], [3.0, 2.0]])
    w = pm.Normal("w", 0, 2, shape=(2, 2), transform=transform, initval=start)
    pm.Normal("y", w.ravel()[np.arange(N) % 4], 3.0, observed=Y)
    counts = np.bincount(np.arange(N) % 4)
    sums = np.bincount(np.arange(N) % 4, weights=Y)
    falls = np.array([[1, -1, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 1]])
    return np.diag(counts / 9 + 0.25), sums / 9, lambda w: (w @ falls.T >= 0).all(axis=1)


def random_walk():
    steps = [pm.Normal("w_0", 0.5, 1.0)]
    for k in range(1, D):
        steps.append(pm.Normal(f"w_{k}", 0.8 * steps[-1], 0.7))
    w = pt.stack(steps)
    pm.Normal("y", w, 1.5, observed=Y[:D])
    pm.Potential("positive", pt.switch(w > 0, 0, -INF))
    step = np.eye(D) - 0.8 * np.eye(D, k=-1)
    weight = np.diag([1.0] + [1 / 0.49] * (D - 1))
    A = step.T @ weight @ step + np.eye(D) / 2.25
    return A, np.eye(D)[0] * 0.5 + Y[:D] / 2.25, lambda w: (w > 0).all(axis=1)


def gaussian_process():
    x = np.linspace(0, 1, D)
    K = np.exp(-0.5 * (x[:, None] - x) ** 2 / 0.3**2) + 1e-2 * np.eye(D)
    w = pm.MvNormal("w", np.zeros(D), K)
    pm.Normal("y", w, 0.8, observed=Y[:D])
    pm.Potential("positive", pt.switch(pt.all(w >= 0), 0, -INF))
    return np.linalg.inv(K) + np.eye(D) / 0.64, Y[:D] / 0.64, lambda w: (w >= 0).all(axis=1)


def shell():
    w = pm.MvNormal("w", 0.3 * np.ones(2), np.array([[1.0, 0.4], [0.4, 1.0]]))
    pm.Potential("in", pt.switch((w**2).sum() <= 2, 0, -INF))
    pm.Potential("out", pt.switch(pt.dot(w, w) < 0.5, -INF, 0))
    A = np.linalg.inv([[1.0, 0.4], [0.4, 1.0]])
    return A, A @ [0.3, 0.3], lambda w: np.abs((w**2).sum(axis=1) - 1.25) <= 0.75


MODELS = [
    non_negative,
    no_transform,
    exponential,
    monotone,
    ordered,
    positive_rows_in_descending_order,
    random_walk,
    gaussian_process,
    shell,
]


LONG = (random_walk, gaussian_process, no_transform)


@pytest.mark.parametrize(
    "make", slow_but([x for x in MODELS if x not in LONG], MODELS), ids=lambda make: make.__name__
)
def test_models_without_indicators_match_rejection(make):
    """First and second moments of every kind of truncated Gaussian."""
    with pm.Model() as model:
        A, b, allowed = make()
    names = [rv.name for rv in model.free_RVs]
    draws = run(model, 6000, *names)
    assert allowed(draws).all()
    assert_moments(draws, rejection(A, b, allowed))


def test_plain_gaussians_are_drawn_exactly_if_named():
    """Named, they are taken; unnamed, the message says how to."""
    with pm.Model() as model:
        w = pm.Normal("w", 0, 2, shape=D)
        pm.Normal("y", X @ w, SIGMA, observed=Y)
    with pytest.raises(ValueError, match=r"nothing truncates it; .* name it in vars"):
        ExactBinaryHMC(model=model)
    draws = run(model, 4000, "w", vars=["w"])
    assert_moments(
        draws, rejection(A_DATA + np.eye(D) / 4, B_DATA, lambda w: np.full(len(w), True))
    )
    correlation = np.array([np.corrcoef(x[1:], x[:-1])[0, 1] for x in draws.T])
    # Independent draws: √n times a correlation is standard normal.
    assert_holds(*(2 * stats.norm.sf(np.sqrt(len(draws)) * np.abs(correlation))), seed=SEED)


def half_space_scale(grid):
    """Posterior of τ with w ~ N(0, τ²I₂), Half-normal τ, one datum, and w_0 + w_1 ≥ 1."""
    tau = grid
    # y ~ N(w_0 − w_1, 1) and the constraint is on w_0 + w_1: independent directions.
    spread = 2 * tau**2 + 1
    data = stats.norm.pdf(1.2, 0, np.sqrt(spread))
    inside = stats.norm.sf(1 / (np.sqrt(2) * tau))
    density = stats.norm.pdf(tau) * data * inside
    return density / np.trapezoid(density, grid)


@pytest.mark.slow
@pytest.mark.parametrize("gated", [False, True])
def test_scales_of_constrained_weights_are_sampled_given_all_weights(gated):
    """The region has no normaliser in the model: p(τ) carries P(w in region | τ), by quadrature.

    With gates, weights that are off are cut by a raw constraint too and hold back τ as well.
    """
    with pm.Model():
        tau = pm.HalfNormal("tau", 1.0)
        w = pm.Normal("w", 0, tau, shape=2)
        seen = w
        if gated:
            seen = w * pm.Bernoulli("gamma", 0.5, shape=2)
        pm.Normal("y", seen[0] - seen[1], 1.0, observed=1.2)
        pm.Potential("c", pt.switch(w.sum() >= 1, 0, -INF))
        step = ExactBinaryHMC()
        assert "tau" not in [v.name for v in step.vars]
        idata = pm.sample(
            6000, tune=600, chains=1, cores=1, step=step, progressbar=False,
            random_seed=3, compute_convergence_checks=False,
        )  # fmt: skip
    found = idata.posterior["tau"].values[0]
    if gated:
        grid, density = gated_scale()
    else:
        grid = np.linspace(1e-3, 8, 8000)
        density = half_space_scale(grid)
    exact = [np.trapezoid(f * density, grid) for f in (grid, grid**2, grid > 1)]
    columns = np.column_stack([found, found**2, found > 1])
    assert_holds(*batch_pvalues(columns, np.array(exact)), seed=3)


def gated_scale():
    """Posterior of τ with both indicators summed out: on a grid of τ, by quadrature over w."""
    grid = np.linspace(0.02, 6, 300)
    x = np.linspace(-12, 12, 601)
    a, b = np.meshgrid(x, x, indexing="ij")
    likelihood = sum(stats.norm.pdf(1.2, s * a - t * b, 1.0) for s in (0, 1) for t in (0, 1)) * (
        a + b >= 1
    )
    # A point on the boundary counts half, as the trapezoid rule wants it.
    likelihood = np.where(np.isclose(a + b, 1), 0.5, 1.0) * likelihood
    density = np.array(
        [
            stats.norm.pdf(tau) * np.sum(likelihood * np.outer(*[stats.norm.pdf(x, 0, tau)] * 2))
            for tau in grid
        ]
    )
    return grid, density / np.trapezoid(density, grid)


def test_orthants_decide_inclusion_under_a_sum_constraint():
    """γ∘w with Σ γw ≥ c: a half-space, so states have probabilities in closed form."""
    tau, least = 1.5, 0.8
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        w = pm.Normal("w", 0, tau, shape=D)
        pm.Normal("y", X @ (gamma * w), SIGMA, observed=Y)
        pm.Potential("c", pt.switch((gamma * w).sum() >= least, 0, -INF))
    states = np.array(np.meshgrid(*[[0, 1]] * D, indexing="ij")).reshape(D, -1).T
    log_p = np.full(len(states), -np.inf)
    for k, s in enumerate(states):
        on = np.flatnonzero(s)
        if len(on):
            A = A_DATA[np.ix_(on, on)] + np.eye(len(on)) / tau**2
            covariance = np.linalg.inv(A)
            mean = covariance @ B_DATA[on]
            inside = stats.norm.logsf(least, mean.sum(), np.sqrt(covariance.sum()))
            log_p[k] = 0.5 * B_DATA[on] @ mean - 0.5 * np.linalg.slogdet(A)[1] + inside
            log_p[k] += len(on) * (np.log(P / (1 - P)) - np.log(tau))
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    draws = run(model, 10_000, "gamma", "w")
    s, w = draws[:, :D], draws[:, D:]
    assert ((s * w).sum(axis=1) >= least).all()
    assert_holds(*batch_pvalues(s, p @ states), seed=SEED)


def test_start_is_found_where_the_default_is_outside():
    """By a linear programme, or by a search for quadratic walls; also with gates."""
    with pm.Model() as linear:
        w = pm.Normal("w", 0, 1, shape=20)
        pm.Potential("rise", pt.switch(pt.all(w[1:] >= w[:-1] + 0.1), 0, -INF))
    with pm.Model() as bent:
        w = pm.Normal("w", 0, 1, shape=5)
        pm.Potential("far", pt.switch((w**2).sum() >= 30, 0, -INF))
        pm.Potential("half", pt.switch(w[0] + w[1] >= 3, 0, -INF))
    with pm.Model() as gates:
        gamma = pm.Bernoulli("gamma", 0.1, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", (gamma * w).sum(), 1, observed=1.0)
        pm.Potential("much", pt.switch((gamma * w).sum() >= 4, 0, -INF))
    for model in (linear, bent, gates):
        draws = run(model, 50, *[rv.name for rv in model.free_RVs])
        assert np.isfinite(draws).all()
        point = model.initial_point()
        with model:
            step = ExactBinaryHMC()
        # Every chain of a step starts anew.
        for seed in range(2):
            step.set_rng(np.random.default_rng(seed))
            end, _ = step.step(point)
            assert np.isfinite(model.compile_logp()(end))


def test_a_start_that_is_searched_for_is_one_that_the_model_allows(monkeypatch):
    """At least one weight, at most two: neither all indicators off nor all on will do."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.02, shape=3)
        w = pm.TruncatedNormal("w", 0.5, 1, lower=0, upper=1, shape=3)
        pm.Potential("few", pt.switch(gamma.sum() <= 2, 0, -INF))
        pm.Potential("much", pt.switch((gamma * w).sum() >= 0.9, 0, -INF))
        pm.Normal("y", (gamma * w).sum(), 1.0, observed=1.0)
    move, s = ExactBinaryHMC(model=model)._move, np.zeros(3, np.int8)
    monkeypatch.setattr(move, "_kernel", lambda *_: None)  # the start itself is looked at
    moved = move(model.initial_point(), s, np.random.default_rng(SEED), check=False)
    start = model.initial_point() | moved | {"gamma": s.astype("int64")}
    assert 0 < s.sum() < 3
    assert np.isfinite(model.compile_logp(mode="FAST_COMPILE")(start))


def test_infeasible_starts_and_empty_regions_are_errors():
    """The constraint is named; nothing hangs."""

    def cube(initval=None):
        with pm.Model() as model:
            w = pm.Normal("w", 0, 1, shape=2, initval=initval)
            pm.Potential("above", pt.switch(w.sum() >= 1, 0, -INF))
        return model

    with pm.Model() as two:
        w, v = pm.Normal("w"), pm.Normal("v")
        pm.Potential("above", pt.switch(w + v >= 1, 0, -INF))
    with pytest.raises(SamplingError, match="start violates above"):
        run(two, 1, "w", point=two.initial_point() | {"w": np.array(0.2)})
    with pytest.raises(SamplingError, match="start violates above"):
        run(cube(np.zeros(2)), 1, "w")
    with pytest.raises(SamplingError, match="start violates above"):
        run(cube(), 1, "w", point={"w": np.array([0.1, 0.2])})
    model = cube()
    with model:
        pm.Potential("below", pt.switch(model["w"].sum() <= 0, 0, -INF))
    with pytest.raises(SamplingError, match=r"no start for w: nothing satisfies.*above, below"):
        run(model, 1, "w")
    with pm.Model() as nowhere:
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Potential("imaginary", pt.switch((w**2).sum() <= -1, 0, -INF))
    with pytest.raises(SamplingError, match="imaginary"):
        run(nowhere, 1, "w")


def test_contract_of_the_step():
    """Sampling beside NUTS, two processes, pickling, and what explain() says."""
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 1.0)
        w = pm.HalfNormal("w", 2.0, shape=D)
        pm.Normal("y", X @ w, sigma, observed=Y)
        pm.Potential("sum", pt.switch(w.sum() <= 1.0 + sigma, 0, -INF))
        step = ExactBinaryHMC()
        options = {"tune": 20, "chains": 2, "random_seed": 5, "progressbar": False}
        both = [
            pm.sample(
                30, cores=cores, step=ExactBinaryHMC(), compute_convergence_checks=False, **options
            )
            for cores in (1, 2)
        ]
    np.testing.assert_array_equal(*[idata.posterior["w"].values for idata in both])
    assert "sigma (it enters y, which is not Gaussian in it)" in str(step.explain())
    assert "sum (constraint)" in str(explain(model))
    copy = cloudpickle.loads(cloudpickle.dumps(step))
    point = model.initial_point()
    ends = []
    for one in (step, copy):
        one.set_rng(np.random.default_rng(1))
        ends.append(one.step(point)[0]["w_log__"])
    np.testing.assert_array_equal(*ends)


def corner(mean, correlation, d=20):
    """A Gaussian with a common correlation, cut to w ≥ 0 in every coordinate."""
    covariance = correlation + (1 - correlation) * np.eye(d)
    with pm.Model() as model:
        w = pm.MvNormal("w", np.full(d, mean), covariance)
        pm.Potential("positive", pt.switch(pt.all(w >= 0), 0, -INF))
    return model


def test_trials_decide_between_flights_and_sweeps():
    """Deep in a corner weights are swept; correlated ones fly; an option asks for flights."""
    plans = {}
    for mean, correlation in ((-3.0, 0.0), (0.0, 0.99)):
        model = corner(mean, correlation)
        with model:
            step = ExactBinaryHMC()
        assert step.plan.size == 0
        step.step(model.initial_point())
        plans[correlation] = dict(zip(Plan._fields, step.plan, strict=True))
    assert plans[0.0]["sweeps"] >= 1
    assert plans[0.0]["flights"] < 0.5
    assert plans[0.99]["flights"] == 1
    with model:
        step = ExactBinaryHMC(travel_time=1.0)
        several = ExactBinaryHMC(trajectories=3)
    np.testing.assert_array_equal(step.plan, [1.0, 1.0, 1.0, 0, 1])
    assert several.plan.size == 0  # which is not yet made, but will be


def test_effective_draws_of_a_trial():
    """(1 − ρ)/(1 + ρ) of an autoregression, nearly 1 of draws that are independent."""
    rng, n = np.random.default_rng(5), 40_000
    noise, x = rng.normal(size=n), np.empty(n)
    x[0] = noise[0]
    for k in range(1, n):
        x[k] = 0.6 * x[k - 1] + 0.8 * noise[k]
    # Geyer's estimate of an autoregression has a standard error of a few per cent here.
    assert _effective_share(x[:, None]) == pytest.approx(0.25, rel=0.15)
    assert _effective_share(noise[:, None]) > 0.9


def test_plan_is_saved_with_the_state_and_fixed_after_tuning():
    """Restored, a step goes on as it would have; the plan is made anew in tuning alone."""
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1.0)
        w = pm.Normal("w", 0, tau, shape=D)
        pm.Potential("positive", pt.switch(pt.all(w >= 0), 0, -INF))
    with model:
        step, other = ExactBinaryHMC(vars=[w]), ExactBinaryHMC(vars=[w])
    start = model.initial_point() | {"w": np.ones(D)}
    for tuning, made in ((True, 3), (False, 1)):
        step.set_rng(np.random.default_rng(3))
        step.tune, point, plans = tuning, start, []
        for _ in range(300):
            point, _ = step.step(point)
            plans.append(id(step._move.plan))
        assert len(set(plans)) == made
    other.sampling_state = step.sampling_state
    ends = []
    for one in (step, other):
        end = point
        for _ in range(5):
            end, _ = one.step(end)
        ends.append(end["w"])
    np.testing.assert_array_equal(*ends)


def test_a_step_resumed_in_tuning_plans_again_where_it_would_have():
    """It counts the calls that were made before it was saved."""
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1.0)
        w = pm.Normal("w", 0, tau, shape=D)
        pm.Potential("positive", pt.switch(pt.all(w >= 0), 0, -INF))
        step, other = ExactBinaryHMC(vars=[w]), ExactBinaryHMC(vars=[w])
    point = model.initial_point() | {"w": np.ones(D)}
    for _ in range(40):
        point, _ = step.step(point)
    other.sampling_state = step.sampling_state
    plans = []
    for _ in range(40):
        point, _ = other.step(point)
        plans.append(id(other._move.plan))
    changes = [40 + k for k in range(1, 40) if plans[k] != plans[k - 1]]
    assert changes == [64]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "paper"}, "kernel='paper' is for models with indicators"),
        ({"inclusion": True}, "inclusion=True is for models with indicators"),
        ({"trajectories": 0}, "trajectories must be"),
        ({"trajectories": True}, "trajectories must be"),
        ({"travel_time": -1}, "travel_time"),
    ],
)
def test_options_for_indicators_are_refused_without_them(options, words):
    """A sentence says which option does not fit."""
    with pm.Model() as model:
        pm.HalfNormal("w", 1.0, shape=2)
    with pytest.raises(ValueError, match=words):
        ExactBinaryHMC(model=model, **options)


def test_transforms_that_cut_a_prior_are_not_taken_for_none():
    """A Normal with a log transform is positive: not a weight that may be negative."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.5, shape=D)
        w = pm.Normal(
            "w", 0, 1, shape=D, transform=pm.distributions.transforms.log, initval=[1] * D
        )
        pm.Normal("y", X @ (gamma * w), SIGMA, observed=Y)
    assert "its transform LogTransform is not that of its prior" in str(explain(model))


@pytest.mark.parametrize("ends", [(0.5, 4.0), (-1.0, 6.0), (0.0, None), (None, 5.0)])
@pytest.mark.parametrize("gated", [True, False])
def test_intervals_that_are_not_those_of_the_prior(ends, gated):
    """They cut it, or reach beyond it; the same interval is that of the prior."""
    interval = pm.distributions.transforms.Interval
    for transform, taken in ((interval(*ends), False), (interval(0.0, 5.0), True)):
        with pm.Model() as model:
            w = pm.TruncatedNormal(
                "w", 0, 1, lower=0, upper=5, shape=D, default_transform=transform, initval=[1] * D
            )
            gamma = pm.Bernoulli("gamma", 0.5, shape=D) if gated else 1.0
            pm.Normal("y", X @ (gamma * w), SIGMA, observed=Y)
        if taken:
            assert "w_interval__" in {v.name for v in ExactBinaryHMC(model=model).vars}
        elif gated:
            assert "w (its transform Interval is not that of its prior)" in str(explain(model))
        else:
            with pytest.raises(ValueError, match="its transform Interval is not that of its prior"):
                ExactBinaryHMC(model=model)


def test_positive_orthant_by_its_probabilities():
    """P(w_0 > 0.5 | w ≥ 0), by the distribution function of the Gaussian."""
    A = A_DATA + np.eye(D) / 4
    covariance = np.linalg.inv(A)
    mean = covariance @ B_DATA

    def orthant(lower):
        return multivariate_normal.cdf(
            -lower, -mean, covariance, abseps=1e-7, releps=1e-6, rng=np.random.default_rng(0)
        )

    with pm.Model() as model:
        w = pm.HalfNormal("w", 2.0, shape=D)
        pm.Normal("y", X @ w, SIGMA, observed=Y)
    draws = run(model, 8000, "w")
    cuts = [(i, c) for i in range(D) for c in (0.1, 0.5)]
    exact = [orthant(c * np.eye(D)[i]) / orthant(np.zeros(D)) for i, c in cuts]
    tails = np.column_stack([draws[:, i] > c for i, c in cuts]).astype(float)
    assert_holds(*batch_pvalues(tails, np.array(exact)), seed=SEED)


def test_variables_that_are_no_weights_are_refused():
    """What is named but cannot be taken is named in the answer."""
    with pm.Model() as model:
        w, sigma = pm.HalfNormal("w", 2.0, shape=D), pm.HalfNormal("sigma")
        pm.Normal("y", X @ w, sigma, observed=Y)
    with pytest.raises(ValueError, match="sigma"):
        ExactBinaryHMC([w, sigma], model=model)


def test_a_log_scale_is_left_and_its_weights_are_taken():
    """Where a likelihood is not Gaussian, what it is not Gaussian in by itself is left."""
    with pm.Model() as model:
        w, log_sigma = pm.HalfNormal("w", 2.0, shape=D), pm.Normal("log_sigma")
        pm.Normal("y", X @ w, pt.exp(log_sigma), observed=Y)
    block, reasons = recognise_truncated(model, model.initial_point())
    assert [x.name for x in block.weights] == ["w"]
    assert set(reasons) == {"log_sigma"}


def test_slabs_and_bounds_follow_other_variables():
    """The Gaussian and the region are those of the current scale and bound."""
    with pm.Model() as model:
        tau, top = pm.LogNormal("tau"), pm.LogNormal("top")
        w = pm.TruncatedNormal("w", 0, tau, lower=-1, upper=top, shape=D)
        pm.Normal("y", X @ w, SIGMA, observed=Y)
    start = model.initial_point()
    gaussian = TruncatedGaussian(model, recognise_truncated(model, start)[0], start)
    for tau, top in ((0.5, 1.5), (2.0, 1.5), (2.0, 0.7)):
        gaussian.update(start | {"tau_log__": np.log(tau), "top_log__": np.log(top)})
        np.testing.assert_allclose(gaussian.A, A_DATA + np.eye(D) / tau**2)
        np.testing.assert_allclose(gaussian.walls.region.g, [1] * D + [top] * D)


@pytest.mark.parametrize("scale", [pm.HalfNormal, pm.Exponential])
def test_scales_that_multiply_weights_are_left_alone(scale):
    """τ·β is not Gaussian in both; of the two the one with a bound is a scale."""
    with pm.Model() as model:
        tau, beta = scale("tau", 1.0), pm.Normal("beta", shape=D)
        pm.Normal("y", tau * (X @ beta), SIGMA, observed=Y)
        pm.Potential("rising", pt.switch(pt.all(beta[1:] >= beta[:-1]), 0, -INF))
    block, reasons = recognise_truncated(model, model.initial_point())
    assert [w.name for w in block.weights] == ["beta"]
    assert reasons == {"tau": "it enters y, which is not Gaussian in it"}


def test_changed_data_are_noticed():
    """As in models with indicators."""
    with pm.Model() as model:
        w = pm.HalfNormal("w", 2.0, shape=D)
        pm.Normal("y", X @ w, SIGMA, observed=pm.Data("data", Y))
        step = ExactBinaryHMC()
        pm.set_data({"data": -Y})
    with pytest.raises(SamplingError, match="data of the model have changed"):
        step.step(model.initial_point())


def test_no_word_about_indicators_that_do_not_exist():
    """500 draws of a model without indicators warn of nothing."""
    with pm.Model() as model:
        w = pm.HalfNormal("w", 1.0, shape=2)
        pm.Normal("y", w, 1.0, observed=np.zeros(2))
        step = ExactBinaryHMC()
    step.set_rng(np.random.default_rng(2))
    point, said = model.initial_point(), []
    for _ in range(1200):
        point, (report,) = step.step(point)
        said.append(report["warning"])
    assert said == [None] * 1200


def test_reflections_of_all_rounds_are_counted(monkeypatch):
    """A draw may fly several times."""
    with pm.Model() as model:
        pm.HalfNormal("w", 1.0, shape=2)
        step = ExactBinaryHMC(rng=1)
    move, point = step._move, model.initial_point()
    step.step(point)
    move.plan = move.plan._replace(rounds=3)
    monkeypatch.setattr(move, "_play", lambda *_, **__: move._scratch.counts.__setitem__(0, 2))
    move(point, np.zeros(0, np.int8), np.random.default_rng(1), check=False)
    assert move.reflections == 6


def test_what_shares_a_likelihood_with_a_truncated_weight_is_drawn_with_it():
    """An intercept that nothing truncates; one of another likelihood is left to other steps."""
    X = np.random.default_rng(4).normal(size=(6, 2))
    with pm.Model() as model:
        w, a, b = pm.HalfNormal("w", 1.0, shape=2), pm.Normal("a"), pm.Normal("b")
        pm.Normal("y", a + X @ w, 1.0, observed=X[:, 0])
        pm.Normal("z", b, 1.0, observed=X[:, 1])
    block, reasons = recognise_truncated(model, model.initial_point())
    assert {weight.name for weight in block.weights} == {"w", "a"}
    assert reasons == {"b": UNTRUNCATED}


def test_pieces_of_a_region_are_left():
    """Flights do not jump; where a region is not convex, draws along lines do."""
    with pm.Model() as model:
        w = pm.Normal("w", 0.0, 1.0, shape=2)
        pm.Potential("apart", pt.switch(w[0] ** 2 >= 0.5, 0, -INF))
        step = ExactBinaryHMC()
    step.set_rng(np.random.default_rng(5))
    point, signs = model.initial_point() | {"w": np.array([1.0, 0.0])}, set()
    for _ in range(60):
        point, _ = step.step(point)
        signs.add(np.sign(point["w"][0]))
    assert signs == {-1.0, 1.0}
