"""Every code block of the README and of the documentation runs as it is written."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pymc as pm
import pytest
from blocks import blocks, run_page

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text()]
DRAWS = 40


@pytest.fixture
def _short_runs(monkeypatch):
    """Let pm.sample take a few draws, whatever the page asks for."""
    sample = pm.sample

    def short(draws=None, **options):
        cut = {"tune": DRAWS, "chains": 2, "cores": 1, "progressbar": False}
        checks = {"compute_convergence_checks": False}
        return sample(DRAWS, **(options | cut | checks))

    monkeypatch.setattr(pm, "sample", short)
    monkeypatch.chdir(ROOT)
    yield
    plt.close("all")


# Slow in sum: continuous integration runs them in a part of its own.
@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
@pytest.mark.usefixtures("_short_runs")
def test_python_blocks_run(page):
    """The blocks run in order, and print what the page says they print."""
    for block, printed in run_page(page.read_text(), page.name):
        assert printed.strip() == block.text.strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_fences_are_known(page):
    """Blocks are of kinds that are checked, or hold no code."""
    known = {"python", "output", "console", "text"}
    unknown = {block.language for block in blocks(page.read_text())} - known
    assert not unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_run_py_exist(page):
    """Commands in the text and in console blocks name commands and examples that exist."""
    import run

    for words in re.findall(r"python3 run\.py ([^`\n#]+)", page.read_text()):
        command, *rest = words.split()
        if command.isupper():
            continue
        assert command in run.COMMANDS
        if command == "example" and rest and not rest[0].startswith("-") and rest[0] != "NAME":
            assert (ROOT / "examples" / f"{rest[0]}.py").exists()


@pytest.fixture(autouse=True)
def _find_run(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
