"""The two transitions in plain NumPy, from the formulas and with nothing remembered.

They take their random numbers from the same stream in the same order as the compiled ones.
Contacts are found with arctangents, energies of the paper's kernel from the Hamiltonian.
"""

import numpy as np
from problems import fresh_caches

from pymc_exact_hmc.random_stream import binomial, exponential, shuffle_front, uniform
from pymc_exact_hmc.weights.block import LAM, LAMBDA, SLAB_LOWER, SLAB_UPPER
from pymc_exact_hmc.weights.integral import log_integral
from pymc_exact_hmc.weights.normal import normal
from pymc_exact_hmc.weights.truncated_draw import draw_truncated


def hit_times(stream, clocks, n):
    """(wall, its place in the order, time) of every hit, and the energies by that place."""
    order = np.empty(n, np.int32)
    shuffle_front(stream, order, n)
    sums = np.cumsum([exponential(stream) for _ in range(n + 1)])
    energies = np.array([exponential(stream) for _ in range(n)])
    half_turns = clocks.fewest + (clocks.most - clocks.fewest) * uniform(stream)
    hits = []
    for cycle in range(int(half_turns) + 1):
        for k in range(n):
            turns = cycle + sums[k] / sums[n]
            if turns <= half_turns:
                hits.append((order[k], k, clocks.w_time * turns / half_turns))
    return hits, energies


def first_root(c, speed, c_mean, just_hit):
    """First t > 0 with c_mean + (c − c_mean) cos t + speed sin t = 0."""
    amplitude = np.hypot(c - c_mean, speed)
    if amplitude <= abs(c_mean):
        return np.inf
    phase = np.arctan2(speed, c - c_mean)
    turn = np.arccos(-c_mean / amplitude)
    roots = np.mod([phase + turn, phase - turn], 2 * np.pi)
    return min(t for t in roots if not (just_hit and min(t, 2 * np.pi - t) < 1e-9))


def fly(w, v, mu, Sigma, lower, upper, time):
    """Position and velocity after ``time``, with reflections."""
    last = None
    while True:
        t, wall = np.inf, None
        for i in range(len(w)):
            for side, bound in ((1, lower[i]), (-1, upper[i])):
                if np.isfinite(bound):
                    c, mean = side * (w[i] - bound), side * (mu[i] - bound)
                    root = first_root(c, side * v[i], mean, last == (i, side))
                    if root < t:
                        t, wall = root, (i, side)
        step = min(t, time)
        x = w - mu
        w, v = mu + x * np.cos(step) + v * np.sin(step), v * np.cos(step) - x * np.sin(step)
        if t > time:
            return w, v
        time -= t
        i, last = wall[0], wall
        w[i] = lower[i] if wall[1] == 1 else upper[i]
        v = v - 2 * v[i] / Sigma[i, i] * Sigma[:, i]


def group_terms(problem, s, g, w, P, held):
    """Precision and linear term of the weights of gate g given the rest of P."""
    J = np.flatnonzero(problem.block.gate == g)
    Q = [i for i in P if i not in J]
    cross = problem.M[np.ix_(J, Q)]
    if held:
        values = np.array([w[P.index(i)] for i in Q])
        return J, problem.A[np.ix_(J, J)], problem.b[J] - cross @ values
    solve = np.linalg.solve(problem.A[np.ix_(Q, Q)], np.column_stack([cross.T, problem.b[Q]]))
    return J, problem.A[np.ix_(J, J)] - cross @ solve[:, :-1], problem.b[J] - cross @ solve[:, -1]


def prior_odds(problem, s, g):
    """Log-odds that the prior on the indicators gives to s_g = 1."""
    return problem.log_odds[g] + (0.0 if problem.coupling is None else problem.coupling[g] @ s)


def log_odds(problem, J, D, rho):
    """L of a group: over its bounds if it is a single weight, over all of space if not."""
    c = problem.block.coefficients
    slab = sum(log_integral(c[LAMBDA, j], c[LAM, j], c[SLAB_LOWER, j], c[SLAB_UPPER, j]) for j in J)
    if len(J) == 1:
        bounds = problem.lower[J[0]], problem.upper[J[0]]
        return log_integral(D[0, 0], rho[0], *bounds) - slab
    return 0.5 * (rho @ np.linalg.solve(D, rho) - np.linalg.slogdet(D / (2 * np.pi))[1]) - slab


