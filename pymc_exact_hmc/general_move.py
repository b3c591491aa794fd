"""Move indicators with Gaussian weights integrated out, then draw the weights given them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.binary_move import BinaryMove, Motion
from pymc_exact_hmc.dynamics.tally import Tally
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.general import GeneralGaussian


class GeneralMove:
    """A binary move over the collapsed log-density, and an exact draw of w | s."""

    kernel, collapsed = "general", True
    hyper = None

    def __init__(self, coefficients: Coefficients, gaussian: GeneralGaussian, motion: Motion):
        self._binary, self.gaussian = BinaryMove(coefficients, motion), gaussian
        self.reflections = 0
        self.inclusion = None

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

    def settle(self, point: Point, s: npt.NDArray[np.int8], rng: np.random.Generator) -> Point:
        """Leave a start that nobody chose as it is."""
        return {}

    def __call__(
        self, point: Point, s: npt.NDArray[np.int8], rng: np.random.Generator, *, check: bool
    ) -> Point:
        """Move s in place; return the value variables of the weights, drawn given s."""
        self._binary(point, s, rng, check=check)
        return self.gaussian.draw(s, point, rng)
