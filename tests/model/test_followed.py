"""Coefficients follow the variables of other steps: whatever was there before, nothing stays."""

import itertools

import cloudpickle
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.regions.region import violated
from pymc_exact_hmc.weights.block import LOWER, UPPER
from pymc_exact_hmc.weights.grams import DenseGram
from pymc_exact_hmc.weights.refreshing import prepare

RNG = np.random.default_rng(71)
N, D = 19, 3  # more rows than there may be classes of noise
X, TIME = RNG.normal(size=(N, D)), np.linspace(-1, 1, N)
Y = X @ np.array([0.8, 0.0, -0.5]) + RNG.normal(size=N)
S, W = np.array([1, 0, 1], np.int8), np.array([0.4, 1.3, 0.7])


def predictor(prior=None):
    gamma = pm.Bernoulli("gamma", 0.4, shape=D)
    return X @ (gamma * (pm.Normal("w", shape=D) if prior is None else prior("w", shape=D)))


def noise_and_slab():
    tau = pm.HalfNormal("tau", 2.0)
    mean = predictor(lambda name, **shape: pm.Normal(name, 0.2, tau, **shape))
    pm.Normal("y", mean, pm.HalfNormal("sigma"), observed=Y)


def bounds_and_offset():
    low = pm.Normal("low", -1.0, 0.1)
    mean = predictor(lambda name, **s: pm.TruncatedNormal(name, 0, 1, lower=low, upper=3, **s))
    pm.Normal("y", pm.Uniform("u") + mean, 1.0, observed=Y)


def columns():
    pm.Normal("y", pm.Uniform("u") * predictor(), 1.0, observed=Y)


def unit_of_either_sign():
    w = pm.TruncatedNormal("w", 0, 1, lower=-0.2, upper=2, shape=D)
    gamma = pm.Bernoulli("gamma", 0.4, shape=D)
    pm.Normal("y", X @ (gamma * (pm.StudentT("u", 3, initval=1.0) * w)), 1.0, observed=Y)


def noise_of_each_row():
    pm.Normal("y", predictor(), pt.exp(pm.Uniform("a") + pm.Uniform("b") * TIME), observed=Y)


def noise_of_groups():
    pm.Normal("y", predictor(), pm.HalfNormal("sigma", shape=3)[np.arange(N) % 3], observed=Y)


def change_of_noise():
    change = pm.DiscreteUniform("change", 0, N)
    pm.Normal("y", predictor(), pt.switch(np.arange(N) < change, 1.0, 3.0), observed=Y)


def correlation_from_some_number_on():
    covariance = pt.switch(pm.DiscreteUniform("k", 0, N) < 12, np.eye(N), 0.5 * np.eye(N) + 0.5)
    pm.MvNormal("y", predictor(), covariance, observed=Y)


def weights_that_change_places():
    gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", shape=D)
    turned = pt.switch(pm.DiscreteUniform("k", 0, N) < 12, X, X[:, ::-1])
    pm.Normal("y", turned @ (gamma * w), 1.0, observed=Y)


def two_likelihoods():
    mean = predictor()
    pm.Normal("y", mean, pm.HalfNormal("sigma"), observed=Y)
    pm.Laplace("z", mean, pm.HalfNormal("b"), observed=Y[::-1].copy())


def groups_beside_rows():
    mean, sigma = predictor(), pm.HalfNormal("sigma", shape=2)
    pm.Normal("y", mean, sigma[np.arange(N) % 2], observed=Y)
    scales = pt.exp(pm.Uniform("a") + pm.Uniform("b") * TIME)
    pm.StudentT("z", 4, mu=mean, sigma=scales, observed=Y[::-1].copy())


def student():
    sigma = pm.HalfNormal("sigma")
    pm.StudentT("y", pm.Gamma("nu", 2, 0.1), mu=predictor(), sigma=sigma, observed=Y)


def laplace_of_each_row():
    pm.Laplace("y", predictor(), pt.exp(pm.Uniform("a") + pm.Uniform("b") * TIME), observed=Y)


def overdispersed():
    counts = np.arange(N) % 4
    alpha = pm.HalfNormal("alpha", 2.0)
    pm.NegativeBinomial("y", mu=pt.exp(predictor()), alpha=alpha, observed=counts)


def censored():
    normal = pm.Normal.dist(predictor(), pm.HalfNormal("sigma"))
    pm.Censored("y", normal, lower=-0.5, upper=None, observed=np.maximum(Y, -0.5))


def columns_of_log_odds():
    gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", shape=D)
    turned = X * pt.exp(pm.Uniform("u") * TIME)[:, None]
    pm.Bernoulli("y", logit_p=turned @ (gamma * w), observed=(Y > 0).astype(int))


def scale_of_some_columns():
    gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", shape=D)
    mean = X @ (gamma * w * pm.HalfNormal("tau")) + X[:, ::-1] @ (gamma * w)
    pm.Normal("y", mean, pm.HalfNormal("sigma"), observed=Y)


MODELS = [
    noise_and_slab, bounds_and_offset, columns, unit_of_either_sign, noise_of_each_row,
    noise_of_groups, change_of_noise, correlation_from_some_number_on, weights_that_change_places,
    two_likelihoods, groups_beside_rows, student, laplace_of_each_row, overdispersed, censored,
    columns_of_log_odds, scale_of_some_columns,
]  # fmt: skip


