"""The catalogue of mutants does not rot: every edit can be made, and every killer exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from mutants.nursery import PACKAGE, ROOT
from mutants.runner import CATALOGUE, catalogue

KERNELS = ["augmentations", "dynamics", "energies", "likelihoods", "regions", "weights", "model"]


def test_every_edit_can_be_made_in_one_place():
    """``old`` occurs exactly once, and what comes out is Python that differs."""
    as_it_is = cache(lambda source: ast.dump(ast.parse(source)))
    for m in catalogue():
        source = (ROOT / PACKAGE / m.file).read_text()
        assert source.count(m.old) == 1, f"{m.file}: {m.old!r} occurs {source.count(m.old)} times"
        assert ast.dump(ast.parse(m.text())) != as_it_is(source), m.name


def test_every_killer_exists():
    """Each names a test file and, where it names one, a test in it."""
    for m in catalogue():
        file, _, name = m.killer.partition("::")
        text = (ROOT / file).read_text()
        name = name.partition("[")[0]
        assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), m.killer


def test_every_mutant_is_listed_once():
    """No two make the same edit."""
    edits = [(m.file, m.old, m.new) for m in catalogue()]
    assert len(set(edits)) == len(edits)


@pytest.mark.parametrize("folder", KERNELS)
def test_every_folder_has_mutants(folder):
    """Every file with kernels is in the catalogue."""
    listed = {m.file for m in catalogue()}
    for path in sorted((ROOT / PACKAGE / folder).glob("*.py")):
        if folder != "model" and re.search(
            r"^@kernel|\.register\(", path.read_text(), re.MULTILINE
        ):
            assert f"{folder}/{path.name}" in listed, path.name
    assert any(file.startswith(folder + "/") for file in listed)
    assert Path(CATALOGUE).exists()
