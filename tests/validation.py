"""The slow suite: every part in turn, and a table of how each ended.

    python tests/validation.py [PART …] [-- ARGUMENTS OF THE LAST PART]

Parts are slow (tests marked slow), mutants, fuzz and calibration; all of them by default. Tables
that a part prints take the place of the old ones in docs/validation.md.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation.md"
FIGURE = ROOT / "docs" / "figures" / "validation_ranks.png"
PYTHON = sys.executable
PARTS = {
    "slow": [PYTHON, "-m", "pytest", "-q", "-m", "slow", "-n", "auto", "--dist=worksteal"],
    "mutants": [PYTHON, "tests/mutants/runner.py"],
    "fuzz": [PYTHON, "-m", "tests.fuzz", "--models", "2000", "--seed", "1"],
    "calibration": [PYTHON, "tests/calibration/check.py", "--figure", str(FIGURE)],
}


class Ended(NamedTuple):
    """How a part ended."""

    part: str
    code: int
    seconds: float
    closing: str


def run(part: str, arguments: list[str]) -> Ended:
    """Run a part, show what it prints, and put its table into the page."""
    print(f"\n=== {part}", flush=True)
    start, lines = time.perf_counter(), list[str]()
    command = [*PARTS[part], *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    table = [line for line in lines if line.startswith("|")]
    if table and not arguments:
        write_section(part, "\n".join(table))
    closing = next((line for line in reversed(lines) if line and not line.startswith("|")), "")
    return Ended(part, process.returncode, time.perf_counter() - start, closing)


def write_section(part: str, text: str) -> None:
    """Replace what stands between the marks of a part in the page."""
    first, last = f"<!-- {part} -->\n", f"<!-- end of {part} -->"
    page = PAGE.read_text()
    before, found, rest = page.partition(first)
    _, closed, after = rest.partition(last)
    if found and closed:
        PAGE.write_text(f"{before}{first}{text}\n{last}{after}")


def main(words: list[str]) -> int:
    """Run the parts named, or all, and print the summary."""
    arguments: list[str] = []
    if "--" in words:
        words, arguments = words[: words.index("--")], words[words.index("--") + 1 :]
    unknown = [word for word in words if word not in PARTS]
    if unknown:
        raise SystemExit(f"Unknown part {unknown[0]!r}: use any of {', '.join(PARTS)}.")
    parts = words or [p for p in PARTS if p != "fuzz" or (ROOT / "tests" / "fuzz").exists()]
    ended = [run(part, arguments if part == parts[-1] else []) for part in parts]
    print("\n=== summary")
    print(f"{'part':<14}{'result':<9}{'seconds':>8}  last line")
    for e in ended:
        result = "passed" if e.code == 0 else "FAILED"
        print(f"{e.part:<14}{result:<9}{e.seconds:>8.0f}  {e.closing}")
    return int(any(e.code for e in ended))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
