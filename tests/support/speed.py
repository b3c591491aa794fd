"""Which parameters of a test belong to the fast suite."""

import pytest


def slow_but(fast, names):
    """Return names as parameters of a test, slow ones but for those in ``fast``.

    A name may be a tuple, for a test of several parameters.
    """
    return [name if name in fast else _slow(name) for name in names]


def _slow(name):
    values = name if isinstance(name, tuple) else (name,)
    return pytest.param(*values, marks=pytest.mark.slow)
