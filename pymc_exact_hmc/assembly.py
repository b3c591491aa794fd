"""Put together what moves the binary unknowns of a model, and the weights they gate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from pymc.model import Model

from pymc_exact_hmc.augmentations import AUGMENTATIONS, Gaussian
from pymc_exact_hmc.blocks import General, gated_weights, general_weights, mismatch
from pymc_exact_hmc.model.binaries import (
    BinaryVariable,
    lay_out,
    nothing_to_take,
    select_variables,
    why_not_binary,
)
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.digits import warn_of_lost_digits
from pymc_exact_hmc.model.evaluation import ONCE, Point
from pymc_exact_hmc.model.fences import FenceBlock
from pymc_exact_hmc.model.general import GeneralGaussian
from pymc_exact_hmc.model.hyperparameters import HyperBlock, recognise_hyperparameters
from pymc_exact_hmc.model.natural import place_weights
from pymc_exact_hmc.model.parents import direct_parents
from pymc_exact_hmc.model.points import read_state
from pymc_exact_hmc.model.recognise import Block, recognise
from pymc_exact_hmc.model.separation import refuse_separation
from pymc_exact_hmc.model.starts import Start
from pymc_exact_hmc.model.switched import SwitchedBlock, SwitchedCoefficients
from pymc_exact_hmc.model.truncated_gaussian import TruncatedGaussian
from pymc_exact_hmc.model.truncated_weights import TruncatedBlock, recognise_truncated
from pymc_exact_hmc.model.verify import factor_evaluator, verify
from pymc_exact_hmc.model.verify_constraints import verify_truncated
from pymc_exact_hmc.model.verify_hyperparameters import verify_hyperparameters
from pymc_exact_hmc.model.weight_block import WeightBlock
from pymc_exact_hmc.moves.binary import BinaryMove, Motion
from pymc_exact_hmc.moves.constrained import ConstrainedMove, default_weights
from pymc_exact_hmc.moves.gated import KERNELS, GatedMove
from pymc_exact_hmc.moves.general import GeneralMove
from pymc_exact_hmc.moves.hyper import HyperMove
from pymc_exact_hmc.moves.joint_probit import JointProbitMove, is_probit
from pymc_exact_hmc.moves.switched import SwitchedMove
from pymc_exact_hmc.moves.truncated import TruncatedMove, TruncatedStart
from pymc_exact_hmc.options import Options, check_options, make_motion, parse_trajectories
from pymc_exact_hmc.travel_time import TravelTime, parse_travel_time

VAGUE = ("its prior is not", "it is a parameter")
"""Openings of reasons against a weight that say little about a variable that is a scale."""
GENERAL_TOLERANCE = 1e-6
MAX_ACTIVE_AT_START = 128


FENCED = "weights under constraints cannot be integrated out, so it is sampled given all of them"


Weighted: TypeAlias = GatedMove | GeneralMove | SwitchedMove | TruncatedMove | ConstrainedMove
Move: TypeAlias = BinaryMove | Weighted


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
    check_options(options)
    refuse_separation(model)
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
        weights, gaussian, fence, reasons = gated_weights(model, layout, point, options, among)
    if wanted and weights is None and options.kernel in (None, "general"):
        general, more, declined = general_weights(model, layout, point, options, among)
        reasons = more | reasons | declined
    hyper = None
    if wanted and options.kernel != "binary":
        # Constraints cut the slabs of all weights at once: none can be integrated out, and
        # what reaches them is left to steps that take all weights as given.
        reached = (weights, gaussian) if fence is None else (None, None)
        hyper, more = recognise_hyperparameters(model, layout, *reached, point, among=among)
        reasons = _merge_reasons(model, reasons, more)
        if fence is not None and weights is not None:
            reasons |= dict.fromkeys(_parents_of(model, weights), FENCED)
        if hyper and not verify_hyperparameters(model, hyper, *reached, layout, point):
            raise ValueError(mismatch(", ".join(h.name for h in hyper.hyperparameters)))
    _refuse_unfit(options, others, weights, general, hyper, reasons, fenced=fence is not None)
    if hyper is not None and reached[1] is not None:
        warn_of_lost_digits(reached[1], point)
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
    motion = make_motion(options, block, single=weights is not None or general is not None)
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
    trajectories = parse_trajectories(options.trajectories, 0, single=True)
    motion = Motion(AUGMENTATIONS["gaussian"], travel_time, trajectories)
    gaussian = TruncatedGaussian(model, block, point)
    names = ", ".join(w.name for w in block.weights)
    move = TruncatedMove(gaussian, motion, names, automatic=options.travel_time is None)
    wrong = verify_truncated(model, gaussian, point)
    if wrong:
        raise ValueError(mismatch(wrong))
    start = TruncatedStart(model, move, point)
    nothing = Block((), [], [])
    return Assembly((), nothing, None, None, None, reasons, move, start, motion, block)


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
            raise ValueError(mismatch(names))
        placed = place_weights(model, general.weights)
        return SwitchedMove(prior, switched, placed, motion, hyper=hyper)
    gaussian = GeneralGaussian(general, layout)
    if not gaussian.error(point, np.random.default_rng(20131212)) <= GENERAL_TOLERANCE:
        raise ValueError(mismatch(names))
    return GeneralMove(prior, gaussian, motion, hyper=hyper)


def _merge_reasons(
    model: Model, as_weight: dict[str, str], as_scale: dict[str, str]
) -> dict[str, str]:
    """Return why each variable was not taken: as a weight, or else as a scale."""
    merged = as_weight | as_scale
    for name in as_weight.keys() & as_scale.keys():
        reason, other = as_weight[name], as_scale[name]
        about_scale = re.match(r"the scale of (.+) depends on it", reason)
        if about_scale and not other.startswith(f"it enters {about_scale[1]}, which is neither"):
            continue
        # Without a transform it takes negative values too: never meant as a scale.
        no_scale = "which is neither" in other and not model.rvs_to_transforms.get(model[name])
        if no_scale or not reason.startswith(VAGUE):
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
