"""Move indicators with the weights they switch, where constraints cut the weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from pymc.exceptions import SamplingError
from pymc.model import Model

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.dynamics.transition import fresh_log_density
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.feasible import EmptyRegionError, feasible_start
from pymc_exact_hmc.model.gated_constraints import own_bounds, why_not_fenced
from pymc_exact_hmc.model.natural import PlacedWeight, read_weights, write_weights
from pymc_exact_hmc.model.walls import Walls
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.moves.binary import NO_WEIGHTS, Motion
from pymc_exact_hmc.moves.gated import GatedMove
from pymc_exact_hmc.moves.gram import GramMemory
from pymc_exact_hmc.moves.hyper import HyperMove
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.gated import fenced_transition, make_fence, mark_carried
from pymc_exact_hmc.regions.region import Law, empty_law, set_law, violated
from pymc_exact_hmc.regions.truncated import REJECTED
from pymc_exact_hmc.regions.view import show
from pymc_exact_hmc.weights.active import SINGULAR, make_active
from pymc_exact_hmc.weights.block import LAM, LAMBDA
from pymc_exact_hmc.weights.workspace import Clocks

Vector = npt.NDArray[np.float64]
State = npt.NDArray[np.int8]
HELD = 0.3
"""Probability that a hit leaves the other weights where they are."""


class ConstrainedMove(GatedMove):
    """The sheared kernel with all weights present, inside a region.

    ``chosen`` tells whether the user gave the weights a start.
    """

    def __init__(
        self,
        prior: Coefficients,
        gaussian: WeightCoefficients,
        placed: list[PlacedWeight],
        motion: Motion,
        walls: Walls,
        *,
        half_turns: tuple[float, float],
        hyper: HyperMove | None,
        default: dict[str, np.ndarray] | None,
    ):
        self.walls, self._own = walls, own_bounds(gaussian.block, walls)
        self._fence = make_fence(walls.region, self._own)
        self._default = default
        super().__init__(
            prior, gaussian, placed, motion, "sheared", half_turns=half_turns, hyper=hyper
        )
        self.collapsed = False
        self._clocks = Clocks(fewest=half_turns[0], most=half_turns[1], held=HELD)
        self._active = make_active(gaussian.block, gaussian.n)

    def _make_proxy(self) -> None:
        """Return nothing: the kernel of a region is not asked to be reversible."""

    def _bind(self) -> None:
        self._kernel = None
        self._gram = GramMemory(self.gaussian.block, self._active)
        s, w = np.zeros(self.prior.d, np.int8), np.zeros(self.gaussian.n)
        self._kernel = bind(fenced_transition, *self._arguments(s, w, seed_words(_ANY)))

    def _arguments(self, s: State, w: Vector, stream: Any) -> tuple[Any, ...]:
        block, fence, walls = self.gaussian.block, self._fence, self._walls
        move = (self.prior.energy, block, self._active, fence, walls, self._clocks)
        return (*move, s, w, stream, self.tally, self._attempts)

    def forget(self) -> None:
        """Start a chain: nothing is known about the last state."""
        super().forget()
        self._entered = False

    def settle(self, point: Point, s: State, rng: np.random.Generator) -> Point:
        """Leave a start to the first call."""
        return {}

    def _update_gaussian(self, point: Point) -> None:
        changed = self.gaussian.update(point)
        if changed:
            self._take_gram()
        if self.walls.update(point, self.gaussian.bounds, bounds_changed=changed):
            mark_carried(self.walls.region, self._own, self._fence.carried)
            self._refuse_flat()

    def _refuse_flat(self) -> None:
        """Refuse a wall that has come to meet a weight which nothing else holds."""
        reason = why_not_fenced(self.gaussian.block, self.walls, self._fence.carried)
        if reason:
            raise SamplingError(f"{', '.join(p.label for p in self._placed)}: {reason}.")

    def _move_scales(
        self, point: Point, s: State, w: Vector, rng: np.random.Generator, *, power: float = 1.0
    ) -> Point:
        """Move inclusion probabilities; scales of constrained weights are not moved here."""
        return {} if self.hyper is None else self.hyper(point, s, NO_WEIGHTS, rng)

    def _move(self, point: Point, s: State, w: Vector, rng: np.random.Generator) -> Point:
        if not self._entered:
            self._enter(point, s, w)
            self._entered = True
        self.time = self._clocks.w_time
        self._kernel(*self._arguments(s, w, seed_words(rng)))
        self.rejected += int(self._fence.scratch.counts[REJECTED])
        if self._active.counts[SINGULAR]:
            names = ", ".join(p.name for p in self._placed)
            raise SamplingError(f"{names}: the weights that are on are linearly dependent.")
        moved = {p.name: point[p.name] for p in self._placed}
        write_weights(moved, w, self._placed, *self.gaussian.bounds)
        return moved

    def density_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(s, w | …) up to a constant, as it is believed to be."""
        fence, w = self._fence, read_weights(point, self._placed, *self.gaussian.bounds)
        show(fence.region, fence.shown, self.gaussian.block.gate, s)
        if violated(fence.shown, w) >= 0:
            return [-np.inf]
        return super().density_terms(point, s)

    def scale_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(θ, s | …) up to a constant, as it is believed to be."""
        assert self.hyper is not None
        return self.hyper.density_terms(point, s, NO_WEIGHTS)

    def _enter(self, point: Point, s: State, w: Vector) -> None:
        """Bring a start that nobody chose into the region; refuse one that somebody did."""
        fence, gate, default = self._fence, self.gaussian.block.gate, self._default
        show(fence.region, fence.shown, gate, s)
        wrong = violated(fence.shown, w)
        if wrong < 0:
            return
        if default is None or any(not np.array_equal(point[x], default[x]) for x in default):
            raise SamplingError(
                f"The start violates {self.walls.labels[wrong]}. Give a start that satisfies all "
                "constraints with initvals= in pm.sample, or none, so that one is found."
            )
        error: EmptyRegionError | None = None
        for state in (s.copy(), *_nested_states(s.size)):
            allowed: Any = fresh_log_density(self.prior.energy, state)
            if not allowed > -np.inf:
                continue
            show(fence.region, fence.shown, gate, state)
            try:
                w[:] = feasible_start(fence.shown, self._slabs(), w, self.walls.labels)
            except EmptyRegionError as found:
                error = error or found
                continue
            s[:] = state  # of which the prior's caches are
            return
        names = ", ".join(p.name for p in self._placed)
        raise SamplingError(
            f"There is no start for {names}: {error}. Other states were tried; give one that is "
            "allowed, and weights that fit it, with initvals= in pm.sample."
        ) from error

    def _slabs(self) -> Law:
        coefficients, law = self.gaussian.block.coefficients, empty_law(self.gaussian.n)
        Lambda = np.where(coefficients[LAMBDA] > 0, coefficients[LAMBDA], 1.0)
        set_law(law, np.diag(Lambda), coefficients[LAM])
        return law


def _nested_states(d: int) -> Iterator[State]:
    """Yield all 0, all 1, and what is between: the last k indicators on.

    A constraint may ask for at least one weight, and a prior for at most a few.
    """
    for k in (0, d, *range(1, d)):
        yield np.r_[np.zeros(d - k, np.int8), np.ones(k, np.int8)]


_ANY = np.random.default_rng(0)


def default_weights(
    model: Model, placed: list[PlacedWeight], rvs: list[Any], point: Point
) -> dict[str, np.ndarray] | None:
    """Return the start that PyMC gives to the weights, or None if the user gave one."""
    if any(model.rvs_to_initial_values.get(rv) is not None for rv in rvs):
        return None
    return {p.name: point[p.name] for p in placed}
