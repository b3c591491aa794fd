"""Turn graphs of small expressions into tapes, which need no compilation.

Every tensor of the graph is an array of places in the tape's memory. What only moves entries
about (indexing, reshaping, broadcasting) moves places and costs nothing at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pymc.pytensorf import compile as compile_pymc
from pytensor import Mode, function
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Apply, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as scalar
from pytensor.scalar import math as special
from pytensor.tensor import math as tensor_math
from pytensor.tensor.elemwise import CAReduce, Elemwise

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.model.analysis import (
    INTERPRETED,
    UnfollowableError,
    dependent_nodes,
    evaluate_nodes,
)
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.joins import JOINS, first_part, join
from pymc_exact_hmc.model.shapes import randomness
from pymc_exact_hmc.model.transfer import MOVES
from pymc_exact_hmc.tapes import operations as ops
from pymc_exact_hmc.tapes.program import ALL, SIZE, Program, add_differences, run

Tensor: TypeAlias = Variable[Any, Any]
Places = npt.NDArray[np.int64]
Point = dict[str, np.ndarray]
STABILISED = Mode(linker="py", optimizer="fast_run").excluding("fusion", "inplace", "BlasOpt")
OTHER_BIT = 62
"""The bit of inputs that belong to no group."""
MAX_MEMORY = 2_000_000

OPERATIONS: dict[type, int] = {
    scalar.Sub: ops.SUB,
    scalar.TrueDiv: ops.DIV,
    scalar.Switch: ops.SWITCH,
    scalar.Sqr: ops.SQUARE,
    scalar.Reciprocal: ops.RECIPROCAL,
    scalar.Neg: ops.NEG,
    scalar.Identity: ops.COPY,
    scalar.Exp: ops.EXP,
    scalar.Expm1: ops.EXPM1,
    scalar.Log: ops.LOG,
    scalar.Log1p: ops.LOG1P,
    scalar.Log2: ops.LOG2,
    scalar.Log10: ops.LOG10,
    scalar.Sqrt: ops.SQRT,
    scalar.Pow: ops.POW,
    special.Log1mexp: ops.LOG1MEXP,
    special.Softplus: ops.SOFTPLUS,
    special.Sigmoid: ops.SIGMOID,
    scalar.Tanh: ops.TANH,
    scalar.Sin: ops.SIN,
    scalar.Cos: ops.COS,
    scalar.ArcTan: ops.ATAN,
    scalar.Floor: ops.FLOOR,
    scalar.Sign: ops.SIGN,
    scalar.Abs: ops.ABS,
    scalar.EQ: ops.EQ,
    scalar.NEQ: ops.NEQ,
    scalar.LT: ops.LT,
    scalar.LE: ops.LE,
    scalar.GT: ops.GT,
    scalar.GE: ops.GE,
    special.GammaLn: ops.LOG_GAMMA,
    special.Erf: ops.ERF,
    special.Erfc: ops.ERFC,
    special.Erfcx: ops.ERFCX,
    scalar.IsNan: ops.IS_NAN,
    scalar.IsInf: ops.IS_INF,
}
CHAINS: dict[type, int] = {
    scalar.Add: ops.ADD,
    scalar.Mul: ops.MUL,
    scalar.AND: ops.AND,
    scalar.OR: ops.OR,
    scalar.Maximum: ops.MAXIMUM,
    scalar.Minimum: ops.MINIMUM,
}
"""Operations of any number of operands."""
ANY_WHOLE = (
    *(scalar.Switch, scalar.Identity, scalar.Second, scalar.Clip),
    *(scalar.Maximum, scalar.Minimum, scalar.Sign, scalar.Abs),
)
"""Operations that give the same on whole numbers of every length as on real ones."""
LONG_WHOLE = (scalar.Add, scalar.Sub, scalar.Mul, scalar.Neg, scalar.Sqr)
"""Operations that do so on the longest whole numbers, which do not overflow."""
REDUCTIONS: dict[type, int] = {
    tensor_math.Sum: ops.SUM,
    tensor_math.Prod: ops.PRODUCT,
    tensor_math.All: ops.SMALLEST,
    tensor_math.Any: ops.LARGEST,
    tensor_math.Max: ops.LARGEST,
    tensor_math.Min: ops.SMALLEST,
}


class UntranslatableError(ValueError):
    """A graph holds an operation that tapes do not know; the message names it."""


class Tape:
    """A graph of few numbers, as a program.

    ``groups`` gives the inputs that may change alone a bit each, by name; ``places`` holds,
    for each output and each input, where its entries are in ``program.memory``.
    """

    def __init__(
        self, outputs: list[Tensor], point: Point, *, groups: Mapping[str, int] | None = None
    ):
        writer = _Writer(dict(groups or {}))
        self.outputs = writer.translate(outputs, point)
        self.inputs: dict[str, Places] = writer.inputs
        self._spans = {n: (int(p.min()), int(p.max()) + 1) for n, p in writer.inputs.items()}
        self.program = writer.program()
        self._check(outputs, point)

    @property
    def work(self) -> int:
        """The number of entries that a whole run computes."""
        return int(self.program.code[:, SIZE].sum())

    @property
    def names(self) -> list[str]:
        """The names of the value variables that enter."""
        return list(self.inputs)

    def load(self, point: Point) -> None:
        """Read the inputs from a point."""
        memory = self.program.memory
        for name, (first, last) in self._spans.items():
            memory[first:last] = point[name].ravel()

    def __call__(self, point: Point) -> list[np.ndarray]:
        """Return the outputs at a point."""
        self.load(point)
        _run(self.program, ALL)
        return [self.program.memory[places] for places in self.outputs]

    def add_differences(
        self, point: Point, high: Places, low: Places, entries: Places, out: np.ndarray
    ) -> None:
        """Compute all at a point; out[entries] += the numbers at ``high`` less those at ``low``."""
        self.load(point)
        arguments = (self.program, high, low, entries, out)
        _bound(add_differences, *arguments)(*arguments)

    def _check(self, outputs: list[Tensor], point: Point) -> None:
        """Compare with the graph itself, at two points."""
        rng = np.random.default_rng(20131213)
        names = [name for name in self.names if point[name].dtype.kind == "f"]
        moved = {n: point[n] + 0.1 * rng.standard_normal(point[n].shape) for n in names}
        for setting in (point, point | moved):
            try:
                values = _interpret(outputs, setting)
            except Exception:
                if setting is point:
                    raise UntranslatableError("what cannot be evaluated at the start") from None
                continue  # a parameter that is impossible, of which PyMC says so by an error
            for own, value in zip(self(setting), values, strict=True):
                # PyMC keeps parameters given as Python numbers in single precision.
                if not np.allclose(own, value, rtol=1e-6, atol=1e-6, equal_nan=True):
                    raise UntranslatableError("an operation that gives another result")


def _run(program: Program, mask: int) -> None:
    _bound(run, program, mask)(program, mask)


_machine_code: dict[Any, Any] = {}


def _bound(kernel: Any, *arguments: Any) -> Any:
    """Return the machine code of a kernel whose arguments are of the same types in every tape."""
    code = _machine_code.get(kernel)
    if code is None:
        code = bind(kernel, *arguments)
        if code is not kernel:  # on demand a kernel stands for itself, only then
            _machine_code[kernel] = code
    return code


def _stabilised(outputs: list[Tensor]) -> list[Tensor]:
    """Return the graphs as PyMC's own functions would compute them."""
    inputs = list(dict.fromkeys(v for o in outputs for v in other_inputs(o, set())))
    made = compile_pymc(inputs, outputs, mode=STABILISED, on_unused_input="ignore")
    return list(made.maker.fgraph.outputs)


