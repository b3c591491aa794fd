"""Measure spike-and-slab regression against its targets, as ratios within one run.

    python benchmarks/regression.py [--quick] [--only NAME ...] [--output FOLDER]

Prints a Markdown table and writes regression.md and regression.csv, to benchmarks/results by
default. Effective draws are those of the worst of indicators, weights and energy, where
indicators count whose inclusion probability lies between 0.02 and 0.98, weights above 0.02.
"""

import time

import numpy as np
from pair_gibbs import gibbs_sweeps
from paper_regression import (
    SIGMA,
    TAU,
    A,
    D,
    choose,
    known_scales,
    log_joint,
    paper_data,
    sample_whole,
    worst_indicator,
    worst_of_three,
)
from pymc.backends.ndarray import NDArray
from runner import child, main, seeds, timed
from table import Row, number

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.energies import Fields
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.active import make_active
from pymc_exact_hmc.weights.block import R, make_block
from pymc_exact_hmc.weights.grams import DenseGram
from pymc_exact_hmc.weights.integrated import integrated_transition
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.sheared import sheared_transition
from pymc_exact_hmc.weights.workspace import Clocks, empty_attempts, make_walls

TARGETS = {0.0: {0.1: 0.7, 0.9: 6, 0.99: 100}, -np.inf: {0.1: 0.7, 0.9: 20, 0.99: 200}}
"""Kernel over pair Gibbs, by lower bound and design correlation."""
THIN = {0.1: 1, 0.9: 3, 0.99: 10}
"""Sweeps of pair Gibbs for each one that is recorded, by design correlation."""


def sampling(quick):
    """The paper's regression in pm.sample, against PyMC's default, two chains each."""
    settings = {"ours": (4000, 500, ExactBinaryHMC), "default": (1000, 500, None)}
    ratios, wholes, per_draw, texts = [], [], [], []
    for seed in seeds(quick)[:3]:
        X, z = paper_data(0.1, np.random.default_rng(seed))
        model, chosen, rates, whole_rates, parts = known_scales(X, z), None, [], [], []
        for name, (draws, tune, method) in settings.items():
            draws, tune = (50, 50) if quick else (draws, tune)
            posterior, seconds, whole = sample_whole(model, draws, tune, seed, method, chains=2)
            gamma, w = posterior["gamma"].values, posterior["w"].values
            if chosen is None:
                chosen = choose(gamma)
                per_draw.append(worst_indicator(gamma, chosen.indicators) / (2 * draws))
            energy = log_joint(X, z, gamma, w, SIGMA, TAU, A)
            size, kind = worst_of_three(gamma, w, energy, chosen)
            rates.append(size / seconds)
            whole_rates.append(size / whole)
            share = f"{number(size / (2 * draws))} per draw ({kind})"
            parts.append(f"{name}: {share}, {number(rates[-1])}/s, {number(whole)} s in all")
        ratios.append(rates[0] / rates[1])
        wholes.append(whole_rates[0] / whole_rates[1])
        texts.append("; ".join(parts))
    name = "paper's regression, w ≥ 0, in `pm.sample`"
    against = f"{name}: effective draws per second over PyMC's default"
    return [
        Row(against, "×", 300, True, ratios, texts, wholes),
        Row(f"{name}: effective draws per draw, worst indicator", "", 0.8, True, per_draw, texts),
    ]


def kernels(quick):
    """Kernels alone against a compiled pair-Gibbs sweep, at three design correlations."""
    rows = []
    for lower, targets in TARGETS.items():
        for correlation, target in targets.items():
            values, details = [], []
            for seed in seeds(quick)[:3]:
                rng = np.random.default_rng(seed)
                block = paper_block(correlation, lower, rng)
                ours = "sheared" if lower == 0.0 else "integrated"
                thin = THIN[correlation]
                settings = {ours: (40_000, 1), "pair Gibbs": (40_000, thin)}
                ratio, text = compare_kernels(block, settings, rng, quick)
                values.append(ratio)
                details.append(text)
            bounds = "w ≥ 0" if lower == 0.0 else "no bounds"
            name = f"kernel over compiled pair Gibbs, {bounds}, correlation {correlation}"
            rows.append(Row(name, "×", target, True, values, details))
    return rows


def compare_kernels(block, settings, rng, quick):
    """Return the ratio of effective draws per second of two kernels, and a description."""
    rates, texts, chosen = [], [], None
    for name, (records, thin) in settings.items():
        records = records // 10 if quick else records
        trace, weights, seconds = run_kernel(block, name, records, rng, thin)
        chosen = chosen or choose(trace)
        _, energy = block_energies(block, trace, weights)
        size, kind = worst_of_three(trace, weights, energy, chosen)
        rates.append(size / seconds)
        draws = records * thin
        share = f"{size / draws:.2g} per draw ({kind})"
        texts.append(f"{name}: {share}, {number(1e6 * seconds / draws)} µs")
    return rates[0] / rates[1], "; ".join(texts)


def block_energies(block, trace, weights):
    """Return log p(z | s, w) and log p(z, s, w) of each draw up to constants.

    The density of weights that are off, which are drawn afresh at each call, is left out.
    """
    beta = trace * weights
    likelihood = beta @ block.coefficients[R] - 0.5 * ((beta @ block.gram.M) * beta).sum(axis=1)
    slab = trace.sum(axis=1) * (np.log(A / (1 - A)) - 0.5 * np.log(2 * np.pi * TAU**2))
    return likelihood, likelihood + slab - 0.5 * (beta**2).sum(axis=1) / TAU**2


