"""The transition leaves a truncated Gaussian exactly invariant, in regions of every kind."""

import numpy as np
import pytest
import region_reference as reference
from region_cases import REGIONS, THIN, Case, Mover, allowed, case, chain
from scipy import stats
from scipy.stats import multivariate_normal
from support.significance import ALPHA, assert_holds, batch_pvalues

from pymc_exact_hmc.random_stream import seed_words, uniform
from pymc_exact_hmc.regions.region import empty_law, make_region, set_law

N = 8000


def statistics(w):
    """Coordinates, and what first moments do not see: squares, the product, tails."""
    return [w[:, 0], w[:, 1], w[:, 0] * w[:, 1], np.abs(w[:, 0] - w[:, 1]), (w**2).sum(axis=1)]


def halves_pvalue(before, after, middle):
    """p-value that low → high is as frequent as high → low."""
    up = int(np.sum((before <= middle) & (after > middle)))
    down = int(np.sum((before > middle) & (after <= middle)))
    return stats.binomtest(up, up + down).pvalue if up + down else 1.0


def pvalues(start, end, other):
    """p-values of stationarity and of detailed balance, from exact starts."""
    found = []
    for a, b, c in zip(statistics(start), statistics(end), statistics(other), strict=True):
        found += [stats.ks_2samp(b, c).pvalue, halves_pvalue(a, b, np.median(c))]
    return found


def one_call(problem, move, seed, n=N):
    rng = np.random.default_rng(seed)
    start, other = problem.exact(n, rng), problem.exact(4 * n, rng)
    end, stream = start.copy(), seed_words(rng)
    for w in end:
        move(w, stream)
    assert allowed(problem.region, end).all()
    assert np.mean(np.any(end != start, axis=1)) > 0.5
    return pvalues(start, end, other)


def test_law_is_that_of_its_precision():
    """Σ = A⁻¹ = RR' with R upper triangular, and μ = A⁻¹b, in whatever units the weights are."""
    units, law = np.array([1.0, 30.0, 0.2]), empty_law(3)
    A = np.array([[1.5, 0.6, 0.2], [0.6, 1.0, -0.3], [0.2, -0.3, 2.0]]) * np.outer(units, units)
    b = units * [0.5, 0.3, -1.0]
    set_law(law, A, b)
    np.testing.assert_allclose(law.Sigma, np.linalg.inv(A), rtol=1e-12)
    np.testing.assert_allclose(law.mu, np.linalg.solve(A, b), rtol=1e-12)
    np.testing.assert_allclose(law.root @ law.root.T, law.Sigma, rtol=1e-12)
    np.testing.assert_array_equal(law.root, np.triu(law.root))


@pytest.mark.parametrize("lines", [0, 1])
@pytest.mark.parametrize("name", REGIONS)
def test_one_call_keeps_exact_draws_exact(name, lines):
    """Starts by rejection, one call: stationarity and detailed balance of five statistics."""
    problem = case(name)
    mover = Mover(problem)
    values = one_call(problem, lambda w, stream: mover.move(w, stream, lines=lines), seed=11)
    assert_holds(*values, seed=11)
    assert mover.rejected == 0


CONVEX = [name for name, region in REGIONS.items() if region.is_convex]


@pytest.mark.parametrize("time", [0.0, 0.5 * np.pi], ids=["sweeps", "flight and sweeps"])
@pytest.mark.parametrize("name", CONVEX)
def test_sweeps_keep_exact_draws_exact(name, time):
    """Sweeps alone, and a flight with sweeps before or after it."""
    problem = case(name)
    mover = Mover(problem)
    values = one_call(
        problem, lambda w, stream: mover.move(w, stream, time=time, sweeps=1), seed=17
    )
    assert_holds(*values, seed=17)
    assert mover.rejected == 0


@pytest.mark.parametrize(
    "move", [{}, {"time": 0.0, "sweeps": 1}, {"sweeps": 2}], ids=["flight", "sweep", "both"]
)
@pytest.mark.parametrize("name", THIN)
def test_thin_regions_keep_exact_draws_exact(name, move):
    """Two walls at 1°, and two almost parallel ones, which no draw by rejection would find."""
    problem = THIN[name]
    mover = Mover(problem)
    values = one_call(problem, lambda w, stream: mover.move(w, stream, **move), seed=19)
    assert_holds(*values, seed=19)
    assert mover.rejected == 0


