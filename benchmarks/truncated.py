"""Measure truncated Gaussians against NUTS and tmg-hmc, as ratios within one run.

    python benchmarks/truncated.py [--quick] [--only NAME ...] [--output FOLDER]

A Gaussian with precision A'A/(2d) + 0.3·11', cut to w ≥ 0: the worst coordinate counts, first
moments and squares alike. Prints a Markdown table and writes truncated.md and truncated.csv, to
benchmarks/results by default. Compilation is not timed. PyPI's tmg-hmc runs in a process of
its own, with the interpreter named by TMG_PYTHON if that is set; its means must agree with
ours. A run of it that does not end in time counts as if it had ended then with as many
effective draws as it was asked for.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pymc as pm
from effective import effective_size
from paper_regression import sample
from runner import HERE, main, seeds
from table import Row, number

from pymc_exact_hmc import ExactBinaryHMC

SIZES = (20, 50, 150)
WIDE = 1e3
"""Standard deviation of the half-normal prior that makes the weights positive."""
LIMIT = 60
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


def rival_draws(A, draws):
    """Return draws of tmg-hmc and the seconds they took; no draws if they took too long."""
    python = os.environ.get("TMG_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        precision, output = Path(folder, "precision.npy"), Path(folder, "draws.npz")
        np.save(precision, A)
        command = [python, HERE / "tmg_rival.py", precision, str(draws), output]
        try:
            subprocess.run(command, capture_output=True, timeout=LIMIT, check=True)
        except subprocess.TimeoutExpired:
            return None, LIMIT
        found = np.load(output)
        return found["w"], float(found["seconds"])


def rival_is_installed():
    command = [os.environ.get("TMG_PYTHON", sys.executable), "-c", "import tmg_hmc"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def disagreement(ours, theirs):
    """Return the largest difference of means, in standard errors."""
    spread = sum(w.var(axis=0) / effective_size(w) for w in (ours, theirs))
    return float(np.max(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) / np.sqrt(spread)))


def compare_with_tmg(d, seed, quick):
    """Return the ratio of effective draws per second, and the details."""
    R = factor(d, seed)
    model = positive(R)
    draws = (60, 60) if quick else (2000, 300)
    posterior, seconds = sample(model, *draws, seed, step=ExactBinaryHMC(model=model))
    ours = posterior["w"].values[0]
    theirs, theirs_seconds = rival_draws(R.T @ R, 20 if quick else 200)
    rate = worst(ours) / seconds
    if theirs is None:
        limit = 200 / LIMIT
        return rate / limit, f"ours {number(rate)}/s, tmg-hmc did not end in {LIMIT} s"
    apart = disagreement(ours, theirs)
    if apart > 6 and not quick:
        raise RuntimeError(f"ours and tmg-hmc disagree by {apart:.1f} standard errors at d = {d}")
    other = worst(theirs) / theirs_seconds
    details = f"ours {number(rate)}/s, tmg-hmc {number(other)}/s, means agree to {apart:.1f} σ"
    return rate / other, details


def against_tmg(quick):
    """Effective draws per second in pm.sample, over tmg-hmc on its own."""
    rows, there = [], rival_is_installed()
    for d in SIZES[:1] if quick else SIZES:
        name = f"positive Gaussian, d = {d}: effective draws per second over tmg-hmc"
        found = [(np.nan, "tmg-hmc is not installed")]
        if there:
            found = [compare_with_tmg(d, seed, quick) for seed in seeds(quick)[:2]]
        values, details = map(list, zip(*found, strict=True))
        rows.append(Row(name, "×", 100, True, values, details))
    return rows


if __name__ == "__main__":
    main([against_nuts, against_tmg], "truncated", __doc__)
