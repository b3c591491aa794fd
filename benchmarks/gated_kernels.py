"""Kernels for gated weights, alone: effective draws per second against pair Gibbs.

python benchmarks/gated_kernels.py            # the paper's regression
python benchmarks/gated_kernels.py wide       # p ≫ n, cost per draw and memory
"""

import resource
import sys
import time

import arviz as az
import numpy as np
from pair_gibbs import gibbs_sweeps

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.energies import Fields
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.active import SIZE, make_active
from pymc_exact_hmc.weights.block import make_block
from pymc_exact_hmc.weights.calls import Call, make_call
from pymc_exact_hmc.weights.grams import DenseGram, DesignGram
from pymc_exact_hmc.weights.integrated import integrated_transition
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.sheared import sheared_transition
from pymc_exact_hmc.weights.workspace import Clocks, empty_attempts, make_walls

A, TAU, SIGMA, N, D = 0.1, 10.0, 10.0, 700, 150


def paper_data(correlation, rng):
    """Columns of variance 3, ten coefficients from 1 to 10."""
    cov = 3.0 * (np.full((D, D), correlation) + (1 - correlation) * np.eye(D))
    X = rng.normal(size=(N, D)) @ np.linalg.cholesky(cov).T
    beta = np.zeros(D)
    beta[:10] = np.linspace(1.0, 10.0, 10)
    return X, X @ beta + SIGMA * rng.normal(size=N)


@kernel
def sheared_calls(prior, block, active, walls, clocks, s, w, stream, tally, attempts, trace):
    for n in range(trace.shape[0]):
        sheared_transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts)
        for g in range(s.size):
            trace[n, g] = s[g]


@kernel
def integrated_calls(prior, block, active, walls, clocks, s, w, stream, tally, attempts, trace):
    for n in range(trace.shape[0]):
        integrated_transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts)
        for g in range(s.size):
            trace[n, g] = s[g]


@kernel
def paper_calls(prior, block, active, walls, clocks, s, w, stream, tally, attempts, trace):
    for n in range(trace.shape[0]):
        paper_transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts)
        for g in range(s.size):
            trace[n, g] = s[g]


CALLS = {"sheared": sheared_calls, "integrated": integrated_calls, "paper": paper_calls}


def worst_indicator(trace):
    """Effective draws per draw of the worst indicator with 0.02 < inclusion < 0.98."""
    inclusion = trace.mean(axis=0)
    open_ = np.flatnonzero((inclusion > 0.02) & (inclusion < 0.98))
    ess = [float(az.ess(trace[:, g].astype(float)[None])) for g in open_]
    return min(ess) / len(trace), len(open_)


def parts(block):
    """Caches, walls and counters of a block."""
    g, n = block.log_slab.size, block.gate.size
    return make_active(block), make_walls(g, n), empty_tally(g), empty_attempts(g)


def run(block, name, draws, rng):
    """Return effective draws per draw and µs per draw, after a burn-in of a tenth."""
    active, walls, tally, attempts = parts(block)
    log_odds = np.full(D, np.log(A / (1 - A)))
    s, w = np.zeros(D, np.int64), np.full(D, 0.1)
    stream, trace = seed_words(rng), np.zeros((draws, D), np.int8)
    if name == "pair Gibbs":
        start = block.gram.M, block.coefficients, block.log_slab, log_odds, np.zeros(D), s, w
        arguments = (*start, stream)
        calls = gibbs_sweeps
    else:
        clocks = Clocks(fewest=0.5, most=0.5) if name == "paper" else Clocks()
        arguments = (
            Fields(log_odds), block, active, walls, clocks, s, w, stream, tally, attempts
        )  # fmt: skip
        calls = CALLS[name]
    calls(*arguments, trace[: draws // 10])
    began = time.perf_counter()
    calls(*arguments, trace)
    seconds = time.perf_counter() - began
    efficiency, n_open = worst_indicator(trace)
    return efficiency, 1e6 * seconds / draws, n_open


def compare():
    """The paper's regression at three design correlations, truncated or not."""
    print("| bounds | correlation | kernel | per draw | µs per draw | effective/s | ratio |")
    print("|---|---|---|---|---|---|---|")
    for lower, ours in ((0.0, "sheared"), (-np.inf, "integrated")):
        for correlation in (0.1, 0.9, 0.99):
            rng = np.random.default_rng(1)
            X, z = paper_data(correlation, rng)
            gram = DenseGram(X.T @ X / SIGMA**2, np.ones(1))
            r = X.T @ z / SIGMA**2
            block = make_block(gram, r, TAU**-2, 0.0, np.arange(D), n_gates=D, lower=lower)
            baseline = None
            for name in ("pair Gibbs", ours, "paper"):
                slow = name == "paper"
                draws = 20_000 if slow else 200_000 if name == "pair Gibbs" else 60_000
                if slow and correlation > 0.1:
                    continue
                efficiency, micro, _ = run(block, name, draws, rng)
                rate = 1e6 * efficiency / micro
                baseline = rate if baseline is None else baseline
                print(
                    f"| {'w ≥ 0' if lower == 0 else 'none'} | {correlation} | {name} "
                    f"| {efficiency:.2g} | {micro:.1f} | {rate:.0f} | {rate / baseline:.2g} |",
                    flush=True,
                )


def wide():
    """N = 200 and many columns: linear cost in d, no d×d array."""
    print("| d | bounds | ms per draw | weights on | peak memory, MB |")
    print("|---|---|---|---|---|")
    for d in (1_000, 3_000, 10_000, 30_000):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(200, d))
        z = X[:, :10] @ np.linspace(1.0, 3.0, 10) + rng.normal(size=200)
        for lower, transition in ((-np.inf, integrated_transition), (0.0, sheared_transition)):
            gram = DesignGram(X, np.ones(200), np.ones(1))
            block = make_block(gram, X.T @ z, 1.0, 0.0, np.arange(d), n_gates=d, lower=lower)
            active, walls, tally, attempts = parts(block)
            prior = Fields(np.full(d, np.log(10 / d)))
            call = Call(transition, prior, block, active, walls, Clocks(), tally, attempts)
            s, w, on = np.zeros(d, np.int64), np.ones(d), []
            s[:10] = 1
            for n in range(230):
                if n == 30:
                    began = time.perf_counter()
                call = make_call(call, s, w, seed_words(rng))
                on.append(call.active.counts[SIZE])
            micro = (time.perf_counter() - began) / 200
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            bounds = "w ≥ 0" if lower == 0 else "none"
            print(
                f"| {d} | {bounds} | {1e3 * micro:.3f} | {np.mean(on):.1f} | {memory:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    wide() if "wide" in sys.argv[1:] else compare()
