"""Dependences that are always true: every entry on everything; and unions of supports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from pymc_exact_hmc.model.dependence import NOT_POLYNOMIAL, Dependence, Situation


def mix(situation: Situation, d: int) -> Dependence:
    """Every entry depends on everything, in an unknown way: always true."""
    degree = unless_parameters(situation, NOT_POLYNOMIAL)
    return replace(spread(situation, d, degree, multilinear=False), shaped=False)


def unless_parameters(situation: Situation, degree: int) -> int:
    """Return ``degree``, or 0 if only unknowns that count as parameters come in."""
    return 0 if all(situation.of(i).degree == 0 for i in situation.touched) else degree


def spread(situation: Situation, d: int, degree: int, *, multilinear: bool) -> Dependence:
    """Every entry depends on all that comes in."""
    everything = np.zeros(d, bool)
    for i in situation.touched:
        everything[situation.of(i).support.indices] = True
    columns = np.flatnonzero(everything)
    n = situation.output.size
    pointer = np.arange(n + 1) * columns.size
    support = sp.csr_array((np.ones(n * columns.size, bool), np.tile(columns, n), pointer), (n, d))
    return Dependence(support, degree, multilinear)


def union(supports: list[sp.csr_array]) -> sp.csr_array:
    """Return what is in any of the supports."""
    total = supports[0]
    for support in supports[1:]:
        total = total + support
    return sp.csr_array(total.astype(bool))
