"""The problems of the field: data and prior, the same for every peer, and what is compared.

``kinds(values)`` turns the draws of any peer into series by kind, the worst of which counts.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from paper_regression import choose
from paper_regression import paper_data as paper_columns
from scipy.special import expit, log_ndtr, ndtr


class Selection(NamedTuple):
    """y given X(γ∘w), γ ~ Bernoulli(a), w ~ Normal(0, τ²), cut to w ≥ 0 if ``positive``.

    The law of y is Normal with standard deviation σ, or Bernoulli with a probit or logit link.
    """

    X: np.ndarray
    y: np.ndarray
    family: str = "gaussian"
    positive: bool = False
    sigma: float = 1.0
    tau: float = 1.0
    a: float = 0.1
    support: int = 10
    """The first columns are those that matter in the simulated data."""

    def choose(self, values):
        return choose(values["gamma"])

    def kinds(self, values, chosen):
        gamma, beta = values["gamma"], values["beta"]
        # A peer may offer the probability of each indicator given the rest, which is less noisy.
        indicators = values.get("inclusion", gamma)[:, chosen.indicators]
        energy = self.log_joint(gamma, beta)[:, None]
        return {"indicators": indicators, "weights": beta[:, chosen.weights], "energy": energy}

    def log_joint(self, gamma, beta):
        """Return log p(y, γ, w) up to a constant, without the weights that are off."""
        eta = beta @ self.X.T
        if self.family == "gaussian":
            terms = -0.5 * ((self.y - eta) / self.sigma) ** 2
        else:
            signed = np.where(self.y > 0, eta, -eta)
            terms = log_ndtr(signed) if self.family == "probit" else -np.logaddexp(0, -signed)
        density = np.log(self.a / (1 - self.a)) - np.log(self.tau * np.sqrt(2 * np.pi))
        slab = gamma.sum(axis=1) * (density + self.positive * np.log(2.0))
        return terms.sum(axis=1) + slab - 0.5 * (beta**2).sum(axis=1) / self.tau**2


class Spins(NamedTuple):
    """p(s) ∝ exp(β Σ s_i s_j) on a periodic lattice of ``shape``."""

    shape: tuple
    beta: float

    def choose(self, values):
        return None

    def kinds(self, values, chosen):
        s = 2.0 * values["x"].reshape(-1, *self.shape) - 1.0
        axes = range(1, 1 + len(self.shape))
        bonds = sum((s * np.roll(s, 1, axis)).sum(axis=tuple(axes)) for axis in axes)
        # Up and down are alike: |m| says more about agreement than m.
        mean = s.mean(axis=tuple(axes))
        magnetisation = np.stack([mean, np.abs(mean)], axis=1)
        spins = 0.5 * (s.reshape(len(s), -1) + 1.0)
        return {"indicators": spins, "magnetisation": magnetisation, "energy": bonds[:, None]}


class Mixture(NamedTuple):
    """y_n ~ Normal(μ of label n, 1), labels ~ Bernoulli(0.4), μ₀ < μ₁ by their priors."""

    y: np.ndarray
    share: float = 0.4
    prior_mean: tuple = (-2.0, 2.0)
    prior_sd: float = 2.0

    def probability(self, mu):
        """Return the probability of label 1 of each observation, for each draw of μ."""
        log_odds = np.log(self.share / (1 - self.share)) + 0.5 * (
            (self.y - mu[:, :1]) ** 2 - (self.y - mu[:, 1:]) ** 2
        )
        return expit(log_odds)

    def choose(self, values):
        middle = values["z"].mean(axis=0)
        return np.flatnonzero((middle > 0.02) & (middle < 0.98))

    def kinds(self, values, chosen):
        z, mu = values["z"], values["mu"]
        residual = self.y - np.where(z == 1, mu[:, 1:], mu[:, :1])
        prior = np.where(z == 1, np.log(self.share), np.log1p(-self.share)).sum(axis=1)
        slab = -0.5 * (((mu - np.array(self.prior_mean)) / self.prior_sd) ** 2).sum(axis=1)
        energy = -0.5 * (residual**2).sum(axis=1) + prior + slab
        return {"indicators": z[:, chosen], "weights": mu, "energy": energy[:, None]}


def paper(seed, correlation=0.1, positive=False):
    X, y = paper_columns(correlation, np.random.default_rng(seed))
    return Selection(X, y, positive=positive, sigma=10.0, tau=10.0)


def wide(seed, n=200, d=1000):
    """Independent columns, ten of which matter a little or a lot."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, :10] @ np.linspace(0.15, 1.0, 10) + rng.normal(size=n)
    return Selection(X, y, a=10 / d)


def expression(seed, n=64, d=6830, factors=12):
    """As in NCI60: 64 samples, 6830 genes that move together, five of which matter."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, factors)) @ rng.normal(size=(factors, d)) / np.sqrt(factors)
    X = np.sqrt(0.4) * shared + np.sqrt(0.6) * rng.normal(size=(n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, :5] @ np.linspace(0.8, 1.6, 5) + rng.normal(size=n)
    return Selection(X, y, a=5 / d, support=5)


def outcomes(seed, family, n=500, d=50, correlation=0.5):
    """Binary outcomes, five predictors that matter, of strengths from weak to strong."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1))
    X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(n, d))
    eta = X[:, :5] @ np.linspace(0.2, 1.0, 5)
    probability = ndtr(eta) if family == "probit" else expit(eta)
    return Selection(X, (rng.random(n) < probability).astype(int), family, support=5)


def mixture(seed, n=1000):
    rng = np.random.default_rng(seed)
    return Mixture(rng.standard_normal(n) + np.where(rng.random(n) < 0.4, 1.0, -1.0))


CASES = {
    "paper's regression": paper,
    "paper's regression, w ≥ 0": partial(paper, positive=True),
    "correlation 0.9": partial(paper, correlation=0.9),
    "correlation 0.9, w ≥ 0": partial(paper, correlation=0.9, positive=True),
    "correlation 0.99": partial(paper, correlation=0.99),
    "200 × 1000": wide,
    "64 × 6830": expression,
    "probit, 500 × 50": partial(outcomes, family="probit"),
    "logit, 500 × 50": partial(outcomes, family="logit"),
    "1D Ising, d = 400": lambda seed: Spins((400,), 0.42),
    "2D Ising, 32 × 32": lambda seed: Spins((32, 32), 0.35),
    "mixture, 1000 labels": mixture,
}
"""Each case makes its data from a seed."""
