"""Coefficients given that they are included."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymc_exact_hmc.plots.rows import draw_rows
from pymc_exact_hmc.plots.style import BLUE, by_probability, foreground
from pymc_exact_hmc.results.inclusion import inclusion_summary

FAINTEST = 0.3


def plot_coefficients(
    idata: Any,
    gamma: str | None = None,
    weights: str | None = None,
    *,
    groups: Any = None,
    hdi_prob: float = 0.94,
    sort: bool = True,
    top: int = 150,
    ax: Any = None,
) -> Any:
    """Plot mean and highest-density interval of each coefficient given that it is included.

    The fainter a coefficient, the less probable it is to be included at all; the probability
    stands at the right. Arguments are those of ``inclusion_summary`` and ``plot_inclusion``.
    """
    table = inclusion_summary(idata, gamma, weights, groups=groups, hdi_prob=hdi_prob)
    if "mean_in" not in table:
        raise ValueError(
            "No coefficients were found that the indicators switch: name them with weights=."
        )
    p = table["inclusion"].to_numpy()
    mean, low, high = (table[f"{x}_in"].to_numpy() for x in ("mean", "hdi_low", "hdi_high"))
    seen = np.flatnonzero(np.isfinite(mean))
    if not seen.size:
        raise ValueError("No coefficient was included in any draw: there is nothing to plot.")
    places = seen[by_probability(p[seen], top)]
    places = places if sort else np.sort(places)
    labels = [_text(label) for label in table.index]

    def draw(axes: Any, y: Any, shown: Any) -> None:
        alpha = FAINTEST + (1.0 - FAINTEST) * p[shown]
        axes.hlines(y, low[shown], high[shown], color=BLUE, linewidth=2.6, alpha=alpha)
        axes.scatter(mean[shown], y, s=18, c=BLUE, alpha=alpha, linewidths=0, zorder=3)
        axes.axvline(0.0, color=foreground(axes), linewidth=0.8, linestyle=":", zorder=1)
        axes.set_xlabel(f"if included, {100 * hdi_prob:.3g} % interval")
        size = min(8.0, 0.6 * 72 * axes.get_window_extent().height / axes.figure.dpi / len(shown))
        for row, i in zip(y, shown, strict=True):
            axes.text(1.01, row, f"{p[i]:.2f}", transform=axes.get_yaxis_transform(),
                      va="center", fontsize=max(size, 4.5))  # fmt: skip
        axes.text(1.01, 1.0, "included", transform=axes.transAxes, va="bottom", fontsize=7)

    return draw_rows(places, labels, ax, draw, total=len(p))


def _text(label: Any) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
