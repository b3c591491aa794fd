"""Flights with exact contacts: against plain NumPy, back and forth, and very long ones."""

import numpy as np
import pytest
import region_reference as reference
from region_cases import EYE, REGIONS, Case, Mover, allowed, case, wedge
from support.significance import assert_holds, batch_pvalues

from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions import flight as flight_module
from pymc_exact_hmc.regions.arcs import first_root
from pymc_exact_hmc.regions.flight import V, W, fly, orient
from pymc_exact_hmc.regions.region import make_region, violated
from pymc_exact_hmc.regions.truncated import energy_of, land


def launch(mover, w, v):
    mover.scratch.flight.particle[W] = w
    mover.scratch.flight.particle[V] = v
    orient(mover.region, mover.scratch.flight.walls, w)


def fly_from(mover, w, v, time):
    """Place, velocity and contacts of a compiled flight."""
    launch(mover, w, v)
    flight = mover.scratch.flight
    fly(mover.region, mover.law.mu, mover.law.Sigma, flight, time)
    return flight.particle[W].copy(), flight.particle[V].copy(), int(flight.counts[0])


@pytest.mark.parametrize("name", REGIONS)
def test_compiled_flight_is_the_reference(name):
    """Places, velocities and contacts agree to rounding, which contacts amplify."""
    rng = np.random.default_rng(1)
    problem = case(name)
    mover = Mover(problem)
    contacts = 0
    for w in problem.exact(40, rng):
        v = mover.law.root @ rng.standard_normal(2)
        found = fly_from(mover, w, v, 1.5)
        expected = reference.fly(problem.region, mover.law.mu, mover.law.Sigma, w, v, 1.5)
        assert found[2] == expected[2]
        np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-7)
        np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-7)
        contacts += found[2]
    assert contacts > 10


def test_the_reference_rejects_a_reflection_in_the_wrong_metric():
    """A mirror in the Euclidean metric gives another flight: the test above can fail."""
    rng = np.random.default_rng(2)
    problem = case("orthant")
    mover = Mover(problem)
    worst = 0.0
    for w in problem.exact(20, rng):
        v = mover.law.root @ rng.standard_normal(2)
        found = fly_from(mover, w, v, 1.5)[0]
        wrong = reference.fly(problem.region, mover.law.mu, mover.law.Sigma, w, v, 1.5, metric=EYE)[
            0
        ]
        worst = max(worst, np.abs(found - wrong).max())
    assert worst > 0.1


@pytest.mark.parametrize("name", REGIONS)
def test_flights_are_reversible(name):
    """With the velocity turned round the way back leads to the start."""
    rng = np.random.default_rng(3)
    problem = case(name)
    mover = Mover(problem)
    for w in problem.exact(40, rng):
        v = mover.law.root @ rng.standard_normal(2)
        there, speed, contacts = fly_from(mover, w, v, 1.2)
        back, end, again = fly_from(mover, there, -speed, 1.2)
        assert again == contacts
        np.testing.assert_allclose(back, w, rtol=0, atol=1e-7)
        np.testing.assert_allclose(end, -v, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["outside a ball", "product of three", "saddle"])
def test_a_long_flight_is_a_sequence_of_short_ones(name):
    """Also beyond a half turn, where some legs are cut off before they meet a wall."""
    rng = np.random.default_rng(6)
    problem = case(name)
    mover = Mover(problem)
    for w in problem.exact(20, rng):
        v = mover.law.root @ rng.standard_normal(2)
        *expected, contacts = fly_from(mover, w, v, 8.4)
        for _ in range(7):
            w, v, more = fly_from(mover, w, v, 1.2)
            contacts -= more
        assert contacts == 0
        # Contacts amplify rounding.
        np.testing.assert_allclose((w, v), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("region", "start"),
    [
        (make_region([[1.0, 0.3], [-1.0, -0.3]], [0.0, 2e-5]), [1e-5, 0.0]),
        (make_region([[1.0, 0.0], [-1.0, 1e-9]], [0.0, 1e-5]), [5e-6, 0.0]),
        (make_region([[0.0, 0.0], [0.0, 0.0]], [-1.0, 1.00001], [EYE, -EYE]), [1.0000025, 0.0]),
    ],
    ids=["parallel walls", "almost parallel walls", "thin shell"],
)
def test_energy_is_conserved_over_very_many_reflections(region, start):
    """More than 10⁵ reflections: energy to 1e-9, and the particle is still inside."""
    problem = Case(region, np.array([[1.5, 0.6], [0.6, 1.0]]), np.array([0.5, 0.3]))
    mover = Mover(problem)
    w, v = np.array(start), np.array([1.0, 0.2])
    launch(mover, w, v)
    particle = mover.scratch.flight.particle
    before, contacts = energy_of(mover.law.A, mover.law.mu, particle), 0
    while contacts < 100_000:
        w, v, more = fly_from(mover, w, v, 1.5)
        assert violated(region, w) < 0
        contacts += more
        assert more > 0
    assert abs(energy_of(mover.law.A, mover.law.mu, particle) - before) < 1e-9


