"""The parts of a concatenation, in every generation of PyTensor."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.tensor.basic import Join, MakeVector

JOINS = (Join, MakeVector)


def first_part(node: Apply[Any]) -> int:
    """Return the position of the first part: PyTensor 2 puts the axis of a Join before it."""
    return int(isinstance(node.op, Join) and not hasattr(node.op, "axis"))


def join(node: Apply[Any], values: list[Any]) -> np.ndarray:
    """Join arrays as the node does, but in their own type."""
    if isinstance(node.op, MakeVector):
        return np.array(values)
    axis = node.op.axis if first_part(node) == 0 else int(values[0])
    return np.concatenate(values[first_part(node) :], axis=axis)
