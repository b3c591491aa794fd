"""The models that a chain has visited: which indicators were on, and how often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.results.diagnostics import Mixing, mixing

States = npt.NDArray[np.int8]


class Visits(NamedTuple):
    """Distinct models (model, indicator), most visited first, with their shares of the draws.

    ``which`` is the place of the model of each draw (chain, draw).
    """

    models: States
    share: npt.NDArray[np.float64]
    which: npt.NDArray[np.int64]


def count_visits(draws: States) -> Visits:
    """Count the models among draws (chain, draw, indicator); ties go to the first visited."""
    chains, length, d = draws.shape
    flat = draws.reshape(chains * length, d)
    bits = np.ascontiguousarray(np.packbits(flat, axis=1))
    keys = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    which = place[inverse.ravel()].reshape(chains, length)
    return Visits(flat[first[order]], counts[order] / len(flat), which)


def share_of(values: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> Mixing:
    """Judge, for each wanted value, the series that tells whether a draw has it."""
    return mixing((values[:, :, None] == wanted).astype(np.int8))
