"""Evaluate pieces of the model's own graph at states s and at the other variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pytensor.tensor as pt
from pymc.pytensorf import compile as compile_pymc
from pytensor import Mode
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.tensor.basic import MakeVector
from pytensor.tensor.math import Prod, Sum

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.movements import INSERTING
from pymc_exact_hmc.model.tape_operations import UntranslatableError
from pymc_exact_hmc.model.tapes import Tape

Tensor: TypeAlias = Variable[Any, Any]
Array = np.ndarray
Point = dict[str, Array]

ONCE = Mode(linker="py", optimizer="fast_run").excluding("fusion", "inplace")
"""Stabilised like PyMC's own functions, but interpreted: nothing to compile and wait for."""


MAX_WORK = 10_000
"""Entries from which a compiled function is faster than a tape, though it must be compiled."""


class Evaluator:
    """A function of s, flat, and of a point of the model.

    The binaries' value variables are replaced by slices of one vector: of small integers,
    or of real numbers (``relaxed``) so that gradients with respect to s exist.
    """

    def __init__(
        self,
        outputs: Sequence[Tensor],
        layout: tuple[BinaryVariable, ...],
        *,
        relaxed: bool = False,
        gradient: bool = False,
        mode: Any = None,
    ):
        outputs, self.s = on_flat_s(outputs, layout, relaxed=relaxed)
        self.others = list(
            dict.fromkeys(v for output in outputs for v in other_inputs(output, {self.s}))
        )
        self.names = [v.name for v in self.others]
        if gradient:
            outputs = [pt.grad(output, self.s, disconnected_inputs="ignore") for output in outputs]
        self.outputs = outputs
        self.function = compile_pymc(
            [self.s, *self.others], outputs, mode=mode, on_unused_input="ignore"
        )
        self.function.trust_input = True
        self._dtype = self.s.type.dtype

    def __call__(self, s: Array, point: Point) -> list[Array]:
        """Return the outputs at a state s and a point that holds the other variables."""
        state = np.ascontiguousarray(s, dtype=self._dtype)
        results: list[Array] = self.function(state, *[np.asarray(point[n]) for n in self.names])
        return results


def on_flat_s(
    outputs: Sequence[Tensor], layout: tuple[BinaryVariable, ...], *, relaxed: bool
) -> tuple[list[Tensor], Tensor]:
    """Write a graph in terms of one flat vector s; return it and that vector."""
    d = layout[-1].stop if layout else 0
    s = pt.vector("s", dtype="float64" if relaxed else "int8", shape=(d,))
    replacements = {}
    for binary in layout:
        block = s[binary.start : binary.stop].reshape(binary.shape)
        block = pt.specify_shape(block, binary.value.type.shape) if binary.shape else block
        replacements[binary.value] = block if relaxed else block.astype(binary.value.type.dtype)
    if relaxed:
        return _relax(outputs, replacements), s
    return list(clone_replace(list(outputs), replacements)), s


def _relax(outputs: Sequence[Tensor], replacements: dict[Tensor, Tensor]) -> list[Tensor]:
    """Build a graph again on real numbers in place of whole ones."""
    new = dict(replacements)
    for node in toposort(outputs):
        if new.keys().isdisjoint(node.inputs):
            continue
        inputs = [new.get(x, x) for x in node.inputs]
        if isinstance(node.op, INSERTING) and inputs[1].type.dtype.startswith("float"):
            inputs[0] = inputs[0].astype("float64")  # a target decides the type of the result
        relaxed = _without_type(node.op).make_node(*inputs)
        new.update(zip(node.outputs, relaxed.outputs, strict=True))
    return [new.get(x, x) for x in outputs]


def _without_type(op: Any) -> Any:
    """Return an operation that does not insist on whole numbers."""
    if isinstance(op, Sum | Prod):
        return type(op)(axis=op.axis)
    return MakeVector("float64") if isinstance(op, MakeVector) else op


def light_tape(outputs: list[Tensor], point: Point) -> Tape | None:
    """Return a tape that computes graphs faster than a compiled function, if there is one."""
    try:
        tape = Tape(outputs, point)
    except UntranslatableError:
        return None
    return tape if tape.work <= MAX_WORK else None


class Given:
    """A function of the other variables alone.

    A tape where the graph can be put on one; interpreted if there are no other variables.
    """

    def __init__(self, outputs: list[Tensor], point: Point):
        inputs = list(dict.fromkeys(v for o in outputs for v in other_inputs(o, set())))
        self.names = [v.name for v in inputs]
        self.function = self._tape = None
        if inputs:
            self._tape = light_tape(outputs, point)
        if self._tape is not None:
            return
        self.function = compile_pymc(inputs, outputs, mode=None if inputs else ONCE)
        self.function.trust_input = True

    def __call__(self, point: Point) -> list[Array]:
        """Return the outputs at a point."""
        if self._tape is not None:
            return self._tape(point)
        assert self.function is not None
        results = self.function(*[np.asarray(point[name]) for name in self.names])
        return [np.asarray(result, dtype=float) for result in results]
