"""Jumps of indicators and weights that a Gaussian in place of the likelihoods proposes.

Held latents remember the state they were drawn at, and a chain that moves only given them is
slow where they say more than the data: for a probit regression with strong predictors one draw
in twenty is effective. Here (s, w) moves instead by the same kernel over prior × proxy, which
is reversible, and the move is taken with probability

    min(1, exp(excess(s', w') − excess(s, w))),   excess = Σ log p(y | η) − proxy

(the surrogate transitions of Liu 2001, section 9.4.3). The proxy is learnt while the chain is
tuned and never changes afterwards.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.dynamics.tally import Tally, clear, empty_tally
from pymc_exact_hmc.dynamics.transition import refresh_caches
from pymc_exact_hmc.likelihoods.proxy import Proxy, adopt, excess, make_proxy, observe
from pymc_exact_hmc.model.latents import LatentRows
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.active import PAIR_M, Active, expire, make_active, remember_gram
from pymc_exact_hmc.weights.block import R
from pymc_exact_hmc.weights.calls import Call, SingularPrecisionError, make_call
from pymc_exact_hmc.weights.grams import DenseGram, DesignGram

State = npt.NDArray[np.int8]
Vector = npt.NDArray[np.float64]
SMOOTH = ("probit", "logistic")
"""Schemes of log-concave likelihoods that depend on nothing but the predictor."""
WINDOWS = (50, 100, 200, 400, 800, 1600)
"""Draws of tuning after which a new proxy is made from those since the last."""
MOST_WORK = 1e10
"""Operations up to which X'HX is formed anew after each window."""
LEAST = 0.02
"""Share of jumps taken below which they are not worth their time after tuning."""


def can_stand_in(gaussian: WeightCoefficients) -> bool:
    """Return whether every likelihood is smooth and has the same rows at every call."""
    rows = sum(latent.target.size for latent in gaussian.latents)
    if isinstance(gaussian.block.gram, DenseGram) and rows * gaussian.n**2 > MOST_WORK:
        return False
    return 0 < len(gaussian.latents) == len(gaussian.rows) and all(
        latent.scheme in SMOOTH and not latent.names and not gaussian.rows[latent.likelihood].varies
        for latent in gaussian.latents
    )


