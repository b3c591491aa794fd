"""The posterior of a small model, from its own log-density alone.

The binary unknowns are enumerated; given them the others, on the model's unconstrained scale,
are integrated by importance sampling from Student-t laws that are fitted to the log-density.
The importance weights are known, so is the error of every mean; and a share of the draws, kept
with probability min(1, weight/c) and weighted with max(weight, c), stands for exact draws.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt
from pymc.logprob.utils import ParameterValueError
from pytensor import Mode
from pytensor.graph.replace import vectorize_graph
from scipy.cluster.vq import kmeans2
from scipy.special import gammaln, logsumexp

INTERPRETED = Mode(linker="py", optimizer="fast_run").excluding("fusion", "inplace")
ROUNDS = 12
GOOD = 0.5
"""Efficiency of importance sampling at which a proposal is good enough."""
CLUSTERS = 6
FARTHEST = 12.0
"""Distance from 0, on the unconstrained scale, beyond which there is next to nothing."""
FITTING = 1200
"""Draws per state and round to which the proposal is fitted."""
FREEDOM = 5.0
"""Degrees of freedom of the proposal: its tails are heavier than the posterior's."""
WIDER = 3.0
"""One in ten is drawn from a law that is wider by this factor."""


class Density:
    """log p of many points at once: a row of s and a row of x for each."""

    def __init__(self, model):
        values = model.value_vars
        start = model.initial_point()
        self.start = start
        self.binaries = [v.name for v in values if v.dtype.startswith(("int", "uint", "bool"))]
        self.others = [v.name for v in values if v.name not in self.binaries]
        batched = {v: pt.tensor(v.name, dtype=v.dtype, shape=(None, *v.type.shape)) for v in values}
        log_p = vectorize_graph(model.logp(), batched)
        self._run = pytensor.function(
            list(batched.values()), log_p, mode=INTERPRETED, on_unused_input="ignore"
        )
        self._one = pytensor.function(
            values, model.logp(), mode=INTERPRETED, on_unused_input="ignore"
        )
        self._names = [v.name for v in values]
        self.d = int(sum(start[n].size for n in self.binaries))
        self.n = int(sum(start[n].size for n in self.others))

    def points(self, s, x):
        """Return, for each value variable, an array with a row for each point."""
        found = {}
        for names, flat in ((self.binaries, s), (self.others, x)):
            at = 0
            for name in names:
                like = self.start[name]
                part = flat[:, at : at + like.size]
                found[name] = part.reshape(len(flat), *like.shape).astype(like.dtype)
                at += like.size
        return {name: found[name] for name in self.start}

    def flat(self, points):
        """Return s and x of a list of points."""
        parts = [
            np.array([np.concatenate([np.ravel(p[n]) for n in names] or [[]]) for p in points])
            for names in (self.binaries, self.others)
        ]
        return parts[0].astype(int), parts[1].astype(float)

    def __call__(self, s, x):
        batch = self.points(s, x)
        arrays = [batch[n] for n in self._names]
        with np.errstate(all="ignore"):
            try:
                log_p = np.asarray(self._run(*arrays), float)
            except (ValueError, TypeError):
                # Masks that select another number of entries at each point have no batches, nor
                # has IfElse, and one point whose parameters are refused spoils all.
                log_p = np.array([self._at(point) for point in zip(*arrays, strict=True)])
        log_p = np.broadcast_to(log_p, (len(s),))
        return np.where(np.isfinite(log_p), log_p, -np.inf)

    def _at(self, point):
        try:
            return float(self._one(*point))
        except ParameterValueError:  # as when exp(x) is 0 to rounding
            return -np.inf


class Truth(NamedTuple):
    """Draws with importance weights, which have mean 1, and how good they are."""

    s: np.ndarray
    x: np.ndarray
    weights: np.ndarray
    states: np.ndarray
    probability: np.ndarray
    efficiency: float


class Student:
    """A mixture of a multivariate Student law and a wider one."""

    def __init__(self, mean, covariance):
        self.mean, self.root = mean, np.linalg.cholesky(covariance)

    def draw(self, rng, size):
        n = self.mean.size
        spread = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, size))
        spread *= np.where(rng.random(size) < 0.1, WIDER, 1.0)
        return self.mean + spread[:, None] * (rng.standard_normal((size, n)) @ self.root.T)

    def log_density(self, x):
        n = self.mean.size
        z = np.linalg.solve(self.root, (x - self.mean).T)
        square = np.sum(z * z, axis=0)
        constant = gammaln((FREEDOM + n) / 2) - gammaln(FREEDOM / 2)
        constant -= 0.5 * n * np.log(FREEDOM * np.pi) + np.log(np.diag(self.root)).sum()

        def tail(scale):
            power = -0.5 * (FREEDOM + n)
            return power * np.log1p(square / FREEDOM / scale**2) - n * np.log(scale)

        return constant + np.logaddexp(np.log(0.9) + tail(1.0), np.log(0.1) + tail(WIDER))


class Mixture:
    """Students side by side: for funnels, and for more modes than one."""

    def __init__(self, laws, shares):
        self.laws, self.shares = laws, shares

    def draw(self, rng, size):
        counts = rng.multinomial(size, self.shares)
        return np.concatenate([law.draw(rng, n) for law, n in zip(self.laws, counts, strict=True)])

    def log_density(self, x):
        each = [
            np.log(a) + law.log_density(x) for a, law in zip(self.shares, self.laws, strict=True)
        ]
        return logsumexp(each, axis=0)


