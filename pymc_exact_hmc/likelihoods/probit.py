"""Probit: y = [z > 0] with z ~ N(η, 1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.likelihoods.verbs import draw_latents
from pymc_exact_hmc.weights.truncated_draw import draw_truncated


class Probit(NamedTuple):
    """Responses 0 and 1."""

    y: npt.NDArray[np.float64]


@draw_latents.register(Probit)
def _draw_probit(family, eta, precision, stream, target, factor):
    for n in range(eta.size):
        sign = 1.0 if family.y[n] > 0.5 else -1.0
        target[n] = sign * draw_truncated(stream, 1.0, sign * eta[n], 0.0, np.inf)
        factor[n] = 1.0
