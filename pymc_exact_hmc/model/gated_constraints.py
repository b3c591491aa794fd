"""Constraints together with gates: on raw weights, or on weights times their indicators.

A *raw* condition does not mention indicators. A *gated* one depends on the indicators and on
the weights they switch only through entries γ_{g(i)}·w_i, which the graph must show: somewhere
between it and the unknowns are tensors each entry of which is a weight times its indicator.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
import pytensor.tensor as pt
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from pymc_exact_hmc.model.analysis import UnfollowableError, analyse, evaluate_nodes, some_values
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.constraints import Constraints, read_constraints
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.gates import GateTracker, Offset
from pymc_exact_hmc.model.points import spread
from pymc_exact_hmc.model.priors import why_not_weight
from pymc_exact_hmc.model.smoothness import is_smooth
from pymc_exact_hmc.model.walls import Wall, Walls
from pymc_exact_hmc.model.weight_block import WeightBlock, lay_out_weights
from pymc_exact_hmc.weights.block import LAMBDA, LOWER, SOLE, START, UPPER, Block

Tensor: TypeAlias = Variable[Any, Any]
Vector = np.ndarray


def constraint_names(
    model: Model, layout: tuple[BinaryVariable, ...], point: Point, among: list[Any] | None
) -> set[str]:
    """Return the potentials that may be constraints on weights."""
    rvs = [
        rv
        for rv in model.free_RVs
        if why_not_weight(model, rv, point) is None and (among is None or rv in among)
    ]
    if not (rvs and model.potentials):
        return set()
    weights = lay_out_weights(rvs, model, point, 0)
    return set(read_constraints(model, weights, point, layout).names)


def read_gated_constraints(
    model: Model,
    weights: WeightBlock,
    layout: tuple[BinaryVariable, ...],
    point: Point,
) -> tuple[Constraints, str]:
    """Return the constraints on recognised weights, and why they cannot be kept, if so."""
    constraints = read_constraints(model, weights.weights, point, layout)
    for name, reason in constraints.reasons.items():
        return (
            constraints,
            f"it enters {name}, which is not a constraint that can be read: {reason}",
        )
    for wall in constraints.walls:
        if wall.gated and not _is_gated(wall, weights, layout, point):
            return constraints, (
                f"it enters {wall.name}, which depends on indicators in another way than through "
                "weights times their indicators"
            )
        reason = _why_not_at_zero(wall, weights, layout, point) if wall.gated else ""
        if reason:
            return constraints, reason
    return constraints, ""


def _why_not_at_zero(
    wall: Wall, weights: WeightBlock, layout: tuple[BinaryVariable, ...], point: Point
) -> str:
    """Return why a wall cannot be kept while all gates are closed, or nothing.

    A margin without a constant is then exactly 0, whatever the weights are: a state that has a
    probability, unlike a margin that happens to be 0. A region counts 0 as inside, factor by
    factor; the model may not. Discrete variables and cuts in a margin may make it 0 later.
    """
    if not wall.strict and wall.product < 0:
        return ""
    rng = np.random.default_rng(20131219)
    closed = {b.value.name: np.zeros(b.shape, point[b.name].dtype) for b in layout}
    unknowns = {b.value for b in layout} | {w.value for w in weights.weights}
    others = other_inputs(wall.value, unknowns)
    may_be_zero = np.array(not is_smooth(wall.value, others))
    if not may_be_zero:
        # Other values tell what is always 0 from a random variable that starts at 0.
        natural = {w.value.name: rng.standard_normal(w.shape) for w in weights.weights}
        for values in _elsewhere([wall.value], point, natural | closed, rng):
            may_be_zero = may_be_zero | (values[wall.value] == 0.0)
    if not np.any(may_be_zero):
        return ""
    if wall.product < 0:
        return (
            f"it enters {wall.name}, which compares by < or > what may be exactly 0 while "
            "indicators are 0, and so forbids that: write <= or >= if it is allowed"
        )
    return (
        f"it enters {wall.name}, which compares a product that may be exactly 0 while an indicator "
        "is 0: give each factor a condition of its own"
    )


def gated_walls(
    constraints: Constraints,
    weights: WeightBlock,
    layout: tuple[BinaryVariable, ...],
    bounds: tuple[Vector, Vector],
    point: Point,
) -> Walls:
    """Return the walls as they stand with every gate open."""
    ones = {b.value: pt.ones(b.shape, dtype=b.value.type.dtype) for b in layout}
    return Walls(weights.weights, constraints.walls, [], bounds, point, ones)


def why_not_fenced(block: Block, walls: Walls, carried: np.ndarray) -> str:
    """Return why weights with these walls cannot be moved, or nothing."""
    if (np.diff(block.gates[START])[block.gates[SOLE, :-1] < 0] > 1).any():
        return "it enters constraints, and weights share an indicator"
    slabs = block.coefficients[LAMBDA]
    if ((carried == 1) & (block.gate >= 0) & (slabs <= 0)).any():
        return "it enters a constraint on raw weights, which needs a Gaussian slab"
    return ""


def own_bounds(block: Block, walls: Walls) -> np.ndarray:
    """Return which factors are bounds of single weights, which come first."""
    finite = np.isfinite(block.coefficients[[LOWER, UPPER]]).sum()
    own = np.zeros(walls.region.g.size, bool)
    own[: int(finite)] = True
    return own


def _is_gated(
    wall: Wall, weights: WeightBlock, layout: tuple[BinaryVariable, ...], point: Point
) -> bool:
    """Prove that a wall sees gated weights only multiplied by their indicators."""
    d, n = layout[-1].stop, weights.weights[-1].stop
    shifted = [w._replace(start=w.start + d, stop=w.stop + d) for w in weights.weights]
    offsets = {b.value: Offset.VARIES for b in layout}
    offsets |= {w.value: Offset.ZERO for w in weights.weights}
    tracker = GateTracker(d, n, offsets)
    natural = some_values(weights.weights)
    closed = {b.value.name: np.zeros(b.shape, point[b.name].dtype) for b in layout}
    try:
        known = analyse(
            [wall.value],
            (*layout, *shifted),
            point | natural,
            parameters={b.value for b in layout},
            visit=tracker.visit,
        )
    except UnfollowableError:
        return False
    rng = np.random.default_rng(20131220)
    settings = list(_elsewhere(list(known), point, natural | closed, rng))
    unknowns = {x.value for x in weights.weights} | {b.value for b in layout}
    switched = set()
    for tensor, dependence in known.items():
        support = dependence.support
        if tensor.owner is None or dependence.degree != 1 or not dependence.shaped:
            continue
        if tracker.offsets.get(tensor) is not Offset.ZERO:
            continue
        if any(np.any(values[tensor]) for values in settings):
            continue
        if not is_smooth(tensor, other_inputs(tensor, unknowns)):
            continue
        if all(
            _is_product(support.indices[support.indptr[i] : support.indptr[i + 1]], weights, d)
            for i in range(support.shape[0])
        ):
            switched.add(tensor)
    gated = {b.value for b in layout}
    gated |= {w.value for w in weights.weights if (weights.gate[w.start : w.stop] >= 0).any()}
    return gated.isdisjoint(ancestors([wall.value], blockers=switched))


def _elsewhere(
    tensors: list[Tensor], point: Point, given: Point, rng: np.random.Generator
) -> Iterator[dict[Tensor, Any]]:
    """Yield the values of tensors at other settings, but those that the model itself refuses."""
    for setting in spread(point, rng):
        with suppress(UnfollowableError):
            yield evaluate_nodes([], setting | given, also=tensors)


def _is_product(support: np.ndarray, weights: WeightBlock, d: int) -> bool:
    """Return whether an entry depends on one weight and its own indicator, or on nothing."""
    inside = support[support >= d] - d
    if inside.size != 1:
        return bool(support.size == 0)
    gate = int(weights.gate[inside[0]])
    indicators = set(support[support < d].tolist())
    return gate >= 0 and indicators == {gate}