def draw_joining(problem, J, stream, collapsed_D, D, rho):
    """Fresh velocities and weights of a gate that opens."""
    if len(J) == 1:
        v = np.array([normal(stream)]) / np.sqrt(collapsed_D[0])
        bounds = problem.lower[J[0]], problem.upper[J[0]]
        return v, np.array([draw_truncated(stream, D[0, 0], rho[0], *bounds)])
    C, held_C = np.linalg.cholesky(collapsed_D), np.linalg.cholesky(D)
    v = np.linalg.solve(C.T, [normal(stream) for _ in J])
    noise = np.array([normal(stream) for _ in J])
    return v, np.linalg.solve(held_C.T, np.linalg.solve(held_C, rho) + noise)


def sheared(
    problem, s, w, stream, clocks, *, shear_v=1.0, shear_w=1.0, sign_of_log=1.0, stale=False,
    mixed_odds=False,
):  # fmt: skip
    """Return s and w after one call; the keywords make it wrong, for tests of tests."""
    s, w = s.copy(), w.copy()
    P = list(problem.on(s))
    _, mu, Sigma = problem.gaussian(s)
    x, v = w[P], np.linalg.cholesky(Sigma) @ [normal(stream) for _ in P]
    hits, energies = hit_times(stream, clocks, len(s))
    now = 0.0
    first_D, _ = fresh_caches(problem, s)
    for g, k, time in hits:
        held = uniform(stream) < clocks.held
        A = problem.A[np.ix_(P, P)]
        Sigma = np.linalg.inv(A)
        mu = Sigma @ problem.b[P]
        x, v = fly(x, v, mu, Sigma, problem.lower[P], problem.upper[P], time - now)
        now = time
        J, D, rho = group_terms(problem, s, g, x, P, held or mixed_odds)
        _, collapsed_D, _ = group_terms(problem, s, g, x, P, False)
        if stale and len(J) == 1:
            D = first_D[J][:, None]
        L = prior_odds(problem, s, g) + log_odds(problem, J, D, rho)
        if sign_of_log < 0:
            L += np.linalg.slogdet(D)[1]
        drop = L if s[g] == 0 else -L
        if not energies[k] + drop > 0.0:
            continue
        Q = [i for i in P if i not in J]
        U = np.linalg.solve(problem.A[np.ix_(Q, Q)], problem.M[np.ix_(Q, J)])
        if s[g] == 0:
            v_J, w_J = draw_joining(problem, J, stream, collapsed_D, D, rho)
            new_x = np.append(x - (0.0 if held else shear_w) * U @ w_J, w_J)
            new_v, new_P = np.append(v - shear_v * U @ v_J, v_J), P + list(J)
        else:
            inside = np.array([P.index(j) for j in J])
            rest = np.array([P.index(i) for i in Q], int)
            shift = (0.0 if held else shear_w) * U @ x[inside]
            new_x, new_v, new_P = remove_in_order(
                P, J, x, v, rest, x[rest] + shift, v[rest] + shear_v * U @ v[inside]
            )
        if np.all((problem.lower[new_P] <= new_x) & (new_x <= problem.upper[new_P])):
            x, v, P = new_x, new_v, new_P
            s[g] ^= 1
            energies[k] += drop
    Sigma = np.linalg.inv(problem.A[np.ix_(P, P)])
    mu = Sigma @ problem.b[P]
    x, v = fly(x, v, mu, Sigma, problem.lower[P], problem.upper[P], clocks.w_time - now)
    return s, with_slabs(problem, stream, P, x)


def remove_in_order(P, J, x, v, rest, new_x, new_v):
    """The seats after the weights J have left: each time the last one takes the free seat."""
    x, v, P = x.copy(), v.copy(), list(P)
    x[rest], v[rest] = new_x, new_v
    for j in J:
        a = P.index(j)
        P[a], x[a], v[a] = P[-1], x[-1], v[-1]
        P, x, v = P[:-1], x[:-1], v[:-1]
    return x, v, P


