"""Put together what moves the binary unknowns of a model, and the weights they gate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from pymc.model import Model

from pymc_exact_hmc.augmentations import AUGMENTATIONS, Gaussian
from pymc_exact_hmc.model.binaries import (
    BinaryVariable,
    lay_out,
    nothing_to_take,
    select_variables,
    why_not_binary,
)
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import ONCE, Point
from pymc_exact_hmc.model.fences import FenceBlock, recognise_fence
from pymc_exact_hmc.model.forms import Form
from pymc_exact_hmc.model.gated_constraints import constraint_names
from pymc_exact_hmc.model.general import GeneralBlock, GeneralGaussian, recognise_general
from pymc_exact_hmc.model.hyperparameters import HyperBlock, recognise_hyperparameters
from pymc_exact_hmc.model.natural import place_weights
from pymc_exact_hmc.model.parents import direct_parents
from pymc_exact_hmc.model.points import read_state
from pymc_exact_hmc.model.recognise import Block, recognise
from pymc_exact_hmc.model.starts import Start
from pymc_exact_hmc.model.switched import SwitchedBlock, SwitchedCoefficients, recognise_switched
from pymc_exact_hmc.model.truncated_gaussian import TruncatedGaussian
from pymc_exact_hmc.model.truncated_weights import TruncatedBlock, recognise_truncated
from pymc_exact_hmc.model.verify import factor_evaluator, verify
from pymc_exact_hmc.model.verify_constraints import verify_truncated
from pymc_exact_hmc.model.verify_hyperparameters import verify_hyperparameters
from pymc_exact_hmc.model.verify_likelihoods import verify_likelihoods
from pymc_exact_hmc.model.verify_weights import verify_weights
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.model.weights import WeightBlock, recognise_weights
from pymc_exact_hmc.moves.binary import BinaryMove, Motion
from pymc_exact_hmc.moves.constrained import ConstrainedMove, default_weights
from pymc_exact_hmc.moves.gated import KERNELS, GatedMove
from pymc_exact_hmc.moves.general import GeneralMove
from pymc_exact_hmc.moves.hyper import HyperMove
from pymc_exact_hmc.moves.joint_probit import JointProbitMove, is_probit
from pymc_exact_hmc.moves.switched import SwitchedMove
from pymc_exact_hmc.moves.truncated import TruncatedMove, TruncatedStart
from pymc_exact_hmc.travel_time import DEFAULT_HITS_PER_WALL, TravelTime, parse_travel_time
from pymc_exact_hmc.weights.block import LAMBDA

VAGUE = ("its prior is not", "it is a parameter")
"""Openings of reasons against a weight that say little about a variable that is a scale."""
HITS_PER_DRAW = 800
"""Cheap wall hits that cost less than PyMC's own work per draw."""
MAX_TRAJECTORIES = 10
HITS_PER_WALL = {"sheared": (0.8, 1.2), "general": (0.8, 1.2), "paper": (0.5, 0.5)}
"""Hits per wall of the kernels that move weights; the paper's has T = π/2."""
GATE_TOLERANCE = 1e-9
GENERAL_TOLERANCE = 1e-6
MAX_ACTIVE_AT_START = 128
MOST_GENERAL_WORK = 3e8
"""Operations per draw up to which the general kernel is taken unasked: tenths of a second."""
MOST_INDICATORS_PER_WEIGHT = 4
"""With more, as in mixtures, indicators are better moved with the weights given."""


FENCED = "weights under constraints cannot be integrated out, so it is sampled given all of them"


@dataclass(frozen=True)
class Options:
    """What the user asked for, as given."""

    augmentation: str
    travel_time: Any
    trajectories: int | None
    kernel: str | None
    inclusion: bool = False


Weighted: TypeAlias = GatedMove | GeneralMove | SwitchedMove | TruncatedMove | ConstrainedMove
Move: TypeAlias = BinaryMove | Weighted
General: TypeAlias = GeneralBlock | SwitchedBlock


@dataclass(frozen=True)
class Assembly:
    """The variables taken, the move, the start, and what there is to explain."""

    layout: tuple[BinaryVariable, ...]
    block: Block
    weights: WeightBlock | None
    general: General | None
    hyper: HyperBlock | None
    reasons: dict[str, str]
    move: Move
    start: Start | TruncatedStart
    motion: Motion
    truncated: TruncatedBlock | None = None
    fence: FenceBlock | None = None

    @property
    def weight_names(self) -> list[str]:
        """The names of the continuous variables that are moved with the indicators."""
        if self.general is not None:
            return [w.name for w in self.general.weights]
        if self.truncated is not None:
            return [w.name for w in self.truncated.weights]
        return [] if self.weights is None else [w.name for w in self.weights.weights]

    @property
    def hyperparameter_names(self) -> list[str]:
        """The names of the scales and inclusion probabilities that are moved as well."""
        return [] if self.hyper is None else [h.name for h in self.hyper.hyperparameters]


