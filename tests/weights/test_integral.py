"""log ∫ exp(−½Dx² + ρx) dx over an interval."""

import math

import numpy as np
import pytest
from scipy import integrate, special

from pymc_exact_hmc.error_function import erfcx
from pymc_exact_hmc.weights.integral import log_integral

INF = math.inf

# D, ρ, lower, upper and the logarithm of the integral, from mpmath with 60 digits.
EXACT = [
    (1e-12, -0.01, 0.0, INF, 4.605170175988092),
    (1e-12, -3e-05, 0.0, INF, 10.41320513482575),
    (1e-12, -1e-06, 0.0, INF, 13.393427446159683),
    (1e-12, 0.0, 0.0, INF, 14.041301910609002),
    (1e-12, 2e-06, 0.0, INF, 16.711436181839982),
    (1e-12, 0.01, 0.0, INF, 50000014.734449096),
    (1e-12, -0.01, -INF, 2000000.0, 50000014.734449096),
    (1e-12, 3e-06, -INF, 2000000.0, 17.393427446159684),
    (1e-12, -0.01, 0.0, 1000000.0, 4.605170175988092),
    (1e-12, 5e-06, -1000000.0, -999999.99, -10.105170155056769),
    (1e-12, 0.0, -500000.0, 2500000.0, 14.35648162754852),
    (1e-12, -4e-05, 1000000.0, 51000000.0, -30.398655510605675),
    (1e-12, 0.01, 0.0, 100000000.0, 995004.6152205117),
    (1e-12, 3e-07, -1000.0, 1000.0, 7.600902307875425),
    (1.0, -10000.0, 0.0, INF, -9.210340381976183),
    (1.0, -30.0, 0.0, INF, -3.4023054231385244),
    (1.0, -1.0, 0.0, INF, -0.42208311180459074),
    (1.0, 0.0, 0.0, INF, 0.22579135264472744),
    (1.0, 2.0, 0.0, INF, 2.8959256238757094),
    (1.0, 10000.0, 0.0, INF, 50000000.91893853),
    (1.0, -10000.0, -INF, 2.0, 50000000.91893853),
    (1.0, 3.0, -INF, 2.0, 3.5779168881954093),
    (1.0, -10000.0, 0.0, 1.0, -9.210340381976183),
    (1.0, 5.0, -1.0, -0.99999999, -23.920680708927605),
    (1.0, 0.0, -0.5, 2.5, 0.5409710695842459),
    (1.0, -40.0, 1.0, 51.0, -44.214166068569945),
    (1.0, 10000.0, 0.0, 100.0, 994990.7997099537),
    (1.0, 0.3, -0.001, 0.001, -6.214608250088849),
    (1000000000000.0, -10000000000.0, 0.0, INF, -23.025850939940458),
    (1000000000000.0, -30000000.0, 0.0, INF, -17.2178159811028),
    (1000000000000.0, -1000000.0, 0.0, INF, -14.237593669768865),
    (1000000000000.0, 0.0, 0.0, INF, -13.589719205319547),
    (1000000000000.0, 2000000.0, 0.0, INF, -10.919584934088565),
    (1000000000000.0, 10000000000.0, 0.0, INF, 49999987.10342798),
    (1000000000000.0, -10000000000.0, -INF, 2e-06, 49999987.10342798),
    (1000000000000.0, 3000000.0, -INF, 2e-06, -10.237593669768865),
    (1000000000000.0, -10000000000.0, 0.0, 1e-06, -23.025850939940458),
    (1000000000000.0, 5000000.0, -1e-06, -9.9999999e-07, -37.73619126828915),
    (1000000000000.0, 0.0, -5e-07, 2.4999999999999998e-06, -13.274539488380029),
    (1000000000000.0, -40000000.0, 1e-06, 5.1e-05, -58.02967662653422),
    (1000000000000.0, 10000000000.0, 0.0, 9.999999999999999e-05, 994976.9841993956),
    (1000000000000.0, 300000.0, -1e-09, 1e-09, -20.030118808053125),
    (0.0, -3.0, 0.0, INF, -1.0986122886681098),
    (0.0, 2.0, -INF, 1.0, 1.3068528194400546),
    (0.0, -1e-09, 2.0, 3.0, -2.4999999999583333e-09),
    (0.0, 0.0, -1.0, 4.0, 1.6094379124341003),
    (0.0, 700.0, 0.0, 1.0, 693.4489196649566),
    (2.0, 1.5, -INF, INF, 1.1348649429247002),
]


@pytest.mark.parametrize(("D", "rho", "lower", "upper", "exact"), EXACT)
def test_log_integral_equals_sixty_digits(D, rho, lower, upper, exact):
    """Far tails of both signs, narrow intervals, D from 0 to 10¹²: relative error 1e-14."""
    assert log_integral(D, rho, lower, upper) == pytest.approx(exact, rel=1e-14, abs=1e-14)


def test_log_integral_equals_quadrature():
    """Random intervals and Gaussians of ordinary size, against adaptive quadrature."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        D, rho = rng.gamma(1.0), 3.0 * rng.normal()
        lower = rng.normal()
        upper = lower + rng.gamma(1.0)
        exact, _ = integrate.quad(
            lambda x, D=D, rho=rho: math.exp(-0.5 * D * x * x + rho * x),
            lower,
            upper,
            epsabs=0.0,
            epsrel=1e-13,
        )
        assert math.exp(log_integral(D, rho, lower, upper)) == pytest.approx(exact, rel=1e-12)


def test_adjacent_intervals_add_up():
    """I(a, b) + I(b, c) = I(a, c) across every change of formula."""
    rng = np.random.default_rng(4)
    for _ in range(500):
        D, rho = 10.0 ** rng.uniform(-3, 3), 10.0 * rng.normal()
        a, b, c = np.sort(rng.normal(rho / D, 3.0 / math.sqrt(D), 3))
        parts = np.logaddexp(log_integral(D, rho, a, b), log_integral(D, rho, b, c))
        assert parts == pytest.approx(log_integral(D, rho, a, c), rel=1e-12, abs=1e-12)


def test_improper_integrals_are_infinite():
    """A flat or growing integrand on an infinite interval has no finite integral."""
    for rho, lower, upper in [(0.0, -INF, INF), (0.0, 0.0, INF), (1.0, 0.0, INF)]:
        assert log_integral(0.0, rho, lower, upper) == INF


def test_erfcx_equals_scipy():
    """The table of polynomials serves the whole half line."""
    x = np.concatenate([np.linspace(0.0, 30.0, 3001), 10.0 ** np.arange(2.0, 16.0)])
    ours = np.array([erfcx(value) for value in x])
    np.testing.assert_allclose(ours, special.erfcx(x), rtol=5e-15)
    assert math.isnan(erfcx(math.nan))
    assert math.isnan(erfcx(-1.0))
