"""The classical reference: the compiled trajectories equal it, and it is reversible."""

import numpy as np
import pytest
from support.cases import CASES, make, with_augmentations
from support.enumeration import distribution, number_of, states
from support.significance import assert_holds, stationarity_pvalue

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.dynamics import classical
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.dynamics.trajectory import travel_by_queue, travel_in_order
from pymc_exact_hmc.dynamics.transition import fresh_log_density

PATHS = 40
TRAVEL_TIME = 7.5


def fresh(case, augmentation, rng):
    """A start that log f allows, with y and q of its law."""
    possible = np.flatnonzero(distribution(case.log_f, case.d))
    s = states(case.d)[rng.choice(possible)]
    return s, classical.draw_position(augmentation, s, rng), rng.normal(size=case.d)


def compiled(case, augmentation, s, y, q):
    """Follow the same particle with the compiled trajectory: s, energies, crossings."""
    s, tally = s.copy(), empty_tally(case.d)
    kinetic = classical.wall_energies(augmentation, y, q)
    time = classical.first_hits(augmentation, y, q)
    fresh_log_density(case.energy, s)
    if augmentation == "gaussian":
        order = np.argsort(time)
        ordered = kinetic[order]
        n = int(np.sum(np.floor((TRAVEL_TIME - time) / np.pi) + 1))
        travel_in_order(case.energy, s, order.astype(np.int32), ordered, n, tally)
        kinetic[order] = ordered
    else:
        queue = np.empty(case.d, np.int32)
        law = AUGMENTATIONS[augmentation]
        travel_by_queue(law, case.energy, s, queue, kinetic, time, TRAVEL_TIME, tally)
    return s, kinetic, tally


@pytest.mark.parametrize(("name", "augmentation"), with_augmentations("{name}-{law}"))
def test_compiled_trajectory_equals_the_classical_one(name, augmentation):
    """Energies and hit times alone lead to the same s, hits and crossings as (y, q)."""
    case, rng = make(name), np.random.default_rng(21)
    for _ in range(PATHS):
        s, y, q = fresh(case, augmentation, rng)
        path = classical.travel(augmentation, case.log_f, y, q, TRAVEL_TIME)
        end, kinetic, tally = compiled(case, augmentation, s, y, q)
        np.testing.assert_array_equal(end, path.s)
        assert tally.hits[0] == len(path.events)
        assert tally.crossings[0] == sum(event.crossed for event in path.events)
        expected = classical.wall_energies(augmentation, path.y, path.q)
        np.testing.assert_allclose(kinetic, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
@pytest.mark.parametrize("name", CASES)
def test_classical_energy_is_conserved(name, augmentation):
    """H(y, q) at the end of a trajectory equals H at its start."""
    case, rng = make(name), np.random.default_rng(22)
    for _ in range(PATHS):
        s, y, q = fresh(case, augmentation, rng)
        path = classical.travel(augmentation, case.log_f, y, q, TRAVEL_TIME)
        before = classical.hamiltonian(augmentation, case.log_f, s, y, q)
        after = classical.hamiltonian(augmentation, case.log_f, path.s, path.y, path.q)
        assert after == pytest.approx(before, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
@pytest.mark.parametrize("name", CASES)
def test_negated_momenta_lead_back(name, augmentation):
    """Travelling back with −q ends at the start: the dynamics is reversible."""
    case, rng = make(name), np.random.default_rng(23)
    for _ in range(PATHS):
        s, y, q = fresh(case, augmentation, rng)
        there = classical.travel(augmentation, case.log_f, y, q, TRAVEL_TIME)
        back = classical.travel(augmentation, case.log_f, there.y, -there.q, TRAVEL_TIME)
        np.testing.assert_array_equal(back.s, s)
        # Rounding grows by a factor of |1/q| at each of some dozens of hits.
        np.testing.assert_allclose(back.y, y, rtol=0, atol=1e-9)
        np.testing.assert_allclose(-back.q, q, rtol=0, atol=1e-9)
        crossed = [(e.wall, e.crossed) for e in there.events]
        assert [(e.wall, e.crossed) for e in back.events] == crossed[::-1]


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
def test_persistent_chain_is_stationary(augmentation):
    """The paper's chain, y kept between calls, leaves p(s) invariant."""
    case, rng, seed = make("dense couplings"), np.random.default_rng(24), 24
    probability = distribution(case.log_f, case.d)
    ends = np.empty(3000, np.int64)
    for i, start in enumerate(rng.choice(probability.size, size=ends.size, p=probability)):
        y = classical.draw_position(augmentation, states(case.d)[start], rng)
        for _ in range(2):
            y = classical.transition(augmentation, case.log_f, y, 2.0, rng).y
        ends[i] = number_of((y > 0).astype(np.int8))
    assert_holds(stationarity_pvalue(ends, probability), seed=seed)
