"""Effective sample sizes of binary chains: the worst of spins, magnetisation and energy.

A chain that flips every spin at once looks superb on the spins and stands still in the energy,
so no single one of the three will do.
"""

import numpy as np

CHUNK = 50


def effective_size(series):
    """Return the effective sample size of each column of one chain (draws × columns).

    Autocorrelations by fast Fourier transform, summed by Geyer's initial monotone sequence.
    """
    columns = range(0, series.shape[1], CHUNK)
    return np.concatenate([_effective_size(series[:, k : k + CHUNK]) for k in columns])


def worst_effective_size(states, bonds):
    """Return the worst effective sample size and its name.

    Parameters
    ----------
    states
        Spins −1 and +1, draws × d.
    bonds
        Function that maps such states to Σ s_i s_j over neighbours, one number per draw.
    """
    states = np.asarray(states, dtype=float)
    sizes = {
        "spins": effective_size(states).min(),
        "magnetisation": effective_size(states.mean(axis=1, keepdims=True))[0],
        "energy": effective_size(bonds(states)[:, None])[0],
    }
    name = min(sizes, key=sizes.get)
    return float(sizes[name]), name


def _effective_size(series):
    n = series.shape[0]
    correlation = _autocorrelation(series - series.mean(axis=0))
    # Sums of neighbouring pairs are positive and decrease for a reversible chain.
    pairs = correlation[0 : n - n % 2 : 2] + correlation[1 : n - n % 2 : 2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    decreasing = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    time = 2 * decreasing.sum(axis=0) - 1
    # The bound that Stan and ArviZ use for antithetic chains.
    return n / np.maximum(time, 1 / np.log10(n))


def _autocorrelation(centred):
    n = centred.shape[0]
    transformed = np.fft.rfft(centred, 2 * n, axis=0)
    covariance = np.fft.irfft(np.abs(transformed) ** 2, 2 * n, axis=0)[:n] / n
    # A column that never moved counts as less than one draw, not as perfectly known.
    moved = covariance[0] > 0
    scale = np.where(moved, covariance[0], 1.0)
    return np.where(moved, covariance / scale, 1.0)
