"""Whether an expression is an analytic function of the other random variables.

What the recogniser finds out by evaluation, it finds at a few settings of the other variables.
An identity between analytic functions that holds at a random setting holds at all of them, with
probability one. A discrete variable, a switch or a cut may change everything elsewhere: what is
behind those must not be concluded from settings.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as scalar
from pytensor.scalar import math as special
from pytensor.tensor.basic import AllocDiag
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Dot, Prod, Sum
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.special import LogSoftmax, Softmax

from pymc_exact_hmc.model.joins import JOINS, first_part
from pymc_exact_hmc.model.movements import INSERTING, MOVES

Tensor: TypeAlias = Variable[Any, Any]
ENTRYWISE = (
    *(scalar.Add, scalar.Sub, scalar.Mul, scalar.TrueDiv, scalar.Neg, scalar.Identity),
    *(scalar.Sqr, scalar.Sqrt, scalar.Pow, scalar.Reciprocal, scalar.Second),
    *(scalar.Exp, scalar.Expm1, scalar.Log, scalar.Log1p, scalar.Log2, scalar.Log10),
    *(scalar.Sin, scalar.Cos, scalar.Tan, scalar.Tanh, scalar.Sinh, scalar.Cosh, scalar.ArcTan),
    *(special.Sigmoid, special.Softplus, special.Log1mexp),
    *(special.Erf, special.Erfc, special.Erfcx, special.Erfinv, special.Erfcinv, special.GammaLn),
)
NEVER_NEGATIVE = (
    *(scalar.Abs, scalar.Exp, scalar.Sqr, scalar.Sqrt),
    *(special.Sigmoid, special.Softplus),
)
POSITIVE_LAWS = {
    *("HalfNormalRV", "HalfCauchyRV", "HalfStudentTRV", "ExponentialRV", "GammaRV", "BetaRV"),
    *("InvGammaRV", "LogNormalRV", "WeibullBetaRV", "HalfFlatRV"),
}
WHOLE = (Sum, Prod, Dot, CumOp, Softmax, LogSoftmax, AllocDiag, CheckAndRaise)
ALGEBRA = {"Cholesky", "CholeskySolve", "Det", "MatrixInverse", "Solve", "SolveTriangular"}
"""By name: these are in other places in every generation of PyTensor."""


def is_smooth(tensor: Tensor, others: Collection[Tensor]) -> bool:
    """Return whether a tensor is an analytic function of ``others``, the rest being fixed."""
    if any(not v.type.dtype.startswith("float") for v in others):
        return False
    reached = set(others)
    for node in toposort([tensor]):
        inputs = [i for i, x in enumerate(node.inputs) if x in reached]
        # A random variable of the collection may itself stand on another one.
        if not inputs or not reached.isdisjoint(node.outputs) or _is_shape(node):
            continue
        if not _is_analytic(node, inputs):
            return False
        reached.update(node.outputs)
    return True


def _is_shape(node: Apply[Any]) -> bool:
    return isinstance(node.op, Shape | Shape_i)


def _is_analytic(node: Apply[Any], inputs: list[int]) -> bool:
    """Return whether the outputs of a node are analytic in these inputs."""
    op = node.op.core_op if isinstance(node.op, Blockwise) else node.op
    if isinstance(op, Elemwise | scalar.ScalarOp):
        operation = op.scalar_op if isinstance(op, Elemwise) else op
        if isinstance(operation, scalar.Switch):
            return 0 not in inputs
        if isinstance(operation, scalar.Cast):
            return bool(node.outputs[0].type.dtype.startswith("float"))
        if _is_root(operation, node) and _has_edge(node.inputs[0]):
            return False
        return isinstance(operation, ENTRYWISE)
    if isinstance(op, WHOLE) or type(op).__name__ in ALGEBRA:
        return True
    if isinstance(op, JOINS):
        return min(inputs) >= first_part(node)
    if isinstance(op, INSERTING):
        return max(inputs) <= 1
    return isinstance(op, MOVES) and inputs == [0]


def _is_root(operation: Any, node: Apply[Any]) -> bool:
    """Return whether an operation is singular at 0."""
    if isinstance(operation, scalar.Pow):
        exponent = entries(node.inputs[1])
        return not (isinstance(exponent, Constant) and bool((exponent.data % 1 == 0).all()))
    return isinstance(operation, scalar.Sqrt | scalar.Log | scalar.Log2 | scalar.Log10)


def _has_edge(tensor: Tensor) -> bool:
    """Return whether a root of a tensor is one of a square: √x² = |x| is not analytic."""
    operation, inputs = _entrywise(tensor)
    if isinstance(operation, scalar.Mul):
        squared = [x for x in inputs if inputs.count(x) > 1]
        return not all(map(is_never_negative, squared)) or any(map(_has_edge, inputs))
    if isinstance(operation, scalar.TrueDiv):
        return any(map(_has_edge, inputs))
    return isinstance(operation, scalar.Sqr | scalar.Pow) and not is_never_negative(inputs[0])


def is_never_negative(tensor: Tensor) -> bool:
    """Return whether a tensor is never negative, as far as its last operations show."""
    operation, inputs = _entrywise(tensor)
    if operation is None:
        known = entries(tensor)
        return isinstance(known, Constant) and bool((known.data >= 0).all())
    if isinstance(operation, scalar.Add | scalar.Mul | scalar.TrueDiv):
        return all(map(is_never_negative, inputs))
    if isinstance(operation, scalar.Pow | scalar.Sign):
        return is_never_negative(inputs[0])
    if isinstance(operation, scalar.Sub):  # 1 − p, as between the bounds of an interval
        one = entries(inputs[0])
        certain = isinstance(one, Constant) and bool((one.data >= 1).all())
        return certain and isinstance(_entrywise(inputs[1])[0], special.Sigmoid)
    return isinstance(operation, NEVER_NEGATIVE) or type(operation).__name__ in POSITIVE_LAWS


def _entrywise(tensor: Tensor) -> tuple[Any, list[Tensor]]:
    """Return the operation that gives the entries of a tensor, and what it is applied to."""
    node = entries(tensor).owner
    if node is None:
        return None, []
    return (node.op.scalar_op if isinstance(node.op, Elemwise) else node.op), list(node.inputs)


def entries(tensor: Tensor) -> Tensor:
    """Return a tensor before its entries were moved, chosen or repeated."""
    while tensor.owner is not None:
        op = tensor.owner.op
        if not isinstance(op, (CheckAndRaise, *MOVES)) or isinstance(op, JOINS):
            break
        tensor = tensor.owner.inputs[0]
    return tensor
