"""Draws of one weight after another from their exact conditionals, between linear walls.

Given the others, the density of w_i + x is ∝ exp(−½A_ii x² + ρ_i x) with ρ = b − Aw, on the
interval that the slacks c = Fw + g leave. One draw costs O(n), and as many slacks as weight i
has walls. Where walls are near on all sides of the mode, as in a corner, a sweep forgets
more than a flight that is reflected hundreds of times; where weights are correlated and
walls are far, it forgets next to nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.regions.region import Region
from pymc_exact_hmc.regions.sparse import Sparse, along_row, inside, make_sparse
from pymc_exact_hmc.weights.truncated_draw import draw_truncated

Vector = npt.NDArray[np.float64]


class Sweep(NamedTuple):
    """Scratch memory: the columns of F, the slacks c, the slopes ρ, and where w would be."""

    columns: Sparse
    slack: Vector
    slope: Vector
    trial: Vector


def make_sweep(region: Region) -> Sweep:
    """Return scratch memory; none where there are no sweeps, because the region is not convex."""
    m, n = region.F.shape if region.is_convex else (0, 0)
    return Sweep(make_sparse(n, m), np.zeros(m), np.zeros(n), np.zeros(n))


@kernel
def sweep_axes(region, rows, law, sweep, w, times, upwards, stream):
    """Draw every weight ``times`` times; return whether rounding left w inside.

    If not, w stays where it was.
    """
    n, trial = w.size, sweep.trial
    for i in range(n):
        trial[i] = w[i]
    for k in range(region.g.size):
        sweep.slack[k] = max(along_row(rows, k, w, region.g[k]), 0.0)
    measure_slopes(law.A, law.b, w, sweep.slope)
    for _ in range(times):
        for i in range(n):
            draw_weight(law.A, sweep, i if upwards else n - 1 - i, stream)
    if not inside(region, rows, trial):
        return False
    for i in range(n):
        w[i] = trial[i]
    return True


@kernel
def measure_slopes(A, b, w, slope):
    """Compute b − Aw; A is symmetric, so its rows serve as columns."""
    for i in range(w.size):
        slope[i] = b[i]
    for j in range(w.size):
        row, place = A[j], w[j]
        for i in range(w.size):
            slope[i] -= row[i] * place


@kernel
def draw_weight(A, sweep, i, stream):
    """Draw weight i given the others."""
    columns, slack, slope = sweep.columns, sweep.slack, sweep.slope
    low, high = -np.inf, np.inf
    for e in range(columns.start[i], columns.start[i + 1]):
        reach = -slack[columns.place[e]] / columns.entry[e]
        if columns.entry[e] > 0.0:
            low = max(low, reach)
        else:
            high = min(high, reach)
    x = draw_truncated(stream, A[i, i], slope[i], low, high)
    # Two walls that leave no room, as in a corner.
    if np.isnan(x):
        return
    sweep.trial[i] += x
    row = A[i]
    for j in range(slope.size):
        slope[j] -= x * row[j]
    for e in range(columns.start[i], columns.start[i + 1]):
        k = columns.place[e]
        slack[k] = max(slack[k] + x * columns.entry[e], 0.0)
