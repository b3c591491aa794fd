"""Operations that stand for graphs of simpler ones, such as einsum, written out.

What cannot be looked into mixes all that goes in; a product of a gate and a weight is inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.tensor.basic import AllocDiag
from pytensor.tensor.rewriting.ofg import inline_ofg_node

Tensor: TypeAlias = Variable[Any, Any]


def write_out(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the same tensors, without such operations."""
    written = list(tensors)
    while node := next((n for n in toposort(written) if _is_shorthand(n)), None):
        results = dict(zip(node.outputs, inline_ofg_node(node), strict=True))
        written = list(clone_replace(written, results))
    return written


def _is_shorthand(node: Apply[Any]) -> bool:
    # By name: the module of this operation is hidden by the function of the same name.
    return isinstance(node.op, AllocDiag) or type(node.op).__name__ == "Einsum"
