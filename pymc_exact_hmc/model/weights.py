"""Which free variables of a model are Gaussian weights that indicators switch on and off.

A weight has a Gaussian, truncated Gaussian or exponential prior whose parameters depend on
neither indicators nor weights; every other factor it enters is a likelihood that is Gaussian
in a predictor, if need be given latent variables. The predictor is affine in the weights, each
multiplied by at most one indicator, and the other parameters depend on neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import ExponentialRV, HalfNormalRV, MvNormalRV

from pymc_exact_hmc.model.analysis import (
    UnfollowableError,
    analyse,
    evaluate_nodes,
    some_values,
)
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.dependence import Dependence
from pymc_exact_hmc.model.families import latent_parameters, split_likelihood
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.gates import GateTracker, Offset
from pymc_exact_hmc.model.links import NO_LINK, PROBIT_OF_COUNTS, find_link
from pymc_exact_hmc.model.parents import bounding_variables, direct_parents, variables_in
from pymc_exact_hmc.model.priors import why_not_weight
from pymc_exact_hmc.model.smoothness import is_smooth
from pymc_exact_hmc.model.units import pull_units, same_units

Tensor: TypeAlias = Variable[Any, Any]
MOST_TRIED = 64
"""Variables of one predictor that are tried one by one, each of which takes a walk of its graph."""


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
        rvs = _drop_dependent_priors(search, rvs, indicators, entering)
        rvs, predictors = drop_other_factors(search, rvs, indicators, entering)
        if len(rvs) == before:
            break
    if not rvs:
        return None, search.reasons
    return _resolve_gates(search, rvs, predictors, indicators, entering)


def _drop_dependent_priors(
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


def on_natural_weights(
    model: Model, expressions: list[Tensor], weights: list[WeightVariable]
) -> list[Tensor]:
    """Write expressions of random variables in terms of value variables and natural weights."""
    natural = {w.rv: w.value for w in weights}
    used = set(ancestors(expressions))
    others = [rv for rv in model.basic_RVs if rv in used and rv not in natural]
    values = model.replace_rvs_by_values(others)
    replacements = natural | dict(zip(others, values, strict=True))
    return list(clone_replace(expressions, replacements))


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
