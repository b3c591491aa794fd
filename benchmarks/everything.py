"""Run the benchmarks, part by part, and collect their tables and pictures.

    python benchmarks/everything.py                    what is small, in at most ten minutes
    python benchmarks/everything.py --all              everything, into docs/benchmarks.md as well
    python benchmarks/everything.py --all PART ...     some parts, the others stay as they are
    python benchmarks/everything.py --quick            check that everything runs
    python benchmarks/everything.py --docs             only write docs/benchmarks.md afresh

Parts are binary, regression, scales, likelihoods, truncated, paper, selection and field. Each runs
in a process of its own; one that fails does not stop the others. Results go to benchmarks/results
(small ones to its folder small, quick ones to its folder quick): CSV, Markdown and pictures.
Two parts run at a time if the machine has two cores, each on one of them; ``--jobs 1`` runs one.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from publish import publish, write_overview

HERE = Path(__file__).parent


class Part(NamedTuple):
    """A script, and the options with which it is small."""

    script: str
    small: list[str]


PARTS = {
    "binary": Part("binary.py", ["--only", "sampling", "kernel", "lattice", "generic", "start"]),
    "regression": Part("regression.py", ["--only", "sampling", "kernels", "recording"]),
    "scales": Part("scales.py", ["--only", "unknown", "start"]),
    "likelihoods": Part("likelihoods.py", ["--only", "default", "latents"]),
    "truncated": Part("truncated.py", ["--only", "against_nuts"]),
    "paper": Part("paper_figures.py", ["--only", "ising_traces", "approach"]),
    "selection": Part("selection.py", ["--only", "paper's regression"]),
    "field": Part("field.py", ["--only", "paper's regression", "1D Ising, d = 400"]),
}
LONGEST_FIRST = ["field", "regression", "selection", "scales"]
SMALL_SEEDS, SEEDS = 2, 3


def command_of(name, options, output):
    part = PARTS[name]
    command = [sys.executable, str(HERE / part.script), "--output", str(output)]
    if name == "field":
        # Other parts keep the other cores busy.
        command += ["--jobs", str(1 if len(options.parts) > 1 else options.jobs)]
    if options.quick:
        return [*command, "--quick"]
    seeds = options.seeds or (SEEDS if options.all else SMALL_SEEDS)
    return [*command, "--seeds", str(seeds), *([] if options.all else part.small)]


def run_part(name, options, output):
    """Run a part and say how it ended."""
    print(f"=== {name} begins", file=sys.stderr, flush=True)
    begin = time.perf_counter()
    # Threads inside a sampler would make a comparison of samplers one of thread pools.
    single = dict.fromkeys(["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
    env = {**os.environ, "MPLBACKEND": "Agg", **single}
    code = subprocess.run(command_of(name, options, output), env=env).returncode
    how = "ended" if code == 0 else "FAILED"
    line = f"{name:12s} {how} after {time.perf_counter() - begin:5.0f} s"
    print(f"=== {line}", file=sys.stderr, flush=True)
    return code, line


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--all", action="store_true", help="everything, not only what is small")
    parser.add_argument("--quick", action="store_true", help="check that everything runs")
    parser.add_argument("--docs", action="store_true", help="only write the page afresh")
    parser.add_argument("--seeds", type=int, help="at most so many seeds")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--output", type=Path, help="folder for the results")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    results = HERE / "results"
    aside = results / ("quick" if options.quick else "small")
    kind = results if options.all and not options.quick else aside
    output = options.output or (results if options.docs else kind)
    options.parts = [] if options.docs else options.parts or list(PARTS)
    first = [name for name in LONGEST_FIRST if name in options.parts]
    parts = first + [name for name in options.parts if name not in first]
    with ThreadPoolExecutor(options.jobs) as pool:
        ended = list(pool.map(lambda name: run_part(name, options, output), parts))
    path = write_overview(output, PARTS)
    print("\n".join(["", *(line for _, line in ended), f"results in {path}"]), file=sys.stderr)
    if output == results and not options.quick:
        publish(results, PARTS)
    return int(any(code for code, _ in ended))


if __name__ == "__main__":
    raise SystemExit(main())
