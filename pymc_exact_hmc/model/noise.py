"""Classes of rows whose precisions keep their proportions, whatever the other variables are.

One noise scale for all rows makes one class; so does σ·c_n with known c_n; ``sigma[group]``
makes as many as there are groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MAX_CLASSES = 16
"""Classes up to which statistics are kept for each."""
DIGITS = 9
"""Decimals to which logarithms of precisions must agree to be in proportion."""


class NoiseClass(NamedTuple):
    """Rows of a likelihood with precisions ω·``relative``; ω is that of row ``leader``.

    ``regular`` is false if the proportions change from call to call; then ω = 1.
    """

    likelihood: int
    rows: npt.NDArray[np.int64]
    relative: npt.NDArray[np.float64]
    leader: int
    regular: bool


def classify(
    likelihood: int,
    precisions: list[npt.NDArray[np.float64]],
    size: int,
    *,
    entries: int = MAX_CLASSES,
    jumps: bool = False,
) -> list[NoiseClass]:
    """Group the rows of a likelihood by their precisions at several settings.

    A single precision stands for all ``size`` rows. Without rows, as where all data are missing,
    there is nothing to group. Where precisions may jump, settings tell nothing about others.
    More classes than ``entries`` of random variables are not those of a scale for each: rows that
    a few settings do not tell apart others may.
    """
    if size == 0:
        return []
    whole = [np.broadcast_to(p, size) for p in precisions]
    everything = np.arange(size)
    if precisions[0].size == 1:
        return [NoiseClass(likelihood, everything, np.ones(size), 0, True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(np.stack([p / whole[0] for p in whole[1:]] or [np.ones(size)]))
    labels = np.unique(np.round(ratios, DIGITS), axis=1, return_inverse=True)[1].ravel()
    many = labels.max(initial=0) >= min(MAX_CLASSES, max(1, entries))
    if jumps or many or not np.isfinite(ratios).all():
        return [NoiseClass(likelihood, everything, whole[0].copy(), 0, False)]
    classes = []
    for label in range(labels.max(initial=0) + 1):
        rows = np.flatnonzero(labels == label)
        relative = whole[0][rows] / whole[0][rows[0]]
        classes.append(NoiseClass(likelihood, rows, relative, int(rows[0]), True))
    return classes


def keeps_proportions(noise: NoiseClass, precision: npt.NDArray[np.float64]) -> bool:
    """Return whether the precisions of all rows are still in the proportions of the class."""
    if precision.size == 1:
        return True
    expected = precision[noise.leader] * noise.relative
    return bool(np.allclose(precision[noise.rows], expected, rtol=10.0 ** (1 - DIGITS), atol=0.0))
