"""The prior that a model implies on indicators and on how many of them are on."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions.discrete import DiscreteUniformRV
from pymc.model import Model, modelcontext
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import BetaRV, BinomialRV, CategoricalRV
from scipy.special import betaincinv

from pymc_exact_hmc.model.binaries import why_not_binary
from pymc_exact_hmc.results.labels import model_labels
from pymc_exact_hmc.results.reading import Indicators
from pymc_exact_hmc.results.sizes import mean_size_distribution, size_distribution

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriorInclusion:
    """What a model says about its indicators before it sees data.

    ``sizes[k]`` is the prior probability that k indicators are on, ``inclusion`` that of each
    indicator. ``given`` holds one row per draw of the other variables (a single row if there is
    nothing to draw): probabilities of the indicators, which are independent given those.
    """

    name: str
    inclusion: pd.Series
    sizes: Float
    given: Float

    @property
    def expected_size(self) -> float:
        """The prior mean of the number of indicators that are on."""
        return float(self.sizes @ np.arange(self.sizes.size))

    def interval(self, prob: float = 0.9) -> tuple[int, int]:
        """Return the sizes between which the middle share of the prior lies."""
        cumulative = np.cumsum(self.sizes)
        tail = 0.5 * (1.0 - prob)
        low, high = np.searchsorted(cumulative, [tail, 1.0 - tail])
        return int(low), int(min(high, self.sizes.size - 1))

    def any_of(self, places: list[int]) -> float:
        """Return the prior probability that at least one of some indicators is on."""
        return float(1.0 - np.prod(1.0 - self.given[:, places], axis=1).mean())

    @property
    def _sentences(self) -> list[str]:
        d, (low, high) = self.sizes.size - 1, self.interval()
        least, most = self.inclusion.min(), self.inclusion.max()
        each = f"{least:.3g}" if most - least < 1e-12 else f"{least:.3g} to {most:.3g}"
        return [
            f"Prior of {self.name}: {d} indicators, each on with probability {each}.",
            f"Expected number on: {self.expected_size:.3g}; between {low} and {high} with "
            f"probability {self.sizes[low : high + 1].sum():.2g}.",
            f"None on: {self.sizes[0]:.3g}; all on: {self.sizes[-1]:.3g}.",
        ]

    def __str__(self) -> str:
        """Return the prior in three lines."""
        return "\n".join(self._sentences)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self._sentences)


def prior_inclusion(
    model: Model | None = None,
    gamma: str | None = None,
    *,
    draws: int = 4000,
    random_seed: int | None = None,
) -> PriorInclusion:
    """Show the prior on inclusion and on model size that a model implies.

    Exact if the prior probabilities are constants. If they depend on one number, such as
    ``p ~ Beta(1, 1)``, its prior is integrated over, at equally probable values; if they depend
    on more, those are drawn from their prior and averaged over.

    Parameters
    ----------
    model
        A PyMC model; that of the context by default.
    gamma
        Name of the indicators; by default the only binary variable.
    draws, random_seed
        How many values of the other variables are averaged over, and the seed of draws.
    """
    model = modelcontext(model)
    rv = _choose(model, gamma)
    _refuse_potentials(model, rv)
    shape = tuple(int(n) for n in rv.shape.eval())
    # The length of a dim is itself a variable; broadcasting to a known shape keeps p free of rv.
    p = pt.broadcast_to(_probability(rv), shape)
    random = [v for v in ancestors([p]) if v in model.free_RVs]
    if not random:
        given = np.asarray(p.eval(), float)[None]
    elif len(random) == 1 and random[0].type.ndim == 0:
        given = _at_quantiles(p, random[0], draws)
    else:
        given = np.asarray(pm.draw(p, draws=draws, random_seed=random_seed), float)
    given = given.reshape(-1, int(np.prod(shape)))
    sizes = mean_size_distribution(given)
    index = model_labels(model, rv.name, shape)
    inclusion = pd.Series(given.mean(axis=0), index=index, name="prior inclusion")
    return PriorInclusion(rv.name, inclusion, sizes, given)


def as_prior(prior: Any, indicators: Indicators) -> PriorInclusion:
    """Return a prior that was given as such, as a model, as a number or as an array."""
    if isinstance(prior, Model):
        prior = prior_inclusion(prior, indicators.name, random_seed=0)
    if isinstance(prior, PriorInclusion):
        if prior.inclusion.size != indicators.d:
            raise ValueError(
                f"The prior is one of {prior.inclusion.size} indicators, but {indicators.name} "
                f"has {indicators.d}."
            )
        return prior
    p = np.broadcast_to(np.asarray(prior, float), indicators.shape).ravel()
    if not ((p > 0) & (p < 1)).all():
        raise ValueError("Prior inclusion probabilities must be between 0 and 1.")
    series = pd.Series(p, index=indicators.index, name="prior inclusion")
    return PriorInclusion(indicators.name, series, size_distribution(p), p[None])


def _choose(model: Model, gamma: str | None) -> Any:
    binaries = {rv.name: rv for rv in model.free_RVs if why_not_binary(rv) is None}
    if gamma is not None:
        if gamma not in binaries:
            known = ", ".join(binaries) or "none"
            raise ValueError(f"{gamma!r} is not a free binary variable; there are: {known}.")
        return binaries[gamma]
    if len(binaries) != 1:
        known = ", ".join(binaries) or "none"
        raise ValueError(f"Say which variable holds the indicators with gamma=: {known}.")
    return next(iter(binaries.values()))


def _refuse_potentials(model: Model, rv: Any) -> None:
    """Refuse potentials that change the prior of the indicators: draws do not see them."""
    concerned = {v for v in ancestors([rv]) if v in model.free_RVs}
    data = {v for v in model.basic_RVs if v not in concerned}
    for potential in model.potentials:
        reached = set(ancestors([potential]))
        if reached & concerned and not reached & data:
            raise ValueError(
                f"The potential {potential.name!r} changes the prior of {rv.name} by an unknown "
                "factor. Sample the model without its data to see that prior."
            )


def _at_quantiles(p: Any, rv: Any, n: int) -> Float:
    """Return p at n equally probable values of the random variable it depends on."""
    value, levels = rv.type(), (np.arange(n) + 0.5) / n
    if isinstance(rv.owner.op, BetaRV):
        quantiles = betaincinv(*(x.eval() for x in rv.owner.op.dist_params(rv.owner)), levels)
    else:
        try:
            quantiles = np.asarray(pm.icdf(rv, levels).eval(), float)
        except NotImplementedError:
            quantiles = np.asarray(pm.draw(rv, draws=n, random_seed=0), float)
    (at_value,) = clone_replace([p], {rv: value})
    evaluate = pytensor.function([value], at_value)
    return np.stack([evaluate(np.asarray(x, value.dtype)) for x in quantiles])


def _probability(rv: Any) -> Any:
    """Return the probability of 1 of each entry of a binary variable."""
    op, parameters = rv.owner.op, rv.owner.op.dist_params(rv.owner)
    if isinstance(op, DiscreteUniformRV):
        p = pt.as_tensor_variable(0.5)
    elif isinstance(op, CategoricalRV):
        p = parameters[0][..., 1]
    else:
        p = parameters[1] if isinstance(op, BinomialRV) else parameters[0]
    return p
