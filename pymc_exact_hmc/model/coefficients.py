"""The energy of the binary block, kept at the current values of the other variables.

Coefficients that no other random variable enters are computed once. Those that one enters
through a scalar factor are rescaled at every call, the rest is evaluated at every call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pymc_exact_hmc.energies import DenseCouplings, Fields, SparseCouplings, Sum, Tables
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.callbacks import CompiledTerm
from pymc_exact_hmc.model.evaluation import Evaluator, Point
from pymc_exact_hmc.model.forms import Form, RecognisedTerm
from pymc_exact_hmc.model.merging import merge_terms
from pymc_exact_hmc.model.probing import Couplings, make_tables
from pymc_exact_hmc.model.sources import Part, Source, constant_scale

Vector = npt.NDArray[np.float64]
DENSE_SHARE = 0.25
"""Share of coupled pairs from which a full matrix is faster than a sparse one."""


class Placed(NamedTuple):
    """A part with the places that its couplings and table values have in the whole."""

    part: Part
    entries: npt.NDArray[np.int64] | slice
    cells: slice


class Coefficients:
    """Holds the energy of a block; ``update`` brings it to a point of the model.

    ``varies`` tells whether another random variable enters any coefficient.
    """

    def __init__(
        self, terms: list[RecognisedTerm], layout: tuple[BinaryVariable, ...], point: Point
    ):
        self.layout, self.d = layout, layout[-1].stop
        compiled = (Form.MULTILINEAR, Form.GENERIC)
        sources = [Source(t, layout, point) for t in merge_terms(terms) if t.form not in compiled]
        parts = [source.read(point) for source in sources]
        for source, part in zip(sources, parts, strict=True):
            _refuse_undefined(source, part)
        self._lay_out(sources, parts)
        self._divide(sources, parts, layout)
        self._compiled = [
            CompiledTerm(_total(group), layout, point, gradient=form is Form.MULTILINEAR)
            for form in compiled
            if (group := [t for t in terms if t.form is form])
        ]
        named = any(compiled.names for compiled in self._compiled)
        self.varies = bool(self._changing or self._rescaled or named)
        self._no_state = np.zeros(self.d, np.int8)
        self._energy: Any = None
        self._added: list[Any] = []
        self._write(point)

    @property
    def energy(self) -> Any:
        """The energy, whose arrays ``update`` writes into."""
        if self._energy is None:
            energies: list[Any] = [self._pairwise()]
            energies += [] if self._tables is None else [self._tables]
            energies += [compiled.energy(self.d) for compiled in self._compiled] + self._added
            self._energy = energies.pop()
            while energies:
                self._energy = Sum(energies.pop(), self._energy)
        return self._energy

    def add(self, energy: Any) -> None:
        """Add an energy that is kept up to date elsewhere."""
        self._added.append(energy)
        self._energy = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the energy, which may hold machine code of this process."""
        return {**self.__dict__, "_energy": None}

    def update(self, point: Point) -> bool:
        """Bring the energy to ``point``; return whether any coefficient may have changed."""
        if self.varies:
            self._write(point)
        return self.varies

    def _write(self, point: Point) -> None:
        self._h[:], self._values[:], self._cells[:] = self._fixed
        if self._scales is not None:
            scales = self._scales(self._no_state, point)
            for scale, placed in zip(scales, self._rescaled, strict=True):
                self._add(placed.part, placed, float(scale))
        for source, placed in self._changing:
            self._add(source.read(point), placed, 1.0)
        for compiled in self._compiled:
            compiled.update(point)

    def _add(self, part: Part, placed: Placed, scale: float) -> None:
        if part.h is not None:
            self._h += scale * part.h
        if part.couplings is not None:
            self._values[placed.entries] += scale * part.couplings.values
        if part.table is not None:
            self._cells[placed.cells] += scale * part.table

    def _lay_out(self, sources: list[Source], parts: list[Part]) -> None:
        """Give every pair of indicators that any part couples a place, and every table."""
        coupled = [part.couplings for part in parts if part.couplings is not None]
        keys = [c.rows * self.d + c.columns for c in coupled]
        self._pairs = np.unique(np.concatenate(keys)) if keys else np.empty(0, np.int64)
        self._dense = self._pairs.size >= DENSE_SHARE * self.d**2
        if self._dense:
            self._pairs = np.arange(self.d**2)
        self._h, self._values = np.zeros(self.d), np.zeros(self._pairs.size)
        supports = [
            source.recognised.dependence.support
            for source, part in zip(sources, parts, strict=True)
            if part.table is not None and source.recognised.dependence is not None
        ]
        self._cells = np.zeros(sum(part.table.size for part in parts if part.table is not None))
        self._tables: Tables | None = None
        if supports:
            self._tables = make_tables(sp.csr_array(sp.vstack(supports)), self._cells)

    def _divide(
        self, sources: list[Source], parts: list[Part], layout: tuple[BinaryVariable, ...]
    ) -> None:
        """Sort the parts into fixed, rescaled and changing ones; add up the fixed ones."""
        self._rescaled: list[Placed] = []
        self._changing: list[tuple[Source, Placed]] = []
        coefficients, start = [], 0
        for source, part in zip(sources, parts, strict=True):
            stop = start + (0 if part.table is None else part.table.size)
            placed = Placed(part, self._places(part.couplings), slice(start, stop))
            start = stop
            scale = constant_scale(source.recognised.term.coefficient)
            if not source.recognised.constant:
                self._changing.append((source, placed))
            elif scale is None:
                self._rescaled.append(placed)
                coefficients.append(source.recognised.term.coefficient)
            else:
                self._add(part, placed, scale)
        self._fixed = (self._h.copy(), self._values.copy(), self._cells.copy())
        self._scales = Evaluator(coefficients, layout) if coefficients else None

    def _places(self, couplings: Couplings | None) -> npt.NDArray[np.int64] | slice:
        if couplings is None:
            return slice(0)
        return np.searchsorted(self._pairs, couplings.rows * self.d + couplings.columns)

    def _pairwise(self) -> Fields | SparseCouplings | DenseCouplings:
        if self._pairs.size == 0:
            return Fields(self._h)
        if self._dense:
            return DenseCouplings(self._h, self._values.reshape(self.d, self.d), np.zeros(self.d))
        rows, columns = np.divmod(self._pairs, self.d)
        start = np.searchsorted(rows, np.arange(self.d + 1)).astype(np.int64)
        field = np.zeros(self.d)
        return SparseCouplings(self._h, start, columns.astype(np.int32), self._values, field)


def _refuse_undefined(source: Source, part: Part) -> None:
    """Refuse constant coefficients that are not numbers: no start could mend them."""
    numbers = [x for x in (part.h, part.table) if x is not None]
    if part.couplings is not None:
        numbers.append(part.couplings.values)
    if source.recognised.constant and any(np.isnan(x).any() for x in numbers):
        raise ValueError(
            f"The log-density of {source.recognised.term.factor!r} is not a number, or -inf "
            "whatever the indicators are. Look for zeros that are divided by or taken the "
            "logarithm of, and for missing values in the data."
        )


def _total(group: list[RecognisedTerm]) -> Any:
    """Return the sum of the terms of a group as one scalar."""
    return sum(t.term.coefficient * t.term.tensor.astype("float64").sum() for t in group)
