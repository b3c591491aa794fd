"""Move weights that are Gaussian within a region, in a model without indicators."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pymc.exceptions import SamplingError
from pymc.model import Model

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.dynamics.tally import Tally, empty_tally
from pymc_exact_hmc.model.data import Data
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.feasible import EmptyRegionError, feasible_start
from pymc_exact_hmc.model.truncated_gaussian import TruncatedGaussian
from pymc_exact_hmc.moves.binary import Motion
from pymc_exact_hmc.moves.plan import CALL, Plan, choose_plan, flight_cost, sweep_cost
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.region import empty_law, set_law, violated
from pymc_exact_hmc.regions.truncated import (
    REFLECTIONS,
    REJECTED,
    make_scratch,
    measure_region,
    truncated_transition,
)

State = npt.NDArray[np.int8]
Vector = npt.NDArray[np.float64]
LINES = 1
"""Draws along random lines after each flight in a region that is not convex."""


REPLAN = (64, 256)
"""Calls during tuning at which a plan is made again if other variables change the law."""


class TruncatedMove:
    """Flights of exact Hamiltonian Monte Carlo inside the region, and sweeps.

    ``automatic`` asks for a plan; otherwise a draw is as many flights as there are
    ``trajectories`` in ``motion``. ``calls`` is the number of calls before this one.
    """

    kernel, collapsed, hyper, inclusion = "truncated", False, None, None

    def __init__(
        self, gaussian: TruncatedGaussian, motion: Motion, names: str, *, automatic: bool = False
    ):
        self.gaussian, self.motion, self._names = gaussian, motion, names
        self.reflections = self.rejected = 0
        self.tally: Tally = empty_tally(0)
        self.time = self.energy_error = 0.0
        region = gaussian.walls.region
        self._law, self._scratch = empty_law(gaussian.n), make_scratch(region)
        self._lines = 0 if region.is_convex else LINES
        self.automatic = automatic and region.is_convex and region.g.size > 0
        self.tuning, self.calls = True, 0
        self._set_law()
        self._bind()
        self.forget()

    def _bind(self) -> None:
        """Compile, in this process: forked chains inherit the machine code."""
        region, stream = self.gaussian.walls.region, seed_words(np.random.default_rng(0))
        rest = (np.zeros(self.gaussian.n), 1.0, 0, self._lines, False, stream)
        self._transition = bind(truncated_transition, region, self._law, self._scratch, *rest)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out machine code, which belongs to this process."""
        return {**self.__dict__, "_transition": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Compile again, or read from disk, in the new process."""
        self.__dict__.update(state)
        self._bind()

    def forget(self) -> None:
        """Start a chain."""
        self.energy_error = 0.0
        self.plan: Plan | None = None
        if not self.automatic:
            self.plan = Plan(*self.motion.travel_time, 1.0, 0, self.motion.trajectories)

    def settle(self, point: Point, s: State, rng: np.random.Generator) -> Point:
        """Bring a start that nobody chose into the region, if it is outside."""
        self._update(point)
        w, walls = self.gaussian.read(point), self.gaussian.walls
        try:
            found = feasible_start(walls.region, self._law, w, walls.labels)
        except EmptyRegionError as error:
            raise SamplingError(f"There is no start for {self._names}: {error}.") from error
        return self.gaussian.write(point, found) if found is not w else {}

    def violated(self, point: Point) -> str:
        """Return the name of a constraint that a point violates, or nothing."""
        self._update(point)
        k = violated(self.gaussian.walls.region, self.gaussian.read(point))
        return "" if k < 0 else self.gaussian.walls.labels[k]

    def __call__(self, point: Point, s: State, rng: np.random.Generator, *, check: bool) -> Point:
        """Return the value variables of the weights, moved."""
        self._update(point)
        w = self.gaussian.read(point)
        self._make_plan(w)
        assert self.plan is not None
        self.reflections = self.rejected = 0
        for _ in range(self.plan.rounds):
            self._play(self.plan, w, rng, check=check)
            self.reflections += int(self._scratch.counts[REFLECTIONS])
            self.rejected += int(self._scratch.counts[REJECTED])
        if check:
            before, after = self._scratch.energy
            self.energy_error = float(after - before)
        return self.gaussian.write(point, w)

    def density_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(w | …) up to a constant, as it is believed to be."""
        gaussian, w = self.gaussian, self.gaussian.read(point)
        if violated(gaussian.walls.region, w) >= 0:
            return [-np.inf]
        return [float(gaussian.b @ w), float(-0.5 * w @ gaussian.A @ w)]

    def _play(
        self, plan: Plan, w: Vector, rng: np.random.Generator, *, check: bool = False
    ) -> None:
        """Move w in place by one round of a plan."""
        self.time = 0.0
        if plan.flights == 1.0 or rng.random() < plan.flights:
            self.time = plan.shortest
            if plan.longest > plan.shortest:
                self.time += (plan.longest - plan.shortest) * rng.random()
        region, stream = self.gaussian.walls.region, seed_words(rng)
        rest = (w, self.time, plan.sweeps, self._lines, check, stream)
        self._transition(region, self._law, self._scratch, *rest)

    def _make_plan(self, w: Vector) -> None:
        """Make a plan in the first call, and in some calls of tuning if the law changes."""
        varies = self.gaussian.varies or self.gaussian.walls.varies
        again = self.automatic and self.tuning and varies and self.calls in REPLAN
        if self.plan is not None and not again:
            return
        region, rng = self.gaussian.walls.region, np.random.default_rng(len(w))
        n, m, entries = self.gaussian.n, region.g.size, int(np.count_nonzero(region.F))
        sweep = sweep_cost(n, entries)

        def play(plan: Plan, w: Vector) -> float:
            self._play(plan, w, rng)
            spent = CALL + plan.sweeps * sweep
            if self.time > 0.0:
                spent += flight_cost(n, m, int(self._scratch.counts[REFLECTIONS]))
            return spent

        plan = choose_plan(play, w, self._law.A, self._law.mu, sweep)
        if self.motion.trajectories > 1:
            plan = plan._replace(rounds=self.motion.trajectories)
        self.plan = plan

    def _update(self, point: Point) -> None:
        changed, turned = self.gaussian.update(point)
        if changed:
            self._set_law()
        elif turned:
            self._measure()

    def _set_law(self) -> None:
        try:
            set_law(self._law, self.gaussian.A, self.gaussian.b)
        except np.linalg.LinAlgError as error:
            raise SamplingError(
                f"The precision of {self._names} given the other variables is not positive "
                "definite: an exponential or flat prior needs data that tell its weights apart."
            ) from error
        self._measure()

    def _measure(self) -> None:
        measure_region(self.gaussian.walls.region, self._law, self._scratch)


class TruncatedStart:
    """Decides where a chain starts: where the user said, or else in the region."""

    def __init__(self, model: Model, move: TruncatedMove, default: Point):
        rvs = [w.rv for w in move.gaussian.block.weights]
        self._move, self._data = move, Data(model)
        self._names = [p.name for p in move.gaussian.placed]
        given = any(model.rvs_to_initial_values.get(rv) is not None for rv in rvs)
        self._default = None if given else {name: default[name] for name in self._names}

    def __call__(self, point: Point, s: State, rng: np.random.Generator) -> tuple[State, bool]:
        """Return s, which is empty, and whether the weights may be brought into the region."""
        self._data.check()
        constraint = self._move.violated(point)
        default = self._default
        chosen = default is None or any(
            not np.array_equal(point[name], default[name]) for name in self._names
        )
        if constraint and chosen:
            raise SamplingError(
                f"The start violates {constraint}. Give a start that satisfies all constraints "
                "with initvals= in pm.sample, or none, so that one is found."
            )
        return s, bool(constraint)
