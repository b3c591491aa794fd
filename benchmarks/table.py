"""Rows of measurements: kept as CSV with every repeat, shown as a Markdown table."""

import csv
from pathlib import Path
from statistics import median
from typing import NamedTuple

HEADER = (
    "benchmark", "median", "range", "with compilation", "target", "met",
    "details of the median run",
)  # fmt: skip
COLUMNS = (
    "benchmark", "unit", "target", "at_least", "repeat", "value", "with_compilation", "details",
    "commit",
)  # fmt: skip


class Row(NamedTuple):
    """One benchmark: a number for each seed, and the target for their median.

    ``details[k]`` are the measurements that ``values[k]`` was computed from. ``whole[k]``, where
    it makes sense, is the same with compilation and warm-up counted as time.
    """

    name: str
    unit: str
    target: float
    at_least: bool
    values: list[float]
    details: list[str]
    whole: list[float] | None = None
    commit: str = ""

    def met(self):
        middle = median(self.values)
        return middle >= self.target if self.at_least else middle <= self.target

    def cells(self):
        middle = median(self.values)
        nearest = min(range(len(self.values)), key=lambda k: abs(self.values[k] - middle))
        return (
            self.name,
            number(middle) + self.unit,
            f"{number(min(self.values))} to {number(max(self.values))}",
            number(median(self.whole)) + self.unit if self.whole else "–",
            f"{'≥' if self.at_least else '≤'} {self.target:g}{self.unit}",
            "yes" if self.met() else "**no**",
            self.details[nearest],
        )


def number(value):
    """Format with three significant digits, without an exponent; a dash for no number."""
    size = abs(value)
    if not size < float("inf"):
        return "–"
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 or size == 0 else 3
    return f"{value:.{digits}f}"


def grid(header, lines):
    """Return a Markdown table of cells."""
    lines = [header, ("---",) * len(header), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def markdown(rows):
    """Return a Markdown table of rows."""
    return grid(HEADER, (row.cells() for row in rows))


def write_rows(rows, path):
    """Write every single measurement."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in rows:
            whole = row.whole or [None] * len(row.values)
            for k, value in enumerate(row.values):
                fixed = [row.name, row.unit, row.target, row.at_least]
                with_compilation = "" if whole[k] is None else f"{whole[k]:.6g}"
                measured = [k, f"{value:.6g}", with_compilation, row.details[k], row.commit]
                writer.writerow([*fixed, *measured])


def read_rows(path):
    """Return what ``write_rows`` wrote, or nothing if there is no such file."""
    if not Path(path).exists():
        return []
    found = {}
    with open(path, newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            at_least = line["at_least"] == "True"
            row = found.setdefault(
                line["benchmark"],
                Row(line["benchmark"], line["unit"], float(line["target"]), at_least,
                    [], [], [], line["commit"]),
            )  # fmt: skip
            row.values.append(float(line["value"]))
            row.details.append(line["details"])
            if line["with_compilation"]:
                row.whole.append(float(line["with_compilation"]))
    return list(found.values())


def merged(old, new):
    """Return the old rows, with those of the same name replaced, and the rest of the new ones."""
    names = [row.name for row in old]
    newest = {row.name: row for row in new}
    return [newest.get(row.name, row) for row in old] + [r for r in new if r.name not in names]
