"""The coefficients of the weights' Gaussian, kept at the current values of the rest.

    log p(w | s, …) = −½ w'(D_s M D_s + Λ)w + (D_s r + λ)'w,   M = X'ΩX,   r = X'Ω(y − offset)

What depends on no other random variable is computed once; when only the scale of a single
likelihood changes, M is rescaled and not rebuilt. Likelihoods that are not Gaussian are given
latent variables, drawn at each call, of which y and Ω are functions.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.distributions.continuous import TruncatedNormalRV
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.tensor.random.basic import ExponentialRV, HalfNormalRV

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import Given, Point
from pymc_exact_hmc.model.latents import LatentRows
from pymc_exact_hmc.model.likelihood_rows import LikelihoodRows, Rows
from pymc_exact_hmc.model.noise import classify, keeps_proportions
from pymc_exact_hmc.model.weight_block import WeightBlock, on_natural_weights
from pymc_exact_hmc.random_stream import Stream
from pymc_exact_hmc.weights.block import (
    LAM,
    LAMBDA,
    LOWER,
    SLAB_LOWER,
    SLAB_UPPER,
    UPPER,
    Block,
    R,
    make_block,
    price_slabs,
)
from pymc_exact_hmc.weights.grams import DenseGram, DesignGram
from pymc_exact_hmc.weights.statistics import make_statistics

Tensor: TypeAlias = Variable[Any, Any]
Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
MAX_DENSE_GRAM = 3_000
"""Weights up to which X'X is formed."""


