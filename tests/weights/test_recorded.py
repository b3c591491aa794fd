"""The recorded trajectory: energy is conserved, it leads back, and it is the compiled one."""

import math

import numpy as np
import pytest
from kernels import Mover, feasible_start
from problems import regression
from reference import hit_times

from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.block import LAMBDA, R
from pymc_exact_hmc.weights.normal import normal
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.recorded import (
    BOUNCE,
    CROSSING,
    REFLECTION,
    Regression,
    draw_start,
    position_before,
    record,
)
from pymc_exact_hmc.weights.workspace import Clocks

HALF_TURNS = 2.3
CLOCKS = Clocks(w_time=math.pi * HALF_TURNS, fewest=HALF_TURNS, most=HALF_TURNS)
BOUNDS = {"untruncated": {}, "positive": {"lower": 0.0}, "boxes": {"lower": -0.5, "upper": 0.7}}


def as_regression(problem):
    c = problem.block.coefficients
    return Regression(
        problem.M, c[R].copy(), c[LAMBDA].copy(), problem.log_odds, problem.lower, problem.upper
    )


def make(rng, bounds):
    problem = regression(rng, range(5), signal=0.3, N=12, Lambda=4.0, **BOUNDS[bounds])
    s, w = feasible_start(problem, rng)
    return problem, s, w


@pytest.mark.parametrize("bounds", BOUNDS)
def test_equals_the_compiled_kernel(bounds):
    """Same start, same momenta: the same s and w at the end as the paper's compiled kernel."""
    rng = np.random.default_rng(31)
    crossings = 0
    for _ in range(6):
        problem, s, w = make(rng, bounds)
        mover = Mover(problem, CLOCKS, transition=paper_transition)
        for _ in range(5):
            stream = seed_words(rng)
            again = stream.copy()
            on = problem.on(s)
            v = np.empty(w.size)
            v[on] = np.linalg.cholesky(problem.gaussian(s)[2]) @ [normal(again) for _ in on]
            for i in np.setdiff1d(np.arange(w.size), on):
                v[i] = normal(again) / np.sqrt(problem.block.coefficients[LAMBDA, i])
            hits, energies = hit_times(again, CLOCKS, s.size)
            first, energy = np.empty(s.size), np.empty(s.size)
            for g, k, time in hits[: s.size]:
                first[g], energy[g] = time, energies[k]
            y, q = position_before(s.astype(float), first, energy)
            end = record(as_regression(problem), y, q, w.copy(), v, CLOCKS.w_time)
            mover.move(s, w, stream, fresh=True)
            last = end.at(CLOCKS.w_time)
            np.testing.assert_array_equal(last.s, s)
            np.testing.assert_allclose(last.w, w, rtol=1e-7, atol=1e-8)
            crossings += sum(event.kind == CROSSING for event in end.events)
    assert crossings > 20


@pytest.mark.parametrize("bounds", BOUNDS)
def test_energy_is_conserved_and_bounds_are_kept(bounds):
    """H is the same at all times, weights stay inside, and s is the sign of y."""
    rng = np.random.default_rng(32)
    kinds = set()
    for _ in range(5):
        problem, s, w = make(rng, bounds)
        block = as_regression(problem)
        trajectory = record(block, *draw_start(block, s.astype(float), w, rng), 9.0)
        times = np.linspace(0.0, 9.0, 101)
        energy = np.array([trajectory.energy(t) for t in times])
        np.testing.assert_allclose(energy, energy[0], atol=1e-10)
        for state in map(trajectory.at, times):
            assert (state.w >= block.lower - 1e-12).all()
            assert (state.w <= block.upper + 1e-12).all()
            np.testing.assert_array_equal(state.s, state.y > 0)
        kinds |= {event.kind for event in trajectory.events}
    assert kinds == (
        {CROSSING, BOUNCE} if bounds == "untruncated" else {CROSSING, BOUNCE, REFLECTION}
    )


def test_leads_back_when_momenta_are_reversed():
    """From the end with −q and −v, the trajectory returns to its start with −q and −v."""
    rng = np.random.default_rng(33)
    problem, s, w = make(rng, "positive")
    block = as_regression(problem)
    start = draw_start(block, s.astype(float), w, rng)
    there = record(block, *start, 5.0)
    end = there.at(5.0)
    back = record(block, end.y, -end.q, end.w, -end.v, 5.0)
    home = back.at(5.0)
    assert len(there.events) > 5
    for value, expected in zip((home.y, -home.q, home.w, -home.v), start, strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-9)
