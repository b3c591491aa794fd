"""Where coefficients come from: computed once, rescaled, or evaluated at every call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Point, light_tape
from pymc_exact_hmc.model.forms import Form, RecognisedTerm
from pymc_exact_hmc.model.probing import (
    Couplings,
    couplings_of_pairs,
    plan_gradients,
    probe_couplings,
    probe_fields,
    probe_tables,
)
from pymc_exact_hmc.model.tape_writer import Places
from pymc_exact_hmc.model.tapes import Tape

Vector = npt.NDArray[np.float64]
Layout = tuple[BinaryVariable, ...]


class Part(NamedTuple):
    """What a term adds: fields h, couplings, and the values of its tables."""

    h: Vector | None = None
    couplings: Couplings | None = None
    table: Vector | None = None


class Source:
    """Reads the part of one term at any point; ``constant_scale`` multiplies it.

    A constant term is read once, interpreted; a changing one through a compiled function.
    """

    def __init__(self, recognised: RecognisedTerm, layout: Layout, point: Point):
        self.recognised = recognised
        self.d = layout[-1].stop
        term = recognised.term
        tensor = term.tensor if recognised.constant else term.coefficient * term.tensor
        self._tape = None
        if recognised.form is Form.SEPARABLE and not recognised.constant:
            self._tape = _field_tape(tensor, layout, point)
            if self._tape is not None:
                self._ends = _ends(self._tape, self._support)
                return
        quadratic = recognised.form is Form.QUADRATIC
        self._evaluator = Evaluator(
            [tensor.astype("float64").sum() if quadratic else tensor.ravel()],
            layout,
            relaxed=quadratic,
            gradient=quadratic,
            mode=ONCE if recognised.constant else None,
        )
        self._gradients = plan_gradients(self._support) if quadratic else None

    @property
    def _support(self) -> Any:
        assert self.recognised.dependence is not None
        return self.recognised.dependence.support

    def read(self, point: Point) -> Part:
        """Return the part at the other variables' values in ``point``."""
        if self._tape is not None:
            h = np.zeros(self.d)
            self._tape.add_differences(point, *self._ends, h)
            return Part(h=h)

        def evaluate(s: np.ndarray) -> Vector:
            return np.asarray(self._evaluator(s, point)[0], dtype=float)

        probes = self.recognised.probes
        if self.recognised.form is Form.SEPARABLE:
            return Part(h=probe_fields(evaluate, self._support))
        if self._gradients is not None:
            couplings = probe_couplings(evaluate, self._gradients)
            return Part(h=couplings.h, couplings=couplings)
        assert probes is not None
        values = probe_tables(evaluate, probes)
        dependence = self.recognised.dependence
        pairs = self.recognised.constant and dependence is not None and dependence.reach == 2
        if pairs and np.isfinite(values).all():
            couplings = couplings_of_pairs(self._support, probes, values)
            return Part(h=couplings.h, couplings=couplings)
        return Part(table=values)


def _field_tape(tensor: Any, layout: Layout, point: Point) -> Tape | None:
    """Return a tape of the entries at s ≡ 1 and at s ≡ 0, if one is faster than compiling."""
    ends = []
    for end in (np.ones, np.zeros):
        states = {
            b.value: pt.constant(end(b.shape, b.value.type.dtype)).astype(b.value.type.dtype)
            for b in layout
        }
        states = {v: pt.specify_shape(x, v.type.shape) for v, x in states.items()}
        ends.append(clone_replace(tensor.ravel().astype("float64"), states))
    return light_tape(ends, point)


def _ends(tape: Tape, support: Any) -> tuple[Places, Places, Places]:
    """Return where a tape keeps the entries at s ≡ 1 and at s ≡ 0, and whose they are."""
    rows = np.flatnonzero(np.diff(support.indptr))
    high, low = (places.ravel()[rows].astype(np.int64) for places in tape.outputs)
    return high, low, support.indices.astype(np.int64)


def constant_scale(coefficient: Variable[Any, Any]) -> float | None:
    """Return the value of a coefficient that no random variable enters."""
    (folded,) = constant_fold([coefficient], raise_not_constant=False)
    if not isinstance(folded, Variable):
        return float(folded)
    return None