class WeightCoefficients:
    """Holds the Gaussian of the weights; ``update`` brings it to a point of the model.

    The block is that of the weights multiplied by their ``units``.
    The Gram matrix of the block is to be multiplied by ``scale``; ``gram_changed`` tells
    whether it has itself changed at the last update. ``given`` replaces variables in the
    priors of the weights.
    """

    def __init__(
        self,
        model: Model,
        weights: WeightBlock,
        layout: tuple[BinaryVariable, ...],
        point: Point,
        *,
        given: dict[Tensor, Tensor] | None = None,
    ):
        self.n = weights.weights[-1].stop
        self.rows = [
            LikelihoodRows(p, layout, weights.weights, weights.gate, point)
            for p in weights.predictors
        ]
        self.slabs = [pt.concatenate(x) for x in _priors(model, weights)]
        if given is not None:
            self.slabs = list(clone_replace(self.slabs, given))
        self._priors = Given(self.slabs, point)
        self.has_units, self.units = bool(weights.units), np.ones(self.n)
        self.varies = bool(self._priors.names) or any(rows.varies for rows in self.rows)
        rows = [source.read(point) for source in self.rows]
        self.noise = [
            noise
            for k, source in enumerate(self.rows)
            for noise in classify(
                k,
                source.precisions(point),
                rows[k].target.size,
                entries=source.scale_entries,
                jumps=source.scale_may_jump,
            )
        ]
        self._labelled: dict[int, tuple[npt.NDArray[np.int64], Vector]] = {}
        self.latents = [
            LatentRows(k, p, point)
            for k, p in enumerate(weights.predictors)
            if p.scheme != "gaussian"
        ]
        dense = self.n <= MAX_DENSE_GRAM and not any(x.changes_precision for x in self.latents)
        self.statistics = make_statistics(len(self.noise), self.n, dense=dense)
        empty = np.zeros(self.n)
        self.block: Block = make_block(
            self._make_gram(rows), empty, empty + 1, empty, weights.gate, n_gates=layout[-1].stop
        )
        self.scale, self.gram_changed = 1.0, True
        named = [self._priors.names, *[source.names for source in self.rows]]
        self._names = sorted({name for names in named for name in names})
        self._write(point, first=True)
        self.block.gram.scale[0] = self.scale

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """The bounds of the weights, in the model's own units."""
        lower, upper = self.block.coefficients[LOWER], self.block.coefficients[UPPER]
        if self.has_units:
            ends = lower / self.units, upper / self.units
            return np.minimum(*ends), np.maximum(*ends)
        return lower, upper

    def update(self, point: Point) -> bool:
        """Bring the block to ``point``; return whether any coefficient may have changed."""
        if not self.varies or self._is_at(point):
            return False
        self._write(point)
        return True

    def _is_at(self, point: Point) -> bool:
        """Return whether the block was brought to these values last."""
        return self._place == b"".join(point[name].tobytes() for name in self._names)

    def settle_at(self, point: Point) -> None:
        """Take over slabs and precisions that were written from outside for a point."""
        omega = self.statistics.precisions
        self.gram_changed = omega.size > 1
        self.scale = float(omega[0]) if omega.size == 1 else 1.0
        if self.gram_changed:
            self._write_gram([source.read(point) for source in self.rows])
        for c, noise in enumerate(self.noise):
            source = self.rows[noise.likelihood]
            if source.has_scales and not keeps_proportions(noise, source.read(point).precision):
                self.noise[c] = noise._replace(regular=False)
        self._place = b"".join(point[name].tobytes() for name in self._names)

    def draw_latents(self, point: Point, s: npt.NDArray[Any], w: Vector, stream: Stream) -> None:
        """Draw the latents of every likelihood at (s, w), w in its units, and take them in."""
        rows = [source.read(point) for source in self.rows]
        state = self.block.gate, s, w, np.empty(self.n, np.int64)
        self.gram_changed = False
        for latent in self.latents:
            label, relative = self._labels(latent.likelihood, rows[latent.likelihood])
            latent.update(point)
            mine = rows[latent.likelihood]
            latent.redraw(mine, label, relative, state, stream, self.statistics)
            self.gram_changed |= latent.changes_precision
        if self.gram_changed:
            self._write_gram(rows)
        self.temper(1.0)

    def _labels(self, likelihood: int, rows: Rows) -> tuple[npt.NDArray[np.int64], Vector]:
        """Return the class of each row of a likelihood, and its precision within the class."""
        if likelihood not in self._labelled:
            label, relative = np.zeros(rows.target.size, np.int64), np.ones(rows.target.size)
            for c, noise in enumerate(self.noise):
                if noise.likelihood == likelihood:
                    label[noise.rows], relative[noise.rows] = c, noise.relative
            self._labelled[likelihood] = label, relative
        return self._labelled[likelihood]

    def _make_gram(self, rows: list[Rows]) -> DenseGram | DesignGram:
        if self.statistics.grams.size == 0:
            X = np.ascontiguousarray(np.concatenate([part.X for part in rows]))
            return DesignGram(X, np.ones(X.shape[0]), np.ones(1))
        alone = len(self.noise) == 1
        M = self.statistics.grams[0] if alone else np.zeros((self.n, self.n))
        return DenseGram(M, np.ones(1))

    def _write(self, point: Point, *, first: bool = False) -> None:
        if first or self._priors.names:
            self._write_slabs(point)
        rows = [source.read(point) for source in self.rows]
        before = self.statistics.precisions.copy()
        changed = first
        for c in range(len(self.noise)):
            changed |= self._write_class(c, rows[self.noise[c].likelihood], first=first)
        omega = self.statistics.precisions
        alone = omega.size == 1
        self.gram_changed = changed or not (alone or np.array_equal(omega, before))
        self.scale = float(omega[0]) if alone else 1.0
        if self.gram_changed:
            self._write_gram(rows)
        self.temper(1.0)
        self._place = b"".join(point[name].tobytes() for name in self._names)

    def temper(self, power: float) -> None:
        """Raise the likelihood to a power, as far as the slope r is concerned."""
        slopes = self.statistics.precisions @ self.statistics.slopes
        self.block.coefficients[R] = power * slopes

    def _write_slabs(self, point: Point) -> None:
        block = self.block
        coefficients = block.coefficients
        Lambda, lam, lower, upper, self.units[:] = self._priors(point)
        coefficients[LAMBDA], coefficients[LAM] = Lambda, lam
        coefficients[LOWER] = coefficients[SLAB_LOWER] = lower
        coefficients[UPPER] = coefficients[SLAB_UPPER] = upper
        price_slabs(block.coefficients, block.gates, block.members, block.log_slab)

    def _write_class(self, c: int, rows: Rows, *, first: bool) -> bool:
        """Bring the statistics of a class up to date; return whether X'VX has changed."""
        noise, statistics = self.noise[c], self.statistics
        source = self.rows[noise.likelihood]
        if noise.regular and not keeps_proportions(noise, rows.precision):
            noise = self.noise[c] = noise._replace(regular=False)
        new = first or source.X_varies or (not noise.regular and source.scale_varies)
        if not noise.regular:
            whole = np.broadcast_to(rows.precision, rows.target.shape)
            noise = self.noise[c] = noise._replace(relative=whole[noise.rows])
            self._labelled.pop(noise.likelihood, None)
        single = rows.precision.size == 1
        omega = rows.precision[0 if single else noise.leader] if noise.regular else 1.0
        statistics.precisions[c] = omega
        if new or source.target_varies:
            X, target = rows.X[noise.rows], rows.target[noise.rows]
            weighted = noise.relative * target
            statistics.counts[c] = target.size
            statistics.slopes[c] = weighted @ X
            statistics.squares[c] = weighted @ target
            if new and statistics.grams.size:
                statistics.grams[c] = X.T @ (X * noise.relative[:, None])
        return bool(new)

    def _write_gram(self, rows: list[Rows]) -> None:
        gram, omega = self.block.gram, self.statistics.precisions
        if isinstance(gram, DenseGram):
            if omega.size > 1:
                gram.M[:] = np.tensordot(omega, self.statistics.grams, 1)
            elif not np.may_share_memory(gram.M, self.statistics.grams):  # after unpickling
                gram.M[:] = self.statistics.grams[0]
            return
        starts = [0, *accumulate(part.target.size for part in rows)]
        for c, noise in enumerate(self.noise):
            factor = noise.relative if omega.size == 1 else omega[c] * noise.relative
            for latent in self.latents:
                if latent.likelihood == noise.likelihood:
                    factor = factor * latent.factor[noise.rows]
            mine = gram.row_weights[starts[noise.likelihood] : starts[noise.likelihood + 1]]
            mine[noise.rows] = factor
        for k, source in enumerate(self.rows):
            if source.X_varies:
                gram.X[starts[k] : starts[k + 1]] = rows[k].X


