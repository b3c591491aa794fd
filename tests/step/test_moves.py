"""Single parts of moves, by hand: what they read, what they write, and what they leave."""

import functools

import cloudpickle
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from likelihoods.families import BINARY
from step.regressions import D, P, X, Y

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.dynamics.transition import refresh_caches
from pymc_exact_hmc.moves.plan import MOST_ROUNDS, Plan, _try
from pymc_exact_hmc.weights.active import make_active
from pymc_exact_hmc.weights.block import R
from pymc_exact_hmc.weights.refreshing import refresh_active

SEED = 7


def test_indicators_move_at_the_probability_that_was_just_drawn(monkeypatch):
    """Hyperparameters move first, also where there are no weights."""
    with pm.Model() as model:
        pm.Bernoulli("gamma", pm.Beta("a", 1, 1), shape=D)
        move = ExactBinaryHMC()._move
    drawn = {"a_logodds__": np.array(2.5)}
    monkeypatch.setattr(type(move.hyper), "__call__", lambda self, *_, **__: drawn)
    s = np.zeros(D, np.int8)
    assert move(model.initial_point(), s, np.random.default_rng(SEED), check=False) == drawn
    none, every = (
        move._fresh_log_density(move.coefficients.energy, np.full(D, on, np.int8)) for on in (0, 1)
    )
    assert every - none == pytest.approx(2.5 * D)


