"""Everything the package says to a user is explained in docs/refusals.md."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pymc_exact_hmc"
ERRORS = {"ValueError", "SamplingError", "UnreadableError", "EmptyRegionError",
          "SingularPrecisionError", "UntranslatableError"}  # fmt: skip
SPEAKING = ["advice.py", "assembly.py", "blocks.py", "model"]
"""Files in which strings of several words are sentences for the user."""
OTHER_STRINGS = {
    # parts of sentences, and openings that are looked for
    "… stayed …", "; and … more pairs", " and … more", "… and … … (…)", "the predictor of … …",
    "its prior is not", "it is a parameter", "it enters …, which is neither",
    "which is neither",
    "the scale of (.+) depends on it", "an entry depends on … indicators together",
    "…, as a polynomial of degree …", "…, not as a polynomial that is affine in each",
    "one indicator per entry", "few indicators per entry", "the transform of ",
    "the bounds of the weights", "the order of the weights", "the linear predictor", " + ",
}  # fmt: skip


def sentence(node):
    """Return a string of the source, with … for what is put in at run time."""
    if isinstance(node, ast.JoinedStr):
        return "".join(x.value if isinstance(x, ast.Constant) else "…" for x in node.values)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def strings(tree):
    """Return the strings of a syntax tree that are neither docstrings nor parts of others."""
    inner = {
        id(part) for x in ast.walk(tree) if isinstance(x, ast.JoinedStr) for part in ast.walk(x)
    } - {id(x) for x in ast.walk(tree) if isinstance(x, ast.JoinedStr)}
    documents = {id(x.value) for x in ast.walk(tree) if isinstance(x, ast.Expr)}
    return [sentence(x) for x in ast.walk(tree) if id(x) not in inner | documents]


def raised(tree):
    """Return the sentences of the errors that are raised."""
    for x in ast.walk(tree):
        call = x.exc if isinstance(x, ast.Raise) else None
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ERRORS:
            yield from strings(call)


def said():
    """Return all sentences for the user, by file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        name = path.relative_to(PACKAGE)
        speaks = name.parts[0] in SPEAKING
        words = strings(tree) if speaks else list(raised(tree))
        few = 2 if speaks else 1
        sentences = {x for x in words if x.count(" ") >= few and re.search(r"[a-z]{3}", x)}
        found[str(name)] = sentences - OTHER_STRINGS
    return {name: sentences for name, sentences in found.items() if sentences}


def plain(text):
    return re.sub(r"\s+", " ", text.replace("`", ""))


PAGE = plain((ROOT / "docs" / "refusals.md").read_text())


@pytest.mark.parametrize(("name", "sentences"), said().items(), ids=list(said()))
def test_every_refusal_is_explained(name, sentences):
    """Each sentence of the source is in the page, word for word, with … for names."""
    missing = sorted(x for x in sentences if plain(x).strip() not in PAGE)
    assert not missing, f"docs/refusals.md does not explain what {name} says: {missing}"


def test_the_page_says_nothing_else():
    """Each sentence in the page is still one of the source."""
    source = [plain(x).strip() for words in said().values() for x in words]
    rows = re.findall(r"^\| (.+?) \| .* \|$", (ROOT / "docs" / "refusals.md").read_text(), re.M)
    rows = [x for x in rows if x not in ("it says", "---")]
    parts = [plain(x) for x in rows]
    joined = re.compile(r"^(the predictor of … |an entry depends on … indicators together)")
    stale = [x for x in parts if x not in source and not joined.match(x)]
    assert not stale, f"docs/refusals.md explains what is not said any more: {stale}"
