"""Whether sums of squares keep enough digits to learn a noise scale from."""

from __future__ import annotations

import warnings

import numpy as np

from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients

MOST_CANCELLED = 1e12
"""Share of Σt² in Σ(t − t̄)² from which residual sums of squares have less than four digits."""


def warn_of_lost_digits(gaussian: WeightCoefficients, point: Point) -> None:
    """Warn of data so far from 0 that what a weight that is always on leaves of them cancels."""
    if not (gaussian.block.gate < 0).any():
        return
    for source in gaussian.rows:
        target = source.read(point).target
        spread = float(np.square(target - target.mean()).sum()) if target.size else 0.0
        if spread > 0 and float(target @ target) > MOST_CANCELLED * spread:
            warnings.warn(
                f"The data of {source.name} are so far from 0, compared with how much they "
                "differ, that sums of their squares have too few digits to learn a noise scale "
                "from. Subtract their mean before sampling.",
                UserWarning,
                stacklevel=2,
            )
