"""Weights in their places, the likelihoods that they enter, and expressions in terms of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors

from pymc_exact_hmc.model.shorthands import write_out

Tensor: TypeAlias = Variable[Any, Any]


class WeightVariable(NamedTuple):
    """A weight: entries ``start:stop`` of the flat vector w, on its natural scale.

    ``value`` stands for it in graphs; its place among the unknowns (s, w) is d + start.
    """

    name: str
    rv: Tensor
    value: Tensor
    shape: tuple[int, ...]
    start: int
    stop: int


class Predictor(NamedTuple):
    """A likelihood in terms of s and of the weights on their natural scale.

    ``scale`` is a standard deviation, or the covariance if ``multivariate``; ``random`` tells
    whether other random variables enter the coefficients of the weights. A likelihood that is
    not Gaussian has the ``parameters`` of a latent ``scheme``, a row for each entry, and
    ``mean`` is its linear predictor.
    """

    name: str
    mean: Tensor
    scale: Tensor
    observed: Tensor
    multivariate: bool
    random: bool = False
    scheme: str = "gaussian"
    parameters: tuple[Tensor, ...] = ()


@dataclass
class WeightBlock:
    """The weights, their gates (−1: always on) and the likelihoods that they enter.

    ``units`` are the scales that multiply weights on their way into every likelihood.
    """

    weights: list[WeightVariable]
    gate: np.ndarray
    predictors: list[Predictor]
    units: dict[str, Tensor] = field(default_factory=dict)


def lay_out_weights(
    rvs: list[Tensor], model: Model, point: dict[str, np.ndarray], d: int
) -> list[WeightVariable]:
    """Place the weights one after the other in the flat vector w."""
    weights, start = [], 0
    for rv in rvs:
        shape = np.shape(point[model.rvs_to_values[rv].name])
        stop = start + int(np.prod(shape))
        value = rv.type(name=f"{rv.name} (natural)")
        weights.append(WeightVariable(rv.name, rv, value, shape, start, stop))
        start = stop
    return weights


def on_natural_weights(
    model: Model, expressions: list[Tensor], weights: list[WeightVariable]
) -> list[Tensor]:
    """Write expressions of random variables in terms of value variables and natural weights."""
    natural = {w.rv: w.value for w in weights}
    used = set(ancestors(expressions))
    others = [rv for rv in model.basic_RVs if rv in used and rv not in natural]
    values = model.replace_rvs_by_values(others)
    replacements = natural | dict(zip(others, values, strict=True))
    return write_out(clone_replace(expressions, replacements))
