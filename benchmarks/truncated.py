"""Measure truncated Gaussians against NUTS and tmg-hmc, as ratios within one run.

    python benchmarks/truncated.py [--quick] [--only NAME ...] [--output FOLDER]

A Gaussian with precision A'A/(2d) + 0.3·11', cut to w ≥ 0: the worst counts of all coordinates,
their squares, and the energy. Prints a Markdown table and writes truncated.md and truncated.csv,
to benchmarks/results by default. PyPI's tmg-hmc, which compiles nothing, runs in a process of its
own, with the interpreter named by TMG_PYTHON if that is set; its means must agree with
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
from effective import worst as smallest
from paper_regression import sample, sample_whole
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


def worst(w, R):
    """Return the smallest effective size of coordinates, their squares and the energy."""
    energy = 0.5 * ((w @ R.T) ** 2).sum(axis=1, keepdims=True)
    return smallest({"weights": w, "squares": w**2, "energy": energy})


def against_nuts(quick):
    """Effective draws per second in pm.sample, over NUTS on the same model."""
    rows = []
    for d in SIZES[:1] if quick else SIZES:
        found = [compare_with_nuts(d, seed, quick) for seed in seeds(quick)[:3]]
        values, wholes, details = map(list, zip(*found, strict=True))
        name = f"positive Gaussian, d = {d}: effective draws per second over NUTS"
        rows.append(Row(name, "×", 10, True, values, details, wholes))
    return rows


def compare_with_nuts(d, seed, quick):
    """Return ratios of effective draws per second, without and with compilation, and details."""
    R, rates, wholes, texts = factor(d, seed), [], [], []
    model = positive(R)
    runners = {"ours": (ExactBinaryHMC, 2000, 300), "NUTS": (None, 1000, 1000)}
    for name, (method, draws, tune) in runners.items():
        draws, tune = (60, 60) if quick else (draws, tune)
        posterior, seconds, whole = sample_whole(model, draws, tune, seed, method)
        size, kind = worst(posterior["w"].values[0], R)
        rates.append(size / seconds)
        wholes.append(size / whole)
        share = f"{number(size / draws)} per draw ({kind})"
        texts.append(f"{name}: {share}, {number(rates[-1])}/s, {number(whole)} s in all")
    return rates[0] / rates[1], wholes[0] / wholes[1], "; ".join(texts)


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
    rate = worst(ours, R)[0] / seconds
    if theirs is None:
        limit = 200 / LIMIT
        return rate / limit, f"ours {number(rate)}/s, tmg-hmc did not end in {LIMIT} s"
    apart = disagreement(ours, theirs)
    if apart > 6 and not quick:
        raise RuntimeError(f"ours and tmg-hmc disagree by {apart:.1f} standard errors at d = {d}")
    other = worst(theirs, R)[0] / theirs_seconds
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
