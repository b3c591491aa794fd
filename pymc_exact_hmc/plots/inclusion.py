"""Inclusion probabilities with their Monte Carlo errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymc_exact_hmc.plots.rows import draw_rows
from pymc_exact_hmc.plots.style import BLUE, GREY, by_probability, foreground, legend_above
from pymc_exact_hmc.results.inclusion import NEVER_MOVED, indicator_table
from pymc_exact_hmc.results.reading import read_indicators


def plot_inclusion(
    idata: Any,
    gamma: str | None = None,
    *,
    threshold: float = 0.5,
    sort: bool = True,
    top: int = 150,
    rao_blackwell: bool = True,
    ax: Any = None,
) -> Any:
    """Plot the inclusion probability of each predictor, with two standard errors on each side.

    Predictors above ``threshold`` stand out; a hollow point never moved, so that its error is
    unknown. ``sort=False`` keeps the order of the model, ``top`` limits the number of rows.
    Returns the axes; an array of them if a new figure needs several columns.
    """
    indicators = read_indicators(idata, gamma)
    table = indicator_table(indicators, rao_blackwell=rao_blackwell)
    p = table["inclusion"].to_numpy()
    error = 2.0 * np.nan_to_num(table["mcse"].to_numpy())
    still = (table["switches"] == 0).to_numpy()
    places = by_probability(p, top)
    places = places if sort else np.sort(places)

    def draw(axes: Any, y: Any, shown: Any) -> None:
        colours = np.where(p[shown] > threshold, BLUE, GREY)
        axes.barh(y, p[shown], height=0.62, color=colours, alpha=0.35, linewidth=0)
        low, high = np.clip(p - error, 0, 1)[shown], np.clip(p + error, 0, 1)[shown]
        axes.hlines(y, low, high, color=foreground(axes), linewidth=1.2, zorder=3)
        moved = ~still[shown]
        axes.scatter(p[shown], y, s=20, c=colours, zorder=4, clip_on=False, linewidths=0)
        axes.scatter(
            p[shown][~moved], y[~moved], s=9, c=[axes.get_facecolor()], zorder=5, clip_on=False,
            linewidths=0,
        )  # fmt: skip
        axes.axvline(threshold, color=foreground(axes), linewidth=0.8, linestyle=":", zorder=1)
        axes.set_xlim(0, 1)
        axes.set_xlabel("inclusion probability")

    axes = draw_rows(places, indicators.labels, ax, draw, total=indicators.d)
    if still[places].any():
        legend_above(np.ravel(axes)[-1], [("o", GREY, NEVER_MOVED)])
    return axes
