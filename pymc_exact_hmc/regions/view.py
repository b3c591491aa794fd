"""A region as it stands at a state of the gates.

In a gated factor the coefficients of weights whose gates are closed are zero.
"""

from __future__ import annotations

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.regions.region import Region


def make_view(region: Region) -> Region:
    """Return room for a view; it shares everything but the coefficients."""
    return region._replace(F=region.F.copy(), Q=region.Q.copy(), sign=np.zeros_like(region.sign))


@kernel
def show(region, view, gate, s):
    """Write the view of a state."""
    n = gate.size
    for j in range(n):
        show_column(region, view, gate, s, j, gate[j] < 0 or s[gate[j]] == 1)


@kernel
def show_column(region, view, gate, s, j, opened):
    """Write the coefficients of weight j as if its gate were open, or closed."""
    m, n = region.F.shape
    first = m - region.Q.shape[0]
    for k in range(m):
        seen = opened or region.gated[k] == 0
        view.F[k, j] = region.F[k, j] if seen else 0.0
        if k >= first:
            old, new = region.Q[k - first], view.Q[k - first]
            for i in range(n):
                other = i == j or gate[i] < 0 or s[gate[i]] == 1 or region.gated[k] == 0
                new[i, j] = new[j, i] = old[i, j] if seen and other else 0.0
