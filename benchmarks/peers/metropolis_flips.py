"""Metropolis on spins, compiled as our own kernels: a state after every ¾ d proposals."""

import time

import numpy as np
from metropolis import metropolis
from models import lattice_energy

from peers import Draws
from pymc_exact_hmc.dynamics.transition import refresh_caches
from pymc_exact_hmc.random_stream import seed_words


def run(case, draws, tune, seed):
    start = time.perf_counter()
    energy, rng = lattice_energy(case.shape, case.beta), np.random.default_rng(seed)
    s = rng.integers(0, 2, energy.h.size).astype(np.int8)
    stream = seed_words(rng)
    refresh_caches(energy, s)
    states = np.empty((draws, s.size), np.int8)
    proposals = int(0.75 * s.size)
    metropolis(energy, s, stream, tune * proposals)
    begin = time.perf_counter()
    for k in range(draws):
        metropolis(energy, s, stream, proposals)
        states[k] = s
    end = time.perf_counter()
    return Draws({"x": states}, end - begin, end - start)