def with_slabs(problem, stream, P, x):
    """All weights: x in P, the others from their slabs."""
    w = np.empty(len(problem.b))
    w[P] = x
    c = problem.block.coefficients
    for i in np.setdiff1d(np.arange(len(w)), P):
        bounds = c[SLAB_LOWER, i], c[SLAB_UPPER, i]
        w[i] = draw_truncated(stream, c[LAMBDA, i], c[LAM, i], *bounds)
    return w


def integrated(problem, s, stream, clocks):
    """The weights integrated out of every hit, and drawn at the end."""
    s, n = s.copy(), len(s)
    half_turns = clocks.fewest + (clocks.most - clocks.fewest) * uniform(stream)
    whole = int(half_turns)
    n_hits = whole * n + binomial(stream, n, half_turns - whole)
    order = np.empty(n, np.int32)
    shuffle_front(stream, order, min(n_hits, n))
    energies = [exponential(stream) for _ in range(min(n_hits, n))]
    P = list(problem.on(s))
    for k in range(n_hits):
        g = order[k % n]
        J, D, rho = group_terms(problem, s, g, None, P, False)
        L = prior_odds(problem, s, g) + log_odds(problem, J, D, rho)
        drop = L if s[g] == 0 else -L
        if energies[k % n] + drop > 0.0:
            energies[k % n] += drop
            s[g] ^= 1
            nothing = np.zeros(len(P))
            P = P + list(J) if s[g] else remove_in_order(P, J, nothing, nothing, [], [], [])[2]
    Sigma = np.linalg.inv(problem.A[np.ix_(P, P)])
    noise = np.array([normal(stream) for _ in P])
    return s, with_slabs(
        problem, stream, P, Sigma @ problem.b[P] + np.linalg.cholesky(Sigma) @ noise
    )


def paper(problem, s, w, stream, clocks):
    """The paper's kernel on the full matrices A(s) = GMG + Λ, b(s) = Gr + λ."""
    s, w, n = s.copy(), w.copy(), len(w)
    c = problem.block.coefficients
    P = list(problem.on(s))
    closed = np.setdiff1d(np.arange(n), P)
    v = np.empty(n)
    v[P] = np.linalg.cholesky(problem.gaussian(s)[2]) @ [normal(stream) for _ in P]
    v[closed] = np.array([normal(stream) for _ in closed]) / np.sqrt(c[LAMBDA, closed])
    hits, energies = hit_times(stream, clocks, len(s))
    now = 0.0
    for g, k, time in [*hits, (None, None, clocks.w_time)]:
        A, b, lower, upper = piece(problem, s)
        Sigma = np.linalg.inv(A)
        w, v = fly(w, v, Sigma @ b, Sigma, lower, upper, time - now)
        now = time
        if g is None:
            return s, w
        flipped = s.copy()
        flipped[g] ^= 1
        momentum = A @ v
        drop = hamiltonian(problem, s, w, momentum) - hamiltonian(problem, flipped, w, momentum)
        drop += (flipped[g] - s[g]) * prior_odds(problem, s, g)
        if energies[k] + drop > 0.0:
            energies[k] += drop
            s = flipped
            v = np.linalg.solve(piece(problem, s)[0], momentum)
    raise AssertionError


def piece(problem, s):
    """A(s), b(s) and the bounds."""
    c = problem.block.coefficients
    G = np.zeros(len(problem.b))
    G[problem.on(s)] = 1.0
    lower = np.where(G == 1.0, problem.lower, c[SLAB_LOWER])
    upper = np.where(G == 1.0, problem.upper, c[SLAB_UPPER])
    A = G[:, None] * problem.M * G + np.diag(c[LAMBDA])
    return A, G * (problem.b - c[LAM]) + c[LAM], lower, upper


def hamiltonian(problem, s, w, momentum):
    """½w'Aw − b'w + ½g'A⁻¹g + ½ log|A| (eq. 36); infinite outside the bounds."""
    A, b, lower, upper = piece(problem, s)
    if np.any((w < lower) | (w > upper)):
        return np.inf
    kinetic = 0.5 * momentum @ np.linalg.solve(A, momentum) + 0.5 * np.linalg.slogdet(A)[1]
    return 0.5 * w @ A @ w - b @ w + kinetic
