"""Colours and axes that all pictures share.

The colours are told apart by people who see red and green alike, and stand out from white and
from black alike. Text, ticks and frames keep the colours of the user's style.
"""

from __future__ import annotations

from typing import Any

import numpy as np

BLUE, ORANGE, GREEN, GREY = "#3B8EC2", "#DB6A2B", "#1F9E78", "#8C8C8C"


def new_axes(figsize: tuple[float, float], columns: int = 1, rows: int = 1, **options: Any) -> Any:
    """Return axes of a new figure, as an array (row, column)."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(
        rows, columns, figsize=figsize, layout="constrained", squeeze=False, **options
    )
    return axes


def foreground(ax: Any) -> Any:
    """Return the colour of the text of an axes: dark on light, light on dark."""
    return ax.yaxis.label.get_color()


def tidy(ax: Any, *, grid: str | None = None) -> None:
    """Take away what carries no information."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=2)
    if grid:
        ax.grid(axis=grid, alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)


def diverging(ax: Any) -> Any:
    """Return a colour map from orange through the background to blue."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "orange-blue", ["#B34700", ORANGE, ax.get_facecolor(), BLUE, "#00598C"]
    )


def short(label: str, longest: int = 28) -> str:
    """Return a label that does not push the picture aside."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def by_probability(probability: Any, most: int) -> Any:
    """Return the places of the most probable entries, most probable first."""
    return np.argsort(-np.nan_to_num(np.asarray(probability)), kind="stable")[:most]


def legend_above(ax: Any, marks: list[tuple[str, str, str]]) -> None:
    """Explain marks, given as (marker, colour, label), above the right end of an axes."""
    handles = [
        ax.plot([], [], marker, color=colour, markersize=5, label=label,
                markerfacecolor="none" if marker == "o" else colour)[0]
        for marker, colour, label in marks
    ]  # fmt: skip
    ax.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(handles),
        frameon=False, fontsize="small", borderaxespad=0.2, handletextpad=0.2, columnspacing=1.0,
    )  # fmt: skip