def paper_block(correlation, lower, rng):
    X, z = paper_data(correlation, rng)
    gram = DenseGram(X.T @ X / SIGMA**2, np.ones(1))
    r = X.T @ z / SIGMA**2
    return make_block(gram, r, TAU**-2, 0.0, np.arange(D), n_gates=D, lower=lower)


# Written out one by one: numba keeps no closures on disk.
@kernel
def keep(n, s, w, trace, weights):
    for g in range(s.size):
        trace[n, g] = s[g]
        weights[n, g] = w[g]


@kernel
def sheared_calls(
    prior, block, active, walls, clocks, s, w, stream, tally, attempts, trace, weights, thin
):
    for n in range(trace.shape[0]):
        for _ in range(thin):
            sheared_transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts)
        keep(n, s, w, trace, weights)


@kernel
def integrated_calls(
    prior, block, active, walls, clocks, s, w, stream, tally, attempts, trace, weights, thin
):
    for n in range(trace.shape[0]):
        for _ in range(thin):
            integrated_transition(
                prior, block, active, walls, clocks, s, w, stream, tally, attempts
            )
        keep(n, s, w, trace, weights)


@kernel
def paper_calls(
    prior, block, active, walls, clocks, s, w, stream, tally, attempts, trace, weights, thin
):
    for n in range(trace.shape[0]):
        for _ in range(thin):
            paper_transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts)
        keep(n, s, w, trace, weights)


CALLS = {"sheared": sheared_calls, "integrated": integrated_calls, "paper": paper_calls}


def run_kernel(block, name, records, rng, thin=1):
    """Return traces of indicators and weights and their seconds, after a burn-in of a tenth."""
    log_odds = np.full(D, np.log(A / (1 - A)))
    s, w = np.zeros(D, np.int64), np.full(D, 0.1)
    stream = seed_words(rng)
    trace, weights = np.zeros((records, D), np.int8), np.zeros((records, D), np.float32)
    if name == "pair Gibbs":
        calls = gibbs_sweeps
        start = block.gram.M, block.coefficients, block.log_slab, log_odds, np.zeros(D), s, w
        arguments = (*start, stream)
    else:
        calls = CALLS[name]
        clocks = Clocks(fewest=0.5, most=0.5) if name == "paper" else Clocks()
        active, walls = make_active(block), make_walls(D, D)
        scratch = (stream, empty_tally(D), empty_attempts(D))
        arguments = (Fields(log_odds), block, active, walls, clocks, s, w, *scratch)
    calls(*arguments, trace[: records // 10], weights[: records // 10], thin)
    seconds, _ = timed(calls, *arguments, trace, weights, thin)
    return trace, weights, seconds


def paper_kernel(quick):
    """The sheared kernel against the paper's own, on the paper's regression."""
    rows = []
    for lower, ours in ((0.0, "sheared"), (-np.inf, "integrated")):
        values, details = [], []
        for seed in seeds(quick)[:3]:
            rng = np.random.default_rng(seed)
            block = paper_block(0.1, lower, rng)
            settings = {ours: (40_000, 1), "paper": (60_000, 1)}
            ratio, text = compare_kernels(block, settings, rng, quick)
            values.append(ratio)
            details.append(text)
        bounds = "w ≥ 0" if lower == 0.0 else "no bounds"
        rows.append(Row(f"kernel over the paper's own, {bounds}", "×", 10, True, values, details))
    return rows


def recording(quick):
    """A whole step with known scales against PyMC's recording of the point."""
    draws = 200 if quick else 3000
    values, details = [], []
    for seed in seeds(quick):
        X, z = paper_data(0.1, np.random.default_rng(seed))
        model = known_scales(X, z)
        step = ExactBinaryHMC(model=model)
        step.set_rng(np.random.default_rng(seed))
        trace = NDArray(model=model)
        trace.setup(draws, 0, step.stats_dtypes)
        point = model.initial_point()
        stepping = writing = 0.0
        for k in range(draws + 200):
            start = time.perf_counter()
            point, stats = step.step(point)
            middle = time.perf_counter()
            if k >= 200:
                trace.record(point, stats, in_warmup=False)
                stepping += middle - start
                writing += time.perf_counter() - middle
        values.append(stepping / writing)
        step_time, record_time = (number(1e6 * t / draws) for t in (stepping, writing))
        details.append(f"step {step_time} µs, record {record_time} µs")
    name = "paper's regression, w ≥ 0: time of a step over PyMC's recording"
    return [Row(name, "×", 4, False, values, details)]


def wide(quick):
    """N = 200 and many more columns: linear cost in d, and no d×d array."""
    sizes = (1_000, 3_000) if quick else (1_000, 3_000, 10_000, 30_000)
    measured = {d: [float(x) for x in child("wide", str(d), text=True).split()] for d in sizes}
    per_column = {d: 1e6 * seconds / d for d, (seconds, _) in measured.items()}
    costs = ", ".join(f"d = {d}: {1e3 * measured[d][0]:.2f} ms" for d in sizes)
    ratio = per_column[sizes[-1]] / per_column[sizes[0]]
    rows = [
        Row(
            f"N = 200, no bounds: cost per draw and column at d = {sizes[-1]} over d = {sizes[0]}",
            "×", 2, False, [ratio], [costs],
        )
    ]  # fmt: skip
    if 10_000 in measured:
        name = "N = 200, d = 10 000, no bounds: peak memory of the process"
        rows.append(Row(name, " MB", 1000, False, [measured[10_000][1]], ["PyMC included"]))
    return rows


BENCHMARKS = [sampling, kernels, paper_kernel, recording, wide]

if __name__ == "__main__":
    main(BENCHMARKS, "regression", __doc__)
