"""Accuracy of selection: spike and slab with this step, against NUTS with a horseshoe.

    python benchmarks/selection.py [--quick] [--seeds N] [--output FOLDER]

Simulated data whose predictors that matter are known. NUTS takes the time that its default takes;
the step gets at most as much. A predictor is chosen by spike and slab if its inclusion probability
exceeds one half, and by the horseshoe if it shrinks the coefficient by less than half on average.
Writes selection.csv and selection.md.
"""

import time
from pathlib import Path

import numpy as np
import pymc as pm
from cases import CASES
from paper_regression import sample_whole
from peers.pymc_models import selection as spike_and_slab
from provenance import caption, commit, provenance, write_record
from runner import note, parser
from selection_table import Score, score_table, write_scores

from pymc_exact_hmc import ExactBinaryHMC

NAMES = ("paper's regression", "correlation 0.9", "200 × 1000")


def horseshoe(case):
    """Return the same regression with a horseshoe prior, not centred."""
    n, d = case.X.shape
    expected = case.a * d
    with pm.Model() as model:
        # The global scale that the expected number of predictors asks for.
        tau = pm.HalfCauchy("tau", expected / (d - expected) * case.sigma / np.sqrt(n))
        lam = pm.HalfCauchy("lam", 1.0, shape=d)
        beta = pm.Deterministic("beta", pm.Normal("raw", 0, 1, shape=d) * lam * tau)
        pm.Normal("y", case.X @ beta, case.sigma, observed=case.y)
    return model


def shrinkage(case, posterior):
    """Return 1 − κ_j, κ_j = 1/(1 + n var(x_j) τ²λ_j²/σ²), on average over the draws."""
    scale = posterior["tau"].values[..., None] * posterior["lam"].values
    strength = (case.X**2).sum(axis=0) * scale**2 / case.sigma**2
    return (strength / (1 + strength)).mean(axis=(0, 1))


def score(name, seed, method, weight, beta, seconds, case):
    """Judge a choice by the predictors that matter and by the error of the mean coefficients."""
    matters = np.arange(weight.size) < case.support
    chosen = weight > 0.5
    above = (weight[matters][:, None] > weight[~matters]).mean()
    tied = (weight[matters][:, None] == weight[~matters]).mean()
    return Score(
        name, seed, method, seconds, int((chosen & matters).sum()), case.support,
        int((chosen & ~matters).sum()), float(above + 0.5 * tied),
        float(np.sqrt(((beta - truth(name, case)) ** 2).mean())), commit(),
    )  # fmt: skip


def truth(name, case):
    """Return the coefficients that the data were made with."""
    beta = np.zeros(case.X.shape[1])
    low, high = (0.15, 1.0) if name == "200 × 1000" else (1.0, 10.0)
    beta[: case.support] = np.linspace(low, high, case.support)
    return beta


def compare(name, seed, quick):
    """Yield a score for the horseshoe and one for the step."""
    case = CASES[name](seed)
    draws, tune = (50, 50) if quick else (500, 500)
    posterior, _, seconds = sample_whole(horseshoe(case), draws, tune, seed)
    beta = posterior["beta"].values.mean(axis=(0, 1))
    yield score(name, seed, "NUTS, horseshoe", shrinkage(case, posterior), beta, seconds, case)
    limit, model, start = seconds, spike_and_slab(case), time.perf_counter()
    draws, tune = (50, 50) if quick else (1000, 500)
    posterior, _, _ = sample_whole(model, draws, tune, seed, ExactBinaryHMC)
    seconds = time.perf_counter() - start
    if seconds > limit:
        note(f"the step took longer than NUTS: {seconds:.1f} s, not {limit:.1f} s")
    gamma = posterior["gamma"].values
    beta = (gamma * posterior["w"].values).mean(axis=(0, 1))
    yield score(name, seed, "ExactBinaryHMC", gamma.mean(axis=(0, 1)), beta, seconds, case)


def main():
    options = parser(__doc__).parse_args()
    scores, record = [], provenance(quick=options.quick)
    # The first run of all fills the caches on disk.
    list(compare(NAMES[0], 1, quick=True))
    for name in NAMES:
        for seed in range(1, 2 if options.quick else 1 + min(options.seeds, 3)):
            for found in compare(name, seed, options.quick):
                note(f"{name}, seed {seed}, {found.method}: {found.seconds:.0f} s")
                scores.append(found)
        write_scores(scores, Path(options.output) / "selection.csv")
        write_record(options.output, "selection", record)
    text = f"{caption(record)}\n\n{score_table(scores)}\n"
    (Path(options.output) / "selection.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
