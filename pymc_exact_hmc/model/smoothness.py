"""Whether an expression is an analytic function of the other random variables.

What the recogniser finds out by evaluation, it finds at a few settings of the other variables.
An identity between analytic functions that holds at a random setting holds at all of them, with
probability one. A discrete variable, a switch or a cut may change everything elsewhere: what is
behind those must not be concluded from settings.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from pytensor.graph.basic import Apply, Variable
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
from pymc_exact_hmc.model.transfer import INSERTING, MOVES

Tensor: TypeAlias = Variable[Any, Any]
ENTRYWISE = (
    *(scalar.Add, scalar.Sub, scalar.Mul, scalar.TrueDiv, scalar.Neg, scalar.Identity),
    *(scalar.Sqr, scalar.Sqrt, scalar.Pow, scalar.Reciprocal, scalar.Second),
    *(scalar.Exp, scalar.Expm1, scalar.Log, scalar.Log1p, scalar.Log2, scalar.Log10),
    *(scalar.Sin, scalar.Cos, scalar.Tan, scalar.Tanh, scalar.Sinh, scalar.Cosh, scalar.ArcTan),
    *(special.Sigmoid, special.Softplus, special.Log1mexp),
    *(special.Erf, special.Erfc, special.Erfcx, special.Erfinv, special.Erfcinv, special.GammaLn),
)
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
        return isinstance(operation, ENTRYWISE)
    if isinstance(op, WHOLE) or type(op).__name__ in ALGEBRA:
        return True
    if isinstance(op, JOINS):
        return min(inputs) >= first_part(node)
    if isinstance(op, INSERTING):
        return max(inputs) <= 1
    return isinstance(op, MOVES) and inputs == [0]
