"""The rows of a likelihood: residual = y − offset − X(s∘w), precision per row."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.exceptions import SamplingError
from pymc.pytensorf import compile as compile_pymc
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from scipy.linalg import solve_triangular

from pymc_exact_hmc.model.analysis import evaluate_nodes
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Given, Point
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.points import spread
from pymc_exact_hmc.model.rounding import at_least_rounding
from pymc_exact_hmc.model.smoothness import is_smooth
from pymc_exact_hmc.model.weight_block import Predictor, WeightVariable

Tensor: TypeAlias = Variable[Any, Any]
Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
GATE_TOLERANCE, LEAK = 1e-9, 1e3
"""Relative error of a predictor at closed gates beyond which it is not gated."""


class Rows(NamedTuple):
    """X, target = y − offset, the precision of each row (one entry: of all rows), the offset."""

    X: Matrix
    target: Vector
    precision: Vector
    offset: Vector


class LikelihoodRows:
    """Reads the rows of one likelihood at any point.

    ``precision`` is that of every row as a graph: a scalar, or in the shape of the data.
    """

    def __init__(
        self,
        predictor: Predictor,
        layout: tuple[BinaryVariable, ...],
        weights: list[WeightVariable],
        gate: npt.NDArray[np.int64],
        point: Point,
    ):
        self.name, self.multivariate = predictor.name, predictor.multivariate
        self._mean, self._gate = _Mean(predictor, layout, weights), gate
        zero = pt.zeros(weights[-1].stop, "float64")
        offset = clone_replace(self._mean.at_ones, {self._mean.w: zero})
        self._target = Given([offset, predictor.observed.astype("float64").ravel()], point)
        scale = predictor.scale.astype("float64")
        if not predictor.multivariate and not all(scale.type.broadcastable):
            scale = pt.broadcast_to(scale, predictor.observed.shape)
        self._scale = Given([scale], point)
        self.scale_varies = bool(self._scale.names)
        self.has_scales = self.scale_varies and not all(scale.type.broadcastable)
        self.has_scales &= not predictor.multivariate
        self.scale_entries = sum(np.size(point[name]) for name in self._scale.names)
        self.scale_may_jump = not is_smooth(scale, other_inputs(scale, set()))
        self._base = self._scale(point)[0]
        self.shape = self._base.shape
        self.precision = 1.0 / pt.sqr(scale)
        self.proportional, self._shape = True, (0,)
        if predictor.multivariate:
            observed = evaluate_nodes([], point, also=[predictor.observed])[predictor.observed]
            self._shape = np.shape(observed)
            self.precision = self._base.flat[0] / scale.ravel()[0]
            self.proportional = not self.scale_may_jump and self._keeps_shape(point)
        self.X_varies = predictor.random or not self.proportional
        self.target_varies = self.X_varies or bool(self._target.names)
        self.varies = self.target_varies or self.scale_varies
        self.names = [*self._target.names, *self._scale.names]
        self.names += self._mean.names if predictor.random else []
        self._X: Matrix | None = None
        self._read: Rows | None = None

    def _keeps_shape(self, point: Point) -> bool:
        """Return whether the covariance only changes by a factor, if at all."""
        if not self.scale_varies:
            return True
        base, elsewhere = self._base, self._scales_elsewhere(point, 20131214)
        # What exists nowhere else says nothing.
        return bool(elsewhere) and all(
            np.allclose(
                scale * (base.flat[0] / scale.flat[0]), base, rtol=at_least_rounding(1e-9), atol=0.0
            )
            for scale in elsewhere
        )

    def _scales_elsewhere(self, point: Point, seed: int) -> list[Matrix]:
        """Return the scale at other settings, near and far, but those that have none there."""
        found = []
        for setting in spread(point, np.random.default_rng(seed)):
            try:
                scale = self._scale(setting)[0]
            except Exception:  # such as a factor of a matrix that has none
                continue
            with np.errstate(divide="ignore", over="ignore"):
                known = 1.0 / np.square(scale.flat[:1] if self.multivariate else scale)
            if np.isfinite(scale).all() and np.isfinite(known).all() and (known > 0.0).all():
                found.append(scale)
        return found

    def precisions(self, point: Point) -> list[Vector]:
        """Return the precisions at a point and at other settings of the other variables."""
        scales = self._scales_elsewhere(point, 20131215) if self.scale_varies else []
        return [self._precision(scale) for scale in [self._base, *scales]]

    def _precision(self, scale: Matrix) -> Vector:
        if not self.multivariate:
            return 1.0 / np.square(scale.ravel())
        return np.full(1, self._base.flat[0] / scale.flat[0] if self.proportional else 1.0)

    def read(self, point: Point) -> Rows:
        """Return the rows at the other variables' values in ``point``."""
        if self._read is not None and not self.varies:
            return self._read
        scale = self._scale(point)[0] if self.scale_varies else self._base
        precision = self._precision(scale)
        if self._read is None or self.target_varies:
            X, target, offset = self._data(point)
            if self.multivariate:
                covariance = self._base if self.proportional else scale
                X, target = _whiten(covariance, X, target, self._shape)
            self._read = Rows(X, target, precision, offset)
        self._read = self._read._replace(precision=precision)
        return self._read

    @property
    def last(self) -> Rows:
        """The rows that were read last."""
        assert self._read is not None
        return self._read

    def _data(self, point: Point) -> tuple[Matrix, Vector, Vector]:
        offset, observed = self._target(point)
        if self._X is None or self._mean.random:
            known = self._X is not None
            self._X = self._mean.design(point, offset)
            if known and self._mean.may_jump:
                self._refuse_open_gates(point)
        return self._X, observed - offset, np.array(offset)

    def _refuse_open_gates(self, point: Point) -> None:
        """Refuse weights that other variables let through closed gates, unlike at the start."""
        error = self.gate_error(point, np.random.default_rng(20131221))
        if error > at_least_rounding(GATE_TOLERANCE):
            raise SamplingError(
                f"The predictor of {self.name} depends on indicators in another way than at the "
                "start, because of other variables in it. Use kernel='binary', which takes the "
                "indicators alone."
            )

    def is_finite(self, point: Point) -> bool:
        """Return whether predictors and data hold finite numbers only."""
        rows = self.read(point)
        return bool(np.isfinite(rows.X).all() and np.isfinite(rows.target).all())

    def is_gated(self, point: Point) -> bool:
        """Return whether the predictor is offset + X(s∘w), at all settings of other variables."""
        rng = np.random.default_rng(20131211)
        if not self.gate_error(point, rng) <= at_least_rounding(GATE_TOLERANCE):
            return False
        for setting in spread(point, rng) if self._mean.random else ():
            try:
                if self.gate_error(setting, rng) > at_least_rounding(GATE_TOLERANCE):
                    return False
            except (ArithmeticError, ValueError):  # a setting that the model itself refuses
                continue
        return True

    def gate_error(self, point: Point, rng: np.random.Generator) -> float:
        """Return the largest relative error of offset + X(s∘w) at random s and w.

        Where all gates are closed errors count ``LEAK`` times: a wide slab makes leaks matter.
        """
        gate = self._gate
        offset, _ = self._target(point)
        X = self._mean.design(point, offset)
        d, worst = self._mean.d, 0.0
        for share in (0.0, 0.2, 0.5, 0.8):
            s = (rng.random(d) < share).astype(np.int8)
            w = rng.standard_normal(gate.size) * np.exp(rng.uniform(-2, 2, gate.size))
            opened = np.where(gate < 0, 1.0, s[np.maximum(gate, 0)])
            expected = offset + X @ (opened * w)
            size = np.abs(offset) + np.abs(X) @ np.abs(w) + 1e-300
            errors = np.abs(self._mean(s, w, point) - expected) / size
            counted = LEAK if share == 0.0 else 1.0
            worst = max(worst, counted * float(np.max(errors, initial=0.0)))
        return worst


