"""Weights whose Gaussian priors are switched by indicators, and always in the likelihood.

``w ~ Normal(0, switch(gamma, slab, spike))`` with a Gaussian likelihood whose mean is affine in
w and free of the indicators: continuous spikes, stochastic search variable selection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.tensor.random.basic import NormalRV

from pymc_exact_hmc.model.analysis import UnfollowableError, analyse
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Given, Point
from pymc_exact_hmc.model.logps import factor_logps
from pymc_exact_hmc.model.points import jittered
from pymc_exact_hmc.model.predictors import make_predictor
from pymc_exact_hmc.model.verify import close
from pymc_exact_hmc.model.weight_block import (
    WeightBlock,
    WeightVariable,
    lay_out_weights,
    on_natural_weights,
)
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.model.weight_search import Search, drop_other_factors
from pymc_exact_hmc.weights.block import R
from pymc_exact_hmc.weights.grams import DenseGram
from pymc_exact_hmc.weights.switched import LAM, LAMBDA, Switched, make_switched

Tensor: TypeAlias = Variable[Any, Any]
MOST_WEIGHTS = 2_000
"""Weights up to which their full covariance is kept."""
STATES = 6


@dataclass(frozen=True)
class SwitchedBlock:
    """The weights, the indicator that switches each (−1: none), and their likelihoods."""

    block: WeightBlock
    control: npt.NDArray[np.int64]

    @property
    def weights(self) -> list[WeightVariable]:
        """The weights."""
        return self.block.weights

    @property
    def factor_names(self) -> list[str]:
        """The names of all factors that the weights enter."""
        return [p.name for p in self.block.predictors] + [w.name for w in self.weights]


def recognise_switched(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    point: Point,
    *,
    among: list[Tensor] | None = None,
) -> SwitchedBlock | None:
    """Return the weights of such a model, or None if it is not one."""
    search = Search(model, layout, point)
    rvs = [
        rv
        for rv in model.free_RVs
        if rv.owner is not None
        and isinstance(rv.owner.op, NormalRV)
        and model.rvs_to_transforms.get(rv) is None
        and (among is None or rv in among)
    ]
    indicators = {model.values_to_rvs[binary.value] for binary in layout}
    entering = {var: search.parents(var) for var in [*model.basic_RVs, *model.potentials]}
    before = -1
    predictors: list[Tensor] = []
    while rvs and len(rvs) != before:
        before = len(rvs)
        parameters = {x for rv in rvs for x in entering[rv] & set(rvs)}
        rvs = search.drop(rvs, parameters, "it is a parameter of a weight's prior")
        rvs, predictors = drop_other_factors(search, rvs, indicators, entering)
    if not rvs or not predictors:
        return None
    weights = lay_out_weights(rvs, model, point, layout[-1].stop)
    if weights[-1].stop > MOST_WEIGHTS:
        return None
    made = []
    for likelihood in predictors:
        predictor, tracker, reason = make_predictor(search, likelihood, weights)
        if reason or tracker.relation.nnz or predictor.scheme != "gaussian":
            return None
        made.append(predictor._replace(random=predictor.mean in tracker.random))
    control = _controls(model, layout, weights, point)
    if control is None or (control < 0).all():
        return None
    gate = np.full(weights[-1].stop, -1)
    return SwitchedBlock(WeightBlock(weights, gate, made), control)


def _controls(
    model: Model, layout: tuple[BinaryVariable, ...], weights: list[WeightVariable], point: Point
) -> npt.NDArray[np.int64] | None:
    """Return the indicator in the prior of each weight; None if there are several in one."""
    control = np.full(weights[-1].stop, -1)
    for w in weights:
        for parameter in _prior(model, w, weights):
            try:
                known = analyse([parameter], layout, point).get(parameter)
            except UnfollowableError:
                return None
            if known is None:
                continue
            if known.reach > 1 or not known.shaped:
                return None
            entries = np.repeat(np.arange(w.start, w.stop), np.diff(known.support.indptr))
            found = known.support.indices
            if ((control[entries] >= 0) & (control[entries] != found)).any():
                return None
            control[entries] = found
    return control


def _prior(model: Model, w: WeightVariable, weights: list[WeightVariable]) -> list[Tensor]:
    """Return mean and standard deviation of a weight, in its shape."""
    parameters = list(w.rv.owner.op.dist_params(w.rv.owner))
    mean, sd = on_natural_weights(model, parameters, weights)
    return [x.astype("float64") + pt.zeros(w.shape) for x in (mean, sd)]


class SwitchedCoefficients:
    """Keeps the energy of a block at the current values of the other variables."""

    def __init__(
        self, model: Model, found: SwitchedBlock, layout: tuple[BinaryVariable, ...], point: Point
    ):
        self.found, self._layout = found, layout
        self.n, d = found.control.size, layout[-1].stop
        self.energy: Switched = make_switched(self.n, found.control, n_gates=d)
        states = [_at_state(layout, t) for t in (0, 1)]
        self.gaussian = WeightCoefficients(model, found.block, layout, point, given=states[0])
        slabs: list[Tensor] = []
        for part in range(2):
            for state in states:
                pieces = [_slab(model, w, found.weights)[part].ravel() for w in found.weights]
                slabs += clone_replace([pt.concatenate(pieces)], state)
        self._slabs = Given(slabs, point)
        self._write(point)

    def update(self, point: Point) -> bool:
        """Bring the energy to a point; return whether it may have changed."""
        changed = self.gaussian.update(point)
        if changed or self._slabs.names:
            self._write(point)
            return True
        return False

    def _write(self, point: Point) -> None:
        block, energy = self.gaussian.block, self.energy
        assert isinstance(block.gram, DenseGram)
        np.multiply(block.gram.M, self.gaussian.scale, out=energy.M)
        energy.r[:] = block.coefficients[R]
        for row, values in zip(energy.slabs, self._slabs(point), strict=True):
            row[:] = values

    def log_joint(self, s: np.ndarray, w: npt.NDArray[np.float64]) -> float:
        """Return log p(s, w, data) without the prior of s, from the definition."""
        return sum(self.joint_terms(s, w))

    def joint_terms(self, s: np.ndarray, w: npt.NDArray[np.float64]) -> list[float]:
        """Return what that is the sum of: the larger, the less precise the sum."""
        energy, control = self.energy, self.found.control
        t = np.where(control >= 0, s[np.maximum(control, 0)], 0)
        Lambda = np.where(t == 1, energy.slabs[LAMBDA + 1], energy.slabs[LAMBDA])
        lam = np.where(t == 1, energy.slabs[LAM + 1], energy.slabs[LAM])
        slab = 0.5 * np.log(Lambda) - 0.5 * Lambda * np.square(w - lam / Lambda)
        return [float(x) for x in (slab.sum(), energy.r @ w, -0.5 * w @ energy.M @ w)]

    def agrees(self, model: Model, point: Point) -> bool:
        """Return whether differences of log p(s, w, data) are the model's own."""
        rng = np.random.default_rng(20131217)
        variables = [model[name] for name in self.found.factor_names]
        logps = factor_logps(model, variables, jacobian=False)
        evaluate = Evaluator([x.astype("float64").sum() for x in logps], self._layout, mode=ONCE)
        varies = self.gaussian.varies or bool(self._slabs.names)
        for setting in [point, jittered(point, rng)] if varies else [point]:
            self.update(setting)
            base: tuple[float, float] | None = None
            for _ in range(STATES):
                s = rng.integers(0, 2, self._layout[-1].stop).astype(np.int8)
                w = rng.standard_normal(self.n) * np.exp(rng.uniform(-1, 1))
                trial = dict(setting)
                for x in self.found.weights:
                    value = model.rvs_to_values[x.rv].name
                    part = w[x.start : x.stop].reshape(x.shape)
                    trial[value] = part.astype(setting[value].dtype)
                values = np.asarray(evaluate(s, trial), dtype=float)
                own = self.log_joint(s, w)
                if base is None:
                    base = own, float(values.sum())
                elif not close(own - base[0], float(values.sum()) - base[1], values):
                    return False
        self.update(point)
        return True


def _slab(model: Model, w: WeightVariable, weights: list[WeightVariable]) -> tuple[Tensor, Tensor]:
    """Return Λ and λ of a weight."""
    mean, sd = _prior(model, w, weights)
    precision = 1.0 / pt.sqr(sd)
    return precision, precision * mean


def _at_state(layout: tuple[BinaryVariable, ...], t: int) -> dict[Tensor, Tensor]:
    """Return replacements that set every indicator to t."""
    return {b.value: pt.constant(np.full(b.shape, t, b.value.type.dtype)) for b in layout}
