"""The paper, figure by figure: does what it claims hold on our runs?

    python benchmarks/paper_figures.py [--quick] [--only NAME ...] [--output FOLDER]

Each claim is a ratio that should be at least 1. Prints a Markdown table and writes paper.md,
paper.csv and a picture for each figure, to benchmarks/results by default. Draws are compared at
equal cost as the paper counts it: a wall hit is as much as a proposal to flip.
"""

import math
from statistics import median

import numpy as np
from effective import effective_size, worst
from models import BETA_RING, BETA_TORUS, D, L, ring_bonds
from paper_pictures import approach_picture, efficiency_picture, slab_picture, trace_picture
from paper_regression import choose
from regression import block_energies, paper_block, run_kernel
from runner import OUTPUT, main, seeds
from scipy.special import ellipk
from spin_chain import SpinChain
from table import Row, number


def ising_traces(quick):
    """Figure 1: 1D Ising model, T = 12.5π against Metropolis every 12.5 d proposals."""
    n = 300 if quick else 3000
    chain = SpinChain((D,), BETA_RING)
    runs = {
        "HMC": chain.classical(12.5 * math.pi),
        "Metropolis": chain.metropolis(int(12.5 * D)),
    }
    ratios = {kind: [] for kind in ("worst spin", "magnetisation", "energy")}
    details = {kind: [] for kind in ratios}
    shown = {}
    for seed in seeds(quick):
        sizes = {}
        for name, run in runs.items():
            chain.restart(seed, np.ones(D, np.int8))
            states = chain.record(run, n)
            shown.setdefault(name, np.concatenate([np.ones((1, D), np.int8), states[:1000]]))
            sizes[name] = {
                "worst spin": effective_size(states.astype(float)).min(),
                "magnetisation": effective_size(states.mean(axis=1, keepdims=True))[0],
                "energy": effective_size(ring_bonds(states.astype(float))[:, None])[0],
            }
        for kind in ratios:
            ours, theirs = sizes["HMC"][kind], sizes["Metropolis"][kind]
            ratios[kind].append(ours / theirs)
            share = f"HMC {number(ours / n)}, Metropolis {number(theirs / n)}"
            details[kind].append(f"effective draws per draw: {share}")
    trace_picture(shown, OUTPUT[0] / "paper_ising_1d.png")
    name = "Figure 1, 1D Ising, HMC with T = 12.5π over Metropolis"
    return [Row(f"{name}: {k}", "×", 1, True, ratios[k], details[k]) for k in ratios]


