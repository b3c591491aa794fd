"""Recognise the weights of a model, gated or Gaussian in other ways, and check them."""

from __future__ import annotations

from typing import Any, TypeAlias

from pymc.model import Model

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.fences import FenceBlock, recognise_fence
from pymc_exact_hmc.model.gated_constraints import constraint_names
from pymc_exact_hmc.model.general import GeneralBlock, recognise_general
from pymc_exact_hmc.model.switched import SwitchedBlock, recognise_switched
from pymc_exact_hmc.model.verify_likelihoods import verify_likelihoods
from pymc_exact_hmc.model.verify_weights import verify_weights
from pymc_exact_hmc.model.weight_block import WeightBlock
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.model.weights import recognise_weights
from pymc_exact_hmc.options import Options
from pymc_exact_hmc.weights.block import LAMBDA

General: TypeAlias = GeneralBlock | SwitchedBlock
MOST_GENERAL_WORK = 3e8
"""Operations per draw up to which the general kernel is taken unasked: tenths of a second."""
MOST_INDICATORS_PER_WEIGHT = 4
"""With more, as in mixtures, indicators are better moved with the weights given."""


def gated_weights(
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
            raise ValueError(mismatch(wrong))
    reason = reason or _why_not_kernel(options, gaussian, fenced=fence is not None)
    if reason:
        return None, None, None, reasons | {w.name: reason for w in weights.weights}
    check = verify_likelihoods if gaussian.latents else verify_weights
    wrong = check(model, weights, gaussian, layout, point)
    if wrong:
        raise ValueError(mismatch(wrong))
    return weights, gaussian, fence, reasons


def _why_not_gated(weights: WeightBlock, gaussian: WeightCoefficients, point: Point) -> str:
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
        if not rows.is_gated(point):
            return f"in {rows.name} it does not vanish when its indicator is 0"
    return ""


def _why_not_kernel(options: Options, gaussian: WeightCoefficients, *, fenced: bool) -> str:
    gated = gaussian.block.gate >= 0
    flat = bool((gaussian.block.coefficients[LAMBDA][gated] <= 0).any())
    if options.kernel == "paper" and flat:
        return "the paper's kernel needs a Gaussian slab, not an exponential one"
    if options.kernel == "paper" and options.augmentation != "gaussian":
        return "the paper's kernel needs the Gaussian augmentation"
    if fenced and gaussian.latents:
        return "it enters constraints, which need a Gaussian likelihood"
    if fenced and options.kernel == "paper":
        return "it enters constraints, which the paper's kernel does not know"
    if options.augmentation != "gaussian" and (fenced or gaussian.block.is_truncated):
        return "truncated weights need the Gaussian augmentation"
    return ""


def general_weights(
    model: Model,
    layout: tuple[BinaryVariable, ...],
    point: Point,
    options: Options,
    among: list[Any] | None,
) -> tuple[General | None, dict[str, str], dict[str, str]]:
    """Recognise weights that are Gaussian given the indicators in other ways than gated ones.

    Also return why others are not, and why those that are were declined.
    """
    switched = recognise_switched(model, layout, point, among=among)
    if switched is not None:
        return switched, {}, {}
    if options.augmentation != "gaussian":
        return None, {}, {}
    general, reasons = recognise_general(model, layout, point, among=among)
    if general is None or options.kernel == "general" or among:
        return general, reasons, {}
    d, n = layout[-1].stop, general.weights[-1].stop
    if d > MOST_INDICATORS_PER_WEIGHT * n:
        many = (
            "so many indicators share it that they are moved with it given; kernel='general' "
            "integrates it out"
        )
        return None, {}, dict.fromkeys((w.name for w in general.weights), many)
    if d * float(n) ** 3 > MOST_GENERAL_WORK:
        costly = "kernel='general' would integrate it out, at a high cost per draw"
        return None, {}, dict.fromkeys((w.name for w in general.weights), costly)
    return general, reasons, {}


def mismatch(names: str) -> str:
    """Return what to say of factors that were not recognised rightly."""
    return (
        f"What was recognised in {names} does not reproduce the model's own log-density, so "
        "nothing was sampled. Please report the model; meanwhile use kernel='binary'."
    )
