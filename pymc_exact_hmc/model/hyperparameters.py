"""Which continuous variables are scales and inclusion probabilities of the block.

A hyperparameter reaches the block only through the prior of indicators, the priors of the
weights, the noise scales of their likelihoods, and the priors of other hyperparameters. Its
log-density is put on a tape, so that it costs next to nothing to evaluate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytensor.tensor as pt
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.legality import parameter_conditions
from pymc_exact_hmc.model.logps import factor_logps
from pymc_exact_hmc.model.parents import direct_parents
from pymc_exact_hmc.model.tape_operations import UntranslatableError
from pymc_exact_hmc.model.tapes import Tape
from pymc_exact_hmc.model.weight_block import WeightBlock
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients

Tensor: TypeAlias = Variable[Any, Any]
Point = dict[str, np.ndarray]
MAX_ENTRIES = 64
"""Entries of one hyperparameter up to which they are moved one by one."""


class Hyperparameter(NamedTuple):
    """A hyperparameter: its name, that of its value variable, and whether it reaches weights."""

    name: str
    value: str
    reaches_weights: bool


@dataclass(frozen=True)
class HyperBlock:
    """The hyperparameters and their tape.

    Its outputs are the log-density of hyperparameters and indicators, the precision of every
    noise class, and, if there are weights, their Λ, λ and bounds.
    """

    hyperparameters: list[Hyperparameter]
    tape: Tape
    n_noise: int
    layout: tuple[BinaryVariable, ...]

    def load(self, point: Point, s: np.ndarray) -> None:
        """Read the inputs of the tape: the indicators from s, which may have left the point."""
        self.tape.load(point)
        for binary in self.layout:
            places = self.tape.inputs.get(binary.name)
            if places is not None:
                self.tape.program.memory[places.ravel()] = s[binary.start : binary.stop]


@dataclass
class _Search:
    """What is still believed to be a hyperparameter, and why the others are not."""

    model: Model
    layout: tuple[BinaryVariable, ...]
    weights: WeightBlock | None
    gaussian: WeightCoefficients | None
    point: Point
    reasons: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model = self.model
        self.indicators = {model.values_to_rvs[b.value] for b in self.layout}
        self.weight_rvs = {w.rv for w in self.weights.weights} if self.weights else set()
        names = {p.name for p in self.weights.predictors} if self.weights else set()
        self.likelihoods = {rv for rv in model.basic_RVs if rv.name in names}
        factors = [*model.basic_RVs, *model.potentials]
        self.parents = {var: direct_parents(model, var) for var in factors}

    def size(self, rv: Tensor) -> int:
        return int(np.size(self.point[self.model.rvs_to_values[rv].name]))

    def why_not(self, rv: Tensor, taken: set[Tensor]) -> str | None:
        """Return why a variable cannot be taken along with others, or None if it can."""
        if self.size(rv) > MAX_ENTRIES:
            return f"it has {self.size(rv)} entries, more than the {MAX_ENTRIES} moved one by one"
        children = [var for var, parents in self.parents.items() if rv in parents]
        if not children:
            return "it enters nothing that is sampled here"
        for var in children:
            if var in self.likelihoods:
                reason = self._why_not_noise(rv, var)
                if reason:
                    return reason
            elif var not in self.indicators | self.weight_rvs | taken:
                return f"it enters {var.name}, which is neither an indicator, a weight nor its data"
        if self.size(rv) > 1 and self._is_local(rv, taken):
            return "it holds a scale for every single weight"
        if self.gaussian is not None and self.reaches_weights(rv, taken):
            several = len(self.gaussian.noise) > 1
            if several and self.gaussian.statistics.grams.size == 0:
                return "there are several noise scales, and X'X is not kept for each"
        return None

    def _why_not_noise(self, rv: Tensor, likelihood: Tensor) -> str | None:
        assert self.gaussian is not None
        assert self.weights is not None
        predictor = next(p for p in self.weights.predictors if p.name == likelihood.name)
        value = self.model.rvs_to_values[rv]
        rows = next(x for x in self.gaussian.rows if x.name == likelihood.name)
        # Such a covariance makes the rows independent at every call: it is in their mean as well.
        if not rows.proportional and value in ancestors([predictor.scale]):
            return f"the covariance of {likelihood.name} changes its shape with it"
        if value in ancestors([predictor.mean]):
            return f"it enters the mean of {likelihood.name}"
        if value in ancestors(list(predictor.parameters)):
            return f"it enters {likelihood.name} not only as its noise scale"
        noises = [x for x in self.gaussian.noise if self.gaussian.rows[x.likelihood] is rows]
        if not all(noise.regular for noise in noises):
            return f"the noise of {likelihood.name} changes from row to row, not as a whole"
        return None

    def _is_local(self, rv: Tensor, taken: set[Tensor]) -> bool:
        """Return whether there is one entry for every weight, or even more."""
        reached = self._reached(rv, taken) & self.weight_rvs
        if self.weights is not None:
            value = self.model.rvs_to_values[rv]
            units = self.weights.units
            measured = {n for n, unit in units.items() if value in ancestors([unit])}
            reached |= {w for w in self.weight_rvs if w.name in measured}
        return bool(reached) and self.size(rv) >= sum(self.size(w) for w in reached)

    def _reached(self, rv: Tensor, taken: set[Tensor]) -> set[Tensor]:
        """Return what a variable enters, directly or through other hyperparameters."""
        reached: set[Tensor] = set()
        stack = [rv]
        while stack:
            v = stack.pop()
            for var, parents in self.parents.items():
                if v in parents and var not in reached:
                    reached.add(var)
                    stack += [var] if var in taken else []
        return reached

    def reaches_weights(self, rv: Tensor, taken: set[Tensor]) -> bool:
        return bool(self._reached(rv, taken) & (self.weight_rvs | self.likelihoods))


def recognise_hyperparameters(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    weights: WeightBlock | None,
    gaussian: WeightCoefficients | None,
    point: Point,
    *,
    among: list[Tensor] | None = None,
) -> tuple[HyperBlock | None, dict[str, str]]:
    """Return the hyperparameters of a block, and why others were not taken.

    ``among`` limits what may be taken.
    """
    search = _Search(model, layout, weights, gaussian, point)
    candidates = [
        rv
        for rv in model.free_RVs
        # A free variable may be the data of the weights, and is not their scale as well.
        if rv not in search.indicators | search.weight_rvs | search.likelihoods
        and point[model.rvs_to_values[rv].name].dtype.kind == "f"
        and (among is None or rv in among)
    ]
    while True:
        kept = []
        for rv in candidates:
            reason = search.why_not(rv, set(candidates))
            if reason:
                search.reasons[rv.name] = reason
            else:
                kept.append(rv)
        if len(kept) < len(candidates):
            candidates = kept
            continue
        if not candidates:
            return None, search.reasons
        block, unknown = _put_on_tape(search, candidates)
        if block is not None:
            return block, search.reasons
        search.reasons |= unknown
        candidates = [rv for rv in candidates if rv.name not in unknown]


def _put_on_tape(search: _Search, taken: list[Tensor]) -> tuple[HyperBlock | None, dict[str, str]]:
    """Return the block, or the variables to blame with the reason."""
    model, gaussian = search.model, search.gaussian
    entered = [
        rv
        for rv in model.basic_RVs
        if rv in taken or (rv in search.indicators and search.parents[rv] & set(taken))
    ]
    logps = factor_logps(model, entered, jacobian=True)
    total = sum(x.astype("float64").sum() for x in logps)
    for condition in _conditions(search, taken):
        total = total + pt.switch(pt.all(condition), 0.0, -np.inf)
    outputs = [total]
    n_noise = 0
    if gaussian is not None:
        n_noise = len(gaussian.noise)
        outputs += [_leader(search, c) for c in range(n_noise)] + gaussian.slabs
    set_taken = set(taken)
    groups = {model.rvs_to_values[rv].name: min(i, 60) for i, rv in enumerate(taken)}
    try:
        tape = Tape(outputs, search.point, groups=groups)
    except UntranslatableError as error:
        return None, _blame(search, taken, str(error))
    hyperparameters = [
        Hyperparameter(rv.name, model.rvs_to_values[rv].name, search.reaches_weights(rv, set_taken))
        for rv in taken
    ]
    return HyperBlock(hyperparameters, tape, n_noise, search.layout), {}


def _conditions(search: _Search, taken: list[Tensor]) -> list[Tensor]:
    """Return what weights and likelihoods ask of the hyperparameters alone."""
    if search.weights is None:
        return []
    values = search.model.rvs_to_values
    # A covariance is known by its precision, which is not positive where it is none.
    multivariate = {p.name for p in search.weights.predictors if p.multivariate}
    rvs = [*search.weight_rvs, *(rv for rv in search.likelihoods if rv.name not in multivariate)]
    unknowns = {values[rv] for rv in search.indicators | search.weight_rvs}
    return parameter_conditions(search.model, rvs, {values[rv] for rv in taken}, unknowns)


def _leader(search: _Search, c: int) -> Tensor:
    """Return the precision of the row that stands for a noise class."""
    assert search.gaussian is not None
    noise = search.gaussian.noise[c]
    rows = search.gaussian.rows[noise.likelihood]
    if not noise.regular or not rows.proportional:
        return pt.constant(1.0)
    precision = rows.precision
    if precision.type.ndim == 0:
        return precision
    if all(precision.type.broadcastable):
        return precision.squeeze()
    return precision[tuple(int(i) for i in np.unravel_index(noise.leader, rows.shape))]


def _blame(search: _Search, taken: list[Tensor], reason: str) -> dict[str, str]:
    """Return the variables whose own log-densities are not translatable, or else all."""
    model, blamed = search.model, {}
    for rv in taken:
        logp = factor_logps(model, [rv], jacobian=True)[0]
        try:
            Tape([logp.astype("float64").sum()], search.point)
        except UntranslatableError as error:
            blamed[rv.name] = f"its prior uses {error}"
            continue
    if blamed:
        return blamed
    return {rv.name: f"what it enters uses {reason}" for rv in taken}
