"""Small gated Gaussians inside regions: exact draws by enumeration and rejection, and moves."""

import itertools
from typing import NamedTuple

import numpy as np
from region_cases import allowed

from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.dynamics.transition import refresh_caches
from pymc_exact_hmc.energies import Fields
from pymc_exact_hmc.regions.gated import fenced_transition, make_fence
from pymc_exact_hmc.regions.region import Region, make_region
from pymc_exact_hmc.weights.active import make_active
from pymc_exact_hmc.weights.block import make_block
from pymc_exact_hmc.weights.grams import DenseGram
from pymc_exact_hmc.weights.workspace import Clocks, empty_attempts, make_walls

RNG = np.random.default_rng(77)
X = RNG.normal(size=(10, 4))
X[:, 1] += 2.0 * X[:, 0]
Y = X @ np.array([0.5, 0.2, 0.0, 0.3]) + RNG.normal(size=10)
GATE = np.array([0, 1, 2, -1])
LAMBDA, LAM = np.array([0.6, 0.5, 0.7, 0.4]), np.array([0.1, -0.2, 0.0, 0.3])
LOG_ODDS = np.array([0.2, -0.3, 0.1])
EYE = np.eye(4)
ONES = np.ones((1, 4))

REGIONS = {
    "raw sum": make_region(-ONES, [0.8]),
    "gated sum from below": make_region(ONES, [-0.5], gated=[1]),
    "raw order": make_region(EYE[1:] - EYE[:-1], np.full(3, 0.3)),
    # The first has no constant: where both gates are closed, all lines lie on its wall.
    "gated order": make_region(EYE[1:] - EYE[:-1], [0.0, 0.2, 0.2], gated=[1, 1, 1]),
    "raw ball": make_region(0.2 * ONES, [1.5], [-EYE]),
    "gated ball": make_region(0 * ONES, [0.6], [-EYE], gated=[1]),
    "gated ellipsoid": make_region(0 * ONES, [0.6], [-EYE - 0.4], gated=[1]),
    "raw outside a ball": make_region(0 * ONES, [-1.0], [EYE]),
    "gated product": make_region(EYE[:3], [0.1, 0.2, 0.3], product=[0, 0, 0], gated=[1, 1, 1]),
    "raw and gated": make_region(
        np.concatenate([[[1.0, -1.0, 0.0, 0.0]], -ONES]), [0.1, 0.7], gated=[0, 1]
    ),
}


class Problem(NamedTuple):
    region: Region
    lower: float

    def whole(self):
        """The region with the bounds of the weights as its first rows."""
        if self.lower == -np.inf:
            return self.region, np.zeros(self.region.g.size, bool)
        r = self.region
        F, g = np.concatenate([EYE, r.F]), np.concatenate([np.full(4, -self.lower), r.g])
        product = np.concatenate([np.full(4, -1), r.product])
        gated = np.concatenate([np.zeros(4, np.int8), r.gated])
        own = np.arange(g.size) < 4
        return make_region(F, g, r.Q, product=product, gated=gated), own

    def block(self):
        gram = DenseGram(X.T @ X, np.ones(1))
        bounds = {} if self.lower == -np.inf else {"lower": self.lower}
        return make_block(gram, X.T @ Y, LAMBDA, LAM, GATE, n_gates=3, **bounds)

    def allowed(self, s, w):
        """Which rows of w are in the region at s."""
        region, _ = self.whole()
        # Gated factors see closed weights as 0: written out, not as the package does it.
        seen = np.where(region.gated[:, None] == 1, np.append(s, 1)[GATE], 1)
        pairs = [np.outer(x, x) for x in seen[region.g.size - len(region.Q) :]]
        Q = region.Q * np.array(pairs) if pairs else region.Q
        return allowed(region._replace(F=region.F * seen, Q=Q), w)


def exact(problem, n, rng, draws=120_000):
    """Probabilities of the states, and n exact draws (s, w): enumeration times rejection."""
    states = np.array(list(itertools.product([0, 1], repeat=3)), np.int8)
    log_p, found = np.full(len(states), -np.inf), []
    for k, s in enumerate(states):
        on = np.append(s, 1).astype(float)
        A = on[:, None] * (X.T @ X) * on + np.diag(LAMBDA)
        b = on * (X.T @ Y) + LAM
        Sigma = np.linalg.inv(A)
        w = rng.multivariate_normal(Sigma @ b, Sigma, size=draws)
        w = w[problem.allowed(s, w)]
        found.append(w)
        if len(w):
            log_z = 0.5 * b @ Sigma @ b - 0.5 * np.linalg.slogdet(A)[1]
            log_p[k] = LOG_ODDS @ s + log_z + np.log(len(w) / draws)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    code = rng.choice(len(p), size=n, p=p)
    w = np.empty((n, 4))
    for k in range(len(p)):
        chosen = code == k
        w[chosen] = found[k][rng.integers(len(found[k]), size=chosen.sum())] if p[k] else 0.0
    return p, states, code, w


class Mover:
    """Calls of the compiled transition."""

    def __init__(self, problem, *, held=0.3, transition=fenced_transition):
        region, own = problem.whole()
        self.block, self.fence = problem.block(), make_fence(region, own)
        self.active, self.walls = make_active(self.block, 4), make_walls(3, 4)
        self.prior, self.transition = Fields(LOG_ODDS), transition
        self.clocks = Clocks(fewest=0.8, most=2.0, held=held)
        self.tally, self.attempts = empty_tally(3), empty_attempts(3)

    def move(self, s, w, stream):
        """Move s and w in place."""
        refresh_caches(self.prior, s)
        self.transition(
            self.prior, self.block, self.active, self.fence, self.walls, self.clocks,
            s, w, stream, self.tally, self.attempts,
        )  # fmt: skip
