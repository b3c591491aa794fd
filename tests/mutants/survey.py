"""Plant edits made by rule, a random sample of them, and list those that no test notices.

    python tests/mutants/survey.py [FILE …] [--edits 100] [--seed 1] [--mode plain] [--share 1/2]

Files are named as in the catalogue; without any, all files that the catalogue lists in that mode.
Each edit meets the tests that the catalogue names for its file, then those named for its folder.
Survivors are to be looked at: some edits change nothing that anyone could notice.

With --reach FOLDER each edit meets the tests that run its line instead, see reach.py.
"""

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from edits import Edit, edits
from nursery import FAILED, PACKAGE, PASSED, ROOT, run_in_copy, warm_up
from reach import Reach
from runner import catalogue


def killers(file: str, mode: str) -> list[str]:
    """Return the tests for a file, then those for its folder."""
    listed = [m for m in catalogue() if m.mode == mode]
    folder = file.rpartition("/")[0]
    own = [m.killer for m in listed if m.file == file]
    near = [m.killer for m in listed if folder and m.file.startswith(folder + "/")]
    return list(dict.fromkeys(own + near))


def sample(files: list[str], number: int, seed: int) -> list[tuple[str, Edit]]:
    """Return a random sample of the edits of all files."""
    every = [(f, e) for f in files for e in edits((ROOT / PACKAGE / f).read_text())]
    random.Random(seed).shuffle(every)
    return sorted(every[:number], key=lambda pair: (pair[0], pair[1].line))


def describe(file: str, edit: Edit) -> str:
    """Return one line about an edit."""
    return f"{file}:{edit.line} {edit.kind}: {edit.old}  →  {edit.new}"


def survey(options: argparse.Namespace) -> int:
    """Run the sample and print survivors; return how many there are."""
    warm_up()
    listed = {m.file for m in catalogue() if m.mode == options.mode}
    chosen = sample(options.files or sorted(listed), options.edits, options.seed)
    part, parts = (int(n) for n in options.share.split("/"))
    reach = Reach(options.reach) if options.reach else None
    survivors = 0
    for i, (file, edit) in enumerate(chosen):
        if i % parts != part - 1:
            continue
        tests = options.tests or killers(file, options.mode)
        if reach is not None:
            tests = reach.tests(file, edit.line, options.longest / 2)
        if not tests:
            survivors += 1
            print(f"UNREACHED         {describe(file, edit)}", flush=True)
            continue
        outcome = run_in_copy(
            file, edit.text, tests, keep_caches=options.mode == "kept", longest=options.longest
        )
        survived = outcome.result == PASSED
        survivors += survived
        verdict = "SURVIVED" if survived else "killed"
        if outcome.result not in (PASSED, FAILED):
            verdict = f"killed ({outcome.result})"
        print(f"{verdict:9s} {outcome.seconds:4.0f} s  {describe(file, edit)}", flush=True)
    return survivors


def main() -> int:
    """Read the command line and run in a process that knows whether to compile."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--edits", type=int, default=100, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="which")
    parser.add_argument("--mode", default="plain", choices=["plain", "kept", "compiled"])
    parser.add_argument("--share", default="1/1", help="for several processes: 1/2 and 2/2")
    parser.add_argument("--longest", type=float, default=120, help="seconds for one edit")
    parser.add_argument("--tests", nargs="+", help="tests to run instead of those listed")
    parser.add_argument("--reach", help="folder in which reach.py recorded the tests of each line")
    options = parser.parse_args()
    wanted = "1" if options.mode == "plain" else "0"
    if os.environ.get("NUMBA_DISABLE_JIT") != wanted:
        env = {**os.environ, "NUMBA_DISABLE_JIT": wanted}
        return subprocess.run([sys.executable, *sys.argv], env=env, check=False).returncode
    survivors = survey(options)
    print(f"{survivors} of this share of {options.edits} edits survived")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