def _whiten(
    covariance: Matrix, X: Matrix, target: Vector, shape: tuple[int, ...]
) -> tuple[Matrix, Vector]:
    """Divide rows and targets by the factor of their covariance.

    ``shape`` is that of the data, whose last axis is correlated; the others may have covariances
    of their own.
    """
    k = shape[-1]
    factor = np.broadcast_to(np.linalg.cholesky(covariance), (*shape, k)).reshape(-1, k, k)
    parts = np.column_stack([X, target]).reshape(-1, k, X.shape[1] + 1)
    solved = [solve_triangular(L, x, lower=True) for L, x in zip(factor, parts, strict=True)]
    whitened = np.concatenate([np.zeros((0, X.shape[1] + 1)), *solved])
    return np.ascontiguousarray(whitened[:, :-1]), whitened[:, -1]


class _Mean:
    """The mean of a likelihood, flattened, as a function of s, w and the other variables."""

    def __init__(
        self,
        predictor: Predictor,
        layout: tuple[BinaryVariable, ...],
        weights: list[WeightVariable],
    ):
        self.d, n = layout[-1].stop, weights[-1].stop
        self.random = predictor.random
        s = pt.vector("s", dtype="int8", shape=(self.d,))
        self.w = pt.vector("w", dtype="float64", shape=(n,))
        blocks: dict[Tensor, Tensor] = {
            b.value: _block(s, b).astype(b.value.type.dtype) for b in layout
        }
        blocks |= {x.value: _block(self.w, x).astype(x.value.type.dtype) for x in weights}
        whole = predictor.mean + pt.zeros_like(predictor.observed)
        mean = clone_replace(whole.astype("float64").ravel(), blocks)
        self.at_ones = clone_replace(mean, {s: pt.ones(self.d, dtype="int8")})
        self._v = pt.vector("v", dtype="float64")
        pulled = pt.grad(pt.dot(self._v, self.at_ones), self.w)
        others = other_inputs(mean, {s, self.w})
        self.names = [v.name for v in others]
        self.may_jump = predictor.random and not is_smooth(mean, others)
        mode = None if predictor.random else ONCE
        ignore = {"on_unused_input": "ignore"}
        often = None if self.may_jump else ONCE
        self._value = compile_pymc([s, self.w, *others], mean, mode=often, **ignore)
        self._column = compile_pymc([self.w, *others], self.at_ones, mode=mode, **ignore)
        self._row = compile_pymc([self._v, self.w, *others], pulled, mode=mode, **ignore)

    def __call__(self, s: np.ndarray, w: Vector, point: Point) -> Vector:
        return np.asarray(self._value(s, w, *self._others(point)))

    def _others(self, point: Point) -> list[np.ndarray]:
        return [np.asarray(point[name]) for name in self.names]

    def design(self, point: Point, offset: Vector) -> Matrix:
        """Return X, by columns or by rows, whichever are fewer."""
        n, others = self.w.type.shape[0], self._others(point)
        N = offset.size
        if n <= N:
            columns = [self._column(e, *others) - offset for e in np.eye(n)]
            return np.ascontiguousarray(np.stack(columns, axis=1))
        zero = np.zeros(n)
        X = np.empty((N, n))
        v = np.zeros(N)
        for row in range(N):
            v[row] = 1.0
            X[row] = self._row(v, zero, *others)
            v[row] = 0.0
        return X


def _block(vector: Tensor, unknown: Any) -> Tensor:
    """Return the slice of a flat vector that holds an unknown, in its shape."""
    block = vector[unknown.start : unknown.stop].reshape(unknown.shape)
    return pt.specify_shape(block, unknown.value.type.shape) if unknown.shape else block
