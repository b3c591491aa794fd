"""Copies of the project with one line changed, in which a test is run.

The libraries are imported once. Each copy gets a child of this process, which finds them there and
imports only the package itself, so that most mutants take seconds.
"""

import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "pymc_exact_hmc"
PARTS = [PACKAGE, "tests", "examples"]
LONGEST = 300
"""Seconds after which a test that does not end counts as failed."""

PASSED, FAILED, ENDLESS = "passed", "failed", "did not end"
_OUTCOMES = {0: PASSED, 1: FAILED}


class Outcome(NamedTuple):
    """How a test ended, after how many seconds, and what it printed."""

    result: str
    seconds: float
    output: str


def warm_up() -> None:
    """Import what every child will need."""
    import arviz  # noqa: F401
    import hypothesis  # noqa: F401
    import numba  # noqa: F401
    import pymc  # noqa: F401
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401


def run_in_copy(
    file: str, text: str | None, tests: list[str], *, keep_caches: bool, longest: float = LONGEST
) -> Outcome:
    """Run tests in a copy of the project in which ``file`` of the package reads ``text``.

    ``keep_caches`` lets the copy use machine code that was compiled for the original, as long as
    the file is not one that is compiled.
    """
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        ignore = None if keep_caches else shutil.ignore_patterns("*.nbi", "*.nbc")
        for part in PARTS:
            shutil.copytree(ROOT / part, copy / part, ignore=ignore)
        shutil.copy2(ROOT / "pyproject.toml", copy)
        if text is not None:
            (copy / PACKAGE / file).write_text(text)
        return _run_child(copy, tests, longest)


def _run_child(copy: Path, tests: list[str], longest: float) -> Outcome:
    start, log = time.perf_counter(), copy / "output.txt"
    child = os.fork()
    if child == 0:
        os.setsid()
        _become(copy, log, tests)
    status = _wait(child, start + longest)
    seconds = time.perf_counter() - start
    result = ENDLESS if status is None else _OUTCOMES.get(status, f"broken ({status})")
    return Outcome(result, seconds, log.read_text(errors="replace"))


def _become(copy: Path, log: Path, tests: list[str]) -> None:
    """Run pytest in the copy and end this process with its exit code."""
    import pytest

    os.chdir(copy)
    with log.open("w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        sys.path = [str(copy), *[p for p in sys.path if Path(p or ".").resolve() != ROOT]]
        code = 3
        try:
            options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line"]
            # Plain Python warns where whole numbers wrap around, as random streams mean to.
            options += ["-W", "ignore::RuntimeWarning"]
            # Plugins came with the libraries.
            options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
            code = int(pytest.main([*options, *tests]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _wait(child: int, deadline: float) -> int | None:
    """Return the exit code of a child, or nothing if it had to be ended."""
    while time.perf_counter() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
