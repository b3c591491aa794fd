"""Collect ratios, and print them as a Markdown table with a target beside each."""

import csv
from pathlib import Path
from statistics import median
from typing import NamedTuple

HEADER = ("benchmark", "median", "range", "target", "met", "details of the median run")


class Row(NamedTuple):
    """One benchmark: a number for each seed, and the target for their median.

    ``details[k]`` are the measurements that ``values[k]`` was computed from.
    """

    name: str
    unit: str
    target: float
    at_least: bool
    values: list[float]
    details: list[str]

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
            f"{'≥' if self.at_least else '≤'} {self.target:g}{self.unit}",
            "yes" if self.met() else "**no**",
            self.details[nearest],
        )


def number(value):
    """Format with three significant digits, without an exponent."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}"


def markdown(rows):
    """Return a Markdown table."""
    lines = [HEADER, ("---",) * len(HEADER), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def save(rows, heading, folder, name):
    """Write NAME.md, and NAME.csv with every single measurement."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(f"{heading}\n\n{markdown(rows)}\n", encoding="utf-8")
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["benchmark", "unit", "target", "at_least", "repeat", "value", "details"])
        for row in rows:
            for k, (value, details) in enumerate(zip(row.values, row.details, strict=True)):
                fixed = [row.name, row.unit.strip(), row.target, row.at_least]
                writer.writerow([*fixed, k, f"{value:.6g}", details])
