"""Split a factor's log-density into a sum of terms, each a scalar times a tensor.

    Σ entries of logp = Σ_t coefficient_t · Σ entries of tensor_t  (+ what does not touch s)

Sums, differences, scalar multiples and hard constraints ``switch(all(cond), 0, -inf)`` are
taken apart. A scalar that multiplies a tensor is moved into the coefficient, so that a
coupling β or a noise scale σ can change without the tensor being looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytensor.tensor as pt
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as scalar
from pytensor.tensor.basic import Alloc, ScalarFromTensor
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import All, Dot, Sum
from pytensor.tensor.math import Any as Any_
from pytensor.tensor.shape import Reshape, Shape, Shape_i

from pymc_exact_hmc.model.arithmetic import is_exact
from pymc_exact_hmc.model.joins import JOINS, first_part
from pymc_exact_hmc.model.shapes import randomness

Tensor: TypeAlias = Variable[Any, Any]


class Term(NamedTuple):
    """``coefficient`` (a scalar free of s) times the sum of the entries of ``tensor``."""

    factor: str
    coefficient: Tensor
    tensor: Tensor


class _Splitter:
    """Walks down one log-density; ``unknowns`` are the value variables of the binaries."""

    def __init__(self, unknowns: set[Tensor], random_shapes: set[Tensor]):
        self.unknowns = unknowns
        self.random_shapes = random_shapes
        self._touched: dict[Tensor, bool] = {}

    def touches(self, variable: Tensor) -> bool:
        """Return whether the entries of a tensor may depend on s; known shapes do not."""
        if variable not in self._touched:
            self._touched |= dict.fromkeys(self.unknowns, True)
            for node in toposort([variable]):
                counting = node.inputs
                if _takes_shape(node) and node.inputs[0] not in self.random_shapes:
                    counting = node.inputs[1:]
                touched = any(self._touched.get(x, False) for x in counting)
                self._touched |= dict.fromkeys(node.outputs, touched)
        return self._touched.setdefault(variable, False)

    def split(self, tensor: Tensor, coefficient: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        if not self.touches(tensor):
            return
        if tensor in self.random_shapes:  # also what does not touch s counts, by its repeats
            yield coefficient, tensor
            return
        node = tensor.owner
        op = None if node is None else node.op
        operation = op.scalar_op if isinstance(op, Elemwise) else None
        if node is not None and not is_exact(tensor):
            yield coefficient, tensor
        elif isinstance(op, Sum):
            yield from self.split(node.inputs[0], coefficient)
        elif isinstance(operation, scalar.Add):
            for part in node.inputs:
                yield from self.split(part, coefficient * repeats(tensor, part))
        elif isinstance(operation, scalar.Sub):
            left, right = node.inputs
            yield from self.split(left, coefficient * repeats(tensor, left))
            yield from self.split(right, -coefficient * repeats(tensor, right))
        elif isinstance(op, Alloc):
            yield from self.split(node.inputs[0], coefficient * repeats(tensor, node.inputs[0]))
        elif isinstance(op, Dot) and all(x.type.ndim == 1 for x in node.inputs):
            yield from self.split(pt.mul(*node.inputs), coefficient)
        elif isinstance(op, DimShuffle | Reshape):
            yield from self.split(node.inputs[0], coefficient)
        elif isinstance(op, JOINS):
            for part in node.inputs[first_part(node) :]:
                yield from self.split(part, coefficient)
        elif isinstance(op, CheckAndRaise):
            yield from self.split(node.inputs[0], coefficient)
            for condition in node.inputs[1:]:
                yield from self.split_condition(condition, wanted=True)
        elif (wanted := wanted_condition(operation, node)) is not None and is_positive(coefficient):
            yield from self.split_condition(node.inputs[0], wanted=wanted)
        else:
            factor, rest = self.pull_scalar(tensor)
            if rest is tensor:
                yield coefficient, tensor
            else:
                yield from self.split(rest, coefficient * factor)

    def split_condition(
        self, condition: Tensor, *, wanted: bool
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield 0 where the entries of a condition are as ``wanted``, −inf elsewhere.

        ``all`` and ``and`` of what is wanted, or ``any`` and ``or`` of what is not, are as
        many conditions of their own.
        """
        if not self.touches(condition):
            return
        node = condition.owner
        op = None if node is None else node.op
        operation = op.scalar_op if isinstance(op, Elemwise) else None
        if isinstance(op, (All if wanted else Any_) | DimShuffle | ScalarFromTensor):
            yield from self.split_condition(node.inputs[0], wanted=wanted)
        elif isinstance(op, JOINS):
            for part in node.inputs[first_part(node) :]:
                yield from self.split_condition(part, wanted=wanted)
        elif isinstance(operation, scalar.AND if wanted else scalar.OR) and is_boolean(node):
            for part in node.inputs:
                yield from self.split_condition(part, wanted=wanted)
        elif isinstance(operation, scalar.Invert) and condition.type.dtype == "bool":
            yield from self.split_condition(node.inputs[0], wanted=not wanted)
        else:
            zero, never = np.float64(0.0), np.float64(-np.inf)
            branches = (zero, never) if wanted else (never, zero)
            yield pt.constant(1.0), pt.switch(condition, *branches)

    def pull_scalar(self, tensor: Tensor) -> tuple[Tensor, Tensor]:
        """Return (factor, rest) with tensor = factor · rest and factor a scalar free of s."""
        node, one = tensor.owner, pt.constant(1.0)
        if node is None or not isinstance(node.op, Elemwise) or not is_exact(tensor):
            return one, tensor
        operation, inputs = node.op.scalar_op, node.inputs
        if isinstance(operation, scalar.Neg):
            return -one, inputs[0]
        if isinstance(operation, scalar.Mul):
            return self._pull_from_product(tensor, inputs)
        if isinstance(operation, scalar.TrueDiv) and self.is_scalar(inputs[1]):
            return one / to_scalar(inputs[1]), inputs[0]
        if isinstance(operation, scalar.Sqr | scalar.Pow):
            exponent = inputs[1] if isinstance(operation, scalar.Pow) else pt.constant(2.0)
            factor, rest = self.pull_scalar(inputs[0])
            if rest is inputs[0] or constant_value(exponent) != 2.0:
                return one, tensor
            return pt.sqr(factor), pt.sqr(rest)
        return one, tensor

    def _pull_from_product(self, tensor: Tensor, inputs: list[Tensor]) -> tuple[Tensor, Tensor]:
        scalars = [x for x in inputs if self.is_scalar(x)]
        others = [x for x in inputs if not self.is_scalar(x)]
        if not scalars or not others:
            return pt.constant(1.0), tensor
        factor = to_scalar(scalars[0])
        for x in scalars[1:]:
            factor = factor * to_scalar(x)
        rest = others[0] if len(others) == 1 else pt.mul(*others)
        return factor, rest

    def is_scalar(self, variable: Tensor) -> bool:
        return not self.touches(variable) and all(variable.type.broadcastable)


