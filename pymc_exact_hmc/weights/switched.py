"""Weights whose Gaussian slabs are switched by indicators: a narrow spike or a wide slab.

    log p(s, w) = log f(s) − ½ w'(M + Λ(s))w + (r + λ(s))'w + Σ_i log N_i(s),

where Λ_i and λ_i take one of two values by the indicator ``control[i]`` (−1: never switched)
and N_i = √Λ_i exp(−½λ_i²/Λ_i) normalises the slab. The weights are integrated out:

    log f̃(s) = ½ b'Σb + ½ log|Σ| + Σ_i (½ log Λ_i − ½ λ_i²/Λ_i),   b = r + λ,  Σ = (M + Λ)⁻¹.

All weights are present in every state, so Σ and μ = Σb of all are kept. If Λ_i changes by δ
and λ_i by ε then, with σ = Σ_·i, g = 1 + δσ_i and h = ε − δμ_i,

    log f̃ gains (εμ_i + ½ε²σ_i − ½δμ_i²)/g − ½ log g, and the change of the normaliser;
    Σ ← Σ − (δ/g)σσ',   μ ← μ + σh/g,   of weight i itself Σ_·i ← σ/g,   μ_i ← (μ_i + εσ_i)/g.

The weights of one gate are switched one after the other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies import commit, energy_drop, log_density, refresh
from pymc_exact_hmc.weights.flight import draw_gaussian
from pymc_exact_hmc.weights.refreshing import invert_factor

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# Rows of ``Switched.slabs``: Λ and λ with the indicator at 0 and at 1.
LAMBDA, LAM = 0, 2
# Rows of ``Switched.means``.
MU, SLOPE, NOISE, DRAWN = range(4)
# A pivot 1 + δΣ_ii below this has lost about as many digits, and Σ is computed afresh.
SMALL_PIVOT = 1e-8


class Switched(NamedTuple):
    """Caches of n weights; ``start[g]:start[g+1]`` are gate g's entries of ``members``.

    ``M``, ``r`` and ``slabs`` may be rewritten before a refresh. ``factor`` is the inverse
    Cholesky factor of M + Λ right after one; ``trial`` and ``block`` are scratch.
    """

    M: Matrix
    r: Vector
    slabs: Matrix
    control: Indices
    start: Indices
    members: Indices
    Sigma: Matrix
    means: Matrix
    factor: Matrix
    trial: Vector
    block: Matrix


def make_switched(n: int, control: npt.ArrayLike, *, n_gates: int) -> Switched:
    """Return an energy whose coefficients are still to be written."""
    control = np.array(control, dtype=np.int64)
    order = np.argsort(control, kind="stable")
    start = np.searchsorted(control[order], np.arange(n_gates + 1))
    members, start = order[start[0] :], start - start[0]
    widest = int(np.diff(start).max(initial=1))
    return Switched(
        M=np.zeros((n, n)),
        r=np.zeros(n),
        slabs=np.ones((4, n)),
        control=control,
        start=start,
        members=members,
        Sigma=np.zeros((n, n)),
        means=np.zeros((4, n)),
        factor=np.zeros((n, n)),
        trial=np.zeros(widest),
        block=np.zeros((widest, widest)),
    )


@kernel
def state_of(control, s, i):
    """Return the state of the indicator that switches weight i."""
    return s[control[i]] if control[i] >= 0 else 0


@refresh.register(Switched)
def _refresh(energy, s):
    refresh_switched(energy, s)


@energy_drop.register(Switched)
def _energy_drop(energy, s, j):
    gain = gain_of_switching(energy, s[j], j)
    return gain if gain > -np.inf else gain_afresh(energy, s, j)


@commit.register(Switched)
def _commit(energy, s, j):
    if not switch(energy, s[j], j):
        refresh_switched(energy, s)


@log_density.register(Switched)
def _log_density(energy, s):
    return log_evidence_of_slabs(energy, s)


@kernel
def refresh_switched(energy, s):
    """Compute Σ and μ afresh, through a Cholesky factor of M + Λ; O(n³)."""
    C, Sigma, slope, mu = energy.factor, energy.Sigma, energy.means[SLOPE], energy.means[MU]
    n = mu.size
    for a in range(n):
        t = state_of(energy.control, s, a)
        slope[a] = energy.r[a] + energy.slabs[LAM + t, a]
        for b in range(a):
            total = energy.M[a, b]
            for d in range(b):
                total -= C[a, d] * C[b, d]
            C[a, b] = total / C[b, b]
        pivot = energy.M[a, a] + energy.slabs[LAMBDA + t, a]
        for b in range(a):
            pivot -= C[a, b] * C[a, b]
        # A precision that is not positive gives NaN here, and every hit then bounces.
        C[a, a] = math.sqrt(pivot)
    invert_factor(C, Sigma, n)
    for a in range(n):
        mu[a] = 0.0
        for b in range(n):
            mu[a] += Sigma[a, b] * slope[b]


@kernel
def log_normaliser(slabs, t, i):
    """½ log Λ − ½ λ²/Λ of weight i with its indicator at t."""
    Lambda, lam = slabs[LAMBDA + t, i], slabs[LAM + t, i]
    return 0.5 * (math.log(Lambda) - lam * lam / Lambda)


@kernel
def log_evidence_of_slabs(energy, s):
    """Return log f̃(s), right after a refresh."""
    total = 0.0
    for a in range(energy.r.size):
        total += 0.5 * energy.means[MU, a] * energy.means[SLOPE, a] + math.log(energy.factor[a, a])
        total += log_normaliser(energy.slabs, state_of(energy.control, s, a), a)
    return total


@kernel
def gain_of_switching(energy, t, g):
    """Return what log f̃ gains if indicator g leaves the state t; −∞ if too few digits are left.

    The weights of the gate are switched one after the other in copies of Σ_JJ and μ_J.
    """
    first, last = energy.start[g], energy.start[g + 1]
    slabs, block, mu = energy.slabs, energy.block, energy.trial
    m = last - first
    for a in range(m):
        i = energy.members[first + a]
        mu[a] = energy.means[MU, i]
        for b in range(m):
            block[a, b] = energy.Sigma[i, energy.members[first + b]]
    total = 0.0
    for a in range(m):
        i = energy.members[first + a]
        delta = slabs[LAMBDA + 1 - t, i] - slabs[LAMBDA + t, i]
        eps = slabs[LAM + 1 - t, i] - slabs[LAM + t, i]
        total += log_normaliser(slabs, 1 - t, i) - log_normaliser(slabs, t, i)
        variance = block[a, a]
        g_a, h = 1.0 + delta * variance, eps - delta * mu[a]
        if g_a < SMALL_PIVOT:
            return -np.inf
        total += (eps * mu[a] + 0.5 * (eps * eps * variance - delta * mu[a] * mu[a])) / g_a
        total -= 0.5 * math.log(g_a)
        for b in range(a + 1, m):
            mu[b] += block[b, a] * h / g_a
            for c in range(a + 1, m):
                block[b, c] -= delta / g_a * block[b, a] * block[a, c]
    return total


@kernel
def gain_afresh(energy, s, g):
    """Return the same from two factorisations; O(n³)."""
    s[g] ^= 1
    refresh_switched(energy, s)
    gain = log_evidence_of_slabs(energy, s)
    s[g] ^= 1
    refresh_switched(energy, s)
    return gain - log_evidence_of_slabs(energy, s)


@kernel
def switch(energy, t, g):
    """Bring Σ and μ up to date after indicator g has come to the state t; O(n²) per weight.

    Return whether that went well: a spike that is very much narrower than what the data say of
    the weight leaves no digits of g.
    """
    Sigma, mu, slabs = energy.Sigma, energy.means[MU], energy.slabs
    column = energy.means[NOISE]
    for k in range(energy.start[g], energy.start[g + 1]):
        i = energy.members[k]
        delta = slabs[LAMBDA + t, i] - slabs[LAMBDA + 1 - t, i]
        eps = slabs[LAM + t, i] - slabs[LAM + 1 - t, i]
        energy.means[SLOPE, i] += eps
        for a in range(mu.size):
            column[a] = Sigma[a, i]
        g_i = 1.0 + delta * column[i]
        if g_i < SMALL_PIVOT:
            return False
        step = (eps - delta * mu[i]) / g_i
        own = (mu[i] + eps * column[i]) / g_i
        for a in range(mu.size):
            mu[a] += column[a] * step
            share = delta / g_i * column[a]
            for b in range(mu.size):
                Sigma[a, b] -= share * column[b]
        # The same numbers for weight i, which would cancel there.
        mu[i] = own
        for a in range(mu.size):
            Sigma[a, i] = Sigma[i, a] = column[a] / g_i
    return True


@kernel
def draw_switched(energy, stream, w):
    """Draw w | s ~ N(μ, Σ)."""
    means = energy.means
    draw_gaussian(stream, energy.Sigma, energy.factor, means[NOISE], w.size, means[DRAWN])
    for a in range(w.size):
        w[a] = means[MU, a] + means[DRAWN, a]
