"""A table of inclusion probabilities and coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pymc_exact_hmc.results.coefficients import ALWAYS, Coefficients, read_coefficients
from pymc_exact_hmc.results.diagnostics import Mixing, columns, mixing, switches
from pymc_exact_hmc.results.intervals import SPREAD, spread, with_zeros
from pymc_exact_hmc.results.reading import Indicators, read_indicators

R_HAT_HIGH = 1.05
NEVER_MOVED = "never moved"
ALWAYS_ON = "always on"


def inclusion_summary(
    idata: Any,
    gamma: str | None = None,
    weights: str | None = None,
    *,
    groups: Any = None,
    hdi_prob: float = 0.94,
    rao_blackwell: bool = True,
) -> pd.DataFrame:
    """Summarise which coefficients are included, and how large they are.

    Parameters
    ----------
    idata
        What ``pm.sample`` returned, or a trace read from a file.
    gamma, weights
        Names of the indicators and of the coefficients: the weights, or their product with the
        indicators. By default the only binary variable, and the float variable of its shape.
    groups
        For weights that share indicators: the label or number of the indicator of each, −1 for
        a weight that is always on. Not needed if the weights have all dims of the indicators.
    hdi_prob
        Share of the draws inside the highest-density intervals.
    rao_blackwell
        Average the probabilities of the indicators given the rest, which are less noisy than
        the indicators, if ``ExactBinaryHMC(inclusion=True)`` has recorded them.

    Returns
    -------
    DataFrame
        A row for each coefficient (for each indicator if there are no coefficients):

        ``inclusion``, ``mcse``
            inclusion probability and its Monte Carlo standard error, NaN if there is no telling;
        ``mean``, ``sd``, ``hdi_low``, ``hdi_high``
            of the coefficient, which is 0 when it is not included;
        ``mean_in``, ``sd_in``, ``hdi_low_in``, ``hdi_high_in``
            of the coefficient given that it is included;
        ``ess``, ``r_hat``
            effective draws and R-hat of the indicator, NaN if it is constant;
        ``switches``, ``switches_min``
            how often the indicator changed: mean of the chains, and in the stillest of them;
        ``note``
            ``never moved`` and other reasons to look twice.
    """
    if not 0.0 < hdi_prob < 1.0:
        raise ValueError(f"hdi_prob must be between 0 and 1, got {hdi_prob!r}.")
    indicators = read_indicators(idata, gamma)
    coefficients = read_coefficients(idata, indicators, weights, groups)
    table = indicator_table(indicators, rao_blackwell=rao_blackwell)
    if coefficients is None:
        return table
    table = _expand(table, coefficients)
    for i, (name, column) in enumerate(_spreads(indicators, coefficients, hdi_prob).items()):
        table.insert(2 + i, name, column)
    if not np.array_equal(coefficients.gate, np.arange(indicators.d)):
        names = [ALWAYS_ON if g == ALWAYS else indicators.labels[g] for g in coefficients.gate]
        table.insert(0, "indicator", names)
    return table


def inclusion_probability(
    indicators: Indicators, moved: Mixing, *, rao_blackwell: bool = True
) -> tuple[Any, Any]:
    """Return inclusion probabilities and their Monte Carlo standard errors."""
    if rao_blackwell and indicators.probability is not None:
        moved = mixing(indicators.probability)
    return moved.mean, moved.mcse


def indicator_table(indicators: Indicators, *, rao_blackwell: bool = True) -> pd.DataFrame:
    """Return the table of the indicators alone."""
    moved, changes = mixing(indicators.draws), switches(indicators.draws)
    inclusion, mcse = inclusion_probability(indicators, moved, rao_blackwell=rao_blackwell)
    return pd.DataFrame(
        {
            "inclusion": inclusion,
            "mcse": mcse,
            "ess": moved.ess,
            "r_hat": moved.r_hat,
            "switches": changes.mean(axis=0),
            "switches_min": changes.min(axis=0),
            "note": _notes(indicators, moved, changes),
        },
        index=indicators.index,
    )


def _notes(indicators: Indicators, moved: Mixing, changes: Any) -> Any:
    """Say, for each indicator, what its numbers cannot."""
    chains, d = changes.shape
    still = (changes == 0).sum(axis=0)
    apart = (indicators.draws[:, 0] != indicators.draws[:1, 0]).any(axis=0)
    notes = np.full(d, "", dtype=object)
    notes[moved.r_hat > R_HAT_HIGH] = "chains disagree"
    notes[still > 0] = [f"never moved in {n} of {chains} chains" for n in still[still > 0]]
    notes[still == chains] = NEVER_MOVED
    notes[(still == chains) & apart] = f"{NEVER_MOVED}, chains disagree"
    return notes


def _expand(table: pd.DataFrame, coefficients: Coefficients) -> pd.DataFrame:
    """Return the table with a row for each coefficient instead of each indicator."""
    if np.array_equal(coefficients.gate, np.arange(len(table))):
        return table.set_index(coefficients.index)
    rows = table.iloc[coefficients.gate].set_index(coefficients.index)
    on = coefficients.gate == ALWAYS
    rows.loc[on, ["inclusion", "mcse"]] = 1.0, 0.0
    rows.loc[on, ["ess", "r_hat"]] = np.nan
    rows.loc[on, ["switches", "switches_min"]] = 0
    rows.loc[on, "note"] = ALWAYS_ON
    return rows


def _spreads(indicators: Indicators, coefficients: Coefficients, prob: float) -> dict[str, Any]:
    """Return the columns about the sizes of coefficients, overall and given inclusion."""
    n = coefficients.gate.size
    overall, included = np.empty((4, n)), np.empty((4, n))
    total = int(np.prod(indicators.draws.shape[:2]))
    for part in columns(n, total):
        gate = coefficients.gate[part]
        w = np.ascontiguousarray(np.moveaxis(coefficients.draws[:, :, part], 2, 0))
        on = np.moveaxis(indicators.draws[:, :, gate], 2, 0) == 1
        on[gate == ALWAYS] = True
        for i, (values, switched) in enumerate(zip(w, on, strict=True)):
            x = np.sort(values[switched]).astype(np.float64, copy=False)
            included[:, part.start + i] = spread(x, prob)
            overall[:, part.start + i] = spread(with_zeros(x, total - x.size), prob)
    names = [*SPREAD, *(f"{name}_in" for name in SPREAD)]
    return dict(zip(names, [*overall, *included], strict=True))
