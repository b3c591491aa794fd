"""Which random variables enter a variable of a model directly."""

from __future__ import annotations

from typing import Any, TypeAlias

from pymc.model import Model
from pytensor.graph.basic import Variable

Tensor: TypeAlias = Variable[Any, Any]


def direct_parents(model: Model, var: Tensor) -> set[Tensor]:
    """Return the random variables between which and ``var`` there is no other."""
    known = set(model.basic_RVs)
    found: set[Tensor] = set()
    seen: set[Tensor] = set()
    stack = list(var.owner.inputs) if var in known else [var]
    while stack:
        v = stack.pop()
        if v in known:
            found.add(v)
        elif v.owner is not None and v not in seen:
            seen.add(v)
            stack.extend(v.owner.inputs)
    return found
