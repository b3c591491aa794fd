"""Measure regression with unknown scales against its targets, as ratios within one run.

    python benchmarks/scales.py [--quick] [--only NAME ...] [--output FOLDER]

Prints a Markdown table and writes scales.md and scales.csv, to benchmarks/results by default.
The worst of indicators, weights, energy, σ, τ and a is reported.
"""

import numpy as np
from effective import effective_size
from paper_regression import (
    choose,
    paper_data,
    sample,
    sample_whole,
    unknown_scales,
    worst_of_all,
)
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
        ratios, wholes, details = ({"beside": [], "default": []} for _ in range(3))
        for seed in seeds(quick)[:3]:
            X, z = paper_data(0.1, np.random.default_rng(seed))
            model = unknown_scales(X, z, truncated=truncated)
            methods = {"ours": ExactBinaryHMC, "beside": named_alone, "default": None}
            rates, whole_rates, texts, chosen = {}, {}, {}, None
            for name, method in methods.items():
                posterior, seconds, whole = sample_whole(model, *draws[name], seed, method)
                chosen = chosen or choose(posterior["gamma"].values)
                size, worst = worst_of_all(posterior, chosen, X, z)
                rates[name], whole_rates[name] = size / seconds, size / whole
                texts[name] = (
                    f"{name}: {number(size / draws[name][0])} per draw ({worst}), "
                    f"{number(draws[name][0] / seconds)} draws/s, {number(whole)} s in all"
                )
            for other in ratios:
                ratios[other].append(rates["ours"] / rates[other])
                wholes[other].append(whole_rates["ours"] / whole_rates[other])
                details[other].append(f"{texts['ours']}; {texts[other]}")
        name = (
            f"σ, τ, a unknown, {'w ≥ 0' if truncated else 'no bounds'}: effective draws per second"
        )
        beside, default = f"{name} over NUTS beside the step", f"{name} over PyMC's default"
        for other, title, target in (("beside", beside, 5), ("default", default, 500)):
            measured = ratios[other], details[other], wholes[other]
            rows.append(Row(title, "×", target, True, *measured))
    return rows


def named_alone(model):
    """Return a step that takes indicators and weights, and leaves the scales to NUTS."""
    return ExactBinaryHMC([model["gamma"], model["w"]], model=model)


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
