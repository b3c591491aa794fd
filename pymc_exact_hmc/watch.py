"""Watch a chain and say what the user should know, at next to no cost per draw.

After tuning, every few draws the state is kept; after enough of them it is judged, once. What is
counted anyway, crossings per wall and energy errors, is read and not counted again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pymc.model import Model
from pymc.stats.convergence import SamplerWarning

from pymc_exact_hmc.advice import (
    at_bound_warning,
    blocked_warning,
    correlated_warning,
    energy_warning,
    never_moved_note,
    stuck_warning,
    undefined_warning,
)
from pymc_exact_hmc.dynamics.tally import Tally
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.probabilities import InclusionProbability, inclusion_probabilities

State = npt.NDArray[np.int8]
STUCK_AFTER = 500
JUDGED_AFTER = 500
"""Draws after tuning at which a chain is judged."""
FEWEST = 100
"""Draws without which it is not judged at all."""
KEEP_EVERY = 5
MESSAGES = 5
"""Draws left, at the least, to say what was found: one sentence per draw."""
LARGEST_ERROR = 1e-6
CORRELATED = 0.75
BALANCED = 0.1
"""Share of the draws that must differ from the others for a correlation to mean something."""
COMPARED = 300
NEAR = 0.1
"""Share of its range within which a probability is at a bound that the user has set."""
FEW = 5


class Watch:
    """What has been seen of one chain, and what is still to be said about it."""

    def __init__(self, model: Model, layout: tuple[BinaryVariable, ...]):
        self._names = ", ".join(binary.name for binary in layout)
        self._places = [_Labels(model, binary) for binary in layout]
        self._probabilities = inclusion_probabilities(model, layout)
        self.start(None)

    def start(self, draws: int | None) -> None:
        """Start a chain, the number of whose draws may be known."""
        self._judged_at = JUDGED_AFTER
        if draws is not None and draws < JUDGED_AFTER + MESSAGES:
            self._judged_at = draws - MESSAGES if draws >= FEWEST else -1
        self._draws = self._still = 0
        self._said = {"undefined": False, "stuck": False, "energy": False}
        self._states: list[State] = []
        self._values: list[list[float]] = []
        self._queue: list[SamplerWarning] = []

    def __call__(
        self, s: State, point: Point, tally: Tally, move: Any, *, tuning: bool
    ) -> SamplerWarning | None:
        """Look at the outcome of a draw; return what there is to say, if anything."""
        # Without indicators, as with truncated weights alone, there is none to be stuck.
        self._still = 0 if tally.crossings[0] or not s.size else self._still + 1
        if tally.undefined[0]:
            self._say_once("undefined", undefined_warning, self._names)
        if self._still == STUCK_AFTER and not self._said["undefined"]:
            self._say_once("stuck", stuck_warning, STUCK_AFTER, self._names)
        if abs(move.energy_error) > LARGEST_ERROR:
            self._say_once("energy", energy_warning, move.energy_error, self._names)
        if not tuning and self._draws <= self._judged_at:
            self._keep(s, point, tally, move)
        return self._queue.pop(0) if self._queue else None

    def _say_once(self, topic: str, say: Any, *arguments: Any) -> None:
        if not self._said[topic]:
            self._said[topic] = True
            self._queue.append(say(*arguments))

    def _keep(self, s: State, point: Point, tally: Tally, move: Any) -> None:
        if self._draws == 0:
            self._crossings = tally.per_wall.copy()
            self._blocked = _infeasible(move, s.size)
        if self._draws % KEEP_EVERY == 0:
            self._states.append(s.copy())
            self._values.append([p.read(point) for p in self._probabilities])
        if self._draws == self._judged_at:
            self._judge(tally, move)
        self._draws += 1

    def _judge(self, tally: Tally, move: Any) -> None:
        """Say what can be said of the draws since tuning, and forget them."""
        states = np.stack(self._states)
        moved = (tally.per_wall > self._crossings) | (states != states[0]).any(axis=0)
        blocked = ~moved & (_infeasible(move, moved.size) > self._blocked)
        if blocked.any():
            self._queue.append(blocked_warning(self._draws, self._label(np.flatnonzero(blocked))))
        if not self._said["stuck"]:
            self._note_never_moved(states[0], ~moved & ~blocked)
        pairs = correlated_pairs(states)
        if pairs:
            named = [(self._label([i])[0], self._label([j])[0], r) for i, j, r in pairs]
            self._queue.append(correlated_warning(self._draws, named))
        for p, values in zip(self._probabilities, np.transpose(self._values), strict=True):
            median = float(np.median(values))
            bound = bound_reached(p, median)
            if bound is not None:
                self._queue.append(at_bound_warning(p.name, p.indicators, bound, median))
        self._states, self._values = [], []

    def _note_never_moved(self, s: State, still: npt.NDArray[np.bool_]) -> None:
        on, off = np.flatnonzero(still & (s == 1)), np.flatnonzero(still & (s == 0))
        if off.size > s.size // 2:
            # In a sparse model most indicators stay off: that is no news.
            off = off[:0]
        if on.size + off.size:
            note = never_moved_note(self._draws, self._label(on), self._label(off), s.size)
            self._queue.append(note)

    def _label(self, places: Any) -> list[str]:
        return [next(x[i] for x in self._places if i in x) for i in places]


def _infeasible(move: Any, d: int) -> npt.NDArray[np.int64]:
    """Return how often each crossing was given up because weights would leave their bounds."""
    counts = getattr(move, "infeasible", None)
    return np.zeros(d, np.int64) if counts is None else counts.copy()


def correlated_pairs(states: State) -> list[tuple[int, int, float]]:
    """Return the pairs of indicators with extreme correlations, the most extreme first."""
    share = states.mean(axis=0)
    minority = np.minimum(share, 1.0 - share)
    places = np.argsort(-minority, kind="stable")[:COMPARED]
    places = np.sort(places[minority[places] >= BALANCED])
    x = states[:, places] - share[places]
    x /= np.sqrt((x**2).sum(axis=0))
    r = np.triu(x.T @ x, 1)
    first, second = np.nonzero(np.abs(r) >= CORRELATED)
    found = [
        (int(places[i]), int(places[j]), float(r[i, j])) for i, j in zip(first, second, strict=True)
    ]
    return sorted(found, key=lambda pair: -abs(pair[2]))


def bound_reached(p: InclusionProbability, median: float) -> float | None:
    """Return the bound that a probability is at, if any.

    Near 0 (or 1) it is if not even one of its indicators is expected to be on (or off); near a
    bound that the user has set, if it spends half of its time in the last tenth of its range.
    """
    if p.count < FEW:
        return None
    for bound, distance in ((p.lower, median - p.lower), (p.upper, p.upper - median)):
        natural = bound in (0.0, 1.0)
        limit = 1.0 / p.count if natural else NEAR * (p.upper - p.lower)
        if distance < limit:
            return bound
    return None


class _Labels:
    """Names of the entries of a variable by their place in s, made when asked for."""

    def __init__(self, model: Model, binary: BinaryVariable):
        dims = model.named_vars_to_dims.get(binary.name) or ()
        coords = [model.coords.get(dim) for dim in dims]
        self._coords = coords if len(coords) == len(binary.shape) else [None] * len(binary.shape)
        self._binary = binary

    def __contains__(self, place: int) -> bool:
        return bool(self._binary.start <= place < self._binary.stop)

    def __getitem__(self, place: int) -> str:
        binary = self._binary
        if not binary.shape:
            return binary.name
        entry = np.unravel_index(int(place) - binary.start, binary.shape)
        labels = [
            str(i) if names is None else str(names[i])
            for i, names in zip(entry, self._coords, strict=True)
        ]
        return f"{binary.name}[{', '.join(labels)}]"
