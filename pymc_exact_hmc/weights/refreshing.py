"""The caches computed afresh, through a Cholesky factor of the precision of P.

A_P = M_PP + Λ_P = CC',  Σ_P = C⁻ᵀC⁻¹,  y = C⁻¹(r + λ)_P,  μ_P = C⁻ᵀy,
D_i = M_ii + Λ_i − |C⁻¹M_Pi|²,  ρ_i = r_i + λ_i − y·C⁻¹M_Pi    for i outside P.
"""

from __future__ import annotations

import math

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.active import (
    AGE,
    CEILING,
    FLOOR,
    FULL,
    MU,
    PAIR_D,
    PAIR_M,
    SINGULAR,
    SIZE,
    SLOT,
    SMALL_PIVOT,
    U,
    seat_row,
)
from pymc_exact_hmc.weights.block import LAM, LAMBDA, LOWER, UPPER, R
from pymc_exact_hmc.weights.crossing import judge_pivot, read_inside, update_pairs

MOST_CALLS = 50
"""Calls after which the caches are computed afresh, because rank-one updates drift."""


@kernel
def prepare(block, active, s):
    """Refresh the caches if they are old, have lost digits, or belong to another s."""
    active.counts[AGE] += 1
    stale = active.counts[AGE] > MOST_CALLS
    for i in range(block.gate.size):
        g = block.gate[i]
        stale |= (active.place[i] >= 0) != (g < 0 or s[g] == 1)
    if stale:
        refresh_active(block, active, s)


@kernel
def refresh_active(block, active, s):
    """Compute every cache afresh from s; O(k²n).

    A precision that cannot be inverted is flagged, and so is a P that needs more seats.
    """
    count, coefficients, k = active.counts, block.coefficients, 0
    count[SINGULAR] = count[AGE] = count[FULL] = 0
    for i in range(block.gate.size):
        active.place[i] = -1
        if block.gate[i] < 0 or s[block.gate[i]] == 1:
            if k == active.P.size:
                count[FULL] = 1
                break
            seat_row(block.gram, active.rows, active.slots, active.kept, count, i, k)
            active.P[k], active.place[i] = i, k
            active.seats[FLOOR, k] = coefficients[LOWER, i]
            active.seats[CEILING, k] = coefficients[UPPER, i]
            k += 1
    count[SIZE] = k
    compute_caches(block, active)


@kernel
def compute_caches(block, active):
    """Compute everything that follows from P."""
    coefficients, rows, slots = block.coefficients, active.rows, active.slots
    Lambda, k = coefficients[LAMBDA], active.counts[SIZE]
    factorise_precision(
        active.P, rows, slots, active.diagonal, Lambda, active.factor, active.counts
    )
    invert_factor(active.factor, active.Sigma, k)
    y, mu = active.seats[U], active.seats[MU]
    whiten(active.factor, active.P, coefficients, k, y, mu)
    for i in range(active.D.size):
        active.D[i] = active.diagonal[i] + Lambda[i]
        active.rho[i] = coefficients[R, i] + coefficients[LAM, i]
    for p in range(active.pair.shape[1]):
        active.pair[PAIR_D, p] = active.pair[PAIR_M, p]
    for a in range(k):
        project(rows, slots, active.factor, a, active.c)
        subtract(active.D, active.rho, active.c, Lambda, y[a])
        update_pairs(active.pair[PAIR_D], block.pairs, active.c, -1.0)
    read_inside(active.D, active.rho, active.P, active.Sigma, mu, Lambda, k)
    active.counts[SMALL_PIVOT] = 0


@kernel
def factorise_precision(P, rows, slots, diagonal, Lambda, C, count):
    """C, lower triangular with CC' = M_PP + Λ_P."""
    for a in range(count[SIZE]):
        row = rows[slots[SLOT, a]]
        whole = diagonal[P[a]] + Lambda[P[a]]
        pivot = whole
        for b in range(a):
            total = row[P[b]]
            for d in range(b):
                total -= C[a, d] * C[b, d]
            C[a, b] = total / C[b, b]
            pivot -= C[a, b] * C[a, b]
        judge_pivot(pivot, whole, count)
        C[a, a] = math.sqrt(pivot if count[SINGULAR] == 0 else whole)


@kernel
def invert_factor(C, Sigma, k):
    """Replace C by its inverse and compute Σ = C⁻ᵀC⁻¹."""
    for a in range(k):
        C[a, a] = 1.0 / C[a, a]
        for b in range(a):
            total = 0.0
            for d in range(b, a):
                total += C[a, d] * C[d, b]
            C[a, b] = -total * C[a, a]
    for a in range(k):
        for b in range(a + 1):
            total = 0.0
            for d in range(a, k):
                total += C[d, a] * C[d, b]
            Sigma[a, b] = Sigma[b, a] = total


@kernel
def whiten(inverse, P, coefficients, k, y, mu):
    """Y = C⁻¹(r + λ)_P, μ = C⁻ᵀy."""
    for a in range(k):
        y[a] = mu[a] = 0.0
        for b in range(a + 1):
            y[a] += inverse[a, b] * (coefficients[R, P[b]] + coefficients[LAM, P[b]])
        for b in range(a + 1):
            mu[b] += inverse[a, b] * y[a]


@kernel
def project(rows, slots, inverse, a, c):
    """C = row a of C⁻¹M_P·."""
    c[:] = 0.0
    for b in range(a + 1):
        row, factor = rows[slots[SLOT, b]], inverse[a, b]
        for i in range(c.size):
            c[i] += factor * row[i]


@kernel
def subtract(D, rho, c, Lambda, y):
    """D −= c², ρ −= cy."""
    for i in range(c.size):
        D[i] = max(D[i] - c[i] * c[i], Lambda[i])
        rho[i] -= c[i] * y
