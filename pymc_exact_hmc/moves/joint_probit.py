"""The paper's probit regression (section 3.2): z, w and y move jointly.

With z ~ N(offset + X(s∘w), 1) on the side of each response, (w, z) given s is one truncated
Gaussian of n + N weights, those of z always on:

    M = [[X'X, −X'], [−X, I]],   r = (−X'offset, offset).

Holding z instead, as other kernels do, lets gates open and close far more often.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.moves.gated import GatedMove, State, Vector
from pymc_exact_hmc.moves.gram import GramMemory
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.active import expire, make_active
from pymc_exact_hmc.weights.block import Block, R, make_block, price_slabs
from pymc_exact_hmc.weights.calls import Call, make_call
from pymc_exact_hmc.weights.grams import DenseGram
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.workspace import make_walls

MOST_ROWS = 3000
"""Weights and responses together up to which their precision is formed."""


def is_probit(gaussian: WeightCoefficients) -> bool:
    """Return whether every likelihood is a probit."""
    return len(gaussian.latents) == len(gaussian.rows) and all(
        latent.scheme == "probit" for latent in gaussian.latents
    )


class JointProbitMove(GatedMove):
    """Moves s, w and the latents of a probit regression by the paper's kernel.

    The latents are drawn given (s, w) at the start of a call and forgotten at its end.
    """

    def _bind(self) -> None:
        """Compile, in this process: forked chains inherit the machine code."""
        if self.inclusion is not None:
            raise ValueError(
                "inclusion=True needs the latents of a probit likelihood to be held: leave out "
                "kernel='paper'."
            )
        size = self.gaussian.n + sum(latent.target.size for latent in self.gaussian.latents)
        if size > MOST_ROWS:
            raise ValueError(
                f"kernel='paper' would move {size} weights and latents jointly, more than the "
                f"{MOST_ROWS} it is meant for: leave it out."
            )
        self._gram = GramMemory(self.gaussian.block, self._active)
        self._joint = _joint_block(self.gaussian, self.prior.d)
        self._joint_active = make_active(self._joint, size)
        self._joint_walls = make_walls(self.prior.d, size)
        s, w = np.zeros(self.prior.d, np.int8), np.zeros(size)
        call, stream = self._call(None), seed_words(np.random.default_rng(0))
        self._kernel: Any = bind(paper_transition, *call[1:6], s, w, stream, *call[6:])

    def _call(self, transition: Any) -> Call:
        return Call(
            transition,
            self.prior.energy,
            self._joint,
            self._joint_active,
            self._joint_walls,
            self._clocks,
            self.tally,
            self._attempts,
        )

    def _draw_latents(self, point: Point, s: State, w: Vector, rng: np.random.Generator) -> None:
        super()._draw_latents(point, s, w, rng)
        rows = [source.read(point) for source in self.gaussian.rows]
        self._X = np.concatenate([part.X for part in rows])
        self._offset = np.concatenate([part.offset for part in rows])

    def _fly(self, s: State, w: Vector, rng: np.random.Generator) -> None:
        n, joint = w.size, self._joint
        M, X = joint.gram.M, self._X
        if any(source.X_varies for source in self.gaussian.rows):
            _write_gram(M, X)
        joint.coefficients[:, :n] = self.gaussian.block.coefficients
        joint.coefficients[R, :n] = -X.T @ self._offset
        joint.coefficients[R, n:] = self._offset
        price_slabs(joint.coefficients, joint.gates, joint.members, joint.log_slab)
        self._joint_active = make_active(joint, n + X.shape[0])
        whole = np.concatenate([w, *[latent.target for latent in self.gaussian.latents]])
        self.time = self._clocks.w_time
        make_call(self._call(self._kernel), s, whole, seed_words(rng))
        w[:] = whole[:n]

    def _cache_error(self, s: State) -> float:
        """Return 0: the caches of a call are not used by the next."""
        expire(self._active)
        return 0.0


def _joint_block(gaussian: WeightCoefficients, n_gates: int) -> Block:
    """Return the block of weights and latents."""
    y = np.concatenate([latent.family.y for latent in gaussian.latents])
    n, N = gaussian.n, y.size
    nothing = np.zeros(n + N)
    own = np.full(n, np.inf)
    gate = np.concatenate([gaussian.block.gate, np.full(N, -1)])
    block = make_block(
        DenseGram(np.eye(n + N), np.ones(1)),
        nothing,
        np.concatenate([np.ones(n), np.zeros(N)]),
        nothing,
        gate,
        n_gates=n_gates,
        lower=np.concatenate([-own, np.where(y > 0.5, 0.0, -np.inf)]),
        upper=np.concatenate([own, np.where(y > 0.5, np.inf, 0.0)]),
    )
    _write_gram(block.gram.M, np.concatenate([source.last.X for source in gaussian.rows]))
    return block


def _write_gram(M: Vector, X: Vector) -> None:
    n = X.shape[1]
    M[:n, :n] = X.T @ X
    M[n:, :n] = -X
    M[:n, n:] = -X.T
    M[n:, n:] = np.eye(X.shape[0])
