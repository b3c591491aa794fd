"""The entries of F that are not zero: bounds and orders have one or two in a row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.regions.region import violated


class Sparse(NamedTuple):
    """Entries of line k, a row or a column: ``start[k]`` to ``start[k + 1]``, with their places."""

    start: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    entry: npt.NDArray[np.float64]


def make_sparse(lines: int, length: int) -> Sparse:
    """Return room for lines of this length."""
    size = lines * length
    return Sparse(np.zeros(lines + 1, np.int64), np.zeros(size, np.int64), np.zeros(size))


@kernel
def gather_rows(F, rows):
    """Read the first rows of F, as many as there is room for."""
    count = 0
    for k in range(rows.start.size - 1):
        rows.start[k] = count
        for i in range(F.shape[1]):
            if F[k, i] != 0.0:
                rows.place[count], rows.entry[count] = i, F[k, i]
                count += 1
    rows.start[rows.start.size - 1] = count


@kernel
def gather_columns(F, columns):
    """Read the columns of F."""
    count = 0
    for i in range(F.shape[1]):
        columns.start[i] = count
        for k in range(F.shape[0]):
            if F[k, i] != 0.0:
                columns.place[count], columns.entry[count] = k, F[k, i]
                count += 1
    columns.start[F.shape[1]] = count


@kernel
def along_row(rows, k, w, total):
    """Return total + F_k·w, added up in the order of ``factor_value``."""
    for e in range(rows.start[k], rows.start[k + 1]):
        total += rows.entry[e] * w[rows.place[e]]
    return total


@kernel
def inside(region, rows, w):
    """Return whether w is in the region, by entries that are not zero if all of it is linear."""
    if region.Q.shape[0] + region.sign.size > 0:
        return violated(region, w) < 0
    wrong = 0
    for k in range(region.g.size):
        wrong += not along_row(rows, k, w, region.g[k]) >= 0.0
    return wrong == 0
