"""Run the dependence analysis over a graph, from the indicators to the given tensors."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from pytensor import Mode, Out, function
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import ancestors, toposort
from pytensor.tensor.shape import Shape, Shape_i

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.dependence import Dependence, Situation
from pymc_exact_hmc.model.transfer import transfer

Tensor: TypeAlias = Variable[Any, Any]
Array = np.ndarray

INTERPRETED = Mode(linker="py", optimizer=None)
"""Runs a graph as it stands: nothing to compile, for what is evaluated once."""


def analyse(
    tensors: list[Tensor], layout: tuple[BinaryVariable, ...], point: dict[str, Array]
) -> dict[Tensor, Dependence]:
    """Return the dependence of every tensor between the binaries and ``tensors``."""
    d = layout[-1].stop
    known: dict[Tensor, Dependence] = {}
    for binary in layout:
        n = binary.stop - binary.start
        rows = (np.ones(n, bool), np.arange(binary.start, binary.stop), np.arange(n + 1))
        known[binary.value] = Dependence(sp.csr_array(rows, shape=(n, d)), 1, True)
    nodes = _dependent_nodes(tensors, set(known))
    values = _evaluate(nodes, point)
    random = _random_variables(tensors, values)
    for node in nodes:
        situation = Situation(
            node,
            [known.get(x) for x in node.inputs],
            [values.get(x) for x in node.inputs],
            np.asarray(values[node.outputs[0]]),
            [x not in random for x in node.inputs],
        )
        for output, dependence in zip(node.outputs, transfer(situation, d), strict=True):
            if dependence is not None:
                known[output] = dependence
    return known


def _dependent_nodes(tensors: list[Tensor], unknowns: set[Tensor]) -> list[Apply[Any]]:
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


def _evaluate(nodes: list[Apply[Any]], point: dict[str, Array]) -> dict[Tensor, Any]:
    """Evaluate everything that the nodes take and give at one point of the model."""
    wanted = list(dict.fromkeys(v for node in nodes for v in [*node.inputs, *node.outputs]))
    values: dict[Tensor, Any] = {v: v.data for v in wanted if isinstance(v, Constant)}
    wanted = [v for v in wanted if v not in values]
    inputs = [v for v in ancestors(wanted) if v.owner is None and v.name in point]
    run = function(
        inputs,
        [Out(v, borrow=True) for v in wanted],
        mode=INTERPRETED,
        on_unused_input="ignore",
    )
    results = run(*[point[v.name] for v in inputs])
    values.update(zip(wanted, results, strict=True))
    return values


def _random_variables(tensors: list[Tensor], values: dict[Tensor, Any]) -> set[Tensor]:
    """Return the variables that depend on a value variable, hence are not data alone."""
    random: set[Tensor] = set()
    for variable in ancestors(tensors):
        is_input = variable.owner is None and not isinstance(variable, Constant)
        if is_input and not hasattr(variable, "get_value"):
            random.add(variable)
    for node in toposort(tensors):
        if not isinstance(node.op, Shape | Shape_i) and not random.isdisjoint(node.inputs):
            random.update(node.outputs)
    return random
