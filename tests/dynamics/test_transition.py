"""The whole transition against plain Python that takes the same random numbers."""

import math

import numpy as np
import pytest
from support.cases import make
from support.plain import cycle, flip_drop, period

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.dynamics.tally import clear, empty_tally
from pymc_exact_hmc.dynamics.transition import make_workspace, refresh_caches, transition
from pymc_exact_hmc.random_stream import exponential, seed_words, shuffle_front, uniform

TIME = 5.5
HITS = [3, 0, 9]
"""Hits of three trajectories: less than one each, none, and more than two each."""


def half_square(stream):
    """½q² of a standard normal q, as the package draws it: Exp(1)·cos²(πU)."""
    return exponential(stream) * math.cos(math.pi * uniform(stream)) ** 2


def hit(case, s, j, e, tally):
    drop = flip_drop(case.log_f, s, j)
    tally["hits"] += 1
    if e + drop > 0:
        s[j] ^= 1
        tally["crossings"] += 1
        tally["drop"] += drop
        tally["walls"][j] += 1
        return e + drop
    return e


def in_order(case, s, stream, n, tally):
    order = np.empty(case.d, np.int32)
    shuffle_front(stream, order, min(n, case.d))
    e = [exponential(stream) for _ in range(min(n, case.d))]
    for k, j in enumerate(cycle(order, n)):
        e[k % case.d] = hit(case, s, j, e[k % case.d], tally)


def by_time(case, augmentation, s, stream, tally):
    e, time = np.empty(case.d), np.empty(case.d)
    for j in range(case.d):
        e[j] = exponential(stream) if augmentation == "exponential" else 0.0
        e[j] += half_square(stream)
        time[j] = uniform(stream) * period(augmentation, e[j])
    while time.min() <= TIME:
        j = int(time.argmin())
        e[j] = hit(case, s, j, e[j], tally)
        time[j] += period(augmentation, e[j])


@pytest.mark.parametrize("name", ["dense couplings", "forbidding tables"])
@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
def test_transition_is_the_plain_one(name, augmentation):
    """Same seeds, same states and counts: draws, order of hits, energies, several trajectories."""
    case, rng = make(name, d=4), np.random.default_rng(61)
    law, workspace, tally = AUGMENTATIONS[augmentation], make_workspace(4), empty_tally(4)
    s = np.zeros(4, np.int8)
    walls = np.zeros(4, np.int64)
    for _ in range(30):
        stream = seed_words(rng)
        words, expected = stream.copy(), s.copy()
        plain = {"hits": 0, "crossings": 0, "drop": 0.0, "walls": walls}
        for n in HITS:
            if augmentation == "gaussian":
                in_order(case, expected, words, n, plain)
            else:
                by_time(case, augmentation, expected, words, plain)
        clear(tally)
        refresh_caches(case.energy, s)
        transition(law, case.energy, s, stream, TIME, np.array(HITS), workspace, tally)
        np.testing.assert_array_equal(s, expected)
        np.testing.assert_array_equal(stream, words)
        assert tally.hits[0] == plain["hits"]
        assert tally.crossings[0] == plain["crossings"]
        assert tally.drop[0] == pytest.approx(plain["drop"], rel=1e-12, abs=1e-12)
        np.testing.assert_array_equal(tally.per_wall, walls)
    assert (walls > 5).all()
