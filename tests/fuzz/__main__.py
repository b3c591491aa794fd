"""Judge many random models: ``python -m tests.fuzz --models 2000 --seed 1``."""

import argparse
import re
import sys
import time
from collections import Counter

from .check import judge
from .description import describe
from .shrink import shrink


def main():
    """Print each failure, shrunk to the plainest model, and a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1, help="models SEED, SEED + 1, …")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--shrink", type=int, default=60, help="models tried for each failure")
    parser.add_argument("--show", action="store_true", help="print every verdict")
    asked = parser.parse_args()
    kinds, reasons, failures, began = Counter(), Counter(), [], time.perf_counter()
    for seed in range(asked.seed, asked.seed + asked.models):
        if time.perf_counter() - began > 60 * asked.minutes:
            break
        description, start = describe(seed), time.process_time()
        verdict = judge(description)
        kinds[verdict.kind] += 1
        seconds = time.process_time() - start
        if asked.show:
            print(
                f"{seed}: {verdict.kind} ({seconds:.1f} s; {verdict.taken}) {verdict.detail[-300:]}"
            )
        if verdict.kind in ("refused", "unknown"):
            reasons[verdict.kind + ": " + re.sub(r"\d+(\.\d+)?", "…", verdict.detail)[:110]] += 1
        if verdict.failed:
            failures.append(seed)
            report(description, verdict, asked.shrink)
        sys.stdout.flush()
    total = sum(kinds.values())
    print(f"\n{total} models in {time.perf_counter() - began:.0f} s")
    for kind, count in kinds.most_common():
        print(f"{count:6d} {kind}")
    for reason, count in reasons.most_common():
        print(f"{count:10d} {reason}")
    print("failures: " + (", ".join(map(str, failures)) or "none"))
    return bool(failures)


def report(description, verdict, most):
    """Print the plainest model that fails like this one."""
    smallest = shrink(description, lambda x: judge(x).kind == verdict.kind, most=most)
    found = judge(smallest)
    print(f"\n{'-' * 80}\n{found.kind}: {found.detail}\n\n{smallest}\n{'-' * 80}\n")


if __name__ == "__main__":
    sys.exit(main())
