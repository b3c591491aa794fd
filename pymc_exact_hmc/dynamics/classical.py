"""The classical form of the paper in plain NumPy: y and q are real numbers, moved in real time.

The compiled trajectories follow only the energy e_j and the hit times of each wall. Here the
particle itself is followed, slowly, as the reference they are checked against, and to plot.
Equation numbers are those of the paper. ``log_f`` takes s as an array of 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
State = npt.NDArray[np.int8]
LogDensity = Callable[[State], float]


class Event(NamedTuple):
    """A hit of y_wall = 0 at ``time``, and whether the coordinate crossed to the other side."""

    time: float
    wall: int
    crossed: bool


class Trajectory(NamedTuple):
    """Where a particle ends, and what it met on the way."""

    s: State
    y: Vector
    q: Vector
    events: list[Event]


class Motion(NamedTuple):
    """Motion of one coordinate on its own side of the wall, in terms of |y| and q·sign(y).

    ``potential(y)`` is −log p(y | s) up to a constant, ``first_hit(y, q)`` the time to y = 0,
    and ``advance(y, q, t)`` the place and the momentum after a time t before that.
    """

    potential: Callable[[float], float]
    first_hit: Callable[[float, float], float]
    advance: Callable[[float, float, float], tuple[float, float]]


def _gaussian_hit(y: float, q: float) -> float:
    return math.pi - math.atan2(y, q)  # u sin(φ + t) = 0, eq. 13


def _gaussian_advance(y: float, q: float, t: float) -> tuple[float, float]:
    return y * math.cos(t) + q * math.sin(t), q * math.cos(t) - y * math.sin(t)  # eq. 12, 14


def _exponential_hit(y: float, q: float) -> float:
    return q + math.sqrt(q * q + 2.0 * y)  # root of eq. 20; 2q at the wall, eq. 22


def _exponential_advance(y: float, q: float, t: float) -> tuple[float, float]:
    return y + q * t - 0.5 * t * t, q - t  # eq. 20


def _box_hit(y: float, q: float) -> float:
    if q == 0.0:
        return math.inf
    return (2.0 - y) / q if q > 0.0 else -y / q


def _box_advance(y: float, q: float, t: float) -> tuple[float, float]:
    place = y + q * t
    return (2.0 - place, -q) if place > 1.0 else (place, q)


MOTIONS = {
    "gaussian": Motion(lambda y: 0.5 * y * y, _gaussian_hit, _gaussian_advance),  # eq. 11
    "exponential": Motion(lambda y: y, _exponential_hit, _exponential_advance),  # eq. 19
    "box": Motion(lambda y: 0.0, _box_hit, _box_advance),
}
"""The motions by the name of the augmentation."""


def side(s: State) -> Vector:
    """Return the sign of y for each indicator."""
    return np.asarray(2.0 * s - 1.0, dtype=np.float64)


def hamiltonian(augmentation: str, log_f: LogDensity, s: State, y: Vector, q: Vector) -> float:
    """Return H(y, q) = U(y) + q·q/2 (eq. 6 and 7), up to a constant."""
    potential = sum(MOTIONS[augmentation].potential(abs(place)) for place in y)
    return float(potential - log_f(s) + 0.5 * q @ q)


def wall_energies(augmentation: str, y: Vector, q: Vector) -> Vector:
    """Return the kinetic energy with which each coordinate reaches its wall."""
    potential = MOTIONS[augmentation].potential
    return np.array([potential(abs(a)) + 0.5 * b * b for a, b in zip(y, q, strict=True)])


def first_hits(augmentation: str, y: Vector, q: Vector) -> Vector:
    """Return the time at which each coordinate first reaches its wall."""
    hit, sign = MOTIONS[augmentation].first_hit, np.sign(y)
    return np.array([hit(a * e, b * e) for a, b, e in zip(y, q, sign, strict=True)])


def draw_position(augmentation: str, s: State, rng: np.random.Generator) -> Vector:
    """Draw y from p(y | s) (eq. 11, 19)."""
    laws = {
        "gaussian": lambda: np.abs(rng.standard_normal(s.size)),
        "exponential": lambda: rng.standard_exponential(s.size),
        "box": lambda: rng.random(s.size),
    }
    distance: Vector = laws[augmentation]()
    return side(s) * distance


def travel(
    augmentation: str, log_f: LogDensity, y: Vector, q: Vector, travel_time: float
) -> Trajectory:
    """Follow the particle from (y, q), no y_j of which is 0, for ``travel_time``."""
    motion = MOTIONS[augmentation]
    s = (y > 0).astype(np.int8)
    y, q, clock = np.array(y, float), np.array(q, float), np.zeros(y.size)
    next_hit = first_hits(augmentation, y, q)
    events = []
    while next_hit[j := int(np.argmin(next_hit))] <= travel_time:
        time, sign = next_hit[j], side(s)[j]
        _, momentum = motion.advance(sign * y[j], sign * q[j], time - clock[j])
        flipped = s.copy()
        flipped[j] ^= 1
        kinetic = 0.5 * momentum**2 + log_f(flipped) - log_f(s)  # eq. 9 and 10
        crossed = bool(kinetic > 0.0)
        s = flipped if crossed else s
        speed = math.sqrt(2.0 * kinetic) if crossed else abs(momentum)
        y[j], q[j], clock[j] = 0.0, side(s)[j] * speed, time  # eq. 16 and 21
        next_hit[j] = time + motion.first_hit(0.0, speed)
        events.append(Event(float(time), j, crossed))
    for j, sign in enumerate(side(s)):
        place = motion.advance(sign * y[j], sign * q[j], travel_time - clock[j])
        y[j], q[j] = sign * place[0], sign * place[1]
    return Trajectory(s, y, q, events)


def transition(
    augmentation: str,
    log_f: LogDensity,
    y: Vector,
    travel_time: float,
    rng: np.random.Generator,
) -> Trajectory:
    """Draw the momenta and travel: the paper's chain, in which y persists between calls."""
    return travel(augmentation, log_f, y, rng.standard_normal(y.size), travel_time)
