"""Check likelihoods with latent variables against the model's own log-density.

Latents are integrated out: what is compared, row by row, is the log-density as a function of
the linear predictor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pymc.model import Model
from scipy.special import log_ndtr

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Point
from pymc_exact_hmc.model.latents import LatentRows
from pymc_exact_hmc.model.logps import factor_logps
from pymc_exact_hmc.model.natural import place_weights, read_weights, write_weights
from pymc_exact_hmc.model.points import jittered
from pymc_exact_hmc.model.rounding import at_least_rounding
from pymc_exact_hmc.model.verify_weights import inside
from pymc_exact_hmc.model.weight_block import WeightBlock
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.weights.block import LAM, LAMBDA

Vector = npt.NDArray[np.float64]
SIZES = (1.0, 0.3, 0.1, 0.03, 1.0, 0.3, 0.1, 0.03)
"""Sizes of the random weights: probabilities near 0 or 1 tell little in double precision."""
FARTHEST = 6.0
"""Predictors of probabilities beyond which a row is not compared."""
TOLERANCE = 1e-6


def log_density(scheme: str, family: Any, precision: Vector, eta: Vector) -> Vector:
    """Return the log-density of each row, up to what does not depend on η."""
    result: Vector
    if scheme == "probit":
        result = log_ndtr(np.where(family.y > 0.5, eta, -eta))
        return result
    if scheme == "logistic":
        result = family.a * eta - family.b * np.logaddexp(0.0, eta)
        return result
    residual, root = family.y - eta, np.sqrt(precision)
    if scheme == "student":
        result = -0.5 * (family.nu + 1.0) * np.log1p(precision * residual**2 / family.nu)
    elif scheme == "laplace":
        result = -root * np.abs(residual) - family.tilt * residual
    else:
        result = np.where(family.y >= family.upper, log_ndtr(-root * residual), np.nan)
        result = np.where(family.y <= family.lower, log_ndtr(root * residual), result)
        result = np.where(np.isnan(result), -0.5 * precision * residual**2, result)
    return result


def verify_likelihoods(
    model: Model,
    weights: WeightBlock,
    coefficients: WeightCoefficients,
    layout: tuple[BinaryVariable, ...],
    point: Point,
) -> str:
    """Return which factors differ from the model's own log-density, or nothing."""
    rng = np.random.default_rng(20131218)
    names = [p.name for p in weights.predictors]
    priors = factor_logps(model, [w.rv for w in weights.weights], jacobian=False)
    likelihoods = factor_logps(model, [model[name] for name in names], jacobian=False)
    outputs = [x.astype("float64").ravel() for x in likelihoods]
    outputs += [x.astype("float64").sum() for x in priors]
    natural = model.replace_rvs_by_values([w.rv for w in weights.weights])
    outputs += [x.astype("float64").ravel() for x in natural]
    evaluate = Evaluator(outputs, layout, mode=ONCE)
    placed = place_weights(model, weights.weights)
    others = any(x.names for x in coefficients.latents) or coefficients.varies
    for setting in [point] + ([jittered(point, rng)] if others else []):
        coefficients.update(setting)
        for latent in coefficients.latents:
            latent.update(setting)
        lower, upper = coefficients.bounds
        rows: list[list[Vector]] = [[] for _ in names]
        slabs: list[Vector] = []
        for size in SIZES:
            s = rng.integers(0, 2, layout[-1].stop).astype(np.int8)
            trial = dict(setting)
            write_weights(trial, inside(lower, upper, rng, size=size), placed, lower, upper)
            w = read_weights(trial, placed, lower, upper)
            results = evaluate(s, trial)
            read = np.concatenate(results[len(names) + len(priors) :])
            if not np.allclose(
                read, w, rtol=at_least_rounding(1e-9), atol=at_least_rounding(1e-12)
            ):
                return "the transform of " + ", ".join(x.name for x in weights.weights)
            scaled = coefficients.units * w
            for k in range(len(names)):
                rows[k].append(_compare(coefficients, k, s, scaled, results[k], setting))
            slabs.append(_compare_slabs(coefficients, scaled, results[len(names) :][: len(priors)]))
        if setting is point:
            _refuse_undefined(names, rows)
        wrong = [name for k, name in enumerate(names) if not _constant(rows[k])]
        if wrong:
            return ", ".join(wrong)
        if not _constant(slabs):
            return ", ".join(x.name for x in weights.weights)
    coefficients.update(point)
    return ""


