"""Which tensors have a shape that depends on the values of random variables.

``x[s == 1]`` or ``y[:tau]`` have as many entries as s or tau say. Nothing about single
entries of such a tensor can be told from an evaluation at one point.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import ancestors, toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import ScalarOp
from pytensor.tensor import basic as tensor_basic
from pytensor.tensor import subtensor
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp, Repeat
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.special import LogSoftmax, Softmax

Tensor: TypeAlias = Variable[Any, Any]

SHAPE_KEEPING = (
    Elemwise,
    ScalarOp,
    CAReduce,
    DimShuffle,
    Dot,
    Blockwise,
    CumOp,
    SpecifyShape,
    CheckAndRaise,
    DeepCopyOp,
    ViewOp,
    SortOp,
    ArgSortOp,
    Softmax,
    LogSoftmax,
    tensor_basic.Join,
    tensor_basic.MakeVector,
    tensor_basic.TensorFromScalar,
    tensor_basic.ScalarFromTensor,
    tensor_basic.ExtractDiag,
    tensor_basic.AllocDiag,
    *(
        getattr(subtensor, name)
        for name in ("IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1")
        if hasattr(subtensor, name)
    ),
)
"""Operations whose shapes follow from the shapes of their inputs, whatever their values."""


CHOOSING = tuple(
    getattr(subtensor, name)
    for name in ("AdvancedSubtensor", "AdvancedSubtensor1")
    if hasattr(subtensor, name)
)
SHAPED_BY_REST = (tensor_basic.Alloc, Repeat, Reshape)
"""Operations whose first input has no say in the shape of the result."""


class Randomness(NamedTuple):
    """Tensors whose entries, and tensors whose shapes, depend on random variables."""

    values: set[Tensor]
    shapes: set[Tensor]


def randomness(tensors: list[Tensor]) -> Randomness:
    """Follow the value variables through the graph of ``tensors``."""
    values = {
        v
        for v in ancestors(tensors)
        if v.owner is None and not isinstance(v, Constant) and not hasattr(v, "get_value")
    }
    shapes: set[Tensor] = set()
    for node in toposort(tensors):
        unknown_shape = not shapes.isdisjoint(node.inputs)
        if isinstance(node.op, Shape | Shape_i):
            values.update(node.outputs if unknown_shape else ())
            continue
        if not values.isdisjoint(node.inputs):
            values.update(node.outputs)
        if unknown_shape or _values_decide_shape(node, values):
            shapes.update(v for v in node.outputs if not _fixed(v))
    return Randomness(values, shapes)


def _fixed(variable: Tensor) -> bool:
    return None not in getattr(variable.type, "shape", (None,))


def _values_decide_shape(node: Apply[Any], values: set[Tensor]) -> bool:
    if isinstance(node.op, SHAPE_KEEPING):
        return False
    inputs = node.inputs
    if isinstance(node.op, subtensor.Subtensor):
        entries = subtensor.indices_from_subtensor(inputs[1:], node.op.idx_list)
        bounds = [e for e in entries if isinstance(e, slice)]
        return any(b in values for e in bounds for b in (e.start, e.stop, e.step) if b is not None)
    # Arrays of integers choose entries, as many as they have themselves.
    choosing = isinstance(node.op, CHOOSING)
    deciding = inputs[1:] if choosing or isinstance(node.op, SHAPED_BY_REST) else inputs
    return any(v in values and not (choosing and _integers(v)) for v in deciding)


def _integers(variable: Tensor) -> bool:
    type_ = variable.type
    return str(getattr(type_, "dtype", "")).startswith(("int", "uint")) and type_.ndim > 0
