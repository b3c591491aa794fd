"""Recognise the binary block of a model: factors, their terms, and the form of each."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import numpy as np
from pymc.model import Model

from pymc_exact_hmc.model.analysis import UnfollowableError, analyse
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.dependence import Dependence
from pymc_exact_hmc.model.factors import Factor, factors_of
from pymc_exact_hmc.model.forms import RecognisedTerm, recognise_term
from pymc_exact_hmc.model.terms import Term, split_factor


@dataclass(frozen=True)
class Block:
    """The binaries that the step takes and the factors that touch them."""

    layout: tuple[BinaryVariable, ...]
    factors: list[Factor]
    terms: list[RecognisedTerm]

    @property
    def d(self) -> int:
        """The number of indicators."""
        return self.layout[-1].stop if self.layout else 0

    def terms_of(self, factor: Factor) -> list[RecognisedTerm]:
        """Return the terms of one factor."""
        return [t for t in self.terms if t.term.factor == factor.name]


def recognise(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    point: dict[str, np.ndarray],
    *,
    without: Container[str] = (),
) -> Block:
    """Recognise the factors that touch the binaries, but those named in ``without``."""
    unknowns = {binary.value for binary in layout}
    factors: list[Factor] = []
    terms: list[RecognisedTerm] = []
    for factor in factors_of(model, layout):
        if factor.name in without:
            continue
        parts = split_factor(factor.name, factor.logp, unknowns)
        if parts:  # there are none if it has nothing of the indicators but their number
            factors.append(factor)
        known = _dependence(parts, layout, point)
        terms.extend(recognise_term(part, known.get(part.tensor), unknowns) for part in parts)
    return Block(layout, factors, terms)


def _dependence(
    terms: list[Term], layout: tuple[BinaryVariable, ...], point: dict[str, np.ndarray]
) -> dict[Any, Dependence]:
    """Analyse the terms of a factor; what cannot be evaluated at the start is not followed."""
    try:
        return analyse([term.tensor for term in terms], layout, point)
    except UnfollowableError:
        return {}
