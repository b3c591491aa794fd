"""Energies and crossings of the paper's kernel."""

from __future__ import annotations

import math

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.active import (
    CONTACTS,
    FULL,
    GROUP_V,
    GROUP_W,
    HERE,
    PAIR_M,
    SHIFT_V,
    SIZE,
    SLOT,
    SPEED,
    Z,
)
from pymc_exact_hmc.weights.block import (
    LAM,
    LAMBDA,
    LOWER,
    PAIR_START,
    SLAB_LOWER,
    SLAB_UPPER,
    START,
    UPPER,
)
from pymc_exact_hmc.weights.collapsed import switch_gate
from pymc_exact_hmc.weights.flight import MOST_CONTACTS, contact_tangent
from pymc_exact_hmc.weights.groups import (
    half_square,
    held_slope,
    load_closed,
    solve_factor,
    solve_transposed,
)
from pymc_exact_hmc.weights.normal import normal
from pymc_exact_hmc.weights.shear import shift_by_covariance, shift_by_rows
from pymc_exact_hmc.weights.workspace import SLAB_TIME, SLAB_V, SLAB_W


@kernel
def take_off_closed(stream, coefficients, place, w, slab):
    """Start the weights of closed gates at w with fresh velocities."""
    for i in range(w.size):
        if place[i] < 0:
            slab[SLAB_W, i], slab[SLAB_TIME, i] = w[i], 0.0
            slab[SLAB_V, i] = normal(stream) / math.sqrt(coefficients[LAMBDA, i])


@kernel
def fly_alone(coefficients, slab, i, time, count):
    """Move weight i in its slab until ``time``; each one moves on its own, when asked for."""
    lower, upper = coefficients[SLAB_LOWER, i], coefficients[SLAB_UPPER, i]
    mu = coefficients[LAM, i] / coefficients[LAMBDA, i]
    w, v, now = slab[SLAB_W, i], slab[SLAB_V, i], slab[SLAB_TIME, i]
    while now < time and count[CONTACTS] < MOST_CONTACTS:
        T = np.inf
        if lower > -np.inf:
            T = contact_tangent(w - lower, v, mu - lower)
        if upper < np.inf:
            T = min(T, contact_tangent(upper - w, -v, upper - mu))
        t = min(2.0 * math.atan(T), 3.0)
        bounces = t < 3.0 and t <= time - now
        t = min(t, time - now)
        x, cos, sin = w - mu, math.cos(t), math.sin(t)
        w = min(max(mu + x * cos + v * sin, lower), upper)
        v = v * cos - x * sin
        if bounces:
            w = lower if v < 0.0 else upper
            v = -v
            count[CONTACTS] += 1
        now = now + t if t < time - now else time
    slab[SLAB_W, i], slab[SLAB_V, i], slab[SLAB_TIME, i] = w, v, time


@kernel
def land_closed(coefficients, place, slab, time, w, count):
    """End the flights of the weights of closed gates."""
    for i in range(w.size):
        if place[i] < 0:
            fly_alone(coefficients, slab, i, time, count)
            w[i] = slab[SLAB_W, i]


@kernel
def rise_of_opening(block, active, slab, g, time):
    """Return ΔH, infinite if a weight would be outside its bounds; leave w_J, v_J in ``group``."""
    v, z = active.group[GROUP_V], active.group[Z]
    first, m = block.gates[START, g], block.gates[START, g + 1] - block.gates[START, g]
    if m == 0:
        return 0.0
    load_closed(block, active, g)
    rise = 0.0
    for a in range(m):
        j, Lambda = block.members[first + a], block.coefficients[LAMBDA, block.members[first + a]]
        fly_alone(block.coefficients, slab, j, time, active.counts)
        active.group[GROUP_W, a] = slab[SLAB_W, j]
        if not block.coefficients[LOWER, j] <= slab[SLAB_W, j] <= block.coefficients[UPPER, j]:
            return np.inf
        momentum = Lambda * slab[SLAB_V, j]
        z[a] = momentum - row_times_speed(block, active, j)
        rise += math.log(active.C[a, a]) - 0.5 * math.log(Lambda) - 0.5 * momentum**2 / Lambda
    solve_factor(active.C, z, m)
    rise += half_square(z, m)
    solve_transposed(active.C, z, m)
    for a in range(m):
        v[a] = z[a]
    return rise + potential(block, active, g)


