"""Ask the model itself, while sampling, whether what was recognised still holds.

What was read from the graph was compared with the model factor by factor, near the start. The
other variables go elsewhere since, and a factor may have been overlooked. So after the first draw,
and ever more rarely after that, the whole log-density is compared: what the move believes it to be
at some states against all that the model says of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

import numpy as np
import pytensor.tensor as pt
from pymc.exceptions import SamplingError
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import BernoulliRV

from pymc_exact_hmc.model.analysis import INTERPRETED
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Point
from pymc_exact_hmc.model.logps import all_factors, factor_logps
from pymc_exact_hmc.model.parents import variables_in
from pymc_exact_hmc.model.points import JITTER, read_state, write_state
from pymc_exact_hmc.model.rounding import rounding
from pymc_exact_hmc.model.verify import close

Tensor: TypeAlias = Variable[Any, Any]
DensityTerms = Callable[[Point, np.ndarray], list[float]]
"""What a move believes log p to be the sum of, given a point and its indicators s."""
CANCELLED = 1e-3
"""Weight of our own terms among the sizes that decide what rounding may change."""
ALL_LOST = 0.1
"""Error of the model's own log-density from which it says nothing about another."""
FEW_FLIPS = 2
MANY_FLIPS = 0.3
"""Share of the indicators that the last state differs in."""
MOST_SETTINGS = 64
"""Settings of discrete variables, seen for the first time, after which a draw is audited."""


