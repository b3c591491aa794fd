"""Write the instructions of a tape, one node of a graph after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pymc.pytensorf import compile as compile_pymc
from pytensor import Mode
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Apply, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as scalar
from pytensor.tensor.elemwise import CAReduce, Elemwise

from pymc_exact_hmc.model.analysis import UnfollowableError, dependent_nodes, evaluate_nodes
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.joins import JOINS, first_part, join
from pymc_exact_hmc.model.movements import MOVES
from pymc_exact_hmc.model.shapes import randomness
from pymc_exact_hmc.model.tape_operations import (
    CHAINS,
    OPERATIONS,
    REDUCTIONS,
    UntranslatableError,
    refuse_short,
    refuse_whole,
)
from pymc_exact_hmc.tapes import operations as ops
from pymc_exact_hmc.tapes.program import Program

Tensor: TypeAlias = Variable[Any, Any]
Places = npt.NDArray[np.int64]
Point = dict[str, np.ndarray]
STABILISED = Mode(linker="py", optimizer="fast_run").excluding("fusion", "inplace", "BlasOpt")
OTHER_BIT = 62
"""The bit of inputs that belong to no group."""
MAX_MEMORY = 2_000_000


def _stabilised(outputs: list[Tensor]) -> list[Tensor]:
    """Return the graphs as PyMC's own functions would compute them."""
    inputs = list(dict.fromkeys(v for o in outputs for v in other_inputs(o, set())))
    made = compile_pymc(inputs, outputs, mode=STABILISED, on_unused_input="ignore")
    return list(made.maker.fgraph.outputs)


