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
    """A regression on equally correlated columns, the first of which matter."""
    n = len(gate)
    cov = np.full((n, n), correlation) + (1 - correlation) * np.eye(n)
    X = rng.normal(size=(N, n)) @ np.linalg.cholesky(cov).T
    z = X[:, : (n + 1) // 2].sum(axis=1) * signal + sigma * rng.normal(size=N)
    problem = make_problem(
        M=X.T @ X / sigma**2, r=X.T @ z / sigma**2, gate=gate, **({"Lambda": 0.25} | rest)
    )
    if design:
        gram = DesignGram(X, np.full(N, 4.0), np.array([0.25 / sigma**2]))
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
