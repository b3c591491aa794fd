"""A Gaussian that stands in for a likelihood with predictor η.

    log p(y | η) ≈ Σ_n g_n η_n − ½ h_n η_n²,
    h_n = E[−∂² log p/∂η_n²],   g_n = h_n E[η_n] + E[∂ log p/∂η_n],

with expectations over earlier draws. At convergence no Gaussian is closer to the posterior in
the sense of Kullback and Leibler. What is drawn with its help is corrected by p/exp(proxy),
so that any g and any h ≥ 0 are right and only the rate of acceptance depends on them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.likelihoods.verbs import add_slopes, log_likelihood
from pymc_exact_hmc.likelihoods.working import predict

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


class Proxy(NamedTuple):
    """g, h, the sums from which the next ones are made, and what the rows are read from."""

    slope: Vector
    curvature: Vector
    sums: Matrix
    X: Matrix
    offset: Vector
    eta: Vector


def make_proxy(X: Matrix, offset: Vector) -> Proxy:
    """Return a proxy of rows η = offset + X(s∘w) that knows nothing yet."""
    N = offset.size
    return Proxy(np.zeros(N), np.zeros(N), np.zeros((3, N)), X, offset, np.zeros(N))


@kernel
def excess(family, proxy, gate, s, w, on):
    """Return log p(y | η) less its proxy at (s, w); ``on`` is scratch."""
    eta = proxy.eta
    predict(proxy.X, proxy.offset, gate, s, w, on, eta)
    total = log_likelihood(family, eta)
    for n in range(eta.size):
        total -= eta[n] * (proxy.slope[n] - 0.5 * proxy.curvature[n] * eta[n])
    return total


@kernel
def observe(family, proxy, gate, s, w, on):
    """Add what the next proxy needs to know of (s, w)."""
    predict(proxy.X, proxy.offset, gate, s, w, on, proxy.eta)
    add_slopes(family, proxy.eta, proxy.sums)


def adopt(proxy: Proxy, count: int) -> None:
    """Make the proxy that ``count`` observed draws suggest, and forget them."""
    eta, slope, curvature = proxy.sums / count
    proxy.curvature[:] = curvature
    proxy.slope[:] = curvature * eta + slope
    proxy.sums[:] = 0.0
