"""The Gaussian and the region of a block of weights, kept at the current values of the rest.

    log p(w | …) = b'w − ½ w'Aw + const   inside the region.

A factor N(y; mean, σ) with a single σ adds σ⁻² times a quadratic form, which is computed once
if nothing random but σ enters it; other factors are differentiated, once or at every call.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.distributions.transforms import Ordered
from pymc.model import Model
from pytensor.gradient import jacobian
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import NormalRV

from pymc_exact_hmc.model.evaluation import Given, Point
from pymc_exact_hmc.model.natural import place_weights, read_weights, write_weights
from pymc_exact_hmc.model.truncated_weights import BOUNDED, TruncatedBlock
from pymc_exact_hmc.model.walls import Walls
from pymc_exact_hmc.model.weight_block import WeightVariable, on_natural_weights
from pymc_exact_hmc.model.weight_coefficients import slab_of

Tensor: TypeAlias = Variable[Any, Any]
Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


class TruncatedGaussian:
    """Holds A, b and the region; ``update`` brings them to a point of the model."""

    def __init__(self, model: Model, block: TruncatedBlock, point: Point):
        self.block, self.n = block, block.weights[-1].stop
        self.placed = place_weights(model, block.weights)
        self._least = np.full(self.n, -np.inf)
        for p in self.placed:
            if "positive" in p.transform:
                self._least[p.start : p.stop] = 0.0
        self._slabs = Given(_slabs(model, block, self.n), point)
        pairs = [_scaled_square(model, factor.name, block) for factor in block.factors]
        totals = [
            factor.logp.astype("float64").sum() if pair is None else pair[1]
            for factor, pair in zip(block.factors, pairs, strict=True)
        ]
        scales = [pt.constant(1.0) if pair is None else pair[0] for pair in pairs]
        self._scales = Given([pt.as_tensor(x).astype("float64") for x in scales], point)
        self._forms = [_Form(total, block.weights, self.n, point) for total in totals]
        named = [self._slabs.names, self._scales.names, *[form.names for form in self._forms]]
        self.names = sorted({name for names in named for name in names})
        self.A, self.b = np.zeros((self.n, self.n)), np.zeros(self.n)
        self._write(point)
        orders = [
            pair
            for w in block.weights
            if isinstance(t := model.rvs_to_transforms.get(w.rv), Ordered)
            for pair in _neighbours(w, ascending=t.ascending)
        ]
        self.walls = Walls(block.weights, block.constraints.walls, orders, self.bounds, point)

    @property
    def varies(self) -> bool:
        """Whether other random variables enter A or b."""
        return bool(self.names)

    def update(self, point: Point) -> tuple[bool, bool]:
        """Come to a point; return whether A or b may have changed, and whether walls have."""
        changed = bool(self.names) and self._key(point) != self._place
        if changed:
            self._write(point)
        turned = self.walls.update(point, self.bounds, bounds_changed=changed)
        return changed, turned

    def _key(self, point: Point) -> bytes:
        return b"".join(np.asarray(point[name]).tobytes() for name in self.names)

    def _write(self, point: Point) -> None:
        Lambda, lam, lower, upper = self._slabs(point)
        self.A[:], self.b[:] = np.diag(Lambda), lam
        for scale, form in zip(self._scales(point), self._forms, strict=True):
            b, A = form(point)
            self.A += float(scale) * A
            self.b += float(scale) * b
        self.bounds = np.maximum(lower, self._least), upper
        self._place = self._key(point)

    def read(self, point: Point) -> Vector:
        """Return the weights of a point on their natural scale."""
        return read_weights(point, self.placed, *self.bounds)

    def write(self, point: Point, w: Vector) -> Point:
        """Return the value variables of the weights."""
        moved = {p.name: point[p.name] for p in self.placed}
        write_weights(moved, w, self.placed, *self.bounds)
        return moved


class _Form:
    """b and A of one quadratic function of the weights."""

    def __init__(self, total: Tensor, weights: list[WeightVariable], n: int, point: Point):
        w = pt.vector("w", dtype="float64", shape=(n,))
        pieces: dict[Tensor, Tensor] = {}
        for x in weights:
            piece = w[x.start : x.stop].reshape(x.shape).astype(x.value.type.dtype)
            pieces[x.value] = pt.specify_shape(piece, x.value.type.shape) if x.shape else piece
        slope = pt.grad(clone_replace(total, pieces), w)
        curvature = -jacobian(slope, w, vectorize=True)
        self._given = Given(clone_replace([slope, curvature], {w: pt.zeros(n, "float64")}), point)
        self.names = self._given.names
        self._read = None if self.names else self._given(point)

    def __call__(self, point: Point) -> list[np.ndarray]:
        return self._given(point) if self._read is None else self._read


def _slabs(model: Model, block: TruncatedBlock, n: int) -> list[Tensor]:
    """Return Λ, λ, lower and upper of the priors with bounds; nothing for the others."""
    columns: list[list[Tensor]] = [[], [], [], []]
    unbounded = pt.constant(np.inf)
    for w in block.weights:
        slab: tuple[Tensor, ...] = (pt.constant(0.0), pt.constant(0.0), -unbounded, unbounded)
        if isinstance(w.rv.owner.op, BOUNDED):
            parameters = w.rv.owner.op.dist_params(w.rv.owner)
            parameters = on_natural_weights(model, list(parameters), block.weights)
            slab = slab_of(w.rv.owner.op, parameters)
        for column, entry in zip(columns, slab, strict=True):
            whole = pt.broadcast_to(pt.as_tensor(entry).astype("float64"), w.shape)
            column.append(whole.reshape((w.stop - w.start,)))
    return [pt.concatenate(column) for column in columns]


def _scaled_square(model: Model, name: str, block: TruncatedBlock) -> tuple[Tensor, Tensor] | None:
    """Return σ⁻² and −½Σ(y − mean)² of a Gaussian factor with a single σ, if it is one."""
    rv = model[name]
    if rv not in model.basic_RVs or not isinstance(rv.owner.op, NormalRV):
        return None
    mean, sigma = rv.owner.op.dist_params(rv.owner)
    if not all(sigma.type.broadcastable):
        return None
    value = next((w.value for w in block.weights if w.rv is rv), None)
    mean, sigma = on_natural_weights(model, [mean, sigma], block.weights)
    if value is None:
        value = model.rvs_to_values[rv]
        if rv in model.free_RVs:
            (value,) = model.replace_rvs_by_values([rv])
    if any(w.value in set(ancestors([sigma])) for w in block.weights):
        return None
    square = pt.sqr(value.astype("float64") - mean.astype("float64")).sum()
    return 1.0 / pt.sqr(sigma.astype("float64").ravel()[0]), -0.5 * square


def _neighbours(w: WeightVariable, *, ascending: bool) -> list[tuple[int, int]]:
    """Return pairs (i, j) of entries with w_i ≤ w_j."""
    places = np.arange(w.start, w.stop).reshape(w.shape)
    low, high = places[..., :-1].ravel(), places[..., 1:].ravel()
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return list(pairs) if ascending else [(j, i) for i, j in pairs]
