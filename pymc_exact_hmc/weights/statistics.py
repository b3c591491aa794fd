"""Sufficient statistics of Gaussian likelihoods whose noise scales are unknown.

The rows of all likelihoods fall into classes c. In each, the precisions are ω_c v_n with known
v_n, so that with targets t

    log p(t | s, w) = Σ_c [½ N_c log ω_c − ½ ω_c (t'Vt − 2 (Gw)'r_c + (Gw)'M_c(Gw))] + const,

    M_c = X'VX,   r_c = X'Vt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Array = npt.NDArray[np.float64]


class Statistics(NamedTuple):
    """N_c, ω_c, t'Vt, r_c and M_c by class; ``grams`` is empty where M is not formed."""

    counts: Vector
    precisions: Vector
    squares: Vector
    slopes: Array
    grams: Array


def make_statistics(classes: int, n: int, *, dense: bool) -> Statistics:
    """Return statistics of nothing yet."""
    grams = np.zeros((classes, n, n) if dense else (0, 0, 0))
    return Statistics(
        np.zeros(classes), np.ones(classes), np.zeros(classes), np.zeros((classes, n)), grams
    )