class TapeWriter:
    """Writes instructions, one node of the graph after the other."""

    def __init__(self, groups: dict[str, int]):
        self._groups = groups
        self.inputs: dict[str, Places] = {}
        self._places: dict[Tensor, Places] = {}
        self._masks: list[int] = []
        self._memory: list[npt.NDArray[np.float64]] = []
        self._size = 0
        self._lines: list[list[int]] = []
        self._line_masks: list[int] = []
        self._indices: list[Places] = []
        self._n_indices = 0
        self._constants: dict[float, int] = {}
        self._mask_of: dict[Tensor, int] = {}

    def program(self) -> Program:
        """Return what was written."""
        code = np.array(self._lines, np.int64).reshape(-1, 9)
        none = np.empty(0, np.int64)
        return Program(
            code,
            np.array(self._line_masks, np.int64),
            np.concatenate([none, *self._indices]),
            np.concatenate([np.zeros(1), *self._memory]),
        )

    def translate(self, outputs: list[Tensor], point: Point) -> list[Places]:
        """Write all that outputs are made of; return their places."""
        outputs = _stabilised(outputs)
        self._size = 1  # place 0 is what an operand that is not there points to
        if randomness(outputs).shapes:
            raise UntranslatableError("a shape that depends on random variables")
        for variable in dict.fromkeys(v for o in outputs for v in other_inputs(o, set())):
            value = np.asarray(point[variable.name], dtype=float)
            places = self._new(value.size, value.ravel()).reshape(value.shape)
            self.inputs[variable.name] = self._places[variable] = places
            self._mask_of[variable] = 1 << self._groups.get(variable.name, OTHER_BIT)
        nodes = dependent_nodes(outputs, set(self._places))
        try:
            values = evaluate_nodes(nodes, point, also=outputs)
        except UnfollowableError as error:
            raise UntranslatableError("what cannot be evaluated at the start") from error
        for node in nodes:
            self._write(node, values)
            if self._size > MAX_MEMORY:
                raise UntranslatableError("too many numbers")
        return [self._read(o, values) for o in outputs]

    def _new(self, size: int, values: npt.ArrayLike = 0.0) -> Places:
        block = np.empty(size)
        block[:] = values
        self._memory.append(block)
        self._size += size
        return np.arange(self._size - size, self._size)

    def _read(self, variable: Tensor, values: Mapping[Tensor, Any]) -> Places:
        """Return the places of a tensor; one that no input reaches is a constant."""
        if variable not in self._places:
            value = np.asarray(values[variable], dtype=float)
            if value.size == 1:
                number = float(value.item())
                key = number if number == number else np.inf * 0
                if key not in self._constants:
                    self._constants[key] = int(self._new(1, number)[0])
                places = np.full(value.shape, self._constants[key])
            else:
                places = self._new(value.size, value.ravel()).reshape(value.shape)
            self._places[variable] = places
            self._mask_of[variable] = 0
        return self._places[variable]

    def _write(self, node: Apply[Any], values: Mapping[Tensor, Any]) -> None:
        op, out = node.op, node.outputs[0]
        mask = 0
        for x in node.inputs:
            mask |= self._mask_of.get(x, 0)
        shape = np.shape(values[out])
        operands = None
        if isinstance(op, Elemwise | scalar.ScalarOp):
            operation = op.scalar_op if isinstance(op, Elemwise) else op
            operands = [np.broadcast_to(self._read(x, values), shape) for x in node.inputs]
            refuse_whole(operation, node)
            places = self._elementwise(operation, out, operands, mask)
        elif isinstance(op, CAReduce) and type(op) in REDUCTIONS:
            refuse_short(op, node)
            places = self._reduce(op, self._read(node.inputs[0], values), mask)
        elif isinstance(op, CheckAndRaise):
            places = self._checked([self._read(x, values) for x in node.inputs], shape, mask)
        elif isinstance(op, DeepCopyOp | ViewOp):
            places = self._read(node.inputs[0], values)
        elif isinstance(op, MOVES):
            places = self._moved(node, values)
        else:
            raise UntranslatableError(f"the operation {type(op).__name__}")
        self._places[out] = np.asarray(places).reshape(shape)
        self._mask_of[out] = mask

    def _elementwise(
        self, operation: Any, out: Tensor, operands: list[Places], mask: int
    ) -> Places:
        kind = type(operation)
        if isinstance(operation, scalar.Cast):
            if str(out.type.dtype) == "bool":
                return self._line(ops.NEQ, [operands[0], np.zeros_like(operands[0])], mask)
            return operands[0]
        if kind is scalar.Second:
            return operands[1]
        if kind is scalar.Invert:
            return self._line(ops.NOT, operands, mask)
        if kind is scalar.Clip:
            low = self._line(ops.MAXIMUM, operands[:2], mask)
            return self._line(ops.MINIMUM, [low, operands[2]], mask)
        if kind in CHAINS:
            # The sum of truth values is one, not a number.
            code = ops.OR if kind is scalar.Add and out.type.dtype == "bool" else CHAINS[kind]
            total = operands[0]
            for operand in operands[1:]:
                total = self._line(code, [total, operand], mask)
            return total
        if kind not in OPERATIONS:
            raise UntranslatableError(f"the operation {kind.__name__}")
        return self._line(OPERATIONS[kind], operands, mask)

    def _line(self, operation: int, operands: list[Places], mask: int) -> Places:
        shape, size = operands[0].shape, operands[0].size
        first_and_step = [entry for x in operands for entry in self._operand(x.ravel(), mask)]
        first_and_step += [0] * (6 - len(first_and_step))
        out = self._new(size)
        first = int(out[0]) if size else 0
        self._lines.append([operation, first, size, *first_and_step])
        self._line_masks.append(mask)
        return out.reshape(shape)

    def _operand(self, places: Places, mask: int) -> tuple[int, int]:
        """Return first place and step; gather the entries if they are scattered."""
        if places.size == 0:
            return 0, 0
        first = int(places[0])
        if (places == first).all():
            return first, 0
        if not (np.diff(places) == 1).all():
            first = int(self._gather(places, mask)[0])
        return first, 1

    def _gather(self, places: Places, mask: int) -> Places:
        out = self._new(places.size)
        self._lines.append([ops.GATHER, int(out[0]), places.size, self._n_indices, 0, 0, 0, 0, 0])
        self._line_masks.append(mask)
        self._indices.append(places)
        self._n_indices += places.size
        return out

    def _reduce(self, op: Any, places: Places, mask: int) -> Places:
        axes = range(places.ndim) if op.axis is None else op.axis
        axes = [int(a) for a in np.atleast_1d(np.array(axes, int))]
        kept = [a for a in range(places.ndim) if a not in axes]
        moved = np.transpose(places, [*kept, *axes])
        shape = moved.shape[: len(kept)]
        size = int(np.prod(shape))
        each = moved.size // max(size, 1)
        if each == 0:
            raise UntranslatableError("a reduction of nothing")
        flat = moved.ravel()
        first, step = self._operand(flat, mask)
        if step == 0 and flat.size > 1:
            first = int(self._gather(flat, mask)[0])
        out = self._new(size)
        code = REDUCTIONS[type(op)]
        self._lines.append([code, int(out[0]), size, first, 0, each, 0, 0, 0])
        self._line_masks.append(mask)
        return out.reshape(shape)

    def _checked(self, places: list[Places], shape: tuple[int, ...], mask: int) -> Places:
        """−∞ where the model would raise an error: such values have no density."""
        value = places[0]
        for condition in places[1:]:
            forbidden = np.broadcast_to(self._constant(-np.inf), shape)
            allowed = np.broadcast_to(condition.reshape(()), shape)
            value = self._line(ops.SWITCH, [allowed, value, forbidden], mask)
        return value

    def _constant(self, number: float) -> Places:
        if number not in self._constants:
            self._constants[number] = int(self._new(1, number)[0])
        return np.array(self._constants[number])

    def _moved(self, node: Apply[Any], values: Mapping[Tensor, Any]) -> Places:
        """Move places as the node moves entries."""
        if isinstance(node.op, JOINS):
            first = first_part(node)
            parts = [values[x] for x in node.inputs[:first]]
            parts += [self._read(x, values) for x in node.inputs[first:]]
            return join(node, parts)
        if any(self._mask_of.get(x, 0) for x in node.inputs[1:]):
            raise UntranslatableError("an index that depends on random variables")
        inputs = [self._read(node.inputs[0], values), *[values[x] for x in node.inputs[1:]]]
        out: list[list[Any]] = [[None]]
        node.op.perform(node, inputs, out)
        return np.asarray(out[0][0]).astype(np.int64)
