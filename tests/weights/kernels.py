"""Calls of the compiled transitions, from the start of a problem."""

import numpy as np

from pymc_exact_hmc.augmentations import Gaussian
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.dynamics.transition import make_workspace, refresh_caches, transition
from pymc_exact_hmc.energies import DenseCouplings, Fields, Sum
from pymc_exact_hmc.travel_time import TravelTime
from pymc_exact_hmc.weights.active import expire, make_active
from pymc_exact_hmc.weights.collapsed import Collapsed
from pymc_exact_hmc.weights.conditional import draw_weights
from pymc_exact_hmc.weights.sheared import sheared_transition
from pymc_exact_hmc.weights.workspace import Clocks, empty_attempts, make_walls


def prior_of(problem):
    """The energy of the indicators alone."""
    if problem.coupling is None:
        return Fields(problem.log_odds)
    return DenseCouplings(problem.log_odds, problem.coupling, np.zeros(len(problem.log_odds)))


class Mover:
    """Everything that a transition of a problem needs beside (s, w) and a stream."""

    def __init__(self, problem, clocks=None, prior=None, transition=sheared_transition):
        n = len(problem.log_odds)
        self.problem, self.transition = problem, transition
        self.prior = prior_of(problem) if prior is None else prior
        self.active = make_active(problem.block)
        self.clocks = Clocks() if clocks is None else clocks
        self.walls = make_walls(n, len(problem.b))
        self.tally, self.attempts = empty_tally(n), empty_attempts(n)

    def move(self, s, w, stream, fresh=False):
        """Move s and w in place."""
        if fresh:
            expire(self.active)
        refresh_caches(self.prior, s)
        self.transition(
            self.prior,
            self.problem.block,
            self.active,
            self.walls,
            self.clocks,
            s,
            w,
            stream,
            self.tally,
            self.attempts,
        )


def feasible_start(problem, rng):
    """A state inside the bounds."""
    s = rng.integers(0, 2, len(problem.log_odds)).astype(np.int8)
    low = np.where(np.isfinite(problem.lower), problem.lower, -3.0)
    high = np.where(np.isfinite(problem.upper), problem.upper, low + 3.0)
    return s, low + (high - low) * rng.random(len(low))


class CollapsedMover(Mover):
    """The binary trajectory over the collapsed weights, then a draw of w | s."""

    def __init__(self, problem, prior=None):
        super().__init__(problem, prior=prior)
        self.energy = Sum(self.prior, Collapsed(problem.block, self.active))
        self.scratch = make_workspace(len(problem.log_odds))
        self.rng = np.random.default_rng(1)

    def move(self, s, w, stream, fresh=False):
        refresh_caches(self.energy, s)
        time, hits = TravelTime(0.75 * np.pi, 1.25 * np.pi).draw(self.rng, Gaussian(), s.size, 1)
        transition(Gaussian(), self.energy, s, stream, time, hits, self.scratch, self.tally)
        draw_weights(self.problem.block, self.active, w, stream)
