"""Move the indicators together with the Gaussian weights that they switch on and off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from pymc.exceptions import SamplingError
from scipy.special import expit

from pymc_exact_hmc.augmentations import Gaussian
from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.dynamics.tally import Tally, clear, empty_tally
from pymc_exact_hmc.dynamics.transition import (
    fresh_log_density,
    make_workspace,
    refresh_caches,
    transition,
)
from pymc_exact_hmc.energies import Sum
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.natural import PlacedWeight, read_weights, write_weights
from pymc_exact_hmc.model.verify_likelihoods import likelihood_terms
from pymc_exact_hmc.model.verify_weights import gaussian_terms
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.moves.binary import Motion
from pymc_exact_hmc.moves.gram import GramMemory
from pymc_exact_hmc.moves.hyper import HyperMove
from pymc_exact_hmc.moves.proxy import ProxyMove, can_stand_in
from pymc_exact_hmc.random_stream import Stream, seed_words
from pymc_exact_hmc.weights.active import (
    FULL,
    SINGULAR,
    SIZE,
    expire,
    make_active,
)
from pymc_exact_hmc.weights.calls import Call, SingularPrecisionError, make_call
from pymc_exact_hmc.weights.collapsed import Collapsed
from pymc_exact_hmc.weights.conditional import draw_slabs, draw_weights
from pymc_exact_hmc.weights.inclusion import inclusion_log_odds
from pymc_exact_hmc.weights.integrated import integrated_transition
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.refreshing import refresh_active
from pymc_exact_hmc.weights.sheared import sheared_transition
from pymc_exact_hmc.weights.workspace import Clocks, empty_attempts, make_walls

Vector = npt.NDArray[np.float64]
State = npt.NDArray[np.int8]
KERNELS = {"sheared": sheared_transition, "paper": paper_transition}
"""The kernels that move weights, by the name a user gives."""
ANNEALING = np.geomspace(1e-4, 1.0, 40)
"""Powers of the likelihood through which a start that nobody chose is brought."""
MOST_ACTIVE = 400
"""Active weights beyond which a call costs too much to be spent on a start."""
LEAP = 9
FEWEST_TURNS_APART = 0.1
"""How far from a whole number of half turns weights of the paper's kernel must stay."""


