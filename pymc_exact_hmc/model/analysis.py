"""Run the dependence analysis over a graph, from the indicators to the given tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from pytensor import Mode, Out, function
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import ancestors, toposort
from pytensor.tensor.shape import Shape, Shape_i

from pymc_exact_hmc.model.dependence import Dependence, Situation
from pymc_exact_hmc.model.shapes import randomness
from pymc_exact_hmc.model.transfer import transfer

Tensor: TypeAlias = Variable[Any, Any]
Array = np.ndarray

INTERPRETED = Mode(linker="py", optimizer=None)
"""Runs a graph as it stands: nothing to compile, for what is evaluated once."""


class UnfollowableError(ValueError):
    """A graph that cannot be evaluated at the start, or whose shapes are random."""


def analyse(
    tensors: list[Tensor],
    layout: tuple[Any, ...],
    point: dict[str, Array],
    *,
    parameters: Container[Tensor] = (),
    visit: Callable[[Situation], None] | None = None,
) -> dict[Tensor, Dependence]:
    """Return the dependence of every tensor between the unknowns and ``tensors``.

    Unknowns among the ``parameters`` do not count towards the degree. ``visit`` is shown
    the situation of every node, in topological order. Raise ``UnfollowableError`` where
    nothing can be said.
    """
    d = layout[-1].stop
    known: dict[Tensor, Dependence] = {}
    for unknown in layout:
        n = unknown.stop - unknown.start
        rows = (np.ones(n, bool), np.arange(unknown.start, unknown.stop), np.arange(n + 1))
        degree = 0 if unknown.value in parameters else 1
        known[unknown.value] = Dependence(sp.csr_array(rows, shape=(n, d)), degree, True)
    nodes = dependent_nodes(tensors, set(known))
    random = randomness(tensors)
    if any(v in random.shapes for node in nodes for v in [*node.inputs, *node.outputs]):
        raise UnfollowableError("the number of its entries depends on random variables")
    values = evaluate_nodes(nodes, point)
    for node in nodes:
        situation = Situation(
            node,
            [known.get(x) for x in node.inputs],
            [values.get(x) for x in node.inputs],
            np.asarray(values[node.outputs[0]]),
            [x not in random.values for x in node.inputs],
        )
        try:
            dependences = transfer(situation, d)
            if visit is not None:
                visit(situation)
        except Exception as error:
            raise _fault(node, error) from error
        for output, dependence in zip(node.outputs, dependences, strict=True):
            if dependence is not None:
                known[output] = dependence
    return known


def _fault(node: Apply[Any], error: Exception) -> UnfollowableError:
    """Show a fault of the analysis: the model is sampled rightly without it, but slower."""
    found = f"{type(error).__name__}: {error}"
    warnings.warn(
        f"The analysis of the operation {node.op} failed ({found}), and slower ways are taken. "
        "Please report the model.",
        RuntimeWarning,
        stacklevel=3,
    )
    return UnfollowableError(f"The analysis of the operation {node.op} failed ({found})")


def dependent_nodes(tensors: list[Tensor], unknowns: set[Tensor]) -> list[Apply[Any]]:
    """Return, in topological order, the nodes whose *value* may depend on the unknowns."""
    dependent = set(unknowns)
    nodes = []
    for node in toposort(tensors):
        if isinstance(node.op, Shape | Shape_i):
            continue
        if not dependent.isdisjoint(node.inputs):
            dependent.update(node.outputs)
            nodes.append(node)
    return nodes


def evaluate_nodes(
    nodes: list[Apply[Any]], point: dict[str, Array], *, also: list[Tensor] | None = None
) -> dict[Tensor, Any]:
    """Evaluate everything that the nodes take and give, and ``also``, at one point."""
    found = [v for node in nodes for v in [*node.inputs, *node.outputs]]
    wanted = list(dict.fromkeys([*found, *(also or [])]))
    values: dict[Tensor, Any] = {v: v.data for v in wanted if isinstance(v, Constant)}
    wanted = [v for v in wanted if v not in values]
    inputs = [v for v in ancestors(wanted) if v.owner is None and v.name in point]
    outputs = [Out(v, borrow=True) for v in wanted]
    try:
        run = function(inputs, outputs, mode=INTERPRETED, on_unused_input="ignore")
        results = run(*[point[v.name] for v in inputs])
    except Exception as error:
        raise UnfollowableError(f"it could not be evaluated at the start: {error}") from error
    values.update(zip(wanted, results, strict=True))
    return values


def some_values(weights: Sequence[Any]) -> dict[str, Array]:
    """Return values of natural weights at which to look at graphs."""
    return {w.value.name: np.full(w.shape, 0.5, w.value.type.dtype) for w in weights}
