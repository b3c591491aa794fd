"""A heat map of the models that were visited."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymc_exact_hmc.plots.rows import fitting_fontsize
from pymc_exact_hmc.plots.style import BLUE, GREY, ORANGE, by_probability, new_axes, short, tidy
from pymc_exact_hmc.results.coefficients import Coefficients, read_coefficients
from pymc_exact_hmc.results.reading import Indicators, read_indicators
from pymc_exact_hmc.results.visits import Visits, count_visits

NEGATIVE, EMPTY, POSITIVE, INCLUDED = range(4)


def plot_models(
    idata: Any,
    gamma: str | None = None,
    weights: str | None = None,
    *,
    models: int = 40,
    top: int = 40,
    ax: Any = None,
) -> Any:
    """Plot which predictors are in the most visited models.

    A column for each model, as wide as it is probable, most probable first; a row for each
    predictor, of which the ``top`` most probable ones are shown. Blue and orange tell whether
    the mean coefficient in that model is positive or negative.
    """
    indicators = read_indicators(idata, gamma)
    coefficients = read_coefficients(idata, indicators, weights)
    if coefficients is not None and not _one_each(coefficients, indicators):
        coefficients = None
    visits = count_visits(indicators.draws)
    n = min(models, len(visits.share))
    inclusion = indicators.draws.mean(axis=(0, 1))
    seen = int((visits.models[:n].max(axis=0) > 0).sum())
    rows = by_probability(inclusion, max(1, min(top, seen)))
    if ax is None:
        ax = new_axes((7.5, 1.3 + 0.2 * max(rows.size, 4)))[0, 0]
    cells = _cells(indicators, coefficients, visits, n, rows)
    _draw(ax, cells, np.concatenate([[0.0], np.cumsum(visits.share[:n])]))
    ax.set_yticks(
        np.arange(rows.size) + 0.5,
        [short(indicators.labels[i]) for i in rows],
        fontsize=fitting_fontsize(ax, rows.size),
    )
    ax.set_ylim(rows.size, 0)
    ax.set_xlabel(f"posterior probability of the {n} most visited of {len(visits.share)} models")
    _legend(ax, cells)
    tidy(ax)
    ax.tick_params(axis="y", length=0)
    return ax


def _one_each(coefficients: Coefficients, indicators: Indicators) -> bool:
    """Return whether every indicator switches one coefficient."""
    return np.array_equal(np.sort(coefficients.gate), np.arange(indicators.d))


def _cells(
    indicators: Indicators, coefficients: Coefficients | None, visits: Visits, n: int, rows: Any
) -> Any:
    on = visits.models[:n, rows].T == 1
    if coefficients is None:
        return np.where(on, INCLUDED, EMPTY)
    which = visits.which.ravel()
    shown = which < n
    # Coefficients may have their dims in another order than the indicators.
    own = np.argsort(coefficients.gate)[rows]
    w = coefficients.draws[:, :, own].reshape(which.size, -1)[shown]
    total = np.zeros((n, rows.size))
    np.add.at(total, which[shown], w)
    return np.where(on, np.where(total.T > 0, POSITIVE, NEGATIVE), EMPTY)


def _draw(ax: Any, cells: Any, edges: Any) -> None:
    from matplotlib.colors import ListedColormap

    colours = ListedColormap([ORANGE, (0.0, 0.0, 0.0, 0.0), BLUE, BLUE])
    ax.pcolormesh(
        edges, np.arange(len(cells) + 1), cells, cmap=colours, vmin=-0.5, vmax=3.5,
        edgecolors=ax.get_facecolor(), linewidth=0.4,
    )  # fmt: skip
    ax.hlines(np.arange(1, len(cells)), 0, edges[-1], color=GREY, alpha=0.25, linewidth=0.4)
    ax.set_xlim(0, edges[-1])


def _legend(ax: Any, cells: Any) -> None:
    from matplotlib.patches import Patch

    known = {POSITIVE: (BLUE, "positive"), NEGATIVE: (ORANGE, "negative"),
             INCLUDED: (BLUE, "included")}  # fmt: skip
    handles = [
        Patch(color=colour, label=label)
        for value, (colour, label) in known.items()
        if (cells == value).any()
    ]
    if handles:
        ax.legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False,
            fontsize="small",
        )  # fmt: skip