# Numbers that are not finite are refused in sentences of our own.
@np.errstate(divide="ignore", invalid="ignore")
def assemble(model: Model, user_vars: Any, point: Point, options: Options) -> Assembly:
    """Recognise a model, verify what was recognised, and make the move for it."""
    _check_options(options)
    values, others = select_variables(model, user_vars)
    if not values:
        return _without_indicators(model, others, point, options)
    layout = lay_out(values, point)
    wanted = user_vars is None or bool(others)
    among = None if user_vars is None else others
    weights, gaussian = None, None
    general: General | None = None
    reasons: dict[str, str] = {}
    fence: FenceBlock | None = None
    if wanted and options.kernel in (None, *KERNELS):
        weights, gaussian, fence, reasons = _weights(model, layout, point, options, among)
    if wanted and weights is None and options.kernel in (None, "general"):
        general, more = _general(model, layout, point, options, among)
        reasons = more | reasons
    hyper = None
    if wanted and options.kernel != "binary":
        # Constraints cut the slabs of all weights at once: none can be integrated out, and
        # what reaches them is left to steps that take all weights as given.
        reached = (weights, gaussian) if fence is None else (None, None)
        hyper, more = recognise_hyperparameters(model, layout, *reached, point, among=among)
        reasons = _merge_reasons(reasons, more)
        if fence is not None and weights is not None:
            reasons |= dict.fromkeys(_parents_of(model, weights), FENCED)
        if hyper and not verify_hyperparameters(model, hyper, *reached, layout, point):
            raise ValueError(_mismatch(", ".join(h.name for h in hyper.hyperparameters)))
    _refuse_unfit(options, others, weights, general, hyper, reasons, fenced=fence is not None)
    held = options.kernel == "paper"
    hyper_move = None if hyper is None else HyperMove(hyper, reached[1], held=held)
    consumed = {p.name for p in weights.predictors} if weights is not None else set()
    consumed |= set(fence.constraints.names) if fence is not None else set()
    consumed |= set(general.factor_names) if general is not None else set()
    block = recognise(model, layout, point, without=consumed)
    coefficients = Coefficients(block.terms, layout, point)
    factors = factor_evaluator(block, ONCE)
    start = read_state(point, layout)
    verify(block, coefficients, factors, point, start)
    motion = _motion(options, block, single=weights is not None or general is not None)
    move: Move
    if general is not None:
        move = _general_move(model, general, coefficients, point, motion, hyper_move)
    elif gaussian is not None and weights is not None:
        placed = place_weights(model, weights.weights)
        turns = (motion.travel_time.shortest / np.pi, motion.travel_time.longest / np.pi)
        kernel = options.kernel or "sheared"
        if fence is None:
            joint = isinstance(motion.augmentation, Gaussian) and options.kernel == "paper"
            kind = JointProbitMove if joint and is_probit(gaussian) else GatedMove
            move = kind(
                coefficients,
                gaussian,
                placed,
                motion,
                kernel,
                half_turns=turns,
                hyper=hyper_move,
                inclusion=options.inclusion,
            )
        else:
            default = default_weights(model, placed, [w.rv for w in weights.weights], point)
            move = ConstrainedMove(
                coefficients,
                gaussian,
                placed,
                motion,
                fence.walls,
                half_turns=turns,
                hyper=hyper_move,
                default=default,
            )
    else:
        move = BinaryMove(coefficients, motion, hyper=hyper_move)
    most = None if weights is None else MAX_ACTIVE_AT_START
    first = Start(model, block, factors, start, most=most)
    return Assembly(
        layout, block, weights, general, hyper, reasons, move, first, motion, fence=fence
    )


def _parents_of(model: Model, weights: WeightBlock) -> set[str]:
    """Return the free variables in the priors of weights and in their likelihoods."""
    ends = [w.rv for w in weights.weights] + [model[p.name] for p in weights.predictors]
    own = {w.rv for w in weights.weights}
    parents = {rv for end in ends for rv in direct_parents(model, end)}
    return {rv.name for rv in parents - own if rv in model.free_RVs and why_not_binary(rv)}


