"""Transfer rules of the dependence analysis: what each operation does to a dependence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pytensor.scalar import basic as scalar
from pytensor.tensor import math as tensor_math
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import CumOp

from pymc_exact_hmc.model.arithmetic import (
    SolveBase,
    cumulation,
    elementwise,
    linear_solve,
    product,
    reduction,
)
from pymc_exact_hmc.model.dependence import Dependence, Situation
from pymc_exact_hmc.model.mixing import mix
from pymc_exact_hmc.model.movements import INSERTING, MOVES, insertion, movement

Rule = Callable[[Situation, int], Dependence | None]


def transfer(situation: Situation, d: int) -> list[Dependence | None]:
    """Return the dependence of each output of a node."""
    if not situation.touched:  # ones_like(s) and what follows: only the shape is of s
        return [None for _ in situation.node.outputs]
    if len(situation.node.outputs) > 1:
        return [mix(situation, d) for _ in situation.node.outputs]
    dependence = _rule(situation.node.op)(situation, d)
    if dependence is None:
        return [None]
    inherited = all(situation.of(i).shaped for i in situation.touched)
    certain = situation.node.outputs[0].ndim == 0 or (dependence.shaped and inherited)
    return [replace(dependence, shaped=certain)]


def _rule(op: Any) -> Rule:
    core = op.core_op if isinstance(op, Blockwise) else op
    if isinstance(op, Elemwise | scalar.ScalarOp):
        return elementwise
    if isinstance(op, CAReduce):
        return reduction
    if isinstance(core, tensor_math.Dot):
        return product
    if isinstance(core, SolveBase):
        return linear_solve
    if isinstance(op, CumOp):
        return cumulation
    if isinstance(op, INSERTING):
        return insertion
    if isinstance(op, MOVES):
        return movement
    return mix
