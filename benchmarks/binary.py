"""Measure ExactBinaryHMC against its targets, as ratios within one run.

    python benchmarks/binary.py [--quick] [--only NAME ...] [--output FOLDER]

Prints a Markdown table and writes binary.md and binary.csv, to benchmarks/results by default.
``--quick`` checks that everything runs; its numbers mean little. ``--only kernel memory`` runs
these benchmarks alone.
"""

import math
import time

import numba
import numpy as np
import pymc as pm
from effective import worst_effective_size
from models import (
    BETA_RING,
    D,
    ising_ring,
    ising_torus,
    mixture,
    non_polynomial,
    ring_bonds,
)
from pymc.backends.ndarray import NDArray
from runner import TIMINGS, child, fastest, main, seeds, timed
from spin_chain import SpinChain
from table import Row, number

from pymc_exact_hmc import ExactBinaryHMC

PROPOSALS_PER_RECORD = int(0.75 * D)
PAPER_TIME = 12.5 * math.pi


def sampling(quick):
    """1D Ising model in pm.sample, effective draws per second of both samplers."""
    draws = 300 if quick else 3000
    samplers = {"ours": ExactBinaryHMC, "BinaryGibbsMetropolis": pm.BinaryGibbsMetropolis}
    values, wholes, details = [], [], []
    with ising_ring() as model:
        equilibrium = run_pymc(ExactBinaryHMC([model["x"]]), 100, 0)[0]
        run_pymc(pm.BinaryGibbsMetropolis([model["x"]]), 5, 0)
        for seed in seeds(quick)[:3]:
            rates, whole_rates, texts = [], [], []
            for name, method in samplers.items():
                begin = time.perf_counter()
                states, seconds = run_pymc(method([model["x"]]), draws, seed, equilibrium[-1])
                whole = time.perf_counter() - begin
                size, worst = worst_effective_size(2 * states - 1, ring_bonds)
                rates.append(size / seconds)
                whole_rates.append(size / whole)
                per_draw = f"{name}: {number(size / draws)} per draw ({worst})"
                texts.append(f"{per_draw}, {number(draws / seconds)} draws/s")
            values.append(rates[0] / rates[1])
            wholes.append(whole_rates[0] / whole_rates[1])
            details.append("; ".join(texts))
    name = "1D Ising in `pm.sample` against `BinaryGibbsMetropolis`, effective draws per second"
    return [Row(name, "×", 500, True, values, details, wholes)]


def run_pymc(step, draws, seed, start=None):
    """Return the states of a chain and the seconds that PyMC spent on the draws."""
    idata = pm.sample(
        draws,
        tune=0,
        chains=1,
        cores=1,
        step=step,
        initvals=None if start is None else {"x": start},
        random_seed=seed,
        progressbar=False,
        quiet=True,
        compute_convergence_checks=False,
    )
    return idata.posterior["x"].values[0], idata.posterior.attrs["sampling_time"]


def kernel(quick):
    """1D Ising model, kernels alone: default and paper's travel time, and Metropolis."""
    recorded = 2000 if quick else 20_000
    chain = SpinChain((D,), BETA_RING)
    samplers = {
        "default": chain.hmc(None),
        "12.5π": chain.hmc(PAPER_TIME),
        "Metropolis": chain.metropolis(PROPOSALS_PER_RECORD),
    }
    ratios, details = {"12.5π": [], "Metropolis": []}, {"12.5π": [], "Metropolis": []}
    for seed in seeds(quick):
        chain.restart(seed)
        chain.hmc(None)(100)
        sizes = {
            name: worst_effective_size(chain.record(run, recorded), ring_bonds)
            for name, run in samplers.items()
        }
        seconds = fastest(samplers, recorded)
        rates = {name: sizes[name][0] / seconds[name] for name in samplers}
        texts = {
            name: f"{name}: {number(size / recorded)} per record ({worst}), "
            f"{number(1e6 * seconds[name] / recorded)} µs"
            for name, (size, worst) in sizes.items()
        }
        for other in ratios:
            ratios[other].append(rates["default"] / rates[other])
            details[other].append(f"{texts['default']}; {texts[other]}")
    against = "1D Ising, kernel alone against compiled random-site Metropolis"
    paper = "1D Ising, default kernel against the same at the paper's T = 12.5π"
    return [
        Row(against, "×", 1.5, True, ratios["Metropolis"], details["Metropolis"]),
        Row(paper, "×", 2, True, ratios["12.5π"], details["12.5π"]),
    ]


