"""What is remembered of the weights that are switched on.

P is the set of weights in the likelihood, each in a seat. Given the indicators and without
bounds, w_P ~ N(μ_P, Σ_P). For every weight j, in P or not,

    w_j ~ N(ρ_j/D_j, 1/D_j)  if j is added to P (or stays in it),

so D_j and ρ_j are all that the odds of switching j ask for, in both directions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.block import FIRST, SECOND, Block
from pymc_exact_hmc.weights.grams import gram_diagonal, gram_entry, gram_row

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# Places in ``Active.counts``.
SIZE, FULL, SMALL_PIVOT, SINGULAR, AGE, TURN, CONTACTS = range(7)

# Rows of ``Active.seats``, ``slots``, ``pair`` and ``group``.
MU, W, V, HERE, SPEED, FLOOR, CEILING, U, SHIFT_W, SHIFT_V = range(10)
SLOT, SEAT, HOLDER = range(3)
PAIR_M, PAIR_D = range(2)
Z, GROUP_W, GROUP_V = range(3)

DEFAULT_CAPACITY = 256
EXPIRED = np.iinfo(np.int64).max // 2
"""An age at which caches are never used."""


class Active(NamedTuple):
    """Caches of n weights with K seats.

    ``P[a]`` is the weight in seat a and ``place`` its inverse, −1 outside P. Rows of ``seats``:
    μ; position and velocity at the start of a flight (W, V) and at the time last looked at
    (HERE, SPEED); the bounds (FLOOR, CEILING); the regression U of P on a weight that crosses
    and what that crossing does to P (SHIFT_W, SHIFT_V).

    M_{P[a]·} is ``rows[slots[SLOT, a]]``. Slots beyond the seats taken still hold rows of
    weights that have left (HOLDER), found again through ``kept`` and SEAT, the inverse of SLOT.
    ``pair`` holds M_ij and M_ij − M_iP Σ_P M_Pj for the pairs of one gate outside P.

    ``counts`` holds the size of P; flags: no seat left, a small pivot, a singular one; the
    number of calls since the last refresh; the slot to be reused next; the contacts of a
    flight. ``clock`` belongs to the flight, and c, factor, C and ``group`` are scratch.
    """

    D: Vector
    rho: Vector
    diagonal: Vector
    c: Vector
    pair: Matrix
    P: Indices
    place: Indices
    kept: Indices
    slots: Indices
    Sigma: Matrix
    rows: Matrix
    factor: Matrix
    seats: Matrix
    C: Matrix
    group: Matrix
    clock: Vector
    counts: Indices


def make_active(block: Block, capacity: int | None = None) -> Active:
    """Return caches that know the Gram matrix and will be computed at the first call."""
    n = block.gate.size
    K = min(n, DEFAULT_CAPACITY if capacity is None else capacity)
    widest = int(np.diff(block.gates[0]).max(initial=1))
    active = Active(
        D=np.zeros(n),
        rho=np.zeros(n),
        diagonal=np.zeros(n),
        c=np.zeros(n),
        pair=np.zeros((2, block.pairs.shape[1])),
        P=np.zeros(K, np.int64),
        place=np.full(n, -1),
        kept=np.full(n, -1),
        slots=np.stack([np.arange(K), np.arange(K), np.full(K, -1)]),
        Sigma=np.zeros((K, K)),
        rows=np.zeros((K, n)),
        factor=np.zeros((K, K)),
        seats=np.zeros((10, K)),
        C=np.zeros((widest, widest)),
        group=np.zeros((3, widest)),
        clock=np.zeros(3),
        counts=np.zeros(7, np.int64),
    )
    remember_gram(block.gram, block.pairs, active.diagonal, active.pair[PAIR_M], active.slots)
    expire(active)
    return active


def expire(active: Active) -> None:
    """Have every cache computed afresh at the next call: coefficients have changed."""
    active.counts[AGE] = EXPIRED


@kernel
def remember_gram(gram, pairs, diagonal, pair_M, slots):
    """Forget every row of M and read its diagonal: the Gram matrix is a new one."""
    gram_diagonal(gram, diagonal)
    for p in range(pair_M.size):
        pair_M[p] = gram_entry(gram, pairs[FIRST, p], pairs[SECOND, p])
    slots[HOLDER, :] = -1


@kernel
def rescale_gram(gram, scale, diagonal, pair_M, rows, slots):
    """Set the scale of the Gram matrix, and of what is remembered of it."""
    factor = scale / gram.scale[0]
    gram.scale[0] = scale
    for i in range(diagonal.size):
        diagonal[i] *= factor
    for p in range(pair_M.size):
        pair_M[p] *= factor
    for slot in range(rows.shape[0]):
        if slots[HOLDER, slot] >= 0:
            for i in range(diagonal.size):
                rows[slot, i] *= factor


@kernel
def seat_row(gram, rows, slots, kept, count, j, a):
    """Bring M_j· to the free seat a."""
    slot = kept[j]
    if slot < 0 or slots[HOLDER, slot] != j:
        # Of the free slots, take them in turn: a weight that has just left may soon be back.
        count[TURN] += 1
        slot = slots[SLOT, a + count[TURN] % (slots.shape[1] - a)]
        slots[HOLDER, slot] = j
        kept[j] = slot
        gram_row(gram, j, rows[slot])
    old, other = slots[SLOT, a], slots[SEAT, slot]
    # In this order, because ``slot`` may be ``old``.
    slots[SLOT, other] = old
    slots[SLOT, a] = slot
    slots[SEAT, old] = other
    slots[SEAT, slot] = a
