"""Move indicators with Gaussian weights integrated out, then draw the weights given them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.dynamics.tally import Tally, clear, empty_tally
from pymc_exact_hmc.dynamics.transition import commit_flip, drop_of_flip, fresh_log_density
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.general import GeneralGaussian
from pymc_exact_hmc.moves.binary import NO_WEIGHTS, Motion
from pymc_exact_hmc.moves.hyper import HyperMove

State = npt.NDArray[np.int8]


class GeneralMove:
    """Trajectories over the collapsed log-density, and an exact draw of w | s.

    The loop over wall hits is plain Python: a hit costs an evaluation of the model's graph
    and a factorisation, beside which the loop costs nothing.
    """

    kernel, collapsed = "general", True

    def __init__(
        self,
        prior: Coefficients,
        gaussian: GeneralGaussian,
        motion: Motion,
        *,
        hyper: HyperMove | None = None,
    ):
        self.prior, self.gaussian, self.motion, self.hyper = prior, gaussian, motion, hyper
        self.tally: Tally = empty_tally(prior.d)
        self.time = self.energy_error = 0.0
        self.reflections = self.rejected = 0
        self.inclusion = None

    def forget(self) -> None:
        """Start a chain: nothing is known about the last state."""
        self.energy_error = 0.0
        if self.hyper is not None:
            self.hyper.forget()

    def settle(self, point: Point, s: State, rng: np.random.Generator) -> Point:
        """Leave a start that nobody chose as it is."""
        return {}

    def __call__(self, point: Point, s: State, rng: np.random.Generator, *, check: bool) -> Point:
        """Move s in place; return the value variables of the weights, drawn given s."""
        scales = {} if self.hyper is None else self.hyper(point, s, NO_WEIGHTS, rng)
        point = point | scales
        self.prior.update(point)
        before = self._fresh(point, s) if check else 0.0
        clear(self.tally)
        fresh_log_density(self.prior.energy, s)
        motion = self.motion
        self.time, n_hits = motion.travel_time.draw(
            rng, motion.augmentation, s.size, motion.trajectories
        )
        for hits in n_hits:
            self._travel(point, s, rng, int(hits))
        if check:
            self.energy_error = self._fresh(point, s) - before - float(self.tally.drop[0])
        return scales | self.gaussian.draw(s, point, rng)

    def density_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(s, w | …) up to a constant, as it is believed to be."""
        own: Any = fresh_log_density(self.prior.energy, s)
        return [float(own), *self.gaussian.joint_terms(s, point)]

    def scale_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(θ, s | …) up to a constant, as it is believed to be."""
        assert self.hyper is not None
        return self.hyper.density_terms(point, s, NO_WEIGHTS)

    def _fresh(self, point: Point, s: State) -> float:
        own: Any = fresh_log_density(self.prior.energy, s)
        return float(own) + self.gaussian.log_density(s, point)

    def _travel(self, point: Point, s: State, rng: np.random.Generator, n_hits: int) -> None:
        """Hit walls in a random cyclic order; each carries its energy from cycle to cycle."""
        order, kinetic = rng.permutation(s.size), rng.standard_exponential(s.size)
        current = self.gaussian.log_density(s, point)
        for k in range(n_hits):
            j = order[k % s.size]
            drop = drop_of_flip(self.prior.energy, s, j)
            if drop == -np.inf:
                continue
            s[j] ^= 1
            proposed = self.gaussian.log_density(s, point)
            drop += proposed - current
            if kinetic[k % s.size] + drop > 0.0:
                commit_flip(self.prior.energy, s, j)
                kinetic[k % s.size] += drop
                current = proposed
                self._count(j, drop)
            else:
                s[j] ^= 1
                self.tally.undefined[0] += np.isnan(drop)
        self.tally.hits[0] += n_hits

    def _count(self, j: int, drop: float) -> None:
        self.tally.crossings[0] += 1
        self.tally.per_wall[j] += 1
        self.tally.drop[0] += drop
