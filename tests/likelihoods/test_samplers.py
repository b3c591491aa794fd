"""The samplers of latents against their laws, in the middle and in the tails."""

import math

import numpy as np
import pytest
from scipy import special, stats
from support.significance import ALPHA, assert_holds, uniform_pvalue

from likelihoods.draws import fill_gamma, fill_inverse_gaussian, fill_polya_gamma
from pymc_exact_hmc.likelihoods import Censored, Laplace, Logistic, Probit, Student, draw_latents
from pymc_exact_hmc.likelihoods.polya_gamma import accept_one
from pymc_exact_hmc.likelihoods.working import Working, redraw
from pymc_exact_hmc.random_stream import seed_words, uniform

SEED, SIZE = 31, 40_000


def drawn(fill, *law, size=SIZE, seed=SEED):
    out = np.empty(size)
    fill(seed_words(np.random.default_rng(seed)), *law, out)
    return out


@pytest.mark.parametrize("shape", [0.05, 0.5, 0.99, 1.0, 2.5, 50.0, 1e6])
def test_gamma(shape):
    """Marsaglia and Tsang, and the power of a uniform below shape 1."""
    assert_holds(uniform_pvalue(drawn(fill_gamma, shape), stats.gamma(shape).cdf), seed=SEED)


@pytest.mark.parametrize("q", [0.0, 1e-12, 0.01, 1.0, 30.0, 1e4])
def test_inverse_gaussian(q):
    """Mean 1/q and shape 1; 1/χ²₁ in the limit q = 0."""
    law = stats.invgamma(0.5, scale=0.5).cdf if q <= 1e-12 else stats.invgauss(1 / q, scale=1).cdf
    assert_holds(uniform_pvalue(drawn(fill_inverse_gaussian, q), law), seed=SEED)


def polya_gamma_cdf(b, c):
    """P(PG(b, c) ≤ x), from the characteristic function (Gil-Pelaez 1951).

    E exp(itX) = (cosh(c/2)/cosh(√(c²/4 − it/2)))^b.
    """

    def cdf(x):
        sd = math.sqrt(polya_gamma_moments(b, c)[1])
        t = (np.arange(60_000) + 0.5) * (0.004 / sd)
        root = np.sqrt(c * c / 4 - 0.5j * t)
        # log cosh without overflow; the real part of the root is positive.
        log_cosh = root + np.log1p(np.exp(-2 * root)) - math.log(2)
        at_zero = c / 2 + math.log1p(math.exp(-c)) - math.log(2)
        phi = np.exp(b * (at_zero - log_cosh))
        phases = np.exp(-1j * np.multiply.outer(x, t))
        return 0.5 - (phases * (phi / t)).imag.sum(axis=1) * (t[1] - t[0]) / math.pi

    return cdf


def polya_gamma_moments(b, c):
    """Mean and variance in closed form."""
    if c == 0:
        return b / 4, b / 24
    half = math.tanh(c / 2)
    return b * half / (2 * c), b * (2 * half - c * (1 - half * half)) / (4 * c**3)


SHAPES = [1.0, 1.001, 1.4, 1.999, 2.0, 3.7, 25.0]


