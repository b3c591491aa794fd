"""How often each indicator crosses its wall."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymc_exact_hmc.plots.rows import draw_rows
from pymc_exact_hmc.plots.style import BLUE, ORANGE, legend_above
from pymc_exact_hmc.results.diagnostics import switches
from pymc_exact_hmc.results.reading import read_indicators


def plot_crossings(
    idata: Any, gamma: str | None = None, *, sort: bool = True, top: int = 150, ax: Any = None
) -> Any:
    """Plot the rate at which each indicator changes from one draw to the next.

    A bar for the mean of the chains, a tick for each chain. The orange mark is the rate of
    independent draws with the same inclusion probability p, 2p(1 − p): a bar far below it is an
    indicator that mixes slowly, one beyond it an indicator that mixes better than by chance.
    """
    indicators = read_indicators(idata, gamma)
    length = max(1, indicators.draws.shape[1] - 1)
    rate = switches(indicators.draws) / length
    p = indicators.draws.mean(axis=(0, 1))
    ideal = 2.0 * p * (1.0 - p)
    mean = rate.mean(axis=0)
    # The slowest first: those are the ones to look at.
    shortfall = np.where(ideal > 0, mean / np.where(ideal > 0, ideal, 1.0), np.inf)
    places = np.argsort(shortfall, kind="stable")[:top]
    places = places if sort else np.sort(places)

    def draw(axes: Any, y: Any, shown: Any) -> None:
        axes.barh(y, mean[shown], height=0.62, color=BLUE, alpha=0.45, linewidth=0)
        for chain in rate:
            axes.plot(chain[shown], y, "|", color=BLUE, markersize=5)
        axes.plot(ideal[shown], y, "D", color=ORANGE, markersize=4)
        axes.set_xlim(0, 1.05 * max(0.05, float(ideal.max()), float(rate.max())))
        axes.set_xlabel("crossings per draw")

    axes = draw_rows(places, indicators.labels, ax, draw, total=indicators.d)
    marks = [("|", BLUE, "each chain"), ("D", ORANGE, "independent draws")]
    legend_above(np.ravel(axes)[-1], marks)
    return axes
