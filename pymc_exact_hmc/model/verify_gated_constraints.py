"""Check the walls of gated weights against the model's own potentials."""

from __future__ import annotations

import numpy as np
from pymc.model import Model

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Point
from pymc_exact_hmc.model.logps import factor_logps
from pymc_exact_hmc.model.natural import place_weights, read_weights, write_weights
from pymc_exact_hmc.model.points import jittered
from pymc_exact_hmc.model.verify_constraints import disagreement
from pymc_exact_hmc.model.verify_weights import inside
from pymc_exact_hmc.model.walls import Walls
from pymc_exact_hmc.model.weight_block import WeightBlock
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.regions.view import make_view, show

STATES = 60


def verify_gated_walls(
    model: Model,
    names: list[str],
    walls: Walls,
    weights: WeightBlock,
    gaussian: WeightCoefficients,
    layout: tuple[BinaryVariable, ...],
    point: Point,
) -> str:
    """Return a constraint that differs from the model's own at some s and w, or nothing."""
    rng = np.random.default_rng(20131218)
    logps = factor_logps(model, [model[name] for name in names], jacobian=False)
    evaluate = Evaluator([x.astype("float64").sum() for x in logps], layout, mode=ONCE)
    placed = place_weights(model, weights.weights)
    view = make_view(walls.region)
    for setting in [point] + ([jittered(point, rng)] if walls.varies else []):
        changed = gaussian.update(setting)
        walls.update(setting, gaussian.bounds, bounds_changed=changed)
        lower, upper = gaussian.bounds
        for k in range(STATES):
            s = (rng.random(layout[-1].stop) < (0.0, 0.2, 0.5, 0.8, 1.0)[k % 5]).astype(np.int8)
            trial = dict(setting)
            w = inside(lower, upper, rng)
            w[~np.isfinite(lower) & ~np.isfinite(upper)] *= 2.0 ** (k % 7 - 4)
            write_weights(trial, w, placed, lower, upper)
            w = read_weights(trial, placed, lower, upper)
            show(walls.region, view, weights.gate, s)
            potentials = np.asarray(evaluate(s, trial), dtype=float)
            same = walls.varies and setting is point
            wrong = disagreement(view, walls.labels, w, potentials, names, zeros=not same)
            if wrong:
                return wrong
    changed = gaussian.update(point)
    walls.update(point, gaussian.bounds, bounds_changed=changed)
    return ""
