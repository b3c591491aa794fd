"""Accuracy of selection: spike and slab with this step, against NUTS with a horseshoe.

    python benchmarks/selection.py [--quick] [--seeds N] [--only CASE ...] [--output FOLDER]

Simulated data whose predictors that matter are known. NUTS (NumPyro's, which must be installed)
takes the time that it takes; the step gets at most as much. A predictor is chosen by spike and
slab if its inclusion probability exceeds one half, and by the horseshoe if more than half of its
coefficient is kept on average. Writes selection.csv and selection.md.
"""

import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from cases import CASES
from peers import ours
from provenance import caption, commit, provenance, write_record
from runner import note, parser
from selection_table import Score, score_table, write_scores

SEEDS = 2
"""At most so many seeds: NUTS takes its time."""
# Each with the coefficients of its predictors that matter, from weakest to strongest.
COEFFICIENTS = {
    "paper's regression": (1.0, 10.0),
    "correlation 0.9": (1.0, 10.0),
    "200 × 1000": (0.15, 1.0),
}


def score(name, seed, method, weight, beta, seconds, case):
    """Judge a choice by the predictors that matter and by the error of the mean coefficients."""
    matters = np.arange(weight.size) < case.support
    truth = np.zeros(weight.size)
    truth[matters] = np.linspace(*COEFFICIENTS[name], case.support)
    chosen = weight > 0.5
    above = (weight[matters][:, None] > weight[~matters]).mean()
    tied = (weight[matters][:, None] == weight[~matters]).mean()
    return Score(
        name, seed, method, seconds, int((chosen & matters).sum()), case.support,
        int((chosen & ~matters).sum()), float(above + 0.5 * tied),
        float(np.sqrt(((beta - truth) ** 2).mean())), commit(),
    )  # fmt: skip


def compare(name, seed, quick):
    """Yield a score for the horseshoe, if it can be run, and one for the step."""
    case, limit = CASES[name](seed), np.inf
    if find_spec("numpyro"):
        from peers import numpyro_horseshoe

        found = numpyro_horseshoe.run(case, *((20, 20) if quick else (500, 500)), seed)
        kept, beta = (found.values[key].mean(axis=0) for key in ("kept", "beta"))
        yield score(name, seed, "NUTS, horseshoe", kept, beta, found.whole, case)
        limit = found.whole
    else:
        note("numpyro is not installed: no horseshoe")
    found = ours.run(case, *((50, 50) if quick else (1000, 500)), seed)
    if found.whole > limit:
        note(f"the step took {found.whole:.1f} s, longer than NUTS with {limit:.1f} s")
    inclusion, beta = (found.values[key].mean(axis=0) for key in ("gamma", "beta"))
    yield score(name, seed, "ExactBinaryHMC", inclusion, beta, found.whole, case)


def main():
    options = parser(__doc__)
    names = list(COEFFICIENTS)
    options.add_argument("--only", nargs="+", metavar="CASE", choices=names, default=names)
    options = options.parse_args()
    scores, record = [], provenance(quick=options.quick, with_peers=True)
    # The first run of all fills the caches on disk.
    ours.run(CASES[names[0]](1), 4, 4, 1)
    for name in options.only:
        for seed in range(1, 2 if options.quick else 1 + min(options.seeds, SEEDS)):
            start = time.perf_counter()
            scores += compare(name, seed, options.quick)
            note(f"{name}, seed {seed}: {time.perf_counter() - start:.0f} s")
        write_scores(scores, Path(options.output) / "selection.csv")
        write_record(options.output, "selection", record)
    text = f"{caption(record)}\n\n{score_table(scores)}\n"
    (Path(options.output) / "selection.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
