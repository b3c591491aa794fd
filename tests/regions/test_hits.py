"""Hits of gates under constraints: odds and conditional laws against integrals on a grid."""

import numpy as np
import pytest
from fenced_problems import GATE, LAM, LAMBDA, REGIONS, Mover, Problem, X, Y, exact
from region_cases import REGIONS as PLANE
from region_cases import allowed
from scipy import stats

from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.fans import hit, look_around, take
from pymc_exact_hmc.regions.lines import (
    COUNT,
    LOG_TOTAL,
    find_segments,
    make_line,
    trace_line,
)
from pymc_exact_hmc.regions.region import make_region, violated
from pymc_exact_hmc.regions.view import show
from pymc_exact_hmc.weights.refreshing import refresh_active

M, R = X.T @ X, X.T @ Y
GRID = np.linspace(-10.0, 10.0, 40_001)
CELL = GRID[1] - GRID[0]
ENDS = 4
"""Most ends of segments that a line has in these regions; at each the grid errs by a cell."""


def log_density(s, w):
    """log p(s, w) of rows of w without the region and the prior on s."""
    on = np.append(s, 1).astype(float)
    gated = on * w
    return -0.5 * (np.einsum("ni,ij,nj->n", gated, M, gated) + w**2 @ LAMBDA) + gated @ R + w @ LAM


def fan(problem, s, w, g, held):
    """Log masses of the closed and of the open states of a fan, their error, and the lines."""
    closed, opened = s.copy(), s.copy()
    closed[g], opened[g] = 0, 1
    P = [i for i in range(4) if i != g and (GATE[i] < 0 or s[GATE[i]] == 1)]
    A = M[np.ix_(P, P)] + np.diag(LAMBDA[P])
    u = np.zeros(4)
    u[P] = 0.0 if held else np.linalg.solve(A, M[P, g])
    base = w.copy()
    if s[g] == 1:
        base += u * w[g]
    base[g] = 0.0
    direction = -u
    direction[g] = 1.0
    masses, error = [], 0.0
    for state, along in ((closed, np.eye(4)[g]), (opened, direction)):
        line = base + GRID[:, None] * along
        inside = problem.allowed(state, line)
        value = log_density(state, line[inside])
        top = value.max(initial=-np.inf)
        total = np.exp(value - top).sum() * CELL
        masses.append(top + np.log(total) if inside.any() else -np.inf)
        error += ENDS * CELL / total if inside.any() else 0.0
    return masses, error, base, direction


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("name", REGIONS)
def test_odds_are_ratios_of_integrals(name, held):
    """±L of a hit is the log ratio of the masses on the two lines, sheared or held."""
    problem, rng = Problem(REGIONS[name], -np.inf), np.random.default_rng(31)
    _, states, code, w = exact(problem, 4, rng, draws=4000)
    mover = Mover(problem)
    for s, x in zip(states[code], w, strict=True):
        s = s.copy()
        refresh_active(mover.block, mover.active, s)
        show(mover.fence.region, mover.fence.shown, mover.block.gate, s)
        for g in range(3):
            look_around(mover.active, x)
            (closed, opened), error, *_ = fan(problem, s, x, g, held)
            own = hit(mover.block, mover.active, mover.fence, s, x, g, held, np.inf)
            odds = opened - closed if s[g] == 0 else closed - opened
            assert own == odds or abs(own - odds) < error + 1e-9


@pytest.mark.parametrize("held", [False, True])
def test_a_crossing_lands_on_the_other_line(held):
    """The rest of P moves along the shear, or not at all, and w_j has its conditional law."""
    problem, rng = Problem(REGIONS["raw sum"], -np.inf), np.random.default_rng(32)
    _, states, code, w = exact(problem, 40, rng, draws=4000)
    mover, places = Mover(problem), []
    for s, x in zip(states[code], w, strict=True):
        s, x = s.copy(), x.copy()
        refresh_active(mover.block, mover.active, s)
        show(mover.fence.region, mover.fence.shown, mover.block.gate, s)
        look_around(mover.active, x)
        g = int(rng.integers(3))
        *_, base, direction = fan(problem, s, x, g, held)
        hit(mover.block, mover.active, mover.fence, s, x, g, held, np.inf)
        opened = s.copy()
        opened[g] ^= 1
        along = direction if s[g] == 0 else np.eye(4)[g]
        assert take(mover.block, mover.active, mover.fence, s, x, g, seed_words(rng))
        np.testing.assert_allclose(x, base + x[g] * along, rtol=0, atol=1e-9)
        line = base + GRID[:, None] * along
        inside = problem.allowed(opened, line)
        density = np.exp(log_density(opened, line) - log_density(opened, x[None])) * inside
        places.append(density[x[g] > GRID].sum() / density.sum())
    assert stats.kstest(places, "uniform").pvalue > 1e-6


def test_closed_weights_are_drawn_from_their_slabs():
    """A closed weight that meets gated walls only is drawn afresh at each call."""
    problem, rng = Problem(REGIONS["gated order"], -np.inf), np.random.default_rng(33)
    _, states, code, w = exact(problem, 300, rng, draws=4000)
    mover, places = Mover(problem), []
    for s, x in zip(states[code], w, strict=True):
        s, before = s.copy(), x.copy()
        mover.move(s, x, seed_words(rng))
        for i in np.flatnonzero(np.append(s, 1) == 0):
            assert x[i] != before[i]
            places.append(stats.norm(LAM[i] / LAMBDA[i], LAMBDA[i] ** -0.5).cdf(x[i]))
    assert stats.kstest(places, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("name", PLANE)
def test_segments_of_random_lines(name):
    """The mass on the parts of a line that are in a region, convex or not, or made of products."""
    region, rng = PLANE[name], np.random.default_rng(34)
    line, several = make_line(region), 0
    for _ in range(25):
        w, direction = rng.normal(size=2), rng.normal(size=2)
        D, rho = 1.0 + rng.gamma(2.0), rng.normal()
        trace_line(region, line, w, direction)
        find_segments(region, line, D, rho)
        inside = allowed(region, w + GRID[:, None] * direction)
        density = np.exp(-0.5 * D * GRID**2 + rho * GRID) * inside
        mass, ends = density.sum() * CELL, 2.0 + np.abs(np.diff(inside.astype(int))).sum()
        error = ends * CELL * density.max()
        assert abs(np.exp(line.total[LOG_TOTAL]) - mass) <= error + 1e-9
        several += line.total[COUNT] > 1
    assert several or region.is_convex or name in ("ball", "ball cut", "tangent", "parabola")


def test_violations():
    """Just outside is outside, NaN is nowhere, and products ask for an even number of signs."""
    alone = make_region(np.eye(2), [0.0, 0.0])
    for w, k in [((1e-9, 0.0), -1), ((-1e-9, 1.0), 0), ((0.0, -1e-9), 1), ((np.nan, 1.0), 0)]:
        assert violated(alone, np.array(w)) == k
    product = make_region(np.eye(2), [0.0, 0.0], product=[0, 0])
    for w, inside in [((1, 1), True), ((-1, -1), True), ((1, -1), False), ((-1, 1), False)]:
        assert (violated(product, np.array(w, float)) < 0) == inside
    assert violated(product, np.array([np.nan, 1.0])) >= 0
