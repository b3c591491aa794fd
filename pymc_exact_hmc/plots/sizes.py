"""How many predictors there are, before and after the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymc.model import Model

from pymc_exact_hmc.plots.style import BLUE, ORANGE, new_axes, tidy
from pymc_exact_hmc.results.prior import PriorInclusion, as_prior, prior_inclusion
from pymc_exact_hmc.results.reading import read_indicators


def plot_sizes(
    idata: Any = None, gamma: str | None = None, *, prior: Any = None, ax: Any = None
) -> Any:
    """Plot the posterior of the number of predictors, and the prior if it is given.

    ``prior`` may be the PyMC model, what ``prior_inclusion`` returned, or probabilities; with
    the former two ``idata`` may be left out to see the prior alone.
    """
    if idata is None:
        if isinstance(prior, Model):
            prior = prior_inclusion(prior, gamma, random_seed=0)
        if not isinstance(prior, PriorInclusion):
            raise ValueError("Without a trace, give prior=model or prior=prior_inclusion(model).")
        total, share = prior.sizes.size - 1, None
    else:
        indicators = read_indicators(idata, gamma)
        total = indicators.d
        sizes = indicators.draws.sum(axis=2, dtype=np.int64)
        share = np.bincount(sizes.ravel(), minlength=total + 1) / sizes.size
        prior = None if prior is None else as_prior(prior, indicators)
    if ax is None:
        ax = new_axes((6.0, 3.2))[0, 0]
    k = np.arange(total + 1)
    if share is not None:
        ax.bar(k, share, width=0.8, color=BLUE, alpha=0.6, label="posterior", linewidth=0)
    if prior is not None:
        ax.step(k, prior.sizes, where="mid", color=ORANGE, linewidth=1.6, label="prior")
    ax.set_xlim(*_range(share, None if prior is None else prior.sizes))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("number of predictors")
    ax.set_ylabel("probability")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)
    tidy(ax, grid="y")
    return ax


def _range(*distributions: Any) -> tuple[float, float]:
    """Return limits between which practically all of some distributions lies."""
    ends = [
        np.flatnonzero((np.cumsum(p) > 1e-3) & (np.cumsum(p[::-1])[::-1] > 1e-3))
        for p in distributions
        if p is not None
    ]
    return min(e[0] for e in ends) - 0.8, max(e[-1] for e in ends) + 0.8
