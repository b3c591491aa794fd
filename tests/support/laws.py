"""Test bodies: theorems about a transition, for the package's kernels and for wrong ones."""

import math

import numpy as np

from support.enumeration import acceptance
from support.kernels import run
from support.significance import (
    assert_holds,
    reversibility_pvalue,
    stationarity_pvalue,
    uniform_pvalue,
    zero_mean_pvalue,
)

MANY = 20_000


def check_invariance(case, kernel, *, n=MANY, seed=1):
    """Exact starts stay exact, and i → j is as frequent as j → i."""
    result = run(case, kernel, n, seed)
    assert_holds(
        stationarity_pvalue(result.after, result.probability),
        reversibility_pvalue(result.before, result.after, result.probability.size),
        seed=seed,
    )


def check_energy(case, kernel, *, n=200, seed=2):
    """The energy drops of the crossings of a trajectory add up to what log f gained."""
    result = run(case, kernel, n, seed)
    log_p = np.log(np.where(result.probability > 0, result.probability, 1.0))
    gained = log_p[result.after] - log_p[result.before]
    np.testing.assert_allclose(
        result.reports.drop, gained, rtol=0, atol=1e-12 * (1 + np.abs(log_p).max())
    )


def check_crossing_rate(case, kernel, *, n=MANY, seed=3):
    """Walls are crossed at the rate at which Metropolis accepts (appendix A of the paper)."""
    rate = acceptance(case.log_f, case.d)
    reports = run(case, kernel, n, seed).reports
    excess = reports.crossings - rate * reports.hits
    assert_holds(zero_mean_pvalue(excess), seed=seed)


def check_kinetic_law(case, kernel, cdf, *, n=MANY, seed=4):
    """The energy of a wall has at the end of a trajectory the law it was drawn from."""
    assert_holds(uniform_pvalue(run(case, kernel, n, seed).reports.kinetic, cdf), seed=seed)


def check_hit_rate(case, kernel, travel_time, hit_time, *, n=MANY, seed=5):
    """In a time T a wall is hit T/hit_time times on average."""
    expected = case.d * travel_time / hit_time
    excess = run(case, kernel, n, seed).reports.hits - expected
    if np.ptp(excess) == 0:
        assert math.isclose(excess[0], 0, abs_tol=1e-9)
    else:
        assert_holds(zero_mean_pvalue(excess), seed=seed)


def check_no_cycle(case, kernel, *, n=200, seed=6):
    """A state is not always followed by the same state."""
    result = run(case, kernel, n, seed)
    start = np.bincount(result.before).argmax()
    assert np.unique(result.after[result.before == start]).size > 1