def lattice(quick):
    """100 × 100 lattice: a step against PyMC's recording of the point."""
    draws = 100 if quick else 1000
    model = ising_torus()
    step = ExactBinaryHMC(model=model)
    values, details = [], []
    for seed in seeds(quick):
        step.set_rng(np.random.default_rng(seed))
        trace = NDArray(model=model)
        trace.setup(draws, 0, step.stats_dtypes)
        point = model.initial_point()
        stepping = recording = 0.0
        for k in range(2 * draws):
            start = time.perf_counter()
            point, stats = step.step(point)
            middle = time.perf_counter()
            # The first half is the way to equilibrium.
            if k >= draws:
                trace.record(point, stats, in_warmup=False)
                stepping += middle - start
                recording += time.perf_counter() - middle
        values.append(stepping / recording)
        step_time, record_time = (number(1e6 * t / draws) for t in (stepping, recording))
        details.append(f"step {step_time} µs, record {record_time} µs")
    name = "2D Ising, L = 100: time of a step over PyMC's recording"
    return [Row(name, "×", 1, False, values, details)]


def memory(quick):
    """100 × 100 lattice: peak memory with the step, beyond that of an empty model."""
    values, details = [], []
    for _ in seeds(quick):
        ours, empty = (child("memory", kind) for kind in ("ours", "empty"))
        values.append(ours - empty)
        details.append(f"with the step {number(ours)} MB, empty model {number(empty)} MB")
    name = "2D Ising, L = 100: peak memory beyond an empty model"
    return [Row(name, " MB", 300, False, values, details)]


def labels(quick):
    """20 000 mixture labels, with means that change at every call."""
    calls = 20 if quick else 200
    values, details = [], []
    for seed in seeds(quick):
        rng = np.random.default_rng(seed)
        model = mixture(rng)
        step = ExactBinaryHMC([model["z"]], model=model, rng=rng)
        point, _ = step.step(model.initial_point())
        seconds = 0.0
        for _ in range(calls):
            point["mu"] = np.array([-1.0, 1.0]) + 0.02 * rng.standard_normal(2)
            start = time.perf_counter()
            point, stats = step.step(point)
            seconds += time.perf_counter() - start
        values.append(1e3 * seconds / calls)
        details.append(f"{stats[0]['ehmc_hits']} hits, {stats[0]['ehmc_crossings']} crossings")
    return [Row("20 000 mixture labels: a step", " ms", 5, False, values, details)]


def generic(quick):
    """A potential of no known form: a step against its hits times one log-density each."""
    calls = 20 if quick else 200
    values, details = [], []
    for seed in seeds(quick):
        rng = np.random.default_rng(seed)
        model = non_polynomial(rng)
        step = ExactBinaryHMC(model=model, rng=rng)
        evaluate = compiled_log_density(model)
        point = step.step(model.initial_point())[0]
        per_hit, per_call = [], []
        for _ in range(TIMINGS):
            seconds, (point, hits) = timed(many_steps, step, point, calls)
            per_hit.append(seconds / hits)
            seconds, _ = timed(evaluate, point["x"].copy(), hits)
            per_call.append(seconds / hits)
        values.append(min(per_hit) / min(per_call))
        texts = (number(1e6 * min(times)) for times in (per_hit, per_call))
        details.append("{} µs per hit, {} µs per log-p".format(*texts))
    name = "generic path: a step over hits × one compiled log-p"
    return [Row(name, "×", 1.5, False, values, details)]


def many_steps(step, point, calls):
    """Return the point after many steps, and the walls hit on the way."""
    hits = 0
    for _ in range(calls):
        point, stats = step.step(point)
        hits += stats[0]["ehmc_hits"]
    return point, hits


def compiled_log_density(model):
    """Return a compiled loop over PyMC's own log-density of a model, compiled by numba."""
    function = model.compile_logp(mode="NUMBA").f
    log_density = function.vm.jit_fn
    data = tuple(cell.storage[0] for cell in function.input_storage[1:])

    @numba.njit
    def loop(x, data, n):
        total = 0.0
        for k in range(n):
            # Another state each time, so that nothing can be moved out of the loop.
            x[k % x.size] ^= 1
            total += log_density(x, *data)[0].item()
        return total

    loop(np.zeros(model.initial_point()["x"].size, np.int64), data, 1)
    return lambda x, n: loop(x, data, n)


def start(quick):
    """Seconds from import to first draw in a fresh process, beyond PyMC's own."""
    for kind in ("ours", "pymc"):  # the first run fills the caches on disk
        child("start", kind)
    values, details = [], []
    for _ in seeds(quick):
        ours, own = (child("start", kind) for kind in ("ours", "pymc"))
        values.append(ours - own)
        details.append(f"ours {number(ours)} s, BinaryMetropolis {number(own)} s")
    return [Row("start: import to first draw, beyond PyMC's own", " s", 3, False, values, details)]


BENCHMARKS = [sampling, kernel, lattice, memory, labels, generic, start]


if __name__ == "__main__":
    main(BENCHMARKS, "binary", __doc__)
