"""Weights integrated out: odds, energies, Rao–Blackwell odds and the whole transition."""

import numpy as np
import pytest
import reference
from exact import log_evidence, states
from kernels import Mover, feasible_start
from problems import regression
from scipy import stats

from pymc_exact_hmc.dynamics.transition import fresh_log_density, refresh_caches
from pymc_exact_hmc.energies import Fields, Sum, commit, energy_drop
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.active import HERE, SIZE, make_active
from pymc_exact_hmc.weights.block import LAM, LAMBDA
from pymc_exact_hmc.weights.collapsed import Collapsed
from pymc_exact_hmc.weights.inclusion import inclusion_log_odds
from pymc_exact_hmc.weights.integrated import integrated_transition
from pymc_exact_hmc.weights.refreshing import refresh_active
from pymc_exact_hmc.weights.sheared import weights_drop
from pymc_exact_hmc.weights.workspace import Clocks

GATE = [-1, 0, 1, 1, 2, -1, 3]
GATES = 5  # the last one switches nothing


def problem_of(rng, **rest):
    problem = regression(rng, GATE, signal=0.3, N=9, lam=0.4, **rest)
    return problem._replace(log_odds=np.append(problem.log_odds, 0.3))


def collapsed_of(problem):
    block = problem.block
    # A gate without weights.
    gates = np.column_stack([block.gates, block.gates[:, -1]])
    gates[2, -2:] = -1
    return block._replace(gates=gates, log_slab=np.append(block.log_slab, 0.0))


@pytest.mark.parametrize("design", [False, True])
def test_energies_are_differences_of_evidences(design):
    """Every drop and every log f is that of log ∫ p(data, w | s) dw, from dense algebra."""
    problem = problem_of(np.random.default_rng(61), design=design)
    block = collapsed_of(problem)
    energy = Sum(Fields(problem.log_odds), Collapsed(block, make_active(block)))
    every = states(GATES).astype(np.int8)
    exact = np.array([log_evidence(problem, s[:-1]) + problem.log_odds @ s for s in every])
    own = np.array([fresh_log_density(energy, s.copy()) for s in every])
    np.testing.assert_allclose(own - own[0], exact - exact[0], rtol=0, atol=1e-10)
    for i, s in enumerate(every):
        refresh_caches(energy, s)
        for j in range(GATES):
            drop = exact[i ^ (1 << (GATES - 1 - j))] - exact[i]
            assert energy_drop(energy, s, j) == pytest.approx(drop, rel=0, abs=1e-10)


def test_drops_after_commits():
    """After a walk of flips the drops are those of the state it has come to."""
    rng = np.random.default_rng(62)
    problem = problem_of(rng)
    block = collapsed_of(problem)
    energy = Collapsed(block, make_active(block))
    s = np.zeros(GATES, np.int8)
    refresh_caches(energy, s)
    for j in rng.integers(0, GATES, 60):
        flipped = s.copy()
        flipped[j] ^= 1
        drop = log_evidence(problem, flipped[:-1]) - log_evidence(problem, s[:-1])
        assert energy_drop(energy, s, j) == pytest.approx(drop, rel=0, abs=1e-9)
        s[j] ^= 1
        commit(energy, s, j)


def conditional_odds(problem, s, w, g):
    """log p(s_g = 1 | …) − log p(s_g = 0 | …) given the other weights of P, single weights only."""
    (j,) = np.flatnonzero(problem.block.gate == g)
    others = [i for i in problem.on(s) if i != j]
    D = problem.A[j, j]
    rho = problem.b[j] - problem.M[j, others] @ w[others]
    Lambda, lam = (problem.block.coefficients[row, j] for row in (LAMBDA, LAM))
    assert np.inf in (problem.upper[j], -problem.lower[j])

    def log_inside(precision, mean):
        law = stats.norm(mean / precision, precision**-0.5)
        return law.logsf(problem.lower[j]) + law.logcdf(problem.upper[j])

    inside, whole = log_inside(D, rho), log_inside(Lambda, lam)
    gain = 0.5 * (rho**2 / D - lam**2 / Lambda + np.log(Lambda / D)) + inside - whole
    return problem.log_odds[g] + gain


