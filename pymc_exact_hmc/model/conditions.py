"""Hard constraints as people write them, taken apart into polynomials that must be ≥ 0.

A constraint is a potential that is 0 where conditions hold and −∞ elsewhere:

    pm.Potential("c", pt.switch(cond, 0, -np.inf)),  pt.switch(bad, -np.inf, 0),  and sums of such,

with conditions that are comparisons joined by "and" (or whose negation is joined by "or").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.scalar import basic as scalar
from pytensor.tensor import basic as tensor_basic
from pytensor.tensor import math as tensor_math
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.shape import Reshape, SpecifyShape

from pymc_exact_hmc.model.joins import JOINS

Tensor: TypeAlias = Variable[Any, Any]
# Operations that show every entry of their inputs, some perhaps several times.
WRAPPERS = (DimShuffle, Reshape, SpecifyShape, tensor_basic.Alloc, *JOINS)


class Margin(NamedTuple):
    """A condition ``whole`` ≥ 0 for every entry; it is the product of its ``factors``.

    ``strict``: the model asks for > 0.
    """

    whole: Tensor
    factors: list[Tensor]
    strict: bool


class UnreadableError(Exception):
    """A potential is not a constraint of the kind that can be read; says why."""


def read_conditions(potential: Tensor, unknowns: set[Tensor]) -> list[Margin]:
    """Return the conditions of a constraint in the unknowns.

    Raises ``UnreadableError`` if the potential is anything else.
    """
    return list(_of_log_indicator(potential, unknowns))


def _touched(tensor: Tensor, unknowns: set[Tensor]) -> bool:
    return not unknowns.isdisjoint(ancestors([tensor]))


def _inside(node: Any, unknowns: set[Tensor]) -> list[Tensor]:
    return [x for x in node.inputs if _touched(x, unknowns)]


def _scalar_op(tensor: Tensor) -> Any:
    op = tensor.owner.op
    return op.scalar_op if isinstance(op, Elemwise) else None


def _of_log_indicator(tensor: Tensor, unknowns: set[Tensor]) -> Iterator[Margin]:
    """Take apart what is finite and constant where all conditions hold, and −∞ elsewhere."""
    if not _touched(tensor, unknowns):
        return
    node = tensor.owner
    if node is None:
        raise UnreadableError("it is not 0 or -inf")
    op = _scalar_op(tensor)
    inside = _inside(node, unknowns)
    if isinstance(op, scalar.Switch):
        condition, yes, no = node.inputs
        if _is_constant(no, -np.inf):
            rest, truth = yes, True
        elif _is_constant(yes, -np.inf):
            rest, truth = no, False
        else:
            raise UnreadableError("it has a switch of which neither side is -inf")
        yield from _of_condition(condition, unknowns, truth=truth)
        yield from _of_log_indicator(rest, unknowns)
    elif isinstance(op, scalar.Second):
        yield from _of_log_indicator(node.inputs[1], unknowns)
    elif isinstance(op, scalar.Log):
        yield from _of_unit_indicator(node.inputs[0], unknowns)
    elif isinstance(op, scalar.Add | scalar.Cast | scalar.Identity) or isinstance(
        node.op, (tensor_math.Sum, *WRAPPERS)
    ):
        for part in inside:
            yield from _of_log_indicator(part, unknowns)
    else:
        raise UnreadableError(f"it goes through {op or node.op}, not through a switch to -inf")


def _of_unit_indicator(tensor: Tensor, unknowns: set[Tensor]) -> Iterator[Margin]:
    """Take apart what is 1 where the conditions hold and 0 elsewhere."""
    node, op = tensor.owner, _scalar_op(tensor)
    if isinstance(op, scalar.Switch):
        condition, yes, no = node.inputs
        if _is_constant(yes, 1) and _is_constant(no, 0):
            yield from _of_condition(condition, unknowns, truth=True)
            return
        if _is_constant(yes, 0) and _is_constant(no, 1):
            yield from _of_condition(condition, unknowns, truth=False)
            return
        raise UnreadableError("it is the logarithm of a switch that is not between 0 and 1")
    yield from _of_condition(tensor, unknowns, truth=True)


def _of_condition(tensor: Tensor, unknowns: set[Tensor], *, truth: bool) -> Iterator[Margin]:
    """Take apart a condition that must be true, or one that must be false."""
    if not _touched(tensor, unknowns):
        return
    node, op = tensor.owner, _scalar_op(tensor) if tensor.owner is not None else None
    if node is None:
        raise UnreadableError(f"{tensor.name} is used as a condition by itself")
    if isinstance(op, scalar.GE | scalar.GT | scalar.LE | scalar.LT):
        upwards = isinstance(op, scalar.GE | scalar.GT) == truth
        strict = isinstance(op, scalar.GT | scalar.LT) == truth
        yield _margin(*(node.inputs if upwards else reversed(node.inputs)), strict=strict)
    elif isinstance(op, scalar.Invert) and _is_boolean(tensor):
        yield from _of_condition(node.inputs[0], unknowns, truth=not truth)
    elif _joins(node.op, op, truth=truth):
        for part in _inside(node, unknowns):
            yield from _of_condition(part, unknowns, truth=truth)
    elif isinstance(op, scalar.Second):
        yield from _of_condition(node.inputs[1], unknowns, truth=truth)
    elif isinstance(op, scalar.AND | scalar.OR) or isinstance(node.op, CAReduce):
        raise UnreadableError("its conditions are joined by 'or'")
    elif isinstance(op, scalar.EQ | scalar.NEQ):
        raise UnreadableError("it asks for equality")
    else:
        raise UnreadableError(f"its condition goes through {op or node.op}")


def _joins(op: Any, scalar_op: Any, *, truth: bool) -> bool:
    """Return whether an operation on conditions is as true (false) as all of its inputs."""
    if isinstance(op, WRAPPERS) or isinstance(scalar_op, scalar.Cast | scalar.Identity):
        return True
    if truth:
        both = isinstance(scalar_op, scalar.AND | scalar.Mul)
        return both or isinstance(op, tensor_math.All | tensor_math.Prod)
    return isinstance(scalar_op, scalar.OR) or isinstance(op, tensor_math.Any)


def _margin(greater: Tensor, smaller: Tensor, *, strict: bool) -> Margin:
    """Return greater − smaller ≥ 0, and its factors if one side is nothing but 0."""
    if _is_boolean(greater) or _is_boolean(smaller):
        raise UnreadableError("it compares conditions with numbers")
    whole = greater.astype("float64") - smaller.astype("float64")
    factors = [whole]
    if _is_constant(smaller, 0):
        factors = _factors(greater)
    elif _is_constant(greater, 0):
        first, *rest = _factors(smaller)
        factors = [-first, *rest]
    shown = [f.astype("float64") + pt.zeros_like(whole) for f in factors]
    return Margin(whole, [whole] if len(shown) == 1 else shown, strict)


def _is_boolean(tensor: Tensor) -> bool:
    return bool(tensor.type.dtype == "bool")


def _factors(tensor: Tensor) -> list[Tensor]:
    op = _scalar_op(tensor) if tensor.owner is not None else None
    if isinstance(op, scalar.Mul):
        return [f for x in tensor.owner.inputs for f in _factors(x)]
    if isinstance(op, scalar.Neg):
        first, *rest = _factors(tensor.owner.inputs[0])
        return [-first, *rest]
    return [tensor]


def _is_constant(tensor: Tensor, value: float) -> bool:
    """Return whether a tensor has this value in every entry, whatever the random variables."""
    found = ancestors([tensor])
    if any(v.owner is not None and isinstance(v.owner.op, RandomVariable) for v in found):
        return False
    if any(hasattr(v, "get_value") for v in found):
        return False
    try:
        return bool(np.all(np.asarray(tensor.eval()) == value))
    except Exception:
        return False
