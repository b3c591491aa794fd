"""Which indicator switches which weight, read off the graph of a linear predictor.

Follows the dependence analysis and collects

relation
    the pairs (weight, indicator) such that the coefficient of the weight may depend on the
    indicator, a sparse boolean matrix that may hold too many pairs, never too few;
offset
    for every tensor, whether its part free of weights is zero, does not depend on the
    indicators, or may depend on them;
products
    the pairs of weights that may multiply each other;
random
    the tensors in which other random variables may enter the coefficient of a weight.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from pytensor.graph.basic import Variable
from pytensor.scalar import basic as scalar
from pytensor.tensor import math as tensor_math
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.extra_ops import CumOp

from pymc_exact_hmc.model.arithmetic import SolveBase, broadcast_support
from pymc_exact_hmc.model.dependence import Situation
from pymc_exact_hmc.model.joins import JOINS, first_part
from pymc_exact_hmc.model.movements import INSERTING, MOVES

Tensor: TypeAlias = Variable[Any, Any]
ADDITIVE = (scalar.Add, scalar.Sub, scalar.Neg, scalar.Identity, scalar.Cast, scalar.Second)


class Offset(IntEnum):
    """The part of a tensor that is free of weights."""

    ZERO = 0
    CONSTANT = 1
    VARIES = 2


class GateTracker:
    """Visits the nodes of a graph; unknowns 0 … d−1 are indicators, the rest weights."""

    def __init__(self, d: int, n: int, offsets: dict[Tensor, Offset]):
        self.d, self.n = d, n
        self.offsets = dict(offsets)
        self.random: set[Tensor] = set()
        self._pairs = [sp.csr_array((n, d), dtype=bool)]
        self._products = [sp.csr_array((n, n), dtype=bool)]

    @property
    def relation(self) -> sp.csr_array:
        """The pairs (weight, indicator) found so far."""
        return _any_of(self._pairs)

    @property
    def products(self) -> sp.csr_array:
        """The pairs (weight, weight) that may multiply each other."""
        return _any_of(self._products)

    def visit(self, situation: Situation) -> None:
        """Take in one node."""
        core = situation.node.op
        core = core.core_op if isinstance(core, Blockwise) else core
        for output in situation.node.outputs:
            self.offsets[output] = self._offset(situation, core)
            if self._is_random(situation, core):
                self.random.add(output)
        if len(situation.node.outputs) == 1:
            self._relate(situation, core)
        else:
            self._relate_all(situation)

    def _relate(self, situation: Situation, core: Any) -> None:
        if isinstance(core, Elemwise | scalar.ScalarOp):
            operation = core.scalar_op if isinstance(core, Elemwise) else core
            if not isinstance(operation, ADDITIVE):
                self._relate_rows([broadcast_support(situation, i) for i in situation.touched])
        elif isinstance(core, tensor_math.Dot):
            self._relate_rows(_by_inner_index(situation))
        elif isinstance(core, SolveBase) and situation.touched == [1]:
            pass  # A⁻¹b adds entries of b up
        elif not data_inputs(situation).issuperset(situation.touched):
            self._relate_all(situation)

    def _relate_rows(self, supports: list[sp.csr_array]) -> None:
        """Row by row, each factor's weights meet the other factors' indicators."""
        counts = [support.astype(np.int32) for support in supports]
        for a, first in enumerate(counts):
            for b, second in enumerate(counts):
                if a != b:
                    met = first[:, self.d :].T @ second
                    self._pairs.append(sp.csr_array(met[:, : self.d].astype(bool)))
                    self._products.append(sp.csr_array(met[:, self.d :].astype(bool)))

    def _relate_all(self, situation: Situation) -> None:
        """Every weight that comes in may meet every indicator that comes in."""
        found = np.zeros(self.d + self.n, bool)
        for i in situation.touched:
            dependence = situation.inputs[i]
            if dependence is not None:
                found[dependence.support.indices] = True
        met = np.outer(found[self.d :], found[: self.d])
        if met.any():
            self._pairs.append(sp.csr_array(met))

    def _is_random(self, situation: Situation, core: Any) -> bool:
        inputs = situation.node.inputs
        if any(inputs[i] in self.random for i in situation.touched):
            return True
        operation = core.scalar_op if isinstance(core, Elemwise) else core
        if isinstance(operation, ADDITIVE) or data_inputs(situation):
            return False
        given = [i for i in range(len(inputs)) if situation.inputs[i] is None]
        return not all(situation.data_only[i] for i in given)

    def _offset(self, situation: Situation, core: Any) -> Offset:
        states = [self._input_offset(situation, i) for i in range(len(situation.inputs))]
        operation = core.scalar_op if isinstance(core, Elemwise) else core
        if isinstance(operation, scalar.Mul | tensor_math.Dot):
            return Offset.ZERO if Offset.ZERO in states else max(states)
        if isinstance(operation, scalar.TrueDiv):
            return Offset.ZERO if states[0] is Offset.ZERO else max(states)
        if isinstance(operation, scalar.Switch):
            branches = max(states[1:])
            return branches if branches is Offset.ZERO else max(states)
        if isinstance(operation, scalar.Second):
            return states[1]
        if isinstance(operation, ADDITIVE):
            return max(states)
        if isinstance(core, SolveBase):
            return Offset.ZERO if states[1] is Offset.ZERO else max(states)
        data = data_inputs(situation)
        if not data:
            return max(Offset.CONSTANT, *states)
        moved = max(states[i] for i in data)
        placed = max((states[i] for i in situation.touched if i not in data), default=moved)
        return moved if moved is Offset.ZERO else max(moved, placed)

    def _input_offset(self, situation: Situation, i: int) -> Offset:
        variable = situation.node.inputs[i]
        if situation.inputs[i] is not None:
            return Offset(self.offsets[variable])
        value = situation.values[i]
        known_zero = situation.data_only[i] and isinstance(value, np.ndarray | np.generic | int)
        return Offset.ZERO if known_zero and not np.any(value) else Offset.CONSTANT


def _any_of(relations: list[sp.csr_array]) -> sp.csr_array:
    total = relations[0]
    for relation in relations[1:]:
        total = total + relation
    return sp.csr_array(total.astype(bool))


def _by_inner_index(situation: Situation) -> list[sp.csr_array]:
    """Return, per factor of a matrix product, the support of each inner index.

    Of each product of a batch: those of different ones do not meet.
    """
    shapes = [np.shape(value) for value in situation.values]
    batch = np.broadcast_shapes(*[shape[:-2] for shape in shapes])
    rows = []
    for i in situation.touched:
        dependence = situation.inputs[i]
        assert dependence is not None
        shape = shapes[i]
        entries = np.arange(int(np.prod(shape))).reshape(shape)
        if len(shape) == 1:
            inner = entries[:, None]
        else:
            # Inner index: the last axis of the left factor, the first core axis of the right one.
            inner = np.swapaxes(entries, -1, -2) if i == 0 else entries
        inner = np.broadcast_to(inner, (*batch, *inner.shape[-2:]))
        k, m = int(np.prod(inner.shape[:-1])), inner.shape[-1]
        gather = sp.csr_array(
            (np.ones(k * m, np.int32), (np.repeat(np.arange(k), m), inner.ravel())),
            (k, entries.size),
        )
        rows.append(sp.csr_array((gather @ dependence.support.astype(np.int32)).astype(bool)))
    return rows if len(rows) > 1 else []


def data_inputs(situation: Situation) -> set[int]:
    """Return the inputs that an operation copies or adds up; none if it does anything else."""
    op, inputs = situation.node.op, len(situation.inputs)
    if isinstance(op, JOINS):
        return set(range(first_part(situation.node), inputs))
    if isinstance(op, INSERTING):
        return {0, 1}
    return {0} if isinstance(op, (tensor_math.Sum, CumOp, *MOVES)) else set()
