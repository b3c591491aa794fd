"""Gates under constraints in plain NumPy: full matrices, and nothing remembered between hits."""

import numpy as np
import region_reference as plain
from fenced_problems import GATE, LAM, LAMBDA, LOG_ODDS, X, Y

from pymc_exact_hmc.random_stream import exponential, shuffle_front, uniform
from pymc_exact_hmc.weights.normal import normal
from pymc_exact_hmc.weights.truncated_draw import draw_truncated

M, R = X.T @ X, X.T @ Y


def view(region, s):
    """The region as it is at s: gated factors see closed weights as 0."""
    seen = np.where(region.gated[:, None] == 1, np.append(s, 1)[GATE], 1)
    pairs = [np.outer(x, x) for x in seen[region.g.size - len(region.Q) :]]
    return region._replace(F=region.F * seen, Q=region.Q * np.array(pairs) if pairs else region.Q)


def carried(region, own):
    """Weights in raw conditions other than their own bounds."""
    raw = (region.gated == 0) & ~own
    met = (region.F[raw] != 0).any(axis=0)
    for k, form in enumerate(region.Q):
        if raw[region.g.size - len(region.Q) + k]:
            met |= (form != 0).any(axis=0)
    return met


def gaussian(s, P, moving, w):
    """Mean, covariance and precision of all weights at s; those that stand still have none."""
    mu, Sigma, A = w.copy(), np.zeros((4, 4)), np.diag(LAMBDA)
    A[np.ix_(P, P)] += M[np.ix_(P, P)]
    Sigma[np.ix_(P, P)] = np.linalg.inv(A[np.ix_(P, P)])
    mu[P] = Sigma[np.ix_(P, P)] @ (R + LAM)[P]
    for i in np.flatnonzero(moving):
        if i not in P:
            Sigma[i, i], mu[i] = 1 / LAMBDA[i], LAM[i] / LAMBDA[i]
    return mu, Sigma, A


def velocity(Sigma, P, moving, stream):
    """Weights in P in the order of their seats, then the closed ones that move."""
    v = np.zeros(4)
    v[P] = np.linalg.cholesky(Sigma[np.ix_(P, P)]) @ [normal(stream) for _ in P]
    for i in np.flatnonzero(moving):
        if i not in P:
            v[i] = normal(stream) * np.sqrt(Sigma[i, i])
    return v


class Counts:
    """What happened in a call."""

    def __init__(self):
        self.hits = self.crossings = self.contacts = 0


def transition(problem, s, w, clocks, stream):
    """Return s and w after one call, and what happened in it."""
    counts = Counts()
    region, own = problem.whole()
    s, w, moving = s.copy(), w.copy(), carried(region, own)
    P = [i for i in range(4) if GATE[i] < 0 or s[GATE[i]] == 1]

    def soar(w):
        mu, Sigma, _ = gaussian(s, P, moving, w)
        v = velocity(Sigma, P, moving, stream)
        w, _, contacts = plain.fly(view(region, s), mu, Sigma, w, v, clocks.w_time)
        counts.contacts += contacts
        return w

    def run(w):
        if not len(region.Q) and not (region.product >= 0).any():
            return w
        mu, Sigma, A = gaussian(s, P, moving, w)
        return plain.run(view(region, s), A, A @ mu, w, velocity(Sigma, P, moving, stream), stream)

    first = uniform(stream) < 0.5
    if first:
        w = run(soar(w))
    w = hit_walls(region, s, w, P, clocks, stream, counts)
    if not first:
        w = soar(run(w))
    for i in range(4):
        if i not in P and not moving[i]:
            w[i] = draw_truncated(stream, LAMBDA[i], LAM[i], problem.lower, np.inf)
    return s, w, counts


def hit_walls(region, s, w, P, clocks, stream, counts):
    """Hits with w where it is; s and P change in place."""
    order = np.empty(3, np.int32)
    shuffle_front(stream, order, 3)
    sums = np.cumsum([exponential(stream) for _ in range(4)])
    energies = [exponential(stream) for _ in range(3)]
    half_turns = clocks.fewest + (clocks.most - clocks.fewest) * uniform(stream)
    for cycle in range(int(half_turns) + 1):
        for k in range(3):
            if cycle + sums[k] / sums[3] <= half_turns:
                held, before = uniform(stream) < clocks.held, s.copy()
                drop, w = hit(region, s, w, P, order[k], held, energies[k], stream)
                energies[k] += drop
                counts.hits += 1
                counts.crossings += int((s != before).any())
    return w


def hit(region, s, w, P, j, held, energy, stream):
    """One hit: the energy it takes, 0 if it bounces, and the new w."""
    Q = [i for i in P if i != j]
    A = M[np.ix_(Q, Q)] + np.diag(LAMBDA[Q])
    u = np.zeros(4)
    if held:
        D, rho = M[j, j] + LAMBDA[j], R[j] + LAM[j] - M[j, Q] @ w[Q]
    else:
        u[Q] = np.linalg.solve(A, M[Q, j])
        D = M[j, j] + LAMBDA[j] - M[j, Q] @ u[Q]
        rho = R[j] + LAM[j] - u[Q] @ (R + LAM)[Q]
    base = w + (u * w[j] if s[j] == 1 else 0.0)
    base[j] = 0.0
    states = [s.copy(), s.copy()]
    states[0][j], states[1][j] = 0, 1
    along = [np.eye(4)[j], np.eye(4)[j] - u]
    laws = [(LAMBDA[j], LAM[j]), (D, rho)]
    parts = [plain.segments(view(region, states[k]), base, along[k]) for k in range(2)]
    odds = plain.log_mass(*laws[1], parts[1]) - plain.log_mass(*laws[0], parts[0]) + LOG_ODDS[j]
    new = 1 - s[j]
    drop = odds if new == 1 else -odds
    if not energy + drop > 0:
        return 0.0, w
    w = base + plain.draw_on(parts[new], *laws[new], stream) * along[new]
    s[j] = new
    if new == 1:
        P.append(j)
    else:
        # The last one takes the free seat.
        P[P.index(j)] = P[-1]
        P.pop()
    return drop, w
