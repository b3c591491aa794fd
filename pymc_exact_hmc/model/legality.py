"""What distributions ask of their parameters: scales that are positive, bounds in order.

Formulas of kernels hold squares of scales, which do not tell −σ from σ. The model does: its
log-densities are checked, and nothing is allowed where a check fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from pymc.logprob.utils import CheckParameterValue
from pymc.model import Model
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors, toposort
from pytensor.scalar import basic as scalar
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import All

from pymc_exact_hmc.model.joins import JOINS, first_part
from pymc_exact_hmc.model.logps import factor_logps
from pymc_exact_hmc.model.smoothness import entries, is_never_negative

Tensor: TypeAlias = Variable[Any, Any]


def parameter_conditions(
    model: Model, rvs: list[Tensor], among: set[Tensor], without: set[Tensor]
) -> list[Tensor]:
    """Return what must hold of value variables ``among`` for random variables to have a density.

    Conditions that certainly hold are left out, and those that ``without`` enter as well.
    """
    conditions: dict[Tensor, None] = {}
    for node in toposort(factor_logps(model, rvs, jacobian=False)):
        if isinstance(node.op, CheckParameterValue):
            for condition in node.inputs[1:]:
                conditions |= dict.fromkeys(_parts(condition))
    return [
        condition
        for condition in conditions
        if not (found := set(ancestors([condition]))).isdisjoint(among)
        and found.isdisjoint(without)
    ]


def _parts(condition: Tensor) -> Iterator[Tensor]:
    """Yield the conditions that "all" joins."""
    node = condition.owner
    if node is not None and isinstance(node.op, All | ScalarFromTensor | TensorFromScalar):
        yield from _parts(node.inputs[0])
    elif node is not None and isinstance(node.op, JOINS):
        for part in node.inputs[first_part(node) :]:
            yield from _parts(part)
    elif not _certain(condition):
        yield condition


def _certain(condition: Tensor) -> bool:
    """Return whether a condition says that what cannot be negative is positive."""
    node = condition.owner
    operation = node.op.scalar_op if node is not None and isinstance(node.op, Elemwise) else None
    if not isinstance(operation, scalar.GT | scalar.GE):
        return False
    larger, smaller = node.inputs[0], entries(node.inputs[1])
    nothing = isinstance(smaller, Constant) and bool((smaller.data <= 0).all())
    return nothing and is_never_negative(larger)
