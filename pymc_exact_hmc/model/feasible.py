"""A start inside a region: by a linear programme, or else by a search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from pymc_exact_hmc.regions.region import Law, Region, factor_value, violated

Vector = npt.NDArray[np.float64]
ROOM = 0.1
"""Distance from the linear walls that is asked for, in standard deviations."""
TRIES = 40
STEPS = 300


class EmptyRegionError(ValueError):
    """No point of the region could be found."""


def feasible_start(region: Region, law: Law, w: Vector, labels: list[str]) -> Vector:
    """Return w if it is inside the region, or else a point that is.

    Raises ``EmptyRegionError`` if there is none, or none is found.
    """
    if violated(region, w) < 0:
        return w
    alone = region.product < 0
    alone[region.g.size - len(region.Q) :] = False
    start = _by_programme(region, law, w, alone)
    involved = ", ".join(dict.fromkeys(labels))
    if start is None:
        raise EmptyRegionError(f"nothing satisfies the linear conditions of {involved} together")
    if violated(region, start) < 0:
        return start
    found = _by_search(region, law, start)
    if found is None:
        name = labels[violated(region, start)]
        raise EmptyRegionError(
            f"no start that satisfies {name} was found (conditions: {involved}). Give one with "
            "initvals= in pm.sample"
        )
    return found


def _by_programme(
    region: Region, law: Law, w: Vector, alone: npt.NDArray[np.bool_]
) -> Vector | None:
    """Maximise the room between a point and the linear walls, then its nearness to w."""
    F, g = region.F[alone], region.g[alone]
    if not alone.any():
        return w
    n, scale = w.size, np.sqrt(np.diag(law.Sigma))
    size = np.sqrt(np.einsum("ki,ij,kj->k", F, law.Sigma, F))
    # w + scale·(up − down), and t the room: F(w + …) + g ≥ t·size.
    moved = F * scale
    A = np.column_stack([-moved, moved, size])
    cost = np.concatenate([np.full(2 * n, 1e-6), [-1.0]])
    bounds = [(0, None)] * (2 * n) + [(0, ROOM)]
    solution = linprog(cost, A_ub=A, b_ub=F @ w + g, bounds=bounds, method="highs")
    if solution.status != 0 or not solution.x[-1] > 0:
        return None
    result: Vector = w + scale * (solution.x[:n] - solution.x[n : 2 * n])
    return result


def _by_search(region: Region, law: Law, start: Vector) -> Vector | None:
    """Step against the factor that is violated, from many places."""
    rng = np.random.default_rng(20131216)
    for trial in range(TRIES):
        w = start.copy()
        if trial:
            spread = 2.0 ** rng.uniform(-2, 3)
            w = law.mu + spread * law.root @ rng.standard_normal(w.size)
        for _ in range(STEPS):
            k = violated(region, w)
            if k < 0:
                return w
            w = _step_towards(region, law, w, k, rng)
            if not np.isfinite(w).all():
                break
    return None


def _step_towards(region: Region, law: Law, w: Vector, k: int, rng: np.random.Generator) -> Vector:
    """Return w moved so that factor k becomes positive, or changes sign in a product."""
    if region.product[k] >= 0:
        k = int(rng.choice(np.flatnonzero(region.product == region.product[k])))
    value = factor_value(region, k, w)
    normal = region.F[k].copy()
    first = region.g.size - len(region.Q)
    if k >= first:
        normal += 2.0 * region.Q[k - first] @ w
    along = law.Sigma @ normal
    square = normal @ along
    if not square > 0:
        return law.mu + law.root @ rng.standard_normal(w.size)
    share = 1.0 + 0.5 * rng.random()
    extra = 0.05 * np.sqrt(square)
    moved: Vector = w - (share * value - np.sign(-value) * extra) / square * along
    return moved
