"""Put together and verify the walls of gated weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pymc.model import Model

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.constraints import Constraints
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.gated_constraints import (
    gated_walls,
    own_bounds,
    read_gated_constraints,
    why_not_fenced,
)
from pymc_exact_hmc.model.verify_gated_constraints import verify_gated_walls
from pymc_exact_hmc.model.walls import Walls
from pymc_exact_hmc.model.weight_block import WeightBlock
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.regions.gated import mark_carried


@dataclass(frozen=True)
class FenceBlock:
    """The constraints on gated weights, and their walls."""

    constraints: Constraints
    walls: Walls


def recognise_fence(
    model: Model,
    weights: WeightBlock,
    gaussian: WeightCoefficients,
    layout: tuple[BinaryVariable, ...],
    point: Point,
) -> tuple[FenceBlock | None, str, str]:
    """Return the fence, why there cannot be one, and what differs from the model, if so.

    No fence and no reason means that there are no constraints on these weights.
    """
    constraints, reason = read_gated_constraints(model, weights, layout, point)
    if reason or not constraints.names:
        return None, reason, ""
    walls = gated_walls(constraints, weights, layout, gaussian.bounds, point)
    carried = np.zeros(gaussian.n, np.int8)
    mark_carried(walls.region, own_bounds(gaussian.block, walls), carried)
    reason = why_not_fenced(gaussian.block, walls, carried)
    if reason:
        return None, reason, ""
    wrong = verify_gated_walls(model, constraints.names, walls, weights, gaussian, layout, point)
    return FenceBlock(constraints, walls), "", wrong
