"""Which parameters of a test belong to the fast suite."""

import pytest


def slow_but(fast, names):
    """Return names as parameters of a test, slow ones but for those in ``fast``."""
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in names]
