"""Regions cut out by walls, and the Gaussian that lives in one.

A *factor* is f_k(w) = w'Q_k w + F_k·w + g_k, with Q_k = 0 for the linear ones, which come
first. A factor that stands alone is a condition f_k ≥ 0; factors of one *product* p make the
condition ∏ f_k ≥ 0. The region is where all conditions hold.

A *gated* factor sees a weight whose gate is closed as 0; the others see it where it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Region(NamedTuple):
    """The factors; they may be rewritten between calls.

    ``Q[i]`` belongs to the i-th of the last len(Q) factors. ``product[k]`` is −1 for a factor
    that stands alone. ``sign`` is scratch.
    """

    F: Matrix
    g: Vector
    Q: npt.NDArray[np.float64]
    product: Indices
    gated: npt.NDArray[np.int8]
    sign: Vector

    @property
    def is_convex(self) -> bool:
        """Whether every condition is linear."""
        return len(self.Q) == 0 and bool((self.product < 0).all())


class Law(NamedTuple):
    """N(mu, Sigma) with Sigma = A⁻¹ = root·root' and mu = Sigma·b; the root is triangular."""

    A: Matrix
    b: Vector
    mu: Vector
    Sigma: Matrix
    root: Matrix


def make_region(
    F: npt.ArrayLike,
    g: npt.ArrayLike,
    Q: npt.ArrayLike | None = None,
    *,
    product: npt.ArrayLike | None = None,
    gated: npt.ArrayLike | None = None,
) -> Region:
    """Return a region; every factor stands alone and is not gated unless said."""
    F = np.array(F, dtype=float, ndmin=2)
    m, n = F.shape
    forms = np.zeros((0, n, n)) if Q is None else np.array(Q, dtype=float).reshape(-1, n, n)
    # The orbit asks for w'Qw alone, so the form may as well be symmetric.
    forms = np.ascontiguousarray(0.5 * (forms + forms.transpose(0, 2, 1)))
    products = np.full(m, -1) if product is None else np.array(product, dtype=np.int64)
    gates = np.zeros(m, np.int8) if gated is None else np.array(gated, dtype=np.int8)
    sign = np.zeros(int(products.max(initial=-1)) + 1)
    return Region(F, np.array(g, dtype=float), forms, products, gates, sign)


def empty_law(n: int) -> Law:
    """Return room for the law of n weights."""
    # Columns of the root are read one after another.
    root = np.asfortranarray(np.eye(n))
    return Law(np.eye(n), np.zeros(n), np.zeros(n), np.eye(n), root)


def set_law(law: Law, A: Matrix, b: Vector) -> None:
    """Write the law with precision A and linear term b.

    Raises ``numpy.linalg.LinAlgError`` if A is not positive definite.
    """
    # Scaled to a unit diagonal, so that weights may be measured in any units.
    unit = 1.0 / np.sqrt(np.diag(A))
    if not np.isfinite(unit).all():
        raise np.linalg.LinAlgError("the precision has a diagonal that is not positive")
    C = np.linalg.cholesky(unit[:, None] * A * unit)
    inverse = np.linalg.inv(C)
    law.A[:], law.b[:] = A, b
    law.root[:] = unit[:, None] * inverse.T
    law.Sigma[:] = law.root @ law.root.T
    law.mu[:] = law.root @ (law.root.T @ b)


@kernel
def factor_value(region, k, w):
    """Return f_k(w)."""
    m, n = region.F.shape
    row = region.F[k]
    total = region.g[k]
    for i in range(n):
        total += row[i] * w[i]
    first = m - region.Q.shape[0]
    if k >= first:
        form = region.Q[k - first]
        for i in range(n):
            if w[i] != 0.0:
                part = 0.0
                for j in range(n):
                    part += form[i, j] * w[j]
                total += w[i] * part
    return total


@kernel
def violated(region, w):
    """Return a factor of a condition that w does not meet, or −1: NaN meets none."""
    sign = region.sign
    for p in range(sign.size):
        sign[p] = 1.0
    for k in range(region.g.size):
        value = factor_value(region, k, w)
        p = region.product[k]
        if p < 0:
            if not value >= 0.0:
                return k
        elif value < 0.0:
            sign[p] = -sign[p]
        elif not value >= 0.0:
            return k
    for k in range(region.g.size):
        if region.product[k] >= 0 and sign[region.product[k]] < 0.0:
            return k
    return -1
