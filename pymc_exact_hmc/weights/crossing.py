"""Rank-one updates of the caches when one weight joins or leaves P.

With u = Σ_P M_Pj and D_j for P without j, c = M_j· − u'M_P·, and upper signs for joining,

    i outside P:  D_i ∓= c_i²/D_j,  ρ_i ∓= c_i ρ_j/D_j;
    Σ_PP ±= uu'/D_j,  Σ_Pj = −u/D_j,  Σ_jj = 1/D_j;  μ_P ∓= u ρ_j/D_j,  μ_j = ρ_j/D_j;
    i in P:  D_i = 1/Σ_ii,  ρ_i = μ_i/Σ_ii.

D_j and ρ_j themselves do not change. O(kn) for k = |P|.
"""

from __future__ import annotations

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.active import (
    CEILING,
    FLOOR,
    FULL,
    MU,
    PAIR_D,
    SEAT,
    SINGULAR,
    SIZE,
    SLOT,
    SMALL_PIVOT,
    U,
    seat_row,
)
from pymc_exact_hmc.weights.block import FIRST, LAMBDA, LOWER, PAIR_START, SECOND, UPPER

# Shares of M_jj + Λ_j below which a pivot D_j has lost half of its digits, and all of them.
SMALL = 1e-8
ROUNDING = 1e-14


@kernel
def join(block, active, j):
    """Let weight j take the next seat of P."""
    k = active.counts[SIZE]
    if k == active.P.size:
        active.counts[FULL] = 1
        return
    P, Sigma, rows, slots = active.P, active.Sigma, active.rows, active.slots
    seat_row(block.gram, rows, slots, active.kept, active.counts, j, k)
    u, row = active.seats[U], rows[slots[SLOT, k]]
    for a in range(k):
        total = 0.0
        for b in range(k):
            total += Sigma[a, b] * row[P[b]]
        u[a] = total
    D_j, rho_j, Lambda = active.D[j], active.rho[j], block.coefficients[LAMBDA]
    residual_row(rows, slots, u, k, active.c)
    update_outside(active.D, active.rho, active.c, Lambda, j, -1.0 / D_j)
    update_pairs(active.pair[PAIR_D], block.pairs, active.c, -1.0 / D_j)
    update_inside(Sigma, active.seats[MU], u, k, 1.0 / D_j, rho_j)
    for a in range(k):
        Sigma[a, k] = Sigma[k, a] = -u[a] / D_j
    Sigma[k, k] = 1.0 / D_j
    active.seats[MU, k] = rho_j / D_j
    active.seats[FLOOR, k] = block.coefficients[LOWER, j]
    active.seats[CEILING, k] = block.coefficients[UPPER, j]
    P[k], active.place[j], active.counts[SIZE] = j, k, k + 1
    read_inside(active.D, active.rho, P, Sigma, active.seats[MU], Lambda, k)
    active.D[j], active.rho[j] = D_j, rho_j
    judge_pivot(D_j, active.diagonal[j] + Lambda[j], active.counts)


@kernel
def leave(block, active, j):
    """Let weight j leave P; the last weight takes its seat."""
    k = active.counts[SIZE] - 1
    P, Sigma, slots = active.P, active.Sigma, active.slots
    swap_seats(P, active.place, Sigma, slots, active.seats, active.place[j], k)
    D_j, rho_j, Lambda = active.D[j], active.rho[j], block.coefficients[LAMBDA]
    u = active.seats[U]
    for a in range(k):
        u[a] = -Sigma[a, k] / Sigma[k, k]
    active.place[j], active.counts[SIZE] = -1, k
    residual_row(active.rows, slots, u, k, active.c)
    update_outside(active.D, active.rho, active.c, Lambda, j, 1.0 / D_j)
    update_pairs(active.pair[PAIR_D], block.pairs, active.c, 1.0 / D_j)
    read_pairs(active.pair[PAIR_D], block.pairs, block.gates, block.gate[j], active.c, j)
    update_inside(Sigma, active.seats[MU], u, k, -1.0 / D_j, rho_j)
    read_inside(active.D, active.rho, P, Sigma, active.seats[MU], Lambda, k)
    active.D[j], active.rho[j] = D_j, rho_j
    judge_pivot(D_j, active.diagonal[j] + Lambda[j], active.counts)


@kernel
def residual_row(rows, slots, u, k, c):
    """C = M_j· − u'M_P·, j in seat k."""
    row = rows[slots[SLOT, k]]
    for i in range(c.size):
        c[i] = row[i]
    for a in range(k):
        other = rows[slots[SLOT, a]]
        factor = u[a]
        for i in range(c.size):
            c[i] -= factor * other[i]


@kernel
def update_outside(D, rho, c, Lambda, j, factor):
    """D_i += factor c_i², ρ_i += factor c_i ρ_j; those in P are read again afterwards."""
    slope = factor * rho[j]
    for i in range(c.size):
        # Rounding must not take D below the precision of the slab.
        D[i] = max(D[i] + factor * c[i] * c[i], Lambda[i])
        rho[i] += slope * c[i]


@kernel
def update_pairs(pair_D, pairs, c, factor):
    """Do the same for pairs of weights of one gate."""
    for p in range(pair_D.size):
        pair_D[p] += factor * c[pairs[FIRST, p]] * c[pairs[SECOND, p]]


@kernel
def read_pairs(pair_D, pairs, gates, g, c, j):
    """M_ij − M_iP Σ_P M_Pj = c_i for the pairs of j with weights of its gate outside P."""
    if g < 0:
        return
    for p in range(gates[PAIR_START, g], gates[PAIR_START, g + 1]):
        if pairs[FIRST, p] == j:
            pair_D[p] = c[pairs[SECOND, p]]
        elif pairs[SECOND, p] == j:
            pair_D[p] = c[pairs[FIRST, p]]


@kernel
def update_inside(Sigma, mu, u, k, factor, rho_j):
    """Σ_PP += factor uu', μ_P −= factor u ρ_j."""
    for a in range(k):
        scaled = factor * u[a]
        for b in range(k):
            Sigma[a, b] += scaled * u[b]
        mu[a] -= scaled * rho_j


@kernel
def read_inside(D, rho, P, Sigma, mu, Lambda, k):
    """D_i = 1/Σ_ii, ρ_i = μ_i/Σ_ii in the first k seats."""
    for a in range(k):
        D[P[a]] = max(1.0 / Sigma[a, a], Lambda[P[a]])
        rho[P[a]] = mu[a] / Sigma[a, a]


@kernel
def judge_pivot(pivot, whole, count):
    """Raise the flags of a pivot that is small compared with M_jj + Λ_j."""
    if not pivot > SMALL * whole:
        count[SMALL_PIVOT] = 1
    if not pivot > ROUNDING * whole:
        count[SINGULAR] = 1


@kernel
def swap_seats(P, place, Sigma, slots, seats, a, last):
    """Exchange seat a with the last one, the weights' flights included."""
    if a == last:
        return
    for b in range(last + 1):
        Sigma[a, b], Sigma[last, b] = Sigma[last, b], Sigma[a, b]
    for b in range(last + 1):
        Sigma[b, a], Sigma[b, last] = Sigma[b, last], Sigma[b, a]
    for row in range(seats.shape[0]):
        seats[row, a], seats[row, last] = seats[row, last], seats[row, a]
    slots[SLOT, a], slots[SLOT, last] = slots[SLOT, last], slots[SLOT, a]
    slots[SEAT, slots[SLOT, a]], slots[SEAT, slots[SLOT, last]] = a, last
    P[a], P[last] = P[last], P[a]
    place[P[a]], place[P[last]] = a, last
