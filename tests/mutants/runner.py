"""Plant the mutants of the catalogue one by one and see that each is killed by its test.

    python tests/mutants/runner.py [WORDS …]     only those whose name, kind or file holds a word

Prints a table and exits with 1 if a mutant survived or a test fails without one.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from nursery import ENDLESS, FAILED, LONGEST, PACKAGE, PASSED, ROOT, Outcome, run_in_copy, warm_up

CATALOGUE = Path(__file__).with_name("catalogue.toml")
HEAD = "| file | kind | mutant | killed by | verdict | seconds |"
MODES = ("plain", "kept", "compiled")


class Mutant(NamedTuple):
    """A wrong edit: ``old`` reads ``new`` in a file of the package, and ``killer`` must fail."""

    name: str
    kind: str
    file: str
    old: str
    new: str
    killer: str
    mode: str = "plain"

    def text(self) -> str:
        """Return the file with the edit."""
        source = (ROOT / PACKAGE / self.file).read_text()
        assert source.count(self.old) == 1, f"{self.file}: {self.old!r} does not occur once"
        return source.replace(self.old, self.new)


def catalogue() -> list[Mutant]:
    """Return all mutants."""
    return [Mutant(**entry) for entry in tomllib.loads(CATALOGUE.read_text())["mutant"]]


def chosen(words: list[str]) -> list[Mutant]:
    """Return the mutants that hold all words."""
    return [
        m for m in catalogue() if all(w in f"{m.name} {m.kind} {m.file} {m.mode}" for w in words)
    ]


def tests_pass(mutants: list[Mutant], mode: str) -> bool:
    """Return whether the tests pass without a mutant, in this mode."""
    tests = sorted({m.killer for m in mutants})
    outcome = run_in_copy("", None, tests, keep_caches=mode == "kept", longest=LONGEST * 20)
    if outcome.result != PASSED:
        print(f"without a mutant ({mode}): {outcome.result}\n{outcome.output}", flush=True)
    return outcome.result == PASSED


def row(m: Mutant, outcome: Outcome) -> str:
    """Return a line of the table."""
    killed = outcome.result in (FAILED, ENDLESS)
    verdict = "killed" if killed else f"SURVIVED: {outcome.result}"
    cells = [m.file, m.kind, m.name, f"`{m.killer.removeprefix('tests/')}`", verdict]
    return f"| {' | '.join(cells)} | {outcome.seconds:.0f} |"


def run_mode(mutants: list[Mutant], mode: str) -> bool:
    """Run mutants of one mode in this process, print a row for each; return whether one failed."""
    if not mutants:
        return False
    warm_up()
    failed = not tests_pass(mutants, mode)
    for m in mutants:
        outcome = run_in_copy(m.file, m.text(), [m.killer], keep_caches=mode == "kept")
        line = row(m, outcome)
        print(line, flush=True)
        if "SURVIVED" in line:
            failed = True
            print(outcome.output[-2000:], file=sys.stderr)
    return failed


def run_shares(words: list[str], mode: str) -> int:
    """Run the mutants of one mode in a process for each core; print their rows."""
    # numba must know whether to compile before it is imported.
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1" if mode == "plain" else "0"}
    jobs = os.cpu_count() or 1
    command = [sys.executable, __file__, "--mode", mode]
    shares = [subprocess.Popen([*command, f"{k}/{jobs}", *words], env=env) for k in range(jobs)]
    codes = [share.wait() for share in shares]
    return int(any(codes))


def main(words: list[str]) -> int:
    """Run all modes, one after another."""
    print(f"{HEAD}\n|{'---|' * HEAD.count(' | ')}---|", flush=True)
    mutants = chosen(words)
    modes = [mode for mode in MODES if any(m.mode == mode for m in mutants)]
    codes = [run_shares(words, mode) for mode in modes]
    failed = any(codes)
    print(f"{len(mutants)} mutants, {'not all' if failed else 'all'} killed")
    return int(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--mode"]:
        _, _, mode, share, *words = sys.argv
        first, jobs = (int(n) for n in share.split("/"))
        mine = [m for m in chosen(words) if m.mode == mode]
        raise SystemExit(int(run_mode(mine[first::jobs], mode)))
    raise SystemExit(main(sys.argv[1:]))
