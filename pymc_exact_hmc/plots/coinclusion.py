"""Which predictors come together, and which stand in for each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymc_exact_hmc.plots.rows import fitting_fontsize
from pymc_exact_hmc.plots.style import diverging, new_axes, short
from pymc_exact_hmc.results.reading import read_indicators

RARE = 0.02
MOST = 500


def plot_coinclusion(idata: Any, gamma: str | None = None, *, top: int = 30, ax: Any = None) -> Any:
    """Plot the correlations between indicators.

    Orange pairs stand in for each other: one is in when the other is out. Blue pairs come
    together. Shown are the ``top`` indicators that take part in the strongest correlations, in
    an order that puts related ones side by side; constant and rare ones are left out.
    """
    if top < 2:
        raise ValueError("top must be at least 2, for a pair.")
    indicators = read_indicators(idata, gamma)
    places, r = correlations(indicators.draws)
    if places.size < 2:
        raise ValueError(
            f"Fewer than two indicators of {indicators.name} have moved: there is nothing to "
            "correlate."
        )
    order = _order(r, top)
    shown, r = places[order], r[np.ix_(order, order)]
    n = shown.size
    if ax is None:
        size = 2.2 + 0.2 * max(n, 8)
        ax = new_axes((size + 1.0, size))[0, 0]
    hidden = np.triu(np.ones((n, n), bool))
    limit = max(0.1, float(np.abs(r[~hidden]).max()))
    image = ax.imshow(
        np.ma.masked_array(r, hidden), cmap=diverging(ax), vmin=-limit, vmax=limit, aspect="equal"
    )
    labels = [short(indicators.labels[i]) for i in shown]
    fontsize = fitting_fontsize(ax, n)
    # The first row and the last column have no pairs.
    ax.set_xticks(np.arange(n - 1), labels[:-1], rotation=90, fontsize=fontsize)
    ax.set_yticks(np.arange(1, n), labels[1:], fontsize=fontsize)
    ax.set_xlim(-0.5, n - 1.5)
    ax.set_ylim(n - 0.5, 0.5)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.7)
    bar.set_label("instead of each other   ←   correlation   →   together")
    bar.outline.set_visible(False)
    return ax


def correlations(draws: Any) -> tuple[Any, Any]:
    """Return the places of the indicators that move often, and their correlations.

    Rare ones are correlated by chance: at least a share ``RARE`` of the draws must differ from
    the rest, unless too few indicators move as often. At most ``MOST`` are compared.
    """
    flat = draws.reshape(-1, draws.shape[2])
    mean = flat.mean(axis=0)
    minority = np.minimum(mean, 1.0 - mean)
    least = RARE if (minority >= RARE).sum() >= 2 else 0.5 / len(flat)
    places = np.sort(np.argsort(-minority, kind="stable")[:MOST])
    places = places[minority[places] >= least]
    x = flat[:, places] - mean[places]
    x /= np.sqrt((x**2).sum(axis=0))
    return places, x.T @ x


def _order(r: Any, top: int) -> Any:
    """Return the indicators with the strongest correlations, each beside its closest one."""
    strength = np.abs(r - np.eye(len(r))).max(axis=0)
    left = list(np.argsort(-strength, kind="stable")[:top])
    order = [left.pop(0)]
    while left:
        nearest = int(np.argmax([abs(r[order[-1], i]) for i in left]))
        order.append(left.pop(nearest))
    return np.array(order)
