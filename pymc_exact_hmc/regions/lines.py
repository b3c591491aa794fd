"""The part of a straight line that lies in a region, and draws on it.

On w + x·direction every factor is α + βx + γx², and the log-density of a Gaussian −½Dx² + ρx.
The line meets the region in segments, several if the region is not convex.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import uniform
from pymc_exact_hmc.regions.region import Region
from pymc_exact_hmc.weights.integral import log_integral
from pymc_exact_hmc.weights.truncated_draw import draw_truncated

Matrix = npt.NDArray[np.float64]

# Rows of ``Line.factors`` and of ``Line.segments``.
ALPHA, BETA, GAMMA = range(3)
LOW, HIGH, LOG_MASS = range(3)
# Places in ``Line.total``.
COUNT, LOG_TOTAL, CURVATURE, SLOPE = range(4)


class Line(NamedTuple):
    """Scratch memory: coefficients of the factors, and the segments in the region.

    ``total`` holds the number of segments, the logarithm of the mass on all of them, D and ρ.
    """

    factors: Matrix
    segments: Matrix
    roots: npt.NDArray[np.float64]
    total: npt.NDArray[np.float64]


def make_line(region: Region) -> Line:
    """Return scratch memory for lines through a region of this size."""
    q, m = len(region.Q), region.g.size
    bent = q + int((region.product[: m - q] >= 0).sum())
    return Line(np.zeros((3, m)), np.zeros((3, 2 * bent + 1)), np.zeros(2 * bent + 2), np.zeros(4))


@kernel
def trace_line(region, line, w, direction):
    """Compute α, β and γ of every factor."""
    (m, n), coefficients = region.F.shape, line.factors
    first = m - region.Q.shape[0]
    for k in range(m):
        row = region.F[k]
        alpha, beta, gamma = region.g[k], 0.0, 0.0
        for i in range(n):
            alpha += row[i] * w[i]
            beta += row[i] * direction[i]
        if k >= first:
            form = region.Q[k - first]
            for i in range(n):
                form_w = form_d = 0.0
                for j in range(n):
                    form_w += form[i, j] * w[j]
                    form_d += form[i, j] * direction[j]
                alpha += form_w * w[i]
                beta += 2.0 * form_w * direction[i]
                gamma += form_d * direction[i]
        coefficients[ALPHA, k], coefficients[BETA, k], coefficients[GAMMA, k] = alpha, beta, gamma


@kernel
def find_segments(region, line, D, rho):
    """Find the segments and the mass exp(−½Dx² + ρx) on each."""
    coefficients, roots, total = line.factors, line.roots, line.total
    m, low, high = region.g.size, -np.inf, np.inf
    first = m - region.Q.shape[0]
    total[COUNT], total[LOG_TOTAL], total[CURVATURE], total[SLOPE] = 0.0, -np.inf, D, rho
    for k in range(first):
        if region.product[k] < 0:
            alpha, beta = coefficients[ALPHA, k], coefficients[BETA, k]
            if beta > 0.0:
                low = max(low, -alpha / beta)
            elif beta < 0.0:
                high = min(high, -alpha / beta)
            elif not alpha >= 0.0:
                return
    count = 1
    roots[0] = low
    for k in range(m):
        if k >= first or region.product[k] >= 0:
            count = add_roots(coefficients, k, roots, count, low, high)
    roots[count] = high
    for i in range(count):
        if roots[i] < roots[i + 1] and allowed(region, line, middle(roots[i], roots[i + 1]), first):
            add_segment(line, roots[i], roots[i + 1], D, rho)


@kernel
def add_roots(coefficients, k, roots, count, low, high):
    """Insert the roots of factor k between ``low`` and ``high`` in order; return their number."""
    alpha, beta, gamma = coefficients[ALPHA, k], coefficients[BETA, k], coefficients[GAMMA, k]
    discriminant = beta * beta - 4.0 * alpha * gamma
    if discriminant < 0.0 or (beta == 0.0 and gamma == 0.0):
        return count
    # Without cancellation: one root from each of the two forms.
    half = -0.5 * (beta + math.copysign(math.sqrt(discriminant), beta))
    for which in range(2):
        over, under = (alpha, half) if which == 0 else (half, gamma)
        if under == 0.0:
            continue
        root = over / under
        if low < root < high:
            place = count
            while place > 1 and roots[place - 1] > root:
                roots[place] = roots[place - 1]
                place -= 1
            roots[place] = root
            count += 1
    return count


@kernel
def middle(low, high):
    """Return a place between two ends, which may be infinite."""
    if low == -np.inf:
        return 0.0 if high == np.inf else high - 1.0 - abs(high)
    return low + 1.0 + abs(low) if high == np.inf else 0.5 * (low + high)


@kernel
def allowed(region, line, x, first):
    """Return whether the conditions that are not linear hold at x."""
    coefficients, sign = line.factors, region.sign
    for p in range(sign.size):
        sign[p] = 1.0
    for k in range(region.g.size):
        p = region.product[k]
        if k < first and p < 0:
            continue
        slope = coefficients[BETA, k] + coefficients[GAMMA, k] * x
        value = coefficients[ALPHA, k] + slope * x
        if p < 0 and not value >= 0.0:
            return False
        if p >= 0 and value < 0.0:
            sign[p] = -sign[p]
    lowest = 1.0
    for p in range(sign.size):
        lowest = min(lowest, sign[p])
    return lowest > 0.0


@kernel
def add_segment(line, low, high, D, rho):
    """Add a segment to those found."""
    total, segments = line.total, line.segments
    count = int(total[COUNT])
    log_mass = log_integral(D, rho, low, high)
    if not log_mass > -np.inf:
        return
    segments[LOW, count], segments[HIGH, count] = low, high
    segments[LOG_MASS, count] = log_mass
    old = total[LOG_TOTAL]
    top = max(old, log_mass)
    if top < np.inf:
        top += math.log(math.exp(old - top) + math.exp(log_mass - top))
    total[COUNT], total[LOG_TOTAL] = count + 1, top


@kernel
def draw_on_line(stream, line):
    """Return a draw from exp(−½Dx² + ρx) on the segments; not a number if there are none."""
    D, rho = line.total[CURVATURE], line.total[SLOPE]
    count, segments = int(line.total[COUNT]), line.segments
    if count == 0:
        return np.nan
    chosen = count - 1
    if count > 1:
        rest = uniform(stream)
        for i in range(count):
            rest -= math.exp(segments[LOG_MASS, i] - line.total[LOG_TOTAL])
            if rest < 0.0:
                chosen = i
                break
    return draw_truncated(stream, D, rho, segments[LOW, chosen], segments[HIGH, chosen])
