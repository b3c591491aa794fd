"""Crossings of the sheared kernel: the weights of one gate join or leave P.

Under the larger Gaussian w_P | w_J ~ N(μ_P − U w_J, Σ_P) with U = Σ_P M_PJ: the same
covariance, moved along U. So a crossing moves the rest of P along,

    joining:  w_J, v_J drawn;  w_P ← w_P − U w_J,  v_P ← v_P − U v_J;
    leaving:  w_P ← w_P + U w_J,  v_P ← v_P + U v_J;  w_J, v_J dropped,

and does not take place if a weight would end outside its bounds. A *held* crossing leaves
w_P where it is and moves only v_P.
"""

from __future__ import annotations

import math

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.active import (
    CEILING,
    FLOOR,
    FULL,
    GROUP_V,
    GROUP_W,
    HERE,
    SHIFT_V,
    SHIFT_W,
    SIZE,
    SLOT,
    SPEED,
    U,
    Z,
)
from pymc_exact_hmc.weights.block import LAMBDA, LOWER, SOLE, START, UPPER
from pymc_exact_hmc.weights.collapsed import switch_gate
from pymc_exact_hmc.weights.groups import (
    add_noise,
    held_slope,
    load_closed,
    load_held,
    load_open,
    solve_factor,
    solve_transposed,
)
from pymc_exact_hmc.weights.normal import normal
from pymc_exact_hmc.weights.truncated_draw import draw_truncated


@kernel
def try_joining(block, active, g, held, stream):
    """Open gate g at HERE; return whether that was feasible."""
    k, seats, group = active.counts[SIZE], active.seats, active.group
    first, m = block.gates[START, g], block.gates[START, g + 1] - block.gates[START, g]
    if k + m > active.P.size:
        active.counts[FULL] = 1
        return False
    draw_group(block, active, g, held, stream)
    for i in range(m):
        j = block.members[first + i]
        if not block.coefficients[LOWER, j] <= group[GROUP_W, i] <= block.coefficients[UPPER, j]:
            return False
    shift_by_rows(block, active, g, group[GROUP_W], seats[SHIFT_W])
    shift_by_rows(block, active, g, group[GROUP_V], seats[SHIFT_V])
    if not shift_if_feasible(seats, k, held):
        return False
    for i in range(m):
        seats[HERE, k + i], seats[SPEED, k + i] = group[GROUP_W, i], group[GROUP_V, i]
    switch_gate(block, active, g, True)
    return True


@kernel
def try_leaving(block, active, g, held):
    """Close gate g at HERE; return whether that was feasible."""
    k, seats, group = active.counts[SIZE], active.seats, active.group
    first, m = block.gates[START, g], block.gates[START, g + 1] - block.gates[START, g]
    for i in range(m):
        a = active.place[block.members[first + i]]
        group[GROUP_W, i], group[GROUP_V, i] = seats[HERE, a], seats[SPEED, a]
    shift_by_covariance(block, active, g, group[GROUP_W], seats[SHIFT_W])
    shift_by_covariance(block, active, g, group[GROUP_V], seats[SHIFT_V])
    for i in range(m):
        # Those that leave have no bounds to keep.
        seats[SHIFT_W, active.place[block.members[first + i]]] = 0.0
    if not shift_if_feasible(seats, k, held):
        return False
    switch_gate(block, active, g, False)
    return True


@kernel
def draw_group(block, active, g, held, stream):
    """Draw the weights and velocities of a gate that is about to open."""
    C, z, w, v = active.C, active.group[Z], active.group[GROUP_W], active.group[GROUP_V]
    m = block.gates[START, g + 1] - block.gates[START, g]
    j = block.gates[SOLE, g]
    if j >= 0:
        D, rho = active.D[j], active.rho[j]
        v[0] = normal(stream) / math.sqrt(D)
        if held:
            D = active.diagonal[j] + block.coefficients[LAMBDA, j]
            rho = held_slope(block, active, j)
        lower, upper = block.coefficients[LOWER, j], block.coefficients[UPPER, j]
        w[0] = draw_truncated(stream, D, rho, lower, upper)
    elif m > 0:
        load_closed(block, active, g)
        for a in range(m):
            v[a] = normal(stream)
        solve_transposed(C, v, m)
        if held:
            load_held(block, active, g)
        add_noise(stream, z, m)
        solve_transposed(C, z, m)
        for a in range(m):
            w[a] = z[a]


@kernel
def shift_by_rows(block, active, g, x, shift):
    """Shift = −Σ_P M_PJ x_J, for a gate that opens."""
    k, Sigma, u, first = active.counts[SIZE], active.Sigma, active.seats[U], block.gates[START, g]
    for a in range(k):
        row = active.rows[active.slots[SLOT, a]]
        u[a] = 0.0
        for i in range(first, block.gates[START, g + 1]):
            u[a] += row[block.members[i]] * x[i - first]
    for a in range(k):
        shift[a] = 0.0
        for b in range(k):
            shift[a] -= Sigma[a, b] * u[b]


@kernel
def shift_by_covariance(block, active, g, x, shift):
    """Shift = −Σ_PJ Σ_JJ⁻¹ x_J, for a gate that closes."""
    z, first = active.group[Z], block.gates[START, g]
    m = block.gates[START, g + 1] - first
    load_open(block, active, g)
    for a in range(m):
        z[a] = x[a]
    solve_factor(active.C, z, m)
    solve_transposed(active.C, z, m)
    for a in range(active.counts[SIZE]):
        shift[a] = 0.0
        for i in range(m):
            shift[a] -= active.Sigma[a, active.place[block.members[first + i]]] * z[i]


@kernel
def shift_if_feasible(seats, k, held):
    """Apply the shifts, that of w only if not held; return whether w stays inside."""
    here, speed, shift = seats[HERE], seats[SPEED], seats[SHIFT_W]
    if not held:
        for a in range(k):
            if not seats[FLOOR, a] <= here[a] + shift[a] <= seats[CEILING, a]:
                return False
        for a in range(k):
            here[a] += shift[a]
    for a in range(k):
        speed[a] += seats[SHIFT_V, a]
    return True
