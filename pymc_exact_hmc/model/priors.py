"""Which priors make a free variable a Gaussian weight."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.continuous import FlatRV, HalfFlatRV, TruncatedNormalRV
from pymc.logprob.transforms import IntervalTransform, LogTransform
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.tensor.random.basic import ExponentialRV, HalfNormalRV, NormalRV

from pymc_exact_hmc.model.analysis import UnfollowableError, evaluate_nodes
from pymc_exact_hmc.model.parents import variables_in
from pymc_exact_hmc.model.smoothness import is_smooth
from pymc_exact_hmc.model.transforms import from_interval, to_interval

Tensor: TypeAlias = Variable[Any, Any]
Point = dict[str, np.ndarray]
PRIORS = (NormalRV, HalfNormalRV, TruncatedNormalRV, ExponentialRV)
WORST_ROUNDING = 1e-3
"""Of a weight by its transform, in standard deviations of its slab."""


def why_not_weight(model: Model, rv: Tensor, point: Point) -> str | None:
    """Return why a free variable cannot be a weight by its own prior, or None if it can."""
    op = rv.owner.op if rv.owner is not None else None
    if isinstance(op, FlatRV | HalfFlatRV):
        return "its flat prior is not Gaussian: give it a proper one, however wide"
    if not isinstance(op, PRIORS):
        return "its prior is not Gaussian, truncated Gaussian or exponential"
    transform = model.rvs_to_transforms.get(rv)
    if transform is not None and not isinstance(transform, LogTransform | IntervalTransform):
        return f"its transform {type(transform).__name__} is not a bound on each entry"
    if transform is not None and not has_own_transform(op, transform):
        return _foreign(transform)
    return why_not_bounded(model, rv, point)


def _foreign(transform: Any) -> str:
    """Say that a transform cuts the prior, at bounds that are not those of the distribution."""
    return f"its transform {type(transform).__name__} is not that of its prior"


def why_not_bounded(model: Model, rv: Tensor, point: Point) -> str | None:
    """Return why the bounds of a prior cannot be followed, or None if they can.

    Which bounds there are is settled at the start; finite ones must not come and go.
    """
    if not isinstance(rv.owner.op, TruncatedNormalRV):
        return None
    bounds = rv.owner.op.dist_params(rv.owner)[2:]
    if not all(is_smooth(bound, variables_in(model, [bound])) for bound in bounds):
        return "its bounds depend on a discrete variable, or through a switch or a cut"
    transform = model.rvs_to_transforms.get(rv)
    if transform is None:
        return None
    if not _has_own_bounds(model, rv, transform, point):
        return _foreign(transform)
    if not _has_digits(model, rv, point):
        return "its bounds are so far away that its transform cannot tell its values apart"
    return None


def _has_own_bounds(model: Model, rv: Tensor, transform: Any, point: Point) -> bool:
    """Return whether an interval transform has the bounds of the prior, at the start."""
    ends, bounds = transform.args_fn(*rv.owner.inputs), rv.owner.op.dist_params(rv.owner)[2:]
    infinite = (-np.inf, np.inf)
    pairs = [
        model.replace_rvs_by_values([pt.as_tensor(limit if end is None else end), bound])
        for end, bound, limit in zip(ends, bounds, infinite, strict=True)
    ]
    try:
        found = evaluate_nodes([], point, also=[x for pair in pairs for x in pair])
    except UnfollowableError:
        return True  # there are other sentences for a start that cannot be evaluated
    return all(np.all(np.equal(found[end], found[bound])) for end, bound in pairs)


def _has_digits(model: Model, rv: Tensor, point: Point) -> bool:
    """Return whether values a standard deviation apart survive PyMC's transform, at the start.

    log(w + 10³⁰⁰) is the same for all of them.
    """
    parameters = model.replace_rvs_by_values(list(rv.owner.op.dist_params(rv.owner)))
    try:
        found = evaluate_nodes([], point, also=parameters)
    except UnfollowableError:
        return True  # there are other sentences for a start that cannot be evaluated
    mu, sigma, lower, upper = (np.asarray(found[x], dtype=float) for x in parameters)
    for w in (mu, mu + sigma):
        inside = np.clip(w, lower, upper)
        back = from_interval(to_interval(inside, lower, upper), lower, upper)
        # Bounds that leave nothing between them have a sentence of their own.
        if ((np.abs(back - inside) > WORST_ROUNDING * sigma) & (lower < upper)).any():
            return False
    return True


def has_own_transform(op: Any, transform: Any) -> bool:
    """Return whether a transform is the one that PyMC gives to a distribution by itself."""
    if isinstance(transform, LogTransform):
        return isinstance(op, HalfNormalRV | ExponentialRV)
    return isinstance(transform, IntervalTransform) and isinstance(op, TruncatedNormalRV)
