"""Read coefficients off a tensor by evaluating it at a few states s.

Indicators that never stand in the same entry get the same colour; switching whole colours
on and off shows every entry all combinations of its own indicators.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pymc_exact_hmc.energies import Tables
from pymc_exact_hmc.model.colouring import colour, meeting

Vector = npt.NDArray[np.float64]
Evaluate = Callable[[npt.NDArray[np.int8]], Vector]


def probe_fields(evaluate: Evaluate, support: sp.csr_array) -> Vector:
    """Return h_j = Σ entries at s ≡ 1 − Σ entries at s ≡ 0, over the entries of s_j."""
    d, entries = support.shape[1], support.indices
    high, low = evaluate(np.ones(d, np.int8)), evaluate(np.zeros(d, np.int8))
    if entries.size < high.size:
        rows = np.flatnonzero(np.diff(support.indptr))
        high, low = high[rows], low[rows]
    with np.errstate(invalid="ignore"):
        return np.bincount(entries, weights=high - low, minlength=d).astype(float)


class Probes(NamedTuple):
    """The states at which a tensor with a given support has to be evaluated.

    ``subsets[p]`` are the colours that are switched on in probe p; entry n of the tensor
    shows the values ``slots[p]`` of its table in probe p, at the rows ``rows[p]``.
    """

    colours: npt.NDArray[np.int64]
    subsets: list[tuple[int, ...]]
    rows: list[npt.NDArray[np.int64]]
    slots: list[npt.NDArray[np.int64]]
    offset: npt.NDArray[np.int64]
    size: int

    def states(self) -> list[npt.NDArray[np.int8]]:
        """Return the state s of each probe."""
        return [np.isin(self.colours, subset).astype(np.int8) for subset in self.subsets]


def plan_probes(support: sp.csr_array, most: int) -> Probes | None:
    """Plan the evaluations that tabulate every entry, or None if more than ``most``."""
    colours = colour(meeting(support))
    counts = np.diff(support.indptr)
    offset = np.concatenate([[0], np.cumsum(2**counts)])
    by_colours: dict[tuple[int, ...], list[int]] = {}
    for n in np.flatnonzero(counts):
        members = colours[support.indices[support.indptr[n] : support.indptr[n + 1]]]
        by_colours.setdefault(tuple(members.tolist()), []).append(int(n))
    found: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
    for members_of_row, entries in by_colours.items():
        for size in range(len(members_of_row) + 1):
            for bits in combinations(range(len(members_of_row)), size):
                subset = tuple(sorted(members_of_row[b] for b in bits))
                rows, slots = found.setdefault(subset, ([], []))
                rows.extend(entries)
                slots.extend([sum(1 << b for b in bits)] * len(entries))
        if len(found) > most:
            return None
    rows_of = [np.asarray(rows) for rows, _ in found.values()]
    slots_of = [np.asarray(slots) for _, slots in found.values()]
    return Probes(colours, list(found), rows_of, slots_of, offset[:-1], int(offset[-1]))


def probe_tables(evaluate: Evaluate, probes: Probes) -> Vector:
    """Return the 2^k values of every entry, one after the other."""
    values = np.zeros(probes.size)
    for state, rows, slots in zip(probes.states(), probes.rows, probes.slots, strict=True):
        values[probes.offset[rows] + slots] = evaluate(state)[rows]
    return values


def make_tables(support: sp.csr_array, values: Vector) -> Tables:
    """Return the energy of tabulated entries, whose values stand one after the other."""
    counts = np.diff(support.indptr)
    entry = np.repeat(np.arange(support.shape[0]), counts)
    bit = np.arange(support.nnz) - np.repeat(support.indptr[:-1], counts)
    order = np.argsort(support.indices, kind="stable")
    start = np.searchsorted(support.indices[order], np.arange(support.shape[1] + 1))
    return Tables(
        values=values,
        offset=np.concatenate([[0], np.cumsum(2**counts)[:-1]]).astype(np.int64),
        state=np.zeros(support.shape[0], np.int64),
        start=start.astype(np.int64),
        terms=entry[order].astype(np.int64),
        bits=(1 << bit[order]).astype(np.int64),
    )


class Couplings(NamedTuple):
    """log f(s) = h's + ½ s'Js; J holds ``values`` at ``rows``, ``columns``, off the diagonal."""

    h: Vector
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    values: Vector


def couplings_of_pairs(support: sp.csr_array, probes: Probes, values: Vector) -> Couplings:
    """Return h and J of tabulated entries with at most two indicators each.

    A function of two bits is t₀₀ + (t₁₀−t₀₀)s_i + (t₀₁−t₀₀)s_j + (t₁₁−t₁₀−t₀₁+t₀₀)s_i s_j.
    """
    d, counts = support.shape[1], np.diff(support.indptr)
    h = np.zeros(d)
    for k in (1, 2):
        rows = np.flatnonzero(counts == k)
        members = support.indices[support.indptr[rows][:, None] + np.arange(k)]
        t = values[probes.offset[rows][:, None] + np.arange(2**k)]
        for m in range(k):
            h += np.bincount(members[:, m], weights=t[:, 1 << m] - t[:, 0], minlength=d)
    joint = t[:, 3] - t[:, 1] - t[:, 2] + t[:, 0]
    half = sp.coo_array((joint, (members[:, 0], members[:, 1])), shape=(d, d))
    # Adding up in the sparse format merges pairs that several entries couple.
    J = sp.coo_array(sp.csr_array(half) + sp.csr_array(half.T))
    return Couplings(h, J.row.astype(np.int64), J.col.astype(np.int64), J.data)


class GradientProbes(NamedTuple):
    """Columns of J that share no row have the same colour and are recovered together."""

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    colours: npt.NDArray[np.int64]


def plan_gradients(support: sp.csr_array) -> GradientProbes:
    """Plan the recovery of J whose entries lie among the indicators of each row."""
    pattern = meeting(support)
    d = pattern.shape[0]
    if pattern.nnz > 0.25 * d * d:
        pattern = sp.csr_array(np.ones((d, d), bool))
        colours = np.arange(d)
    else:
        colours = colour(meeting(pattern))
    rows = np.repeat(np.arange(d), np.diff(pattern.indptr))
    return GradientProbes(rows, pattern.indices.astype(np.int64), colours)


def probe_couplings(gradient: Callable[[Vector], Vector], probes: GradientProbes) -> Couplings:
    """Return h and J of a quadratic from differences of its gradient.

    ∇log f(s) = g₀ + Js; the diagonal of J is moved to h = g₀ + ½ diag J.
    """
    d = probes.colours.size
    values = np.zeros(probes.rows.size)
    base = gradient(np.zeros(d))
    colour_of_entry = probes.colours[probes.columns]
    order = np.argsort(colour_of_entry, kind="stable")
    ends = np.searchsorted(colour_of_entry[order], np.arange(probes.colours.max() + 2))
    for c in range(int(probes.colours.max()) + 1):
        change = gradient((probes.colours == c).astype(float)) - base
        entries = order[ends[c] : ends[c + 1]]
        values[entries] = change[probes.rows[entries]]
    off = probes.rows != probes.columns
    diagonal = np.bincount(probes.rows[~off], weights=values[~off], minlength=d)
    h = base + 0.5 * diagonal
    return Couplings(h, probes.rows[off], probes.columns[off], values[off])