def _priors(model: Model, weights: WeightBlock) -> list[list[Tensor]]:
    """Return the flat Λ, λ, lower and upper bounds of every weight, and its unit.

    In terms of value variables, and of weights that are measured in their units.
    """
    columns: list[list[Tensor]] = [[], [], [], [], []]
    for w in weights.weights:
        parameters = w.rv.owner.op.dist_params(w.rv.owner)
        parameters = on_natural_weights(model, list(parameters), weights.weights)
        slab = slab_of(w.rv.owner.op, parameters)
        unit = weights.units.get(w.name, pt.constant(1.0))
        if w.name in weights.units:
            slab = _measured_in(unit, *slab)
        for column, entry in zip(columns, (*slab, unit), strict=True):
            size = w.stop - w.start
            whole = pt.broadcast_to(pt.as_tensor(entry).astype("float64"), w.shape)
            column.append(whole.reshape((size,)))
    return columns


def _measured_in(
    unit: Tensor, Lambda: Tensor, lam: Tensor, lower: Tensor, upper: Tensor
) -> tuple[Tensor, ...]:
    """Return the slab of c·w from that of w."""
    ends = unit * lower, unit * upper
    return Lambda / pt.sqr(unit), lam / unit, pt.minimum(*ends), pt.maximum(*ends)


def slab_of(op: Any, parameters: list[Tensor]) -> tuple[Tensor, ...]:
    """Return Λ, λ, lower, upper of a prior exp(−½Λw² + λw) between its bounds."""
    unbounded = pt.constant(np.inf)
    if isinstance(op, ExponentialRV):
        return pt.constant(0.0), -1.0 / parameters[0], pt.constant(0.0), unbounded
    mean, sd = (p.astype("float64") for p in parameters[:2])
    precision = 1.0 / pt.sqr(sd)
    if isinstance(op, TruncatedNormalRV):
        return precision, precision * mean, parameters[2], parameters[3]
    if isinstance(op, HalfNormalRV):
        return precision, precision * mean, mean, unbounded
    return precision, precision * mean, -unbounded, unbounded
