"""Weights that are Gaussian given the indicators, in whatever way these enter.

    log p(s, w | …) = c(s) + b(s)'w − ½ w'A(s)w

Continuous spikes (indicators in a prior scale), indicators that multiply each other, weights
that also enter ungated. The weights are integrated out,

    log f(s) = c + ½ b'A⁻¹b − ½ log|A/2π|,

with A, b and c taken from the model's own graph at every wall hit, and drawn given s.
Slower than any other path, and never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.exceptions import SamplingError
from pymc.model import Model
from pymc.pytensorf import compile as compile_pymc
from pytensor import Mode, config
from pytensor.gradient import jacobian
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import MvNormalRV, NormalRV
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf

from pymc_exact_hmc.model.analysis import UnfollowableError, analyse
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Point, on_flat_s
from pymc_exact_hmc.model.factors import Factor
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.logps import factor_logps

Tensor: TypeAlias = Variable[Any, Any]
Vector = npt.NDArray[np.float64]
STATES = 4
"""Random (s, w) at which the quadratic is compared with the model."""
MOST_KNOWN = 200_000


@dataclass(frozen=True)
class GaussianVariable:
    """A weight without bounds, whose value variable is on the natural scale."""

    name: str
    value: Tensor
    shape: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class GeneralBlock:
    """The weights and all factors that they enter."""

    weights: list[GaussianVariable]
    factors: list[Factor]

    @property
    def factor_names(self) -> list[str]:
        """The names of all factors that the weights enter."""
        return [factor.name for factor in self.factors]


def recognise_general(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    point: Point,
    *,
    among: list[Tensor] | None = None,
) -> tuple[GeneralBlock | None, dict[str, str]]:
    """Return the Gaussian weights that share a factor with an indicator, and why not others."""
    reasons: dict[str, str] = {}
    rvs = [
        rv
        for rv in model.free_RVs
        if rv.owner is not None
        and isinstance(rv.owner.op, NormalRV | MvNormalRV)
        and model.rvs_to_transforms.get(rv) is None
        and (among is None or rv in among)
    ]
    indicators = {binary.value for binary in layout}
    while rvs:
        weights = _lay_out(model, rvs, point)
        factors = _factors(model, weights)
        bad = _not_quadratic(layout, weights, factors, point)
        if bad is None:
            met = _meets_indicators(weights, factors, indicators)
            if met == {w.name for w in weights}:
                return GeneralBlock(weights, factors), reasons
            reasons |= {w.name: "it meets no indicator" for w in weights if w.name not in met}
            rvs = [rv for rv in rvs if rv.name in met]
        else:
            reasons |= dict.fromkeys(bad[1], f"{bad[0]} is not Gaussian in it")
            rvs = [rv for rv in rvs if rv.name not in bad[1]]
    return None, reasons


def _lay_out(model: Model, rvs: list[Tensor], point: Point) -> list[GaussianVariable]:
    weights, start = [], 0
    for rv in rvs:
        value = model.rvs_to_values[rv]
        shape = np.shape(point[value.name])
        stop = start + int(np.prod(shape))
        weights.append(GaussianVariable(rv.name, value, shape, start, stop))
        start = stop
    return weights


def _factors(model: Model, weights: list[GaussianVariable]) -> list[Factor]:
    values = {w.value for w in weights}
    variables = [*model.basic_RVs, *model.potentials]
    # With the Jacobians, because the transform of another variable may depend on a weight.
    logps = factor_logps(model, variables, jacobian=True)
    return [
        Factor(var.name, "", logp)
        for var, logp in zip(variables, logps, strict=True)
        if not values.isdisjoint(ancestors([logp]))
    ]


def _not_quadratic(
    layout: tuple[BinaryVariable, ...],
    weights: list[GaussianVariable],
    factors: list[Factor],
    point: Point,
) -> tuple[str, set[str]] | None:
    """Return a factor that is not quadratic in the weights, with the weights to blame."""
    for factor in factors:
        inside = set(ancestors([factor.logp]))
        members = [w for w in weights if w.value in inside]
        if _is_quadratic(factor, layout, members, point):
            continue
        alone = {w.name for w in members if not _is_quadratic(factor, layout, [w], point)}
        blamed = alone or {w.name for w in members}
        # What enters the prior of a weight other than linearly is a parameter of it.
        return factor.name, (blamed - {factor.name}) or blamed
    return None


def _is_quadratic(
    factor: Factor,
    layout: tuple[BinaryVariable, ...],
    weights: list[GaussianVariable],
    point: Point,
) -> bool:
    """Return whether the graph proves that a factor is quadratic in weights, the rest given."""
    d, start = layout[-1].stop, 0
    placed = []
    for w in weights:
        stop = start + w.stop - w.start
        placed.append(GaussianVariable(w.name, w.value, w.shape, d + start, d + stop))
        start = stop
    indicators = {binary.value for binary in layout}
    try:
        found = analyse([factor.logp], (*layout, *placed), point, parameters=indicators)
    except UnfollowableError:
        return False
    known = found.get(factor.logp)
    return known is not None and known.degree <= 2 and known.shaped


def _meets_indicators(
    weights: list[GaussianVariable], factors: list[Factor], indicators: set[Tensor]
) -> set[str]:
    """Return the weights that share a factor, however indirectly, with an indicator."""
    members = []
    for factor in factors:
        inside = set(ancestors([factor.logp]))
        names = {w.name for w in weights if w.value in inside}
        members.append((names, not indicators.isdisjoint(inside)))
    reached = {name for names, touched in members if touched for name in names}
    while True:
        more = {name for names, _ in members if names & reached for name in names}
        if more <= reached:
            return reached
        reached |= more


class GeneralGaussian:
    """A, b and c of a block at any state and point, and what follows from them."""

    def __init__(self, block: GeneralBlock, layout: tuple[BinaryVariable, ...]):
        self.block, self.n = block, block.weights[-1].stop
        w = pt.vector("w", dtype="float64", shape=(self.n,))
        total = sum(factor.logp.astype("float64").sum() for factor in block.factors)
        pieces: dict[Tensor, Tensor] = {}
        for x in block.weights:
            piece = w[x.start : x.stop].reshape(x.shape).astype(x.value.type.dtype)
            pieces[x.value] = pt.specify_shape(piece, x.value.type.shape) if x.shape else piece
        total = clone_replace(total, pieces)
        slope = pt.grad(total, w)
        curvature = -jacobian(slope, w, vectorize=True)
        self._layout, self._w, self._total = layout, w, total
        at_zero = clone_replace([total, slope, curvature], {w: pt.zeros(self.n, "float64")})
        outputs, s = on_flat_s(at_zero, layout, relaxed=False)
        others = list(dict.fromkeys(v for o in outputs for v in other_inputs(o, {s})))
        self.names = [v.name for v in others]
        # C code is kept on disk from model to model; numba would take a minute for each.
        mode = Mode("cvm", "fast_run") if config.cxx else ONCE
        self._function = compile_pymc(
            [s, *others], outputs, mode=mode.excluding("inplace"), on_unused_input="ignore"
        )
        self._function.trust_input = True
        self._known: dict[bytes, float] = {}

    def error(self, point: Point, rng: np.random.Generator) -> float:
        """Return the largest relative error of c + b'w − ½w'Aw at random s and w."""
        (total,), s = on_flat_s([self._total], self._layout, relaxed=False)
        others = other_inputs(total, {s, self._w})
        evaluate = compile_pymc([s, self._w, *others], total, mode=ONCE, on_unused_input="ignore")
        worst = 0.0
        for _ in range(STATES):
            state = rng.integers(0, 2, s.type.shape[0]).astype(np.int8)
            w = 2.0 * rng.standard_normal(self.n)
            own = evaluate(state, w, *[np.asarray(point[v.name]) for v in others])
            c, b, A = self._coefficients(state, point)
            quadratic = c + b @ w - 0.5 * w @ A @ w
            error = float(abs(quadratic - own) / (1.0 + abs(c) + abs(own)))
            worst = error if not error <= worst else worst  # what is not a number is wrong too
        return worst

    def log_density(self, s: np.ndarray, point: Point) -> float:
        """Return log f(s); remembered where no other variable enters."""
        if self.names:
            return self._condition(s, point)[0]
        key = s.tobytes()
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._condition(s, point)[0]
        return self._known[key]

    def joint_terms(self, s: np.ndarray, point: Point) -> list[float]:
        """Return c, b'w and −½w'Aw at the weights of a point."""
        c, b, A = self._coefficients(s, point)
        w = np.concatenate([np.ravel(point[x.value.name]) for x in self.block.weights])
        return [float(c), float(b @ w), float(-0.5 * w @ A @ w)]

    def draw(self, s: np.ndarray, point: Point, rng: np.random.Generator) -> Point:
        """Draw w | s ~ N(A⁻¹b, A⁻¹) and return the value variables."""
        _, y, factor = self._condition(s, point)
        w = solve_triangular(factor, y + rng.standard_normal(self.n), lower=True, trans="T")
        return {
            x.value.name: w[x.start : x.stop].reshape(x.shape).astype(point[x.value.name].dtype)
            for x in self.block.weights
        }

    def _coefficients(self, s: np.ndarray, point: Point) -> list[np.ndarray]:
        found: list[np.ndarray] = self._function(
            s, *[np.asarray(point[name]) for name in self.names]
        )
        return found

    def _condition(self, s: np.ndarray, point: Point) -> tuple[float, Vector, Vector]:
        """Return log f(s), C⁻¹b and C, where A = CC'."""
        c, b, A = self._coefficients(s, point)
        if not np.isfinite(c):
            return float(c), b, A
        factor, info = dpotrf(A, lower=1)
        if info:
            names = ", ".join(x.name for x in self.block.weights)
            raise SamplingError(
                f"{names}: the precision of the weights is singular at a state of the indicators. "
                "Give them a prior that is not flat, or leave out columns that depend on others."
            )
        y = solve_triangular(factor, b, lower=True)
        return float(c + 0.5 * y @ y - np.log(np.diagonal(factor)).sum()), y, factor
