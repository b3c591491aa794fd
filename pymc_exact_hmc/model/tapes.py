"""Turn graphs of small expressions into tapes, which need no compilation.

Every tensor of the graph is an array of places in the tape's memory. What only moves entries
about (indexing, reshaping, broadcasting) moves places and costs nothing at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from pytensor import function
from pytensor.graph.basic import Variable

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.model.analysis import INTERPRETED
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.points import jittered
from pymc_exact_hmc.model.tape_operations import UntranslatableError
from pymc_exact_hmc.model.tape_writer import Places, Point, TapeWriter
from pymc_exact_hmc.tapes.program import ALL, SIZE, Program, add_differences, run

Tensor: TypeAlias = Variable[Any, Any]


class Tape:
    """A graph of few numbers, as a program.

    ``groups`` gives the inputs that may change alone a bit each, by name; ``places`` holds,
    for each output and each input, where its entries are in ``program.memory``.
    """

    def __init__(
        self, outputs: list[Tensor], point: Point, *, groups: Mapping[str, int] | None = None
    ):
        writer = TapeWriter(dict(groups or {}))
        self.outputs = writer.translate(outputs, point)
        self.inputs: dict[str, Places] = writer.inputs
        filled = {n: p for n, p in writer.inputs.items() if p.size}
        self._spans = {n: (int(p.min()), int(p.max()) + 1) for n, p in filled.items()}
        self.program = writer.program()
        self._check(outputs, point)

    @property
    def work(self) -> int:
        """The number of entries that a whole run computes."""
        return int(self.program.code[:, SIZE].sum())

    @property
    def names(self) -> list[str]:
        """The names of the value variables that enter."""
        return list(self.inputs)

    def load(self, point: Point) -> None:
        """Read the inputs from a point."""
        memory = self.program.memory
        for name, (first, last) in self._spans.items():
            memory[first:last] = point[name].ravel()

    def __call__(self, point: Point) -> list[np.ndarray]:
        """Return the outputs at a point."""
        self.load(point)
        _run(self.program, ALL)
        return [self.program.memory[places] for places in self.outputs]

    def add_differences(
        self, point: Point, high: Places, low: Places, entries: Places, out: np.ndarray
    ) -> None:
        """Compute all at a point; out[entries] += the numbers at ``high`` less those at ``low``."""
        self.load(point)
        arguments = (self.program, high, low, entries, out)
        _bound(add_differences, *arguments)(*arguments)

    def _check(self, outputs: list[Tensor], point: Point) -> None:
        """Compare with the graph itself, at two points."""
        rng = np.random.default_rng(20131213)
        moved = jittered({name: point[name] for name in self.names}, rng, by=0.1)
        for setting in (point, point | moved):
            try:
                values = _interpret(outputs, setting)
            except Exception:
                if setting is point:
                    raise UntranslatableError("what cannot be evaluated at the start") from None
                continue  # a parameter that is impossible, of which PyMC says so by an error
            for own, value in zip(self(setting), values, strict=True):
                # PyMC keeps parameters given as Python numbers in single precision.
                if not np.allclose(own, value, rtol=1e-6, atol=1e-6, equal_nan=True):
                    raise UntranslatableError("an operation that gives another result")


def _run(program: Program, mask: int) -> None:
    _bound(run, program, mask)(program, mask)


_machine_code: dict[Any, Any] = {}


def _bound(kernel: Any, *arguments: Any) -> Any:
    """Return the machine code of a kernel whose arguments are of the same types in every tape."""
    code = _machine_code.get(kernel)
    if code is None:
        code = bind(kernel, *arguments)
        if code is not kernel:  # on demand a kernel stands for itself, only then
            _machine_code[kernel] = code
    return code


def _interpret(outputs: list[Tensor], point: Point) -> list[np.ndarray]:
    """Evaluate graphs once, as they stand."""
    inputs = list(dict.fromkeys(v for o in outputs for v in other_inputs(o, set())))
    run_once = function(inputs, outputs, mode=INTERPRETED, on_unused_input="ignore")
    return [np.asarray(x, dtype=float) for x in run_once(*[point[v.name] for v in inputs])]