@pytest.mark.parametrize("name", REGIONS)
def test_transition_is_the_plain_one(name):
    """A flight, sweeps where they are allowed, and two lines: the same random numbers, same w."""
    rng, problem = np.random.default_rng(18), case(name)
    # Where a conditional mode is on a wall, rounding decides how a draw is made.
    sweeps = 2 if name in CONVEX and name != "wall through the mode" else 0
    mover, moved = Mover(problem), 0
    # More where a line may have several segments: which is taken seldom turns on a small error.
    starts = 30 if problem.region.is_convex else 200
    for w in problem.exact(starts, rng):
        stream = seed_words(rng)
        expected = reference.transition(problem, mover.law, w, 1.5, sweeps, 2, stream.copy())
        found = w.copy()
        mover.move(found, stream, time=1.5, sweeps=sweeps, lines=2)
        # Contacts amplify rounding.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
        moved += np.abs(found - w).max() > 0.01
    assert moved > 0.8 * starts


def test_sweeps_are_the_plain_ones():
    """Same random numbers, same weights as from b − Aw and Fw + g computed afresh for each."""
    rng = np.random.default_rng(19)
    d, m = 6, 9
    X, F = rng.normal(size=(d + 2, d)), rng.normal(size=(m, d))
    problem = Case(make_region(F, np.full(m, 1.0)), X.T @ X, 3 * rng.normal(size=d))
    mover, w, orders = Mover(problem), np.zeros(d), set()
    for _ in range(30):
        stream = seed_words(rng)
        same = stream.copy()
        upwards = uniform(same) < 0.5
        order = range(d) if upwards else range(d)[::-1]
        expected = reference.sweep(problem, w, order, same)
        mover.move(w, stream, time=0.0, sweeps=1)
        np.testing.assert_allclose(w, expected, rtol=0, atol=1e-12)
        orders.add(bool(upwards))
    assert orders == {True, False}


def test_sweeps_know_slopes_and_slacks():
    """After many sweeps in eight dimensions the slopes are b − Aw and the slacks Fw + g.

    All weights have moved.
    """
    rng = np.random.default_rng(18)
    d, m = 8, 12
    X, F = rng.normal(size=(d + 2, d)), rng.normal(size=(m, d))
    problem = Case(make_region(F, np.full(m, 2.0)), X.T @ X, rng.normal(size=d))
    mover, stream, w = Mover(problem), seed_words(rng), np.zeros(d)
    mover.move(w, stream, time=0.0, sweeps=500)
    sweep = mover.scratch.sweep
    assert (w != 0).all()
    np.testing.assert_array_equal(sweep.trial, w)
    np.testing.assert_allclose(sweep.slope, problem.b - problem.A @ w, rtol=0, atol=1e-10)
    np.testing.assert_allclose(sweep.slack, F @ w + 2.0, rtol=0, atol=1e-10)
    assert (sweep.slack > 0).all()


def test_a_sweep_that_ends_outside_is_not_taken():
    """As rounding may leave it: here the start is outside, and too far for a sweep to enter."""
    mode, w = np.array([-6.0, 1.0]), np.array([-5.0, 1.0])
    mover = Mover(Case(make_region(np.eye(2), np.zeros(2)), 100 * np.eye(2), 100 * mode))
    mover.move(w, seed_words(np.random.default_rng(19)), time=0.0, sweeps=1)
    assert mover.scratch.sweep.trial[1] != 1.0
    np.testing.assert_array_equal(w, (-5.0, 1.0))
    assert mover.rejected == 1


def wrong_conditionals(problem):
    """Sweeps that see half of every correlation."""
    mover = Mover(problem)
    mover.law.A[:] = 0.5 * (mover.law.A + np.diag(np.diag(mover.law.A)))
    return lambda w, stream: mover.move(w, stream, time=0.0, sweeps=1)


