"""Pages are up to date, links lead somewhere, and the README is short."""

import inspect
import re
import sys
from pathlib import Path

import pytest

import pymc_exact_hmc
from pymc_exact_hmc import ExactBinaryHMC, catalogue, explain
from pymc_exact_hmc.model.families import SPLIT, split_likelihood
from pymc_exact_hmc.model.forms import Form
from pymc_exact_hmc.stats import MEANING, STATS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
import generate  # noqa: E402

PAGES = sorted(x for folder in (".", "docs", "examples") for x in (ROOT / folder).glob("*.md"))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def read(page):
    """Return a page without its fenced blocks and code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page):
    """Return the anchors of a page's headings, made as GitHub does."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_repository_resolve(page):
    """Each relative link leads to a file, and its anchor to a heading."""
    for link in LINK.findall(read(page)):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link} does not exist"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link} is no heading"


@pytest.mark.parametrize("page", generate.PAGES, ids=lambda page: page.name)
def test_generated_parts_are_up_to_date(page):
    """What is generated from the package's tables is what they say now."""
    text = page.read_text()
    assert generate.with_tables(text) == text, "python3 run.py docs brings it up to date"


def test_every_page_is_in_the_site():
    """Each page is in a table of contents, by name or by pattern."""
    trees = re.findall(r"```{toctree}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
    patterns = [x for tree in trees for x in tree.splitlines() if x and not x.startswith(":")]
    for page in DOCS.glob("*.md"):
        assert page.stem == "index" or any(Path(page.stem).match(x) for x in patterns), page.name


def test_every_public_name_is_documented():
    """Each public name is in the page of the API, and has a docstring."""
    page = (DOCS / "api.md").read_text()
    for name in pymc_exact_hmc.__all__:
        if name != "__version__":
            assert re.search(rf":: pymc_exact_hmc\.{name}\b", page)
            assert inspect.getdoc(getattr(pymc_exact_hmc, name))


def test_every_form_and_kernel_is_in_the_table():
    """The table has each form the recogniser knows, and the README shows it too."""
    assert set(catalogue.FORMS) == set(Form)
    assert len(catalogue.PATHS) == len(Form) + 3
    assert "<!-- generated: recognised -->" in (ROOT / "README.md").read_text()


def test_every_likelihood_is_in_the_table():
    """Each kind that the recogniser splits is listed, and each scheme has its words."""
    import numpy as np
    import pymc as pm

    names = {"pm": pm, "sigma": 1.0, "y": np.ones(3), "covariance": np.eye(3),
             "counts": np.ones(3, int)}  # fmt: skip
    kinds = set()
    for source in generate.LIKELIHOODS:
        with pm.Model():
            likelihood = eval(source, names | {"eta": pm.Normal("eta", shape=3)})
        assert split_likelihood(likelihood) is not None
        kinds.add(type(likelihood.owner.op))
    assert kinds == set(SPLIT)
    shown = generate.likelihoods()
    assert all(words in shown for words in sys.modules[explain.__module__].LATENTS.values())


def test_every_option_and_statistic_has_a_meaning():
    """Each argument of the step is described, and each statistic has a meaning."""
    hidden = {"self", "blocked", "rng", "initial_point", "compile_kwargs"}
    arguments = set(inspect.signature(ExactBinaryHMC.__init__).parameters) - hidden
    described = set(re.findall(r"^`(\w+)=", generate.options(), re.MULTILINE))
    assert described == arguments
    (signature,) = re.findall(r"ExactBinaryHMC\((.*)\)", (DOCS / "api.md").read_text())
    assert set(re.findall(r"(\w+)=", signature)) == arguments
    assert set(STATS) - {"warning"} <= set(MEANING)


def test_the_readme_is_short():
    """A README is read to the end if it has at most 150 lines."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_the_version_has_one_source():
    """The version is written in one place."""
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
    assert pymc_exact_hmc.__version__ not in (ROOT / "pyproject.toml").read_text()


def test_measured_numbers_are_those_of_the_benchmarks():
    """Each number in the README's table is one of docs/benchmarks.md."""
    text = (ROOT / "README.md").read_text()
    measured = re.search(r"<!-- measured.*?-->\n(.*?)<!-- end -->", text, re.DOTALL)[1]
    gains = re.findall(r"\| (\S+×) \|$", measured, re.MULTILINE)
    known = (DOCS / "benchmarks.md").read_text()
    assert gains
    assert [x for x in gains if f" {x} " not in known] == []