@kernel
def rise_of_closing(block, active, g):
    """Return −ΔH of the inverse; leave w_J and the slab velocities in ``group``."""
    w, v, z = active.group[GROUP_W], active.group[GROUP_V], active.group[Z]
    first, m = block.gates[START, g], block.gates[START, g + 1] - block.gates[START, g]
    if m == 0:
        return 0.0
    for a in range(m):
        i = active.place[block.members[first + a]]
        w[a], v[a] = active.seats[HERE, i], active.seats[SPEED, i]
    shift_by_covariance(block, active, g, v, active.seats[SHIFT_V])
    # Left behind by the shift: C = chol(Σ_JJ) and z = Σ_JJ⁻¹ v_J = x.
    fall = potential(block, active, g)
    for a in range(m):
        j, Lambda = block.members[first + a], block.coefficients[LAMBDA, block.members[first + a]]
        if not block.coefficients[SLAB_LOWER, j] <= w[a] <= block.coefficients[SLAB_UPPER, j]:
            return np.inf
        momentum = z[a] + row_times_speed_after(block, active, j)
        fall += 0.5 * z[a] * v[a] - math.log(active.C[a, a]) - 0.5 * math.log(Lambda)
        fall -= 0.5 * momentum**2 / Lambda
        v[a] = momentum / Lambda
    return -fall


@kernel
def potential(block, active, g):
    """Return w_J'M_JQ w_Q + ½w_J'M_JJ w_J − r_J'w_J, Q = P without J."""
    w, total = active.group[GROUP_W], 0.0
    first, m = block.gates[START, g], block.gates[START, g + 1] - block.gates[START, g]
    p = block.gates[PAIR_START, g]
    for a in range(m):
        j = block.members[first + a]
        slope = held_slope(block, active, j) - block.coefficients[LAM, j]
        total += w[a] * (0.5 * active.diagonal[j] * w[a] - slope)
        for b in range(a + 1, m):
            total += active.pair[PAIR_M, p] * w[a] * w[b]
            p += 1
    return total


@kernel
def row_times_speed(block, active, j):
    """M_jP v_P."""
    total = 0.0
    for a in range(active.counts[SIZE]):
        total += active.rows[active.slots[SLOT, a], j] * active.seats[SPEED, a]
    return total


@kernel
def row_times_speed_after(block, active, j):
    """M_jQ (v_Q + shift), Q = P without the weights of j's gate."""
    total = 0.0
    for a in range(active.counts[SIZE]):
        if block.gate[active.P[a]] != block.gate[j]:
            v = active.seats[SPEED, a] + active.seats[SHIFT_V, a]
            total += active.rows[active.slots[SLOT, a], j] * v
    return total


@kernel
def open_gate(block, active, g):
    """Let the weights in ``group`` join P: v_P ← v_P − U v_J."""
    k, seats, group = active.counts[SIZE], active.seats, active.group
    m = block.gates[START, g + 1] - block.gates[START, g]
    if k + m > active.P.size:
        active.counts[FULL] = 1
        return
    shift_by_rows(block, active, g, group[GROUP_V], seats[SHIFT_V])
    for a in range(k):
        seats[SPEED, a] += seats[SHIFT_V, a]
    for i in range(m):
        seats[HERE, k + i], seats[SPEED, k + i] = group[GROUP_W, i], group[GROUP_V, i]
    switch_gate(block, active, g, True)


@kernel
def close_gate(block, active, slab, g, time):
    """Let them leave P: v_P ← v_P + U v_J."""
    seats, group, first = active.seats, active.group, block.gates[START, g]
    for a in range(active.counts[SIZE]):
        seats[SPEED, a] += seats[SHIFT_V, a]
    for i in range(first, block.gates[START, g + 1]):
        j = block.members[i]
        slab[SLAB_W, j], slab[SLAB_V, j] = group[GROUP_W, i - first], group[GROUP_V, i - first]
        slab[SLAB_TIME, j] = time
    switch_gate(block, active, g, False)
