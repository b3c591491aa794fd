"""Flights, sweeps and lines in plain NumPy: nothing is remembered from one to the next.

Random numbers come from the same stream in the same order as those of the compiled transition.
"""

from itertools import pairwise

import numpy as np

from pymc_exact_hmc.random_stream import uniform
from pymc_exact_hmc.weights.integral import log_integral
from pymc_exact_hmc.weights.normal import normal
from pymc_exact_hmc.weights.truncated_draw import draw_truncated


def value(region, k, w):
    first = region.g.size - len(region.Q)
    bent = w @ region.Q[k - first] @ w if k >= first else 0.0
    return bent + region.F[k] @ w + region.g[k]


def gradient(region, k, w):
    first = region.g.size - len(region.Q)
    return region.F[k] + (2 * region.Q[k - first] @ w if k >= first else 0.0)


def inside(region, w):
    """Whether w meets every condition."""
    values = np.array([value(region, k, w) for k in range(region.g.size)])
    if (values[region.product < 0] < 0).any():
        return False
    products = np.unique(region.product[region.product >= 0])
    return all(np.prod(values[region.product == p]) >= 0 for p in products)


def first_crossing(f, just_hit):
    """First time in (0, π) at which a trigonometric polynomial of degree 2 changes its sign.

    Its five coefficients follow from five values; in tan(t/2) it is a quartic.
    """
    times = 2 * np.pi * np.arange(5) / 5
    columns = [np.ones(5), np.cos(times), np.sin(times), np.cos(2 * times), np.sin(2 * times)]
    a, c1, s1, c2, s2 = np.linalg.solve(np.column_stack(columns), [f(t) for t in times])
    quartic = [
        a - c1 + c2,
        2 * s1 - 4 * s2,
        2 * a - 6 * c2,
        2 * s1 + 4 * s2,
        a + c1 + c2,
    ]
    scale = np.abs(quartic).max()
    quartic = np.trim_zeros(np.where(np.abs(quartic) < 1e-14 * scale, 0.0, quartic), "f")
    roots = np.roots(quartic)
    real = np.sort(roots[np.abs(roots.imag) < 1e-9 * (1 + np.abs(roots))].real)
    later = [2 * np.arctan(T) for T in real if (1e-7 if just_hit else 1e-12) < T]
    return later[0] if later else np.inf


def fly(region, mu, Sigma, w, v, time, *, metric=None):
    """Place and velocity after ``time`` < π, and the number of contacts.

    ``metric`` replaces Σ in reflections: a wrong kernel, if given.
    """
    metric = Sigma if metric is None else metric
    last, contacts = -1, 0
    while True:
        x = w - mu

        def at(t, x=x, v=v):
            return mu + x * np.cos(t) + v * np.sin(t)

        hits = [
            first_crossing(lambda t, k=k: value(region, k, at(t)), k == last)
            for k in range(region.g.size)
        ]
        wall = int(np.argmin(hits))
        t = min(hits[wall], time)
        w, v = at(t), v * np.cos(t) - x * np.sin(t)
        time -= t
        if hits[wall] > t or time <= 0:
            return w, v, contacts
        n = gradient(region, wall, w)
        v = v - 2 * (n @ v) / (n @ metric @ n) * metric @ n
        last, contacts = wall, contacts + 1


def sweep(problem, w, order, stream):
    """Each weight in turn from its conditional, from full matrices and nothing remembered."""
    w, F, g = w.copy(), problem.region.F, problem.region.g
    for i in order:
        slack, column = F @ w + g, F[:, i]
        low = max((-slack[column > 0] / column[column > 0]).tolist(), default=-np.inf)
        high = min((-slack[column < 0] / column[column < 0]).tolist(), default=np.inf)
        slope = problem.b[i] - problem.A[i] @ w
        w[i] += draw_truncated(stream, problem.A[i, i], slope, low, high)
    return w


def segments(region, w, direction):
    """Ends of the parts of a line that are inside, cut also where a bent wall is touched."""
    low, high, cuts = -np.inf, np.inf, []
    for k in range(region.g.size):
        # α + βx + γx² from three values.
        at_0, at_1, back = (value(region, k, w + x * direction) for x in (0.0, 1.0, -1.0))
        beta, gamma = 0.5 * (at_1 - back), 0.5 * (at_1 + back) - at_0
        bent = k >= region.g.size - len(region.Q)
        if not bent and region.product[k] < 0:
            if beta > 1e-12:
                low = max(low, -at_0 / beta)
            elif beta < -1e-12:
                high = min(high, -at_0 / beta)
            elif at_0 < 0:
                return []
        else:
            roots = np.roots([gamma, beta, at_0] if bent else [beta, at_0])
            cuts += roots[np.abs(roots.imag) < 1e-12].real.tolist()
    ends = [low, *sorted(x for x in cuts if low < x < high), high]
    return [
        (a, b) for a, b in pairwise(ends) if a < b and inside(region, w + between(a, b) * direction)
    ]


def between(low, high):
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    return low + 1 if np.isfinite(low) else high - 1 if np.isfinite(high) else 0.0


def log_mass(D, rho, parts):
    """Logarithm of the integral of exp(−½Dx² + ρx) over parts of a line."""
    return np.logaddexp.reduce([log_integral(D, rho, *part) for part in parts], initial=-np.inf)


def draw_on(parts, D, rho, stream):
    """A part by its mass, and a place in it."""
    chosen = 0
    if len(parts) > 1:
        masses = np.exp([log_integral(D, rho, *part) - log_mass(D, rho, parts) for part in parts])
        chosen = int(np.searchsorted(np.cumsum(masses), uniform(stream), side="right"))
    return draw_truncated(stream, D, rho, *parts[min(chosen, len(parts) - 1)])


def run(region, A, b, w, v, stream):
    """w drawn afresh on the line with direction v."""
    D, rho = v @ A @ v, v @ (b - A @ w)
    return w + draw_on(segments(region, w, v), D, rho, stream) * v


def transition(problem, law, w, time, sweeps, lines, stream):
    """A flight, sweeps and lines, or the other way round."""
    n, region = len(w), problem.region

    def velocity():
        return law.root @ [normal(stream) for _ in range(n)]

    def soar(w):
        return fly(region, law.mu, law.Sigma, w, velocity(), time)[0]

    def run_along_lines(w):
        for _ in range(lines):
            w = run(region, problem.A, problem.b, w, velocity(), stream)
        return w

    forwards = uniform(stream) < 0.5
    w = soar(w) if forwards else run_along_lines(w)
    for _ in range(sweeps):
        w = sweep(problem, w, range(n) if forwards else range(n)[::-1], stream)
    return run_along_lines(w) if forwards else soar(w)
