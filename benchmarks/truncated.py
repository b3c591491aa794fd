"""Measure truncated Gaussians against NUTS and tmg-hmc, as ratios within one run.

    python benchmarks/truncated.py [--quick] [--only NAME ...] [--output FOLDER]

A Gaussian with precision A'A/(2d) + 0.3·11', cut to w ≥ 0: the worst coordinate counts, first
moments and squares alike. Prints a Markdown table and writes truncated.md and truncated.csv, to
benchmarks/results by default. Compilation is not timed. The comparison with PyPI's tmg-hmc is
left out where that is not installed; a run of it that does not end in time counts as its limit.
"""

import importlib.util
import subprocess
import sys

import numpy as np
import pymc as pm
from effective import effective_size
from paper_regression import sample
from runner import main, seeds, timed
from table import Row, number

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.flight import measure_walls
from pymc_exact_hmc.regions.region import empty_law, make_region, set_law
from pymc_exact_hmc.regions.truncated import make_scratch, truncated_transition

SIZES = (20, 50, 150)
WIDE = 1e3
"""Standard deviation of the half-normal prior that makes the weights positive."""
LIMIT = 120
"""Seconds after which a run of tmg-hmc is given up."""


def factor(d, seed):
    """Return R with R'R = A'A/(2d) + 0.3·11', A of 2d rows."""
    A = np.random.default_rng(seed).normal(size=(2 * d, d))
    return np.concatenate([A / np.sqrt(2 * d), np.full((1, d), np.sqrt(0.3))])


def positive(R):
    """Return the PyMC model: half-normal weights and one observation for each row of R."""
    with pm.Model() as model:
        w = pm.HalfNormal("w", WIDE, shape=R.shape[1], initval=np.ones(R.shape[1]))
        pm.Normal("zero", R @ w, 1.0, observed=np.zeros(R.shape[0]))
    return model


def worst(w):
    """Return the smallest effective size of coordinates and their squares."""
    return float(min(effective_size(w).min(), effective_size(w**2).min()))


def against_nuts(quick):
    """Effective draws per second in pm.sample, over NUTS on the same model."""
    rows = []
    for d in SIZES[:1] if quick else SIZES:
        values, details = [], []
        for seed in seeds(quick)[:3]:
            model, rates, texts = positive(factor(d, seed)), {}, []
            steps = {"ours": ExactBinaryHMC(model=model), "NUTS": None}
            for name, step in steps.items():
                draws = (60, 60) if quick else (2000, 300) if step else (1000, 1000)
                posterior, seconds = sample(model, *draws, seed, step=step)
                size = worst(posterior["w"].values[0])
                rates[name] = size / seconds
                texts.append(f"{name}: {number(size / draws[0])} per draw, {number(rates[name])}/s")
            values.append(rates["ours"] / rates["NUTS"])
            details.append("; ".join(texts))
        name = f"positive Gaussian, d = {d}: effective draws per second over NUTS"
        rows.append(Row(name, "×", 10, True, values, details))
    return rows


def kernel_rate(R, seed, draws):
    """Return effective draws per second of the kernel alone."""
    d = R.shape[1]
    law, region = empty_law(d), make_region(np.eye(d), np.zeros(d))
    set_law(law, R.T @ R, np.zeros(d))
    scratch, w = make_scratch(region), np.ones(d)
    measure_walls(region, law.Sigma, scratch.flight.FSigma, scratch.flight.gram)
    stream, out = seed_words(np.random.default_rng(seed)), np.empty((draws, d))

    move = bind(truncated_transition, region, law, scratch, w, 0.5 * np.pi, 0, stream)

    def run():
        for k in range(draws):
            move(region, law, scratch, w, 0.5 * np.pi, 0, stream)
            out[k] = w

    seconds, _ = timed(run)
    return worst(out) / seconds


def rival_rate(d, seed, draws):
    """Return effective draws per second of tmg-hmc, or an upper limit and that it is one."""
    command = [sys.executable, __file__, "rival", str(d), str(seed), str(draws)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    except subprocess.TimeoutExpired:
        return draws / LIMIT, "did not end"
    return float(result.stdout.split()[-1]), "ended"


def run_rival(d, seed, draws):
    """Print the effective draws per second of tmg-hmc; called in a process of its own."""
    from tmg_hmc import TMGSampler

    R = factor(d, seed)
    sampler = TMGSampler(np.zeros((d, 1)), np.linalg.inv(R.T @ R))
    for axis in np.eye(d):
        sampler.add_constraint(f=axis[:, None], c=0.0)
    seconds, w = timed(lambda: sampler.sample(np.ones((d, 1)), n_samples=draws, burn_in=0))
    w = np.asarray(w)
    print(worst(w.T if w.shape[0] == d else w) / seconds)


def against_tmg(quick):
    """Effective draws per second of the kernel, over tmg-hmc."""
    if importlib.util.find_spec("tmg_hmc") is None:
        print("tmg-hmc is not installed: left out", file=sys.stderr)
        return []
    rows = []
    for d in SIZES[:1] if quick else SIZES:
        values, details = [], []
        for seed in seeds(quick)[:3]:
            ours = kernel_rate(factor(d, seed), seed, 50 if quick else 2000)
            theirs, how = rival_rate(d, seed, 50 if quick else 200)
            values.append(ours / theirs)
            details.append(f"ours {number(ours)}/s, tmg-hmc {number(theirs)}/s ({how})")
        name = f"positive Gaussian, d = {d}: effective draws per second over tmg-hmc"
        rows.append(Row(name, "×", 100, True, values, details))
    return rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["rival"]:
        run_rival(*map(int, sys.argv[2:]))
    else:
        main([against_nuts, against_tmg], "truncated", __doc__)
