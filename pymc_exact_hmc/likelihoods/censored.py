"""Censored Normal: y = min(max(z, lower), upper) with z ~ N(η, 1/precision)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.likelihoods.verbs import draw_latents
from pymc_exact_hmc.weights.truncated_draw import draw_truncated


class Censored(NamedTuple):
    """Observed values, and the bounds at which those beyond them are recorded."""

    y: npt.NDArray[np.float64]
    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]


@draw_latents.register(Censored)
def _draw_censored(family, eta, precision, stream, target, factor):
    for n in range(eta.size):
        p = precision[n] if precision.size > 1 else precision[0]
        y = family.y[n]
        target[n] = y
        factor[n] = 1.0
        # Deviations from the bound, which do not lose digits however far η is.
        if y <= family.lower[n]:
            target[n] = y - draw_truncated(stream, p, p * (y - eta[n]), 0.0, np.inf)
        elif y >= family.upper[n]:
            target[n] = y + draw_truncated(stream, p, p * (eta[n] - y), 0.0, np.inf)
