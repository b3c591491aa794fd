"""Transitions of many states at once, so that one test body serves right and wrong kernels."""

from typing import NamedTuple

import numpy as np

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.dynamics.transition import make_workspace, refresh_caches, transition
from pymc_exact_hmc.travel_time import parse_travel_time
from support.enumeration import distribution, number_of, states


class Reports(NamedTuple):
    """What each of n transitions did."""

    hits: np.ndarray
    crossings: np.ndarray
    drop: np.ndarray
    kinetic: np.ndarray
    """Energy left at the end to the wall that was hit last of all in its first turn."""


def empty_reports(n):
    return Reports(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n), np.zeros(n))


@kernel
def move_all(law, energy, S, words, time, n_hits, workspace, tally, reports):
    for i in range(S.shape[0]):
        tally.hits[0] = 0
        tally.crossings[0] = 0
        tally.drop[0] = 0.0
        refresh_caches(energy, S[i])
        transition(law, energy, S[i], words[i], time[i], n_hits[i], workspace, tally)
        reports.hits[i] = tally.hits[0]
        reports.crossings[i] = tally.crossings[0]
        reports.drop[i] = tally.drop[0]
        reports.kinetic[i] = workspace.kinetic[-1]


def package_kernel(case, augmentation, travel_time=None):
    """The package's own transition: moves every row of S in place and returns reports."""
    law = AUGMENTATIONS[augmentation]
    time_law = parse_travel_time(travel_time, law)

    def move(S, rng):
        n = len(S)
        drawn = [time_law.draw(rng, law, case.d, 1) for _ in range(n)]
        time, n_hits = np.array([t for t, _ in drawn]), np.array([k for _, k in drawn])
        words = rng.bit_generator.random_raw(4 * n).reshape(n, 4)
        workspace, tally, reports = make_workspace(case.d), empty_tally(case.d), empty_reports(n)
        move_all(law, case.energy, S, words, time, n_hits, workspace, tally, reports)
        return reports

    return move


class Run(NamedTuple):
    """States before and after one transition from each of many exact starts."""

    before: np.ndarray
    after: np.ndarray
    reports: Reports
    probability: np.ndarray


def run(case, move, n, seed):
    """Apply one transition to each of n exact draws."""
    rng = np.random.default_rng(seed)
    probability = distribution(case.log_f, case.d)
    before = rng.choice(probability.size, size=n, p=probability)
    S = states(case.d)[before]
    reports = move(S, rng)
    return Run(before, number_of(S), reports, probability)
