"""Which models were visited: their probabilities, sizes, and what to conclude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from pymc_exact_hmc.results.bayes import bayes_factors
from pymc_exact_hmc.results.diagnostics import mixing
from pymc_exact_hmc.results.inclusion import inclusion_probability
from pymc_exact_hmc.results.prior import as_prior
from pymc_exact_hmc.results.reading import Indicators, read_indicators
from pymc_exact_hmc.results.visits import Visits, count_visits, share_of

DISPLAY = ("display.max_colwidth", None, "display.float_format", "{:.3g}".format)
LONGEST = 12
"""Predictors of a model that are named in a table."""


@dataclass(frozen=True, eq=False)
class ModelSummary:
    """What the draws say about whole models; prints as text, shows as tables in notebooks.

    ``models`` has the most visited models with their probabilities, ``sizes`` the distribution
    of the number of predictors, ``bayes_factors`` those of inclusion (None without a prior).
    ``most_probable`` and ``median_probability`` are lists of labels: of the model most visited,
    and of the predictors whose inclusion probability is above one half.
    """

    models: pd.DataFrame
    sizes: pd.DataFrame
    most_probable: list[Any]
    median_probability: list[Any]
    bayes_factors: pd.DataFrame | None
    n_visited: int
    n_draws: int

    @property
    def _head(self) -> list[str]:
        mean = float(self.sizes["probability"] @ self.sizes.index)
        return [
            f"{self.n_visited} models in {self.n_draws} draws, {mean:.3g} predictors on average.",
            f"Most probable model: {_listed(self.most_probable)}.",
            f"Median-probability model: {_listed(self.median_probability)}.",
        ]

    @property
    def _tables(self) -> list[pd.DataFrame]:
        factors = [] if self.bayes_factors is None else [self.bayes_factors]
        return [self.models, self.sizes, *factors]

    def __str__(self) -> str:
        """Return the summary as plain text."""
        with pd.option_context(*DISPLAY):
            tables = [table.to_string() for table in self._tables]
        return "\n\n".join(["\n".join(self._head), *tables])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "<br>".join(escape(line) for line in self._head)
        with pd.option_context(*DISPLAY):
            return f"<p>{head}</p>" + "".join(table.to_html() for table in self._tables)


def model_summary(
    idata: Any,
    gamma: str | None = None,
    *,
    top: int = 10,
    prior: Any = None,
    groups: Mapping[str, Sequence[Any]] | None = None,
    rao_blackwell: bool = True,
) -> ModelSummary:
    """Summarise the models that were visited.

    Parameters
    ----------
    idata
        What ``pm.sample`` returned, or a trace read from a file.
    gamma
        Name of the indicators; by default the only binary variable.
    top
        How many of the most visited models to list.
    prior
        For Bayes factors: the PyMC model, what ``prior_inclusion`` returned, or the prior
        inclusion probabilities, one or as many as indicators.
    groups
        For Bayes factors of several predictors at once: labels by the name of the group.
    rao_blackwell
        Use recorded conditional probabilities for the inclusion of single predictors.
    """
    indicators = read_indicators(idata, gamma)
    if prior is not None:
        prior = as_prior(prior, indicators)
    elif groups is not None:
        raise ValueError("Bayes factors need the prior: give the PyMC model as prior=.")
    visits = count_visits(indicators.draws)
    inclusion, _ = inclusion_probability(
        indicators, mixing(indicators.draws), rao_blackwell=rao_blackwell
    )
    factors = None
    if prior is not None:
        factors = bayes_factors(indicators, prior, groups, rao_blackwell=rao_blackwell)
    return ModelSummary(
        _models(indicators, visits, top),
        _sizes(indicators, prior),
        _names(indicators, visits.models[0] == 1),
        _names(indicators, inclusion > 0.5),
        factors,
        len(visits.share),
        visits.which.size,
    )


def _models(indicators: Indicators, visits: Visits, top: int) -> pd.DataFrame:
    shown = np.arange(min(top, len(visits.share)))
    judged = share_of(visits.which, shown)
    return pd.DataFrame(
        {
            "probability": visits.share[shown],
            "mcse": judged.mcse,
            "size": visits.models[shown].sum(axis=1, dtype=np.int64),
            "predictors": [
                _listed(_names(indicators, model == 1)) for model in visits.models[shown]
            ],
        },
        index=pd.RangeIndex(1, shown.size + 1, name="model"),
    )


def _sizes(indicators: Indicators, prior: Any) -> pd.DataFrame:
    sizes = indicators.draws.sum(axis=2, dtype=np.int64)
    values = np.arange(sizes.min(), sizes.max() + 1)
    judged = share_of(sizes, values)
    table = pd.DataFrame(
        {"probability": judged.mean, "mcse": judged.mcse}, index=pd.Index(values, name="size")
    )
    if prior is not None:
        table["prior"] = prior.sizes[values]
    return table


def _names(indicators: Indicators, on: Any) -> list[Any]:
    return [indicators.labels[i] for i in np.flatnonzero(on)]


def _listed(names: list[Any]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - LONGEST} more" if len(names) > LONGEST else ""
    return ", ".join(str(name) for name in names[:LONGEST]) + more
