"""What is remembered of a Gram matrix X'X beside the weights that are on."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.weights.active import PAIR_M, Active, expire, remember_gram, rescale_gram
from pymc_exact_hmc.weights.block import Block


class GramMemory:
    """Brings caches of active weights to a new Gram matrix, or to another scale of the same."""

    def __init__(self, block: Block, active: Active):
        diagonal, pair_M, slots, rows = _caches(active)
        self._remember = bind(remember_gram, block.gram, block.pairs, diagonal, pair_M, slots)
        self._rescale = bind(rescale_gram, block.gram, 1.0, diagonal, pair_M, rows, slots)
        self._known = True

    def forget(self) -> None:
        """Start a chain: rows are not scaled on from where another chain has left them."""
        self._known = False

    def take(self, gaussian: WeightCoefficients, active: Active) -> None:
        """Take in what has changed in the coefficients; no cache is trusted afterwards."""
        block = gaussian.block
        if gaussian.gram_changed or not self._known:
            self._known = True
            block.gram.scale[0] = gaussian.scale
            diagonal, pair_M, slots, _ = _caches(active)
            self._remember(block.gram, block.pairs, diagonal, pair_M, slots)
        elif gaussian.scale != block.gram.scale[0]:
            self.rescale(block, active, gaussian.scale)
        expire(active)

    def rescale(self, block: Block, active: Active, scale: float) -> None:
        """Take in a new scale of the same Gram matrix."""
        diagonal, pair_M, slots, rows = _caches(active)
        self._rescale(block.gram, scale, diagonal, pair_M, rows, slots)
        expire(active)


def _caches(active: Active) -> tuple[npt.NDArray[Any], ...]:
    return active.diagonal, active.pair[PAIR_M], active.slots, active.rows
