"""Check the recognised log-density of the hyperparameters against the model's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pymc.model import Model

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Point
from pymc_exact_hmc.model.hyperparameters import HyperBlock
from pymc_exact_hmc.model.logps import factor_logps
from pymc_exact_hmc.model.natural import place_weights, write_weights
from pymc_exact_hmc.model.points import jittered
from pymc_exact_hmc.model.verify import close
from pymc_exact_hmc.model.verify_weights import inside
from pymc_exact_hmc.model.weight_block import WeightBlock
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.weights.integral import log_integral

Vector = npt.NDArray[np.float64]
SETTINGS = 4


def log_density(
    block: HyperBlock, gaussian: WeightCoefficients | None, point: Point, s: np.ndarray, w: Vector
) -> float:
    """Return log p(θ, s, w, data) up to a constant, from the definition.

    Every weight counts, also those that are off; w is in the model's own units. Likelihoods with
    latents are left out: they are compared with the model without them, elsewhere.
    """
    return sum(density_terms(block, gaussian, point, s, w))


def density_terms(
    block: HyperBlock, gaussian: WeightCoefficients | None, point: Point, s: np.ndarray, w: Vector
) -> list[float]:
    """Return what that is the sum of: the larger, the less precise the sum."""
    total, *rest = block.tape(point)
    if gaussian is None:
        return [float(total)]
    omega = np.array(rest[: block.n_noise], dtype=float)
    Lambda, lam, lower, upper, units = rest[block.n_noise :]
    w = units * w
    terms: list[Any] = [total, lam @ w, -0.5 * Lambda @ np.square(w)]
    if not gaussian.latents:
        terms += _likelihood_terms(gaussian, omega, s, w)
    sizes = [log_integral(*args) for args in zip(Lambda, lam, lower, upper, strict=True)]
    terms += [-x for x in sizes if np.isfinite(x)]
    return [float(term) for term in [*terms, np.log(np.abs(units)).sum()]]


def _likelihood_terms(
    gaussian: WeightCoefficients, omega: Vector, s: np.ndarray, w: Vector
) -> list[float]:
    gate, statistics = gaussian.block.gate, gaussian.statistics
    gated = np.where(gate < 0, 1.0, s[np.maximum(gate, 0)]) * w
    if statistics.grams.size:
        fitted = np.einsum("i,cij,j->c", gated, statistics.grams, gated)
    else:
        gram = gaussian.block.gram
        fitted = np.full(omega.size, np.square(gram.X @ gated) @ gram.row_weights)
    sums = (statistics.squares, -2.0 * statistics.slopes @ gated, fitted)
    terms = [0.5 * statistics.counts @ np.log(omega), *[-0.5 * omega @ x for x in sums]]
    return [float(term) for term in terms]


def verify_hyperparameters(
    model: Model,
    block: HyperBlock,
    weights: WeightBlock | None,
    gaussian: WeightCoefficients | None,
    layout: tuple[BinaryVariable, ...],
    point: Point,
) -> bool:
    """Return whether differences of the log-density between settings are the model's own."""
    rng = np.random.default_rng(20131216)
    weight_rvs = [] if weights is None else [x.rv for x in weights.weights]
    predictors = (
        [] if weights is None or gaussian is None or gaussian.latents else weights.predictors
    )
    likelihoods = [model[p.name] for p in predictors]
    indicators = [model.values_to_rvs[b.value] for b in layout]
    taken = [model[h.name] for h in block.hyperparameters]
    plain = factor_logps(model, [*weight_rvs, *likelihoods], jacobian=False)
    moving = factor_logps(model, [*taken, *indicators], jacobian=True)
    outputs = [x.astype("float64").sum() for x in [*plain, *moving]]
    evaluate = Evaluator(outputs, layout, mode=ONCE)
    placed = [] if weights is None else place_weights(model, weights.weights)
    s = rng.integers(0, 2, layout[-1].stop).astype(np.int8)
    w = np.zeros(0) if gaussian is None else inside(*gaussian.bounds, rng)
    base: tuple[float, float] | None = None
    names = {h.value for h in block.hyperparameters}
    for _ in range(SETTINGS):
        setting = dict(point)
        setting |= {n: x for n, x in jittered(point, rng).items() if n in names}
        for binary in layout:
            setting[binary.name] = s[binary.start : binary.stop].reshape(binary.shape)
        if gaussian is not None:
            gaussian.update(setting)
            lower, upper = gaussian.bounds
            if not ((w >= lower) & (w <= upper)).all():
                continue
            write_weights(setting, w, placed, lower, upper)
        values = np.asarray(evaluate(s, setting), dtype=float)
        if not np.isfinite(values).all():
            continue
        own = log_density(block, gaussian, setting, s, w)
        if base is None:
            base = own, float(values.sum())
        elif not close(own - base[0], float(values.sum()) - base[1], values):
            return False
    if gaussian is not None:
        gaussian.update(point)
    return True