def _interpret(outputs: list[Tensor], point: Point) -> list[np.ndarray]:
    """Evaluate graphs once, as they stand."""
    inputs = list(dict.fromkeys(v for o in outputs for v in other_inputs(o, set())))
    run_once = function(inputs, outputs, mode=INTERPRETED, on_unused_input="ignore")
    return [np.asarray(x, dtype=float) for x in run_once(*[point[v.name] for v in inputs])]


def _refuse_whole(operation: Any, node: Apply[Any]) -> None:
    """Refuse what whole numbers do and real ones, of which a tape is made, do not.

    They are cut off, they overflow, and some operations work on them bit by bit.
    """
    kind, out = type(operation), str(node.outputs[0].type.dtype)
    if isinstance(operation, scalar.Cast):
        given = str(node.inputs[0].type.dtype)
        same = out in ("bool", "int64") or out.startswith("float")
        if given == "bool" or (same and (out != "int64" or not given.startswith("float"))):
            return
        raise UntranslatableError(f"a conversion of {given} to {out}")
    if out.startswith("float") or (out == "bool" and kind not in (scalar.Sub, scalar.Neg)):
        return
    if not issubclass(kind, ANY_WHOLE) and not (out == "int64" and issubclass(kind, LONG_WHOLE)):
        raise UntranslatableError(f"the operation {kind.__name__} on whole numbers ({out})")


def _refuse_short(op: Any, node: Apply[Any]) -> None:
    """Refuse sums and products of whole numbers that may overflow."""
    out = str(node.outputs[0].type.dtype)
    adding = isinstance(op, tensor_math.Sum | tensor_math.Prod)
    if adding and out != "int64" and not out.startswith("float"):
        raise UntranslatableError(f"the operation {type(op).__name__} on whole numbers ({out})")


class _Writer:
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
        code = np.array(self._lines, np.int64).reshape(-1, 9)
        none = np.empty(0, np.int64)
        return Program(
            code,
            np.array(self._line_masks, np.int64),
            np.concatenate([none, *self._indices]),
            np.concatenate([np.zeros(1), *self._memory]),
        )

    def translate(self, outputs: list[Tensor], point: Point) -> list[Places]:
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
            _refuse_whole(operation, node)
            places = self._elementwise(operation, out, operands, mask)
        elif isinstance(op, CAReduce) and type(op) in REDUCTIONS:
            _refuse_short(op, node)
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
