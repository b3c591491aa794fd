import os

# On its first import of a day ArviZ 0.23 writes a file, which fails when two test workers do it
# at once. This file is read before the workers start.
import arviz  # noqa: F401
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# The same cases in every run; the first one pays for compilation, so there is no deadline.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None, print_blob=True)
settings.load_profile("fixed")
