"""The log-density of scales and inclusion probabilities θ, given the indicators.

    log p(θ | s, data) = total(θ) + log ∫ p(data | s, w, θ) p(w_P | θ) dw_P

Weights outside P are integrated out in any case, by leaving them out. Where no weight in P is
truncated the others are too:

    A = Σ_c ω_c M_c,PP + Λ_P,   b = Σ_c ω_c r_c,P + λ_P,

    log ∫ … = Σ_c [½ N_c log ω_c − ½ ω_c t'Vt] + ½ b'A⁻¹b − ½ log|A/2π| − Σ_P log I_i.

Otherwise w_P is held where it is:

    log … = Σ_c [½ N_c log ω_c − ½ ω_c e_c] + Σ_P [−½ Λ_i w_i² + λ_i w_i − log I_i],

with e_c = t'Vt − 2 w'r_c + w'M_c w. log I_i normalises the slab of weight i, whatever θ makes
of it. A tape computes total, ω, Λ, λ and the bounds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.tapes.program import Program, run
from pymc_exact_hmc.weights.active import HOLDER
from pymc_exact_hmc.weights.block import (
    LAM,
    LAMBDA,
    LOWER,
    SLAB_LOWER,
    SLAB_UPPER,
    UPPER,
    R,
    price_slabs,
)
from pymc_exact_hmc.weights.grams import gram_entry
from pymc_exact_hmc.weights.groups import LOG_SQRT_2PI
from pymc_exact_hmc.weights.integral import log_integral
from pymc_exact_hmc.weights.statistics import Statistics

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# Rows of ``Evidence.slabs``.
PRECISION, SLOPE, FLOOR, CEILING, UNIT = range(5)


class Evidence(NamedTuple):
    """The tape, where it keeps what, and what the data say.

    ``total`` and ``noise`` are places of numbers in the tape's memory, ``slabs`` those of Λ, λ,
    the bounds and the unit of every weight. ``held`` tells (entry 0) whether w_P is held; the
    likelihood counts to the power ``power`` (entry 0), which is 1 but while a start is sought.
    """

    program: Program
    total: Indices
    noise: Indices
    slabs: Indices
    gate: Indices
    held: Indices
    power: Vector
    statistics: Statistics


class Gathered(NamedTuple):
    """What concerns P alone: members, r_c, e_c and w by weight, M_c, and scratch."""

    P: Indices
    size: Indices
    w: Vector
    slopes: Matrix
    residuals: Vector
    grams: npt.NDArray[np.float64]
    factor: Matrix
    z: Vector


def make_gathered(classes: int, capacity: int) -> Gathered:
    """Return room for ``capacity`` weights."""
    return Gathered(
        np.zeros(capacity, np.int64),
        np.zeros(1, np.int64),
        np.zeros(capacity),
        np.zeros((classes, capacity)),
        np.zeros(classes),
        np.zeros((classes, capacity, capacity)),
        np.zeros((capacity, capacity)),
        np.zeros(capacity),
    )


@kernel
def gather(evidence, gathered, gram, rows, slots, kept, s, w):
    """Collect what concerns the weights that are on; return how many there are.

    More than there is room for: nothing is collected.
    """
    k = 0
    for i in range(evidence.gate.size):
        if evidence.gate[i] < 0 or s[evidence.gate[i]] == 1:
            if k < gathered.P.size:
                gathered.P[k] = i
                gathered.w[k] = w[i]
            k += 1
    if k > gathered.P.size:
        return k
    gathered.size[0] = k
    statistics, P = evidence.statistics, gathered.P
    for c in range(statistics.counts.size):
        total = statistics.squares[c]
        for a in range(k):
            gathered.slopes[c, a] = statistics.slopes[c, P[a]]
            total -= 2.0 * gathered.slopes[c, a] * gathered.w[a]
            for b in range(a + 1):
                if statistics.grams.size > 0:
                    entry = statistics.grams[c, P[a], P[b]]
                else:
                    entry = known_entry(gram, rows, slots, kept, P[a], P[b])
                gathered.grams[c, a, b] = entry
                total += (2.0 if b < a else 1.0) * entry * gathered.w[a] * gathered.w[b]
        gathered.residuals[c] = total
    return k


@kernel
def known_entry(gram, rows, slots, kept, i, j):
    """Return M_ij without its scale, from a row that is remembered or else afresh."""
    slot = kept[i]
    if slot >= 0 and slots[HOLDER, slot] == i:
        return rows[slot, j] / gram.scale[0]
    return gram_entry(gram, i, j) / gram.scale[0]


@kernel
def log_evidence_of_scales(evidence, gathered):
    """Return what data and weights say about θ, from the numbers in the tape's memory."""
    memory, statistics, k = evidence.program.memory, evidence.statistics, gathered.size[0]
    total = 0.0
    for c in range(statistics.counts.size):
        omega = memory[evidence.noise[c]]
        if not omega > 0.0 or omega == np.inf:
            return -np.inf
        square = gathered.residuals[c] if evidence.held[0] == 1 else statistics.squares[c]
        said = statistics.counts[c] * math.log(omega) - omega * square
        total += 0.5 * evidence.power[0] * said
    for a in range(k):
        i = gathered.P[a]
        Lambda, lam = memory[evidence.slabs[PRECISION, i]], memory[evidence.slabs[SLOPE, i]]
        lower, upper = memory[evidence.slabs[FLOOR, i]], memory[evidence.slabs[CEILING, i]]
        size = log_integral(Lambda, lam, lower, upper)
        if np.isnan(size):
            return -np.inf
        # A flat prior has no normaliser, and no parameter that could ask for one.
        total -= size if size < np.inf else 0.0
        if evidence.held[0] == 1:
            w = gathered.w[a]
            if not lower <= w <= upper:
                return -np.inf
            total += w * (lam - 0.5 * Lambda * w)
    if evidence.held[0] == 0:
        total += log_collapsed(evidence, gathered)
    return total


