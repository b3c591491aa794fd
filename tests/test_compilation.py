"""Compiled and plain Python give the same; a disk cache is not used after any edit."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pymc_exact_hmc
from pymc_exact_hmc.compilation import COMPILED, bind, compiled_on_demand
from pymc_exact_hmc.dynamics.transition import fresh_log_density
from pymc_exact_hmc.energies import Fields

PACKAGE = Path(pymc_exact_hmc.__file__).parent
TESTS = Path(__file__).parent

MOVES = """
import json, sys
import numpy as np
from support.cases import callback, dense
from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.dynamics.transition import fresh_log_density, make_workspace, transition
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.travel_time import parse_travel_time

compiled = sys.argv[1] == "compiled"
cases = [dense(4, 1), callback(4, 3, compiled=compiled)]
ends = []
for case in cases:
    for law in AUGMENTATIONS.values():
        rng, s = np.random.default_rng(9), np.zeros(4, np.int8)
        for _ in range(5):
            time, n_hits = parse_travel_time(4.5, law).draw(rng, law, 4, 2)
            fresh_log_density(case.energy, s)
            transition(law, case.energy, s, seed_words(rng), time, n_hits,
                       make_workspace(4), empty_tally(4))
            ends.append(s.tolist())
print(json.dumps(ends))
"""

DROP = """
import numpy as np
from pymc_exact_hmc.dynamics.transition import fresh_log_density
from pymc_exact_hmc.energies import Fields
print(fresh_log_density(Fields(np.ones(3)), np.ones(3, np.int8)))
"""


def run(code, *args, path=(PACKAGE.parent, TESTS), **environment):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), **environment}
    command = [sys.executable, "-W", "ignore", "-c", code, *args]
    # Python looks for modules in the working directory first.
    done = subprocess.run(
        command, env=env, cwd=path[0], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_plain_python_makes_the_same_moves():
    """With NUMBA_DISABLE_JIT=1 the same seeds lead to the same states."""
    compiled = json.loads(run(MOVES, "compiled"))
    plain = json.loads(run(MOVES, "plain", NUMBA_DISABLE_JIT="1"))
    np.testing.assert_array_equal(compiled, plain)


def test_no_stale_cache_after_an_edit_elsewhere(tmp_path):
    """A cached kernel is compiled anew when a file that it calls into has changed."""
    copy = tmp_path / "pymc_exact_hmc"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    fresh = {"path": (tmp_path,), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert float(run(DROP, **fresh)) == pytest.approx(3.0)
    assert list((tmp_path / "cache").rglob("*.nbc")), "nothing was cached"
    source = copy / "energies" / "fields.py"
    text = source.read_text()
    edited = text.replace("total += field_at(", "total += 2.0 * field_at(")
    assert edited != text
    source.write_text(edited)
    assert float(run(DROP, **fresh)) == pytest.approx(6.0)


def test_every_kernel_is_among_what_caches_depend_on():
    """Compiled code is in the files whose edits throw caches away, and calls no others."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        if path.relative_to(PACKAGE).parts[0] in COMPILED:
            used = set(re.findall(r"^ *from pymc_exact_hmc\.(\w+)", text, re.MULTILINE))
            assert used <= {name.removesuffix(".py") for name in COMPILED}, path
        else:
            assert not re.search(r"^@kernel|^@verb|\.register\(", text, re.MULTILINE), path


def test_kernels_that_are_not_called_are_not_compiled():
    """On demand, what is bound is compiled by its first call, and gives the same."""
    arguments = Fields(np.ones(3)), np.ones(3, np.int8)
    kernel = fresh_log_density.__class__(fresh_log_density.py_func)
    with compiled_on_demand():
        later = bind(kernel, *arguments)
    assert not kernel.signatures
    assert later(*arguments) == bind(kernel, *arguments)(*arguments) == 3.0
