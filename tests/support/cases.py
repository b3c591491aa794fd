"""Every energy of the package over a few indicators, each with a plain form of its log f."""

import functools
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba import types

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.energies import (
    Callback,
    DenseCouplings,
    Fields,
    Multilinear,
    SparseCouplings,
    Sum,
    Tables,
)

EMPTY = ()
BITS, REALS = types.int8[::1], types.float64[::1]


class Case(NamedTuple):
    """An energy, and what it must equal up to a constant, as a plain function of s."""

    energy: Any
    log_f: Any
    d: int


def couplings(rng, d, density=1.0, scale=0.8):
    upper = np.triu(scale * rng.normal(size=(d, d)) * (rng.random((d, d)) < density), 1)
    return upper + upper.T


def quadratic(h, J):
    return lambda s: float(h @ s + 0.5 * s @ J @ s)


def fields(d, seed):
    h = 1.2 * np.random.default_rng(seed).normal(size=d)
    return Case(Fields(h), lambda s: float(h @ s), d)


def pinned(d, seed):
    """The first indicator is certainly 1, the last certainly 0."""
    h = np.random.default_rng(seed).normal(size=d)
    h[0], h[-1] = np.inf, -np.inf

    def log_f(s):
        return float(h[1:-1] @ s[1:-1]) if s[0] == 1 and s[-1] == 0 else -np.inf

    return Case(Fields(h), log_f, d)


def dense(d, seed):
    rng = np.random.default_rng(seed)
    h, J = rng.normal(size=d), couplings(rng, d)
    return Case(DenseCouplings(h, J, np.zeros(d)), quadratic(h, J), d)


def sparse(d, seed):
    rng = np.random.default_rng(seed)
    h, J = rng.normal(size=d), couplings(rng, d, density=0.6)
    rows, columns = np.nonzero(J)
    start = np.searchsorted(rows, np.arange(d + 1))
    energy = SparseCouplings(h, start, columns.astype(np.int32), J[rows, columns], np.zeros(d))
    return Case(energy, quadratic(h, J), d)


def tables(d, seed, forbid=False):
    """Terms over one to three neighbouring indicators."""
    rng = np.random.default_rng(seed)
    members = [[j % d for j in range(i, i + 1 + i % 3)] for i in range(d)]
    values = [0.9 * rng.normal(size=2 ** len(m)) for m in members]
    if forbid:
        values[2][5] = values[1][3] = -np.inf

    def log_f(s):
        total = 0.0
        for term, table in zip(members, values, strict=True):
            total += table[sum(int(s[j]) << b for b, j in enumerate(term))]
        return float(total)

    places = sorted((j, n, 1 << b) for n, m in enumerate(members) for b, j in enumerate(m))
    indicator, term, bit = (np.array(column, np.int64) for column in zip(*places, strict=True))
    energy = Tables(
        values=np.concatenate(values),
        offset=np.cumsum([0, *(v.size for v in values[:-1])]).astype(np.int64),
        state=np.zeros(d, np.int64),
        start=np.searchsorted(indicator, np.arange(d + 1)).astype(np.int64),
        terms=term,
        bits=bit,
    )
    return Case(energy, log_f, d)


def cubic(s, theta, data):
    total = 0.0
    for i in range(s.size):
        total += theta[i] * s[i] * s[(i + 1) % s.size] * s[(i + 2) % s.size] - 0.3 * s[i]
    return total


def cubic_with_slope(s, theta, data, slope):
    d = s.size
    total = 0.0
    for i in range(d):
        slope[i] = -0.3
    for i in range(d):
        a, b, c = i, (i + 1) % d, (i + 2) % d
        total += theta[i] * s[a] * s[b] * s[c] - 0.3 * s[i]
        slope[a] += theta[i] * s[b] * s[c]
        slope[b] += theta[i] * s[a] * s[c]
        slope[c] += theta[i] * s[a] * s[b]
    return total


def rough(s, theta, data):
    """Not a polynomial: depends on the number of ones, as |Σθs − 1|."""
    total = -1.0
    for i in range(s.size):
        total += theta[i] * s[i]
    return -abs(total)


def multilinear(d, seed, compiled=True):
    theta = 1.5 * np.random.default_rng(seed).normal(size=d)
    signature = types.float64(BITS, REALS, numba.typeof(EMPTY), REALS)
    value = numba.cfunc(signature)(cubic_with_slope) if compiled else cubic_with_slope
    log_f = functools.partial(cubic, theta=theta, data=EMPTY)
    return Case(Multilinear(value, theta, EMPTY, np.zeros(d)), log_f, d)


def callback(d, seed, compiled=True):
    theta = 1.5 * np.random.default_rng(seed).normal(size=d)
    signature = types.float64(BITS, REALS, numba.typeof(EMPTY))
    value = numba.cfunc(signature)(rough) if compiled else rough
    log_f = functools.partial(rough, theta=theta, data=EMPTY)
    return Case(Callback(value, theta, EMPTY, np.zeros(1), np.zeros(1)), log_f, d)


def total(*parts):
    """The sum of several cases."""
    energy = parts[-1].energy
    for part in reversed(parts[:-1]):
        energy = Sum(part.energy, energy)
    return Case(energy, lambda s: float(sum(part.log_f(s) for part in parts)), parts[0].d)


CASES = {
    "fields": fields,
    "pinned fields": pinned,
    "sparse couplings": sparse,
    "dense couplings": dense,
    "tables": tables,
    "forbidding tables": functools.partial(tables, forbid=True),
    "multilinear": multilinear,
    "callback": callback,
    "sum": lambda d, seed: total(tables(d, seed, forbid=True), callback(d, seed + 1)),
}
"""Makers of every energy class, by name."""


ALL_LAWS = ("dense couplings", "sum")
"""Cases that the fast suite meets under every augmentation, the others under the Gaussian one."""


def with_augmentations(ids, fast=None):
    """Return all pairs of case and augmentation, for tests that compile a kernel for each.

    ``ids`` is how a test names them, for example "{name}-{law}". Pairs are slow unless their case
    is in ``fast`` and, under other augmentations than the Gaussian one, in ALL_LAWS.
    """
    return [
        pytest.param(
            name,
            law,
            id=ids.format(name=name, law=law),
            marks=()
            if (law == "gaussian" or name in ALL_LAWS) and name in (fast or CASES)
            else pytest.mark.slow,
        )
        for name in CASES
        for law in AUGMENTATIONS
    ]


@functools.cache
def make(name, d=4, seed=7):
    """Return the case of a name; the same arrays each time, so that types are compiled once."""
    return CASES[name](d, seed)