class Audit:
    """Compares a move with the model's own log-density at the present values of the rest.

    ``weights`` and ``scales`` are what is moved beside the indicators. The log-density is that of
    the weights themselves, and of the value variables of everything else.
    """

    def __init__(
        self,
        model: Model,
        layout: tuple[BinaryVariable, ...],
        weights: Collection[str],
        scales: Collection[str],
    ):
        self._layout = layout
        values = {rv.name: model.rvs_to_values[rv] for rv in model.free_RVs}
        self._weights = [
            (values[name].name, model.rvs_to_transforms.get(model[name]) is not None)
            for name in weights
        ]
        self._scales = [values[name].name for name in scales]
        taken = {values[name] for name in [*weights, *scales]} | {b.value for b in layout}
        factors = {
            variable.name: logp.astype("float64").sum()
            for variable, logp in zip(*_factors(model, weights), strict=True)
            if not taken.isdisjoint(ancestors([logp]))
        }
        self._names, self._outputs = list(factors), list(factors.values())
        others = {
            v.name: v.type.dtype.startswith("float")
            for v in set(ancestors(self._outputs)) & set(values.values())
            if v not in taken
        }
        self._varies = bool(others or scales)
        self._discrete = sorted(name for name, continuous in others.items() if not continuous)
        self._lost = _digits_lost(model, layout)
        self._evaluate: Evaluator | None = None
        self.start()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be compiled again."""
        return {**self.__dict__, "_evaluate": None}

    def start(self) -> None:
        """Start a chain."""
        self._settings: set[bytes] = set()

    def is_due(self, calls: int, point: Point) -> bool:
        """Return whether a draw is to be audited: the first, the second, the fourth, and so on.

        Also the first at every setting of the discrete variables of other steps.
        """
        if not self._varies:
            return calls == 0
        due = calls & (calls + 1) == 0
        if self._discrete and len(self._settings) < MOST_SETTINGS:
            setting = b"".join(point[name].tobytes() for name in self._discrete)
            due |= setting not in self._settings
            self._settings.add(setting)
        return due

    def __call__(self, calls: int, before: Point, now: Point, move: Any) -> None:
        """Raise ``SamplingError`` if a move and the model differ at the state of ``now``."""
        rng = np.random.default_rng([20131221, calls])
        self._compare(calls, now, [self._beside(before, now), *self._near(now, rng)], move)
        if self._scales:
            scales = {
                name: (now[name] + JITTER * rng.standard_normal(now[name].shape)).astype(
                    now[name].dtype
                )
                for name in self._scales
            }
            self._compare(calls, now, [now | scales], move, of_scales=True)

    def _beside(self, before: Point, now: Point) -> Point:
        """Return the state of the point before, at the present values of the rest."""
        names = [name for name, _ in self._weights] + [b.name for b in self._layout]
        return now | {name: before[name] for name in names}

    def _near(self, now: Point, rng: np.random.Generator) -> list[Point]:
        """Return states with other weights, and with a few and with many other indicators."""
        s = read_state(now, self._layout)
        few, many = s.copy(), s ^ (rng.random(s.size) < MANY_FLIPS)
        few[rng.permutation(s.size)[:FEW_FLIPS]] ^= 1
        states = [write_state(now, x, self._layout) for x in ((few, many) if s.size else (s,))]
        for state in states:
            for name, transformed in self._weights:
                old = now[name]
                noise = JITTER * rng.standard_normal(old.shape)
                state[name] = (old + noise if transformed else old * np.exp(noise)).astype(
                    old.dtype
                )
        return states

    def _compare(
        self, calls: int, now: Point, states: list[Point], move: Any, *, of_scales: bool = False
    ) -> None:
        believed: DensityTerms = move.scale_terms if of_scales else move.density_terms
        # The present state comes last: it is what the caches of the move are left at.
        *own, own_now = [
            np.array(believed(state, read_state(state, self._layout))) for state in [*states, now]
        ]
        model_now = self._terms(now)
        if not np.isfinite(own_now).all() or not np.isfinite(model_now).all():
            return
        for state, mine in zip(states, own, strict=True):
            terms = self._terms(state)
            undefined = bool(np.isnan(terms).any())
            if not undefined and _agree(mine, own_now, terms, model_now):
                continue
            # PyTensor's rewrites are sometimes wrong: the graph as it stands has the last word.
            literal, literal_now = self._literal_terms(state), self._literal_terms(now)
            defined = np.isfinite(literal_now).all() and not np.isnan(literal).any()
            if not defined and undefined:
                continue
            (lost,) = Evaluator([self._lost], self._layout, mode=INTERPRETED)(
                read_state(state, self._layout), state
            )
            if lost > ALL_LOST:
                continue
            if not defined or not _agree(mine, own_now, literal, literal_now, float(lost)):
                changed = [self._names[k] for k in np.flatnonzero(terms != model_now)]
                raise SamplingError(_sentence(calls + 1, changed))

    def _terms(self, point: Point) -> np.ndarray:
        if self._evaluate is None:
            self._evaluate = Evaluator(self._outputs, self._layout, mode=ONCE)
        return np.asarray(self._evaluate(read_state(point, self._layout), point), dtype=float)

    def _literal_terms(self, point: Point) -> np.ndarray:
        evaluate = Evaluator(self._outputs, self._layout, mode=INTERPRETED)
        return np.asarray(evaluate(read_state(point, self._layout), point), dtype=float)


def _agree(
    mine: np.ndarray, own_now: np.ndarray, terms: np.ndarray, now: np.ndarray, lost: float = 0.0
) -> bool:
    """Return whether the differences of two sums are the same, or ours is undefined.

    ``lost`` is what the model's own sum may be wrong by.
    """
    if np.isnan(mine).any():
        return True
    # Sums of squares that all but cancel, as with data far from 0, lose digits.
    size = np.concatenate([terms, now, CANCELLED * mine, CANCELLED * own_now, [lost / rounding()]])
    return close(float(mine.sum() - own_now.sum()), float(terms.sum() - now.sum()), size)


def _digits_lost(model: Model, layout: tuple[BinaryVariable, ...]) -> Tensor:
    """Return by how much rounding of p may move the model's log-density of indicators.

    PyMC knows p alone, of whose distance from 1 few digits are left near 1, and none of its own
    below the smallest number.
    """
    smallest, eps, total = np.finfo(float).tiny, np.finfo(float).eps, pt.constant(0.0)
    for binary in layout:
        rv = model.values_to_rvs[binary.value]
        parameters = rv.owner.op.dist_params(rv.owner)[:1]
        if isinstance(rv.owner.op, BernoulliRV) and variables_in(model, parameters):
            (p,) = model.replace_rvs_by_values(parameters)
            p = pt.broadcast_to(p, binary.shape)
            total = total + pt.sum(eps / pt.maximum(1.0 - p, eps) + (p < smallest))
    return total


def _factors(model: Model, weights: Collection[str]) -> tuple[list[Tensor], list[Tensor]]:
    """Return all factors and their log-densities: of weights themselves, else of values."""
    factors = all_factors(model)
    logps = factor_logps(model, factors, jacobian=True)
    for k, logp in enumerate(factor_logps(model, factors, jacobian=False)):
        if factors[k].name in weights:
            logps[k] = logp
    return factors, logps


def _sentence(draws: int, names: list[str]) -> str:
    return (
        f"At draw {draws}, what was recognised in {', '.join(names)} does not reproduce the "
        "model's own log-density at the present values of the other variables: the draws are not "
        "to be used. Please report the model: this is a fault of the recogniser. Meanwhile use "
        "kernel='binary', or leave the variables concerned out of vars."
    )
