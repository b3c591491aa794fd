"""The motion of all weights of a Gaussian inside a region, with exact hit times.

With mass matrix Σ⁻¹ the weights swing about their mean, w(t) = μ + (w − μ) cos t + v sin t,
and are reflected where a factor would change its sign, v ← v − 2 (n·v)/(n'Σn) Σn with n the
normal there. For linear factors c = f(w) and its speed ċ are followed, with the Gram matrix
FΣF', so that a reflection costs O(m + n); hit times need no arctangent of their own (see
``weights.flight``). Quadratic factors are computed afresh after each contact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.regions.arcs import first_root, load_arc
from pymc_exact_hmc.regions.region import Region, factor_value
from pymc_exact_hmc.regions.sparse import Sparse, along_row, gather_rows, make_sparse

Matrix = npt.NDArray[np.float64]

# Rows of ``Flight.walls``: oriented value, its speed, its value at the mean, ±1, tan(t/2).
C, SPEED, MEAN, SIDE, TANGENT = range(5)
# Rows of ``Flight.particle``.
W, V, X, NORMAL, TURNED = range(5)
# Places in ``Flight.counts``.
CONTACTS, GIVEN_UP = range(2)

# A little less than π, where tan(t/2) ends.
_LONGEST = 3.0
AFRESH = 512
"""Contacts after which the values of linear factors are computed from w again."""
MOST_CONTACTS = 10_000_000
"""Contacts in one flight after which it is given up and the old state is kept."""


class Flight(NamedTuple):
    """Scratch memory; rows, FSigma and gram hold F, FΣ and FΣF' of the linear factors."""

    rows: Sparse
    FSigma: Matrix
    gram: Matrix
    walls: Matrix
    particle: Matrix
    arcs: Matrix
    counts: npt.NDArray[np.int64]


def make_flight(region: Region) -> Flight:
    """Return scratch memory for flights in a region of this size."""
    (m, n), q = region.F.shape, len(region.Q)
    return Flight(
        make_sparse(m - q, n),
        np.zeros((m - q, n)),
        np.zeros((m - q, m - q)),
        np.zeros((5, m)),
        np.zeros((5, n)),
        np.zeros((q, 5)),
        np.zeros(2, np.int64),
    )


@kernel
def measure_walls(region, Sigma, flight):
    """Compute FΣ and FΣF' of the linear factors; most entries of F are zero."""
    rows, FSigma, gram = flight.rows, flight.FSigma, flight.gram
    gather_rows(region.F, rows)
    m, n = FSigma.shape
    FSigma[:] = 0.0
    gram[:] = 0.0
    for k in range(m):
        for e in range(rows.start[k], rows.start[k + 1]):
            for j in range(n):
                FSigma[k, j] += rows.entry[e] * Sigma[rows.place[e], j]
    for k in range(m):
        for e in range(rows.start[k], rows.start[k + 1]):
            for j in range(m):
                gram[j, k] += rows.entry[e] * FSigma[j, rows.place[e]]


@kernel
def orient(region, walls, w):
    """Decide which side of each factor the flight keeps to."""
    for k in range(region.g.size):
        alone = region.product[k] < 0
        walls[SIDE, k] = 1.0 if alone or factor_value(region, k, w) >= 0.0 else -1.0


@kernel
def measure_distances(region, flight, mu, just_hit):
    """Compute value, speed and mean of the linear factors from w and v."""
    walls, rows, w, v = flight.walls, flight.rows, flight.particle[W], flight.particle[V]
    for k in range(flight.gram.shape[0]):
        side = walls[SIDE, k]
        value = along_row(rows, k, w, region.g[k])
        # A wall that rounding puts behind the particle would never be met again.
        walls[C, k] = 0.0 if k == just_hit else max(side * value, 0.0)
        walls[SPEED, k] = side * along_row(rows, k, v, 0.0)
        walls[MEAN, k] = side * along_row(rows, k, mu, region.g[k])


@kernel
def contact_tangents(c, speed, mean, out, m):
    """Write tan(t/2) of the first contact of every linear factor; infinite if there is none.

    The formulas of ``weights.flight.contact_tangent``, without a branch: several at once.
    """
    for k in range(m):
        q = 2.0 * mean[k] - c[k]
        discriminant = speed[k] * speed[k] - c[k] * q
        root = math.sqrt(discriminant if discriminant > 0.0 else 0.0)
        other = (q < 0.0) & (speed[k] > 0.0)
        over = speed[k] + root if other else c[k]
        under = -q if other else root - speed[k]
        met = (discriminant >= 0.0) & (under > 0.0)
        out[k] = over / under if met else np.inf


