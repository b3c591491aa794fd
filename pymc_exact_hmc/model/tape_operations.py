"""Operations of graphs that tapes know, and those on whole numbers that they do not."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply
from pytensor.scalar import basic as scalar
from pytensor.scalar import math as special
from pytensor.tensor import math as tensor_math

from pymc_exact_hmc.tapes import operations as ops

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


def refuse_whole(operation: Any, node: Apply[Any]) -> None:
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


def refuse_short(op: Any, node: Apply[Any]) -> None:
    """Refuse sums and products of whole numbers that may overflow."""
    out = str(node.outputs[0].type.dtype)
    adding = isinstance(op, tensor_math.Sum | tensor_math.Prod)
    if adding and out != "int64" and not out.startswith("float"):
        raise UntranslatableError(f"the operation {type(op).__name__} on whole numbers ({out})")