def wrong_metric(problem):
    """Reflections in the Euclidean metric keep the energy of nothing."""
    mover, rng = Mover(problem), np.random.default_rng(0)

    def move(w, stream):
        v = mover.law.root @ rng.standard_normal(2)
        end = reference.fly(
            problem.region, mover.law.mu, mover.law.Sigma, w, v, 1.5, metric=np.eye(2)
        )
        w[:] = end[0] if allowed(problem.region, end[0][None])[0] else w

    return move


def redrawn_until_inside(problem):
    """ "Redraw the velocity until it works" is not a rejection."""
    mover, rng = Mover(problem), np.random.default_rng(0)

    def move(w, stream):
        while True:
            end = mover.law.mu + mover.law.root @ rng.standard_normal(2) * np.sin(0.7)
            end += (w - mover.law.mu) * np.cos(0.7)
            if allowed(problem.region, end[None])[0]:
                w[:] = end
                return

    return move


def stopped_at_the_wall(problem):
    """The paper's rivals: a particle that stays where it meets a wall."""
    mover, rng = Mover(problem), np.random.default_rng(0)

    def move(w, stream):
        v = mover.law.root @ rng.standard_normal(2)
        for t in np.linspace(0.0, 1.5, 40):
            place = mover.law.mu + (w - mover.law.mu) * np.cos(t) + v * np.sin(t)
            if not allowed(problem.region, place[None])[0]:
                break
            end = place
        w[:] = end

    return move


@pytest.mark.parametrize(
    "wrong", [wrong_metric, redrawn_until_inside, stopped_at_the_wall, wrong_conditionals]
)
def test_wrong_kernels_are_rejected(wrong):
    """Each is seen from one call."""
    problem = case("orthant")
    values = one_call(problem, wrong(problem), seed=12, n=2500)
    assert min(values) < ALPHA / len(values)


def test_tails_of_a_positive_gaussian_are_orthant_probabilities():
    """P(w_i > c | w ≥ 0) in four dimensions, by the distribution function of Genz and Bretz."""
    rng = np.random.default_rng(13)
    d = 4
    X = rng.normal(size=(d, d))
    A = X.T @ X / (2 * d) + 0.3
    A += 0.05 * np.eye(d)
    b = np.array([0.2, -0.3, 0.1, 0.0])
    Sigma = np.linalg.inv(A)
    mu = Sigma @ b

    def orthant(lower):
        options = {"abseps": 1e-8, "releps": 1e-8, "maxpts": 400_000}
        return multivariate_normal.cdf(-lower, -mu, Sigma, rng=np.random.default_rng(0), **options)

    draws, mover = chain(Case(make_region(np.eye(d), np.zeros(d)), A, b), np.ones(d), 40_000, 14)
    cuts = [(i, c) for i in range(d) for c in (0.5, 2.0)]
    exact = [orthant(c * np.eye(d)[i]) / orthant(np.zeros(d)) for i, c in cuts]
    tails = np.column_stack([draws[:, i] > c for i, c in cuts])
    assert_holds(*batch_pvalues(tails.astype(float), np.array(exact)), seed=14)
    assert mover.rejected == 0


@pytest.mark.parametrize(
    ("region", "start"),
    [
        (make_region([[1.0], [1.0]], [-1.0, 1.0], product=[0, 0]), [1.5]),
        (make_region([[0.0]], [-1.0], [[[1.0]]]), [1.5]),
        (make_region([[1.0], [1.0], [1.0]], [1.0, 0.0, -1.0], product=[0, 0, 0]), [1.5]),
    ],
    ids=["two half-lines", "outside an interval", "three factors"],
)
def test_pieces_that_flights_cannot_reach(region, start):
    """Draws along lines visit every piece of a region that falls apart, in proportion."""
    problem = Case(region, np.array([[1.0]]), np.array([0.3]))
    draws, _ = chain(problem, start, 20_000, 15, lines=1)
    assert allowed(region, draws).all()
    grid = np.linspace(-9.0, 9.0, 360_001)
    density = np.exp(-0.5 * (grid - 0.3) ** 2) * allowed(region, grid[:, None])
    negative = density[grid < 0].sum() / density.sum()
    mean = (density * grid).sum() / density.sum()
    found = np.column_stack([draws[:, 0] < 0, draws[:, 0]])
    assert_holds(*batch_pvalues(found, np.array([negative, mean])), seed=15)
