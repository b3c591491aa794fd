"""The coefficients of the weights' Gaussian, kept at the current values of the rest.

    log p(w | s, …) = −½ w'(D_s M D_s + Λ)w + (D_s r + λ)'w,   M = X'ΩX,   r = X'Ω(y − offset)

What depends on no other random variable is computed once; when only the scale of a single
likelihood changes, M is rescaled and not rebuilt.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.distributions.continuous import TruncatedNormalRV
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.tensor.random.basic import ExponentialRV, HalfNormalRV

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import Given, Point
from pymc_exact_hmc.model.likelihood_rows import LikelihoodRows, Rows
from pymc_exact_hmc.model.weights import WeightBlock, WeightVariable, on_natural_weights
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

Tensor: TypeAlias = Variable[Any, Any]
Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
MAX_DENSE_GRAM = 3_000
"""Weights up to which X'X is formed."""


class _Products(NamedTuple):
    """X'ΩX and X'Ω(y − offset) of one likelihood, for the precisions Ω they were made with."""

    gram: Matrix
    slope: Vector
    precision: Vector


class WeightCoefficients:
    """Holds the Gaussian of the weights; ``update`` brings it to a point of the model.

    The Gram matrix of the block is to be multiplied by ``scale``; ``gram_changed`` tells
    whether it has itself changed at the last update.
    """

    def __init__(
        self,
        model: Model,
        weights: WeightBlock,
        layout: tuple[BinaryVariable, ...],
        point: Point,
    ):
        self.n = weights.weights[-1].stop
        self.rows = [LikelihoodRows(p, layout, weights.weights) for p in weights.predictors]
        self._priors = Given([pt.concatenate(x) for x in _priors(model, weights.weights)])
        self.varies = bool(self._priors.names) or any(rows.varies for rows in self.rows)
        self._products: list[_Products | None] = [None] * len(self.rows)
        empty = np.zeros(self.n)
        gram = self._make_gram([rows.read(point) for rows in self.rows])
        self.block: Block = make_block(
            gram, empty, empty + 1, empty, weights.gate, n_gates=layout[-1].stop
        )
        self.scale, self.gram_changed = 1.0, True
        self._write(point)
        self.block.gram.scale[0] = self.scale

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """The bounds of the weights."""
        return self.block.coefficients[LOWER], self.block.coefficients[UPPER]

    def update(self, point: Point) -> bool:
        """Bring the block to ``point``; return whether any coefficient may have changed."""
        if self.varies:
            self._write(point)
        return self.varies

    def _make_gram(self, rows: list[Rows]) -> DenseGram | DesignGram:
        if self.n <= MAX_DENSE_GRAM:
            return DenseGram(np.zeros((self.n, self.n)), np.ones(1))
        X = np.ascontiguousarray(np.concatenate([part.X for part in rows]))
        return DesignGram(X, np.ones(X.shape[0]), np.ones(1))

    def _write(self, point: Point) -> None:
        coefficients = self.block.coefficients
        Lambda, lam, lower, upper = self._priors(point)
        coefficients[LAMBDA], coefficients[LAM] = Lambda, lam
        coefficients[LOWER] = coefficients[SLAB_LOWER] = lower
        coefficients[UPPER] = coefficients[SLAB_UPPER] = upper
        rows = [part.read(point) for part in self.rows]
        if isinstance(self.block.gram, DenseGram):
            self._write_dense(self.block.gram, rows)
        else:
            self._write_design(self.block.gram, rows)
        block = self.block
        price_slabs(block.coefficients, block.gates, block.members, block.log_slab)

    def _write_dense(self, gram: DenseGram, rows: list[Rows]) -> None:
        slope = np.zeros(self.n)
        if len(rows) == 1:
            known = self._products[0]
            made, self.scale = self._product(0, rows[0])
            self.gram_changed = known is None or made.gram is not known.gram
            if self.gram_changed:
                gram.M[:] = made.gram
            slope += self.scale * made.slope
        else:
            self.gram_changed, self.scale = True, 1.0
            gram.M[:] = 0.0
            for k, part in enumerate(rows):
                made, ratio = self._product(k, part)
                gram.M[:] += ratio * made.gram
                slope += ratio * made.slope
        self.block.coefficients[R] = slope

    def _product(self, k: int, part: Rows) -> tuple[_Products, float]:
        """Return the products of likelihood k and the factor to multiply them by."""
        made, source = self._products[k], self.rows[k]
        if made is not None and not source.X_varies:
            ratio = part.precision / made.precision
            if np.ptp(ratio) <= 4 * np.finfo(float).eps * ratio[0]:
                if source.target_varies:
                    slope = part.X.T @ (made.precision * part.target)
                    made = self._products[k] = made._replace(slope=slope)
                return made, float(ratio[0])
        weighted = part.X * np.broadcast_to(part.precision, part.target.shape)[:, None]
        made = _Products(part.X.T @ weighted, weighted.T @ part.target, part.precision)
        self._products[k] = made
        return made, 1.0

    def _write_design(self, gram: DesignGram, rows: list[Rows]) -> None:
        self.gram_changed, self.scale, start = True, 1.0, 0
        for part, source in zip(rows, self.rows, strict=True):
            stop = start + part.target.size
            if source.X_varies:
                gram.X[start:stop] = part.X
            gram.row_weights[start:stop] = part.precision
            start = stop
        target = np.concatenate([part.target for part in rows])
        self.block.coefficients[R] = (gram.row_weights * target) @ gram.X


def _priors(model: Model, weights: list[WeightVariable]) -> list[list[Tensor]]:
    """Return the flat Λ, λ, lower and upper bounds of every weight, in terms of values."""
    columns: list[list[Tensor]] = [[], [], [], []]
    for w in weights:
        parameters = w.rv.owner.op.dist_params(w.rv.owner)
        parameters = on_natural_weights(model, list(parameters), weights)
        for column, entry in zip(columns, _slab(w.rv.owner.op, parameters), strict=True):
            size = w.stop - w.start
            whole = pt.broadcast_to(pt.as_tensor(entry).astype("float64"), w.shape)
            column.append(whole.reshape((size,)))
    return columns


def _slab(op: Any, parameters: list[Tensor]) -> tuple[Tensor, ...]:
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
