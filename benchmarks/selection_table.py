"""Scores of selection: kept as CSV, shown as a Markdown table."""

import csv
from pathlib import Path
from statistics import median
from typing import NamedTuple

from table import grid, number

HEADER = (
    "data", "method", "seconds, all counted", "found of those that matter", "chosen by mistake",
    "area under the curve", "error of the coefficients",
)  # fmt: skip


class Score(NamedTuple):
    """How well one method chose, with one seed."""

    data: str
    seed: int
    method: str
    seconds: float
    found: int
    matter: int
    mistakes: int
    area: float
    error: float
    commit: str


def write_scores(scores, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Score._fields)
        writer.writerows(scores)


def read_scores(path):
    kinds = Score.__annotations__
    with Path(path).open(newline="", encoding="utf-8") as file:
        return [Score(**{k: kinds[k](v) for k, v in row.items()}) for row in csv.DictReader(file)]


def score_table(scores):
    """Return a row for each method on each kind of data, with medians over the seeds."""
    keys = dict.fromkeys((score.data, score.method) for score in scores)
    rows = []
    for data, method in keys:
        own = [s for s in scores if (s.data, s.method) == (data, method)]
        rows.append((
            data, method, number(median(s.seconds for s in own)),
            f"{median(s.found for s in own):g} of {own[0].matter}",
            f"{median(s.mistakes for s in own):g}", f"{median(s.area for s in own):.3f}",
            f"{median(s.error for s in own):.3g}",
        ))  # fmt: skip
    return grid(HEADER, rows)
