"""Check the recognised Gaussian of the weights against the model's own log-density."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pymc.model import Model

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Point
from pymc_exact_hmc.model.logps import factor_logps
from pymc_exact_hmc.model.natural import place_weights, read_weights, write_weights
from pymc_exact_hmc.model.points import jittered
from pymc_exact_hmc.model.rounding import at_least_rounding
from pymc_exact_hmc.model.verify import close
from pymc_exact_hmc.model.weight_block import WeightBlock
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.weights.block import LAM, LAMBDA, Block, R
from pymc_exact_hmc.weights.grams import DenseGram

Vector = npt.NDArray[np.float64]
STATES = 6
"""Random (s, w) that are compared with the model, at each setting of the other variables."""


def log_gaussian(block: Block, scale: float, s: np.ndarray, w: Vector) -> float:
    """Return −½ w'(DMD + Λ)w + (Dr + λ)'w, from the definition."""
    return sum(gaussian_terms(block, scale, s, w))


def gaussian_terms(block: Block, scale: float, s: np.ndarray, w: Vector) -> list[float]:
    """Return what the log-density is the sum of: the larger, the less precise the sum."""
    opened = np.where(block.gate < 0, 1.0, s[np.maximum(block.gate, 0)])
    r, Lambda, lam = (block.coefficients[row] for row in (R, LAMBDA, LAM))
    gated, gram = opened * w, block.gram
    if isinstance(gram, DenseGram):
        curvature = gated @ gram.M @ gated
    else:
        curvature = np.square(gram.X @ gated) @ gram.row_weights
    terms = (-0.5 * scale * curvature, -0.5 * Lambda @ np.square(w), r @ gated, lam @ w)
    return [float(term) for term in terms]


def verify_weights(
    model: Model,
    weights: WeightBlock,
    coefficients: WeightCoefficients,
    layout: tuple[BinaryVariable, ...],
    point: Point,
) -> str:
    """Return which factors differ from the model's own log-density, or nothing.

    Also compares how the weights are read from a point with the model's own transforms.
    """
    rng = np.random.default_rng(20131210)
    names = [p.name for p in weights.predictors] + [w.name for w in weights.weights]
    variables = [model[name] for name in names]
    logps = factor_logps(model, variables, jacobian=False)
    natural = model.replace_rvs_by_values([w.rv for w in weights.weights])
    outputs = [x.astype("float64").sum() for x in logps] + [
        x.astype("float64").ravel() for x in natural
    ]
    evaluate = Evaluator(outputs, layout, mode=ONCE)
    placed = place_weights(model, weights.weights)
    settings = [point] + ([jittered(point, rng)] if coefficients.varies else [])
    for setting in settings:
        coefficients.update(setting)
        lower, upper = coefficients.bounds
        base: tuple[float, float] | None = None
        for _ in range(STATES):
            s = rng.integers(0, 2, layout[-1].stop).astype(np.int8)
            trial = dict(setting)
            write_weights(trial, inside(lower, upper, rng), placed, lower, upper)
            w = read_weights(trial, placed, lower, upper)
            results = evaluate(s, trial)
            values = np.asarray(results[: len(names)], dtype=float)
            if not np.allclose(
                np.concatenate(results[len(names) :]),
                w,
                rtol=at_least_rounding(1e-9),
                atol=at_least_rounding(1e-12),
            ):
                return "the transform of " + ", ".join(x.name for x in weights.weights)
            own = log_gaussian(coefficients.block, coefficients.scale, s, coefficients.units * w)
            total = float(values.sum())
            if not np.isfinite(total):
                continue
            if base is None:
                base = own, total
            elif not close(own - base[0], total - base[1], values):
                return ", ".join(names)
        if base is None and setting is point:
            _refuse_undefined(names, values)
    coefficients.update(point)
    return ""


def _refuse_undefined(names: list[str], values: Vector) -> None:
    bad = [name for name, value in zip(names, values, strict=True) if not np.isfinite(value)]
    raise ValueError(
        f"The log-density of {', '.join(bad)} is not finite, whatever the weights are. Check that "
        "scales are positive and that the data are finite and within the support."
    )


def inside(lower: Vector, upper: Vector, rng: np.random.Generator, *, size: float = 1.0) -> Vector:
    """Return random weights inside their bounds."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    step = size * np.exp(rng.standard_normal(lower.size))
    with np.errstate(invalid="ignore"):
        both = lower + (upper - lower) * rng.uniform(0.05, 0.95, lower.size)
        one = np.where(below, lower + step, np.where(above, upper - step, 0.0))
    free = rng.standard_normal(lower.size) * 2 * size
    return np.where(below & above, both, np.where(below | above, one, free))
