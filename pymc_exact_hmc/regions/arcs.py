"""Where a quadratic factor first vanishes along an orbit.

On w(t) = μ + x cos t + v sin t a quadratic factor is

    f(t) = a + c₁ cos t + s₁ sin t + c₂ cos 2t + s₂ sin 2t,    |f″| ≤ B = √(c₁²+s₁²) + 4√(c₂²+s₂²).

From a time with value f ≥ 0 and slope f′ there is no root for a time

    h = (f′ + √(f′² + 2Bf)) / B,

so marching by h from one time to the next comes to the first root from the inside and never
passes it: at a simple root h is Newton's step, at a tangency the distance shrinks by a factor.
"""

from __future__ import annotations

import math

import numpy as np

from pymc_exact_hmc.compilation import kernel

# Rows of an arc: a, c₁, s₁, c₂, s₂.
CONSTANT, COS, SIN, COS_2, SIN_2 = range(5)

# A value that cannot be told from zero, as a share of the amplitudes.
ROUNDING = 4.0 * 2.0**-52


@kernel
def load_arc(arc, form, row, constant, mu, x, v, side, floor):
    """Write side·f along an orbit; at t = 0 it is at least 0, or just 0 if ``floor`` is.

    ``floor`` is 0 for the wall that has just been hit and infinite for any other.
    """
    n = mu.size
    level = along_x = along_v = square_x = square_v = cross = 0.0
    for i in range(n):
        form_mu = form_x = form_v = 0.0
        for j in range(n):
            form_mu += form[i, j] * mu[j]
            form_x += form[i, j] * x[j]
            form_v += form[i, j] * v[j]
        slope = row[i] + 2.0 * form_mu
        level += (row[i] + form_mu) * mu[i]
        along_x += slope * x[i]
        along_v += slope * v[i]
        square_x += form_x * x[i]
        square_v += form_v * v[i]
        cross += form_x * v[i]
    arc[COS], arc[SIN] = side * along_x, side * along_v
    arc[COS_2], arc[SIN_2] = 0.5 * side * (square_x - square_v), side * cross
    arc[CONSTANT] = side * (level + constant + 0.5 * (square_x + square_v))
    start = arc[CONSTANT] + arc[COS] + arc[COS_2]
    arc[CONSTANT] += min(max(start, 0.0), floor) - start


@kernel
def first_root(arc, longest):
    """Return the first time up to ``longest`` at which f becomes negative, or infinity."""
    a, c1, s1, c2, s2 = arc[0], arc[1], arc[2], arc[3], arc[4]
    first, second = math.hypot(c1, s1), math.hypot(c2, s2)
    bend = first + 4.0 * second
    tiny = ROUNDING * (abs(a) + first + second)
    if not bend > 0.0:
        return np.inf
    t = 0.0
    while t <= longest:
        cos, sin = math.cos(t), math.sin(t)
        cos_2, sin_2 = 1.0 - 2.0 * sin * sin, 2.0 * sin * cos
        f = a + c1 * cos + s1 * sin + c2 * cos_2 + s2 * sin_2
        slope = s1 * cos - c1 * sin + 2.0 * (s2 * cos_2 - c2 * sin_2)
        if f <= tiny and slope < 0.0:
            return t
        f = max(f, 0.0)
        wait = (slope + math.sqrt(slope * slope + 2.0 * bend * f)) / bend
        if not wait >= 0.0:
            return np.inf
        # Where f touches zero, 1e-8 farther it still does to within rounding; and a step that
        # rounding swallows would be taken for ever.
        t += max(wait, 1e-8 if f <= tiny else 1e-15 * (1.0 + t))
    return np.inf
