"""What every benchmark script shares: seeds, timing, fresh processes, and the command line."""

import argparse
import subprocess
import sys
import time
import traceback
from pathlib import Path

from provenance import caption, commit, provenance, write_record
from table import markdown, merged, read_rows, write_rows

HERE = Path(__file__).parent
TIMINGS = 5
SEEDS = [5]
"""How many seeds a full run takes; an option changes it."""
OUTPUT = [HERE / "results"]
"""Where results and pictures go; an option changes it."""


def seeds(quick):
    return range(1, 2 if quick else 1 + SEEDS[0])


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
    """Describe this run: date, commit, machine and versions."""
    return caption(provenance(quick=quick))


def parser(doc):
    """Return the options that all parts have."""
    options = argparse.ArgumentParser(description=doc.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="check that everything runs")
    options.add_argument("--seeds", type=int, default=SEEDS[0], help="at most so many seeds")
    options.add_argument("--output", default=OUTPUT[0], help="folder for the results")
    return options


def note(line):
    print(f"… {line}", file=sys.stderr, flush=True)


def main(benchmarks, name, doc):
    """Run the benchmarks that the command line asks for; print a table and save it.

    Results are saved after each benchmark, and one that fails does not stop the others.
    """
    options = parser(doc)
    names = [benchmark.__name__ for benchmark in benchmarks]
    options.add_argument("--only", nargs="+", metavar="NAME", choices=names)
    options = options.parse_args()
    SEEDS[0], OUTPUT[0] = options.seeds, Path(options.output)
    path = OUTPUT[0] / f"{name}.csv"
    # A run of everything starts afresh; a run of some keeps the rows of the others.
    rows = read_rows(path) if options.only else []
    record, failed = provenance(quick=options.quick), []
    for benchmark in benchmarks:
        if benchmark.__name__ not in (options.only or names):
            continue
        note(f"{benchmark.__name__}: {benchmark.__doc__}")
        try:
            seconds, new = timed(benchmark, options.quick)
        except Exception:
            traceback.print_exc()
            failed.append(benchmark.__name__)
            continue
        rows = merged(rows, [row._replace(commit=commit()) for row in new])
        write_rows(rows, path)
        write_record(options.output, name, record)
        note(f"{benchmark.__name__}: {seconds:.0f} s")
    text = f"{caption(record)}\n\n{markdown(rows)}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")
