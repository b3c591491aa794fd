"""The matrix M of the likelihood −½w'Mw, one row at a time.

Only the rows of weights that are switched on are ever asked for, so a matrix that would
not fit into memory need not be formed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel, verb

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


class DenseGram(NamedTuple):
    """M = scale[0] · ``M``."""

    M: Matrix
    scale: Vector


class DesignGram(NamedTuple):
    """M = scale[0] · X' diag(row_weights) X, with more columns than should be squared."""

    X: Matrix
    row_weights: Vector
    scale: Vector


@verb
def gram_row(gram, j, out):
    """Write M_j· to ``out``."""
    raise TypeError(f"{type(gram).__name__} has no gram_row")


@verb
def gram_entry(gram, i, j):
    """Return M_ij."""
    raise TypeError(f"{type(gram).__name__} has no gram_entry")


@verb
def gram_diagonal(gram, out):
    """Write M_jj for every j to ``out``."""
    raise TypeError(f"{type(gram).__name__} has no gram_diagonal")


@gram_row.register(DenseGram)
def _row_dense(gram, j, out):
    scale = gram.scale[0]
    for i in range(out.size):
        out[i] = scale * gram.M[j, i]


@gram_entry.register(DenseGram)
def _entry_dense(gram, i, j):
    return gram.scale[0] * gram.M[i, j]


@gram_diagonal.register(DenseGram)
def _diagonal_dense(gram, out):
    for i in range(out.size):
        out[i] = gram.scale[0] * gram.M[i, i]


@gram_row.register(DesignGram)
def _row_design(gram, j, out):
    out[:] = 0.0
    N = gram.row_weights.size
    scale = gram.scale[0]
    last = N - N % 4
    for n in range(0, last, 4):
        add_four_rows(gram.X, gram.row_weights, scale, n, j, out)
    for n in range(last, N):
        factor = scale * gram.row_weights[n] * gram.X[n, j]
        for i in range(out.size):
            out[i] += factor * gram.X[n, i]


@gram_entry.register(DesignGram)
def _entry_design(gram, i, j):
    total = 0.0
    for n in range(gram.row_weights.size):
        total += gram.row_weights[n] * gram.X[n, i] * gram.X[n, j]
    return gram.scale[0] * total


@gram_diagonal.register(DesignGram)
def _diagonal_design(gram, out):
    out[:] = 0.0
    for n in range(gram.row_weights.size):
        factor = gram.scale[0] * gram.row_weights[n]
        for i in range(out.size):
            out[i] += factor * gram.X[n, i] ** 2


@kernel
def add_four_rows(X, row_weights, scale, n, j, out):
    """Add the terms of rows n … n+3 to M_j·: a quarter of the traffic through ``out``."""
    f0 = scale * row_weights[n] * X[n, j]
    f1 = scale * row_weights[n + 1] * X[n + 1, j]
    f2 = scale * row_weights[n + 2] * X[n + 2, j]
    f3 = scale * row_weights[n + 3] * X[n + 3, j]
    x0, x1, x2, x3 = X[n], X[n + 1], X[n + 2], X[n + 3]
    for i in range(out.size):
        out[i] += f0 * x0[i] + f1 * x1[i] + f2 * x2[i] + f3 * x3[i]