@pytest.mark.parametrize("degrees", [1.0, 0.1])
def test_thin_wedges(degrees):
    """In the tip of a wedge at an angle of 1° a flight makes up to 180 contacts and comes out."""
    rng = np.random.default_rng(4)
    region = wedge(degrees)
    problem = Case(region, np.eye(2), np.array([0.0, 0.0]))
    mover, stream = Mover(problem), seed_words(rng)
    angle = np.deg2rad(degrees)
    w = np.array([np.cos(angle / 2), np.sin(angle / 2)])
    most = 0
    radius = np.empty(4000)
    for k in range(radius.size):
        mover.move(w, stream)
        most = max(most, int(mover.scratch.counts[0]))
        radius[k] = np.hypot(*w)
        assert allowed(region, w[None])[0]
    assert mover.rejected == 0
    assert most > 100 / degrees
    # In a wedge an isotropic Gaussian keeps the law of its radius, whose square is Exp(½).
    assert_holds(*batch_pvalues(radius[:, None] ** 2, 2.0), seed=4)


@pytest.mark.parametrize("just_hit", [False, True])
def test_first_roots_are_not_missed(just_hit):
    """Against a fine grid: the first time at which f is negative is never passed."""
    rng = np.random.default_rng(5)
    times = np.linspace(0.0, 3.0, 6001)
    waves = [h(k * times) for k in (1, 2) for h in (np.cos, np.sin)]
    columns = np.stack([np.ones_like(times), *waves])
    for _ in range(3000):
        arc = rng.standard_normal(5) * np.exp(rng.normal(size=5))
        start = 0.0 if just_hit else np.exp(rng.normal() * 3 - 3)
        arc[0] = start - arc[1] - arc[3]
        slope = arc[2] + 2 * arc[4]
        root = first_root(arc, 3.0)
        if just_hit and slope < 0:
            assert root == 0.0
            continue
        negative = np.flatnonzero(arc @ columns < -1e-12)
        if negative.size:
            assert root <= times[negative[0]]
        if root < np.inf:
            at = np.array([1, np.cos(root), np.sin(root), np.cos(2 * root), np.sin(2 * root)])
            assert abs(arc @ at) <= 1e-12 * np.abs(arc).sum()


def test_tangency():
    """A factor that touches zero, and one that misses it by little, are both found out."""
    for gap, met in ((1e-10, False), (-1e-10, True)):
        # f(t) = 1 + gap − cos(t − 1), which touches gap at t = 1.
        arc = np.array([1.0 + gap, -np.cos(1.0), -np.sin(1.0), 0.0, 0.0])
        root = first_root(arc, 3.0)
        assert (root < np.inf) == met
        if met:
            assert root == pytest.approx(1.0 - np.sqrt(2e-10), abs=1e-9)


def test_distances_are_measured_again(monkeypatch):
    """What rounding adds to the distances of linear walls is taken away every AFRESH contacts."""
    problem = Case(wedge(0.5), np.eye(2), np.zeros(2))
    mover = Mover(problem)
    angle = np.deg2rad(0.5)
    launch(mover, np.array([1e-3, 5e-4 * angle]), np.array([0.0, 1.0]))
    flight = mover.scratch.flight
    measured = []
    true = flight_module.measure_distances

    def spy(*args):
        measured.append(int(flight.counts[0]))
        return true(*args)

    # Its outermost function alone: the rest stays as it is compiled.
    outermost = getattr(fly, "py_func", fly)
    monkeypatch.setattr(flight_module, "measure_distances", spy)
    monkeypatch.setattr(flight_module, "AFRESH", 32)
    outermost(mover.region, mover.law.mu, mover.law.Sigma, flight, 1.5)
    contacts = int(flight.counts[0])
    assert contacts > 100
    assert measured == [0, *range(32, contacts + 1, 32)]


def test_an_end_outside_is_not_taken():
    """A flight that rounding left outside, or that was given up, keeps the old state."""
    mover = Mover(case("orthant"))
    flight, counts = mover.scratch.flight, np.zeros(2, np.int64)
    for end, given_up, taken in [
        ((1.0, 2.0), 0, True),
        ((-1.0, 2.0), 0, False),
        ((1, 2), 1, False),
    ]:
        w, before = np.array([0.5, 0.5]), int(counts[1])
        flight.particle[W] = end
        flight.counts[1] = given_up
        land(mover.region, flight, w, counts)
        np.testing.assert_array_equal(w, end if taken else (0.5, 0.5))
        assert counts[1] - before == (not taken)
