"""Which random variables enter a variable of a model directly."""

from __future__ import annotations

from typing import Any, TypeAlias

from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.tensor.shape import Shape, Shape_i

Tensor: TypeAlias = Variable[Any, Any]


def direct_parents(model: Model, var: Tensor) -> set[Tensor]:
    """Return the random variables between which and ``var`` there is no other."""
    inputs = list(var.owner.inputs) if var in set(model.basic_RVs) else [var]
    return variables_in(model, inputs)


def variables_in(model: Model, expressions: list[Tensor]) -> set[Tensor]:
    """Return the random variables that expressions are made of; one may be an expression."""
    known = set(model.basic_RVs)
    found: set[Tensor] = set()
    seen: set[Tensor] = set()
    stack = list(expressions)
    while stack:
        v = stack.pop()
        if v in known:
            found.add(v)
        elif v.owner is not None and v not in seen:
            seen.add(v)
            # The shape of a random variable is no random variable.
            shape_alone = isinstance(v.owner.op, Shape | Shape_i) and v.owner.inputs[0] in known
            stack.extend([] if shape_alone else v.owner.inputs)
    return found


def bounding_variables(model: Model, rv: Tensor) -> set[Tensor]:
    """Return the random variables that a variable depends on while its value variable is held.

    Such as those in the bounds between which an interval transform stretches it.
    """
    transform = model.rvs_to_transforms.get(rv)
    if transform is None:
        return set()
    return variables_in(model, [transform.backward(model.rvs_to_values[rv], *rv.owner.inputs)])