@pytest.mark.parametrize("single", [False, True])
def test_inclusion_odds_beside_a_truncated_weight(single):
    """A bound on a weight that is always on keeps the others from being integrated out.

    Single weights may have bounds of their own.
    """
    rng = np.random.default_rng(66)
    for side in ("lower", "upper"):
        sign = 1 if side == "upper" else -1
        own = [sign * 0.8, sign * 0.2] if single else [sign * np.inf] * 2
        bounds = {side: [0.3 if side == "upper" else -0.4, *own, *[sign * np.inf] * 2]}
        problem = regression(rng, [-1, 0, 1, 2, 2], signal=0.3, N=9, lam=0.4, **bounds)
        mover = Mover(problem)
        for _ in range(5):
            s, w = feasible_start(problem, rng)
            refresh_active(problem.block, mover.active, s)
            refresh_caches(mover.prior, s)
            odds, P = np.empty(3), list(problem.on(s))
            inclusion_log_odds(mover.prior, problem.block, mover.active, s, w, odds)
            for g in range(3):
                terms = reference.group_terms(problem, s, g, w[P], P, True)
                truth = reference.log_odds(problem, *terms) + problem.log_odds[g]
                assert odds[g] == pytest.approx(truth, rel=1e-9, abs=1e-9)


BOUNDS = {
    "none": {},
    "lower": {"lower": -0.4},
    "gated lower": {"lower": [-np.inf, *[-0.4] * 4]},
    "gated upper": {"upper": [np.inf, *[0.4] * 4]},
}


@pytest.mark.parametrize("name", BOUNDS)
def test_inclusion_odds(name):
    """Collapsed where nothing is truncated, given the other weights where something is."""
    rng, bounds = np.random.default_rng(63), BOUNDS[name]
    problem = regression(rng, [-1, 0, 1, 2, 2], signal=0.3, N=9, lam=0.4, **bounds)
    mover = Mover(problem)
    for _ in range(10):
        s, w = feasible_start(problem, rng)
        refresh_active(problem.block, mover.active, s)
        refresh_caches(mover.prior, s)
        odds = np.empty(3)
        inclusion_log_odds(mover.prior, problem.block, mover.active, s, w, odds)
        for g in range(3):
            if bounds:
                truth = conditional_odds(problem, s, w, g) if g < 2 else [-np.inf, np.inf][s[g]]
            else:
                one, zero = s.copy(), s.copy()
                one[g], zero[g] = 1, 0
                truth = log_evidence(problem, one) - log_evidence(problem, zero)
                truth += problem.log_odds[g]
            assert odds[g] == pytest.approx(truth, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("lower", [-np.inf, -0.4])
def test_odds_of_hits(lower):
    """Of every gate, single or group, open or closed, with the other weights held or not."""
    rng = np.random.default_rng(65)
    upper = [2.0, 1.5, 3.0, 3.0, 1.0, 2.0, 2.5]
    problem = regression(rng, GATE, signal=0.3, N=9, lam=0.4, lower=lower, upper=upper)
    active = make_active(problem.block)
    for _ in range(10):
        s, w = feasible_start(problem, rng)
        refresh_active(problem.block, active, s)
        P = list(active.P[: active.counts[SIZE]])
        active.seats[HERE, : len(P)] = w[P]
        for g in range(4):
            for held in (True, False):
                J, D, rho = reference.group_terms(problem, s, g, w[P], P, held)
                truth = reference.log_odds(problem, J, D, rho)
                drop = weights_drop(problem.block, active, g, s[g] == 0, held, np.inf)
                expected = truth if s[g] == 0 else -truth
                assert drop == pytest.approx(expected, rel=1e-9, abs=1e-9)
            # A closed gate that cannot open even without bounds is not asked about them.
            if s[g] == 0:
                least = weights_drop(problem.block, active, g, True, False, -np.inf)
                assert least >= truth - 1e-9


@pytest.mark.parametrize("clocks", [Clocks(), Clocks(fewest=2.1, most=2.9)])
def test_integrated_transition_equals_the_reference(clocks):
    """Same random numbers, same (s, w) as with evidences from dense algebra."""
    rng = np.random.default_rng(64)
    crossings = 0
    for _ in range(3):
        problem = regression(rng, GATE, signal=0.3, N=9, lam=0.4)
        mover = Mover(problem, clocks, transition=integrated_transition)
        s, w = feasible_start(problem, rng)
        for _ in range(8):
            stream = seed_words(rng)
            expected = reference.integrated(problem, s, stream.copy(), clocks)
            mover.move(s, w, stream, fresh=True)
            np.testing.assert_array_equal(s, expected[0])
            np.testing.assert_allclose(w, expected[1], rtol=1e-7, atol=1e-8)
        crossings += mover.tally.crossings[0]
    assert crossings > 15
