"""Collect the results of all parts: an overview, the summary picture, and docs/benchmarks.md."""

import re
import shutil
from pathlib import Path

from field import REFERENCE, read_lines
from field_picture import field_picture
from field_table import tables
from provenance import caption, read_record
from selection_table import read_scores, score_table
from summary_picture import summary_picture
from table import markdown, read_rows

DOCS = Path(__file__).parent.parent / "docs"
FORMS = {
    "field": lambda path: tables(read_lines(path)),
    "selection": lambda path: score_table(read_scores(path)),
}
"""How the CSV file of a part is shown, where it has no targets."""


def part_text(folder, name):
    """Return the table of a part and a line about its run, or nothing."""
    path = Path(folder) / f"{name}.csv"
    if not path.exists():
        return ""
    form = FORMS.get(name, lambda path: markdown(read_rows(path)))
    return f"{form(path)}\n\n{caption(read_record(folder, name))}"


def bars(folder, parts):
    """Return every row with a target, of all parts but the paper's claims."""
    names = [name for name in parts if name not in (*FORMS, "paper")]
    return [row for name in names for row in read_rows(Path(folder) / f"{name}.csv")]


def write_overview(folder, parts):
    """Write README.md and summary.png, with all parts that there are, and return the path."""
    texts = {name: part_text(folder, name) for name in parts}
    rows = bars(folder, parts)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if rows:
        summary_picture(rows, folder / "summary.png")
    lines = read_lines(folder / "field.csv")
    if lines:
        field_picture(lines, REFERENCE, folder / "field.png")
    sections = [f"## {name}\n\n{text}\n" for name, text in texts.items() if text]
    path = folder / "README.md"
    path.write_text("# Results\n\n" + "\n".join(sections), encoding="utf-8")
    return path


def fill(page, texts):
    """Return the page with each text between its markers, where there is a text."""
    for name, text in texts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if not text:
            continue
        pattern = re.compile(f"{begin}\n.*?{end}", re.DOTALL)
        if not pattern.search(page):
            raise ValueError(f"docs/benchmarks.md has no {begin} … {end}")
        page = pattern.sub(lambda _, t=text, b=begin, e=end: f"{b}\n\n{t}\n\n{e}", page)
    return page


def publish(folder, parts):
    """Write the tables into docs/benchmarks.md, and copy the pictures."""
    page = DOCS / "benchmarks.md"
    texts = {name: part_text(folder, name) for name in parts}
    if texts["field"]:
        title = "Speed of every sampler on every case, beside ours"
        texts["field"] = f"![{title}](figures/field.png)\n\n{texts['field']}"
    page.write_text(fill(page.read_text(encoding="utf-8"), texts), encoding="utf-8")
    for picture in Path(folder).glob("*.png"):
        name = "benchmarks.png" if picture.name == "summary.png" else picture.name
        shutil.copy(picture, DOCS / "figures" / name)
