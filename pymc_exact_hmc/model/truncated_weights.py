"""Which free variables of a model are Gaussian within bounds, orders and constraints.

Given everything else their joint log-density is quadratic, whatever it is made of: independent
or multivariate priors, weights that are parents of weights, Gaussian likelihoods; and it is cut
by the bounds of HalfNormal, TruncatedNormal and Exponential priors, by the ``ordered``
transform, and by potentials that are hard constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from pymc.distributions.continuous import TruncatedNormalRV
from pymc.distributions.transforms import Ordered
from pymc.logprob.basic import conditional_logp
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import ExponentialRV, HalfNormalRV, MvNormalRV, NormalRV

from pymc_exact_hmc.model.analysis import some_values
from pymc_exact_hmc.model.constraints import Constraints, degrees_in, read_constraints
from pymc_exact_hmc.model.factors import Factor
from pymc_exact_hmc.model.parents import bounding_variables, direct_parents
from pymc_exact_hmc.model.priors import has_own_transform, why_not_bounded
from pymc_exact_hmc.model.weight_block import WeightVariable, lay_out_weights, on_natural_weights

Tensor: TypeAlias = Variable[Any, Any]
Point = dict[str, np.ndarray]
BOUNDED = (HalfNormalRV, TruncatedNormalRV, ExponentialRV)
UNTRUNCATED = "nothing truncates it; to have it drawn here all the same, name it in vars"


@dataclass(frozen=True)
class TruncatedBlock:
    """The weights, the factors that are quadratic in them, and the constraints.

    The priors with bounds are not among the factors.
    """

    weights: list[WeightVariable]
    factors: list[Factor]
    constraints: Constraints

    @property
    def bounded(self) -> list[WeightVariable]:
        """The weights whose prior has bounds."""
        return [w for w in self.weights if isinstance(w.rv.owner.op, BOUNDED)]


def why_not_gaussian(model: Model, rv: Tensor, point: Point) -> str | None:
    """Return why a free variable cannot be a weight by its own prior, or None if it can."""
    op = rv.owner.op if rv.owner is not None else None
    if not isinstance(op, (NormalRV, MvNormalRV, *BOUNDED)):
        return "its prior is not Gaussian, truncated Gaussian or exponential"
    transform = model.rvs_to_transforms.get(rv)
    if transform is None or has_own_transform(op, transform):
        return why_not_bounded(model, rv, point)
    if isinstance(transform, Ordered) and isinstance(op, NormalRV | MvNormalRV):
        return None
    return f"its transform {type(transform).__name__} is not one that is known"


@dataclass
class _Search:
    model: Model
    point: Point
    reasons: dict[str, str] = field(default_factory=dict)

    def drop(self, rvs: list[Tensor], gone: set[Tensor], reason: str) -> list[Tensor]:
        for rv in rvs:
            if rv in gone:
                self.reasons.setdefault(rv.name, reason)
        return [rv for rv in rvs if rv not in gone]


def recognise_truncated(
    model: Model, point: Point, *, among: list[Tensor] | None = None
) -> tuple[TruncatedBlock | None, dict[str, str]]:
    """Return the Gaussian weights of a model without indicators, and why others are not.

    All that something truncates, directly or through others; or those of ``among``.
    """
    search = _Search(model, point)
    rvs = []
    for rv in model.free_RVs:
        reason = why_not_gaussian(model, rv, point)
        if among is not None and rv not in among:
            reason = "it is not among the variables given"
        if reason is None:
            rvs.append(rv)
        else:
            search.reasons[rv.name] = reason
    block = _shrink(search, rvs)
    if block is None or among is not None:
        return block, search.reasons
    kept = _truncated_parts(model, block)
    rest = search.drop(
        [w.rv for w in block.weights], {w.rv for w in block.weights} - kept, UNTRUNCATED
    )
    return _shrink(search, rest), search.reasons


def _shrink(search: _Search, rvs: list[Tensor]) -> TruncatedBlock | None:
    """Drop variables until what is left is a block."""
    model, point = search.model, search.point
    while rvs:
        for rv in list(rvs):
            if isinstance(rv.owner.op, BOUNDED):
                inside = direct_parents(model, rv) & set(rvs)
                rvs = search.drop(rvs, inside, f"it is a parameter of the prior of {rv.name}")
        for rv in model.free_RVs:
            moved = bounding_variables(model, rv) & set(rvs)
            rvs = search.drop(rvs, moved, f"{rv.name} moves with it while its transform is held")
        if not rvs:
            break
        weights = lay_out_weights(rvs, model, point, 0)
        constraints = read_constraints(model, weights, point)
        factors = _factors(model, weights, constraints.names)
        gone, reason = _to_drop(weights, factors, constraints, point)
        if not gone:
            gone, reason = _without_curvature(weights, factors), "nothing in it is Gaussian"
        if not gone:
            return TruncatedBlock(weights, factors, constraints)
        rvs = search.drop(rvs, gone, reason)
    return None


def _factors(model: Model, weights: list[WeightVariable], without: list[str]) -> list[Factor]:
    """Return the factors that depend on the weights, in terms of natural weights."""
    rvs = {w.rv: w for w in weights}
    touched = []
    for var in [*model.basic_RVs, *model.potentials]:
        own = var in rvs and isinstance(var.owner.op, BOUNDED)
        related = var in rvs or not direct_parents(model, var).isdisjoint(rvs)
        if related and not own and var.name not in without:
            touched.append(var)
    if not touched:
        return []
    # Every random variable above them, because ``conditional_logp`` works on a copy.
    above = set(ancestors(touched))
    values: dict[Tensor, Tensor] = {}
    stand_ins: dict[Tensor, Tensor] = {}
    for rv in model.basic_RVs:
        if rv in rvs:
            values[rv] = rvs[rv].value
        elif rv in above and rv in model.free_RVs:
            values[rv] = rv.type()
            (stand_ins[values[rv]],) = model.replace_rvs_by_values([rv])
        elif rv in above:
            values[rv] = model.rvs_to_values[rv]
    logps = conditional_logp(values, warn_rvs=False)
    potentials = [var for var in touched if var not in values]
    natural = dict(zip(potentials, on_natural_weights(model, potentials, weights), strict=True))
    expressions = [natural[x] if x in natural else logps[values[x]] for x in touched]
    if stand_ins:
        expressions = list(clone_replace(expressions, stand_ins))
    return [Factor(var.name, "", logp) for var, logp in zip(touched, expressions, strict=True)]


def _to_drop(
    weights: list[WeightVariable], factors: list[Factor], constraints: Constraints, point: Point
) -> tuple[set[Tensor], str]:
    """Return variables that cannot stay, with the reason; none if all factors are quadratic."""
    for factor in factors:
        inside = set(ancestors([factor.logp]))
        members = [w for w in weights if w.value in inside]
        if not members or degrees_in([factor.logp], weights, (), point)[0] <= 2:
            continue
        unread = constraints.reasons.get(factor.name)
        reason = f"it enters {factor.name}, which is not Gaussian in it"
        if unread:
            reason = (
                f"it enters {factor.name}, which is not a constraint that can be read: {unread}"
            )
        others = some_values(weights)
        alone = [
            w for w in members if degrees_in([factor.logp], [_first(w)], (), point | others)[0] > 2
        ]
        scales = [w for w in members if isinstance(w.rv.owner.op, BOUNDED)]
        blamed = alone or (scales if len(scales) < len(members) else []) or members
        parameters = [w for w in blamed if w.name != factor.name]
        return {w.rv for w in parameters or blamed}, reason
    return set(), ""


def _without_curvature(weights: list[WeightVariable], factors: list[Factor]) -> set[Tensor]:
    """Return exponential variables that no Gaussian factor holds together."""
    inside = set(ancestors([factor.logp for factor in factors]))
    exponential = [w for w in weights if isinstance(w.rv.owner.op, ExponentialRV)]
    return {w.rv for w in exponential if w.value not in inside}


def _first(w: WeightVariable) -> WeightVariable:
    return w._replace(start=0, stop=w.stop - w.start)


def _truncated_parts(model: Model, block: TruncatedBlock) -> set[Tensor]:
    """Return the weights that share factors, however indirectly, with a truncated one."""
    members = [set(ancestors([factor.logp])) for factor in block.factors]
    walls = [set(ancestors([wall.value])) for wall in block.constraints.walls]
    values = {w.value for w in block.weights}
    reached = {w.value for w in block.bounded}
    reached |= {
        w.value for w in block.weights if isinstance(model.rvs_to_transforms.get(w.rv), Ordered)
    }
    reached |= {value for inside in walls for value in values & inside}
    while True:
        more = {v for inside in members + walls if inside & reached for v in values & inside}
        if more <= reached:
            return {w.rv for w in block.weights if w.value in reached}
        reached |= more
