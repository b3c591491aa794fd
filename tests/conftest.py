import os

# On its first import of a day ArviZ 0.23 writes a file, which fails when two test workers do it
# at once. This file is read before the workers start.
import arviz  # noqa: F401
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# Folders whose tests compile the kernels of the weights, which take half a minute each. They come
# last, so that of two workers one compiles them while the other does the rest.
LAST = ("model", "fuzz", "step", "weights", "likelihoods", "endurance")


def pytest_collection_modifyitems(items):
    def rank(item):
        folder = item.path.parent.name
        return LAST.index(folder) + 1 if folder in LAST else 0

    items.sort(key=rank)


# The same cases in every run; the first one pays for compilation, so there is no deadline.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None, print_blob=True)
settings.load_profile("fixed")
