"""The field side by side: same model, same prior, same data, one chain on one core each.

    python benchmarks/field.py [--quick] [--seeds N] [--only CASE ...] [--peers PEER ...]

Every peer runs in a process of its own, with a time limit. Before speeds are compared, the means
of everything that counts are compared with those of the first peer. Two cases are worked on at a
time if the machine has two cores; ``--jobs 1`` works on one. Writes field.csv and field.md.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import numpy as np
from cases import CASES
from field_table import tables
from peers import PEERS
from provenance import caption, commit, provenance, write_record
from runner import note, parser
from scipy.stats import norm

HERE = Path(__file__).parent
REFERENCE = next(iter(PEERS))
LIMIT = 90
"""Seconds after which a peer is given up."""
FILLING = 600
"""Seconds for the run that fills the caches on disk, which is not timed."""
SEEDS = 2
"""At most so many seeds: slow peers are many."""
FEW = 30
"""With fewer effective draws than this, standard errors mean little."""
ALPHA = 1e-3
"""How often means of the same posterior may be called different, per peer and case."""


class Line(NamedTuple):
    """One run of one peer, as it is written to CSV."""

    case: str
    peer: str
    seed: int
    status: str
    draws: int = 0
    effective: float = 0.0
    worst: str = ""
    indicators: float = 0.0
    seconds: float = 0.0
    whole: float = 0.0
    agreement: str = ""
    difference: float = 0.0
    score: float = 0.0
    commit: str = ""


def run_peer(case, peer, seed, folder, kind="full", limit=LIMIT):
    """Return the result of a peer in a process of its own, or why there is none."""
    missing = PEERS[peer].missing()
    if missing:
        return f"not installed ({', '.join(missing)})"
    output, reference = folder / f"{peer}.json", folder / f"{REFERENCE}.json"
    command = [sys.executable, str(HERE / "contest.py"), case, peer, str(seed), kind, str(output)]
    command += [str(reference)] if peer != REFERENCE else []
    single = dict.fromkeys(["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
    single["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    single["JAX_PLATFORMS"] = "cpu"
    try:
        done = subprocess.run(
            command, env={**os.environ, **single}, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return f"did not finish in {limit} s"
    if done.returncode:
        print(done.stderr[-3000:], file=sys.stderr)
        return "failed: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:120]
    return json.loads(output.read_text())


def agreement(result, reference):
    """Compare the means of everything that counts, and say whether they may be the same."""
    pairs = [(result["kinds"][kind], reference["kinds"][kind]) for kind in reference["kinds"]]
    difference = np.concatenate([np.subtract(a["mean"], b["mean"]) for a, b in pairs])
    error = np.concatenate([np.hypot(a["error"], b["error"]) for a, b in pairs])
    score = np.abs(difference) / np.maximum(error, 1e-12)
    first, second = pairs[0]
    inclusion = float(np.abs(np.subtract(first["mean"], second["mean"])).max())
    sizes = np.concatenate([np.minimum(a["size"], b["size"]) for a, b in pairs])
    if sizes.min() < FEW:
        return "too few effective draws to tell", inclusion, float(score.max())
    same = score.max() < norm.isf(ALPHA / 2 / score.size)
    return "agrees" if same else "differs", inclusion, float(score.max())


def line_of(case, peer, seed, result, reference):
    if isinstance(result, str):
        return Line(case, peer, seed, result)
    smallest = {kind: min(found["size"]) for kind, found in result["kinds"].items()}
    worst = min(smallest, key=smallest.get)
    compared = ("reference", 0.0, 0.0) if peer == REFERENCE else agreement(result, reference)
    return Line(
        case, peer, seed, "finished", result["draws"], smallest[worst], worst,
        smallest["indicators"],
        result["seconds"], result["whole"], *compared,
    )  # fmt: skip


def run_case(case, peers, seeds, quick):
    """Return a line for each seed and peer; what did not finish once is not tried again."""
    lines, given_up = [], set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in seeds:
            problem, reference = CASES[case](seed), None
            for peer in peers:
                if peer in given_up or not PEERS[peer].can(problem):
                    continue
                start = time.perf_counter()
                if seed == seeds[0] and PEERS[peer].cached:
                    run_peer(case, peer, seed, folder, "filling", FILLING)
                result = run_peer(case, peer, seed, folder, "quick" if quick else "full")
                reference = result if peer == REFERENCE else reference
                line = line_of(case, peer, seed, result, reference)
                tell(line, time.perf_counter() - start)
                lines.append(line._replace(commit=commit()))
                if isinstance(result, str):
                    given_up.add(peer)
                if isinstance(reference, str):
                    return lines
    return lines


def tell(line, seconds):
    """Say how a run ended."""
    found = f"{line.effective:.0f} effective draws of {line.draws}, {line.agreement}"
    outcome = found if line.status == "finished" else line.status
    note(f"{line.case}, seed {line.seed}, {line.peer}: {outcome} ({seconds:.0f} s)")


def place(line):
    """Return where a line stands: by case and peer as they are listed, then by seed."""
    return list(CASES).index(line.case), list(PEERS).index(line.peer), line.seed


def write_lines(lines, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Line._fields)
        for line in lines:
            writer.writerow(f"{value:.6g}" if isinstance(value, float) else value for value in line)


def read_lines(path):
    """Return what ``write_lines`` wrote, or nothing if there is no such file."""
    if not Path(path).exists():
        return []
    kinds = Line.__annotations__
    with open(path, newline="", encoding="utf-8") as file:
        return [Line(**{k: kinds[k](v) for k, v in row.items()}) for row in csv.DictReader(file)]


def main():
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", metavar="CASE", choices=CASES)
    options.add_argument("--peers", nargs="+", metavar="PEER", choices=PEERS, default=list(PEERS))
    options.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = options.parse_args()
    cases, path = options.only or list(CASES), Path(options.output) / "field.csv"
    peers = [name for name in PEERS if name in options.peers or name == REFERENCE]
    whole = len(cases) == len(CASES) and len(peers) == len(PEERS)
    # A run of everything starts afresh; a run of some keeps the lines of the others.
    known = [] if whole else read_lines(path)
    record = provenance(quick=options.quick, with_peers=True)
    seeds = range(1, 1 + (1 if options.quick else min(options.seeds, SEEDS)))
    with ThreadPoolExecutor(options.jobs) as pool:
        tasks = [pool.submit(run_case, case, peers, seeds, options.quick) for case in cases]
        for task in as_completed(tasks):
            new = task.result()
            fresh = {(line.case, line.peer) for line in new}
            known = [old for old in known if (old.case, old.peer) not in fresh] + new
            known.sort(key=place)
            write_lines(known, path)
            write_record(options.output, "field", record)
    text = f"{caption(record)}\n\n{tables(known)}\n"
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