def _without_indicators(model: Model, given: list[Any], point: Point, options: Options) -> Assembly:
    """Put together the move of truncated Gaussian weights in a model without indicators."""
    block, reasons = recognise_truncated(model, point, among=given or None)
    missing = [] if block is None else [x for x in given if x not in {w.rv for w in block.weights}]
    if block is None or missing:
        raise ValueError(nothing_to_take(model, missing or given, reasons))
    if options.kernel is not None or options.inclusion:
        asked = "inclusion=True" if options.inclusion else f"kernel={options.kernel!r}"
        raise ValueError(f"{asked} is for models with indicators, and this model has none.")
    travel_time = TravelTime(0.5 * np.pi, 0.5 * np.pi)
    if options.travel_time is not None:
        travel_time = parse_travel_time(options.travel_time, AUGMENTATIONS["gaussian"])
    trajectories = _parse_trajectories(options.trajectories, 0, single=True)
    motion = Motion(AUGMENTATIONS["gaussian"], travel_time, trajectories)
    gaussian = TruncatedGaussian(model, block, point)
    names = ", ".join(w.name for w in block.weights)
    move = TruncatedMove(gaussian, motion, names)
    wrong = verify_truncated(model, gaussian, point)
    if wrong:
        raise ValueError(_mismatch(wrong))
    start = TruncatedStart(model, move, point)
    nothing = Block((), [], [])
    return Assembly((), nothing, None, None, None, reasons, move, start, motion, block)


def _general(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    point: Point,
    options: Options,
    among: list[Any] | None,
) -> tuple[General | None, dict[str, str]]:
    """Recognise weights that are Gaussian given the indicators in other ways than gated ones."""
    switched = recognise_switched(model, layout, point, among=among)
    if switched is not None:
        return switched, {}
    if options.augmentation != "gaussian":
        return None, {}
    general, reasons = recognise_general(model, layout, point, among=among)
    if general is None or options.kernel == "general" or among:
        return general, reasons
    d, n = layout[-1].stop, general.weights[-1].stop
    if d > MOST_INDICATORS_PER_WEIGHT * n:
        return None, {}
    if d * float(n) ** 3 > MOST_GENERAL_WORK:
        costly = "kernel='general' would integrate it out, at a high cost per draw"
        return None, {w.name: costly for w in general.weights}
    return general, reasons


def _general_move(
    model: Model,
    general: General,
    prior: Coefficients,
    point: Point,
    motion: Motion,
    hyper: HyperMove | None,
) -> GeneralMove | SwitchedMove:
    """Verify such weights and make the move for them."""
    names = ", ".join(general.factor_names)
    layout = tuple(prior.layout)
    if isinstance(general, SwitchedBlock):
        switched = SwitchedCoefficients(model, general, layout, point)
        if not switched.agrees(model, point):
            raise ValueError(_mismatch(names))
        placed = place_weights(model, general.weights)
        return SwitchedMove(prior, switched, placed, motion, hyper=hyper)
    gaussian = GeneralGaussian(general, layout)
    if gaussian.error(point, np.random.default_rng(20131212)) > GENERAL_TOLERANCE:
        raise ValueError(_mismatch(names))
    return GeneralMove(prior, gaussian, motion, hyper=hyper)


def _mismatch(names: str) -> str:
    return (
        f"What was recognised in {names} does not reproduce the model's own log-density, so "
        "nothing was sampled. Please report the model; meanwhile use kernel='binary'."
    )


def _merge_reasons(as_weight: dict[str, str], as_scale: dict[str, str]) -> dict[str, str]:
    """Return why each variable was not taken: as a weight, or else as a scale."""
    merged = as_weight | as_scale
    for name in as_weight.keys() & as_scale.keys():
        reason, other = as_weight[name], as_scale[name]
        about_scale = re.match(r"the scale of (.+) depends on it", reason)
        if about_scale and not other.startswith(f"it enters {about_scale[1]}, which is neither"):
            continue
        if not reason.startswith(VAGUE):
            merged[name] = reason
    return merged


