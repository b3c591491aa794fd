"""The compiled transitions equal plain-NumPy ones that remember nothing."""

from unittest import mock

import numpy as np
import pytest
import reference
from kernels import Mover, feasible_start
from problems import regression

from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.active import HERE, SIZE, SPEED
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.paper_crossing import rise_of_closing, rise_of_opening
from pymc_exact_hmc.weights.refreshing import refresh_active
from pymc_exact_hmc.weights.sheared import sheared_transition
from pymc_exact_hmc.weights.workspace import SLAB_TIME, SLAB_V, SLAB_W, Clocks

INF = np.inf
GROUPED = [-1, 0, 1, 2, 2, 3, -1, 4]
TRIPLE = [-1, 0, 0, 0, 1, 2, 2]

PROBLEMS = {
    "untruncated": {"gate": range(6), "lam": 0.4},
    "positive": {"gate": range(6), "lower": 0.0},
    "positive and probable": {"gate": range(6), "lower": 0.0, "log_odds": 1.5},
    "correlated": {"gate": range(6), "lower": 0.0, "correlation": 0.995},
    "boxes": {"gate": [-1, 0, 1, 2, 3], "lower": -0.5, "upper": 0.7, "lam": 0.3},
    "exponential": {"gate": range(5), "lower": 0.0, "Lambda": 0.0, "lam": -1.5},
    "groups": {
        "gate": GROUPED,
        "lower": [-INF, 0, 0, -1, 0.1, -INF, 0, -1],
        "upper": [4.0, 1.0, 2.0, 3.0, 2.5, INF, 1.5, 0.8],
    },
    "group of three": {"gate": TRIPLE, "lam": 0.4},
    "group of four": {"gate": [1, 0, 1, 1, 2, 1], "lam": 0.4},
    "slab bounds differ": {"gate": range(5), "lower": 0.0, "slab_lower": -INF},
}
CLOCKS = {"default": Clocks(held=0.5), "long": Clocks(w_time=7.0, fewest=2.1, most=2.9)}


def compare(problem, clocks, transition, step, rng, calls=12):
    """Make a few calls of both; return the number of crossings."""
    mover, hits = Mover(problem, clocks, transition=transition), []
    s, w = feasible_start(problem, rng)
    plain_times = reference.hit_times

    def counting(*arguments):
        found = plain_times(*arguments)
        hits.append(len(found[0]))
        return found

    for _ in range(calls):
        stream = seed_words(rng)
        with mock.patch.object(reference, "hit_times", counting):
            expected_s, expected_w = step(problem, s, w, stream.copy(), clocks)
        mover.move(s, w, stream, fresh=True)
        np.testing.assert_array_equal(s, expected_s)
        np.testing.assert_allclose(w, expected_w, rtol=1e-7, atol=1e-8)
    assert mover.tally.hits[0] == sum(hits)
    assert mover.tally.per_wall.sum() == mover.tally.crossings[0]
    return mover.tally.crossings[0]


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("clocks", CLOCKS)
def test_sheared_transition_equals_the_reference(name, clocks):
    """Same random numbers, same (s, w): flights, odds, shears and draws are as written."""
    rng = np.random.default_rng(21)
    problems = [regression(rng, signal=0.3, N=12, **PROBLEMS[name]) for _ in range(3)]
    crossings = [
        compare(p, CLOCKS[clocks], sheared_transition, reference.sheared, rng) for p in problems
    ]
    assert sum(crossings) > 20


@pytest.mark.parametrize("name", ["untruncated", "groups", "group of three", "slab bounds differ"])
def test_energies_of_the_papers_crossings(name):
    """What opening and closing cost is the difference of two Hamiltonians on full matrices."""
    rng = np.random.default_rng(24)
    finite = 0
    for _ in range(8):
        problem = regression(rng, signal=0.3, N=12, **(PROBLEMS[name] | {"Lambda": 4.0}))
        mover = Mover(problem)
        (s, w), active, slab = feasible_start(problem, rng), mover.active, mover.walls.slab
        refresh_active(problem.block, active, s)
        P = active.P[: active.counts[SIZE]]
        v = rng.normal(size=w.size)
        active.seats[HERE, : P.size], active.seats[SPEED, : P.size] = w[P], v[P]
        slab[SLAB_W], slab[SLAB_V], slab[SLAB_TIME] = w, v, 0.0
        momentum = reference.piece(problem, s)[0] @ v
        here = reference.hamiltonian(problem, s, w, momentum)
        for g in range(s.size):
            flipped = s.copy()
            flipped[g] ^= 1
            exact = reference.hamiltonian(problem, flipped, w, momentum) - here
            if s[g] == 0:
                rise = rise_of_opening(problem.block, active, slab, g, 0.0)
            else:
                rise = rise_of_closing(problem.block, active, g)
            assert rise == pytest.approx(exact, rel=1e-9, abs=1e-9)
            finite += np.isfinite(exact)
    assert finite > 20


def coupled(rng, **rest):
    """Gates that like to agree, or not to."""
    problem = regression(rng, signal=0.3, N=12, gate=range(5), **rest)
    J = np.triu(rng.normal(size=(5, 5)), 1)
    return problem._replace(coupling=J + J.T)


@pytest.mark.parametrize(
    ("transition", "step"),
    [(sheared_transition, reference.sheared), (paper_transition, reference.paper)],
    ids=["sheared", "paper"],
)
def test_priors_that_couple_the_gates(transition, step):
    """A crossing changes the prior odds of the other gates."""
    rng = np.random.default_rng(23)
    problems = [coupled(rng, lower=-0.5, Lambda=4.0) for _ in range(3)]
    # Its outermost function alone depends on the kind of prior, and is not worth compiling.
    outermost = getattr(transition, "py_func", transition)
    crossings = [compare(p, CLOCKS["long"], outermost, step, rng) for p in problems]
    assert sum(crossings) > 20


@pytest.mark.parametrize("transition", [sheared_transition, paper_transition])
def test_contacts_and_what_bounds_prevent_are_counted(transition):
    """Reflections, and crossings that would put a weight outside its bounds."""
    rng = np.random.default_rng(25)
    problem = regression(
        rng, signal=0.3, N=12, **(PROBLEMS["slab bounds differ"] | {"Lambda": 4.0})
    )
    mover, stream = Mover(problem, CLOCKS["long"], transition=transition), seed_words(rng)
    s, w = feasible_start(problem, rng)
    for _ in range(40):
        mover.move(s, w, stream)
    assert mover.attempts.contacts[0] > 0
    assert mover.attempts.infeasible.sum() > 0


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "exponential"])
@pytest.mark.parametrize("clocks", CLOCKS)
def test_paper_transition_equals_the_hamiltonian_one(name, clocks):
    """Same random numbers, same (s, w) as with the Hamiltonian on full matrices."""
    rng = np.random.default_rng(22)
    problems = [
        regression(rng, signal=0.3, N=12, **(PROBLEMS[name] | {"Lambda": 4.0})) for _ in range(3)
    ]
    crossings = [
        compare(p, CLOCKS[clocks], paper_transition, reference.paper, rng) for p in problems
    ]
    assert sum(crossings) > 20
