"""Move the indicators of a block that has no weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.augmentations import Augmentation
from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.dynamics.tally import Tally, clear, empty_tally
from pymc_exact_hmc.dynamics.transition import fresh_log_density, make_workspace, transition
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.moves.hyper import HyperMove
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.travel_time import TravelTime

NO_WEIGHTS = np.zeros(0)


class Motion(NamedTuple):
    """How trajectories are made: the law of y, how long they are, and how many per draw."""

    augmentation: Augmentation
    travel_time: TravelTime
    trajectories: int


class BinaryMove:
    """Trajectories over the energy of the indicators, at the point's other variables."""

    def __init__(
        self, coefficients: Coefficients, motion: Motion, *, hyper: HyperMove | None = None
    ):
        self.coefficients, self.motion, self.hyper = coefficients, motion, hyper
        d = coefficients.d
        self.tally: Tally = empty_tally(d)
        self.time = self.energy_error = 0.0
        self.reflections = self.rejected = 0
        self.inclusion = None
        self._workspace = make_workspace(d)
        self._bind()
        self.forget()

    def _bind(self) -> None:
        """Compile, in this process: forked chains inherit the machine code."""
        motion, energy = self.motion, self.coefficients.energy
        s, stream = np.zeros(self.coefficients.d, np.int8), seed_words(np.random.default_rng(0))
        rest = (0.0, np.zeros(1, np.int64), self._workspace, self.tally)
        self._transition = bind(transition, motion.augmentation, energy, s, stream, *rest)
        self._fresh_log_density = bind(fresh_log_density, energy, s)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out machine code, which belongs to this process, and what is in caches."""
        code = {"_transition": None, "_fresh_log_density": None}
        return {**self.__dict__, **code, "_last_state": b""}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Compile again, or read from disk, in the new process."""
        self.__dict__.update(state)
        self._bind()

    def forget(self) -> None:
        """Start a chain: nothing is known about the last state."""
        self.energy_error = 0.0
        self._last_state = b""
        if self.hyper is not None:
            self.hyper.forget()

    def expire(self) -> None:
        """Have the caches computed afresh at the next call: coefficients have changed."""
        self._last_state = b""

    def settle(self, point: Point, s: npt.NDArray[np.int8], rng: np.random.Generator) -> Point:
        """Leave a start that nobody chose as it is."""
        return {}

    def __call__(
        self, point: Point, s: npt.NDArray[np.int8], rng: np.random.Generator, *, check: bool
    ) -> Point:
        """Move s in place; return the hyperparameters, moved before it.

        ``check`` computes the caches afresh and measures the energy error.
        """
        scales = {} if self.hyper is None else self.hyper(point, s, NO_WEIGHTS, rng)
        point = point | scales
        changed = self.coefficients.update(point)
        before = 0.0
        if changed or check or s.tobytes() != self._last_state:
            before = self._fresh_log_density(self.coefficients.energy, s)
        motion = self.motion
        self.time, n_hits = motion.travel_time.draw(
            rng, motion.augmentation, s.size, motion.trajectories
        )
        self._travel(s, rng, n_hits)
        if check:
            gained = self._fresh_log_density(self.coefficients.energy, s) - before
            self.energy_error = float(gained - self.tally.drop[0])
        self._last_state = s.tobytes()
        return scales

    def density_terms(self, point: Point, s: npt.NDArray[np.int8]) -> list[float]:
        """Return log p(s | …) up to a constant, as it is believed to be; s is then in caches."""
        return [float(self._fresh_log_density(self.coefficients.energy, s))]

    def scale_terms(self, point: Point, s: npt.NDArray[np.int8]) -> list[float]:
        """Return terms of log p(θ, s | …) up to a constant, as it is believed to be."""
        assert self.hyper is not None
        return self.hyper.density_terms(point, s, NO_WEIGHTS)

    def _travel(
        self, s: npt.NDArray[np.int8], rng: np.random.Generator, n_hits: npt.NDArray[np.int64]
    ) -> None:
        clear(self.tally)
        self._transition(
            self.motion.augmentation,
            self.coefficients.energy,
            s,
            seed_words(rng),
            self.time,
            n_hits,
            self._workspace,
            self.tally,
        )
