"""How each entry of a tensor depends on the indicators: a proof read off the graph.

An abstract interpretation in the manner of automatic sparsity detection. Every tensor that
depends on s is given

support
    which s_j each entry may depend on, a sparse boolean matrix (entries × d);
degree
    its degree as a polynomial in real s, or ``NOT_POLYNOMIAL``;
multilinear
    whether, as a polynomial, it is affine in each s_j;
shaped
    whether its shape is certain not to depend on s.

Supports may be too large, never too small; degrees too high, never too low. An operation
that is not known mixes everything. Shapes, and indices and zeros that depend on data only,
are taken from a concrete evaluation; whatever depends on other random variables is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from pytensor.graph.basic import Apply

Array = np.ndarray

NOT_POLYNOMIAL = 99


@dataclass(frozen=True)
class Dependence:
    """How a tensor of ``support.shape[0]`` entries depends on s."""

    support: sp.csr_array
    degree: int
    multilinear: bool
    shaped: bool = True

    @property
    def reach(self) -> int:
        """The largest number of indicators that one entry depends on."""
        return int(np.diff(self.support.indptr).max(initial=0))


@dataclass(frozen=True)
class Situation:
    """What is known about one node: its inputs' dependence and all concrete values."""

    node: Apply[Any]
    inputs: list[Dependence | None]
    values: list[Any]
    output: Array
    data_only: list[bool]

    @property
    def touched(self) -> list[int]:
        """The positions of the inputs that depend on s."""
        return [i for i, dependence in enumerate(self.inputs) if dependence is not None]

    def of(self, i: int) -> Dependence:
        """Return the dependence of input i, one that depends on s."""
        dependence = self.inputs[i]
        assert dependence is not None
        return dependence
