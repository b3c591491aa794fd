"""The paper's trajectory of y, s and w together, in plain NumPy, with all that happens on it.

The compiled kernel keeps the energies and hit times of the walls only. Here y moves in real
time beside w, and every leg between two events is kept, as a reference and to be plotted. With
A(s) = GMG + Λ, b(s) = Gr, G = diag(s), and mass A(s) for w, the Hamiltonian is

    H = ½(y'y + q'q) + ½w'Aw − b'w + ½v'Av + ½ log|A| − s'logit(a),

y swings about 0 and w about A⁻¹b. At y_j = 0 the coordinate crosses if ½q_j² pays for the change
of the rest, with w and the momentum Av unchanged, and bounces if not. At a bound of w_i the
velocity is reflected: v ← v − 2 (v_i/Σ_ii) Σ_·i, Σ = A⁻¹.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
CROSSING, BOUNCE, REFLECTION = "crossing", "bounce", "reflection"
_SAME = 1e-9


class Regression(NamedTuple):
    """Weights with an indicator each: likelihood exp(−½w'Mw + r'w) of those that are on."""

    M: Matrix
    r: Vector
    Lambda: Vector
    log_odds: Vector
    lower: Vector
    upper: Vector

    def precision(self, s: Vector) -> Matrix:
        """Return A(s)."""
        return np.asarray(s[:, None] * self.M * s + np.diag(self.Lambda))

    def energy(self, s: Vector, w: Vector, momentum: Vector) -> float:
        """Return what (s, w) contribute to the Hamiltonian."""
        A = self.precision(s)
        kinetic = 0.5 * momentum @ np.linalg.solve(A, momentum) + 0.5 * np.linalg.slogdet(A)[1]
        return float(0.5 * w @ A @ w - (s * self.r) @ w + kinetic - s @ self.log_odds)


class Leg(NamedTuple):
    """Motion without events from ``start`` on: s, and (y, q), (w, v) at its start; w's mean."""

    start: float
    s: Vector
    y: Vector
    q: Vector
    w: Vector
    v: Vector
    mu: Vector

    def at(self, time: float) -> Leg:
        """Return the same motion, started anew at a later time."""
        cos, sin = math.cos(time - self.start), math.sin(time - self.start)
        x = self.w - self.mu
        return Leg(
            time,
            self.s,
            self.y * cos + self.q * sin,
            self.q * cos - self.y * sin,
            self.mu + x * cos + self.v * sin,
            self.v * cos - x * sin,
            self.mu,
        )


class Event(NamedTuple):
    """What happened to a ``coordinate`` at ``time``."""

    time: float
    kind: str
    coordinate: int


class Recording(NamedTuple):
    """A trajectory: its block, its legs in order, its events, and when it ends."""

    block: Regression
    legs: list[Leg]
    events: list[Event]
    travel_time: float

    def at(self, time: float) -> Leg:
        """Return the state at a time."""
        starts = [leg.start for leg in self.legs]
        return self.legs[max(0, int(np.searchsorted(starts, time, side="right")) - 1)].at(time)

    def energy(self, time: float) -> float:
        """Return the Hamiltonian at a time."""
        now = self.at(time)
        momentum = self.block.precision(now.s) @ now.v
        swing = 0.5 * (now.y @ now.y + now.q @ now.q)
        return float(swing + self.block.energy(now.s, now.w, momentum))


def record(
    block: Regression, y: Vector, q: Vector, w: Vector, v: Vector, travel_time: float
) -> Recording:
    """Follow the particle from (y, q, w, v), no y_j of which is 0, for ``travel_time``."""
    s = (y > 0).astype(float)
    legs, events = [_leg(block, 0.0, s, y, q, w, v)], list[Event]()
    while True:
        leg = legs[-1]
        last = events[-1] if events else None
        time, kind, i = min(_next_hit(leg, last), _next_contact(block, leg, last))
        if not time <= travel_time:
            return Recording(block, legs, events, travel_time)
        now = leg.at(time)
        if kind == REFLECTION:
            now.w[i] = block.lower[i] if now.v[i] < 0 else block.upper[i]
            Sigma = np.linalg.inv(block.precision(now.s))
            new = now._replace(v=now.v - 2.0 * now.v[i] / Sigma[i, i] * Sigma[:, i])
        else:
            kind, new = _meet_wall(block, now, i)
        legs.append(_leg(block, time, *new[1:6]))
        events.append(Event(time, kind, i))


