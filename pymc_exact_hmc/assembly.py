"""Put together what moves the binary unknowns of a model, and the weights they gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pymc.model import Model

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.binary_move import BinaryMove, Motion
from pymc_exact_hmc.gated_move import KERNELS, GatedMove
from pymc_exact_hmc.model.binaries import BinaryVariable, lay_out, select_variables
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import ONCE, Point
from pymc_exact_hmc.model.forms import Form
from pymc_exact_hmc.model.natural import place_weights
from pymc_exact_hmc.model.points import read_state
from pymc_exact_hmc.model.recognise import Block, recognise
from pymc_exact_hmc.model.starts import Start
from pymc_exact_hmc.model.verify import factor_evaluator, verify
from pymc_exact_hmc.model.verify_weights import verify_weights
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.model.weights import WeightBlock, recognise_weights
from pymc_exact_hmc.travel_time import DEFAULT_HITS_PER_WALL, TravelTime, parse_travel_time
from pymc_exact_hmc.weights.block import LAMBDA

HITS_PER_DRAW = 2500
"""Cheap wall hits that cost about as much as PyMC's own work per draw."""
MAX_TRAJECTORIES = 10
COLLAPSED_HITS_PER_WALL = (0.75, 1.25)
GATE_TOLERANCE = 1e-9
MAX_ACTIVE_AT_START = 128


@dataclass(frozen=True)
class Options:
    """What the user asked for, as given."""

    augmentation: str
    travel_time: Any
    trajectories: int | None
    kernel: str | None


@dataclass(frozen=True)
class Assembly:
    """The variables taken, the move, the start, and what there is to explain."""

    layout: tuple[BinaryVariable, ...]
    block: Block
    weights: WeightBlock | None
    reasons: dict[str, str]
    move: BinaryMove | GatedMove
    start: Start
    motion: Motion


def assemble(model: Model, user_vars: Any, point: Point, options: Options) -> Assembly:
    """Recognise a model, verify what was recognised, and make the move for it."""
    _check_options(options)
    values, others = select_variables(model, user_vars)
    layout = lay_out(values, point)
    weights, gaussian, reasons = _weights(model, layout, point, options, user_vars, others)
    consumed = () if weights is None else {p.name for p in weights.predictors}
    block = recognise(model, layout, point, without=consumed)
    coefficients = Coefficients(block.terms, layout, point)
    factors = factor_evaluator(block, ONCE)
    start = read_state(point, layout)
    verify(block, coefficients, factors, point, start)
    motion = _motion(options, block, gaussian)
    move: BinaryMove | GatedMove
    if gaussian is None or weights is None:
        move = BinaryMove(coefficients, motion)
    else:
        placed = place_weights(model, weights.weights)
        kernel = options.kernel or "sheared"
        half_turns = _half_turns(options, motion)
        move = GatedMove(coefficients, gaussian, placed, motion, kernel, half_turns=half_turns)
    most = None if weights is None else MAX_ACTIVE_AT_START
    first = Start(model, block, factors, start, most=most)
    return Assembly(layout, block, weights, reasons, move, first, motion)


def _check_options(options: Options) -> None:
    if options.augmentation not in AUGMENTATIONS:
        known = ", ".join(repr(name) for name in AUGMENTATIONS)
        raise ValueError(f"augmentation must be one of {known}; got {options.augmentation!r}.")
    if options.kernel not in (None, "binary", *KERNELS):
        known = ", ".join(repr(name) for name in ["binary", *KERNELS])
        raise ValueError(f"kernel must be one of {known}; got {options.kernel!r}.")
    parse_travel_time(options.travel_time, AUGMENTATIONS[options.augmentation])


