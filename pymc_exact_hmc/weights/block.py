"""A block of gated Gaussian weights, at the current values of everything else.

    log p(s, w) = log f(s) − ½ w'(GMG + Λ)w + (Gr + λ)'w,    lower ≤ w ≤ upper,

where G is diagonal with the indicator ``s[gate[i]]`` of weight i, or 1 where the gate is −1:
a weight that is always on. Weights of one gate join and leave together. While its gate is
closed, weight i follows its slab exp(−½Λ_i x² + λ_i x) alone.

A full prior precision of weights that are always on belongs to M, its linear term to r.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.integral import log_integral

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# Rows of ``Block.coefficients``.
R, LAMBDA, LAM, LOWER, UPPER, SLAB_LOWER, SLAB_UPPER = range(7)

# Rows of ``Block.gates`` and of ``Block.pairs``.
START, PAIR_START, SOLE = range(3)
FIRST, SECOND = range(2)


class Block(NamedTuple):
    """Coefficients of n weights and g gates; they may be rewritten between calls.

    Rows of ``coefficients`` are r, Λ, λ, the bounds of an open gate's weights and those of a
    closed one's (``slab``). The weights of gate g are ``members[START:]`` up to the START of
    g + 1, its pairs of different weights the columns of ``pairs`` from PAIR_START on, and
    SOLE is its weight if it has just one, or −1. ``log_slab[g]`` is log ∫ exp(−½w'Λw + λ'w)
    over the slab bounds. Many arrays in one would cost the kernels their speed in calls.
    """

    gram: Any
    coefficients: Matrix
    gate: Indices
    gates: Indices
    members: Indices
    pairs: Indices
    log_slab: Vector

    @property
    def is_truncated(self) -> bool:
        """Whether any weight is bounded while its gate is open."""
        return bool(np.isfinite(self.coefficients[LOWER : UPPER + 1]).any())


def make_block(
    gram: Any,
    r: npt.ArrayLike,
    Lambda: npt.ArrayLike,
    lam: npt.ArrayLike,
    gate: npt.ArrayLike,
    *,
    n_gates: int,
    lower: npt.ArrayLike = -np.inf,
    upper: npt.ArrayLike = np.inf,
    slab_lower: npt.ArrayLike | None = None,
    slab_upper: npt.ArrayLike | None = None,
) -> Block:
    """Return a block; scalars stand for all weights.

    ``lower, upper`` bound a weight while its gate is open, ``slab_lower, slab_upper`` (the
    same unless given) while it is closed.
    """
    gates = np.array(gate, dtype=np.int64)
    coefficients = np.empty((7, gates.size))
    rows = (
        r,
        Lambda,
        lam,
        lower,
        upper,
        lower if slab_lower is None else slab_lower,
        upper if slab_upper is None else slab_upper,
    )
    for row, values in zip(coefficients, rows, strict=True):
        row[:] = values
    block = Block(gram, coefficients, gates, *_by_gate(gates, n_gates), np.empty(n_gates))
    price_slabs(block.coefficients, block.gates, block.members, block.log_slab)
    return block


def _by_gate(gate: Indices, n_gates: int) -> tuple[Indices, Indices, Indices]:
    """Return gates, members and pairs."""
    order = np.argsort(gate, kind="stable")
    start = np.searchsorted(gate[order], np.arange(n_gates + 1))
    # Weights that are always on come first and belong to no gate.
    members, start = order[start[0] :], start - start[0]
    sizes = np.diff(start)
    pairs = [np.empty((2, 0), np.int64)]
    for g in np.flatnonzero(sizes > 1):
        pairs.append(members[start[g] + np.array(np.triu_indices(sizes[g], 1))])
    sole = np.full(n_gates + 1, -1)
    sole[:-1][sizes == 1] = members[start[:-1][sizes == 1]]
    pair_start = np.concatenate([[0], np.cumsum(sizes * (sizes - 1) // 2)])
    return np.stack([start, pair_start, sole]), members, np.concatenate(pairs, axis=1)


@kernel
def price_slabs(coefficients, gates, members, log_slab):
    """Compute ``log_slab`` afresh, after Λ, λ or the bounds have changed."""
    for g in range(log_slab.size):
        total = 0.0
        for i in range(gates[START, g], gates[START, g + 1]):
            j = members[i]
            total += log_integral(
                coefficients[LAMBDA, j],
                coefficients[LAM, j],
                coefficients[SLAB_LOWER, j],
                coefficients[SLAB_UPPER, j],
            )
        log_slab[g] = total
