"""A row for each predictor, its label beside it; many rows stand in several columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pymc_exact_hmc.plots.style import new_axes, short, tidy

PER_COLUMN = 50
"""Rows above which a new figure gets another column."""
SMALLEST = 6.0
"""Points that a row needs for its label to be read."""
POINTS = 72.0


def row_axes(n: int, ax: Any) -> list[tuple[Any, slice]]:
    """Return the axes for n rows with the rows that each shows.

    On axes that were given there may be room for the first rows only.
    """
    if ax is not None:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        return [(ax, slice(0, max(1, min(n, int(box.height * POINTS / SMALLEST)))))]
    columns = max(1, -(-n // PER_COLUMN))
    each = -(-n // columns)
    height = 1.1 + (0.23 if each <= 25 else 0.165) * max(each, 3)
    axes = new_axes((6.0 if columns == 1 else 3.6 * columns, height), columns)[0]
    return [(axes[i], slice(i * each, min((i + 1) * each, n))) for i in range(columns)]


def draw_rows(
    places: Any, labels: list[str], ax: Any, draw: Callable[[Any, Any, Any], None], *, total: int
) -> Any:
    """Call ``draw(axes, y, places)`` for the rows of each axes; return the axes.

    A single axes if one was given or one is enough, else an array of them. A title says if
    fewer than ``total`` rows are shown.
    """
    parts = row_axes(len(places), ax)
    for axes, part in parts:
        shown = places[part]
        y = np.arange(len(shown))
        draw(axes, y, shown)
        fontsize = fitting_fontsize(axes, len(shown))
        axes.set_yticks(y, [short(labels[i]) for i in shown], fontsize=fontsize)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        tidy(axes, grid="x")
        axes.tick_params(axis="y", length=0)
    drawn = np.array([axes for axes, _ in parts])
    limits = np.array([axes.get_xlim() for axes in drawn])
    for axes in drawn:
        axes.set_xlim(limits[:, 0].min(), limits[:, 1].max())
    n = parts[-1][1].stop
    if n < total:
        drawn[0].set_title(f"{n} of {total}", loc="left", fontsize="medium")
    return drawn[0] if drawn.size == 1 else drawn


def fitting_fontsize(ax: Any, n: int) -> float:
    """Return the size of labels for n rows: that of the style, or less if there is no room."""
    default = ax.yaxis.get_ticklabels()[0].get_fontsize() if ax.yaxis.get_ticklabels() else 10.0
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return float(min(default, max(4.5, 0.75 * box.height * POINTS / max(n, 1))))