class ProxyMove:
    """Moves s and w in place, or leaves them; ``tally`` counts what the last jump crossed."""

    def __init__(self, call: Call, gaussian: WeightCoefficients):
        self.gaussian, self._call = gaussian, call
        self.tally: Tally = empty_tally(call.walls.order.size)
        rows = [gaussian.rows[latent.likelihood].last for latent in gaussian.latents]
        self.proxies = [make_proxy(part.X, part.offset) for part in rows]
        self._on = np.zeros(gaussian.n, np.int64)
        gram, block = gaussian.block.gram, gaussian.block
        if isinstance(gram, DenseGram):
            gram = DenseGram(np.zeros_like(gram.M), np.ones(1))
        else:
            gram = DesignGram(gram.X, np.zeros_like(gram.row_weights), np.ones(1))
        self._block = block._replace(gram=gram, coefficients=block.coefficients.copy())
        self._active: Active = make_active(self._block)
        self.tuning = True
        self._bind()
        self.forget()

    def _bind(self) -> None:
        state = np.zeros(self.tally.per_wall.size, np.int8), np.zeros(self.gaussian.n), self._on
        gate = self.gaussian.block.gate
        self._excess: list[Any] = []
        self._observe: list[Any] = []
        for latent, proxy in self._parts():
            arguments = (latent.family, proxy, gate, *state)
            self._excess.append(bind(excess, *arguments))
            self._observe.append(bind(observe, *arguments))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out machine code, which belongs to this process."""
        call = self._call._replace(transition=_nothing)
        return {**self.__dict__, "_call": call, "_excess": [], "_observe": []}

    def resume(self, call: Call) -> None:
        """Compile again in a new process, and trust no cache."""
        self._call = call
        # Arrays that blocks share are copied when they are pickled.
        self._block = self._block._replace(log_slab=self.gaussian.block.log_slab)
        self._bind()
        self._adopt()

    def forget(self) -> None:
        """Start a chain: nothing is known."""
        self.counts = np.zeros(4, np.int64)
        for proxy in self.proxies:
            for array in (proxy.slope, proxy.curvature, proxy.sums):
                array[:] = 0.0

    @property
    def memory(self) -> Vector:
        """All that was learnt, as one vector."""
        learnt = [array.ravel() for proxy in self.proxies for array in proxy[:3]]
        return np.concatenate([self.counts.astype(float), *learnt])

    @memory.setter
    def memory(self, values: Vector) -> None:
        self.counts[:] = values[: self.counts.size]
        place = self.counts.size
        for proxy in self.proxies:
            for array in proxy[:3]:
                array.flat[:] = values[place : place + array.size]
                place += array.size
        self._adopt()

    def __call__(self, s: State, w: Vector, rng: np.random.Generator) -> bool:
        """Jump, or stay; return whether (s, w) is another. The prior's caches belong to s."""
        _, made, tried, taken = self.counts
        if not made or (not self.tuning and taken < LEAST * tried):
            return False
        self._bring_slabs()
        before, old = self._total(s, w), (s.copy(), w.copy())
        clear(self.tally)
        self.tally.per_wall[:] = 0
        call = self._call._replace(block=self._block, active=self._active, tally=self.tally)
        try:
            self._active = make_call(call, s, w, seed_words(rng)).active
        except SingularPrecisionError:
            # The proxy may say less than the data about weights whose prior is flat.
            return False
        accepted = math.log(1.0 - rng.random()) < self._total(s, w) - before
        if self.tuning:
            self.counts[2:] += 1, accepted
        if not accepted:
            s[:], w[:] = old
            refresh_caches(call.prior, s)
        return bool(accepted)

    def learn(self, s: State, w: Vector) -> None:
        """Take notice of a draw."""
        if not self.tuning or self.counts[0] >= WINDOWS[-1]:
            return
        for (latent, proxy), look in zip(self._parts(), self._observe, strict=True):
            look(latent.family, proxy, self.gaussian.block.gate, s, w, self._on)
        self.counts[0] += 1
        if self.counts[0] in WINDOWS:
            end = WINDOWS.index(int(self.counts[0]))
            for proxy in self.proxies:
                adopt(proxy, WINDOWS[end] - (WINDOWS[end - 1] if end else 0))
            self.counts[1:] = self.counts[1] + 1, 0, 0
            self._adopt()

    def _adopt(self) -> None:
        """Write the Gaussian of the weights that the proxies make."""
        block, active = self._block, self._active
        h = np.concatenate([proxy.curvature for proxy in self.proxies])
        X = np.concatenate([proxy.X for proxy in self.proxies])
        if isinstance(block.gram, DenseGram):
            block.gram.M[:] = X.T @ (X * h[:, None])
        else:
            block.gram.row_weights[:] = h
        offset = np.concatenate([proxy.offset for proxy in self.proxies])
        self._r = (np.concatenate([proxy.slope for proxy in self.proxies]) - h * offset) @ X
        self._block.coefficients[R] = self._r
        remember_gram(block.gram, block.pairs, active.diagonal, active.pair[PAIR_M], active.slots)
        expire(active)

    def _bring_slabs(self) -> None:
        """Take over the priors of the weights, which may have changed."""
        mine, now = self._block.coefficients, self.gaussian.block.coefficients
        if not (mine[R + 1 :] == now[R + 1 :]).all():
            mine[R + 1 :] = now[R + 1 :]
            expire(self._active)

    def _total(self, s: State, w: Vector) -> float:
        gate, total = self.gaussian.block.gate, 0.0
        for (latent, proxy), run in zip(self._parts(), self._excess, strict=True):
            total += run(latent.family, proxy, gate, s, w, self._on)
        return total

    def _parts(self) -> list[tuple[LatentRows, Proxy]]:
        return list(zip(self.gaussian.latents, self.proxies, strict=True))


def _nothing(*_: Any) -> None:
    """Stand for machine code that is not pickled."""
