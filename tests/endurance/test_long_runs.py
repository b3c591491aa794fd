"""No drift and no growth, however many calls: a few thousand here, a million when asked for."""

import sys

import pytest
from long_runs import RUNS, memory

FEW, MANY = 4_000, 1_000_000


def check(name, calls):
    run = RUNS[name]()
    run.advance(calls // 10)
    before = memory() if sys.platform == "linux" else 0.0
    for _ in range(9):
        run.advance(calls // 10)
        assert run.error() < run.tolerance
    if sys.platform == "linux":
        # A page or two for whatever Python itself allocates.
        assert memory() - before < 4.0


@pytest.mark.parametrize("name", RUNS)
def test_thousands_of_calls(name):
    """Energy error, factor error and bounds hold, and memory does not grow."""
    check(name, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_million_calls(name):
    """The same for 10⁶ calls."""
    check(name, MANY)
