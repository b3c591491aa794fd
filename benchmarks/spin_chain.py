"""Spins of a periodic Ising lattice that kernels move in place: ours, the paper's, Metropolis."""

import math

import numpy as np
from metropolis import metropolis
from models import lattice_energy

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.dynamics.trajectory import travel_in_order
from pymc_exact_hmc.dynamics.transition import make_workspace, refresh_caches, transition
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.travel_time import parse_travel_time


@kernel
def hit_walls(energy, s, order, kinetic, n_hits, tally):
    """Follow a trajectory whose walls are hit in a given order."""
    travel_in_order(energy, s, order, kinetic, n_hits, tally)


class SpinChain:
    """A state, and functions that make n records in one call."""

    def __init__(self, shape, beta):
        self.energy = lattice_energy(shape, beta)
        self.d = self.energy.h.size
        self.workspace, self.tally = make_workspace(self.d), empty_tally(self.d)

    def restart(self, seed, s=None):
        self.rng = np.random.default_rng(seed)
        self.s = self.rng.integers(0, 2, self.d).astype(np.int8) if s is None else s.copy()
        self.y = np.where(self.s == 1, 1.0, -1.0) * np.abs(self.rng.standard_normal(self.d))
        self.stream = seed_words(self.rng)
        refresh_caches(self.energy, self.s)

    def hmc(self, travel_time, augmentation="gaussian"):
        """Return our trajectories, before each of which y is drawn afresh."""
        law = AUGMENTATIONS[augmentation]
        shortest, longest = parse_travel_time(travel_time, law)

        def run(n):
            full, rest = np.divmod(self.rng.uniform(shortest, longest, n) / math.pi, 1.0)
            n_hits = full.astype(np.int64) * self.d + self.rng.binomial(self.d, rest)
            state = (self.s, self.stream, longest, n_hits, self.workspace, self.tally)
            transition(law, self.energy, *state)

        return run

    def classical(self, travel_time):
        """Return the paper's own trajectories, in which y goes on from where it was."""
        return lambda n: [self._travel(travel_time) for _ in range(n)]

    def _travel(self, travel_time):
        side = np.where(self.s == 1, 1.0, -1.0)
        place, momentum = np.abs(self.y), side * self.rng.standard_normal(self.d)
        first = math.pi - np.arctan2(place, momentum)  # eq. 13
        order = np.argsort(first).astype(np.int32)
        kinetic = 0.5 * (place**2 + momentum**2)[order]
        full, rest = divmod(travel_time, math.pi)
        hits = int(full) + (first <= rest)
        hit_walls(self.energy, self.s, order, kinetic, int(hits.sum()), self.tally)
        speed = np.empty(self.d)
        speed[order] = np.sqrt(2.0 * kinetic)
        since = travel_time - first - (hits - 1) * math.pi
        free = place * math.cos(travel_time) + momentum * math.sin(travel_time)  # eq. 12
        side = np.where(self.s == 1, 1.0, -1.0)
        self.y = side * np.where(hits > 0, speed * np.sin(since), free)  # eq. 16

    def metropolis(self, proposals):
        """Return flips of uniformly random sites, so many for each record."""
        return lambda n: metropolis(self.energy, self.s, self.stream, n * proposals)

    def record(self, run, n):
        """Return n states of spins −1 and +1, recorded one by one."""
        states = np.empty((n, self.d), np.int8)
        for k in range(n):
            run(1)
            states[k] = self.s
        return 2 * states - 1
