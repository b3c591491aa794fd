"""Check a recognised Gaussian and its region against the model's own log-density."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pymc.model import Model

from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Point
from pymc_exact_hmc.model.logps import factor_logps
from pymc_exact_hmc.model.natural import read_weights, write_weights
from pymc_exact_hmc.model.points import jittered
from pymc_exact_hmc.model.rounding import at_least_rounding
from pymc_exact_hmc.model.truncated_gaussian import TruncatedGaussian
from pymc_exact_hmc.model.verify import close
from pymc_exact_hmc.model.verify_weights import inside
from pymc_exact_hmc.regions.region import Region, factor_value

Vector = npt.NDArray[np.float64]
STATES = 6
REGION_STATES = 40
ROUNDING = 1e-7
"""Margins, as a share of their size, that may fall on either side by rounding."""


def verify_truncated(model: Model, gaussian: TruncatedGaussian, point: Point) -> str:
    """Return which factors differ from the model's own log-density, or nothing."""
    rng = np.random.default_rng(20131217)
    block = gaussian.block
    names = [*[w.name for w in block.bounded], *[f.name for f in block.factors]]
    constraints = block.constraints.names
    variables = [model[name] for name in [*names, *constraints]]
    logps = factor_logps(model, variables, jacobian=False)
    natural = model.replace_rvs_by_values([w.rv for w in block.weights])
    outputs = [x.astype("float64").sum() for x in logps]
    outputs += [x.astype("float64").ravel() for x in natural]
    evaluate = Evaluator(outputs, (), mode=ONCE)
    settings = [point] + ([jittered(point, rng)] if _varies(gaussian) else [])
    for setting in settings:
        gaussian.update(setting)
        base: tuple[float, float] | None = None
        for k in range(STATES if not constraints else REGION_STATES):
            trial = dict(setting)
            write_weights(
                trial, _random_weights(gaussian, rng, k), gaussian.placed, *gaussian.bounds
            )
            w = read_weights(trial, gaussian.placed, *gaussian.bounds)
            results = evaluate(np.zeros(0, np.int8), trial)
            read = np.concatenate(results[len(variables) :])
            if not np.allclose(
                read, w, rtol=at_least_rounding(1e-9), atol=at_least_rounding(1e-12)
            ):
                return "the transform of " + ", ".join(x.name for x in block.weights)
            potentials = np.asarray(results[len(names) : len(variables)], dtype=float)
            walls = gaussian.walls
            same = walls.varies and setting is point
            wrong = disagreement(
                walls.region, walls.labels, w, potentials, constraints, zeros=not same
            )
            if wrong:
                return wrong
            values = np.asarray(results[: len(names)], dtype=float)
            own = float(gaussian.b @ w - 0.5 * w @ gaussian.A @ w)
            total = float(values.sum())
            if not np.isfinite(total):
                continue
            if base is None:
                base = own, total
            elif not close(own - base[0], total - base[1], np.append(values, own)):
                return ", ".join(names)
    gaussian.update(point)
    return ""


def _varies(gaussian: TruncatedGaussian) -> bool:
    return gaussian.varies or gaussian.walls.varies


def _random_weights(gaussian: TruncatedGaussian, rng: np.random.Generator, k: int) -> Vector:
    """Return weights inside their bounds and in order, at several scales."""
    w = inside(*gaussian.bounds, rng)
    free = ~np.isfinite(gaussian.bounds[0]) & ~np.isfinite(gaussian.bounds[1])
    w[free] *= 2.0 ** (k % 7 - 4)
    for p in gaussian.placed:
        if p.transform.startswith("ordered"):
            ordered = np.sort(w[p.start : p.stop].reshape(p.shape), axis=-1)
            ordered = ordered[..., ::-1] if "descending" in p.transform else ordered
            w[p.start : p.stop] = ordered.ravel()
    return w


def disagreement(
    region: Region,
    labels: list[str],
    w: Vector,
    potentials: Vector,
    names: list[str],
    *,
    zeros: bool,
) -> str:
    """Return a constraint whose potential and whose walls do not agree at w, or nothing.

    ``zeros``: also where a margin has no entries at all, so that 0 is not a matter of rounding.
    """
    for name, potential in zip(names, potentials, strict=True):
        own = np.array([label == name for label in labels])
        values = np.array([factor_value(region, k, w) for k in np.flatnonzero(own)])
        size = np.abs(region.F[own]) @ np.abs(w) + np.abs(region.g[own])
        near = np.abs(values) <= ROUNDING * (size + 1e-300)
        if (near & (size > 0 if zeros else True)).any():
            continue
        sign = np.where(values >= 0, 1.0, -1.0)
        product = region.product[own]
        holds = bool((sign[product < 0] > 0).all())
        for p in np.unique(product[product >= 0]):
            holds &= bool(np.prod(sign[product == p]) > 0)
        if holds != bool(np.isfinite(potential)) or np.isnan(potential):
            return name
    return ""