def walk(model, rng):
    """Yield points that differ from the last in one variable of another step."""
    point = model.initial_point()
    taken = ("gamma", "w")
    names = [v.name for v in model.value_vars if v.name.split("_")[0] not in taken]
    assert names
    for name in names * (2 if len(names) == 1 else 1):
        old = point[name]
        new = rng.permutation(N)[0] if old.dtype.kind == "i" else -old - 0.3 - rng.random(old.shape)
        point = point | {name: np.asarray(new, old.dtype)}
        yield point


def seen_at(move, point):
    """Everything that a kernel reads at a point, after latents were drawn there."""
    move._update_gaussian(point)
    move._draw_latents(point, S, W, np.random.default_rng(3))
    gaussian, active = move.gaussian, move._active
    block, gram = gaussian.block, gaussian.block.gram
    prepare(block, active, S)
    assert (block.coefficients[LOWER] < block.coefficients[UPPER]).all()
    M = gram.M if isinstance(gram, DenseGram) else gram.X.T * gram.row_weights @ gram.X
    latents = [x for latent in gaussian.latents for x in (*latent.family, latent.factor)]
    caches = active.D, active.rho, active.diagonal
    squares = gaussian.statistics.precisions @ gaussian.statistics.squares
    return [gaussian.scale * M, squares, block.coefficients, block.log_slab, *caches, *latents]


LONG = (change_of_noise, weights_that_change_places, censored)
"""Whose coefficients are followed as those of another are."""


@pytest.mark.parametrize(
    "make", slow_but([x for x in MODELS if x not in LONG], MODELS), ids=lambda make: make.__name__
)
def test_a_step_that_was_elsewhere_sees_what_a_new_one_sees(make, monkeypatch):
    """One variable after another changes; each time a new step is made where the old one is."""
    with pm.Model() as model:
        make()
        # As in a process that was spawned.
        old = cloudpickle.loads(cloudpickle.dumps(ExactBinaryHMC([model["gamma"], model["w"]])))
        seen_at(old._move, model.initial_point())  # so that there are caches to grow old
        for point in walk(model, np.random.default_rng(5)):
            monkeypatch.setattr(model, "initial_point", lambda point=point: point)
            new = ExactBinaryHMC([model["gamma"], model["w"]])
            pairs = zip(*(seen_at(step._move, point) for step in (old, new)), strict=True)
            for found, wanted in pairs:
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def turning_wall():
    w = pm.Normal("w", 0.5, 1.0, shape=D)
    pm.Potential("wall", pt.switch(w[0] + pm.Normal("slope", 0.5) * w[1] >= -1.0, 0.0, -np.inf))


def test_products_follow_the_signs_of_factors():
    """Each factor that holds no weight turns the wall where it changes its sign."""
    with pm.Model() as model:
        w = pm.Normal("w", shape=D)
        a, b = pm.Normal("a", initval=1.0), pm.Normal("b", initval=1.0)
        pm.Potential("wall", pt.switch(a * w[0] * w[1] * b * w[2] >= 0, 0.0, -np.inf))
        old = ExactBinaryHMC([w])
    inside = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, 1], [-1, -1, -1]])
    for signs in itertools.product((1.0, -1.0), repeat=2):
        now = {name: np.array(2.0 * sign) for name, sign in zip("ab", signs, strict=True)}
        old._move._update(model.initial_point() | now)
        region = old._move.gaussian.walls.region
        found = [violated(region, np.prod(signs) * place) < 0 for place in inside]
        assert found == [True, True, False, False]


def test_walls_that_turn_are_measured_again(monkeypatch):
    """Reflections depend on F Σ F' and sweeps on F, also where the Gaussian stays as it is."""
    with pm.Model() as model:
        turning_wall()
        old = ExactBinaryHMC([model["w"]])
        old.step(model.initial_point())
        for slope in (1.5, -0.7):
            point = model.initial_point() | {"slope": np.array(slope)}
            monkeypatch.setattr(model, "initial_point", lambda point=point: point)
            new = ExactBinaryHMC([model["w"]])
            for step in (old, new):
                step._move._update(point)
            mine, theirs = (step._move._scratch.flight for step in (old, new))
            np.testing.assert_allclose(mine.FSigma, theirs.FSigma, rtol=1e-12)
            np.testing.assert_allclose(mine.gram, theirs.gram, rtol=1e-12)
            mine, theirs = (step._move._scratch.sweep.columns for step in (old, new))
            assert theirs.start[-1] > 0
            for found, wanted in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(found, wanted)


def test_bounds_that_move_reach_the_region(monkeypatch):
    """Gated weights under a constraint, whose own bounds another step moves."""
    with pm.Model() as model:
        low, gamma = pm.Normal("low", -1.0, 0.1), pm.Bernoulli("gamma", 0.4, shape=D)
        w = pm.TruncatedNormal("w", 0, 1, lower=low, upper=3, shape=D)
        pm.Potential("fence", pt.switch((gamma * w).sum() <= 4.0, 0.0, -np.inf))
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
        old = ExactBinaryHMC([gamma, w])
        for lower in (-0.4, -2.0):
            point = model.initial_point() | {"low": np.array(lower)}
            monkeypatch.setattr(model, "initial_point", lambda point=point: point)
            new = ExactBinaryHMC([gamma, w])
            for step in (old, new):
                step._move._update_gaussian(point)
            mine, theirs = (step._move.walls.region for step in (old, new))
            assert len(mine) == len(theirs)
            for found, wanted in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(found, wanted)
