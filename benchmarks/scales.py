"""Measure regression with unknown scales against its targets, as ratios within one run.

    python benchmarks/scales.py [--quick] [--only NAME ...] [--output FOLDER]

Prints a Markdown table and writes scales.md and scales.csv, to benchmarks/results by default.
The worst of indicators, coefficients, σ, τ and a is reported. Compilation is not timed, except
in "start".
"""

import numpy as np
from effective import effective_size
from paper_regression import open_indicators, paper_data, sample, unknown_scales, worst_of_all
from runner import child, main, seeds
from table import Row, number

from pymc_exact_hmc import ExactBinaryHMC


def unknown(quick):
    """Everything inside the step, against NUTS beside it and against PyMC's default."""
    draws = {"ours": (3000, 500), "beside": (1500, 1000), "default": (500, 500)}
    if quick:
        draws = dict.fromkeys(draws, (60, 60))
    rows = []
    for truncated in (True, False):
        ratios, details = {"beside": [], "default": []}, {"beside": [], "default": []}
        for seed in seeds(quick)[:3]:
            X, z = paper_data(0.1, np.random.default_rng(seed))
            model = unknown_scales(X, z, truncated=truncated)
            steps = {
                "ours": ExactBinaryHMC(model=model),
                "beside": ExactBinaryHMC([model["gamma"], model["w"]], model=model),
                "default": None,
            }
            rates, texts, among = {}, {}, None
            for name, step in steps.items():
                posterior, seconds = sample(model, *draws[name], seed, step=step)
                if among is None:
                    among = open_indicators(posterior["gamma"].values)
                size, worst = worst_of_all(posterior, among)
                rates[name] = size / seconds
                texts[name] = (
                    f"{name}: {number(size / draws[name][0])} per draw ({worst}), "
                    f"{number(draws[name][0] / seconds)} draws/s"
                )
            for other in ratios:
                ratios[other].append(rates["ours"] / rates[other])
                details[other].append(f"{texts['ours']}; {texts[other]}")
        name = (
            f"σ, τ, a unknown, {'w ≥ 0' if truncated else 'no bounds'}: effective draws per second"
        )
        beside, default = f"{name} over NUTS beside the step", f"{name} over PyMC's default"
        rows.append(Row(beside, "×", 5, True, ratios["beside"], details["beside"]))
        rows.append(Row(default, "×", 500, True, ratios["default"], details["default"]))
    return rows


def slab_scale(quick):
    """τ of centred weights: effective draws per draw, few weights or many."""
    draws = 300 if quick else 3000
    rows = []
    for d in (150,) if quick else (150, 2000):
        values, details = [], []
        for seed in seeds(quick)[:3]:
            X, z = paper_data(0.1, np.random.default_rng(seed), d=d)
            model = unknown_scales(X, z, truncated=False)
            posterior, seconds = sample(model, draws, 300, seed, step=ExactBinaryHMC(model=model))
            size = float(effective_size(np.log(posterior["tau"].values[0])[:, None])[0])
            values.append(size / draws)
            details.append(f"{number(1e3 * seconds / draws)} ms per draw")
        name = f"τ of centred weights, d = {d}: effective draws per draw"
        rows.append(Row(name, "", 0.2, True, values, details))
    return rows


def start(quick):
    """Seconds from the call of pm.sample to the first draw, in a fresh process, warm caches."""
    child("first-draw", "ours")
    values = [child("first-draw", "ours") for _ in seeds(quick)[:3]]
    name = "σ, τ, a unknown: `pm.sample` to the first draw, the step included"
    return [Row(name, " s", 5, False, values, [""] * len(values))]


BENCHMARKS = [unknown, slab_scale, start]

if __name__ == "__main__":
    main(BENCHMARKS, "scales", __doc__)
