"""Gaussians in regions of every kind, with exact draws by rejection."""

from typing import NamedTuple

import numpy as np

from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.region import Region, empty_law, make_region, set_law
from pymc_exact_hmc.regions.truncated import make_scratch, measure_region, truncated_transition

EYE = np.eye(2)
A = np.array([[1.5, 0.6], [0.6, 1.0]])
B = np.array([0.5, 0.3])


def wedge(degrees):
    """The region between two lines through the origin, at an angle."""
    angle = np.deg2rad(degrees)
    return make_region([[0.0, 1.0], [np.sin(angle), -np.cos(angle)]], [0.0, 0.0])


REGIONS = {
    "orthant": make_region(EYE, [0.0, 0.0]),
    "wall through the mode": make_region([[1.0, 0.4]], [-(np.linalg.solve(A, B) @ [1.0, 0.4])]),
    "far from the mode": make_region(EYE, [-1.5, -1.0]),
    "wedge": wedge(20.0),
    "strip": make_region([[1.0, 0.3], [-1.0, -0.3]], [0.4, 0.1]),
    "ball": make_region([[0.0, 0.0]], [1.0], [-EYE]),
    "outside a ball": make_region([[0.0, 0.0]], [-1.0], [EYE]),
    "shell": make_region([[0.0, 0.0], [0.0, 0.0]], [-0.5, 2.0], [EYE, -EYE]),
    "ball cut": make_region([[1.0, 0.2], [0.0, 0.3]], [0.1, 1.0], [-EYE]),
    "tangent": make_region([[1.0, 0.0], [2.0, 0.0]], [0.0, 0.0], [-EYE]),
    "tangent from outside": make_region([[1.0, 0.0], [-2.0, 0.0]], [0.0, 0.0], [EYE]),
    "parabola": make_region([[0.0, 1.0]], [0.3], [[[-1.0, 0.0], [0.0, 0.0]]]),
    "saddle": make_region([[0.0, 0.0]], [0.2], [[[1.0, 0.0], [0.0, -1.0]]]),
    "product of three": make_region(
        [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, 0.5], product=[0, 0, 0]
    ),
    "product with a ball": make_region(
        [[1.0, 0.0], [0.0, 0.0]], [0.2, 1.0], [-EYE], product=[0, 0]
    ),
}


class Case(NamedTuple):
    region: Region
    A: np.ndarray
    b: np.ndarray

    def exact(self, n, rng):
        """n independent draws, by rejection."""
        Sigma = np.linalg.inv(self.A)
        found = []
        while sum(map(len, found)) < n:
            w = rng.multivariate_normal(Sigma @ self.b, Sigma, size=20_000)
            found.append(w[allowed(self.region, w)])
        return np.concatenate(found)[:n]


def case(name):
    return Case(REGIONS[name], A, B)


class ThinWedge(Case):
    """An isotropic Gaussian between two walls at 1°, where hardly a draw by rejection falls."""

    def exact(self, n, rng):
        angle, radius = rng.uniform(0.0, np.deg2rad(1.0), n), np.sqrt(2 * rng.exponential(size=n))
        return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


class Sliver(Case):
    """0 ≤ x ≤ (1 + y)/100, two walls almost parallel: rejection from a uniform x."""

    def exact(self, n, rng):
        found, (((a, c), (_, d)), (p, q)) = [], (self.A, self.b)
        while sum(map(len, found)) < n:
            x, y = rng.uniform(0.0, 0.08, 20_000), rng.normal(q / d, d**-0.5, 20_000)
            # At most this, as |y| < 7 where y ≥ −1 and x ≤ 0.08.
            most = 0.08 * (abs(c) * 7 + abs(p))
            accepted = np.log(rng.uniform(size=x.size)) < (p - 0.5 * a * x - c * y) * x - most
            w = np.column_stack([x, y])[accepted]
            found.append(w[allowed(self.region, w)])
        return np.concatenate(found)[:n]


THIN = {
    "wedge at 1°": ThinWedge(wedge(1.0), np.eye(2), np.zeros(2)),
    "almost parallel": Sliver(make_region([[1.0, 0.0], [-1.0, 0.01]], [0.0, 0.01]), A, B),
}


def allowed(region, w):
    """Which rows of w are in a region."""
    values = w @ region.F.T + region.g
    q = len(region.Q)
    if q:
        values[:, -q:] += np.einsum("ni,qij,nj->nq", w, region.Q, w)
    ok = (values[:, region.product < 0] >= 0).all(axis=1)
    for p in np.unique(region.product[region.product >= 0]):
        ok &= np.prod(values[:, region.product == p], axis=1) >= 0
    return ok


class Mover:
    """Calls of the compiled transition."""

    def __init__(self, case):
        self.region, self.law = case.region, empty_law(len(case.b))
        set_law(self.law, case.A, case.b)
        self.scratch = make_scratch(self.region)
        measure_region(self.region, self.law, self.scratch)
        self.rejected = self.reflections = 0

    def move(self, w, stream, *, time=0.5 * np.pi, sweeps=0, lines=0):
        """Move w in place."""
        move = (self.region, self.law, self.scratch, w, time, sweeps, lines, False, stream)
        truncated_transition(*move)
        self.reflections += int(self.scratch.counts[0])
        self.rejected += int(self.scratch.counts[1])


def chain(case, start, draws, seed, **options):
    """Draws of a chain, and the mover that made them."""
    mover, stream = Mover(case), seed_words(np.random.default_rng(seed))
    w, out = np.array(start, float), np.empty((draws, len(start)))
    for k in range(draws):
        mover.move(w, stream, **options)
        out[k] = w
    return out, mover
