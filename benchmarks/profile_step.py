"""Say where the time of a step goes: compiled code, PyTensor's functions, or Python.

    python benchmarks/profile_step.py [--quick] [--only NAME ...]

Prints a Markdown table of µs per step, beside PyMC's recording of the same point. Whole steps
are timed as they are; the parts in a second run in which every call of compiled code and of
PyTensor is timed. Python is the rest.
"""

import argparse
import sys
import time
from contextlib import contextmanager
from types import BuiltinFunctionType

import numpy as np
import pymc as pm
from likelihoods import model_of
from models import ising_ring, ising_torus
from numba.core.dispatcher import Dispatcher
from paper_regression import known_scales, paper_data, unknown_scales
from pymc.backends.ndarray import NDArray
from pytensor.compile import Function
from runner import heading

from pymc_exact_hmc import ExactBinaryHMC

PYTHON_PARTS = ("pymc_exact_hmc.moves.", "pymc_exact_hmc.model.", "pymc_exact_hmc.weights.calls")
"""Modules whose kernels are called from Python and not from other kernels."""
REPEATS = 5


def wide(d=10_000):
    """200 rows and many columns, ten of which matter."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, d))
    z = X[:, :10] @ np.linspace(1.0, 3.0, 10) + rng.normal(size=200)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 10 / d, shape=d)
        pm.Normal("z", X @ (gamma * pm.Normal("w", 0, 1, shape=d)), 1.0, observed=z)
    return model


def regression(make, **options):
    return lambda: make(*paper_data(0.1, np.random.default_rng(1)), **options)


CASES = {
    "known": ("paper's regression, w ≥ 0", regression(known_scales), 5000),
    "scales": ("the same, σ, τ, a unknown", regression(unknown_scales, truncated=True), 3000),
    "free": ("the same, no bounds", regression(unknown_scales, truncated=False), 3000),
    "ring": ("1D Ising, d = 400", ising_ring, 5000),
    "logit": ("logit, N = 500, d = 50", lambda: model_of("logit", 500, 50, 0.5, 1), 1000),
    "wide": ("N = 200, d = 10 000, no bounds", wide, 200),
    "torus": ("2D Ising, L = 100", ising_torus, 1000),
}


class Clock:
    """Adds up the seconds spent in what it wraps."""

    def __init__(self):
        self.seconds = 0.0

    def wrap(self, function):
        def timed(*arguments, **options):
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - start

        return timed


def owners(step):
    """Return every object of ours that a step holds, moves and coefficients among them."""
    found, waiting = [], [step]
    while waiting:
        owner = waiting.pop()
        if any(owner is other for other in found):
            continue
        found.append(owner)
        for value in getattr(owner, "__dict__", {}).values():
            for entry in value if isinstance(value, list | tuple) else [value]:
                if type(entry).__module__.startswith("pymc_exact_hmc"):
                    waiting.append(entry)
    return found


@contextmanager
def clocks(step):
    """Time every call of compiled code and of PyTensor's functions."""
    compiled, pytensor = Clock(), Clock()
    undo = []

    def replace(owner, name, clock):
        old = getattr(owner, name)
        undo.append((owner, name, old))
        setattr(owner, name, clock.wrap(old))

    for name, module in list(sys.modules.items()):
        if name.startswith(PYTHON_PARTS):
            for key, value in list(vars(module).items()):
                if isinstance(value, Dispatcher):
                    replace(module, key, compiled)
    for owner in owners(step):
        if getattr(owner, "_next", None) is not None:
            owner._next = None  # a call that was made ready without a clock
        for name, value in list(getattr(owner, "__dict__", {}).items()):
            if isinstance(value, BuiltinFunctionType):  # machine code that was bound
                replace(owner, name, compiled)
    replace(Function, "__call__", pytensor)
    yield compiled, pytensor
    for owner, name, old in reversed(undo):
        setattr(owner, name, old)
        if hasattr(owner, "_next"):
            owner._next = None


def profile(make, draws):
    """Return the median µs of a step, of compiled code and PyTensor in it, and of recording."""
    model = make()
    step = ExactBinaryHMC(model=model)
    step.set_rng(np.random.default_rng(1))
    step.tune = False
    point = model.initial_point()
    for _ in range(max(draws // 10, 100)):
        point, stats = step.step(point)
    trace = NDArray(model=model)
    trace.setup(draws, 0, step.stats_dtypes)
    whole, recording, parts = [], [], []
    for _ in range(REPEATS):
        for _ in range(draws // REPEATS):
            start = time.perf_counter()
            point, stats = step.step(point)
            middle = time.perf_counter()
            trace.record(point, stats, in_warmup=False)
            recording.append(time.perf_counter() - middle)
            whole.append(middle - start)
        with clocks(step) as (compiled, pytensor):
            for _ in range(draws // REPEATS):
                compiled.seconds = pytensor.seconds = 0.0
                point, stats = step.step(point)
                parts.append((compiled.seconds, pytensor.seconds))
    # Medians: what else runs on the machine interrupts few steps, but those for long.
    compiled, pytensor = np.median(parts, axis=0)
    return [1e6 * x for x in (np.median(whole), compiled, pytensor, np.median(recording))]


def main():
    """Print the table of the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="check that everything runs")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=list(CASES), choices=CASES)
    options = parser.parse_args()
    print(heading(options.quick), end="\n\n")
    print("| case | step | compiled | PyTensor | Python | recording |")
    print("|---|---|---|---|---|---|")
    for name in options.only:
        label, make, draws = CASES[name]
        whole, compiled, pytensor, recording = profile(
            make, draws // 10 if options.quick else draws
        )
        rest = whole - compiled - pytensor
        cells = " | ".join(f"{x:.1f}" for x in (whole, compiled, pytensor, rest, recording))
        print(f"| {label} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