def _log_p(density, s, x):
    """Return log p, without what lies so far out that PyMC's own numbers overflow there."""
    return np.where(np.abs(x).max(axis=1) < FARTHEST, density(s, x), -np.inf)


def _moments(x, w):
    """Mean and covariance under weights."""
    w = w / w.sum()
    mean = w @ x
    covariance = (w[:, None] * (x - mean)).T @ (x - mean)
    scale = np.trace(covariance) / len(mean) + 1e-12
    return mean, covariance + (1e-6 * scale + 1e-10) * np.eye(len(mean))


def _flattened(log_w, least):
    """Weights to a power, at most 1, at which enough draws count."""
    for power in 0.7 ** np.arange(20):
        w = np.exp(power * (log_w - log_w.max()))
        if w.sum() ** 2 / np.sum(w * w) >= least:
            break
    return w


def _efficiency(log_w):
    w = np.exp(log_w - log_w.max())
    return w.sum() ** 2 / np.sum(w * w) / len(w)


def _fit(density, state, centre, rng):
    """Return a law close to p(x | s), and log p(s) up to a constant."""
    law, n, log_z = Student(centre, 4.0 * np.eye(density.n)), density.n, -np.inf
    batch = np.repeat(state[None], FITTING * n, axis=0)
    for k in range(ROUNDS):
        x = law.draw(rng, len(batch))
        log_w = _log_p(density, batch, x) - law.log_density(x)
        if not np.isfinite(log_w).any():
            break
        log_z = logsumexp(log_w) - np.log(len(batch))
        if _efficiency(log_w) > GOOD:
            break
        w = _flattened(log_w, 20.0 * n + 20.0)
        law = Student(*_moments(x, w)) if k < ROUNDS // 2 else _mixture(x, w, rng)
    return law, log_z


def _mixture(x, w, rng):
    """Fit a law to each of the clusters of weighted draws."""
    sample = x[rng.choice(len(x), 2000, p=w / w.sum())]
    spread = sample.std(axis=0) + 1e-300
    _, label = kmeans2(sample / spread, CLUSTERS, minit="points", seed=rng)
    laws, shares = [Student(*_moments(sample, np.ones(len(sample))))], [0.1]
    for k in range(CLUSTERS):
        part = sample[label == k]
        if len(part) > 10 * x.shape[1]:
            laws.append(Student(*_moments(part, np.ones(len(part)))))
            shares.append(0.9 * len(part) / len(sample))
    return Mixture(laws, np.array(shares) / sum(shares))


def integrate(model, seed, draws=30_000):
    """Return the truth of a model, or None if it could not be found to any use."""
    density, rng = Density(model), np.random.default_rng(seed)
    every = list(itertools.product([0, 1], repeat=density.d))
    states = np.array(every, int).reshape(len(every), density.d)
    if density.n == 0:
        log_p = density(states, np.zeros((len(states), 0)))
        if not np.isfinite(log_p).any():
            return density, None
        probability = np.exp(log_p - logsumexp(log_p))
        chosen = rng.choice(len(states), draws, p=probability)
        none = np.zeros((draws, 0))
        return density, Truth(states[chosen], none, np.ones(draws), states, probability, 1.0)
    laws, log_z = _fit_all(density, states, rng)
    if not np.isfinite(log_z).any():
        return density, None
    probability = np.exp(log_z - logsumexp(log_z))
    shares = np.where(np.isfinite(log_z), 0.85 * probability + 0.15 / np.isfinite(log_z).sum(), 0)
    shares /= shares.sum()
    counts = rng.multinomial(draws, shares)
    s, x, log_w = [], [], []
    for k in np.flatnonzero(counts):
        drawn = laws[k].draw(rng, counts[k])
        state = np.repeat(states[k][None], counts[k], axis=0)
        log_q = np.log(shares[k]) + laws[k].log_density(drawn)
        s.append(state)
        x.append(drawn)
        log_w.append(_log_p(density, state, drawn) - log_q)
    s, x, log_w = np.concatenate(s), np.concatenate(x), np.concatenate(log_w)
    weights = np.exp(log_w - log_w.max())
    weights /= weights.mean()
    order = rng.permutation(draws)
    efficiency = 1 / np.mean(weights**2)
    return density, Truth(s[order], x[order], weights[order], states, probability, efficiency)


def _fit_all(density, states, rng):
    centre = np.concatenate([np.ravel(density.start[n]) for n in density.others])
    fits = [_fit(density, state, centre, rng) for state in states]
    return [law for law, _ in fits], np.array([log_z for _, log_z in fits])


def exact_starts(truth, rng, size):
    """Return indices of about ``size`` draws and their new weights, nearly all the same."""
    # The draws of a truth may be in the order of their states.
    among = rng.permutation(len(truth.weights))[: 40 * size]
    w = truth.weights[among]
    low, high = 1e-12, w.max() * len(w)
    for _ in range(80):
        c = np.sqrt(low * high)
        low, high = (c, high) if np.minimum(1, w / c).sum() > size else (low, c)
    kept = np.flatnonzero(rng.random(len(w)) < np.minimum(1, w / c))
    return among[kept], np.maximum(w[kept], c) / c
