"""Student's t as a mixture: y ~ N(η, σ²/λ), λ ~ Gamma(ν/2, rate ν/2).

Given the residual, λ ~ Gamma((ν + 1)/2, rate (ν + (y − η)²/σ²)/2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.likelihoods.gamma_draw import gamma
from pymc_exact_hmc.likelihoods.verbs import draw_latents


class Student(NamedTuple):
    """Data and degrees of freedom."""

    y: npt.NDArray[np.float64]
    nu: npt.NDArray[np.float64]


@draw_latents.register(Student)
def _draw_student(family, eta, precision, stream, target, factor):
    for n in range(eta.size):
        p = precision[n] if precision.size > 1 else precision[0]
        nu, residual = family.nu[n], family.y[n] - eta[n]
        rate = 0.5 * (nu + p * residual * residual)
        target[n] = family.y[n]
        factor[n] = gamma(stream, 0.5 * (nu + 1.0)) / rate
