"""Jumps that a Gaussian in place of the likelihood proposes: right, whatever the Gaussian is."""

import numpy as np
import pymc as pm
import pytest
from scipy import special
from support.models import all_drops
from support.significance import assert_holds

from likelihoods.families import BINARY, SUCCESSES, TRIALS, D, N, P, X, exact, make_model, natural
from likelihoods.quadrature import posterior
from likelihoods.test_families import compare
from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.dynamics.transition import fresh_log_density, refresh_caches
from pymc_exact_hmc.likelihoods import Logistic, Probit
from pymc_exact_hmc.likelihoods.proxy import adopt, excess, make_proxy, observe
from pymc_exact_hmc.likelihoods.verbs import add_slopes, log_likelihood
from pymc_exact_hmc.moves.proxy import LEAST, WINDOWS
from pymc_exact_hmc.weights.active import expire
from pymc_exact_hmc.weights.block import LAM, LAMBDA

SEED = 19
ETA = np.array([-300.0, -38.0, -30.0, -3.0, -0.1, 0.0, 1e-9, 0.7, 5.0, 9.0, 30.0, 300.0])
Y = np.tile([0.0, 1.0], ETA.size // 2)
ODDS = Logistic(np.tile([0.0, 2.0, 3.5], 4), np.tile([1.0, 2.0, 7.5], 4))


def one_row(family, eta):
    """What the kernels say of a single row: log-likelihood, slope, curvature."""
    sums, at = np.zeros((3, 1)), np.array([eta])
    proxy = make_proxy(np.zeros((1, 1)), at)
    nothing = np.zeros(1, np.int64), np.zeros(1, np.int8), np.zeros(1), np.zeros(1, np.int64)
    value = excess(family, proxy, *nothing)
    observe(family, proxy, *nothing)
    sums = proxy.sums
    assert sums[0, 0] == eta
    return value, sums[1, 0], sums[2, 0]


@pytest.mark.parametrize("k", range(ETA.size))
def test_likelihoods_and_their_derivatives(k):
    """Equal to SciPy's, from −300 to 300."""
    eta, sign = ETA[k], 2 * Y[k] - 1
    log_hazard = -0.5 * eta**2 - 0.5 * np.log(2 * np.pi) - special.log_ndtr(sign * eta)
    hazard = np.exp(log_hazard)
    wanted = special.log_ndtr(sign * eta), sign * hazard, hazard * (hazard + sign * eta)
    found = one_row(Probit(Y[k : k + 1]), eta)
    np.testing.assert_allclose(found[:2], wanted[:2], rtol=1e-9, atol=1e-300)
    # m(m + x) cancels where m is about −x.
    np.testing.assert_allclose(found[2], wanted[2], rtol=1e-9, atol=1e-10 * eta**2)
    assert found[2] >= 0
    a, b = ODDS.a[k], ODDS.b[k]
    wanted = (
        a * eta - b * np.logaddexp(0, eta),
        a - b * special.expit(eta),
        b * special.expit(eta) * special.expit(-eta),
    )
    found = one_row(Logistic(ODDS.a[k : k + 1], ODDS.b[k : k + 1]), eta)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_proxy_of_draws_at_one_place_is_the_second_order_expansion():
    """Its slope and its curvature there are those of the likelihood."""
    proxy = make_proxy(np.zeros((3, 1)), np.array([-1.0, 0.5, 2.0]))
    nothing = np.zeros(1, np.int64), np.zeros(1, np.int8), np.zeros(1), np.zeros(1, np.int64)
    family = Probit(np.array([0.0, 1.0, 1.0]))
    for _ in range(4):
        observe(family, proxy, *nothing)
    _, slope, curvature = proxy.sums / 4
    adopt(proxy, 4)
    np.testing.assert_allclose(proxy.curvature, curvature)
    np.testing.assert_allclose(proxy.slope - proxy.curvature * proxy.offset, slope)
    assert not proxy.sums.any()


def test_excess_is_what_the_proxy_leaves_out():
    """log p(y | η) less Σ gη − ½hη², at weights of which one is switched off."""
    rng = np.random.default_rng(SEED)
    proxy = make_proxy(rng.normal(size=(5, 2)), rng.normal(size=5))
    proxy.slope[:], proxy.curvature[:] = rng.normal(size=5), rng.exponential(size=5)
    y, w = np.array([0.0, 1.0, 1.0, 0.0, 1.0]), np.array([0.8, -1.3])
    state = np.array([0, 1]), np.array([1, 0], np.int8), w, np.zeros(2, np.int64)
    eta = proxy.offset + proxy.X[:, 0] * w[0]
    wanted = special.log_ndtr(np.where(y == 1, eta, -eta)).sum()
    wanted -= (proxy.slope * eta - 0.5 * proxy.curvature * eta**2).sum()
    assert excess(Probit(y), proxy, *state) == pytest.approx(wanted, rel=1e-12)


def spoilt_chain(model, spoil, draws, seed=SEED):
    """A chain whose proxy is changed after tuning; without latents but in every tenth call."""
    step = ExactBinaryHMC(model=model)
    step.set_rng(np.random.default_rng(seed))
    point = model.initial_point()
    for _ in range(WINDOWS[2]):
        point, _ = step.step(point)
    step.stop_tuning()
    spoil(step)
    s, w = point["gamma"].astype(np.int8), point["w"].copy()
    move, rng, states, taken = step._move, np.random.default_rng(seed), [], 0
    move.proxy.tuning = False
    for k in range(draws):
        if k % 10 == 0:
            point, _ = step.step(point | {"gamma": s.astype(point["gamma"].dtype), "w": w})
            s, w = point["gamma"].astype(np.int8), point["w"].copy()
        move._update_prior(point, s, check=True)
        taken += move.proxy(s, w, rng)
        states.append((s.copy(), w.copy()))
    return np.array([x[0] for x in states]), np.array([x[1] for x in states]), taken / draws


def distort(step):
    """Make every slope and curvature of the proxy wrong."""
    rng = np.random.default_rng(4)
    for proxy in step._move.proxy.proxies:
        proxy.slope[:] = proxy.slope * np.exp(0.2 * rng.normal(size=N)) + 0.05
        proxy.curvature[:] *= 0.7 * np.exp(0.2 * rng.normal(size=N))
    step._move.proxy._adopt()


@pytest.mark.parametrize("family", ["probit", "binomial"])
def test_any_proxy_is_exact(family):
    """Also one that is far from the likelihood, which is taken less often."""
    model = make_model(family, "normal")
    s, w, taken = spoilt_chain(model, distort, 12_000)
    assert 0.1 < taken < 0.95
    assert_holds(*compare(s, w, exact(family, "normal", posterior)), seed=SEED)


def test_jumps_are_taken_once_tuned_and_not_where_they_are_useless():
    """Most of them with a proxy that was learnt, none if hardly any were taken in tuning."""
    model = make_model("logit", "normal")
    assert spoilt_chain(model, lambda step: None, 500)[2] > 0.6
    assert LEAST > 0

    def useless(step):
        step._move.proxy.counts[2:] = 1000, 3

    assert spoilt_chain(model, useless, 50)[2] == 0


def test_learning_stops_with_tuning():
    """What was learnt stays as it is, and is part of the state of the step."""
    model = make_model("probit", "normal")
    step = ExactBinaryHMC(model=model, rng=3)
    point = model.initial_point()
    assert not step._move.proxy.counts.any()
    for _ in range(WINDOWS[1] + 7):
        point, _ = step.step(point)
    assert list(step._move.proxy.counts[:2]) == [WINDOWS[1] + 7, 2]
    step.stop_tuning()
    before = step._move.proxy.memory
    for _ in range(20):
        point, _ = step.step(point)
    np.testing.assert_array_equal(step._move.proxy.memory, before)
    np.testing.assert_array_equal(step.sampling_state.proxy_memory, before)
    other = ExactBinaryHMC(model=model)
    other.sampling_state = step.sampling_state
    mine, theirs = step._move.proxy, other._move.proxy
    assert mine._block.gram.M.any()
    np.testing.assert_array_equal(theirs._block.gram.M, mine._block.gram.M)
    np.testing.assert_array_equal(theirs._block.coefficients, mine._block.coefficients)
    step.set_rng(np.random.default_rng(1))
    assert not step._move.proxy.memory.any()


def coupled(slab_sd=1.0):
    """A logistic regression whose indicators like their neighbours."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        pm.Potential("pairs", 1.5 * (gamma[1:] * gamma[:-1]).sum())
        pm.Bernoulli(
            "y", logit_p=X @ (gamma * pm.Normal("w", 0, slab_sd, shape=D)), observed=BINARY
        )
    return model


def learnt_step(model):
    """A step whose proxy has been made, and the state it is at."""
    step, point = ExactBinaryHMC(model=model, rng=3), model.initial_point()
    for _ in range(WINDOWS[0] + 1):
        point, _ = step.step(point)
    return step, point["gamma"].astype(np.int8), point["w"].copy()


def test_a_jump_that_is_refused_leaves_nothing_behind():
    """Neither in (s, w) nor in the caches of the prior that couples the indicators."""
    step, s, w = learnt_step(coupled())
    proxy, prior = step._move.proxy, step._move.prior.energy
    distort(step)
    refresh_caches(prior, s)
    rng, refused = np.random.default_rng(5), 0
    for _ in range(200):
        before = s.copy(), w.copy()
        if proxy(s, w, rng):
            continue
        refused += (proxy.tally.crossings[0] > 0).item()
        np.testing.assert_array_equal(s, before[0])
        np.testing.assert_array_equal(w, before[1])
        cached, fresh = np.empty(D), np.empty(D)
        all_drops(prior, s, cached)
        refresh_caches(prior, s)
        all_drops(prior, s, fresh)
        np.testing.assert_allclose(cached, fresh, rtol=0, atol=1e-12)
    assert refused > 20


def test_every_likelihood_counts_in_a_jump():
    """log p(y, z | η) less what both proxies say of it."""
    with pm.Model() as model:
        beta = pm.Bernoulli("gamma", P, shape=D) * pm.Normal("w", shape=D)
        pm.Bernoulli("y", logit_p=X @ beta, observed=BINARY)
        pm.Binomial("z", TRIALS, pm.math.invlogit(X @ beta), observed=SUCCESSES)
    step, s, w = learnt_step(model)
    proxy = step._move.proxy
    parts = zip(proxy.gaussian.latents, proxy.proxies, strict=True)
    scratch = np.zeros(D, np.int64)
    each = [excess(x.family, y, np.arange(D), s, w, scratch) for x, y in parts]
    assert len(each) == 2
    assert all(each)
    assert proxy._total(s, w) == pytest.approx(sum(each), rel=1e-12)


@pytest.mark.parametrize("row", [LAMBDA, LAM])
def test_new_slabs_are_noticed_by_the_proxy(row):
    """Jumps are those of a step that remembers nothing, also where a mean alone changes."""
    pair = [learnt_step(coupled()) for _ in range(2)]
    for k in range(40):
        ends = []
        for forgetful, (step, s, w) in enumerate(pair):
            value = 1.0 + 0.5 * (k % 3)
            step._move.gaussian.block.coefficients[row] = value
            if forgetful:
                expire(step._move.proxy._active)
            # Caches are of the state at which a chain stays.
            for _ in range(2):
                step._move.proxy(s, w, np.random.default_rng(k))
            ends.append((s.copy(), w.copy()))
            np.testing.assert_array_equal(step._move.proxy._block.coefficients[row], value)
        np.testing.assert_array_equal(ends[0][0], ends[1][0])
        np.testing.assert_allclose(ends[0][1], ends[1][1], rtol=1e-7, atol=1e-9)


def test_where_there_are_no_jumps():
    """Not where scales or rows change, beside other families, or with the paper's kernel."""
    with pm.Model() as mixed:
        beta = pm.Bernoulli("gamma", P, shape=D) * pm.Normal("w", shape=D)
        pm.Bernoulli("y", logit_p=X @ beta, observed=BINARY)
        pm.Normal("z", X @ beta, 1.0, observed=X[:, 0])
    with pm.Model() as random_offset:
        beta = pm.Bernoulli("gamma", P, shape=D) * pm.Normal("w", shape=D)
        pm.Bernoulli("y", logit_p=X @ beta + pm.Uniform("u"), observed=BINARY)
    with pm.Model() as two:
        beta = pm.Bernoulli("gamma", P, shape=D) * pm.Normal("w", shape=D)
        pm.Bernoulli("y", logit_p=X @ beta, observed=BINARY)
        pm.Binomial("z", TRIALS, pm.math.invlogit(X @ beta), observed=SUCCESSES)
    assert ExactBinaryHMC(model=mixed)._move.proxy is None
    assert ExactBinaryHMC(model=random_offset)._move.proxy is None
    assert len(ExactBinaryHMC(model=two)._move.proxy.proxies) == 2
    assert ExactBinaryHMC(model=make_model("probit", "normal"), kernel="paper")._move.proxy is None
    assert ExactBinaryHMC(model=make_model("student", "normal"))._move.proxy is None


def test_positive_weights_jump_too():
    """The sheared kernel proposes inside the bounds of the weights."""
    model = make_model("logit", "half-normal")
    step = ExactBinaryHMC(model=model)
    point = model.initial_point()
    for _ in range(WINDOWS[2]):
        point, _ = step.step(point)
    _, made, tried, _ = step._move.proxy.counts
    assert (made, tried) == (3, 0)
    for _ in range(50):
        point, _ = step.step(point)
    assert step._move.proxy.counts[3] > 10
    assert (natural(model, [point]) >= 0).all()


@pytest.mark.parametrize("verb", [log_likelihood, add_slopes])
def test_families_that_are_not_smooth_are_refused(verb):
    """A family must say what its likelihood is before it can have a proxy."""
    with pytest.raises(TypeError, match="has no"):
        verb(3, *[None] * (2 if verb is add_slopes else 1))


def test_jumps_are_made_at_the_present_prior():
    """Log-odds that another step has moved since the last call."""
    with pm.Model() as model:
        p = pm.Beta("p", 1, 1)
        gamma, w = pm.Bernoulli("gamma", p, shape=D), pm.Normal("w", shape=D)
        pm.Bernoulli("y", logit_p=X @ (gamma * w), observed=BINARY)
        step = ExactBinaryHMC([gamma, w])
    move, seen = step._move, []
    jump = move.proxy.__class__.__call__

    class Spy(type(move.proxy)):
        def __call__(self, s, w, rng):
            off, on = (fresh_log_density(move.prior.energy, np.full(D, k, np.int8)) for k in (0, 1))
            seen.append((on - off) / D)
            return jump(self, s, w, rng)

    move.proxy.__class__ = Spy
    for log_odds in (0.0, 1.5, -2.0):
        step.step(model.initial_point() | {"p_logodds__": np.array(log_odds)})
    np.testing.assert_allclose(seen, [0.0, 1.5, -2.0], atol=1e-12)
