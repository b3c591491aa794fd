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
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.flight import measure_walls
from pymc_exact_hmc.regions.region import empty_law, set_law, violated
from pymc_exact_hmc.regions.truncated import (
    REFLECTIONS,
    REJECTED,
    make_scratch,
    truncated_transition,
)

State = npt.NDArray[np.int8]
LINES = 1
"""Draws along random lines after each flight in a region that is not convex."""


class TruncatedMove:
    """A flight of exact Hamiltonian Monte Carlo inside the region.

    One for each of the ``trajectories`` of a draw.
    """

    kernel, collapsed, hyper, inclusion = "truncated", False, None, None

    def __init__(self, gaussian: TruncatedGaussian, motion: Motion, names: str):
        self.gaussian, self.motion, self._names = gaussian, motion, names
        self.reflections = self.rejected = 0
        self.tally: Tally = empty_tally(0)
        self.time = self.energy_error = 0.0
        region = gaussian.walls.region
        self._law, self._scratch = empty_law(gaussian.n), make_scratch(region)
        self._lines = 0 if region.is_convex else LINES
        self._set_law()
        self._bind()

    def _bind(self) -> None:
        """Compile, in this process: forked chains inherit the machine code."""
        region, stream = self.gaussian.walls.region, seed_words(np.random.default_rng(0))
        rest = (np.zeros(self.gaussian.n), 1.0, self._lines, stream)
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
        shortest, longest = self.motion.travel_time
        region, scratch = self.gaussian.walls.region, self._scratch
        self.reflections = self.rejected = 0
        for _ in range(self.motion.trajectories):
            self.time = shortest + (longest - shortest) * rng.random()
            stream = seed_words(rng)
            self._transition(region, self._law, scratch, w, self.time, self._lines, stream)
            self.reflections += int(scratch.counts[REFLECTIONS])
            self.rejected += int(scratch.counts[REJECTED])
        if check:
            before, after = self._scratch.energy
            self.energy_error = float(after - before)
        return self.gaussian.write(point, w)

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
        flight = self._scratch.flight
        region = self.gaussian.walls.region
        measure_walls(region, self._law.Sigma, flight.FSigma, flight.gram)


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
