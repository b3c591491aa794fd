"""Calibrate every family through ``pm.sample``: a table, and rank plots.

python tests/calibration/check.py [--replications R] [--figure FILE] [WORDS …]
"""

import argparse
import logging
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy import stats

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from joint import BURN, DRAWS, LENGTH, THIN, Geweke, Replicate, data_step, sample
from support.significance import ALPHA, batch_pvalues
from worlds import WORLDS, World

SEED = 20131209
TUNE = 10 * LENGTH
GEWEKE_DRAWS = 4000


def columns(drawn: dict[str, np.ndarray]) -> np.ndarray:
    """Return numbers whose prior means are compared: first and second moments, and products."""
    flat = np.column_stack([x.reshape(len(x), -1) for x in drawn.values()]).astype(float)
    bounded = np.arctan(flat)
    pairs = [bounded[:, i] * bounded[:, j] for i in range(flat.shape[1]) for j in range(i + 1)]
    return np.column_stack([bounded, *pairs])


def geweke(world: World, seed: int) -> float:
    """Return the smallest p-value, times their number, that all means are those of the prior."""
    found = sample(world, data_step(Geweke, world), GEWEKE_DRAWS, 500, seed)
    rng = np.random.default_rng(seed)
    exact = [world.prior(rng) for _ in range(20 * GEWEKE_DRAWS)]
    prior = {name: np.array([x[name] for x in exact]) for name in found}
    theirs = columns(prior)
    # The prior's own means are known to a quarter of the error of the chain's, or less.
    p = batch_pvalues(columns(found), theirs.mean(axis=0))
    return float(np.minimum(1.0, p.min() * p.size))


def ranks(world: World, replications: int, seed: int) -> np.ndarray:
    """Return the rank of every parameter's truth in each replication, ties broken at random."""
    data = data_step(Replicate, world)
    # The truths drawn while NUTS adapts are not counted.
    found = sample(world, data, replications * LENGTH, TUNE, seed)
    truths = data.truths[TUNE // LENGTH :][:replications]
    rng = np.random.default_rng(seed)
    every = []
    for name, x in found.items():
        chains = x.reshape(replications, LENGTH, -1)[:, BURN + THIN - 1 :: THIN]
        truth = np.array([np.ravel(t[name]) for t in truths])[:, None]
        below, equal = (chains < truth).sum(axis=1), (chains == truth).sum(axis=1)
        every.append(below + rng.integers(0, equal + 1))
    assert chains.shape[1] == DRAWS
    return np.concatenate(every, axis=1)


def calibration(name: str, replications: int) -> tuple[float, np.ndarray, float]:
    """Return the p-value of Geweke's test, the ranks, and the seconds it took."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    start, seed = time.perf_counter(), SEED + list(WORLDS).index(name)
    joint = geweke(WORLDS[name](), seed)
    rank = ranks(WORLDS[name](), replications, seed)
    return joint, rank, time.perf_counter() - start


def uniformity(rank: np.ndarray) -> np.ndarray:
    """Return the p-value of each parameter that its ranks are uniform on 0 … DRAWS (χ²)."""
    cells = 4
    counts = np.apply_along_axis(np.bincount, 0, rank * cells // (DRAWS + 1), minlength=cells)
    return np.asarray(stats.chisquare(counts).pvalue)


def plot(found: dict[str, np.ndarray], file: Path) -> None:
    """Draw a histogram of ranks for each family, with the band that holds 99 % of the counts."""
    import matplotlib.pyplot as plt

    rows = -(-len(found) // 4)
    figure, axes = plt.subplots(rows, 4, figsize=(11, 1.9 * rows), sharex=True, squeeze=False)
    for axis, (name, rank) in zip(axes.flat, found.items(), strict=False):
        n = rank.size
        counts = np.bincount(rank.ravel(), minlength=DRAWS + 1)
        low, high = stats.binom.interval(0.99, n, 1 / (DRAWS + 1))
        axis.axhspan(low, high, color="0.85")
        axis.bar(range(DRAWS + 1), counts, color="C0", width=0.9)
        axis.set_title(name, fontsize=8)
        axis.set_yticks([])
    for k in range(len(found), axes.size):
        axes.flat[k].set_visible(False)
        axes.flat[k - axes.shape[1]].tick_params(labelbottom=True)
    figure.supxlabel(f"rank of the truth among {DRAWS} draws")
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main(arguments: list[str]) -> int:
    """Print the table and return 1 if anything is not calibrated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args(arguments)
    print("| family | Geweke p | SBC p | replications | verdict | seconds |")
    print("|---|---|---|---|---|---|")
    failed, plotted = False, {}
    names = [name for name in WORLDS if all(word in name for word in options.words)]
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        found = pool.map(calibration, names, [options.replications] * len(names))
        for name, (joint, rank, seconds) in zip(names, found, strict=True):
            plotted[name] = rank
            p = uniformity(rank)
            sbc = float(np.minimum(1.0, p.min() * p.size))
            good = bool(np.minimum(joint, sbc) > ALPHA)
            failed |= not good
            verdict = "calibrated" if good else "NOT CALIBRATED"
            print(
                f"| {name} | {joint:.2g} | {sbc:.2g} | {options.replications} | {verdict} "
                f"| {seconds:.0f} |",
                flush=True,
            )
    print(f"{len(names)} families, {'not all' if failed else 'all'} calibrated")
    if options.figure:
        plot(plotted, options.figure)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
