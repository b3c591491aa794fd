"""Measure spike-and-slab regression against its targets, as ratios within one run.

    python benchmarks/regression.py [--quick] [--only NAME ...] [--output FOLDER]

Prints a Markdown table and writes regression.md and regression.csv, to benchmarks/results by
default. Indicators count whose inclusion probability lies between 0.02 and 0.98; the worst of
them is reported. Compilation is not timed.
"""

import time

import numpy as np
from effective import effective_size
from pair_gibbs import gibbs_sweeps
from paper_regression import (
    SIGMA,
    TAU,
    A,
    D,
    known_scales,
    open_indicators,
    paper_data,
    sample,
    worst_indicator,
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
from pymc_exact_hmc.weights.block import make_block
from pymc_exact_hmc.weights.grams import DenseGram
from pymc_exact_hmc.weights.integrated import integrated_transition
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.sheared import sheared_transition
from pymc_exact_hmc.weights.workspace import Clocks, empty_attempts, make_walls

TARGETS = {0.0: {0.1: 0.7, 0.9: 6, 0.99: 100}, -np.inf: {0.1: 0.7, 0.9: 20, 0.99: 200}}
"""Kernel over pair Gibbs, by lower bound and design correlation."""


def sampling(quick):
    """The paper's regression in pm.sample, against PyMC's default, two chains each."""
    draws, tune = (300, 100) if quick else (4000, 500)
    own_draws, own_tune = (50, 50) if quick else (1000, 500)
    ratios, per_draw, texts = [], [], []
    for seed in seeds(quick)[:3]:
        X, z = paper_data(0.1, np.random.default_rng(seed))
        model = known_scales(X, z)
        posterior, seconds = sample(
            model, draws, tune, seed, step=ExactBinaryHMC(model=model), chains=2
        )
        gamma = posterior["gamma"].values
        among = open_indicators(gamma)
        ours = worst_indicator(gamma, among)
        posterior, own_seconds = sample(model, own_draws, own_tune, seed, chains=2)
        default = worst_indicator(posterior["gamma"].values, among)
        ratios.append((ours / seconds) / (default / own_seconds))
        per_draw.append(ours / (2 * draws))
        texts.append(
            f"ours {number(ours / seconds)}/s, default {number(default / own_seconds)}/s "
            f"({number(default)} effective of {2 * own_draws})"
        )
    name = "paper's regression, w ≥ 0, in `pm.sample`"
    return [
        Row(
            f"{name}: effective draws per second over PyMC's default", "×", 300, True, ratios, texts
        ),
        Row(f"{name}: effective draws per draw", "", 0.8, True, per_draw, texts),
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
                gibbs_draws = 20_000 if quick else 400_000 if correlation > 0.9 else 100_000
                rates, texts = [], []
                among = None
                for name, draws in (
                    (ours, 5_000 if quick else 40_000),
                    ("pair Gibbs", gibbs_draws),
                ):
                    trace, seconds = run_kernel(block, name, draws, rng)
                    among = open_indicators(trace) if among is None else among
                    size = effective_size(trace[:, among].astype(float)).min()
                    rates.append(size / seconds)
                    texts.append(
                        f"{name}: {size / draws:.2g} per draw, {number(1e6 * seconds / draws)} µs"
                    )
                values.append(rates[0] / rates[1])
                details.append("; ".join(texts))
            bounds = "w ≥ 0" if lower == 0.0 else "no bounds"
            name = f"kernel over compiled pair Gibbs, {bounds}, correlation {correlation}"
            rows.append(Row(name, "×", target, True, values, details))
    return rows


def paper_block(correlation, lower, rng):
    X, z = paper_data(correlation, rng)
    gram = DenseGram(X.T @ X / SIGMA**2, np.ones(1))
    r = X.T @ z / SIGMA**2
    return make_block(gram, r, TAU**-2, 0.0, np.arange(D), n_gates=D, lower=lower)


def repeated(transition):
    """Return a kernel that fills a trace by calls of a transition."""

    @kernel
    def calls(prior, block, active, walls, clocks, s, w, stream, tally, attempts, trace):
        for n in range(trace.shape[0]):
            transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts)
            for g in range(s.size):
                trace[n, g] = s[g]

    return calls


CALLS = {
    "sheared": repeated(sheared_transition),
    "integrated": repeated(integrated_transition),
    "paper": repeated(paper_transition),
}


def run_kernel(block, name, draws, rng):
    """Return a trace of the indicators and its seconds, after a burn-in of a tenth."""
    log_odds = np.full(D, np.log(A / (1 - A)))
    s, w = np.zeros(D, np.int64), np.full(D, 0.1)
    stream, trace = seed_words(rng), np.zeros((draws, D), np.int8)
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
    calls(*arguments, trace[: draws // 10])
    seconds, _ = timed(calls, *arguments, trace)
    return trace, seconds


def paper_kernel(quick):
    """The sheared kernel against the paper's own, on the paper's regression."""
    rows = []
    for lower, ours in ((0.0, "sheared"), (-np.inf, "integrated")):
        values, details = [], []
        for seed in seeds(quick)[:3]:
            rng = np.random.default_rng(seed)
            block = paper_block(0.1, lower, rng)
            rates = []
            among = None
            for name, draws in (
                (ours, 5_000 if quick else 40_000),
                ("paper", 5_000 if quick else 60_000),
            ):
                trace, seconds = run_kernel(block, name, draws, rng)
                among = open_indicators(trace) if among is None else among
                rates.append(effective_size(trace[:, among].astype(float)).min() / seconds)
            values.append(rates[0] / rates[1])
            details.append(f"{ours} {number(rates[0])}/s, the paper's {number(rates[1])}/s")
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
