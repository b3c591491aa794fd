import os

# On its first import of a day ArviZ 0.23 writes a file, which fails when two test workers do it
# at once. This file is read before the workers start.
import arviz  # noqa: F401
import pytensor
import pytest
from hypothesis import settings

from pymc_exact_hmc.compilation import compiled_on_demand

os.environ.setdefault("MPLBACKEND", "Agg")

# Folders whose tests compile the kernels of the weights, which take half a minute each. They come
# last, so that of two workers one compiles them while the other does the rest.
LAST = ("corpus", "model", "fuzz", "step", "weights", "likelihoods", "endurance")


def pytest_collection_modifyitems(items):
    def rank(item):
        folder = item.path.parent.name
        return LAST.index(folder) + 1 if folder in LAST else 0

    items.sort(key=rank)


# Folders whose models are many and small: compiling takes longer than all else that is done with
# them, so their graphs are interpreted and kernels that are never called are not compiled.
# Everywhere else, and in the files named, everything is as for a user.
INTERPRETED = ("corpus", "model", "likelihoods", "step", "weights", "tapes")
COMPILED = ("test_contract.py", "test_joint.py", "test_uscrime.py", "test_with_nuts.py")


@pytest.fixture(autouse=True)
def many_models_are_interpreted(request):
    if request.path.parent.name not in INTERPRETED or request.path.name in COMPILED:
        yield
        return
    # Without a note of where each variable was made: a tenth of the time of making a graph.
    flags = {"linker": "py", "cxx": "", "traceback__limit": 0}
    with pytensor.config.change_flags(**flags), compiled_on_demand():
        yield


# The same cases in every run; the first one pays for compilation, so there is no deadline.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None, print_blob=True)
settings.load_profile("fixed")
