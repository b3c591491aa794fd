"""Transitions as plain functions of a state, so that one test body serves right and wrong ones."""

from typing import NamedTuple

import numpy as np
from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.dynamics.transition import fresh_log_density, make_workspace, transition
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.travel_time import TravelTime, parse_travel_time

from support.enumeration import distribution, number_of, states


class Report(NamedTuple):
    """What one transition did."""

    hits: int
    crossings: int
    drop: float
    kinetic: np.ndarray
    """Kinetic energies at the end of the walls that were hit, in the order of first hits."""


def package_kernel(case, augmentation, travel_time=None):
    """The package's own transition: kernel(s, rng) moves s in place and returns a report."""
    law = AUGMENTATIONS[augmentation]
    time_law = parse_travel_time(travel_time, law)
    workspace, tally = make_workspace(case.d), empty_tally(case.d)

    def kernel(s, rng):
        fresh_log_density(case.energy, s)
        for counter in (tally.hits, tally.crossings, tally.undefined, tally.drop):
            counter[0] = 0
        time, n_hits = TravelTime(*time_law).draw(rng, law, case.d, 1)
        transition(law, case.energy, s, seed_words(rng), time, n_hits, workspace, tally)
        return Report(
            int(tally.hits[0]), int(tally.crossings[0]), float(tally.drop[0]), workspace.kinetic
        )

    return kernel


class Run(NamedTuple):
    """States before and after one transition from each of many exact starts."""

    before: np.ndarray
    after: np.ndarray
    reports: list[Report]
    probability: np.ndarray


def run(case, kernel, n, seed):
    """Apply one transition to each of n exact draws."""
    rng = np.random.default_rng(seed)
    probability = distribution(case.log_f, case.d)
    table = states(case.d)
    before = rng.choice(probability.size, size=n, p=probability)
    after, reports = np.empty(n, np.int64), []
    for i, start in enumerate(before):
        s = table[start].copy()
        report = kernel(s, rng)
        after[i] = number_of(s)
        reports.append(report._replace(kinetic=report.kinetic.copy()))
    return Run(before, after, reports, probability)