@kernel
def next_contact(region, flight, mu, just_hit, longest):
    """Return the wall that is met next and when, −1 if none is met before ``longest``."""
    walls, m = flight.walls, flight.gram.shape[0]
    contact_tangents(walls[C], walls[SPEED], walls[MEAN], walls[TANGENT], m)
    earliest, wall = np.inf, -1
    for k in range(m):
        if earliest > walls[TANGENT, k]:
            earliest, wall = walls[TANGENT, k], k
    wait = 2.0 * math.atan(earliest) if earliest < np.inf else longest
    if not wait <= longest:
        wait, wall = longest, -1
    x, v = flight.particle[X], flight.particle[V]
    for i in range(mu.size):
        x[i] = flight.particle[W, i] - mu[i]
    for q in range(region.Q.shape[0]):
        k = m + q
        floor = 0.0 if k == just_hit else np.inf
        arc, side = flight.arcs[q], walls[SIDE, k]
        load_arc(arc, region.Q[q], region.F[k], region.g[k], mu, x, v, side, floor)
        t = first_root(arc, wait)
        if t < wait or (t == wait and wall < 0):
            wait, wall = t, k
    return wall, wait


@kernel
def advance(flight, mu, t):
    """Let a time t pass in which nothing is met."""
    walls, particle = flight.walls, flight.particle
    cos, sin = math.cos(t), math.sin(t)
    swing(walls[C], walls[SPEED], walls[MEAN], flight.gram.shape[0], cos, sin)
    swing(particle[W], particle[V], mu, mu.size, cos, sin)
    for k in range(flight.gram.shape[0]):
        walls[C, k] = walls[C, k] if walls[C, k] > 0.0 else 0.0


@kernel
def swing(x, speed, mean, n, cos, sin):
    """Rotate places and speeds about their means."""
    for i in range(n):
        offset, old = x[i] - mean[i], speed[i]
        x[i] = mean[i] + offset * cos + old * sin
        speed[i] = old * cos - offset * sin


@kernel
def reflect_linear(flight, k):
    """Reflect the velocity at the linear factor k; O(m + n)."""
    walls, v, m = flight.walls, flight.particle[V], flight.gram.shape[0]
    speed, side = walls[SPEED], walls[SIDE]
    old = speed[k]
    factor = 2.0 * side[k] * old / flight.gram[k, k]
    row, shift = flight.gram[k], flight.FSigma[k]
    for j in range(m):
        speed[j] -= side[j] * factor * row[j]
    for i in range(v.size):
        v[i] -= factor * shift[i]
    walls[C, k], walls[SPEED, k] = 0.0, -old


@kernel
def reflect_quadratic(region, flight, Sigma, k):
    """Reflect the velocity at the quadratic factor k, and measure the speeds again."""
    m, particle = flight.gram.shape[0], flight.particle
    w, v, normal, turned = particle[W], particle[V], particle[NORMAL], particle[TURNED]
    n, form, row = w.size, region.Q[k - m], region.F[k]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += form[i, j] * w[j]
        normal[i] = row[i] + 2.0 * total
    square = speed = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += Sigma[i, j] * normal[j]
        turned[i] = total
        square += total * normal[i]
        speed += normal[i] * v[i]
    if square > 0.0:
        for i in range(n):
            v[i] -= 2.0 * speed / square * turned[i]
    else:
        # The tip of a cone has no normal; going back is a reflection too.
        for i in range(n):
            v[i] = -v[i]
    for j in range(m):
        flight.walls[SPEED, j] = flight.walls[SIDE, j] * along_row(flight.rows, j, v, 0.0)


@kernel
def fly(region, mu, Sigma, flight, time):
    """Move W and V by a time; a flight with too many contacts is given up and flagged."""
    count, m = flight.counts, flight.gram.shape[0]
    count[CONTACTS] = count[GIVEN_UP] = 0
    just_hit, left = -1, time
    measure_distances(region, flight, mu, just_hit)
    while left > 0.0:
        wall, wait = next_contact(region, flight, mu, just_hit, min(left, _LONGEST))
        advance(flight, mu, wait)
        left -= wait
        if wall < 0:
            just_hit = -1
            continue
        just_hit = wall
        count[CONTACTS] += 1
        if count[CONTACTS] >= MOST_CONTACTS:
            count[GIVEN_UP] = 1
            return
        if wall < m:
            reflect_linear(flight, wall)
        else:
            reflect_quadratic(region, flight, Sigma, wall)
        if count[CONTACTS] % AFRESH == 0:
            measure_distances(region, flight, mu, just_hit)