def _leg(
    block: Regression, start: float, s: Vector, y: Vector, q: Vector, w: Vector, v: Vector
) -> Leg:
    mu = np.asarray(np.linalg.solve(block.precision(s), s * block.r), np.float64)
    return Leg(start, s, y, q, w, v, mu)


def _meet_wall(block: Regression, now: Leg, j: int) -> tuple[str, Leg]:
    """Return what happens at y_j = 0, and the state after it."""
    flipped = now.s.copy()
    flipped[j] = 1.0 - flipped[j]
    momentum = block.precision(now.s) @ now.v
    drop = block.energy(now.s, now.w, momentum) - block.energy(flipped, now.w, momentum)
    kinetic = 0.5 * now.q[j] ** 2 + drop
    y, q = now.y.copy(), now.q.copy()
    y[j] = 0.0
    if not kinetic > 0.0:
        q[j] = -q[j]
        return BOUNCE, now._replace(y=y, q=q)
    q[j] = math.copysign(math.sqrt(2.0 * kinetic), q[j])
    v = np.asarray(np.linalg.solve(block.precision(flipped), momentum), np.float64)
    return CROSSING, now._replace(s=flipped, y=y, q=q, v=v)


def _next_hit(leg: Leg, last: Event | None) -> tuple[float, str, int]:
    """Return the next hit of a wall; a coordinate that has just left its own needs π."""
    sign = 2.0 * leg.s - 1.0
    times = math.pi - np.arctan2(sign * leg.y, sign * leg.q)
    if last is not None and last.kind != REFLECTION:
        times[last.coordinate] = math.pi
    j = int(np.argmin(times))
    return leg.start + float(times[j]), BOUNCE, j


def _next_contact(block: Regression, leg: Leg, last: Event | None) -> tuple[float, str, int]:
    """Return the next contact of a weight with one of its bounds."""
    best = (math.inf, REFLECTION, -1)
    for i in range(leg.w.size):
        just = last is not None and last.kind == REFLECTION and last.coordinate == i
        for side, bound in ((1.0, block.lower[i]), (-1.0, block.upper[i])):
            if math.isfinite(bound):
                c, mean = side * (leg.w[i] - bound), side * (leg.mu[i] - bound)
                time = _first_root(c, side * float(leg.v[i]), mean, skip=just and c < _SAME)
                best = min(best, (leg.start + time, REFLECTION, i))
    return best


def _first_root(c: float, speed: float, mean: float, *, skip: bool) -> float:
    """Return the first t > 0 at which mean + (c − mean) cos t + speed sin t = 0."""
    amplitude = math.hypot(c - mean, speed)
    if amplitude <= abs(mean):
        return math.inf
    phase, turn = math.atan2(speed, c - mean), math.acos(-mean / amplitude)
    roots = [(phase + turn) % (2 * math.pi), (phase - turn) % (2 * math.pi)]
    return min(
        (t for t in roots if not (skip and min(t, 2 * math.pi - t) < _SAME)), default=math.inf
    )


def position_before(s: Vector, first_hit: Vector, energy: Vector) -> tuple[Vector, Vector]:
    """Return (y, q) that reaches its walls first at given times below π, with given energies."""
    amplitude, sign = np.sqrt(2.0 * energy), 2.0 * s - 1.0
    return sign * amplitude * np.sin(first_hit), -sign * amplitude * np.cos(first_hit)


def draw_start(
    block: Regression, s: Vector, w: Vector, rng: np.random.Generator
) -> tuple[Vector, Vector, Vector, Vector]:
    """Draw y given s, and the momenta of y and w: what ``record`` starts from."""
    y = (2.0 * s - 1.0) * np.abs(rng.standard_normal(s.size))
    root = np.linalg.cholesky(np.linalg.inv(block.precision(s)))
    return y, rng.standard_normal(s.size), w, root @ rng.standard_normal(s.size)
