"""Laplace and asymmetric Laplace: log p = −c|y − η| − m(y − η) with c² = precision, |m| < c.

The first part is a mixture of N(0, 1/(c²λ)) with λ given the residual an inverse Gaussian of
mean 1/(c|y − η|) and shape 1. The second moves the target by m/(c²λ).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.likelihoods.inverse_gaussian import inverse_gaussian
from pymc_exact_hmc.likelihoods.verbs import draw_latents

# Where a residual is 0, λ is 1/χ²: beyond this, one row would drown all others in rounding.
MOST = 1e12


class Laplace(NamedTuple):
    """Data, and the tilt m of each row."""

    y: npt.NDArray[np.float64]
    tilt: npt.NDArray[np.float64]


@draw_latents.register(Laplace)
def _draw_laplace(family, eta, precision, stream, target, factor):
    for n in range(eta.size):
        p = precision[n] if precision.size > 1 else precision[0]
        distance = math.sqrt(p) * abs(family.y[n] - eta[n])
        factor[n] = min(inverse_gaussian(stream, distance), MOST)
        target[n] = family.y[n] + family.tilt[n] / (p * factor[n])
