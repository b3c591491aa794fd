"""Move indicators that switch the priors of weights, which are integrated out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.dynamics.tally import Tally
from pymc_exact_hmc.dynamics.transition import fresh_log_density
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.natural import PlacedWeight, read_weights, write_weights
from pymc_exact_hmc.model.switched import SwitchedCoefficients
from pymc_exact_hmc.moves.binary import BinaryMove, Motion
from pymc_exact_hmc.moves.hyper import HyperMove
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.switched import draw_switched

State = npt.NDArray[np.int8]


class SwitchedMove:
    """A binary move over the collapsed log-density, and an exact draw of w | s."""

    kernel, collapsed = "general", True
    inclusion = None

    def __init__(
        self,
        prior: Coefficients,
        switched: SwitchedCoefficients,
        placed: list[PlacedWeight],
        motion: Motion,
        *,
        hyper: HyperMove | None = None,
    ):
        prior.add(switched.energy)
        self._binary, self.switched = BinaryMove(prior, motion, hyper=hyper), switched
        self.hyper, self._placed = hyper, placed
        self.reflections = self.rejected = 0
        self._bounds = np.full(switched.n, -np.inf), np.full(switched.n, np.inf)
        self._bind()

    def _bind(self) -> None:
        stream = seed_words(np.random.default_rng(0))
        self._draw = bind(draw_switched, self.switched.energy, stream, np.zeros(self.switched.n))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out machine code, which belongs to this process."""
        return {**self.__dict__, "_draw": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Compile again, or read from disk, in the new process."""
        self.__dict__.update(state)
        self._bind()

    @property
    def tally(self) -> Tally:
        """The counters of the last call."""
        return self._binary.tally

    @property
    def time(self) -> float:
        """The travel time of the last call."""
        return self._binary.time

    @property
    def energy_error(self) -> float:
        """The energy error when last checked."""
        return self._binary.energy_error

    def forget(self) -> None:
        """Start a chain: nothing is known about the last state."""
        self._binary.forget()

    def settle(self, point: Point, s: State, rng: np.random.Generator) -> Point:
        """Leave a start that nobody chose as it is."""
        return {}

    def density_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(s, w | …) up to a constant, as it is believed to be."""
        prior = self._binary.density_terms(point, s)
        integrated: Any = fresh_log_density(self.switched.energy, s)
        w = read_weights(point, self._placed, *self._bounds)
        return [*prior, -float(integrated), *self.switched.joint_terms(s, w)]

    def scale_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(θ, s | …) up to a constant, as it is believed to be."""
        return self._binary.scale_terms(point, s)

    def __call__(self, point: Point, s: State, rng: np.random.Generator, *, check: bool) -> Point:
        """Move s in place; return the value variables of the weights, drawn given s."""
        if self.switched.update(point):
            self._binary.expire()
        scales = self._binary(point, s, rng, check=check)
        w = np.empty(self.switched.n)
        self._draw(self.switched.energy, seed_words(rng), w)
        moved = {p.name: point[p.name] for p in self._placed}
        write_weights(moved, w, self._placed, *self._bounds)
        return scales | moved
