"""The linear predictor inside a probability: p = sigmoid(η) or p = Φ(η), however it is written.

A tensor x of the graph is a *cut* if it is affine in the weights and p depends on indicators
and weights through x alone, entry by entry. Then p(x) is compared with sigmoid(α + βx) and with
Φ(βx), far into both tails and at several settings of the other variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.pytensorf import compile as compile_pymc
from pytensor.compile.ops import ViewOp
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors, toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.elemwise import Elemwise
from scipy.special import expit, logit, ndtr, ndtri

from pymc_exact_hmc.model.analysis import evaluate_nodes
from pymc_exact_hmc.model.dependence import Dependence
from pymc_exact_hmc.model.evaluation import ONCE, Point
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.points import spread
from pymc_exact_hmc.model.rounding import at_least_rounding
from pymc_exact_hmc.model.smoothness import is_smooth

Tensor: TypeAlias = Variable[Any, Any]
Vector = npt.NDArray[np.float64]
FARTHEST = {"logit": 500.0, "probit": 36.0}
"""How far into the tails the links are compared."""
NEAR = 5.0
"""Offsets of a predictor up to which its slope is compared at other settings."""
STEPS = 60
RELATIVE, ABSOLUTE = 1e-6, 4e-16
PROBIT_OF_COUNTS = "is Φ of a predictor, of counts: latent variables are known for 0 and 1 alone"
NO_LINK = "is neither the logistic function nor Φ of a predictor that is affine in the weights"


class Link(NamedTuple):
    """``kind`` is logit or probit, and ``predictor`` is η."""

    kind: str
    predictor: Tensor


def find_link(
    p: Tensor, known: dict[Tensor, Dependence], unknowns: set[Tensor], point: Point
) -> Link | None:
    """Return the predictor of a probability, or None if it has none.

    ``known`` is what the dependence analysis says about every tensor before p, degrees being
    those in the weights; ``point`` holds values of the unknowns too.
    """
    cut = _find_cut(p, known, unknowns)
    if cut is None or not _is_elementwise(p, cut):
        return None
    x = cut.type(name="the linear predictor")
    of_x = clone_replace(p.astype("float64"), {cut: x})
    others = other_inputs(of_x, {x})
    if not is_smooth(of_x, others):
        return None  # other values of these may make it another function of x
    run = compile_pymc([x, *others], of_x, mode=ONCE, on_unused_input="ignore")
    shape = np.shape(evaluate_nodes([], point, also=[cut])[cut])
    rng = np.random.default_rng(20131217)
    settings = [point, *spread(point, rng)] if others else [point]

    def probability(setting: Point, at: Vector) -> Vector:
        given = [np.asarray(setting[v.name]) for v in others]
        return np.asarray(run(at.astype(x.type.dtype), *given), dtype=float)

    for kind, function, inverse in (("logit", expit, logit), ("probit", ndtr, ndtri)):
        slope = _slope(kind, function, inverse, probability, settings, shape, rng)
        if slope is not None:
            return Link(kind, _predictor(kind, cut, slope, of_x, x, probability, settings, shape))
    return None


def _find_cut(p: Tensor, known: dict[Tensor, Dependence], unknowns: set[Tensor]) -> Tensor | None:
    """Return the affine tensor nearest to p through which alone p depends on the unknowns."""
    order = [x for node in toposort([p]) for x in node.outputs]
    # A weight itself may be the predictor.
    for v in [*reversed(order), *unknowns]:
        dependence = known.get(v)
        if dependence is None or dependence.degree != 1 or not dependence.shaped:
            continue
        if not (unknowns - {v}) & set(ancestors([p], blockers=[v])):
            return v
    return None


def _is_elementwise(p: Tensor, cut: Tensor) -> bool:
    """Return whether only operations entry by entry lie between the predictor and p."""
    reached = {cut}
    for node in toposort([p]):
        if reached.isdisjoint(node.inputs) or cut in node.outputs:
            continue
        if not isinstance(node.op, Elemwise | CheckAndRaise | ViewOp):
            return False
        reached.update(node.outputs)
    return p in reached


def _slope(
    kind: str,
    function: Callable[[Any], Any],
    inverse: Callable[[Any], Any],
    probability: Callable[[Point, Vector], Vector],
    settings: list[Point],
    shape: tuple[int, ...],
    rng: np.random.Generator,
) -> float | None:
    """Return β if p(x) = function(α + βx) with one β for all rows, else None."""
    far = FARTHEST[kind]
    slopes, told = [], []
    for setting in settings:
        with np.errstate(all="ignore"):
            zero = inverse(probability(setting, np.zeros(shape)))
            slope = inverse(probability(setting, np.full(shape, 0.5))) - zero
        # Far from the start a probability may be 0 or 1 to rounding, which tells no slope.
        if setting is settings[0] or (np.abs(zero) < NEAR).all():
            slopes.append(2.0 * np.ravel(slope))
            told.append(setting)
    every = np.concatenate(slopes)
    if not every.size:
        return 1.0  # without rows any link is right
    least = at_least_rounding(1e-8)
    if not np.isfinite(every).all() or np.ptp(every) > least or abs(every[0]) < least:
        return None
    beta = float(np.median(every))
    # Whole numbers and their roots are what people write.
    square = round(beta * beta)
    if square and abs(beta * beta - square) < at_least_rounding(1e-10):
        beta = float(np.copysign(np.sqrt(square), beta))
    steps = np.geomspace(1e-3, far, STEPS)
    grid = np.concatenate([-steps, [0.0], steps]) / abs(beta)
    for setting in told:
        alpha = inverse(probability(setting, np.zeros(shape)))
        if kind == "probit" and not np.allclose(alpha, 0.0, atol=at_least_rounding(1e-12)):
            return None
        for _ in range(8):
            x = rng.permutation(np.resize(rng.permutation(grid), max(int(np.prod(shape)), 1)))
            if not _agrees(
                probability(setting, x.reshape(shape)), function, alpha + beta * x.reshape(shape)
            ):
                return None
        for value in grid:
            x = np.full(shape, value)
            if not _agrees(probability(setting, x), function, alpha + beta * x):
                return None
    return beta


def _agrees(p: Vector, function: Callable[[Any], Any], eta: Vector) -> bool:
    """Compare p and 1 − p, relative to themselves as far as 1 − p can tell."""
    low, high = function(eta), function(-eta)
    relative, absolute = at_least_rounding(RELATIVE), at_least_rounding(ABSOLUTE)
    return bool(
        (np.abs(p - low) <= relative * low + absolute).all()
        and (np.abs((1.0 - p) - high) <= relative * high + absolute).all()
    )


def _predictor(
    kind: str,
    cut: Tensor,
    slope: float,
    of_x: Tensor,
    x: Tensor,
    probability: Callable[[Point, Vector], Vector],
    settings: list[Point],
    shape: tuple[int, ...],
) -> Tensor:
    """Return α + β·cut."""
    eta = cut if slope == 1.0 else slope * cut
    at_zero = [logit(probability(setting, np.zeros(shape))) for setting in settings]
    least = at_least_rounding(1e-12)
    if kind == "probit" or all(np.allclose(a, 0.0, atol=least) for a in at_zero):
        return eta
    p = clone_replace(of_x, {x: pt.zeros_like(cut)})
    if not other_inputs(p, set()):
        return eta + pt.constant(at_zero[0])
    return eta + pt.log(p) - pt.log1p(-p)
