"""Exact Pólya–Gamma draws: PG(b, c) = ¼ J(b, c/2), b ≥ 1.

J(b, z) is a sum of independent J(1, z) and at most one J(h, z), 1 ≤ h < 2. Each is drawn by
rejection with an alternating series (Devroye 2009; Windle, Polson and Scott 2014). The density
of J(h, 0) is Σ (−1)ⁿ a_n(x) with

    a_n(x) = 2^h Γ(n + h)/(Γ(h) n!) (2n + h)/√(2πx³) exp(−(2n + h)²/2x),

so that partial sums lie above and below it in turn once the terms fall. It is below a_0(x)
up to a point t, and everywhere below (π/2)^h x^(h−1) exp(−π²x/8)/Γ(h). Tilted by exp(−½z²x), the
first is an inverse Gaussian and the second, its power of x replaced by a tangent, exponential.
"""

from __future__ import annotations

import math

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.error_function import erfcx
from pymc_exact_hmc.likelihoods.inverse_gaussian import inverse_gaussian
from pymc_exact_hmc.random_stream import exponential, uniform

RATE = math.pi**2 / 8.0
MIDDLE = 0.64
"""Where the two bounds of h = 1 meet."""
SLOPE = 1.36
"""How fast that point moves to the right with h."""
MOST_TERMS = 200


@kernel
def polya_gamma(stream, b, c):
    """Return a draw from PG(b, c), b ≥ 1."""
    z = 0.5 * abs(c)
    # Not a number would never be accepted.
    if not (1.0 <= b < math.inf and z < math.inf):
        return math.nan
    whole = math.floor(b)
    h = 1.0 + (b - whole)
    total = 0.0
    if h > 1.0:
        total += draw_fractional(stream, h, z)
        whole -= 1.0
    right = share_of_the_right(1.0, z, MIDDLE, RATE + 0.5 * z * z, 0.5 * math.pi)
    for _ in range(int(whole)):
        total += draw_one(stream, z, right)
    return 0.25 * total


@kernel
def share_of_the_right(h, z, t, rate, height):
    """Return the share of the bound that lies beyond t, height·exp(−rate·x) there."""
    log_right = math.log(height / rate) - rate * t
    root = math.sqrt(2.0 * t)
    # P(inverse Gaussian of mean h/z and shape h² is below t), two terms of the same sign.
    below = math.erfc((h - t * z) / root)
    below += math.exp(-((t * z - h) ** 2) / (2.0 * t)) * erfcx((t * z + h) / root)
    log_left = h * math.log(2.0) - h * z + math.log(0.5 * below)
    return 1.0 / (1.0 + math.exp(log_left - log_right))


@kernel
def draw_left(stream, h, z, t):
    """Return a draw from the inverse Gaussian of mean h/z and shape h² below t."""
    tilt, end = h * z, t / (h * h)
    if tilt * end >= 1.0:
        while True:
            x = inverse_gaussian(stream, tilt)
            if x <= end:
                return h * h * x
    while True:
        e = exponential(stream)
        while e * e > 2.0 * exponential(stream) / end:
            e = exponential(stream)
        x = end / (1.0 + end * e) ** 2
        if exponential(stream) > 0.5 * tilt * tilt * x:
            return h * h * x


@kernel
def draw_one(stream, z, right):
    """Return a draw from J(1, z); ``right`` is the share of the bound beyond the middle."""
    rate = RATE + 0.5 * z * z
    while True:
        if uniform(stream) < right:
            x = MIDDLE + exponential(stream) / rate
        else:
            x = draw_left(stream, 1.0, z, MIDDLE)
        if accept_one(stream, x):
            return x


@kernel
def accept_one(stream, x):
    """Accept x with probability density of J(1, 0) over its bound.

    Beyond the middle the same density has another series, π(n + ½) exp(−½(n + ½)²π²x).
    """
    # Terms relative to the first one, n = 0.
    level = uniform(stream)
    speed = 2.0 / x if x <= MIDDLE else 0.5 * math.pi**2 * x
    total, sign = 1.0, 1.0
    for n in range(1, MOST_TERMS):
        sign = -sign
        total += sign * (2 * n + 1) * math.exp(-speed * n * (n + 1))
        if sign < 0.0 and level <= total:
            return True
        if sign > 0.0 and level > total:
            return False
    return False


@kernel
def draw_fractional(stream, h, z):
    """Return a draw from J(h, z), 1 ≤ h < 2."""
    t = MIDDLE + SLOPE * (h - 1.0)
    # Tangent to x^(h−1) at the mean of what is to be drawn beyond t.
    touch = t + 1.0 / (RATE + 0.5 * z * z)
    height = (0.5 * math.pi) ** h / math.gamma(h) * touch ** (h - 1.0) * math.exp(1.0 - h)
    bend = (h - 1.0) / touch
    rate = RATE + 0.5 * z * z - bend
    right = share_of_the_right(h, z, t, rate, height)
    while True:
        if uniform(stream) < right:
            x = t + exponential(stream) / rate
            bound = height * math.exp((bend - RATE) * x)
        else:
            x = draw_left(stream, h, z, t)
            bound = first_term(h, x)
        if accept_fractional(h, x, uniform(stream) * bound):
            return x


@kernel
def first_term(h, x):
    """a_0(x)."""
    return 2.0**h * h / math.sqrt(2.0 * math.pi * x**3) * math.exp(-h * h / (2.0 * x))


@kernel
def accept_fractional(h, x, level):
    """Return whether the density of J(h, 0) at x is above ``level``."""
    term = total = first_term(h, x)
    sign = 1.0
    for n in range(1, MOST_TERMS):
        ratio = (n - 1.0 + h) / n * (2.0 * n + h) / (2.0 * n - 2.0 + h)
        ratio *= math.exp(-2.0 * (2.0 * n - 1.0 + h) / x)
        term *= ratio
        sign = -sign
        total += sign * term
        # The ratios fall with n: from here on the terms do.
        if ratio < 1.0:
            if sign < 0.0 and level <= total:
                return True
            if sign > 0.0 and level > total:
                return False
    return False