class GatedMove:
    """Moves (s, w) by the sheared kernel, by the paper's, or with w integrated out.

    The sheared kernel integrates w out where no weight is truncated. ``inclusion`` keeps, after
    each call, the probability of each indicator given the others and the data.
    """

    def __init__(
        self,
        prior: Coefficients,
        gaussian: WeightCoefficients,
        placed: list[PlacedWeight],
        motion: Motion,
        kernel: str,
        *,
        half_turns: tuple[float, float],
        hyper: HyperMove | None = None,
        inclusion: bool = False,
    ):
        self.prior, self.gaussian, self.motion, self.hyper = prior, gaussian, motion, hyper
        self._placed, self.kernel = placed, kernel
        d, block = prior.d, gaussian.block
        self.collapsed = kernel == "sheared" and not block.is_truncated
        self.tally: Tally = empty_tally(d)
        self.inclusion: Vector | None = np.zeros(d) if inclusion else None
        self._attempts = empty_attempts(d)
        self._walls, self._workspace = make_walls(d, gaussian.n), make_workspace(d)
        self._clocks = _clocks(kernel, half_turns)
        self._active = make_active(block)
        self.time = self.energy_error = 0.0
        self.rejected = 0
        self._bind()
        self.proxy = self._make_proxy()
        self.forget()

    def _make_proxy(self) -> ProxyMove | None:
        """Return jumps that need no latents, where they fit."""
        fits = self.kernel == "sheared" and self._kernel is not None and can_stand_in(self.gaussian)
        return ProxyMove(self._call(self._kernel), self.gaussian) if fits else None

    def _bind(self) -> None:
        """Compile, in this process: forked chains inherit the machine code."""
        self._kernel: Any = None
        self._next: Call | None = None
        self._gram = GramMemory(self.gaussian.block, self._active)
        if isinstance(self.motion.augmentation, Gaussian):
            chosen = integrated_transition if self.collapsed else KERNELS[self.kernel]
            s, w = np.zeros(self.prior.d, np.int8), np.zeros(self.gaussian.n)
            stream = seed_words(np.random.default_rng(0))
            self._kernel = bind(chosen, *self._call(None)[1:6], s, w, stream, *self._call(None)[6:])

    def _call(self, transition: Any) -> Call:
        return Call(
            transition,
            self.prior.energy,
            self.gaussian.block,
            self._active,
            self._walls,
            self._clocks,
            self.tally,
            self._attempts,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out machine code, which belongs to this process."""
        code = ("_kernel", "_next", "_gram")
        return {**self.__dict__, **dict.fromkeys(code)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Compile again, or read from disk, in the new process, and trust no cache."""
        self.__dict__.update(state)
        self._bind()
        if self.proxy is not None:
            self.proxy.resume(self._call(self._kernel))
        self._last_state = b""
        expire(self._active)

    @property
    def reflections(self) -> int:
        """Contacts with the bounds of weights in the last call."""
        return int(self._attempts.contacts[0])

    @property
    def infeasible(self) -> npt.NDArray[np.int64]:
        """Crossings of each wall so far that bounds of weights have prevented."""
        return self._attempts.infeasible

    def forget(self) -> None:
        """Start a chain: nothing is known about the last state."""
        self.energy_error = 0.0
        self._last_state = b""
        self._gram.forget()
        expire(self._active)
        for part in (self.hyper, self.proxy):
            if part is not None:
                part.forget()

    def __call__(self, point: Point, s: State, rng: np.random.Generator, *, check: bool) -> Point:
        """Move s in place; return the value variables of what was moved with it."""
        clear(self.tally)
        self._attempts.contacts[0] = self._attempts.given_up[0] = self.rejected = 0
        # Other augmentations count their trajectories themselves.
        rounds = 1 if self._kernel is None else self.motion.trajectories
        moved: Point = {}
        for _ in range(rounds):
            moved |= self._round(point | moved, s, rng, check=check)
        self.rejected += int(self._attempts.given_up[0])
        return moved

    def _round(self, point: Point, s: State, rng: np.random.Generator, *, check: bool) -> Point:
        """Move everything once."""
        self._update_gaussian(point)
        w = self._read_weights(point)
        jumped = self._jump(point, s, w, rng)
        self._draw_latents(point, s, w, rng)
        scales = self._move_scales(point, s, w, rng)
        point = point | scales
        self._update_prior(point, s, check=check)
        moved = self._move(point, s, w, rng)
        if self.proxy is not None:
            self._learn_from(s, w, jumped=jumped)
        if check:
            self.energy_error = self._cache_error(s)
        self._last_state = s.tobytes()
        return scales | moved

    def _update_prior(self, point: Point, s: State, *, check: bool) -> None:
        if self.prior.update(point) or check or s.tobytes() != self._last_state:
            refresh_caches(self.prior.energy, s)
            self._last_state = s.tobytes()

    def density_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(s, w | …) up to a constant, as it is believed to be.

        Not numbers where the model itself is not precise enough to compare with.
        """
        own: Any = fresh_log_density(self.prior.energy, s)
        w = self.gaussian.units * read_weights(point, self._placed, *self.gaussian.bounds)
        if self.gaussian.latents:
            return [float(own), *likelihood_terms(self.gaussian, s, w, point)]
        return [float(own), *gaussian_terms(self.gaussian.block, self.gaussian.scale, s, w)]

    def scale_terms(self, point: Point, s: State) -> list[float]:
        """Return terms of log p(θ, s, w, data) up to a constant, as it is believed to be.

        Not numbers where scales move the weights too, or reach likelihoods with latents.
        """
        assert self.hyper is not None
        moved = any(p.transform == "interval" for p in self._placed)
        if moved or self.gaussian.latents:
            return [np.nan]
        w = read_weights(point, self._placed, *self.gaussian.bounds)
        return self.hyper.density_terms(point, s, w)

    def _jump(self, point: Point, s: State, w: Vector, rng: np.random.Generator) -> bool:
        """Move (s, w) without latents, if the likelihoods have a proxy."""
        if self.proxy is None:
            return False
        self._update_prior(point, s, check=False)
        jumped = self.proxy(s, w, rng)
        self._last_state = s.tobytes()
        return jumped

    def _learn_from(self, s: State, w: Vector, *, jumped: bool) -> None:
        """Let the proxy learn; count the crossings of a jump beside those of the move."""
        assert self.proxy is not None
        self.proxy.learn(s, w)
        if jumped:
            mine, other = self.tally, self.proxy.tally
            mine.hits[0] += other.hits[0]
            mine.crossings[0] += other.crossings[0]
            mine.per_wall[:] += other.per_wall

    def _move_scales(
        self, point: Point, s: State, w: Vector, rng: np.random.Generator, *, power: float = 1.0
    ) -> Point:
        """Move the hyperparameters and bring the Gaussian of the weights to them."""
        if self.hyper is None:
            return {}
        scales = self.hyper(point, s, w, rng, active=self._active, power=power)
        self.gaussian.settle_at(point | scales)
        self._take_gram()
        if self.kernel == "paper":
            # Weights that are off were integrated out and have no values at the new scales.
            gate, off = self.gaussian.block.gate, np.full(w.size, -1)
            on = np.where((gate < 0) | (s[np.maximum(gate, 0)] == 1), 0, off)
            draw_slabs(seed_words(rng), self.gaussian.block.coefficients, on, w)
        return scales

    def _move(self, point: Point, s: State, w: Vector, rng: np.random.Generator) -> Point:
        """Move s and the weights at the present coefficients."""
        try:
            if self._kernel is None:
                self._move_collapsed(s, w, rng)
            else:
                self._fly(s, w, rng)
        except SingularPrecisionError as error:
            raise SamplingError(f"{', '.join(p.label for p in self._placed)}: {error}.") from error
        if self.inclusion is not None:
            self._write_inclusion(s, w)
        moved = {p.name: point[p.name] for p in self._placed}
        natural = w / self.gaussian.units if self.gaussian.has_units else w
        write_weights(moved, natural, self._placed, *self.gaussian.bounds)
        return moved

    def _fly(self, s: State, w: Vector, rng: np.random.Generator) -> None:
        self.time = self._clocks.w_time
        call = self._next
        if call is None or call.active is not self._active:
            call = self._call(self._kernel)
        self._next = make_call(call, s, w, seed_words(rng))
        self._active = self._next.active

    def _read_weights(self, point: Point) -> Vector:
        """Return the weights of a point, measured in their units."""
        w = read_weights(point, self._placed, *self.gaussian.bounds)
        if not self._last_state:
            self._refuse_outside(w)
        return w * self.gaussian.units if self.gaussian.has_units else w

    def _refuse_outside(self, w: Vector) -> None:
        """Refuse a start that is not within the bounds of the weights."""
        lower, upper = self.gaussian.bounds
        outside = ~((lower <= w) & (w <= upper))
        for p in self._placed:
            if outside[p.start : p.stop].any():
                raise SamplingError(
                    f"{p.label} starts outside the bounds of its prior. Give a start inside, with "
                    "initval= in the model or initvals= in pm.sample."
                )

    def settle(self, point: Point, s: State, rng: np.random.Generator) -> Point:
        """Bring a start that nobody chose near the posterior: anneal the likelihood.

        From a random start with many more predictors than data, single switches would let in
        whatever comes first and explains a little, and could not leave that model again.
        """
        self._update_gaussian(point)
        w = self._read_weights(point)
        moved: Point = {}
        k = 0
        while k < ANNEALING.size:
            power, before = ANNEALING[k], (s.copy(), w.copy())
            self._draw_latents(point | moved, s, w, rng)
            moved |= self._move_scales(point | moved, s, w, rng, power=power)
            self.prior.update(point | moved)
            refresh_caches(self.prior.energy, s)
            self.gaussian.temper(power)
            self._gram.rescale(self.gaussian.block, self._active, power * self.gaussian.scale)
            moved |= self._move(point | moved, s, w, rng)
            self.gaussian.temper(1.0)
            self._gram.rescale(self.gaussian.block, self._active, self.gaussian.scale)
            k += 1
            if k < ANNEALING.size and self._active.counts[SIZE] > MOST_ACTIVE:
                # A prior that lets in hundreds without data: go on where the data count more.
                s[:], w[:] = before
                k = min(k + LEAP, ANNEALING.size - 1)
        return moved

    def _update_gaussian(self, point: Point) -> None:
        if self.gaussian.update(point):
            self._take_gram()

    def _draw_latents(self, point: Point, s: State, w: Vector, rng: np.random.Generator) -> None:
        """Make likelihoods that are not Gaussian so, for this call."""
        if self.gaussian.latents:
            self.gaussian.draw_latents(point, s, w, seed_words(rng))
            self._take_gram()

    def _take_gram(self) -> None:
        self._gram.take(self.gaussian, self._active)

    def _write_inclusion(self, s: State, w: Vector) -> None:
        odds = np.empty(s.size)
        inclusion_log_odds(self.prior.energy, self.gaussian.block, self._active, s, w, odds)
        self.inclusion = expit(odds)

    def _move_collapsed(self, s: State, w: Vector, rng: np.random.Generator) -> None:
        """Run a trajectory of another augmentation over the collapsed energy, then draw w."""
        motion = self.motion
        moved: tuple[npt.NDArray[Any], ...] = (s, *self.tally)
        stream = seed_words(rng)
        start = [array.copy() for array in moved]
        self.time, n_hits = motion.travel_time.draw(
            rng, motion.augmentation, s.size, motion.trajectories
        )
        while not self._travel(s, stream.copy(), n_hits, w):
            for array, old in zip(moved, start, strict=True):
                array[:] = old
            refresh_caches(self.prior.energy, s)
            self._active = make_active(self.gaussian.block, 2 * self._active.P.size)

    def _travel(self, s: State, stream: Stream, n_hits: Any, w: Vector) -> bool:
        """Move s over the collapsed energy and draw w; return whether P had seats enough."""
        active, block = self._active, self.gaussian.block
        refresh_active(block, active, s)
        if active.counts[FULL]:
            return False
        energy = Sum(self.prior.energy, Collapsed(block, active))
        motion = self.motion
        transition(
            motion.augmentation, energy, s, stream, self.time, n_hits, self._workspace, self.tally
        )
        if active.counts[SINGULAR]:
            raise SingularPrecisionError("the weights that are on are linearly dependent")
        if active.counts[FULL]:
            return False
        draw_weights(block, active, w, stream)
        return True

    def _cache_error(self, s: State) -> float:
        """Return the largest error of a cached log-odds; leave the caches fresh."""
        active = self._active
        before = _log_odds(active.D, active.rho)
        refresh_active(self.gaussian.block, active, s)
        return float(np.max(np.abs(_log_odds(active.D, active.rho) - before)))


def _log_odds(D: Vector, rho: Vector) -> Vector:
    result: Vector = 0.5 * rho * rho / D - 0.5 * np.log(D)
    return result


def _clocks(kernel: str, half_turns: tuple[float, float]) -> Clocks:
    fewest, most = half_turns
    if kernel == "paper":
        # One clock for w and y: w travels π while y makes a half turn. Whole half turns would
        # only reflect w at its mean.
        turns = 0.5 * (fewest + most)
        if round(turns) >= 1 and abs(turns - round(turns)) < FEWEST_TURNS_APART:
            turns = round(turns) - 0.5
        return Clocks(w_time=math.pi * turns, fewest=fewest, most=most)
    return Clocks(fewest=fewest, most=most)
