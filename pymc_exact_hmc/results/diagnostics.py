"""Effective draws, R-hat and switches of many series at once.

A block of series is an array (series, chain, draw). The estimators are those of Vehtari et al.
(2021) without ranks: ranks of a binary series are an affine function of it, so that ArviZ's
rank-normalised numbers are the same wherever they exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.fft

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
BLOCK_VALUES = 2_000_000
"""Numbers that are held at once, in each of a few arrays."""
FEWEST_DRAWS = 4


class Mixing(NamedTuple):
    """Mean, standard deviation, effective draws and R-hat of each series."""

    mean: Array
    sd: Array
    ess: Array
    r_hat: Array

    @property
    def mcse(self) -> Array:
        """The Monte Carlo standard error of the mean; NaN where a series is constant."""
        return np.asarray(self.sd / np.sqrt(self.ess))


def mixing(draws: npt.NDArray[np.generic]) -> Mixing:
    """Judge the series of an array (chain, draw, series), a few columns at a time.

    A constant series says nothing about how well it mixes: effective draws and R-hat are NaN.
    If the chains are constant at different values, R-hat is infinite.
    """
    chains, length, n = draws.shape
    out = Mixing(*(np.full(n, np.nan) for _ in range(4)))
    for part in columns(n, chains * length):
        x = np.ascontiguousarray(np.moveaxis(draws[:, :, part], 2, 0), dtype=np.float64)
        out.mean[part] = x.mean(axis=(1, 2))
        if length >= FEWEST_DRAWS:
            out.sd[part] = x.std(axis=(1, 2), ddof=1)
            out.ess[part], out.r_hat[part] = _judge(_halves(x))
    return out


def columns(n: int, values_each: int) -> Iterator[slice]:
    """Cut n columns into blocks that fit into memory."""
    width = max(1, BLOCK_VALUES // max(values_each, 1))
    return (slice(start, min(start + width, n)) for start in range(0, n, width))


def switches(draws: npt.NDArray[np.integer]) -> Counts:
    """Return how often each indicator changes, as an array (chain, indicator)."""
    chains, length, n = draws.shape
    out = np.zeros((chains, n), np.int64)
    for part in columns(n, chains * length):
        x = draws[:, :, part]
        out[:, part] = (x[:, 1:] != x[:, :-1]).sum(axis=1)
    return out


def _halves(x: Array) -> Array:
    half = x.shape[2] // 2
    return np.concatenate([x[:, :, :half], x[:, :, -half:]], axis=1)


def _judge(x: Array) -> tuple[Array, Array]:
    """Return effective draws and R-hat of split chains (series, chain, draw)."""
    _, chains, n = x.shape
    means = x.mean(axis=2)
    x = x - means[:, :, None]
    autocovariance = _mean_autocovariance(x)
    within = autocovariance[:, 0] * n / (n - 1)
    between = means.var(axis=1, ddof=1)
    total = within * (n - 1) / n + between
    # Rounding of the mean must not pass for movement.
    still = (x == x[:, :, :1]).all(axis=(1, 2))
    constant = still & (means == means[:, :1]).all(axis=1)
    within[still], autocovariance[still] = 0.0, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within[:, None] - autocovariance) / total[:, None]
        r_hat = np.where(constant, np.nan, np.sqrt(total / within))
        ess = chains * n / _autocorrelation_time(rho, chains * n)
    return np.where(constant, np.nan, ess), r_hat


def _mean_autocovariance(x: Array) -> Array:
    """Return the autocovariance at each lag, averaged over chains, of centred series."""
    n = x.shape[2]
    size = scipy.fft.next_fast_len(2 * n, real=True)
    spectrum = scipy.fft.rfft(x, size, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    return np.asarray(scipy.fft.irfft(power, size, axis=1)[:, :n] / n)


def _autocorrelation_time(rho: Array, total: int) -> Array:
    """Return τ = −1 + 2 Σ ρ_t over Geyer's initial positive and monotone sequence of pairs.

    The pair at which the sequence ends, for want of lags or of a positive sum, counts with its
    even half only, and once.
    """
    rho[:, 0] = 1.0
    pairs = max(1, (rho.shape[1] - 1) // 2)
    even, odd = rho[:, : 2 * pairs : 2], rho[:, 1 : 2 * pairs : 2]
    sums = even + odd
    end = np.argmax(np.column_stack([sums[:, :-1] <= 0.0, np.ones(len(rho), bool)]), axis=1)
    inside = np.arange(pairs) < end[:, None]
    falling = np.where(inside, np.minimum.accumulate(sums, axis=1), 0.0)
    rows = np.arange(len(rho))
    last = even[rows, end]
    last = np.where((last > 0.0) | (sums[rows, end] >= 0.0), last, 0.0)
    tau = -1.0 + 2.0 * falling.sum(axis=1) + last
    return np.asarray(np.maximum(tau, 1.0 / np.log10(total)))
