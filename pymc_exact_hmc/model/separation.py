"""Binary responses that a predictor separates, where a prior does not hold its weight.

If for some weights v every success has x·v ≥ 0, every failure x·v ≤ 0, and not all are 0, then
the likelihood grows along v for ever (Albert and Anderson 1984). A flat prior on these weights
leaves no posterior, and a very wide one a posterior that is the prior's tail.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.distributions.continuous import FlatRV, HalfFlatRV
from pymc.model import Model
from pymc.pytensorf import compile as compile_pymc
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import BernoulliRV, BinomialRV, NormalRV
from scipy.optimize import linprog
from scipy.special import logit, ndtri

from pymc_exact_hmc.model.evaluation import ONCE
from pymc_exact_hmc.model.parents import variables_in

Tensor: TypeAlias = Variable[Any, Any]
Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
WIDE = 100.0
"""Standard deviation from which a prior of log-odds or probits says next to nothing."""
STEP = 0.1


def refuse_separation(model: Model) -> None:
    """Refuse responses that weights with flat priors separate; warn of very wide priors."""
    for rv in model.observed_RVs:
        if not isinstance(rv.owner.op, BernoulliRV | BinomialRV):
            continue
        *others, p = rv.owner.op.dist_params(rv.owner)
        free = [x for x in model.free_RVs if x in set(ancestors([p]))]
        flat = [x for x in free if isinstance(x.owner.op, FlatRV | HalfFlatRV)]
        wide = [x for x in free if _is_wide(x)]
        for among, say in ((flat, _refuse), (flat + wide if wide else [], _warn)):
            if among and _separates(model, rv, others, p, free, among):
                say(rv.name, ", ".join(x.name for x in among))


def _refuse(response: str, names: str) -> None:
    raise ValueError(
        f"The responses {response} are separated by the predictors of {names}, whose prior is "
        "flat: the likelihood grows for ever and there is no posterior. Give it a proper prior, "
        "such as pm.Normal(0, 2.5) for standardised predictors."
    )


def _warn(response: str, names: str) -> None:
    warnings.warn(
        f"The responses {response} are separated by the predictors of {names}, whose prior is so "
        f"wide (a standard deviation of {WIDE:.0f} or more) that it alone decides how large the "
        "weights become. Give it a narrower one, such as pm.Normal(0, 2.5) for standardised "
        "predictors.",
        UserWarning,
        stacklevel=2,
    )


def _is_wide(rv: Tensor) -> bool:
    if not isinstance(rv.owner.op, NormalRV):
        return False
    (sd,) = constant_fold([rv.owner.op.dist_params(rv.owner)[1]], raise_not_constant=False)
    return not isinstance(sd, Variable) and bool(np.min(sd) >= WIDE)


def _separates(
    model: Model, rv: Tensor, others: list[Tensor], p: Tensor, free: list[Tensor], among: list[Any]
) -> bool:
    """Return whether the entries of ``among`` have a direction of separation."""
    observed = np.asarray(model.rvs_to_values[rv].eval(), dtype=float)
    if variables_in(model, others):
        return False  # the number of trials is unknown, and so are the ends
    trials = np.broadcast_to(others[0].eval() if others else 1.0, observed.shape)
    design = _design(model, p, observed.shape, free, among)
    if design is None:
        return False
    y, n = observed.ravel(), trials.ravel()
    # Which way the predictor of a row may go for ever; not at all where both were seen.
    way = np.where(n == 0, np.nan, np.where(y == n, 1.0, np.where(y == 0, -1.0, 0.0)))
    inside = (way == 0)[:, None] * design
    outside = (np.nan_to_num(way)[:, None] * design)[np.abs(way) == 1]
    total = outside.sum(axis=0)
    found = linprog(
        -total,
        A_ub=np.vstack([-outside, total]),
        b_ub=np.append(np.zeros(len(outside)), 1.0),
        A_eq=inside[way == 0] if (way == 0).any() else None,
        b_eq=np.zeros(int((way == 0).sum())) if (way == 0).any() else None,
        bounds=_directions(model, among),
    )
    return bool(found.status == 0 and -found.fun > 0.5)


def _directions(model: Model, among: list[Any]) -> Matrix:
    """Return how far each entry may go, down and up: half a line has one direction."""
    start = model.initial_point()
    lowest = [
        np.full(
            start[model.rvs_to_values[x].name].size,
            0.0 if isinstance(x.owner.op, HalfFlatRV) else -np.inf,
        )
        for x in among
    ]
    down = np.concatenate(lowest)
    return np.column_stack([down, np.full(down.size, np.inf)])


def _design(
    model: Model, p: Tensor, shape: tuple[int, ...], free: list[Tensor], among: list[Any]
) -> Matrix | None:
    """Return the columns of weights in the predictor behind p, all indicators on, or None."""
    inputs = [x.type() for x in free]
    value = clone_replace(pt.broadcast_to(p, shape).ravel(), dict(zip(free, inputs, strict=True)))
    run = compile_pymc(inputs, value.astype("float64"), mode=ONCE, on_unused_input="ignore")
    # Not those of value variables: a simplex has an entry more than its transform.
    shapes = model.eval_rv_shapes()
    rest = {}
    for x in free:
        held = x in among or (x.type.dtype.startswith("float") and not model.rvs_to_transforms[x])
        rest[x] = np.full(shapes[x.name], 0.0 if held else 1.0).astype(x.type.dtype)
    for inverse in (logit, ndtri):
        columns, straight = [], True
        zero = inverse(run(*rest.values()))
        for x in among:
            for j in range(rest[x].size):
                ends = []
                for step in (STEP, 2 * STEP):
                    moved = rest[x].copy()
                    moved.flat[j] = step
                    ends.append(inverse(run(*(rest | {x: moved}).values())) - zero)
                straight &= bool(np.allclose(2 * ends[0], ends[1], atol=1e-7))
                columns.append(ends[0] / STEP)
        if straight:
            return np.stack(columns, axis=1)
    return None
