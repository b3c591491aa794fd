"""Effective sample sizes: always the worst of several kinds of quantities.

A chain that flips every spin at once looks superb on the spins and stands still in the energy,
so no single kind will do.
"""

import numpy as np

CHUNK = 50


def effective_size(series):
    """Return the effective sample size of each column of one chain (draws × columns).

    Autocorrelations by fast Fourier transform, summed by Geyer's initial monotone sequence.
    """
    columns = range(0, series.shape[1], CHUNK)
    return np.concatenate([_effective_size(series[:, k : k + CHUNK]) for k in columns])


def weighted_size(series, weights):
    """Return mean, variance and effective size of each column of a chain with weights.

    The mean Σw f / Σw has the standard error of the chain u = w(f − mean)/mean(w), to first order,
    and the effective size is var f over its square: that of independent unweighted draws.
    """
    share = weights[:, None] / weights.mean()
    mean = (share * series).mean(axis=0)
    variance = (share * (series - mean) ** 2).mean(axis=0)
    u = share * (series - mean)
    spread = (u**2).mean(axis=0) / effective_size(u)
    # What never moved counts as less than one draw.
    size = np.divide(variance, spread, out=np.full_like(mean, 0.5), where=spread > 0)
    return mean, variance, size


def worst(kinds):
    """Return the smallest effective size of all columns of all kinds, and its kind.

    ``kinds`` maps a name to draws × columns, or to chains × draws × columns.
    """
    sizes = {}
    for name, series in kinds.items():
        chains = series if series.ndim == 3 else series[None]
        if chains.shape[-1]:
            sizes[name] = float(sum(effective_size(chain.astype(float)) for chain in chains).min())
    name = min(sizes, key=sizes.get)
    return sizes[name], name


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
    magnetisation = states.mean(axis=1, keepdims=True)
    return worst(
        {"spins": states, "magnetisation": magnetisation, "energy": bonds(states)[:, None]}
    )


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