def _refuse_undefined(names: list[str], rows: list[list[Vector]]) -> None:
    """Refuse likelihoods of which nothing could be compared."""
    bad = [
        name
        for name, compared in zip(names, rows, strict=True)
        if np.size(compared) and np.isnan(compared).all()
    ]
    if bad:
        raise ValueError(
            f"The log-density of {', '.join(bad)} is not finite, whatever the weights are, or its "
            "predictor is far from 0 in every row. Check scales, data, and that they are "
            "standardised."
        )


def likelihood_terms(
    coefficients: WeightCoefficients, s: np.ndarray, w: Vector, point: Point
) -> list[float]:
    """Return the log-densities of the data and of w, which is in its units, up to constants.

    Not a number where a probability is too near 0 or 1 for the model itself to be precise.
    """
    terms = _slab_terms(coefficients, w)
    for k in range(len(coefficients.rows)):
        own, far = _log_rows(coefficients, k, s, w, point)
        terms.append(np.nan if far.any() else float(own.sum()))
    return terms


def _log_rows(
    coefficients: WeightCoefficients, k: int, s: np.ndarray, w: Vector, point: Point
) -> tuple[Vector, npt.NDArray[np.bool_]]:
    """Return the log-density of each row of a likelihood, and which are not to be compared."""
    rows, gate = coefficients.rows[k].read(point), coefficients.block.gate
    gated = np.where(gate < 0, 1.0, s[np.maximum(gate, 0)]) * w
    latent: LatentRows | None = next((x for x in coefficients.latents if x.likelihood == k), None)
    if latent is None:
        own: Vector = -0.5 * rows.precision * np.square(rows.target - rows.X @ gated)
        return own, np.zeros(own.size, bool)
    eta = rows.offset + rows.X @ gated
    far = (np.abs(eta) >= FARTHEST) & (latent.scheme in ("probit", "logistic"))
    return log_density(latent.scheme, latent.family, rows.precision, eta), far


def _slab_terms(coefficients: WeightCoefficients, w: Vector) -> list[float]:
    Lambda, lam = (coefficients.block.coefficients[row] for row in (LAMBDA, LAM))
    return [float(lam @ w), float(-0.5 * Lambda @ np.square(w))]


def _compare(
    coefficients: WeightCoefficients, k: int, s: Any, w: Vector, model: Any, setting: Point
) -> Vector:
    """Return the model's log-density minus ours, and the size of both; NaN where not compared."""
    own, far = _log_rows(coefficients, k, s, w, setting)
    model = np.asarray(model, dtype=float)
    if all(latent.likelihood != k for latent in coefficients.latents):
        # Rows that are correlated have one log-density together.
        own, model, far = own.sum(keepdims=True), model.sum(keepdims=True), far[:1]
    model = np.where(np.isfinite(model) & ~far, model, np.nan)
    return np.stack([model - own, np.abs(model) + np.abs(own)])


def _compare_slabs(coefficients: WeightCoefficients, w: Vector, logps: list[Any]) -> Vector:
    own, model = sum(_slab_terms(coefficients, w)), float(np.sum(logps))
    return np.array([[model - own], [abs(model) + abs(own)]])


def _constant(compared: list[Vector]) -> bool:
    """Return whether the differences are the same in all states, row by row."""
    every = np.stack(compared)
    differences, sizes = every[:, 0], np.nan_to_num(every[:, 1])
    known = np.isfinite(differences)
    high = np.where(known, differences, -np.inf).max(axis=0)
    low = np.where(known, differences, np.inf).min(axis=0)
    spread = np.where(known.any(axis=0), high - low, 0.0)
    return bool((spread <= TOLERANCE * (1.0 + sizes.max(axis=0))).all())