def approach(quick):
    """Figure 2: 2D Ising model from disorder, T = 2.5π against Metropolis every 2.5 L² flips."""
    runs, draws = (3, 40) if quick else (20, 200)
    chain = SpinChain((L, L), BETA_TORUS)
    samplers = {
        "HMC, T = 2.5π": (chain.classical(2.5 * math.pi), 2.5, draws),
        "Metropolis": (chain.metropolis(int(2.5 * L * L)), 2.5, draws),
        "our default": (chain.hmc(None), 0.75, draws * 10 // 3),
    }
    curves = {}
    for name, (run, sweeps, n) in samplers.items():
        lines = []
        for seed in range(1, runs + 1):
            chain.restart(seed)
            states = (chain.record(run, 1) for _ in range(n))
            lines.append([torus_bonds(state.reshape(L, L)) for state in states])
        curves[name] = sweeps * np.arange(1, n + 1), BETA_TORUS * np.array(lines) / L**2
    level = BETA_TORUS * onsager_bonds()
    approach_picture(curves, level, OUTPUT[0] / "paper_ising_2d.png")
    reached = {name: times_to(0.93 * level, *curve) for name, curve in curves.items()}
    text = ", ".join(f"{name} {number(median(times))}" for name, times in reached.items())
    rows = []
    for name in ("HMC, T = 2.5π", "our default"):
        ratios = [b / a for a, b in zip(reached[name], reached["Metropolis"], strict=True)]
        title = f"Figure 2, 2D Ising, {name}: sweeps to 93 % of the equilibrium, Metropolis over it"
        details = [f"median sweeps: {text}"] * len(ratios)
        rows.append(Row(title, "×", 1, True, ratios, details))
    return rows


def torus_bonds(s):
    s = s.astype(int)
    return (s * np.roll(s, 1, axis=0)).sum() + (s * np.roll(s, 1, axis=1)).sum()


def onsager_bonds():
    """Return Σ s_i s_j per spin of the infinite lattice in equilibrium."""
    k = 2 * math.sinh(2 * BETA_TORUS) / math.cosh(2 * BETA_TORUS) ** 2
    bracket = 1 + 2 / math.pi * (2 * math.tanh(2 * BETA_TORUS) ** 2 - 1) * ellipk(k**2)
    return bracket / math.tanh(2 * BETA_TORUS)


def times_to(level, sweeps, lines):
    """Return the sweeps after which each line is first above a level, or all of them."""
    return [
        float(sweeps[np.argmax(line > level)] if line.max() > level else sweeps[-1])
        for line in lines
    ]


def efficiency(quick):
    """Figure 4: smallest effective size of a spin over cost, for T = (n − ½)π, n = 1 … 13."""
    samples, repeats = (300, 1) if quick else (3000, 10)
    turns = range(1, 14, 4) if quick else range(1, 14)
    chain, exponential = SpinChain((D,), BETA_RING), math.sqrt(2 * math.pi)
    samplers = {
        "Gaussian": lambda n: chain.classical((n - 0.5) * math.pi),
        "Gaussian, y drawn afresh": lambda n: chain.hmc((n - 0.5) * math.pi),
        "exponential": lambda n: chain.hmc((n - 0.5) * exponential, "exponential"),
        "Metropolis": lambda n: chain.metropolis(int((n - 0.5) * D)),
    }
    found = {name: np.empty((len(turns), repeats)) for name in samplers}
    for name, sampler in samplers.items():
        for i, n in enumerate(turns):
            for repeat in range(repeats):
                chain.restart(100 * n + repeat)
                chain.hmc(None)(200)
                states = chain.record(sampler(n), samples).astype(float)
                found[name][i, repeat] = effective_size(states).min() / (n - 0.5)
    curves = {name: np.median(values, axis=1) for name, values in found.items()}
    efficiency_picture(list(turns), curves, OUTPUT[0] / "paper_efficiency.png")
    rows = []
    for other in ("Metropolis", "exponential", "Gaussian, y drawn afresh"):
        ratios = list(curves["Gaussian"] / curves[other])
        details = [
            f"n = {n}: per sweep {number(a)} and {number(b)} of {samples}"
            for n, a, b in zip(turns, curves["Gaussian"], curves[other], strict=True)
        ]
        title = f"Figure 4, 1D Ising, Gaussian HMC over {other}: smallest effective size over cost"
        rows.append(Row(f"{title}, n = 1 … 13", "×", 1, True, ratios, details))
    return rows


def spike_and_slab(quick):
    """Figure 3: regression with w ≥ 0, T = π/2 against pair Gibbs."""
    records = 2000 if quick else 20_000
    names = {"paper": "the paper's HMC", "sheared": "our HMC", "pair Gibbs": "pair Gibbs"}
    kinds = ("log-likelihood", "first coefficient", "worst of all")
    ratios = {(name, kind): [] for name in ("paper", "sheared") for kind in kinds}
    details = {key: [] for key in ratios}
    shown = {}
    for seed in seeds(quick)[:3]:
        rng = np.random.default_rng(seed)
        block = paper_block(0.1, 0.0, rng)
        sizes, chosen = {}, None
        for name in ("sheared", "paper", "pair Gibbs"):
            trace, weights, seconds = run_kernel(block, name, records, rng)
            chosen = chosen or choose(trace)
            beta = trace * weights
            likelihood, energy = block_energies(block, trace, weights)
            sizes[name] = {
                "log-likelihood": effective_size(likelihood[:, None])[0],
                "first coefficient": effective_size(beta[:, :1].astype(float))[0],
                "worst of all": worst({
                    "indicators": trace[:, chosen.indicators],
                    "weights": beta[:, chosen.weights], "energy": energy[:, None],
                })[0],
            }  # fmt: skip
            cost = f"{number(1e6 * seconds / records)} µs"
            shown.setdefault(names[name], (likelihood, beta[:, 0], cost))
        for name, kind in ratios:
            ours, theirs = sizes[name][kind] / records, sizes["pair Gibbs"][kind] / records
            ratios[name, kind].append(ours / theirs)
            text = f"effective draws per draw: {ours:.2g}, pair Gibbs {theirs:.2g}"
            details[name, kind].append(text)
    slab_picture(shown, OUTPUT[0] / "paper_spike_and_slab.png")
    return [
        Row(f"Figure 3, spike and slab with w ≥ 0, {names[name]} over pair Gibbs: {kind}",
            "×", 1, True, ratios[name, kind], details[name, kind])
        for name, kind in ratios
    ]  # fmt: skip


BENCHMARKS = [ising_traces, approach, spike_and_slab, efficiency]

if __name__ == "__main__":
    main(BENCHMARKS, "paper", __doc__)
