"""One trajectory of the sampler: y, s and w over time, and what happens on the way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pymc_exact_hmc.plots.style import BLUE, GREEN, ORANGE, foreground, new_axes, tidy
from pymc_exact_hmc.weights.recorded import (
    BOUNCE,
    CROSSING,
    REFLECTION,
    Recording,
    Regression,
    draw_start,
    record,
)

COLOURS = [BLUE, ORANGE, GREEN]
POINTS = 600


def example_trajectory(*, travel_time: float = 2.5 * math.pi, random_seed: int = 30) -> Recording:
    """Record a trajectory of the paper's kernel for three positive coefficients.

    A regression on three correlated predictors, the first two of which have an effect.
    """
    rng = np.random.default_rng(random_seed)
    X = rng.normal(size=(12, 3)) + 0.5 * rng.normal(size=(12, 1))
    z = X @ np.array([1.0, 0.5, 0.0]) + 2.0 * rng.normal(size=12)
    n = 3
    block = Regression(
        X.T @ X / 4.0, X.T @ z / 4.0, np.full(n, 1.0), np.zeros(n), np.zeros(n), np.full(n, np.inf)
    )
    s, w = np.array([1.0, 0.0, 0.0]), np.array([0.8, 0.5, 0.9])
    return record(block, *draw_start(block, s, w, rng), travel_time)


def plot_trajectory(trajectory: Recording | None = None, *, axes: Any = None) -> Any:
    """Plot the companions y, the indicators s and the weights w along one trajectory.

    Each indicator is the sign of its companion. Where y reaches its wall at 0 it crosses, and the
    indicator flips, if its kinetic energy pays for what the flip costs; else it bounces. A weight
    is drawn solid while its indicator is on, and is reflected at its bound. By default three
    positive coefficients are followed; the three ``axes`` are returned.
    """
    trajectory = example_trajectory() if trajectory is None else trajectory
    if axes is None:
        axes = new_axes((8.0, 5.6), rows=3, sharex=True, height_ratios=[3, 1.1, 3])[:, 0]
    top, middle, bottom = axes
    starts = np.array([leg.start for leg in trajectory.legs])
    times = np.unique(np.concatenate([np.linspace(0, trajectory.travel_time, POINTS), starts]))
    states = [trajectory.at(t) for t in times]
    s = np.array([x.s for x in states])
    for j in range(s.shape[1]):
        colour = COLOURS[j % len(COLOURS)]
        y, w = (np.array([getattr(x, name)[j] for x in states]) for name in ("y", "w"))
        top.plot(times, y, color=colour, linewidth=1.5, label=f"{j + 1}")
        offset = s.shape[1] - 1 - j
        middle.fill_between(times, offset, offset + 0.75 * s[:, j], step="post", color=colour,
                            alpha=0.6, linewidth=0)  # fmt: skip
        middle.plot(times, np.full(times.size, offset), color=colour, linewidth=0.8)
        on = s[:, j] == 1
        bottom.plot(times, w, color=colour, linewidth=0.9, linestyle=(0, (1, 2)))
        bottom.plot(times, np.where(on, w, np.nan), color=colour, linewidth=1.8)
    _mark(trajectory, top, bottom)
    _finish(trajectory, top, middle, bottom)
    return axes


def _mark(trajectory: Recording, top: Any, bottom: Any) -> None:
    for event in trajectory.events:
        colour = COLOURS[event.coordinate % len(COLOURS)]
        if event.kind == REFLECTION:
            w = trajectory.at(event.time).w[event.coordinate]
            bottom.plot(event.time, w, "^", color=colour, markersize=6, clip_on=False, zorder=4)
        else:
            fill = colour if event.kind == CROSSING else top.get_facecolor()
            top.plot(event.time, 0.0, "o", color=colour, markerfacecolor=fill, markersize=6,
                     markeredgewidth=1.5, zorder=4)  # fmt: skip


def _finish(trajectory: Recording, top: Any, middle: Any, bottom: Any) -> None:
    line = foreground(top)
    top.axhline(0.0, color=line, linewidth=0.8, zorder=1)
    top.set_ylabel("y")
    n = trajectory.block.r.size
    middle.set_ylabel("s")
    middle.set_yticks([n - 1 - j + 0.35 for j in range(n)], [f"{j + 1}" for j in range(n)])
    middle.set_ylim(-0.15, n - 0.05)
    bottom.set_ylabel("w (dotted: off)")
    if np.isfinite(trajectory.block.lower).all():
        bottom.axhline(float(trajectory.block.lower.min()), color=line, linewidth=0.8, zorder=1)
    bottom.set_xlabel("time")
    quarter = math.pi / 2
    ticks = range(int(trajectory.travel_time / quarter + 1e-9) + 1)
    bottom.set_xticks([k * quarter for k in ticks], [_in_pi(k) for k in ticks])
    bottom.set_xlim(0, trajectory.travel_time)
    for ax in (top, middle, bottom):
        tidy(ax)
    handles = [
        top.plot([], [], "o", color=line, markerfacecolor=fill, markersize=6, label=label)[0]
        for fill, label in ((line, f"{CROSSING}: s flips"), (top.get_facecolor(), BOUNCE))
    ]
    handles.append(top.plot([], [], "^", color=line, markersize=6, label=REFLECTION)[0])
    top.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False,
        fontsize="small",
    )  # fmt: skip


def _in_pi(quarters: int) -> str:
    if quarters % 2:
        return f"{quarters}π/2" if quarters > 1 else "π/2"
    return "0" if quarters == 0 else f"{quarters // 2}π" if quarters > 2 else "π"