def _takes_shape(node: Any) -> bool:
    """Return whether nothing but the shape of its first input enters an operation."""
    operation = node.op.scalar_op if isinstance(node.op, Elemwise) else None
    return isinstance(node.op, Shape | Shape_i) or isinstance(operation, scalar.Second)


def to_scalar(variable: Tensor) -> Tensor:
    """Return a one-entry tensor as a 0-d one."""
    return variable.reshape(()) if variable.type.ndim else variable


def repeats(whole: Tensor, part: Tensor) -> Tensor:
    """Return how often each entry of ``part`` stands in ``whole`` by broadcasting."""
    if whole.type.broadcastable == part.type.broadcastable:
        return pt.constant(1.0)
    return pt.cast(whole.size, "float64") / pt.cast(part.size, "float64")


def wanted_condition(operation: Any, node: Any) -> bool | None:
    """Return c if a node is a hard constraint: 0 where its condition is c, −inf elsewhere."""
    if not isinstance(operation, scalar.Switch):
        return None
    branches = tuple(constant_value(x) for x in node.inputs[1:])
    if branches == (0.0, -np.inf):
        return True
    return False if branches == (-np.inf, 0.0) else None


def is_boolean(node: Any) -> bool:
    """Return whether an operation works on truth values: on numbers it works bit by bit."""
    return all(x.type.dtype == "bool" for x in node.inputs)


def is_positive(coefficient: Tensor) -> bool:
    """Return whether a coefficient is a positive constant, whatever the other variables."""
    (folded,) = constant_fold([coefficient], raise_not_constant=False)
    return not isinstance(folded, Variable) and float(folded) > 0


def constant_value(variable: Tensor) -> float | None:
    """Return the value of a constant whose entries are all equal."""
    while variable.owner is not None and isinstance(variable.owner.op, DimShuffle):
        variable = variable.owner.inputs[0]
    if not isinstance(variable, Constant) or variable.data is None:
        return None
    entries = np.unique(variable.data)
    return float(entries[0]) if entries.size == 1 else None


def split_factor(name: str, logp: Tensor, unknowns: set[Tensor]) -> list[Term]:
    """Return the terms of a factor's log-density that touch the indicators."""
    splitter = _Splitter(unknowns, randomness([logp]).shapes)
    pairs = splitter.split(logp, pt.constant(1.0))
    return [Term(name, coefficient, tensor) for coefficient, tensor in pairs]
