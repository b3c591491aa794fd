"""Sampler statistics: names, types, and what the progress bar shows of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pymc.stats.convergence import SamplerWarning
from rich.progress import TextColumn
from rich.table import Column

STATS: dict[str, tuple[Any, Any]] = {
    "ehmc_hits": (np.int64, []),
    "ehmc_crossings": (np.int64, []),
    "ehmc_reflections": (np.int64, []),
    "ehmc_rejected": (np.int64, []),
    "ehmc_travel_time": (np.float64, []),
    "ehmc_energy_error": (np.float64, []),
    "warning": (SamplerWarning, None),
}
"""Statistics of the step. Names of our own: PyMC merges equal names of different steps."""

MEANING = {
    "ehmc_hits": "walls hit in this draw",
    "ehmc_crossings": "hits that flipped an indicator",
    "ehmc_reflections": "reflections of weights at their bounds",
    "ehmc_rejected": "flights inside constraints that rounding left outside, not taken",
    "ehmc_travel_time": "travel time of each trajectory of this draw",
    "ehmc_inclusion": "probability of each indicator given the rest (opt-in)",
    "ehmc_energy_error": "error of the energy bookkeeping when last checked",
}


def inclusion_names(variables: list[str]) -> list[str]:
    """Return the names of the statistics that ``inclusion=True`` adds.

    One for each variable, so that a trace tells which probabilities belong to which indicators.
    """
    if len(variables) == 1:
        return ["ehmc_inclusion"]
    return [f"ehmc_inclusion_{name}" for name in variables]


def progress_columns(n_chains: int) -> tuple[list[TextColumn], dict[str, list[Any]]]:
    """Return the columns of the progress bar and their first values."""
    columns = [
        TextColumn("{task.fields[ehmc_hits]}", table_column=Column("Wall hits", ratio=1)),
        TextColumn("{task.fields[ehmc_crossings]}", table_column=Column("Crossings", ratio=1)),
    ]
    return columns, {"ehmc_hits": [0] * n_chains, "ehmc_crossings": [0] * n_chains}


def progress_updates() -> tuple[Callable[[dict[str, Any]], dict[str, Any]]]:
    """Return the function that maps a draw's statistics to the progress bar's fields."""

    def update(stats: dict[str, Any]) -> dict[str, Any]:
        return {name: stats[name] for name in ("ehmc_hits", "ehmc_crossings")}

    return (update,)
