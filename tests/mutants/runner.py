"""Plant the mutants of the catalogue one by one and see that each is killed by its test.

    python tests/mutants/runner.py [WORDS …]     only those whose name, kind or file holds a word

Prints a table and exits with 1 if a mutant survived or a test fails without one.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from nursery import ENDLESS, FAILED, PACKAGE, PASSED, ROOT, Outcome, run_in_copy, warm_up

CATALOGUE = Path(__file__).with_name("catalogue.toml")
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


def controls(mutants: list[Mutant], mode: str) -> list[str]:
    """Return the tests that fail without a mutant, in this mode."""
    tests = sorted({m.killer for m in mutants})
    outcome = run_in_copy("", None, tests, keep_caches=mode == "kept")
    if outcome.result == PASSED:
        return []
    print(outcome.output, file=sys.stderr)
    return [f"without a mutant ({mode}): {outcome.result}"]


def row(m: Mutant, outcome: Outcome) -> str:
    """Return a line of the table."""
    killed = outcome.result in (FAILED, ENDLESS)
    verdict = "killed" if killed else f"SURVIVED: {outcome.result}"
    cells = [m.file, m.kind, m.name, f"`{m.killer.removeprefix('tests/')}`", verdict]
    return f"| {' | '.join(cells)} | {outcome.seconds:.0f} |"


def run_mode(mutants: list[Mutant], mode: str, out: Path) -> int:
    """Run the mutants of one mode in this process; append rows to ``out``; return failures."""
    warm_up()
    failures = controls(mutants, mode)
    rows = list(failures)
    for m in mutants:
        outcome = run_in_copy(m.file, m.text(), [m.killer], keep_caches=mode == "kept")
        line = row(m, outcome)
        print(line, flush=True)
        if "SURVIVED" in line:
            failures.append(line)
            print(outcome.output[-2000:], file=sys.stderr)
        rows.append(line)
    with out.open("a") as file:
        file.write("".join(line + "\n" for line in rows))
    return len(failures)


def main(words: list[str]) -> int:
    """Run each mode in a process of its own, because numba must know before it is imported."""
    print("| file | kind | mutant | killed by | verdict | seconds |\n|---|---|---|---|---|---|")
    mutants, failed = chosen(words), 0
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            if any(m.mode == mode for m in mutants):
                env = {**os.environ, "NUMBA_DISABLE_JIT": "1" if mode == "plain" else "0"}
                command = [sys.executable, __file__, "--mode", mode, f"{folder}/rows", *words]
                failed |= subprocess.run(command, env=env, check=False).returncode
    print(f"{len(mutants)} mutants, {'not all' if failed else 'all'} killed")
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] == ["--mode"]:
        _, _, mode, out, *words = sys.argv
        mine = [m for m in chosen(words) if m.mode == mode]
        raise SystemExit(1 if run_mode(mine, mode, Path(out)) else 0)
    raise SystemExit(main(sys.argv[1:]))
