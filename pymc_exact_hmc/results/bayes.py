"""Bayes factors for including one coefficient, or any of a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pymc_exact_hmc.results.diagnostics import mixing, switches
from pymc_exact_hmc.results.inclusion import NEVER_MOVED, inclusion_probability
from pymc_exact_hmc.results.prior import PriorInclusion, as_prior
from pymc_exact_hmc.results.reading import Indicators

ERRORS = 2.0
"""Monte Carlo standard errors on each side of an interval."""


def odds(p: Any) -> Any:
    """Return p/(1 − p), infinite at 1."""
    p = np.asarray(p, float)
    with np.errstate(divide="ignore"):
        return p / (1.0 - p)


def bayes_factors(
    indicators: Indicators,
    prior: Any,
    groups: Mapping[str, Sequence[Any]] | None = None,
    *,
    rao_blackwell: bool = True,
) -> pd.DataFrame:
    """Return posterior odds over prior odds of inclusion, with a range for Monte Carlo error.

    A row for each indicator, then one for each group: at least one of its indicators is on,
    against none of them. An indicator that never moved has no Bayes factor: the draws cannot
    tell how much evidence there is.
    """
    prior = as_prior(prior, indicators)
    moved, changes = mixing(indicators.draws), switches(indicators.draws)
    p, mcse = inclusion_probability(indicators, moved, rao_blackwell=rao_blackwell)
    still = (changes == 0).all(axis=0) & ~(mcse > 0)
    before = np.asarray(prior.inclusion, float)
    rows = _rows(indicators.labels, p, mcse, before, still)
    if groups:
        rows = pd.concat([rows, _group_rows(indicators, prior, groups)])
    return rows


def _group_rows(
    indicators: Indicators, prior: PriorInclusion, groups: Mapping[str, Sequence[Any]]
) -> pd.DataFrame:
    places = [[indicators.position(label) for label in labels] for labels in groups.values()]
    for name, members in zip(groups, places, strict=True):
        if not members:
            raise ValueError(f"The group {name!r} has no members.")
    some = np.stack([indicators.draws[:, :, i].max(axis=2) for i in places], axis=2)
    moved = mixing(some)
    before = np.array([prior.any_of(i) for i in places])
    still = (switches(some) == 0).all(axis=0)
    return _rows([f"any of {name}" for name in groups], moved.mean, moved.mcse, before, still)


def _rows(labels: list[str], p: Any, mcse: Any, before: Any, still: Any) -> pd.DataFrame:
    low, high = np.clip(p - ERRORS * mcse, 0, 1), np.clip(p + ERRORS * mcse, 0, 1)
    # What the prior is certain of has no Bayes factor: 0/0 or ∞/∞.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [odds(x) / odds(before) for x in (p, low, high)]
    columns = [before, p, *ratios]
    names = ["prior", "posterior", "bayes_factor", "low", "high"]
    table = pd.DataFrame(
        dict(zip(names, columns, strict=True)), index=pd.Index(labels, name="hypothesis")
    )
    table.loc[still, ["bayes_factor", "low", "high"]] = np.nan
    table["note"] = np.where(still, NEVER_MOVED, "")
    return table
