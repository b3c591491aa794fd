"""Tables and comparisons of the benchmarks."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from effective import effective_size, weighted_size, worst  # noqa: E402
from everything import PARTS  # noqa: E402
from field import agreement, line_of, read_lines, write_lines  # noqa: E402
from field_picture import field_picture, relative_speeds  # noqa: E402
from field_table import tables  # noqa: E402
from publish import DOCS, fill, part_text  # noqa: E402
from selection_table import Score, read_scores, score_table, write_scores  # noqa: E402
from summary_picture import margin, summary_picture  # noqa: E402
from table import Row, markdown, merged, read_rows, write_rows  # noqa: E402

FASTER = Row("faster", "×", 2.0, True, [3.0, 1.0, 4.0], ["a", "b", "c"], [2.0, 0.5, 3.0], "abc")
SMALLER = Row("smaller", " MB", 300.0, False, [400.0], [""], None, "abc")


def result(mean, error, size):
    kind = {"mean": [mean, 0.5], "error": [error, error], "size": [size, 2 * size]}
    return {"kinds": {"indicators": kind}, "draws": 100, "seconds": 2.0, "whole": 4.0}


def test_rows_are_read_as_written(tmp_path):
    """Every repeat, with and without compilation, survives the CSV file."""
    write_rows([FASTER, SMALLER], tmp_path / "part.csv")
    first, second = read_rows(tmp_path / "part.csv")
    assert first == FASTER
    assert second == SMALLER._replace(whole=[])
    assert read_rows(tmp_path / "none.csv") == []


def test_a_row_shows_median_range_target_and_whether_it_is_met():
    """A target is met by the median, on the side that the row names."""
    header, _, first, second = markdown([FASTER, SMALLER]).splitlines()
    assert "with compilation" in header
    assert first == "| faster | 3.00× | 1.00 to 4.00 | 2.00× | ≥ 2× | yes | a |"
    assert second == "| smaller | 400 MB | 400 to 400 | – | ≤ 300 MB | **no** |  |"


def test_a_run_of_some_rows_keeps_the_others():
    """New rows take the place of those of the same name."""
    newer = FASTER._replace(commit="def")
    other = FASTER._replace(name="other")
    assert merged([FASTER, SMALLER], [newer, other]) == [newer, SMALLER, other]


def test_margin_is_above_one_if_the_target_is_met(tmp_path):
    """Both kinds of targets point to the right, and rows that miss theirs are drawn, too."""
    assert margin(FASTER, 3.0) == 1.5
    assert margin(SMALLER, 400.0) == 0.75
    summary_picture([FASTER, SMALLER], tmp_path / "summary.png")
    assert (tmp_path / "summary.png").stat().st_size > 0


def test_weights_of_one_change_nothing():
    """Without importance weights the effective size is the usual one."""
    noise = np.random.default_rng(1).normal(size=(4000, 3))
    series = np.cumsum(noise, axis=0)[::40] + noise[::40]
    mean, variance, size = weighted_size(series, np.full(100, 7.0))
    np.testing.assert_allclose(mean, series.mean(axis=0))
    np.testing.assert_allclose(variance, series.var(axis=0))
    np.testing.assert_allclose(size, effective_size(series - series.mean(axis=0)))


def test_what_never_moved_is_the_worst():
    """A constant column counts as less than one draw, whatever its kind."""
    moving = np.random.default_rng(1).normal(size=(100, 2))
    size, kind = worst({"indicators": np.ones((100, 1)), "energy": moving})
    assert kind == "indicators"
    assert size < 1


def test_agreement_needs_enough_draws_and_equal_means():
    """Means within their errors agree, means ten errors apart do not, few draws say nothing."""
    reference = result(0.5, 0.01, 500.0)
    assert agreement(result(0.52, 0.01, 500.0), reference)[0] == "agrees"
    assert agreement(result(0.65, 0.01, 500.0), reference)[0] == "differs"
    assert agreement(result(0.65, 0.01, 5.0), reference)[0].startswith("too few")


def test_field_shows_losses_and_peers_without_a_result(tmp_path):
    """Faster peers come first, and each peer has a row whatever became of it."""
    reference = result(0.5, 0.01, 500.0)
    found = {"ExactBinaryHMC": reference, "millipede": result(0.5, 0.01, 1000.0)}
    found["PyMC default"] = "did not finish in 75 s"
    lines = [line_of("case", peer, 1, r, reference) for peer, r in found.items()]
    write_lines(lines, tmp_path / "field.csv")
    assert read_lines(tmp_path / "field.csv") == lines
    rows = tables(lines).splitlines()[4:]
    assert [row.split(" | ")[0] for row in rows] == [
        "| millipede", "| **ExactBinaryHMC**", "| PyMC default",
    ]  # fmt: skip
    assert "**0.50×**" in rows[0]
    assert "did not finish" in rows[2]
    assert relative_speeds(lines, "ExactBinaryHMC") == {("case", "millipede"): 2.0}
    field_picture(lines, "ExactBinaryHMC", tmp_path / "field.png")
    assert (tmp_path / "field.png").stat().st_size > 0


def test_scores_are_read_as_written(tmp_path):
    """Scores survive the CSV file, and the table has a row for each method."""
    scores = [Score("data", 1, method, 2.0, 8, 10, 1, 0.9, 0.5, "abc") for method in "ab"]
    write_scores(scores, tmp_path / "scores.csv")
    assert read_scores(tmp_path / "scores.csv") == scores
    assert len(score_table(scores).splitlines()) == 4


def test_fill_replaces_what_is_between_the_markers():
    """Filling twice is filling once, and a page without the markers is an error."""
    page = "before\n<!-- a -->\nold\n<!-- end of a -->\nafter"
    once = fill(page, {"a": r"new \1", "b": ""})
    assert once == "before\n<!-- a -->\n\nnew \\1\n\n<!-- end of a -->\nafter"
    assert fill(once, {"a": r"new \1"}) == once
    with pytest.raises(ValueError, match="has no <!-- c -->"):
        fill(page, {"c": "text"})


@pytest.mark.parametrize("part", PARTS)
def test_page_shows_the_results_that_are_kept(part):
    """The tables of docs/benchmarks.md are those of the CSV files in benchmarks/results."""
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert f"<!-- {part} -->" in page
    assert part_text(BENCHMARKS / "results", part) in page
