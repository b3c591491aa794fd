"""A likelihood in terms of indicators and natural weights, if it is affine in gated weights."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.tensor.random.basic import MvNormalRV

from pymc_exact_hmc.model.analysis import UnfollowableError, analyse, some_values
from pymc_exact_hmc.model.dependence import Dependence
from pymc_exact_hmc.model.families import latent_parameters, split_likelihood
from pymc_exact_hmc.model.gates import GateTracker, Offset
from pymc_exact_hmc.model.links import NO_LINK, PROBIT_OF_COUNTS, find_link
from pymc_exact_hmc.model.weight_block import Predictor, WeightVariable, on_natural_weights
from pymc_exact_hmc.model.weight_search import Search

Tensor: TypeAlias = Variable[Any, Any]


def make_predictor(
    search: Search, likelihood: Tensor, weights: list[WeightVariable]
) -> tuple[Predictor, GateTracker, str]:
    """Write a likelihood in terms of value variables and of natural weights.

    Also return what was found about its predictor, and why it does not fit, if so.
    """
    model, parts = search.model, split_likelihood(likelihood)
    assert parts is not None
    observed = model.rvs_to_values[likelihood]
    if likelihood in model.free_RVs:
        (observed,) = model.replace_rvs_by_values([likelihood])
    written = [parts.predictor, parts.scale, *parts.others]
    mean, scale, *others = on_natural_weights(model, written, weights)
    parts = parts._replace(predictor=mean, scale=scale, others=tuple(others))
    multivariate = isinstance(likelihood.owner.op, MvNormalRV)
    predictor = Predictor(likelihood.name, mean, scale, observed, multivariate)
    link = ""
    if parts.odds:
        tracker, known, reason = _dependence(search, mean, weights)
        unknowns = {b.value for b in search.layout} | {w.value for w in weights}
        found = None if reason else find_link(mean, known, unknowns, _filled(search, weights))
        if found is None:
            return predictor, tracker, reason or NO_LINK
        if found.kind == "probit" and parts.scheme != "bernoulli":
            return predictor, tracker, PROBIT_OF_COUNTS
        link, predictor = found.kind, predictor._replace(mean=found.predictor)
    scheme, parameters = latent_parameters(parts, link, observed)
    predictor = predictor._replace(scheme=scheme, parameters=parameters)
    return predictor, *gated_affine(search, predictor, weights)


def gated_affine(
    search: Search, predictor: Predictor, weights: list[WeightVariable]
) -> tuple[GateTracker, str]:
    """Return what was found about the mean, and why it does not fit, if so."""
    tracker, known, reason = _dependence(search, predictor.mean, weights)
    if reason:
        return tracker, reason
    dependence = known[predictor.mean]
    if dependence.degree > 1 or not dependence.shaped:
        return tracker, "is not affine in the weights"
    if tracker.offsets[predictor.mean] is Offset.VARIES:
        return tracker, "depends on indicators apart from the weights they multiply"
    return tracker, ""


def _dependence(
    search: Search, tensor: Tensor, weights: list[WeightVariable]
) -> tuple[GateTracker, dict[Tensor, Dependence], str]:
    """Follow indicators and weights to a tensor; also return why that failed, if so."""
    d, n = search.layout[-1].stop, weights[-1].stop
    shifted = [w._replace(start=w.start + d, stop=w.stop + d) for w in weights]
    offsets = {b.value: Offset.VARIES for b in search.layout}
    offsets |= {w.value: Offset.ZERO for w in weights}
    tracker = GateTracker(d, n, offsets)
    try:
        known = analyse(
            [tensor],
            (*search.layout, *shifted),
            _filled(search, weights),
            parameters={b.value for b in search.layout},
            visit=tracker.visit,
        )
    except UnfollowableError as error:
        return tracker, {}, f"cannot be followed ({error})"
    return tracker, known, ""


def _filled(search: Search, weights: list[WeightVariable]) -> dict[str, np.ndarray]:
    """Return the start, with natural weights."""
    return search.point | some_values(weights)
