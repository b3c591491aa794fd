"""Local energies: every term of log f touches a few indicators, in any functional form.

Conditional probability tables, chains, cubic and quartic interactions, hard constraints.
A term over k indicators is the table of its 2^k values; −inf forbids a combination.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.energies.verbs import commit, energy_drop, log_density, refresh

Indices = npt.NDArray[np.int64]


class Tables(NamedTuple):
    """log f(s) = Σ_n table_n[state_n].

    ``values[offset[n] + state[n]]`` is the value of term n; bit m of ``state[n]`` is the
    m-th indicator of the term. Indicator j stands in the terms ``terms[start[j]:start[j+1]]``,
    as the bit with the value ``bits[…]``.
    """

    values: npt.NDArray[np.float64]
    offset: Indices
    state: Indices
    start: Indices
    terms: Indices
    bits: Indices


@energy_drop.register(Tables)
def _energy_drop(energy, s, j):
    drop = 0.0
    for k in range(energy.start[j], energy.start[j + 1]):
        n = energy.terms[k]
        here = energy.state[n]
        drop += energy.values[energy.offset[n] + (here ^ energy.bits[k])]
        drop -= energy.values[energy.offset[n] + here]
    return drop


@commit.register(Tables)
def _commit(energy, s, j):
    for k in range(energy.start[j], energy.start[j + 1]):
        energy.state[energy.terms[k]] ^= energy.bits[k]


@refresh.register(Tables)
def _refresh(energy, s):
    energy.state[:] = 0
    for j in range(s.size):
        if s[j] == 1:
            for k in range(energy.start[j], energy.start[j + 1]):
                energy.state[energy.terms[k]] |= energy.bits[k]


@log_density.register(Tables)
def _log_density(energy, s):
    total = 0.0
    for n in range(energy.state.size):
        total += energy.values[energy.offset[n] + energy.state[n]]
    return total
