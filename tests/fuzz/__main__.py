"""Judge many random models: ``python -m tests.fuzz --models 2000 --seed 1``."""

import argparse
import os
import re
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from .report import judged

MEANING = {
    "exact": "sampled, and equal to the truth",
    "refused": "refused with a sentence",
    "unknown": "no truth that is precise enough",
    "wrong": "SAMPLED WRONGLY",
    "stuck": "AN INDICATOR NEVER MOVED",
    "unverified": "MISREAD, NOTICED BY THE STEP ITSELF",
    "error": "AN EXCEPTION WITHOUT A SENTENCE",
}


LEAST_EXACT = 0.5
"""Share of the models that must be sampled."""


def verdicts(asked):
    """Yield what was judged, in the order of the seeds, until the time is over."""
    began, seeds = time.perf_counter(), iter(range(asked.seed, asked.seed + asked.models))
    # Models of one process keep what they allocate: a new process now and then lets it go.
    with ProcessPoolExecutor(asked.jobs, get_context("spawn"), max_tasks_per_child=100) as pool:
        waiting = []
        while True:
            while len(waiting) < 2 * asked.jobs and time.perf_counter() < began + asked.seconds:
                seed = next(seeds, None)
                if seed is None:
                    break
                waiting.append(pool.submit(judged, seed, asked.shrink))
            if not waiting:
                return
            yield waiting.pop(0).result()


def main():
    """Print each failure, shrunk to the plainest model, and a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1, help="models SEED, SEED + 1, …")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--shrink", type=int, default=60, help="models tried for each failure")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--show", action="store_true", help="print every verdict")
    asked = parser.parse_args()
    asked.seconds, began = 60 * asked.minutes, time.perf_counter()
    kinds, reasons, failures, took = Counter(), Counter(), [], 0.0
    for seed, verdict, seconds, report in verdicts(asked):
        kinds[verdict.kind] += 1
        took += seconds
        if asked.show:
            print(f"{seed}: {verdict.kind} ({seconds:.1f} s; {verdict.taken}) {verdict.detail}")
        if verdict.kind in ("refused", "unknown"):
            reasons[verdict.kind + ": " + re.sub(r"\d+(\.\d+)?", "…", verdict.detail)[:110]] += 1
        if report:
            failures.append(seed)
            print(f"\n{'-' * 80}\n{seed}: {report}\n{'-' * 80}\n")
        sys.stdout.flush()
    for reason, count in reasons.most_common():
        print(f"{count:6d} {reason}")
    print("\n| models | verdict | |\n|---|---|---|")
    for kind, meaning in MEANING.items():
        print(f"| {kinds[kind]} | {kind} | {meaning} |")
    minutes = (time.perf_counter() - began) / 60
    print(
        f"{kinds.total()} models from seed {asked.seed} on in {minutes:.0f} min ({took:.0f} s of "
        f"processor time), failures: {', '.join(map(str, failures)) or 'none'}"
    )
    # A step that refuses everything fails at nothing.
    return bool(failures) or kinds["exact"] < LEAST_EXACT * kinds.total()


if __name__ == "__main__":
    sys.exit(main())
