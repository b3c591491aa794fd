"""erfcx(x) = exp(x²) erfc(x) for x ≥ 0, in compiled code.

numba has ``math.erfc``, which underflows at 26, and cannot call ``scipy.special``. With
y = 4/(4 + x) ∈ (0, 1] the function erfcx(x)/y is smooth on the whole half line, so one
table of polynomials, fitted to ``scipy.special.erfcx`` on import, serves every x.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import erfcx as scipy_erfcx

from pymc_exact_hmc.compilation import kernel

_CELLS = 64
_DEGREE = 8


def _polynomials() -> npt.NDArray[np.float64]:
    """Row c: coefficients of erfcx(x)/y in t ∈ [−1, 1], the place of y in cell c of (0, 1]."""
    t = np.cos(np.pi * (np.arange(2 * _DEGREE) + 0.5) / (2 * _DEGREE))
    chebyshev = np.polynomial.chebyshev
    rows = []
    for cell in range(_CELLS):
        y = (cell + 0.5 + 0.5 * t) / _CELLS
        fit = chebyshev.chebfit(t, scipy_erfcx(4.0 / y - 4.0) / y, _DEGREE)
        rows.append(chebyshev.cheb2poly(fit))
    return np.array(rows)


_TABLE = _polynomials()


@kernel
def erfcx(x):
    """Return exp(x²) erfc(x) for 0 ≤ x ≤ ∞, to about ten units in the last place."""
    # Not a number must not become an index.
    if not x >= 0.0:
        return np.nan
    y = 4.0 / (4.0 + x)
    place = y * _CELLS
    cell = int(min(place, _CELLS - 1.0))
    t = 2.0 * (place - cell) - 1.0
    value = _TABLE[cell, _DEGREE]
    for i in range(_DEGREE - 1, -1, -1):
        value = value * t + _TABLE[cell, i]
    return y * value
