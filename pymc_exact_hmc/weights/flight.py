"""The motion of the weights in P between crossings, with reflections at their bounds.

With mass matrix Σ_P⁻¹ every weight swings about its mean, and the distance c of a weight
from one of its bounds, with c∞ that of its mean, is

    c(t) = c∞ + (c − c∞) cos t + ċ sin t.

With T = tan(t/2) the bound is met where c + 2ċT + (2c∞ − c)T² = 0, so the earliest of many
contacts is found without an arctangent. There the velocity is reflected in the metric of
Σ_P: v ← v − 2 (v_i/Σ_ii) Σ_·i.
"""

from __future__ import annotations

import math

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.weights.active import (
    CEILING,
    CONTACTS,
    FLOOR,
    HERE,
    MU,
    SIZE,
    SPEED,
    U,
    V,
    W,
)
from pymc_exact_hmc.weights.normal import normal

# Places in ``Active.clock``: time at which the flight set out, time and seat of the next
# contact (negative: none, but the flight must set out anew).
ORIGIN, CONTACT, WALL = range(3)

# A little less than π, where tan(t/2) ends.
_LONGEST = 3.0

MOST_CONTACTS = 10_000_000
"""Contacts in one call after which it is given up; a valid call has needed 3 367."""


@kernel
def contact_tangent(c, speed, c_mean):
    """Return tan(t/2) of the first contact 0 ≤ t < π; infinite if there is none."""
    q = 2.0 * c_mean - c
    discriminant = speed * speed - c * q
    if discriminant < 0.0:
        return np.inf
    root = math.sqrt(discriminant)
    if q < 0.0 and speed > 0.0:
        return (speed + root) / -q
    return c / (root - speed) if root > speed else np.inf


@kernel
def find_contact(seats, k, clock):
    """Find the next contact of the first k seats."""
    mu, w, v = seats[MU], seats[W], seats[V]
    earliest = np.inf
    clock[WALL] = -1.0
    for a in range(k):
        lower, upper = seats[FLOOR, a], seats[CEILING, a]
        T = np.inf
        if lower > -np.inf:
            T = contact_tangent(w[a] - lower, v[a], mu[a] - lower)
        if upper < np.inf:
            T = min(T, contact_tangent(upper - w[a], -v[a], upper - mu[a]))
        if earliest > T:
            earliest, clock[WALL] = T, a
    wait = 2.0 * math.atan(earliest) if earliest < np.inf else _LONGEST
    clock[CONTACT] = clock[ORIGIN] + wait


@kernel
def look(seats, k, t):
    """Compute position and velocity t after setting out, before the next contact."""
    mu, w, v, here, speed = seats[MU], seats[W], seats[V], seats[HERE], seats[SPEED]
    cos, sin = math.cos(t), math.sin(t)
    for a in range(k):
        x = w[a] - mu[a]
        speed[a] = v[a] * cos - x * sin
        # A weight that rounding puts outside its bounds would never come back.
        place = max(mu[a] + x * cos + v[a] * sin, seats[FLOOR, a])
        here[a] = min(place, seats[CEILING, a])


@kernel
def set_out(seats, k, clock, time):
    """Start anew from HERE at ``time``."""
    for a in range(k):
        seats[W, a] = seats[HERE, a]
        seats[V, a] = seats[SPEED, a]
    clock[ORIGIN] = time
    find_contact(seats, k, clock)


@kernel
def fly(seats, Sigma, clock, count, time):
    """Pass every contact before ``time`` and look around there."""
    k = count[SIZE]
    while clock[CONTACT] <= time and count[CONTACTS] < MOST_CONTACTS:
        now = clock[CONTACT]
        look(seats, k, now - clock[ORIGIN])
        if clock[WALL] >= 0.0:
            reflect(seats, Sigma, k, int(clock[WALL]))
            count[CONTACTS] += 1
        set_out(seats, k, clock, now)
    look(seats, k, time - clock[ORIGIN])


@kernel
def reflect(seats, Sigma, k, a):
    """Put the weight in seat a on the bound it moves to, and reflect the velocity there."""
    here, speed = seats[HERE], seats[SPEED]
    here[a] = seats[FLOOR, a] if speed[a] < 0.0 else seats[CEILING, a]
    old = speed[a]
    factor = 2.0 * old / Sigma[a, a]
    for b in range(k):
        speed[b] -= factor * Sigma[a, b]
    speed[a] = -old


@kernel
def draw_gaussian(stream, Sigma, C, noise, k, out):
    """Draw from N(0, Σ) with a Cholesky factor of Σ."""
    for a in range(k):
        noise[a] = normal(stream)
        out[a] = 0.0
        pivot = Sigma[a, a]
        for b in range(a):
            entry = Sigma[a, b]
            for d in range(b):
                entry -= C[a, d] * C[b, d]
            # The diagonal holds the inverse: one division for each weight.
            C[a, b] = entry * C[b, b]
            out[a] += C[a, b] * noise[b]
            pivot -= C[a, b] * C[a, b]
        root = math.sqrt(max(pivot, 0.0))
        C[a, a] = 1.0 / root if root > 0.0 else 0.0
        out[a] += root * noise[a]


@kernel
def take_off(stream, P, seats, Sigma, factor, clock, count, w):
    """Start a flight at w with a fresh velocity."""
    k = count[SIZE]
    for a in range(k):
        seats[W, a] = w[P[a]]
    draw_gaussian(stream, Sigma, factor, seats[U], k, seats[V])
    clock[ORIGIN] = 0.0
    count[CONTACTS] = 0
    find_contact(seats, k, clock)
