"""Non-centred weights: scales that multiply a weight on its way into a linear predictor.

In ``X @ (gamma * tau * w)`` the coefficients of w change with τ, and with them X'X. Measured in
the unit c = τ, the weight w̃ = c·w has the coefficients X whatever τ is, and τ is a scale of
its slab instead: a centred weight.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable, equal_computations
from pytensor.graph.traversal import ancestors, toposort
from pytensor.scalar import basic as scalar
from pytensor.tensor.basic import Alloc
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Dot, Sum
from pytensor.tensor.shape import Reshape, SpecifyShape

from pymc_exact_hmc.model.analysis import evaluate_nodes, some_values
from pymc_exact_hmc.model.forms import other_inputs

Tensor: TypeAlias = Variable[Any, Any]
LINEAR = (DimShuffle, Reshape, SpecifyShape, Dot, Sum, Alloc)
"""Operations that add nothing of their own and pass a common factor on."""


class Pulled(NamedTuple):
    """A mean without the scales of its weights, and the scales, by weight."""

    mean: Tensor
    units: dict[str, Tensor]


def pull_units(
    mean: Tensor, weights: list[Any], unknowns: set[Tensor], point: dict[str, np.ndarray]
) -> Pulled:
    """Take the random factors of each weight out of a mean, as far as they can be followed.

    ``weights`` are followed from their natural values; ``unknowns`` are those and the
    indicators.
    """
    nodes = list(toposort([mean]))
    natural = some_values(weights)
    walk = _Walk(mean, unknowns, nodes, evaluate_nodes(nodes, point | natural))
    units: dict[str, Tensor] = {}
    for w in weights:
        factors = walk.follow(w)
        if factors:
            unit = factors[0]
            for factor in factors[1:]:
                unit = unit * factor
            units[w.name] = unit
    return Pulled(walk.without_factors(), units)


def same_units(first: Pulled, second: Pulled, name: str) -> bool:
    """Return whether two means give a weight the same unit."""
    one, other = first.units.get(name), second.units.get(name)
    if one is None or other is None:
        return one is other
    return bool(equal_computations([one], [other]))


def _is_product(op: Any) -> bool:
    return isinstance(op, Elemwise) and isinstance(op.scalar_op, scalar.Mul)


class _Walk:
    """Follows weights through a graph; remembers which inputs of which nodes to take out."""

    def __init__(
        self, mean: Tensor, unknowns: set[Tensor], nodes: list[Apply[Any]], values: dict[Any, Any]
    ):
        self.mean, self.unknowns, self.values = mean, unknowns, values
        self.clients: dict[Tensor, list[tuple[Apply[Any], int]]] = {}
        for node in nodes:
            for i, x in enumerate(node.inputs):
                self.clients.setdefault(x, []).append((node, i))
        self.taken: dict[Tensor, set[int]] = {}

    def follow(self, w: Any) -> list[Tensor]:
        """Return the factors of a weight, each of one entry or in its shape."""
        v, factors, own_shape = w.value, [], True
        while v is not self.mean and len(self.clients.get(v, [])) == 1:
            node, i = self.clients[v][0]
            op, out = node.op, node.outputs[0]
            op = op.core_op if isinstance(op, Blockwise) else op
            operation = op.scalar_op if isinstance(op, Elemwise) else None
            if _is_product(op):
                own_shape = own_shape and np.shape(self.values[out]) == w.shape
                factors += self._take(node, i, w, own_shape=own_shape)
            elif isinstance(operation, scalar.Switch) and i > 0:
                if not self._is_zero(node.inputs[3 - i]):
                    break
                own_shape = own_shape and np.shape(self.values[out]) == w.shape
            elif isinstance(operation, scalar.TrueDiv) and i == 0:
                own_shape = own_shape and np.shape(self.values[out]) == w.shape
                factors += [1.0 / x for x in self._take(node, i, w, own_shape=own_shape)]
            elif isinstance(operation, scalar.Cast):
                pass
            elif isinstance(op, LINEAR) and (i == 0 or isinstance(op, Dot)):
                own_shape = False
            else:
                break
            v = out
        return factors

    def _take(self, node: Apply[Any], own: int, w: Any, *, own_shape: bool) -> list[Tensor]:
        """Take the random factors out of a product, also out of products within it."""
        factors = []
        for k, x in enumerate(node.inputs):
            if k == own:
                continue
            inner = x.owner
            if self._is_given(x):
                if own_shape or np.size(self.values[x]) == 1:
                    factors.append(self._as_factor(x, w))
                    self.taken.setdefault(node.outputs[0], set()).add(k)
            elif inner is not None and len(self.clients[x]) == 1 and _is_product(inner.op):
                factors += self._take(inner, -1, w, own_shape=own_shape)
        return factors

    def _is_zero(self, x: Tensor) -> bool:
        fixed = self.unknowns.isdisjoint(ancestors([x])) and not other_inputs(x, self.unknowns)
        return fixed and not np.any(self.values[x])

    def _as_factor(self, x: Tensor, w: Any) -> Tensor:
        return x.squeeze() if np.size(self.values[x]) == 1 else pt.broadcast_to(x, w.shape)

    def _ones(self, x: Tensor) -> Tensor:
        return pt.constant(np.ones(np.shape(self.values[x]), x.type.dtype))

    def _is_given(self, x: Tensor) -> bool:
        """Return whether other random variables, and no unknowns, enter a tensor."""
        return self.unknowns.isdisjoint(ancestors([x])) and bool(other_inputs(x, self.unknowns))

    def without_factors(self) -> Tensor:
        """Return the mean without what was taken out."""
        mean, changes = self.mean, {}
        for out, positions in self.taken.items():
            if positions:
                changes[out] = [
                    self._ones(x) if k in positions else x for k, x in enumerate(out.owner.inputs)
                ]
        if not changes:
            return mean
        memo: dict[Tensor, Tensor] = {}
        for node in toposort([mean]):
            inputs = changes.get(node.outputs[0], node.inputs)
            new = [memo.get(x, x) for x in inputs]
            if any(a is not b for a, b in zip(new, node.inputs, strict=True)):
                made = node.op.make_node(*new)
                memo.update(zip(node.outputs, made.outputs, strict=True))
        return memo.get(mean, mean)
