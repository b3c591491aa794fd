"""Which free variables of a model are Gaussian weights that indicators switch on and off.

A weight has a Gaussian, truncated Gaussian or exponential prior whose parameters depend on
neither indicators nor weights; every other factor it enters is a likelihood that is Gaussian
in a predictor, if need be given latent variables. The predictor is affine in the weights, each
multiplied by at most one indicator, and the other parameters depend on neither.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import ExponentialRV, HalfNormalRV

from pymc_exact_hmc.model.analysis import evaluate_nodes
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.predictors import gated_affine, make_predictor
from pymc_exact_hmc.model.priors import why_not_weight
from pymc_exact_hmc.model.smoothness import is_smooth
from pymc_exact_hmc.model.units import pull_units, same_units
from pymc_exact_hmc.model.weight_block import (
    Predictor,
    WeightBlock,
    WeightVariable,
    lay_out_weights,
)
from pymc_exact_hmc.model.weight_search import Search, drop_dependent_priors, drop_other_factors

Tensor: TypeAlias = Variable[Any, Any]
MOST_TRIED = 64
"""Variables of one predictor that are tried one by one, each of which takes a walk of its graph."""


def recognise_weights(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    point: dict[str, np.ndarray],
    *,
    among: list[Tensor] | None = None,
    constraints: frozenset[str] = frozenset(),
) -> tuple[WeightBlock | None, dict[str, str]]:
    """Return the block of weights that meet an indicator, and why others were not taken.

    ``among`` limits what may be taken; potentials named in ``constraints`` are passed over.
    """
    search = Search(model, layout, point, constraints=constraints)
    indicators = {model.values_to_rvs[binary.value] for binary in layout}
    rvs = []
    for rv in model.free_RVs:
        reason = why_not_weight(model, rv, point)
        if among is not None and rv not in among:
            reason = "it is not among the variables given"
        if reason is None:
            rvs.append(rv)
        elif rv not in indicators and rv.type.dtype.startswith("float"):
            search.reasons[rv.name] = reason
    potentials = [var for var in model.potentials if var.name not in constraints]
    factors = [*model.basic_RVs, *potentials]
    entering = {var: search.parents(var) for var in factors}
    while True:
        before = len(rvs)
        rvs = drop_dependent_priors(search, rvs, indicators, entering)
        rvs, predictors = drop_other_factors(search, rvs, indicators, entering)
        if len(rvs) == before:
            break
    if not rvs:
        return None, search.reasons
    return _resolve_gates(search, rvs, predictors, indicators, entering)


def _resolve_gates(
    search: Search,
    rvs: list[Tensor],
    likelihoods: list[Tensor],
    indicators: set[Tensor],
    entering: dict[Any, set[Tensor]],
) -> tuple[WeightBlock | None, dict[str, str]]:
    """Find the gate of every weight; drop what is not gated-affine and start over."""
    d = search.layout[-1].stop
    weights = lay_out_weights(rvs, search.model, search.point, d)
    n = weights[-1].stop
    relation = sp.csr_array((n, d), dtype=bool)
    predictors = []
    for likelihood in likelihoods:
        predictor, tracker, reason = make_predictor(search, likelihood, weights)
        if reason:
            inside = [rv for rv in rvs if rv in entering[likelihood]]
            gone = _scales_among(weights, tracker.products) or _misfits(search, likelihood, inside)
            rest = search.drop(rvs, gone, f"the predictor of {likelihood.name} {reason}")
            kept = [x for x in likelihoods if entering[x] & set(rest)]
            if not rest:
                return None, search.reasons
            return _resolve_gates(search, rest, kept, indicators, entering)
        relation = sp.csr_array((relation + tracker.relation).astype(bool))
        predictors.append(predictor._replace(random=predictor.mean in tracker.random))
    counts = np.diff(relation.indptr)
    crowded = {w.rv for w in weights if (counts[w.start : w.stop] > 1).any()}
    alone = _components_without_gates(weights, likelihoods, entering, counts)
    for gone, reason in (
        (crowded, "an entry of it is multiplied by several indicators"),
        (alone, "it meets no indicator"),
    ):
        if gone:
            # A weight of the same likelihood cannot stay: the block is not Gaussian without it.
            linked = gone | {
                rv for x in likelihoods if entering[x] & gone for rv in entering[x] & set(rvs)
            }
            rest = search.drop(rvs, linked, reason)
            kept = [x for x in likelihoods if entering[x] & set(rest)]
            if not rest:
                return None, search.reasons
            return _resolve_gates(search, rest, kept, indicators, entering)
    gate = np.full(n, -1)
    gate[counts == 1] = relation.indices
    return _in_units(search, WeightBlock(weights, gate, predictors)), search.reasons


def _in_units(search: Search, block: WeightBlock) -> WeightBlock:
    """Measure weights in units, if their coefficients then do not change any more."""
    if search.constraints or not any(predictor.random for predictor in block.predictors):
        return block
    unknowns = {b.value for b in search.layout} | {w.value for w in block.weights}
    pulled = [pull_units(p.mean, block.weights, unknowns, search.point) for p in block.predictors]
    predictors: list[Predictor] = []
    units: dict[str, Tensor] = {}
    for predictor, new in zip(block.predictors, pulled, strict=True):
        inside = set(ancestors([predictor.mean]))
        for w in block.weights:
            if w.value not in inside:
                continue
            for other, known in zip(block.predictors, pulled, strict=True):
                if w.value in ancestors([other.mean]) and not same_units(new, known, w.name):
                    return block
        if any(_may_be_zero(unit, search.point) for unit in new.units.values()):
            return block  # nothing can be measured in it
        units |= new.units
        changed = predictor._replace(mean=new.mean)
        tracker, reason = gated_affine(search, changed, block.weights)
        if reason or changed.mean in tracker.random:
            return block
        predictors.append(changed._replace(random=False))
    return WeightBlock(block.weights, block.gate, predictors, units)


def _may_be_zero(unit: Tensor, point: dict[str, np.ndarray]) -> bool:
    """Return whether a unit is exactly 0 at the start, or may be with some probability."""
    if not is_smooth(unit, other_inputs(unit, set())):
        return True
    return not np.all(evaluate_nodes([], point, also=[unit])[unit])


def _scales_among(weights: list[WeightVariable], products: sp.csr_array) -> set[Tensor]:
    """Return the positive weights that multiply others: scales, such as τ in τ·w."""
    busy = np.unique(products.indices)
    multiplied = [w for w in weights if ((busy >= w.start) & (busy < w.stop)).any()]
    return {w.rv for w in multiplied if isinstance(w.rv.owner.op, HalfNormalRV | ExponentialRV)}


def _misfits(search: Search, likelihood: Tensor, inside: list[Tensor]) -> set[Tensor]:
    """Return those without which a predictor fits, such as b in exp(b); all if none is left.

    The others are taken one by one, the largest first, with what is not yet taken as given.
    """
    if len(inside) > MOST_TRIED:
        return set(inside)
    d, fitting, left = search.layout[-1].stop, list[Tensor](), list[Tensor]()
    sizes = {rv: search.point[search.model.rvs_to_values[rv].name].size for rv in inside}
    waiting = sorted(inside, key=lambda rv: -sizes[rv])
    # An intercept fits once the gated weights do: before, their sum changes with the indicators.
    while waiting != left:
        left, waiting = waiting, []
        for rv in left:
            tried = lay_out_weights([*fitting, rv], search.model, search.point, d)
            fits = not make_predictor(search, likelihood, tried)[2]
            (fitting if fits else waiting).append(rv)
    return set(waiting) or set(inside)


def _components_without_gates(
    weights: list[WeightVariable],
    likelihoods: list[Tensor],
    entering: dict[Any, set[Tensor]],
    counts: np.ndarray,
) -> set[Tensor]:
    """Return the weights that share no likelihood, however indirectly, with a gated one."""
    gated = {w.rv for w in weights if counts[w.start : w.stop].any()}
    rvs = {w.rv for w in weights}
    reached = set(gated)
    while True:
        more = {rv for x in likelihoods if entering[x] & reached for rv in entering[x] & rvs}
        if more <= reached:
            return rvs - reached
        reached |= more