def _weights(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    point: Point,
    options: Options,
    user_vars: Any,
    others: list[Any],
) -> tuple[WeightBlock | None, WeightCoefficients | None, dict[str, str]]:
    """Recognise the weights, unless the options or the variables given leave them out."""
    weights: WeightBlock | None = None
    reasons: dict[str, str] = {}
    if options.kernel != "binary" and not (user_vars is not None and not others):
        among = None if user_vars is None else others
        weights, reasons = recognise_weights(model, layout, point, among=among)
    gaussian = None
    if weights is not None:
        gaussian = WeightCoefficients(model, weights, layout, point)
        reason = _why_not_gated(weights, gaussian, point) or _why_not_kernel(options, gaussian)
        if reason:
            reasons |= {w.name: reason for w in weights.weights}
            weights = gaussian = None
    taken = set() if weights is None else {w.name for w in weights.weights}
    for rv in others:
        if rv.name not in taken:
            reason = reasons.get(rv.name, "no indicator multiplies it")
            raise ValueError(f"ExactBinaryHMC cannot take {rv.name}: {reason}.")
    if options.kernel in KERNELS and weights is None:
        listed = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise ValueError(
            f"kernel={options.kernel!r} needs Gaussian weights that indicators switch on and off, "
            f"and none were recognised ({listed or 'there are no continuous variables'})."
        )
    if weights is not None and gaussian is not None:
        wrong = verify_weights(model, weights, gaussian, layout, point)
        if wrong:
            raise ValueError(
                f"What was recognised in {wrong} does not reproduce the model's own log-density, "
                "so nothing was sampled. Please report the model; meanwhile use kernel='binary'."
            )
    return weights, gaussian, reasons


def _why_not_gated(weights: WeightBlock, gaussian: WeightCoefficients, point: Point) -> str:
    rng = np.random.default_rng(20131211)
    lower, upper = gaussian.bounds
    for w in weights.weights:
        part = slice(w.start, w.stop)
        if not (lower[part] < upper[part]).all():
            raise ValueError(f"The bounds of {w.name} leave nothing between them: lower ≥ upper.")
    for rows in gaussian.rows:
        if not rows.is_finite(point):
            raise ValueError(
                f"The predictors or the data of {rows.name} hold values that are not finite. "
                "Remove or impute them before sampling."
            )
        if rows.gate_error(point, weights.gate, rng) > GATE_TOLERANCE:
            return f"in {rows.name} it does not vanish when its indicator is 0"
    return ""


def _why_not_kernel(options: Options, gaussian: WeightCoefficients) -> str:
    gated = gaussian.block.gate >= 0
    flat = bool((gaussian.block.coefficients[LAMBDA][gated] <= 0).any())
    if options.kernel == "paper" and flat:
        return "the paper's kernel needs a Gaussian slab, not an exponential one"
    if options.augmentation != "gaussian" and gaussian.block.is_truncated:
        return "truncated weights need the Gaussian augmentation"
    return ""


def _motion(options: Options, block: Block, gaussian: WeightCoefficients | None) -> Motion:
    augmentation = AUGMENTATIONS[options.augmentation]
    travel_time = parse_travel_time(options.travel_time, augmentation)
    if gaussian is not None and options.travel_time is None:
        low, high = COLLAPSED_HITS_PER_WALL
        travel_time = TravelTime(low * augmentation.hit_time, high * augmentation.hit_time)
    costly = any(t.form in (Form.GENERIC, Form.MULTILINEAR) for t in block.terms)
    single = options.travel_time is not None or costly or gaussian is not None
    return Motion(
        augmentation, travel_time, _parse_trajectories(options.trajectories, block.d, single=single)
    )


def _half_turns(options: Options, motion: Motion) -> tuple[float, float] | None:
    """Return the half turns of y that the user's travel time is, if one was given."""
    if options.travel_time is None:
        return None
    low, high = motion.travel_time
    return low / np.pi, high / np.pi


def _parse_trajectories(trajectories: int | None, d: int, *, single: bool) -> int:
    if trajectories is None:
        hits = d * sum(DEFAULT_HITS_PER_WALL) / 2
        return 1 if single else int(np.clip(round(HITS_PER_DRAW / hits), 1, MAX_TRAJECTORIES))
    if not isinstance(trajectories, int | np.integer) or trajectories < 1:
        raise ValueError(
            f"trajectories must be a whole number of at least 1, got {trajectories!r}."
        )
    return int(trajectories)