@kernel
def log_collapsed(evidence, gathered):
    """½ b'A⁻¹b − ½ log|A/2π|, by a Cholesky factor of A."""
    memory, k = evidence.program.memory, gathered.size[0]
    C, z = gathered.factor, gathered.z
    total = k * LOG_SQRT_2PI
    for a in range(k):
        i = gathered.P[a]
        z[a] = memory[evidence.slabs[SLOPE, i]]
        for b in range(a + 1):
            C[a, b] = 0.0
        C[a, a] = memory[evidence.slabs[PRECISION, i]]
        for c in range(evidence.noise.size):
            omega = evidence.power[0] * memory[evidence.noise[c]]
            z[a] += omega * gathered.slopes[c, a]
            for b in range(a + 1):
                C[a, b] += omega * gathered.grams[c, a, b]
        for b in range(a):
            for d in range(b):
                C[a, b] -= C[a, d] * C[b, d]
            C[a, b] /= C[b, b]
            C[a, a] -= C[a, b] * C[a, b]
            z[a] -= C[a, b] * z[b]
        if not C[a, a] > 0.0:
            return -np.inf
        C[a, a] = math.sqrt(C[a, a])
        z[a] /= C[a, a]
        total += 0.5 * z[a] * z[a] - math.log(C[a, a])
    return total


@kernel
def log_density_of_scales(evidence, gathered, mask, reaches_weights, known):
    """Return log p(θ | s, data) after a change of the inputs in ``mask``, and its second part.

    ``known`` is that second part if the change does not reach the weights.
    """
    run(evidence.program, mask)
    part = known
    if reaches_weights:
        part = log_evidence_of_scales(evidence, gathered)
    return evidence.program.memory[evidence.total[0]] + part, part


@kernel
def write_scales(evidence, block, precisions, units):
    """Bring a block, noise precisions and units to the numbers in the tape's memory."""
    memory, coefficients = evidence.program.memory, block.coefficients
    for c in range(precisions.size):
        precisions[c] = memory[evidence.noise[c]]
    for i in range(evidence.gate.size):
        coefficients[LAMBDA, i] = memory[evidence.slabs[PRECISION, i]]
        coefficients[LAM, i] = memory[evidence.slabs[SLOPE, i]]
        lower, upper = memory[evidence.slabs[FLOOR, i]], memory[evidence.slabs[CEILING, i]]
        coefficients[LOWER, i] = coefficients[SLAB_LOWER, i] = lower
        coefficients[UPPER, i] = coefficients[SLAB_UPPER, i] = upper
        units[i] = memory[evidence.slabs[UNIT, i]]
        slope = 0.0
        for c in range(precisions.size):
            slope += precisions[c] * evidence.statistics.slopes[c, i]
        coefficients[R, i] = slope
    price_slabs(block.coefficients, block.gates, block.members, block.log_slab)
