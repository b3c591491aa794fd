"""Every kernel leaves the enumerated posterior invariant, and is reversible."""

import numpy as np
import pytest
from exact import code, exact_draws, posterior
from invariance import assert_invariant, invariance
from kernels import CollapsedMover, Mover
from problems import regression

from pymc_exact_hmc.energies import SparseCouplings
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.integrated import integrated_transition
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.sheared import sheared_transition
from pymc_exact_hmc.weights.workspace import Clocks

INF = np.inf
N = 8_000
SEED = 31

PROBLEMS = {
    "untruncated": {"gate": [0, 1, -1, 2, 3], "lam": 0.4, "correlation": 0.9},
    "groups": {"gate": [0, 1, 1, 2, -1, 2], "lam": -0.2, "correlation": 0.7},
    "positive": {"gate": [0, 1, 2, 3], "lower": 0.0, "correlation": 0.1},
    "correlated": {"gate": [0, 1, 2, 3], "lower": 0.0, "correlation": 0.995},
    "always on": {"gate": [-1, 0, 1, 2], "lower": [0, -INF, 0, -1], "upper": [1, 3, 2, INF]},
    "narrow": {"gate": [0, 1, 2, -1], "lower": -0.2, "upper": 0.3, "lam": 0.5, "signal": 0.1},
    "exponential": {"gate": [0, 1, 2], "lower": 0.0, "Lambda": 0.0, "lam": -1.0},
    "bounded groups": {
        "gate": [0, 1, 1, 2, -1],
        "lower": [0.0, -0.5, 0.0, -INF, 0.0],
        "upper": [INF, 1.0, INF, INF, 2.0],
    },
    "slab bounds differ": {"gate": [0, 1, 2], "lower": 0.0, "slab_lower": -INF},
}


def problem_called(name):
    rest = {"N": 12, "signal": 0.4, "Lambda": 0.5} | PROBLEMS[name]
    return regression(np.random.default_rng(SEED), rest.pop("gate"), **rest)


def check(mover, p, n=N):
    """Exact starts, one call each."""
    rng = np.random.default_rng(SEED)
    s, w = exact_draws(mover.problem, p, 2 * n, rng)
    other = code(s[n:]), w[n:]
    start = code(s[:n]), w[:n].copy()
    for i in range(n):
        mover.move(s[i], w[i], seed_words(rng))
    assert mover.tally.crossings[0] > n / 50
    assert_invariant(invariance(p, start, (code(s[:n]), w[:n]), other), SEED)


@pytest.mark.parametrize("name", PROBLEMS)
def test_sheared_kernel_is_exact(name):
    """χ² and Bowker on s and w, truncated by orthant probabilities."""
    problem = problem_called(name)
    check(Mover(problem), posterior(problem))


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "exponential"])
def test_paper_kernel_is_exact(name):
    """The same for the paper's kernel, which needs a slab of positive precision."""
    problem = problem_called(name)
    check(Mover(problem, transition=paper_transition), posterior(problem))


@pytest.mark.parametrize("name", ["untruncated", "groups"])
def test_integrated_kernel_is_exact(name):
    """The binary trajectory over collapsed odds and a draw of w | s."""
    problem = problem_called(name)
    check(Mover(problem, transition=integrated_transition), posterior(problem))


@pytest.mark.slow
def test_collapsed_energy_is_exact_in_the_binary_transition():
    """As one energy among others, in the transition of purely binary blocks."""
    problem = problem_called("groups")
    check(CollapsedMover(problem), posterior(problem))


@pytest.mark.parametrize(
    "transition",
    [sheared_transition, pytest.param(integrated_transition, marks=pytest.mark.slow)],
)
def test_ising_prior_on_the_gates(transition):
    """Structured sparsity: gates in a chain that like to agree."""
    problem = problem_called("positive" if transition is sheared_transition else "untruncated")
    J = np.diag(np.full(3, 0.8), 1)
    J = J + J.T
    start = np.concatenate([[0], np.cumsum((J != 0).sum(axis=1))])
    _, columns = np.nonzero(J)
    prior = SparseCouplings(
        np.full(4, -0.9), start, columns.astype(np.int32), J[J != 0], np.zeros(4)
    )
    check(Mover(problem, prior=prior, transition=transition), posterior(problem, prior))


def test_long_trajectories_are_exact():
    """More than a whole turn of w and several hits per wall, energies persisting."""
    problem = problem_called("always on")
    check(Mover(problem, Clocks(w_time=4.0, fewest=2.3, most=3.1)), posterior(problem), N // 2)