def _refuse_unfit(
    options: Options,
    others: list[Any],
    weights: WeightBlock | None,
    general: General | None,
    hyper: HyperBlock | None,
    reasons: dict[str, str],
    *,
    fenced: bool,
) -> None:
    """Refuse variables that were given but cannot be taken, and a kernel that does not fit."""
    taken = {w.name for w in weights.weights} if weights is not None else set()
    taken |= {w.name for w in general.weights} if general is not None else set()
    scales = {h.name for h in hyper.hyperparameters} if hyper is not None else set()
    for rv in others:
        if rv.name not in taken | scales:
            reason = reasons.get(rv.name) or f"{why_not_binary(rv)}, and no indicator multiplies it"
            raise ValueError(f"ExactBinaryHMC cannot take {rv.name}: {reason}.")
    if options.inclusion and fenced:
        raise ValueError("inclusion=True is not available for weights under constraints.")
    if options.inclusion and weights is None:
        raise ValueError(
            "inclusion=True needs weights that indicators switch on and off in a Gaussian "
            "likelihood; see explain(model) for why there are none."
        )
    if options.kernel in ("general", *KERNELS) and not taken:
        listed = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise ValueError(
            f"kernel={options.kernel!r} needs Gaussian weights that it can move together with the "
            f"indicators, and none were recognised ({listed or 'no continuous variables'})."
        )


def _check_options(options: Options) -> None:
    if options.augmentation not in AUGMENTATIONS:
        known = ", ".join(repr(name) for name in AUGMENTATIONS)
        raise ValueError(f"augmentation must be one of {known}; got {options.augmentation!r}.")
    kernels = ["binary", "general", *KERNELS]
    if options.kernel is not None and options.kernel not in kernels:
        known = ", ".join(repr(name) for name in kernels)
        raise ValueError(f"kernel must be one of {known}; got {options.kernel!r}.")
    parse_travel_time(options.travel_time, AUGMENTATIONS[options.augmentation])


def _weights(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    point: Point,
    options: Options,
    among: list[Any] | None,
) -> tuple[WeightBlock | None, WeightCoefficients | None, FenceBlock | None, dict[str, str]]:
    """Recognise gated weights and verify them, with constraints on them if there are any."""
    names = frozenset(constraint_names(model, layout, point, among))
    weights, reasons = recognise_weights(model, layout, point, among=among, constraints=names)
    if weights is None:
        return None, None, None, reasons
    gaussian = WeightCoefficients(model, weights, layout, point)
    fence, reason = None, _why_not_gated(weights, gaussian, point)
    if not reason and names:
        fence, reason, wrong = recognise_fence(model, weights, gaussian, layout, point)
        if wrong:
            raise ValueError(_mismatch(wrong))
    reason = reason or _why_not_kernel(options, gaussian, fenced=fence is not None)
    if reason:
        return None, None, None, reasons | {w.name: reason for w in weights.weights}
    check = verify_likelihoods if gaussian.latents else verify_weights
    wrong = check(model, weights, gaussian, layout, point)
    if wrong:
        raise ValueError(_mismatch(wrong))
    return weights, gaussian, fence, reasons


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


def _why_not_kernel(options: Options, gaussian: WeightCoefficients, *, fenced: bool) -> str:
    gated = gaussian.block.gate >= 0
    flat = bool((gaussian.block.coefficients[LAMBDA][gated] <= 0).any())
    if options.kernel == "paper" and flat:
        return "the paper's kernel needs a Gaussian slab, not an exponential one"
    if fenced and gaussian.latents:
        return "it enters constraints, which need a Gaussian likelihood"
    if fenced and options.kernel == "paper":
        return "it enters constraints, which the paper's kernel does not know"
    if options.augmentation != "gaussian" and (fenced or gaussian.block.is_truncated):
        return "truncated weights need the Gaussian augmentation"
    return ""


def _motion(options: Options, block: Block, *, single: bool) -> Motion:
    augmentation = AUGMENTATIONS[options.augmentation]
    travel_time = parse_travel_time(options.travel_time, augmentation)
    if single and options.travel_time is None:
        low, high = HITS_PER_WALL[options.kernel or "sheared"]
        travel_time = TravelTime(low * augmentation.hit_time, high * augmentation.hit_time)
    costly = any(t.form in (Form.GENERIC, Form.MULTILINEAR) for t in block.terms)
    single = single or costly or options.travel_time is not None
    return Motion(
        augmentation, travel_time, _parse_trajectories(options.trajectories, block.d, single=single)
    )


def _parse_trajectories(trajectories: int | None, d: int, *, single: bool) -> int:
    if trajectories is None:
        hits = d * sum(DEFAULT_HITS_PER_WALL) / 2
        return 1 if single else int(np.clip(round(HITS_PER_DRAW / hits), 1, MAX_TRAJECTORIES))
    if not isinstance(trajectories, int | np.integer) or trajectories < 1:
        raise ValueError(
            f"trajectories must be a whole number of at least 1, got {trajectories!r}."
        )
    return int(trajectories)