def test_probabilities_are_moved_given_the_indicators_as_they_are():
    """Not as the point has them: a jump, or an earlier round of the draw, may have moved them."""
    with pm.Model() as model:
        first = pm.Bernoulli("first", pm.Beta("a", 1, 1), shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Bernoulli("second", model["a"] / 2, shape=1)
        pm.Normal("y", X[:, :2] @ (first * w), 1.0, observed=Y)
        hyper = ExactBinaryHMC()._move.hyper
    s, w = np.array([1, 0, 1], np.int8), np.zeros(2)
    draws = []
    for first, second in (([1, 0], [1]), ([0, 1], [0])):
        point = model.initial_point() | {"first": np.array(first), "second": np.array(second)}
        hyper.forget()
        draws.append(hyper(point, s, w, np.random.default_rng(SEED))["a_logodds__"])
    assert draws[0] == draws[1]


def limited(condition):
    """The move of two weights whose sum, as far as they are on, is limited; and the start.

    Their indicators are coupled.
    """
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.HalfNormal("w", shape=2)
        pm.Potential("pair", 1.5 * gamma[0] * gamma[1])
        pm.Potential("limit", pt.switch(condition((gamma * w).sum()), 0, -np.inf))
        pm.Normal("y", gamma * w, 1.0, observed=np.ones(2))
        return ExactBinaryHMC()._move, model.initial_point()


def assert_caches_are_those_of(s, prior):
    """The local fields of a prior that couples its indicators are h + Js."""
    assert prior.J.any()
    np.testing.assert_allclose(prior.local_field, prior.h + prior.J @ s, rtol=1e-12)


def test_weights_are_read_at_the_bounds_of_now():
    """What is not moved comes back as it was, also when another step has moved the bounds."""
    with pm.Model() as model:
        top = pm.LogNormal("top", 1.0, 0.3)
        w = pm.TruncatedNormal("w", 0, 1, lower=0, upper=top, shape=2)
        pm.Normal("y", w, 1.0, observed=np.ones(2))
        move = ExactBinaryHMC([w])._move
    move._play = lambda *_, **__: None
    point = model.initial_point() | {"w_interval__": np.array([0.3, -1.2])}
    for log_top in (1.0, 2.0, -1.0):
        point["top_log__"] = np.array(log_top)
        moved = move(point, np.zeros(0, np.int8), np.random.default_rng(SEED), check=False)
        np.testing.assert_allclose(moved["w_interval__"], point["w_interval__"])


def test_latents_are_drawn_where_a_jump_has_led(monkeypatch):
    """Given the state before it they would be those of another."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", P, shape=D), pm.Normal("w", shape=D)
        pm.Bernoulli("y", logit_p=X @ (gamma * w), observed=(Y > 0).astype(int))
        move = ExactBinaryHMC()._move
    seen = []

    def jump(self, s, w, rng):
        s[1] ^= 1
        return True

    monkeypatch.setattr(type(move.proxy), "__call__", jump)
    draw = move.gaussian.draw_latents
    move.gaussian.draw_latents = lambda point, s, *rest: (
        seen.append(s.copy()) or draw(point, s, *rest)
    )
    s = np.zeros(D, np.int8)
    move(model.initial_point(), s, np.random.default_rng(SEED), check=False)
    assert [x[1] for x in seen] == [1]


def test_every_chain_is_brought_into_the_region():
    """Chains of one process share a step, and each starts where nobody chose."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.HalfNormal("w", shape=2)
        pm.Potential("limit", pt.switch(w.sum() <= 0.5, 0, -np.inf))
        pm.Normal("y", gamma * w, 1.0, observed=np.ones(2))
        step = ExactBinaryHMC()
    for seed in range(2):
        step.set_rng(np.random.default_rng(seed))
        point, _ = step.step(model.initial_point())
        assert np.exp(point["w_log__"]).sum() <= 0.5


def test_weights_that_are_off_do_not_help_a_start_into_a_region():
    """Where all are off their sum is 0, so that a start is found with some on."""
    move, point = limited(lambda total: total >= 1.5)
    s, w = np.zeros(2, np.int8), np.ones(2)
    refresh_caches(move.prior.energy, s)
    move._enter(point, s, w)
    assert (s * w).sum() >= 1.5
    assert_caches_are_those_of(s, move.prior.energy)


def test_weights_that_are_off_do_not_keep_a_start_out_of_a_region():
    """A start that is inside because a weight is off stays as it is."""
    move, point = limited(lambda total: total <= 1.5)
    s, w = np.array([1, 0], np.int8), np.array([1.0, 9.0])
    move._enter(point | {"w_log__": np.log(w)}, s, w)
    np.testing.assert_array_equal(s, [1, 0])
    np.testing.assert_array_equal(w, [1.0, 9.0])


def test_weights_that_a_wall_comes_to_meet_are_carried():
    """A wall that leaves a weight alone at the start may meet it later in the chain."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", P, shape=2), pm.Normal("w", shape=2)
        slope = pm.Uniform("slope", -1, 1, shape=2)
        pm.Potential("side", pt.switch((slope * w).sum() <= 1, 0, -np.inf))
        pm.Normal("y", gamma * w, 1.0, observed=np.ones(2))
        move = ExactBinaryHMC([gamma, w])._move
    move._entered = True
    for places in ([0.0, 0.0], [0.7, 0.0], [0.0, -0.4]):
        move._update_gaussian(model.initial_point() | {"slope_interval__": np.array(places)})
        np.testing.assert_array_equal(move._fence.carried, np.array(places) != 0)


def test_the_error_of_caches_is_measured_before_they_are_renewed():
    """What has drifted is reported once, and is right from then on."""
    with pm.Model():
        gamma, w = pm.Bernoulli("gamma", P, shape=D), pm.Normal("w", shape=D)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
        move = ExactBinaryHMC()._move
    s = np.array([1, 0, 0, 1], np.int8)
    refresh_active(move.gaussian.block, move._active, s)
    before = move._active.rho[1] ** 2 / (2 * move._active.D[1])
    move._active.rho[1] *= 1.01
    assert move._cache_error(s) == pytest.approx((1.01**2 - 1) * before)
    assert move._cache_error(s) == 0.0


def test_a_trajectory_without_seats_enough_leaves_nothing_behind(monkeypatch):
    """It is made again from where it began: the same indicators, caches and random numbers."""
    with pm.Model():
        gamma, w = pm.Bernoulli("gamma", P, shape=D), pm.Normal("w", shape=D)
        pm.Potential("pairs", 1.5 * gamma.sum() ** 2)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
        move = ExactBinaryHMC(augmentation="box")._move
    prior, start, seen = move.prior.energy, np.array([1, 0, 0, 1], np.int8), []

    def travel(s, stream, n_hits, w):
        np.testing.assert_array_equal(s, start)
        assert_caches_are_those_of(s, prior)
        assert move.tally.hits[0] == 0
        assert (move.tally.per_wall == 0).all()
        seen.append((stream.copy(), n_hits, move._active.P.size))
        s[:], move.tally.hits[0], move.tally.per_wall[:] = 1, 9, 1
        stream += 1
        refresh_caches(prior, s)
        return len(seen) == 3

    move._active = make_active(move.gaussian.block, 1)
    monkeypatch.setattr(move, "_travel", travel)
    s = start.copy()
    refresh_caches(prior, s)
    move._move_collapsed(s, np.zeros(D), np.random.default_rng(SEED))
    streams, hits, seats = zip(*seen, strict=True)
    np.testing.assert_array_equal(streams, [streams[0]] * 3)
    np.testing.assert_array_equal(hits, [hits[0]] * 3)
    assert seats == (1, 2, 4)


@functools.cache
def paper():
    """A step of the paper's kernel with an intercept and a random scale, and its start."""
    with pm.Model() as model:
        gamma, w, b = pm.Bernoulli("gamma", P, shape=D), pm.Normal("w", shape=D), pm.Normal("b")
        pm.Normal("y", b + X @ (gamma * w), pm.HalfNormal("sigma"), observed=Y)
        return ExactBinaryHMC(kernel="paper"), model.initial_point()


def test_an_intercept_is_not_drawn_with_weights_that_are_off():
    """At new scales the paper's kernel draws weights that are off, whichever these are."""
    step, point = paper()
    gate = step._move.gaussian.block.gate
    assert sorted(gate) == [-1, *range(D)]
    s, w = np.array([0, 1, 1, 0], np.int8), np.full(D + 1, 0.3)
    step._move._move_scales(point, s, w, np.random.default_rng(SEED))
    np.testing.assert_array_equal(w == 0.3, [g < 0 or s[g] == 1 for g in gate])


def test_a_copy_holds_the_weights_that_its_original_holds():
    """Scales move given the weights, also in a process to which the step was sent."""
    step, _ = paper()
    for one in (step, cloudpickle.loads(cloudpickle.dumps(step))):
        assert one._move.hyper._evidence.held[0] == 1


@pytest.mark.parametrize(("memory", "cost", "rounds"), [(0.0, 1e6, 1), (0.999, 1.0, MOST_ROUNDS)])
def test_number_of_rounds(memory, cost, rounds):
    """One if draws are independent and dear, as many as may be if they are slow and cheap."""
    rng, plan = np.random.default_rng(SEED), Plan(1.0, 1.0, 1.0, 1, 1)

    def play(_, w):
        w[:] = memory * w + np.sqrt(1 - memory**2) * rng.normal(size=w.size)
        return cost

    _, found = _try(play, plan, rng.normal(size=2), np.eye(2), np.zeros(2), 500 * cost)
    assert found == plan._replace(rounds=rounds)


OFFSET = np.linspace(-2, 1, len(BINARY))
COLUMNS = np.random.default_rng(SEED).normal(size=(len(BINARY), D))


@functools.cache
def logistic():
    """The move of a logistic regression with a known offset."""
    with pm.Model():
        gamma, w = pm.Bernoulli("gamma", P, shape=D), pm.Normal("w", shape=D)
        pm.Bernoulli("y", logit_p=OFFSET + COLUMNS @ (gamma * w), observed=BINARY)
        return ExactBinaryHMC()._move


def test_crossings_of_a_jump_count_if_it_was_taken(monkeypatch):
    """A jump that was refused has crossed nothing, whatever its tally says."""
    move = logistic()
    monkeypatch.setattr(move.proxy, "tuning", False)
    move.proxy.tally.hits[0], move.proxy.tally.crossings[0] = 7, 3
    move.proxy.tally.per_wall[:] = [2, 0, 1, 0]
    for jumped in (False, True):
        move.tally.hits[0], move.tally.crossings[0], move.tally.per_wall[:] = 10, 4, 1
        move._learn_from(np.ones(D, np.int8), np.zeros(D), jumped=jumped)
        assert (move.tally.hits[0], move.tally.crossings[0]) == (10 + 7 * jumped, 4 + 3 * jumped)
        assert move.tally.per_wall.tolist() == ([3, 1, 2, 1] if jumped else [1] * D)


def test_the_proxy_and_its_excess_add_up_to_the_likelihood():
    """The kernel moves over the Gaussian that the acceptance of a jump corrects for."""
    rng, move = np.random.default_rng(SEED), logistic().proxy
    (proxy,) = move.proxies
    proxy.slope[:] = rng.normal(size=OFFSET.size)
    proxy.curvature[:] = rng.exponential(size=OFFSET.size)
    move._adopt()
    design, r, s = move._block.gram, move._block.coefficients[R], np.ones(D, np.int8)
    M = design.X.T * design.row_weights @ design.X
    rest = []
    for w in rng.normal(size=(4, D)):
        eta = OFFSET + COLUMNS @ w
        likelihood = (BINARY * eta - np.logaddexp(0, eta)).sum()
        rest.append(r @ w - 0.5 * w @ M @ w + move._total(s, w) - likelihood)
    np.testing.assert_allclose(rest, rest[0], rtol=1e-9)


def test_gaussian_and_walls_that_change_together():
    """The law follows the noise where a wall turns at the same call."""
    with pm.Model() as model:
        w, slope = pm.Normal("w", shape=2), pm.HalfNormal("slope")
        pm.Potential("side", pt.switch(w[0] > slope * w[1], 0, -np.inf))
        pm.Normal("y", w, pm.HalfNormal("sigma"), observed=[1.0, 2.0])
        move = ExactBinaryHMC([w])._move
    for slope, sigma in ((0.5, 2.0), (3.0, 0.7)):
        logs = {"slope_log__": np.log(slope), "sigma_log__": np.log(sigma)}
        move._update(model.initial_point() | logs)
        np.testing.assert_allclose(move._law.A, (1 + sigma**-2) * np.eye(2))
        np.testing.assert_allclose(move._law.b, np.array([1.0, 2.0]) / sigma**2)


@pytest.mark.parametrize("noise", [1.0, None])
def test_caches_belong_to_the_scales_that_were_just_drawn(noise):
    """Also where the slab moves alone."""
    with pm.Model() as model:
        gamma, tau = pm.Bernoulli("gamma", 0.5, shape=D), pm.HalfNormal("tau")
        sigma = pm.HalfNormal("sigma") if noise is None else noise
        pm.Normal("y", X @ (gamma * pm.Normal("w", 0, tau, shape=D)), sigma, observed=Y)
    step, point = ExactBinaryHMC(model=model, rng=1), model.initial_point()
    assert "tau_log__" in {v.name for v in step.vars}
    block = step._move.gaussian.block
    for _ in range(40):
        point, _ = step.step(point)
        fresh, kept = make_active(block), step._move._active
        refresh_active(block, fresh, point["gamma"].astype(np.int8))
        np.testing.assert_allclose([kept.D, kept.rho], [fresh.D, fresh.rho], rtol=1e-7, atol=1e-9)
