"""Which variables are the prior inclusion probabilities of indicators, and their bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.scalar.basic import Second
from pytensor.tensor.basic import Alloc
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.random.basic import BernoulliRV, BetaRV, UniformRV
from scipy.special import expit

from pymc_exact_hmc.model.binaries import BinaryVariable, constant_value
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.parents import direct_parents


@dataclass(frozen=True)
class InclusionProbability:
    """A number with a prior on [lower, upper] that is the probability of some indicators."""

    name: str
    value: str
    transformed: bool
    lower: float
    upper: float
    indicators: str
    count: int

    def read(self, point: Point) -> float:
        """Return the probability at a point."""
        value = float(point[self.value])
        if not self.transformed:
            return value
        return self.lower + (self.upper - self.lower) * float(expit(value))


def inclusion_probabilities(
    model: Model, layout: tuple[BinaryVariable, ...]
) -> list[InclusionProbability]:
    """Return the Beta and uniform variables that Bernoulli indicators have as probabilities."""
    found = []
    for binary in layout:
        rv = model.values_to_rvs[binary.value]
        if not isinstance(rv.owner.op, BernoulliRV):
            continue
        p = _without_reshaping(rv.owner.op.dist_params(rv.owner)[0])
        if p not in model.free_RVs or p.type.ndim or direct_parents(model, rv) != {p}:
            continue
        bounds = _bounds(p)
        if bounds is not None:
            value, transformed = model.rvs_to_values[p], model.rvs_to_transforms[p] is not None
            count = binary.stop - binary.start
            found.append(
                InclusionProbability(p.name, value.name, transformed, *bounds, binary.name, count)
            )
    return found


def _without_reshaping(p: Variable[Any, Any]) -> Variable[Any, Any]:
    """Return the number that an expression repeats, or the expression."""
    while p.owner is not None:
        operation = getattr(p.owner.op, "scalar_op", None)
        if isinstance(operation, Second):  # such as full_like(x, p)
            p = p.owner.inputs[1]
        elif isinstance(p.owner.op, DimShuffle | Alloc):
            p = p.owner.inputs[0]
        else:
            break
    return p


def _bounds(p: Variable[Any, Any]) -> tuple[float, float] | None:
    if isinstance(p.owner.op, BetaRV):
        return 0.0, 1.0
    if not isinstance(p.owner.op, UniformRV):
        return None
    bounds = [constant_value(bound) for bound in p.owner.op.dist_params(p.owner)]
    if any(bound is None or np.size(bound) != 1 for bound in bounds):
        return None
    lower, upper = (float(np.asarray(bound).item()) for bound in bounds)
    return lower, upper
