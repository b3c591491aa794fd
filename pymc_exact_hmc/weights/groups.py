"""Gates with several weights: the odds of the whole group, and draws of it.

For a closed gate with weights J the group has precision D_JJ and linear term ρ_J given P;
for an open one w_J ~ N(μ_J, Σ_JJ) and D_JJ = Σ_JJ⁻¹. Either way

    log ∫ exp(−½w'Dw + ρ'w) dw = ½ρ'D⁻¹ρ − ½ log|D/2π|

over all of space: a truncated group is drawn without its bounds and bounces if outside.
"""

from __future__ import annotations

import math

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.active import HERE, MU, PAIR_D, PAIR_M, SIZE, SLOT, Z
from pymc_exact_hmc.weights.block import LAM, LAMBDA, PAIR_START, START, R
from pymc_exact_hmc.weights.crossing import ROUNDING
from pymc_exact_hmc.weights.normal import normal

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


@kernel
def factorise(C, z, m):
    """Replace the lower triangle C by its Cholesky factor and z by C⁻¹z.

    Returns the logarithm of the product of the pivots; not a number if there is a tiny one.
    """
    log_product = 0.0
    for a in range(m):
        whole = C[a, a]
        for b in range(a + 1):
            total = C[a, b]
            for d in range(b):
                total -= C[a, d] * C[b, d]
            C[a, b] = total / C[b, b] if b < a else total
        if not C[a, a] > ROUNDING * whole:
            return np.nan
        C[a, a] = math.sqrt(C[a, a])
        log_product += math.log(C[a, a])
        for b in range(a):
            z[a] -= C[a, b] * z[b]
        z[a] /= C[a, a]
    return log_product


@kernel
def half_square(z, m):
    """½|z|²."""
    total = 0.0
    for a in range(m):
        total += z[a] * z[a]
    return 0.5 * total


@kernel
def load_closed(block, active, g):
    """C = chol(D_JJ), z = C⁻¹ρ_J for a closed gate; return the log integral of the group."""
    C, z = active.C, active.group[Z]
    m = block.gates[START, g + 1] - block.gates[START, g]
    p = block.gates[PAIR_START, g]
    for a in range(m):
        j = block.members[block.gates[START, g] + a]
        C[a, a], z[a] = active.D[j], active.rho[j]
        for b in range(a + 1, m):
            C[b, a] = active.pair[PAIR_D, p]
            p += 1
    log_product = factorise(C, z, m)
    return half_square(z, m) - log_product + m * LOG_SQRT_2PI


@kernel
def load_open(block, active, g):
    """C = chol(Σ_JJ), z = C⁻¹μ_J for an open gate; return the log integral of the group."""
    C, z, first = active.C, active.group[Z], block.gates[START, g]
    m = block.gates[START, g + 1] - first
    for a in range(m):
        i = active.place[block.members[first + a]]
        z[a] = active.seats[MU, i]
        for b in range(a + 1):
            C[a, b] = active.Sigma[i, active.place[block.members[first + b]]]
    log_product = factorise(C, z, m)
    return half_square(z, m) + log_product + m * LOG_SQRT_2PI


@kernel
def load_held(block, active, g):
    """C = chol(M_JJ + Λ_J), z = C⁻¹ρ_J with the rest of P held where it is (HERE)."""
    C, z = active.C, active.group[Z]
    m = block.gates[START, g + 1] - block.gates[START, g]
    p = block.gates[PAIR_START, g]
    for a in range(m):
        j = block.members[block.gates[START, g] + a]
        C[a, a] = active.diagonal[j] + block.coefficients[LAMBDA, j]
        z[a] = held_slope(block, active, j)
        for b in range(a + 1, m):
            C[b, a] = active.pair[PAIR_M, p]
            p += 1
    log_product = factorise(C, z, m)
    return half_square(z, m) - log_product + m * LOG_SQRT_2PI


@kernel
def held_slope(block, active, j):
    """Return r_j + λ_j − M_jQ w_Q, Q the weights of P that are not of j's gate."""
    total = block.coefficients[R, j] + block.coefficients[LAM, j]
    for a in range(active.counts[SIZE]):
        if block.gate[active.P[a]] != block.gate[j]:
            total -= active.rows[active.slots[SLOT, a], j] * active.seats[HERE, a]
    return total


@kernel
def solve_factor(C, z, m):
    """Z ← C⁻¹z."""
    for a in range(m):
        for b in range(a):
            z[a] -= C[a, b] * z[b]
        z[a] /= C[a, a]


@kernel
def solve_transposed(C, z, m):
    """Z ← C⁻ᵀz."""
    for a in range(m - 1, -1, -1):
        for b in range(a + 1, m):
            z[a] -= C[b, a] * z[b]
        z[a] /= C[a, a]


@kernel
def add_noise(stream, z, m):
    """Z += N(0, I)."""
    for a in range(m):
        z[a] += normal(stream)
