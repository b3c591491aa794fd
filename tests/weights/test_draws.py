"""Univariate draws: standard normal, and truncated Gaussian."""

import math

import numba
import numpy as np
import pytest
from scipy import special, stats
from support.significance import between_pvalue

from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.block import LAM, LAMBDA, SLAB_LOWER, SLAB_UPPER
from pymc_exact_hmc.weights.conditional import draw_slabs
from pymc_exact_hmc.weights.integral import log_integral
from pymc_exact_hmc.weights.normal import _normal_tail, normal
from pymc_exact_hmc.weights.truncated_draw import draw_truncated

ALPHA = 1e-6
INF = math.inf
N = 100_000

LAWS = [
    (D, z * math.sqrt(D), lower / math.sqrt(D), upper / math.sqrt(D))
    for D in (1e-12, 1.0, 1e12)
    for z, lower, upper in [
        (1.0, -INF, INF),
        (0.0, 0.0, INF),
        (-1e4, 0.0, INF),
        (1e4, 0.0, INF),
        (-0.4, 0.0, INF),
        (-0.5, 0.0, INF),
        (3.0, -INF, 2.0),
        (1e4, -INF, 2.0),
        (0.3, -1.0, 0.7),
        (0.3, 0.2, 2.5),
        (-0.3, 0.0, 5.0),
        (-2.0, 0.5, 0.6),
        (-1.0, 0.0, 1.5),
        (-30.0, 1.0, 1.5),
        (30.0, -2.0, 1e-3),
        (-1e4, 0.0, 1e-5),
    ]
] + [(0.0, -3.0, 0.0, INF), (0.0, 2.0, -INF, 1.0), (0.0, 5.0, 1.0, 2.0), (0.0, 0.0, 1.0, 2.0)]


@numba.njit
def many_truncated(stream, D, rho, lower, upper, out):
    for i in range(out.size):
        out[i] = draw_truncated(stream, D, rho, lower, upper)


@numba.njit
def many_normal(stream, out):
    for i in range(out.size):
        out[i] = normal(stream)


@numba.njit
def many_tails(stream, out):
    for i in range(out.size):
        out[i] = _normal_tail(stream)


def distribution_function(x, D, rho, lower, upper):
    """Probability of the part below x, from the nearer bound so that nothing cancels."""
    whole = log_integral(D, rho, lower, upper)
    if rho <= D * lower or upper == INF:
        return np.array([math.exp(log_integral(D, rho, lower, v) - whole) for v in x])
    return 1.0 - np.array([math.exp(log_integral(D, rho, v, upper) - whole) for v in x])


@pytest.mark.parametrize(("D", "rho", "lower", "upper"), LAWS)
def test_truncated_draws_follow_their_law(D, rho, lower, upper):
    """Kolmogorov–Smirnov against the integral, in the bulk and in the farthest tails."""
    x = np.empty(N)
    many_truncated(seed_words(np.random.default_rng(5)), D, rho, lower, upper, x)
    assert lower <= x.min() <= x.max() <= upper
    # Every twentieth order statistic brackets the largest distance to within 20/N.
    grid = np.sort(x)[::20]
    exact = distribution_function(grid, D, rho, lower, upper)
    empirical = np.arange(0, N, 20) / N
    distance = np.abs(empirical - exact).max() - 20 / N
    assert distance < math.sqrt(math.log(2 / ALPHA) / (2 * N))


def test_normal_draws_follow_their_law():
    """The ziggurat: Kolmogorov–Smirnov, and the tail beyond the base layer counted."""
    x = np.empty(2_000_000)
    many_normal(seed_words(np.random.default_rng(6)), x)
    assert stats.kstest(x[:200_000], "norm").pvalue > ALPHA
    for edge in (1.0, 3.0, 3.6541528853610088, 4.2):
        for count in ((x > edge).sum(), (x < -edge).sum()):
            assert stats.binomtest(int(count), x.size, stats.norm.sf(edge)).pvalue > ALPHA


def test_normal_tail_and_corners_of_layers():
    """Draws beyond the base layer have their law, and corners are taken in their share."""
    x, area = [3.6541528853610088], 0.00492867323399
    while len(x) < 255:
        x.append(math.sqrt(-2 * math.log(math.exp(-0.5 * x[-1] ** 2) + area / x[-1])))
    out, stream = np.empty(8_000_000), seed_words(np.random.default_rng(8))
    many_normal(stream, out)
    edges = np.array([*x, 0.0])[::-1]
    assert between_pvalue(np.abs(out), edges, special.ndtr) > ALPHA
    tail = out[:N]
    many_tails(stream, tail)
    ranks = 1 - special.ndtr(-tail) / special.ndtr(-x[0])
    assert stats.kstest(ranks, "uniform").pvalue > ALPHA


def test_no_law_no_number():
    """Parameters that are not numbers, or an improper law, must not hang."""
    stream = seed_words(np.random.default_rng(7))
    for law in [(math.nan, 0.0, 0.0, 1.0), (1.0, math.nan, 0.0, INF), (0.0, 1.0, -INF, INF)]:
        assert math.isnan(draw_truncated(stream, *law))
    assert math.isnan(draw_truncated(stream, 0.0, 1.0, 0.0, INF))


def test_slabs_have_their_own_laws():
    """Weights outside P follow their slabs, whatever the slab before was; others stay."""
    slabs = [
        # Λ, λ, lower, upper; a slab after one of the same Λ and after one of another.
        (2.0, 1.0, -INF, INF),
        (2.0, 0.0, 0.0, INF),
        (0.5, 0.0, 0.0, INF),
        (0.5, -1.5, -3.0, INF),
        (0.5, 1.0, 0.0, INF),
        (0.0, -2.0, 1.0, INF),
        (0.5, 0.3, -1.0, 2.0),
        (0.5, 0.3, -INF, 2.0),
        (4.0, -8.0, -INF, INF),
    ]
    coefficients = np.zeros((7, len(slabs) + 1))
    coefficients[[LAMBDA, LAM, SLAB_LOWER, SLAB_UPPER], :-1] = np.transpose(slabs)
    place = np.full(len(slabs) + 1, -1)
    place[-1] = 0
    w, stream = np.full(len(slabs) + 1, 7.0), seed_words(np.random.default_rng(23))
    draws = np.empty((20_000, len(slabs) + 1))
    for row in draws:
        draw_slabs(stream, coefficients, place, w)
        row[:] = w
    assert (draws[:, -1] == 7.0).all()
    for slab, column in zip(slabs, draws.T, strict=False):
        assert column.min() >= slab[2]
        assert column.max() <= slab[3]
        ranks = distribution_function(column, *slab)
        assert stats.kstest(ranks, "uniform").pvalue > ALPHA / len(slabs), slab
