"""Wrong kernels, and the test that rejects each."""

import numpy as np
import pytest
import reference
from exact import code, exact_draws, posterior
from invariance import ALPHA, invariance
from problems import regression
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.workspace import Clocks

N = 2500

WRONG = {
    "velocities not sheared": {"shear_v": 0.0},
    "sign of the logarithm of D": {"sign_of_log": -1.0},
    "D remembered from the start": {"stale": True},
    "weights not sheared": {"shear_w": 0.0},
    "odds of the held move with the shear of the other": {"mixed_odds": True},
}


def p_values(**wrong):
    """The smallest of the p-values of invariance, times their number."""
    rng = np.random.default_rng(51)
    problem = regression(rng, [-1, 0, 1], correlation=0.9, N=6, signal=0.6, lower=-0.3, lam=0.3)
    p = posterior(problem)
    s, w = exact_draws(problem, p, 2 * N, rng)
    end_s, end_w = s[:N].copy(), w[:N].copy()
    clocks = Clocks(fewest=1.5, most=2.5, held=0.1)
    for i in range(N):
        end_s[i], end_w[i] = reference.sheared(problem, s[i], w[i], seed_words(rng), clocks, **wrong)
    values = invariance(
        p, (code(s[:N]), w[:N]), (code(end_s), end_w), (code(s[N:]), w[N:])
    )
    return min(values.values()) * len(values)


def test_the_right_kernel_is_accepted():
    assert p_values() > ALPHA


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_kernel_is_rejected(name):
    """From exact starts one call is enough to see each of these."""
    assert p_values(**WRONG[name]) < ALPHA
