"""Wrong kernels, and the test that rejects each.

That a chain is stuck without held moves is in ``test_calls``.
"""

from functools import partial

import numpy as np
import pytest
import reference
from exact import code, exact_draws, posterior
from invariance import ALPHA, invariance
from problems import regression
from test_reference import compare

from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.sheared import sheared_transition
from pymc_exact_hmc.weights.workspace import Clocks

N = 1200
CLOCKS = Clocks(fewest=1.0, most=2.0, held=0.1)

# What statistics see from one call, and what only the comparison of trajectories sees.
BLATANT = {
    "sign of the logarithm of D": {"sign_of_log": -1.0},
    "weights not sheared": {"shear_w": 0.0},
}
SUBTLE = {
    "velocities not sheared": {"shear_v": 0.0},
    "D remembered from the start": {"stale": True},
    "odds of held moves throughout": {"mixed_odds": True},
}


def correlated_problem(rng):
    return regression(
        rng, [-1, 0, 1], correlation=0.9, N=10, sigma=0.4, signal=0.25, lower=-0.3, lam=0.3,
        log_odds=1.5,
    )  # fmt: skip


def smallest_p_value(**wrong):
    """The smallest of the p-values of invariance, times their number."""
    rng = np.random.default_rng(51)
    problem = correlated_problem(rng)
    p = posterior(problem)
    s, w = exact_draws(problem, p, 2 * N, rng)
    end_s, end_w = s[:N].copy(), w[:N].copy()
    for i in range(N):
        end_s[i], end_w[i] = reference.sheared(
            problem, s[i], w[i], seed_words(rng), CLOCKS, **wrong
        )
    start, other = (code(s[:N]), w[:N]), (code(s[N:]), w[N:])
    values = invariance(p, start, (code(end_s), end_w), other)
    return min(values.values()) * len(values)


def test_the_right_kernel_is_accepted():
    """χ², Kolmogorov–Smirnov and Bowker do not reject the reference."""
    assert smallest_p_value() > ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("name", BLATANT)
def test_statistics_reject_a_wrong_kernel(name):
    """From exact starts one call is enough to see each of these."""
    assert smallest_p_value(**BLATANT[name]) < ALPHA


@pytest.mark.parametrize("name", SUBTLE)
def test_the_reference_rejects_a_wrong_kernel(name):
    """The compiled trajectory differs from a wrong one."""
    rng = np.random.default_rng(52)
    wrong = partial(reference.sheared, **SUBTLE[name])
    problem = correlated_problem(rng)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        compare(problem, CLOCKS, sheared_transition, wrong, rng, calls=60)
