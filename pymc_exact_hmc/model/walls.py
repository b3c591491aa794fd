"""The region that bounds, orders and constraints leave to the weights, at any point.

Coefficients may depend on other random variables and are then read again at each call. The
graph proves that a margin is a polynomial of degree 1 or 2 (or a product of such); its
coefficients are its value, gradient and curvature at w = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pytensor.gradient import jacobian
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

from pymc_exact_hmc.model.evaluation import Given, Point
from pymc_exact_hmc.model.weight_block import WeightVariable
from pymc_exact_hmc.regions.region import Region, make_region

Tensor: TypeAlias = Variable[Any, Any]
Vector = npt.NDArray[np.float64]
FAR = 1e150
"""Stands for a bound at infinity, which no flight reaches."""


class Wall(NamedTuple):
    """Factors that are all of one kind: ``value`` is flat, in natural weights.

    ``product`` numbers the product to which entry i belongs: product + i; −1 if each stands
    alone. ``gated`` tells whether weights enter multiplied by their indicators, ``strict``
    whether 0 itself is forbidden, which matters only where that has a probability.
    """

    name: str
    value: Tensor
    degree: int
    product: int = -1
    gated: bool = False
    strict: bool = False


class _Part(NamedTuple):
    """The coefficients of one wall."""

    g: Vector
    F: npt.NDArray[np.float64]
    Q: npt.NDArray[np.float64]


class Walls:
    """Reads the region at a point: rows of bounds, of orders, and of constraints."""

    def __init__(
        self,
        weights: list[WeightVariable],
        walls: list[Wall],
        orders: list[tuple[int, int]],
        bounds: tuple[Vector, Vector],
        point: Point,
        constants: dict[Tensor, Tensor] | None = None,
    ):
        self.n = weights[-1].stop
        linear = [wall for wall in walls if wall.degree <= 1]
        bent = [wall for wall in walls if wall.degree > 1]
        self._bounded = [np.flatnonzero(np.isfinite(bound)) for bound in bounds]
        self._given = self._compile(weights, [*linear, *bent], point, constants or {})
        self._names = [] if self._given is None else self._given.names
        self._orders = orders
        self._take(point)
        F, g, Q = self._rows(bounds)
        rows = [("the bounds of the weights", -1, 0)] * sum(x.size for x in self._bounded)
        rows += [("the order of the weights", -1, 0)] * len(orders)
        for wall, part in zip([*linear, *bent], self._parts, strict=True):
            first = range(part.g.size) if wall.product >= 0 else [-1] * part.g.size
            rows += [
                (wall.name, i + wall.product if i >= 0 else -1, int(wall.gated)) for i in first
            ]
        self.labels = [row[0] for row in rows]
        product = _numbered([row[1] for row in rows])
        self.region: Region = make_region(F, g, Q, product=product, gated=[x[2] for x in rows])

    @property
    def varies(self) -> bool:
        """Whether other random variables enter the constraints."""
        return bool(self._names)

    def _compile(
        self,
        weights: list[WeightVariable],
        walls: list[Wall],
        point: Point,
        constants: dict[Tensor, Tensor],
    ) -> Given | None:
        """Return a function that gives g, F and Q of the constraints."""
        if not walls:
            return None
        w = pt.vector("w", dtype="float64", shape=(self.n,))
        pieces = dict(constants)
        for x in weights:
            piece = w[x.start : x.stop].reshape(x.shape).astype(x.value.type.dtype)
            pieces[x.value] = pt.specify_shape(piece, x.value.type.shape) if x.shape else piece
        zero = {w: pt.zeros(self.n, "float64")}
        outputs = []
        for wall in walls:
            value = clone_replace(wall.value.astype("float64").ravel(), pieces)
            slope = jacobian(value, w, vectorize=True)
            curvature = pt.zeros((0, self.n, self.n), "float64")
            if wall.degree > 1:
                curvature = jacobian(slope.ravel(), w, vectorize=True)
                curvature = 0.5 * curvature.reshape((-1, self.n, self.n))
            outputs += [value, slope, curvature]
        return Given(clone_replace(outputs, zero), point)

    def _take(self, point: Point) -> None:
        """Read the constraints at a point."""
        read = [] if self._given is None else self._given(point)
        self._parts = [
            _Part(
                read[k].ravel(),
                read[k + 1].reshape(-1, self.n),
                read[k + 2].reshape(-1, self.n, self.n),
            )
            for k in range(0, len(read), 3)
        ]
        self._place = self._key(point)

    def _fixed_rows(self, bounds: tuple[Vector, Vector]) -> tuple[npt.NDArray[Any], Vector]:
        eye = np.eye(self.n)
        lower, upper = (np.clip(bound, -FAR, FAR) for bound in bounds)
        below, above = self._bounded
        F = [eye[below], -eye[above]]
        F += [(eye[j] - eye[i])[None] for i, j in self._orders]
        g = np.concatenate([-lower[below], upper[above], np.zeros(len(self._orders))])
        return np.concatenate(F), g

    def _rows(
        self, bounds: tuple[Vector, Vector]
    ) -> tuple[npt.NDArray[Any], Vector, npt.NDArray[Any]]:
        F, g = self._fixed_rows(bounds)
        parts = self._parts
        return (
            np.concatenate([F, *[part.F for part in parts]]),
            np.concatenate([g, *[part.g for part in parts]]),
            np.concatenate([np.zeros((0, self.n, self.n)), *[part.Q for part in parts]]),
        )

    def _key(self, point: Point) -> bytes:
        return b"".join(np.asarray(point[name]).tobytes() for name in self._names)

    def update(self, point: Point, bounds: tuple[Vector, Vector], *, bounds_changed: bool) -> bool:
        """Bring the region to a point; return whether any row may have changed its slope."""
        changed = False
        if self._names and self._key(point) != self._place:
            self._take(point)
            changed = True
        if changed or bounds_changed:
            F, g, Q = self._rows(bounds)
            self.region.F[:], self.region.g[:], self.region.Q[:] = F, g, Q
        return changed


def _numbered(product: list[int]) -> npt.NDArray[np.int64]:
    """Return the numbers of products, made consecutive."""
    numbers = np.array(product, dtype=np.int64)
    used = np.unique(numbers[numbers >= 0])
    numbers[numbers >= 0] = np.searchsorted(used, numbers[numbers >= 0])
    return numbers