@pytest.mark.parametrize("b", [*SHAPES, 400.0])
def test_polya_gamma_moments(b):
    """Mean and variance are the closed forms, from c = 0 to far beyond any data."""
    values = []
    for c in (0.0, 0.3, 2.0, 8.0, 60.0, 2000.0):
        x = drawn(fill_polya_gamma, b, c, size=SIZE if b < 10 else SIZE // 10)
        mean, variance = polya_gamma_moments(b, c)
        z = (x - mean) / math.sqrt(variance)
        values.append(2 * stats.norm.sf(abs(z.mean()) * math.sqrt(z.size)))
        spread = np.std(z * z)
        values.append(2 * stats.norm.sf(abs(np.mean(z * z) - 1) / spread * math.sqrt(z.size)))
    assert_holds(*values, seed=SEED)


@pytest.mark.parametrize("b", SHAPES)
@pytest.mark.parametrize("c", [0.0, 1.0, 6.0, 60.0])
def test_polya_gamma_law(b, c):
    """Kolmogorov–Smirnov against the distribution function, and the shares in both tails."""
    x = np.sort(drawn(fill_polya_gamma, b, c, size=SIZE))
    grid = np.quantile(x, [1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999])
    exact = polya_gamma_cdf(b, c)(grid)
    cells = np.diff(np.concatenate([[0], exact, [1]]))
    # Quantiles of other draws are fixed numbers for these.
    other = drawn(fill_polya_gamma, b, c, size=SIZE, seed=SEED + 1)
    counts = np.bincount(np.searchsorted(grid, other), minlength=11)
    assert (cells > 0).all()
    assert_holds(stats.chisquare(counts, cells / cells.sum() * SIZE).pvalue, seed=SEED)


@pytest.mark.parametrize("x", [0.3, 0.639, 0.641, 0.9])
def test_polya_gamma_acceptance(x):
    """The density of J(1, 0) over its bound, by the series of the other side of the middle."""
    n, stream = np.arange(40), seed_words(np.random.default_rng(SEED))
    terms = math.pi * (n + 0.5) * np.array(
        [(2 / (math.pi * x)) ** 1.5 * np.exp(-2 * (n + 0.5) ** 2 / x),
         np.exp(-0.5 * (n + 0.5) ** 2 * math.pi**2 * x)]
    )  # fmt: skip
    own = int(x > 0.64)
    share = ((-1.0) ** n @ terms[1 - own]) / terms[own, 0]
    for _ in range(20_000):
        level = uniform(stream.copy())
        assert accept_one(stream, x) == (level <= share)


@pytest.mark.parametrize("wrong", [(1.4, 1.0, 1.45), (2.0, 6.0, 2.05)])
def test_polya_gamma_law_is_sharp(wrong):
    """The same test rejects a shape that is wrong by a few per cent."""
    b, c, other = wrong
    grid = np.quantile(drawn(fill_polya_gamma, b, c), [0.05, 0.2, 0.4, 0.6, 0.8, 0.95])
    cells = np.diff(np.concatenate([[0], polya_gamma_cdf(other, c)(grid), [1]]))
    counts = np.bincount(np.searchsorted(grid, drawn(fill_polya_gamma, b, c, seed=5)), minlength=7)
    assert stats.chisquare(counts, cells / cells.sum() * SIZE).pvalue < ALPHA


def latents(family, eta, precision=1.0, size=20_000, seed=SEED):
    """Return targets and factors of many rows, with the same η and precision or their own."""
    n = len(family[0])
    assert n == size
    working = Working(
        X=np.zeros((n, 1)), offset=np.broadcast_to(np.asarray(eta, float), n),
        precision=np.atleast_1d(np.asarray(precision, float)),
        label=np.zeros(n, np.int64), relative=np.ones(n), eta=np.zeros(n), target=np.zeros(n),
        factor=np.zeros(n),
    )  # fmt: skip
    stream = seed_words(np.random.default_rng(seed))
    none = np.full(1, -1), np.zeros(1, np.int8), np.zeros(1), np.zeros(1, np.int64)
    redraw(family, working, *none, stream, np.zeros((1, 1)), np.zeros(1))
    return working.target, working.factor


def rows(*values, size=20_000):
    return [np.full(size, float(x)) for x in values]


@pytest.mark.parametrize("eta", [-30.0, -8.0, -1.0, 0.0, 0.5, 30.0])
@pytest.mark.parametrize("y", [0, 1])
def test_probit_latents(eta, y):
    """z ~ N(η, 1) on the side of y, however far away; through its exact survival function."""
    z, _ = latents(Probit(*rows(y)), eta)
    sign = 1 if y else -1
    assert (sign * z > 0).all()
    # Q = P(beyond z | side) is uniform; in logarithms, so that −30 keeps its digits.
    log_q = special.log_ndtr(sign * eta - sign * z) - special.log_ndtr(sign * eta)
    assert_holds(uniform_pvalue(np.exp(log_q), stats.uniform.cdf), seed=SEED)


@pytest.mark.parametrize("eta", [-30.0, -1.0, 2.0, 30.0])
def test_censored_latents(eta):
    """Beyond the bounds the latent is normal; inside it is what was seen."""
    precision = 4.0
    for y, side in ((-0.5, -1), (1.0, 1), (0.3, 0)):
        z, factor = latents(Censored(*rows(y, -0.5, 1.0)), eta, precision)
        assert (factor == 1).all()
        if side == 0:
            assert (z == y).all()
            continue
        assert (side * (z - y) >= 0).all()
        log_q = special.log_ndtr(2 * side * (eta - z)) - special.log_ndtr(2 * side * (eta - y))
        assert_holds(uniform_pvalue(np.exp(log_q), stats.uniform.cdf), seed=SEED)


@pytest.mark.parametrize("nu", [0.3, 2.0, 30.0])
@pytest.mark.parametrize("residual", [0.0, 1.0, 1e4])
def test_student_latents(nu, residual):
    """λ is Gamma((ν + 1)/2, (ν + residual²/σ²)/2)."""
    target, factor = latents(Student(*rows(residual, nu)), 0.0, precision=0.25)
    assert (target == residual).all()
    law = stats.gamma((nu + 1) / 2, scale=2 / (nu + 0.25 * residual**2))
    assert_holds(uniform_pvalue(factor, law.cdf), seed=SEED)


@pytest.mark.parametrize("residual", [0.0, 1e-9, 0.5, 40.0])
def test_laplace_latents(residual):
    """λ is inverse Gaussian, and a tilt moves the target by m/(c²λ)."""
    c, tilt = 2.0, -0.7
    target, factor = latents(Laplace(*rows(residual, tilt)), 0.0, precision=c * c)
    np.testing.assert_allclose(target, residual + tilt / (c * c * factor))
    q = c * residual
    law = stats.invgauss(1 / q, scale=1).cdf if q > 1e-6 else stats.invgamma(0.5, scale=0.5).cdf
    assert_holds(uniform_pvalue(factor, law), seed=SEED)


TWO_KINDS = {
    "probit": (Probit, (0.0,), (1.0,)),
    "logistic": (Logistic, (1.0, 1.0), (0.4, 3.4)),
    "student": (Student, (1.0, 0.5), (-2.0, 30.0)),
    "laplace": (Laplace, (1.0, -0.7), (-2.0, 0.4)),
    "censored": (Censored, (-0.5, -0.5, 1.0), (0.8, -0.2, 0.8)),
}


@pytest.mark.parametrize("name", TWO_KINDS)
def test_every_row_has_its_own_numbers(name):
    """Rows of two kinds in turn, with η and precisions of their own, are like those of one."""
    family, *kinds = TWO_KINDS[name]
    eta, precision = (0.5, -1.0), (0.25, 4.0)
    mixed = [np.tile(pair, 10_000) for pair in zip(*kinds, strict=True)]
    found = latents(family(*mixed), np.tile(eta, 10_000), np.tile(precision, 10_000))
    values = []
    for k in range(2):
        alone = latents(family(*rows(*kinds[k])), eta[k], precision[k], seed=SEED + 1 + k)
        values += [stats.ks_2samp(a[k::2], b).pvalue for a, b in zip(found, alone, strict=True)]
    assert_holds(*values, seed=SEED)


@pytest.mark.parametrize("exponents", [(1.0, 1.0), (3.0, 7.0), (0.4, 0.4), (0.4, 3.4), (0.0, 0.0)])
@pytest.mark.parametrize("eta", [-30.0, -1.0, 0.0, 2.0])
def test_logistic_latents_reproduce_the_likelihood(exponents, eta):
    """E[∂/∂η of the Gaussian given the latents] is ∂ log p/∂η = a − b sigmoid(η).

    Fisher's identity, for whichever latents: it fails if κ, the shape or u were wrong.
    """
    a, b = exponents
    target, factor = latents(Logistic(*rows(a, b)), eta)
    score = factor * (target - eta)
    exact = a - b * special.expit(eta)
    if score.std() < 1e-12:  # at η = 0 the score is κ, whatever ω is
        np.testing.assert_allclose(score, exact, atol=1e-12)
        return
    z = (score.mean() - exact) / score.std() * math.sqrt(score.size)
    assert_holds(2 * stats.norm.sf(abs(z)), seed=SEED)


def test_unknown_family_is_refused():
    """A latent scheme must say how its latents are drawn."""
    with pytest.raises(TypeError, match="has no draw_latents"):
        draw_latents(3, None, None, None, None, None)
