"""Try an installed wheel, and look into wheel and sdist: python -I try_package.py WHEEL SDIST."""

import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pymc as pm

import pymc_exact_hmc
from pymc_exact_hmc import ExactBinaryHMC, explain

NEEDED = ["LICENSE", "README.md", "CHANGELOG.md", "run.py", "pyproject.toml", "docs/start.md",
          "tests/conftest.py", "examples/spike_and_slab.py", "pymc_exact_hmc/py.typed"]  # fmt: skip


def main(wheel, sdist):
    """Check where the package is, its version and its files, and sample a small model."""
    folder = Path(pymc_exact_hmc.__file__).parent
    check("site-packages" in folder.parts, f"imported from {folder}, not from the environment")
    check((folder / "py.typed").exists(), "py.typed is not installed")
    number = pymc_exact_hmc.__version__
    check(version("pymc-exact-hmc") == number, "the version of the metadata is another one")
    check(f"-{number}-" in Path(wheel).name, "the version of the wheel is another one")

    inside = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in inside}
    check(tops == {"pymc_exact_hmc", f"pymc_exact_hmc-{number}.dist-info"}, f"wheel holds {tops}")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = [name for name in NEEDED if name not in names]
    check(not missing, f"the sdist lacks {missing}")
    stray = [name for name in names if name.startswith((".venv", "figures", "docs/_build"))]
    check(not stray, f"the sdist holds {stray[:3]}")

    with pm.Model() as model:
        x = pm.Bernoulli("x", 0.3, shape=6)
        pm.Potential("neighbours", 0.5 * (x[1:] * x[:-1]).sum())
        print(explain(model))
        short = {"tune": 100, "chains": 2, "cores": 1, "progressbar": False, "random_seed": 1}
        step = ExactBinaryHMC()
        idata = pm.sample(200, step=step, compute_convergence_checks=False, **short)
    share = float(idata.posterior["x"].mean())
    check(0.2 < share < 0.6, f"the draws are off: {share}")
    print(f"pymc-exact-hmc {number} with PyMC {pm.__version__}: wheel and sdist are in order")


def check(holds, words):
    """Stop with a sentence if something does not hold."""
    if not holds:
        raise SystemExit(words)


if __name__ == "__main__":
    main(*sys.argv[1:])
