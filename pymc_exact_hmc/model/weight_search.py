"""Which variables may still be weights: priors and factors rule out some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from pymc.model import Model
from pytensor.graph.basic import Variable

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.families import split_likelihood
from pymc_exact_hmc.model.parents import bounding_variables, direct_parents, variables_in

Tensor: TypeAlias = Variable[Any, Any]


@dataclass
class Search:
    """What is still believed to be a weight, and why the others are not."""

    model: Model
    layout: tuple[BinaryVariable, ...]
    point: dict[str, np.ndarray]
    reasons: dict[str, str] = field(default_factory=dict)
    constraints: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Look up the indicators."""
        self._indicators = {self.model.values_to_rvs[b.value] for b in self.layout}

    def parents(self, var: Tensor) -> set[Tensor]:
        """Return the random variables that enter a variable directly, or bound one that does."""
        return self._with_bounding(direct_parents(self.model, var))

    def variables_in(self, expressions: list[Tensor]) -> set[Tensor]:
        """Return the random variables that expressions are made of, or that bound one of them."""
        return self._with_bounding(variables_in(self.model, expressions))

    def _with_bounding(self, found: set[Tensor]) -> set[Tensor]:
        """Add the indicators that a variable depends on while its value variable is held."""
        seen, stack = set(found), list(found)
        while stack:
            more = set(bounding_variables(self.model, stack.pop())) - seen
            seen |= more
            stack += more
        return found | (seen & self._indicators)

    def drop(self, rvs: list[Tensor], gone: set[Tensor], reason: str) -> list[Tensor]:
        """Return what is left without ``gone``, and remember the reason."""
        for rv in rvs:
            if rv in gone:
                self.reasons.setdefault(rv.name, reason)
        return [rv for rv in rvs if rv not in gone]


def drop_dependent_priors(
    search: Search, rvs: list[Tensor], indicators: set[Tensor], entering: dict[Any, set[Tensor]]
) -> list[Tensor]:
    """Drop what enters the prior of a weight: parameters and indicators are given."""
    used = set().union(*entering.values())
    for rv in list(rvs):
        if rv not in used and entering[rv] & set(rvs) and entering[rv] & indicators:
            rvs = search.drop(rvs, {rv}, "it is data of the weights, which are missing")
    for rv in list(rvs):
        hyperparameters = entering[rv] & set(rvs)
        rvs = search.drop(rvs, hyperparameters, f"it is a parameter of the prior of {rv.name}")
    for rv in list(rvs):
        if entering[rv] & indicators:
            names = ", ".join(sorted(v.name for v in entering[rv] & indicators))
            rvs = search.drop(rvs, {rv}, f"its prior depends on {names}")
    return rvs


def drop_other_factors(
    search: Search, rvs: list[Tensor], indicators: set[Tensor], entering: dict[Any, set[Tensor]]
) -> tuple[list[Tensor], list[Tensor]]:
    """Drop weights that enter a factor which no latent variables make Gaussian in them."""
    predictors = []
    for var, parents in entering.items():
        inside = parents & set(rvs)
        if not inside:
            continue
        parts = split_likelihood(var) if var in search.model.basic_RVs else None
        observed = var in search.model.observed_RVs
        # Missing data are read from a value variable, which must stand for them alone.
        missing = not observed and not bounding_variables(search.model, var)
        if parts is None or not (observed or (parts.scheme == "gaussian" and missing)):
            reason = f"it enters {var.name}, which is no likelihood that can be made Gaussian in it"
            rvs = search.drop(rvs, inside, reason)
            continue
        in_scale = search.variables_in([parts.scale, *parts.others])
        rvs = search.drop(rvs, in_scale, f"the scale of {var.name} depends on it")
        if in_scale & indicators:
            rvs = search.drop(rvs, inside, f"the scale of {var.name} depends on indicators")
        elif inside & set(rvs):
            predictors.append(var)
    return rvs, predictors
