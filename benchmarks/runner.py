"""What every benchmark script shares: seeds, timing, fresh processes, and the command line."""

import argparse
import importlib.metadata
import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

from table import markdown, save

HERE = Path(__file__).parent
TIMINGS = 5


def seeds(quick):
    return range(1, 2 if quick else 6)


def timed(function, *arguments):
    """Return the seconds a call takes, and its result."""
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def fastest(functions, *arguments):
    """Return the fewest seconds of several calls of each function, called in turn."""
    rounds = [
        {name: timed(function, *arguments)[0] for name, function in functions.items()}
        for _ in range(TIMINGS)
    ]
    return {name: min(r[name] for r in rounds) for name in functions}


def child(*arguments, text=False):
    """Return the number that a measurement in a fresh process prints, or its last line."""
    command = [sys.executable, str(HERE / "child.py"), *arguments]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    last = result.stdout.splitlines()[-1]
    return last if text else float(last)


def heading(quick):
    """Describe the run: date, machine and versions."""
    packages = ["pymc", "pytensor", "numba", "numpy"]
    versions = [f"{name} {importlib.metadata.version(name)}" for name in packages]
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    python = f"Python {platform.python_version()}"
    kind = "a quick run, whose numbers mean little" if quick else f"{len(seeds(quick))} repeats"
    return f"{date.today()}; {machine}; {python}, {', '.join(versions)}; {kind}."


def main(benchmarks, name, doc):
    """Run the benchmarks that the command line asks for; print a table and save it."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="check that everything runs")
    names = [benchmark.__name__ for benchmark in benchmarks]
    parser.add_argument("--only", nargs="+", metavar="NAME", default=names, choices=names)
    parser.add_argument("--output", default=HERE / "results", help="folder for the results")
    options = parser.parse_args()
    rows = []
    for benchmark in benchmarks:
        if benchmark.__name__ in options.only:
            print(f"… {benchmark.__name__}: {benchmark.__doc__}", file=sys.stderr, flush=True)
            rows += benchmark(options.quick)
    print(heading(options.quick), markdown(rows), sep="\n\n")
    save(rows, heading(options.quick), options.output, name)
