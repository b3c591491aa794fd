"""The paper's identities: rates of hits and crossings, laws of the energies, order of hits."""

import math

import numpy as np
import pytest
from scipy import stats
from support.cases import make
from support.kernels import package_kernel
from support.laws import check_crossing_rate, check_hit_rate, check_kinetic_law
from support.speed import slow_but

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.dynamics import classical


@pytest.mark.parametrize("name", slow_but(["tables"], ["dense couplings", "tables", "sum"]))
def test_crossing_rate_is_metropolis_acceptance(name):
    """Walls are crossed as often as Metropolis accepts a flip of a random indicator."""
    case = make(name)
    check_crossing_rate(case, package_kernel(case, "gaussian", 2.5 * math.pi))


LAWS = {"gaussian": stats.expon, "exponential": stats.gamma(1.5), "box": stats.gamma(0.5)}


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
def test_kinetic_energies_keep_their_law(augmentation):
    """After a trajectory e_j is distributed as before: Exp(1), Gamma(3/2), Gamma(1/2)."""
    case = make("dense couplings")
    kernel = package_kernel(case, augmentation, 2.5 * math.pi)
    check_kinetic_law(case, kernel, LAWS[augmentation].cdf)


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
@pytest.mark.parametrize("time", [1.0, 4.0, 9.5])
def test_hit_time_is_the_time_per_hit(augmentation, time):
    """In a time T every wall is hit T/hit_time times on average, whatever the energy."""
    case = make("dense couplings")
    kernel = package_kernel(case, augmentation, time)
    check_hit_rate(case, kernel, time, AUGMENTATIONS[augmentation].hit_time)


def test_gaussian_hits_are_cyclic():
    """Walls are hit in a fixed cyclic order, each once in π, crossing or not (eq. 17 and 18)."""
    case = make("dense couplings")
    rng = np.random.default_rng(11)
    for _ in range(100):
        y = rng.normal(size=case.d)
        path = classical.transition("gaussian", case.log_f, y, 5 * math.pi, rng)
        walls = np.array([event.wall for event in path.events]).reshape(5, case.d)
        times = np.array([event.time for event in path.events]).reshape(5, case.d)
        assert (walls == walls[0]).all()
        np.testing.assert_allclose(np.diff(times, axis=0), math.pi, rtol=1e-12)


def test_first_hits_of_a_fresh_particle():
    """Fresh (y, q) has e_j with the law above and a first hit uniform over its period."""
    rng = np.random.default_rng(12)
    period = {
        "gaussian": lambda e: math.pi + 0 * e,
        "exponential": lambda e: 2 * np.sqrt(2 * e),
        "box": lambda e: 2 / np.sqrt(2 * e),
    }
    for name, law in LAWS.items():
        s = rng.integers(0, 2, 20_000).astype(np.int8)
        y, q = classical.draw_position(name, s, rng), rng.normal(size=s.size)
        e, first = classical.wall_energies(name, y, q), classical.first_hits(name, y, q)
        phase = first / period[name](e)
        assert stats.kstest(e, law.cdf).pvalue > 1e-6
        assert stats.kstest(phase, "uniform").pvalue > 1e-6
        assert stats.spearmanr(e, phase).pvalue > 1e-6
