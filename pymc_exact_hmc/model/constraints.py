"""Which potentials of a model are hard constraints on the weights, and their walls."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from pymc_exact_hmc.model.analysis import UnfollowableError, analyse, some_values
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.conditions import Margin, UnreadableError, read_conditions
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.smoothness import is_smooth
from pymc_exact_hmc.model.walls import Wall
from pymc_exact_hmc.model.weight_block import WeightVariable, on_natural_weights

Tensor: TypeAlias = Variable[Any, Any]
MOST_PRODUCTS = 10_000
"""Room for the entries of one product of factors."""


@dataclass
class Constraints:
    """The walls, the potentials they come from, and why other potentials were not read."""

    walls: list[Wall] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)


def read_constraints(
    model: Model,
    weights: list[WeightVariable],
    point: dict[str, np.ndarray],
    layout: tuple[BinaryVariable, ...] = (),
) -> Constraints:
    """Read every potential that depends on the weights as a constraint, as far as it is one."""
    found = Constraints()
    rvs = {w.rv for w in weights}
    indicators = {model.values_to_rvs[b.value] for b in layout}
    for potential in model.potentials:
        if rvs.isdisjoint(ancestors([potential])):
            continue
        try:
            walls = _walls_of(
                model, potential, weights, indicators, layout, point, len(found.walls)
            )
        except UnreadableError as reason:
            found.reasons[potential.name] = str(reason)
            continue
        found.walls += walls
        found.names.append(potential.name)
    return found


def _walls_of(
    model: Model,
    potential: Tensor,
    weights: list[WeightVariable],
    indicators: set[Tensor],
    layout: tuple[BinaryVariable, ...],
    point: dict[str, np.ndarray],
    seen: int,
) -> list[Wall]:
    rvs = {w.rv for w in weights}
    walls = []
    for k, margin in enumerate(read_conditions(potential, rvs | indicators)):
        inside = set(ancestors([margin.whole]))
        if rvs.isdisjoint(inside):
            raise UnreadableError(
                "one of its conditions is on indicators alone: give that a Potential of its own"
            )
        gated = not indicators.isdisjoint(inside)
        whole, *factors = on_natural_weights(model, [margin.whole, *margin.factors], weights)
        base = MOST_PRODUCTS * (seen + k)
        walls += _factor_walls(
            potential.name,
            Margin(whole, factors, margin.strict),
            weights,
            layout,
            point,
            base,
            gated=gated,
        )
    return walls


def _factor_walls(
    name: str,
    margin: Margin,
    weights: list[WeightVariable],
    layout: tuple[BinaryVariable, ...],
    point: dict[str, np.ndarray],
    base: int,
    *,
    gated: bool,
) -> list[Wall]:
    degrees = degrees_in([margin.whole, *margin.factors], weights, layout, point)
    if degrees[0] <= 2:
        degree = max(degrees[0], 1)
        return [Wall(name, margin.whole, degree, gated=gated, strict=margin.strict)]
    if len(margin.factors) > 1 and max(degrees[1:]) <= 2:
        pairs = list(zip(margin.factors, degrees[1:], strict=True))
        bent = [(factor, degree) for factor, degree in pairs if degree > 0]
        rest = [factor for factor, degree in pairs if degree == 0]
        own = {w.value for w in weights} | {b.value for b in layout}
        if any(_may_be_zero(factor, own) for factor in rest):
            raise UnreadableError("a product that it compares with 0 has a factor that may be 0")
        # What multiplies the polynomials matters by its sign alone.
        bent[0] = prod([bent[0][0], *rest]), bent[0][1]
        return [
            Wall(name, factor, max(degree, 1), base, gated, margin.strict)
            for factor, degree in bent
        ]
    raise UnreadableError(
        "a condition compares something that is not linear, quadratic, or a product of such "
        "compared with 0"
    )


def _may_be_zero(factor: Tensor, own: set[Tensor]) -> bool:
    """Return whether other variables may make a factor 0, with some probability."""
    return not is_smooth(factor, other_inputs(factor, own))


def degrees_in(
    tensors: list[Tensor],
    weights: list[WeightVariable],
    layout: tuple[BinaryVariable, ...],
    point: dict[str, np.ndarray],
) -> list[int]:
    """Return the degrees in the weights that the graph proves, the indicators given."""
    d = layout[-1].stop if layout else 0
    shifted = [w._replace(start=w.start + d, stop=w.stop + d) for w in weights]
    natural = some_values(weights)
    parameters = {b.value for b in layout}
    unbounded = 1_000
    try:
        known = analyse(tensors, (*layout, *shifted), point | natural, parameters=parameters)
    except UnfollowableError:
        return [unbounded for _ in tensors]
    degrees = []
    for tensor in tensors:
        dependence = known.get(tensor)
        if dependence is None:
            degrees.append(0)
        else:
            degrees.append(dependence.degree if dependence.shaped else unbounded)
    return degrees
