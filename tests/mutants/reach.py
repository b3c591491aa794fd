"""Which tests run a line, as recorded by coverage in one run of the suite.

    python tests/mutants/reach.py FOLDER [PYTEST ARGS]     record into a folder

Kernels are compiled, so only lines of the recogniser and of the step are seen.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from nursery import PACKAGE, ROOT

APART = ("tests/docs/", "tests/test_examples.py")
"""Tests of what is not in the copies in which edits are made."""


class Reach:
    """Tests by line, the quickest first."""

    def __init__(self, folder: str) -> None:
        """Read what was recorded."""
        # Comes with pytest-cov, which nothing else here needs.
        from coverage import CoverageData

        self._data = CoverageData(str(Path(folder) / "coverage"))
        self._data.read()
        self._seconds = _durations(Path(folder) / "results.xml")
        self._files = {
            path.rpartition(PACKAGE + "/")[2]: path for path in self._data.measured_files()
        }

    def tests(self, file: str, line: int, budget: float) -> list[str]:
        """Return tests that run a line and together take no more than so many seconds."""
        path = self._files.get(file)
        if path is None:
            return []
        contexts = self._data.contexts_by_lineno(path).get(line, [])
        names = {c.partition("|")[0] for c in contexts} - {""}
        names = {n for n in names if not n.startswith(APART)}
        chosen, total = list[str](), 0.0
        for name in sorted(names, key=lambda n: self._seconds.get(n, 0.0)):
            total += self._seconds.get(name, 0.0)
            if chosen and total > budget:
                break
            chosen.append(name)
        return chosen


def _durations(results: Path) -> dict[str, float]:
    """Return the seconds of each test, by its name on the command line."""
    seconds = {}
    for case in ElementTree.parse(results).iter("testcase"):
        file = case.get("classname", "").replace(".", "/") + ".py"
        seconds[f"{file}::{case.get('name')}"] = float(case.get("time", 0))
    return seconds


def record(folder: str, arguments: list[str]) -> int:
    """Run the suite and keep which test ran which line."""
    target = Path(folder).resolve()
    target.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist=worksteal"]
    command += [f"--cov={PACKAGE}", "--cov-context=test", "--cov-report="]
    command += [f"--junitxml={target / 'results.xml'}", *arguments]
    env = {**os.environ, "COVERAGE_FILE": str(target / "coverage")}
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(record(sys.argv[1], sys.argv[2:]))
