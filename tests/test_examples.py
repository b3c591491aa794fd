"""Every example can be shown: a title, checks of its own, a picture, and a row in the table.

That the checks hold is seen where examples are run, on both generations of PyMC.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
TABLE = ROOT / "examples" / "README.md"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def example(request):
    return request.param


def test_has_a_title(example):
    """The docstring is a title on one line, an empty line, and what is asked and learnt."""
    title, empty, *text = ast.get_docstring(ast.parse(example.read_text("utf8"))).splitlines()
    assert title[-1] in ".?"
    assert not empty
    assert len(text) >= 2


def test_checks_its_output(example):
    """What the example claims is asserted."""
    tree = ast.parse(example.read_text("utf8"))
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))


def test_stands_alone(example):
    """A reader copies one file: no example imports another."""
    names = {path.stem for path in EXAMPLES}
    for node in ast.walk(ast.parse(example.read_text("utf8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.module.split(".")[0] not in names
        elif isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & names


def test_has_a_picture(example):
    """The gallery has its picture, small enough for a page of many."""
    picture = (ROOT / "docs" / "figures" / "gallery" / f"{example.stem}.png").read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) <= 60_000


def test_is_in_the_table(example):
    """The table of the examples has a row for it."""
    assert f"| [{example.stem}]({example.name}) |" in TABLE.read_text("utf8")


def test_nothing_else_is_in_the_gallery():
    """No picture and no row is left of an example that is gone."""
    names = {path.stem for path in EXAMPLES}
    assert {path.stem for path in (ROOT / "docs/figures/gallery").glob("*.png")} == names
    rows = TABLE.read_text("utf8").splitlines()
    assert {row.split("]")[0][3:] for row in rows if row.startswith("| [")} == names
