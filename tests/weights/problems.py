"""Blocks of weights to test on, and everything about them by plain linear algebra."""

from typing import NamedTuple

import numpy as np

from pymc_exact_hmc.weights.block import LAM, LAMBDA, LOWER, UPPER, Block, R, make_block
from pymc_exact_hmc.weights.grams import DenseGram, DesignGram


class Problem(NamedTuple):
    """A block with its M in full and the log-odds of its indicators' prior.

    ``coupling`` is J of a prior exp(h's + ½s'Js), nothing for independent indicators.
    """

    block: Block
    M: np.ndarray
    log_odds: np.ndarray
    coupling: np.ndarray | None = None

    @property
    def A(self):  # noqa: N802
        """M + Λ."""
        return self.M + np.diag(self.block.coefficients[LAMBDA])

    @property
    def b(self):
        """r + λ."""
        return self.block.coefficients[R] + self.block.coefficients[LAM]

    @property
    def lower(self):
        return self.block.coefficients[LOWER]

    @property
    def upper(self):
        return self.block.coefficients[UPPER]

    def on(self, s):
        """The weights that are in the likelihood."""
        return np.flatnonzero((self.block.gate < 0) | (np.append(s, 1)[self.block.gate] == 1))

    def gaussian(self, s):
        """P, μ_P and Σ_P."""
        P = self.on(s)
        Sigma = np.linalg.inv(self.A[np.ix_(P, P)])
        return P, Sigma @ self.b[P], Sigma


def make_problem(
    *, M, r, Lambda, gate, lam=0.0, log_odds=-0.5, lower=-np.inf, upper=np.inf, **slab
):
    gate = np.asarray(gate)
    n_gates = int(gate.max(initial=-1)) + 1
    gram = DenseGram(np.ascontiguousarray(M, float), np.ones(1))
    block = make_block(
        gram, r, Lambda, lam, gate, n_gates=n_gates, lower=lower, upper=upper, **slab
    )
    return Problem(block, gram.M, np.broadcast_to(np.asarray(log_odds, float), n_gates).copy())


def regression(rng, gate, *, correlation=0.5, N=40, sigma=1.5, signal=1.0, design=False, **rest):
    """A regression on equally correlated columns, the first of which matter.

    Single numbers for slabs, row weights and prior odds are spread, so that each weight, row
    and gate has its own and one taken for another is noticed.
    """
    n = len(gate)
    rest = {"Lambda": 0.25, "lam": 0.0, "log_odds": -0.5} | rest
    for name, size in (("Lambda", n), ("lam", n), ("log_odds", max(gate) + 1)):
        if np.ndim(rest[name]) == 0:
            rest[name] = rest[name] * np.linspace(0.7, 1.3, size)
    cov = np.full((n, n), correlation) + (1 - correlation) * np.eye(n)
    X = rng.normal(size=(N, n)) @ np.linalg.cholesky(cov).T
    z = X[:, : (n + 1) // 2].sum(axis=1) * signal + sigma * rng.normal(size=N)
    precision = np.linspace(0.8, 1.2, N) / sigma**2
    problem = make_problem(M=X.T * precision @ X, r=X.T * precision @ z, gate=gate, **rest)
    if design:
        gram = DesignGram(X, 4.0 * precision, np.array([0.25]))
        problem = problem._replace(block=problem.block._replace(gram=gram))
    return problem


def fresh_caches(problem, s):
    """D and ρ of every weight, from their definition."""
    D, rho = np.empty(len(problem.b)), np.empty(len(problem.b))
    for j in range(len(D)):
        P = np.setdiff1d(problem.on(s), [j])
        m = problem.M[P, j]
        solve = np.linalg.solve(problem.A[np.ix_(P, P)], np.column_stack([m, problem.b[P]]))
        D[j] = problem.A[j, j] - m @ solve[:, 0]
        rho[j] = problem.b[j] - m @ solve[:, 1]
    return D, rho
