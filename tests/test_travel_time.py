"""Travel times: what users may give, and the number of hits they lead to."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from support.significance import assert_holds, stationarity_pvalue

from pymc_exact_hmc.augmentations import AUGMENTATIONS, Gaussian
from pymc_exact_hmc.options import Options, make_motion, parse_trajectories
from pymc_exact_hmc.travel_time import DEFAULT_HITS_PER_WALL, TravelTime, parse_travel_time


@pytest.mark.parametrize("augmentation", AUGMENTATIONS.values())
def test_default_is_half_a_hit_to_one_hit_per_wall(augmentation):
    """By default a wall is hit ½ to 1 times on average, and never the same number for all."""
    low, high = parse_travel_time(None, augmentation)
    assert (low / augmentation.hit_time, high / augmentation.hit_time) == DEFAULT_HITS_PER_WALL
    assert low < high


@pytest.mark.parametrize("value", [2.5 * math.pi, 1, (0.5, 2.0), [1.0, 3.0], (0, 1), np.float64(2)])
def test_what_is_given_is_used(value):
    """A number is a fixed time, a pair an interval, with weights and without, for all kernels."""
    ends = np.atleast_1d(np.asarray(value, float))
    assert parse_travel_time(value, Gaussian()) == (ends[0], ends[-1])
    block = SimpleNamespace(terms=[], d=3)
    for kernel, single in itertools.product([None, "paper", "general"], [False, True]):
        motion = make_motion(Options("gaussian", value, None, kernel), block, single=single)
        assert motion.travel_time == (ends[0], ends[-1])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "positive"),
        (-1.0, "positive"),
        ((-1.0, 2.0), "positive"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        ((2.0, 1.0), "shortest first"),
        ((math.nan, 2.0), "finite"),
        (math.pi, "1π.*ergodic"),
        (3 * math.pi, "3π.*ergodic"),
        ((math.pi, math.pi), "ergodic"),
        ("long", "number or a pair"),
        ((1, 2, 3), "number or a pair"),
        ([[1.0]], "number or a pair"),
    ],
)
def test_bad_times_get_a_sentence(value, words):
    """A time that is not positive and finite, or hits all walls equally often, is refused."""
    with pytest.raises(ValueError, match=words):
        parse_travel_time(value, Gaussian())


@pytest.mark.parametrize("augmentation", ["exponential", "box"])
def test_whole_turns_are_for_the_gaussian_only(augmentation):
    """π means nothing to the augmentations whose period depends on the energy."""
    assert parse_travel_time(math.pi, AUGMENTATIONS[augmentation]) == (math.pi, math.pi)


@pytest.mark.parametrize(("d", "number"), [(1, 10), (500, 2), (5000, 1)])
def test_number_of_trajectories(d, number):
    """As many as are cheap beside PyMC's own work, one at the least."""
    assert parse_trajectories(None, d, single=False) == number
    assert parse_trajectories(None, d, single=True) == 1
    assert parse_trajectories(np.int64(3), d, single=False) == 3


def test_number_of_hits():
    """In T each wall is hit ⌊T/π⌋ times, and once more with probability frac(T/π)."""
    rng, time, d = np.random.default_rng(51), 2.3 * math.pi, 5
    _, hits = TravelTime(time, time).draw(rng, Gaussian(), d, 20_000)
    expected = stats.binom(d, 0.3).pmf(np.arange(d + 1))
    assert_holds(stationarity_pvalue(hits - 2 * d, expected), seed=51)


def test_hits_are_those_of_the_time_that_was_drawn():
    """With T from an interval, a wall is hit with probability T/π for that T, not for its end."""
    rng, d, law = np.random.default_rng(54), 5, TravelTime(0.2 * math.pi, 0.8 * math.pi)
    drawn = [law.draw(rng, Gaussian(), d, 1) for _ in range(4000)]
    p, hits = np.array([(time / math.pi, k[0]) for time, k in drawn]).T
    z = (hits - d * p).sum() / np.sqrt((d * p * (1 - p)).sum())
    assert_holds(2 * stats.norm.sf(abs(z)), seed=54)


@pytest.mark.parametrize("augmentation", AUGMENTATIONS.values())
def test_times_are_uniform_on_their_interval(augmentation):
    """From the shortest to the longest, afresh at each call; trajectories share it."""
    rng = np.random.default_rng(52)
    drawn = [TravelTime(2.0, 5.0).draw(rng, augmentation, 3, 2) for _ in range(4000)]
    assert all(hits.shape == (2,) for _, hits in drawn)
    law = stats.uniform(2.0, 3.0)
    assert_holds(stats.kstest([time for time, _ in drawn], law.cdf).pvalue, seed=52)
