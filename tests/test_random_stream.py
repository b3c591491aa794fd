"""Random numbers of the kernels: their laws, and uniformity of shuffles."""

import math
from itertools import permutations

import numba
import numpy as np
from scipy import stats
from support.significance import (
    assert_holds,
    between_pvalue,
    stationarity_pvalue,
    uniform_pvalue,
)

from pymc_exact_hmc.random_stream import (
    binomial,
    exponential,
    fill_exponential,
    half_gamma,
    next_word,
    seed_words,
    shuffle_front,
    uniform,
)

N = 200_000
SEED = 41


@numba.njit
def fill(stream, uniforms, exponentials, half_gammas):
    for i in range(uniforms.size):
        uniforms[i] = uniform(stream)
        exponentials[i] = exponential(stream)
        half_gammas[i] = half_gamma(stream)


@numba.njit
def shuffles(stream, n, results):
    order = np.empty(results.shape[1], np.int32)
    for i in range(results.shape[0]):
        shuffle_front(stream, order, n)
        results[i] = order


def sample():
    columns = [np.empty(N) for _ in range(3)]
    fill(seed_words(np.random.default_rng(SEED)), *columns)
    return columns


def test_laws():
    """uniform is U[0, 1), exponential is Exp(1), half_gamma is Gamma(½)."""
    u, e, g = sample()
    assert u.min() >= 0
    assert u.max() < 1
    assert_holds(
        uniform_pvalue(u, "uniform"),
        uniform_pvalue(e, "expon"),
        uniform_pvalue(g, stats.gamma(0.5).cdf),
        seed=SEED,
    )


def test_exponential_tail():
    """Beyond the last layer of the ziggurat the law is Exp(1) again, with mass exp(−7.697…)."""
    rng = np.random.default_rng(SEED)
    columns = [np.empty(3_000_000) for _ in range(3)]
    fill(seed_words(rng), *columns)
    start = 7.69711747013104972
    tail = columns[1][columns[1] > start] - start
    count = stats.binomtest(tail.size, columns[1].size, math.exp(-start)).pvalue
    assert_holds(count, uniform_pvalue(tail, "expon"), seed=SEED)


def test_exponential_within_layers():
    """Corners of the layers of the ziggurat are taken in their share."""
    x, area = [7.69711747013104972], 0.0039496598225815571993
    while len(x) < 255:
        x.append(-math.log(math.exp(-x[-1]) + area / x[-1]))
    out = np.empty(4_000_000)
    only_exponential(seed_words(np.random.default_rng(SEED)), out)
    edges = np.array([*x, 0.0])[::-1]
    assert_holds(between_pvalue(out, edges, lambda v: -np.expm1(-v)), seed=SEED)


def test_filled_exponentials_are_those_drawn_one_by_one():
    """The faster loop leaves out no part of the ziggurat, and ends at the same word."""
    streams = [seed_words(np.random.default_rng(SEED)) for _ in range(2)]
    n = 3 * N
    one_by_one, filled = np.empty(n), np.full(n + 1, -1.0)
    only_exponential(streams[0], one_by_one)
    fill_exponential(streams[1], filled, n)
    np.testing.assert_allclose(filled[:n], one_by_one, rtol=1e-15)
    assert filled[n] == -1.0
    assert one_by_one.max() > 7.7  # the tail was met
    np.testing.assert_array_equal(*streams)


@numba.njit
def only_exponential(stream, out):
    for i in range(out.size):
        out[i] = exponential(stream)


@numba.njit
def many_binomial(stream, n, p, out):
    for i in range(out.size):
        out[i] = binomial(stream, n, p)


def test_binomial():
    """Counts of 64 numbers at a time, of fewer, and of a few more, have their law."""
    stream, counts, pvalues = seed_words(np.random.default_rng(SEED)), np.empty(N, np.int64), []
    for n, p in ((1, 0.3), (5, 0.5), (63, 0.01), (64, 0.75), (65, 0.9), (200, 1 / 3), (7, 1e-3)):
        many_binomial(stream, n, p, counts)
        pvalues.append(stationarity_pvalue(counts, stats.binom(n, p).pmf(np.arange(n + 1))))
    assert_holds(*pvalues, seed=SEED)
    for n, p, known in ((130, 0.0, 0), (130, 1.0, 130), (0, 0.5, 0)):
        many_binomial(stream, n, p, counts[:10])
        assert (counts[:10] == known).all()


def test_draws_are_independent():
    """Successive draws are uncorrelated."""
    for column in sample():
        ranks = stats.rankdata(column) / N - 0.5
        z = np.sum(ranks[1:] * ranks[:-1]) / math.sqrt(N) * 12
        assert_holds(2 * stats.norm.sf(abs(z)), seed=SEED)


def test_shuffle_is_uniform_over_permutations():
    """All d! orders are equally likely, and all starts when only the front is shuffled."""
    results = np.empty((N, 4), np.int32)
    stream = seed_words(np.random.default_rng(SEED))
    shuffles(stream, 4, results)
    index = {p: i for i, p in enumerate(permutations(range(4)))}
    numbers = np.array([index[tuple(row)] for row in results.tolist()])
    shuffles(stream, 2, results)
    front = results[:, 0] * 4 + results[:, 1]
    pairs = np.array([float(i // 4 != i % 4) for i in range(16)]) / 12
    assert_holds(
        stationarity_pvalue(numbers, np.full(24, 1 / 24)),
        stationarity_pvalue(front, pairs),
        seed=SEED,
    )
    assert (np.sort(results, axis=1) == np.arange(4)).all()


def test_same_seed_same_words():
    """A stream is a function of the generator it was seeded from: known first words."""
    first = seed_words(np.random.default_rng(5))
    again = seed_words(np.random.default_rng(5))
    np.testing.assert_array_equal(first, again)
    state = np.array([1, 2, 3, 4], np.uint64)
    # xoshiro256++ from the state (1, 2, 3, 4), as its authors' C code gives them.
    expected = [41943041, 58720359, 3588806011781223, 3591011842654386]
    assert [int(next_word(state)) for _ in range(4)] == expected


def test_streams_differ():
    """Every call, and every chain, gets words of its own."""
    rng, other = np.random.default_rng(5), np.random.default_rng(6)
    words = [*seed_words(rng), *seed_words(rng), *seed_words(other)]
    assert len(set(map(int, words))) == 12
