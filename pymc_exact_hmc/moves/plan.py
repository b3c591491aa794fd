"""How flights and sweeps share the work of a draw inside a convex region.

Flights forget everything at once where weights are correlated and walls are far; sweeps do
where walls are near (see ``regions.sweeps``). Which pays depends on the model, by factors of
up to 1000 both ways, so a few plans are tried on copies of the weights when a chain starts.
Whatever is chosen, every call leaves the law as it is: a plan is fixed once it is made.
Times are modelled, not measured, so that draws are a function of the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
QUARTER_TURN = 0.5 * np.pi
OVERHEAD = 30e3
"""Nanoseconds that PyMC spends on a draw."""
CALL = 2500.0
"""Nanoseconds that a round takes beside its flights and sweeps."""
SHORTEST_TRIAL, LONGEST_TRIAL = 3e6, 100e6
"""Nanoseconds for which one plan is tried."""
FLIGHTS_TRIED = 25
ALMOST_ALL_SWEEPS, FLIGHTS_ALONE = 2.0, 1.25
"""By how much such plans must be better: a short run makes the slow look faster than it is."""
MOST_COLUMNS = 64
"""Weights that are watched; all if there are fewer."""
MOST_ROUNDS, MOST_SWEEPS = 10, 64
INSURANCE = 0.2
"""Share of the time left to flights where sweeps are better."""


class Plan(NamedTuple):
    """One draw: ``rounds`` of a flight, with this probability, and of sweeps."""

    shortest: float
    longest: float
    flights: float
    sweeps: int
    rounds: int

    @classmethod
    def from_numbers(cls, numbers: list[float]) -> Plan:
        """Return a plan that was kept as an array."""
        shortest, longest, flights, sweeps, rounds = numbers
        return cls(shortest, longest, flights, int(sweeps), int(rounds))


Round = Callable[[Plan, Vector], float]
"""Moves weights by one round of a plan and returns what it cost."""


def flight_cost(n: int, m: int, reflections: int) -> float:
    """Return the modelled nanoseconds of a flight between m walls."""
    return 500.0 + 0.7 * n * n + reflections * (140.0 + 1.4 * (m + n))


def sweep_cost(n: int, entries: int) -> float:
    """Return the modelled nanoseconds of a sweep; ``entries`` of F are not zero."""
    return n * (55.0 + 0.17 * n) + 5.0 * entries


def choose_plan(play: Round, w: Vector, A: Matrix, mu: Vector, sweep: float) -> Plan:
    """Return the plan with most effective draws per second, tried from w on.

    ``sweep`` is the cost of one sweep.
    """
    flights = Plan(QUARTER_TURN, QUARTER_TURN, 1.0, 0, 1)
    both = flights._replace(sweeps=1)
    w = w.copy()
    # From a start far away the first flights are not like the later ones.
    start = [play(both, w) for _ in range(4)]
    flight = max(float(np.mean(start[2:])) - sweep - CALL, 1.0)
    share = int(np.clip(round(flight / sweep), 1, MOST_SWEEPS))
    rare = float(min(INSURANCE / (1 - INSURANCE) * sweep / flight, 1.0))
    halves, sweeps = flights._replace(sweeps=share), both._replace(flights=rare)
    budget = float(max(FLIGHTS_TRIED * flight, SHORTEST_TRIAL))
    if budget > LONGEST_TRIAL:
        return halves
    for _ in range(4):
        play(halves, w)
    with_flights = _try(play, flights, w, A, mu, budget)
    with_sweeps = _try(play, sweeps, w, A, mu, budget)
    if with_sweeps[0] > ALMOST_ALL_SWEEPS * with_flights[0]:
        return with_sweeps[1]
    with_both = _try(play, halves, w, A, mu, budget)
    alone = with_flights[0] > FLIGHTS_ALONE * with_both[0]
    return with_flights[1] if alone else with_both[1]


def _try(
    play: Round, plan: Plan, w: Vector, A: Matrix, mu: Vector, budget: float
) -> tuple[float, Plan]:
    """Return effective draws per nanosecond, and the plan with the number of rounds that pays."""
    spent, places = 0.0, []
    while spent < budget:
        spent += play(plan, w)
        places.append(w.copy())
    x = np.array(places)
    energy = 0.5 * np.sum(((x - mu) @ A) * (x - mu), axis=1)
    watched = x[:, :: 1 + (x.shape[1] - 1) // MOST_COLUMNS]
    share = _effective_share(np.column_stack([watched, energy]))
    cost = spent / len(places)
    # As if correlations died out at one rate, r rounds leave ρ^r; PyMC's own work counts.
    r = np.arange(1, MOST_ROUNDS + 1)
    left = ((1.0 - share) / (1.0 + share)) ** r
    rates = (1.0 - left) / (1.0 + left) / (OVERHEAD + r * cost)
    rounds = int(r[np.argmax(rates)])
    if plan.flights * rounds <= 1.0:
        # The same in one call.
        plan = plan._replace(flights=plan.flights * rounds, sweeps=plan.sweeps * rounds)
        rounds = 1
    return share / cost, plan._replace(rounds=rounds)


def _effective_share(series: Matrix) -> float:
    """Return effective draws per draw of nearly the worst column (Geyer's positive sequence).

    The very worst of many, in a short run, is a matter of chance.
    """
    n = len(series)
    centred = series - series.mean(axis=0)
    transformed = np.fft.rfft(centred, 2 * n, axis=0)
    covariance = np.fft.irfft(np.abs(transformed) ** 2, 2 * n, axis=0)[:n]
    moved = covariance[0] > 0
    correlation = np.where(moved, covariance / np.where(moved, covariance[0], 1.0), 1.0)
    pairs = correlation[0 : n - n % 2 : 2] + correlation[1 : n - n % 2 : 2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    times = 2.0 * np.where(positive, pairs, 0.0).sum(axis=0) - 1.0
    return float(1.0 / max(np.quantile(times, 0.95), 1.0))
