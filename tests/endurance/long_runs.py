"""Very many calls of every kernel, with what must not drift and what must not grow."""

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
for folder in ("weights", "regions", ""):
    if str(HERE.parent / folder) not in sys.path:
        sys.path.append(str(HERE.parent / folder))

import kernels as weights_kernels
from fenced_problems import REGIONS as FENCES
from fenced_problems import Mover as FencedMover
from fenced_problems import Problem as FencedProblem
from problems import fresh_caches, regression
from region_cases import Mover as RegionMover
from region_cases import case as region_case
from support.cases import make

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.dynamics.tally import clear, empty_tally
from pymc_exact_hmc.dynamics.transition import (
    fresh_log_density,
    make_workspace,
    transition,
)
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.region import violated
from pymc_exact_hmc.weights.integrated import integrated_transition
from pymc_exact_hmc.weights.paper import paper_transition
from pymc_exact_hmc.weights.sheared import sheared_transition


class LongRun(NamedTuple):
    """``advance(n)`` makes n calls and ``error()`` says how far a cache is from the truth."""

    advance: Callable[[int], None]
    error: Callable[[], float]
    tolerance: float


def binary(name: str, augmentation: str) -> LongRun:
    """Energy that the crossings took against log f computed afresh: rounding adds up."""
    case, law = make(name, d=8), AUGMENTATIONS[augmentation]
    rng, s, tally, workspace = np.random.default_rng(1), np.zeros(8, np.int8), empty_tally(8), None
    workspace, total, start = make_workspace(8), [0.0], fresh_log_density(case.energy, s)
    hits = np.full(1, 6)
    move = bind(transition, law, case.energy, s, seed_words(rng), 4.0, hits, workspace, tally)
    stream = seed_words(rng)

    def advance(n):
        for _ in range(n):
            clear(tally)
            move(law, case.energy, s, stream, 4.0, hits, workspace, tally)
            total[0] += tally.drop[0]

    def error():
        # Caches are not refreshed in between: what they have drifted by shows here.
        return abs(fresh_log_density(case.energy, s.copy()) - start - total[0])

    return LongRun(advance, error, 1e-6)


def gated(chosen, lower: float) -> LongRun:
    """D and ρ of every weight against dense linear algebra."""
    rng = np.random.default_rng(2)
    gate = [-1, 0, 1, 2, 2, 3, 4]
    problem = regression(rng, gate, N=12, signal=0.3, Lambda=1.0, lower=lower)
    mover = weights_kernels.Mover(problem, transition=chosen)
    s, w = weights_kernels.feasible_start(problem, rng)
    stream = seed_words(rng)

    def advance(n):
        for _ in range(n):
            mover.move(s, w, stream)

    def error():
        D, rho = fresh_caches(problem, s)
        outside = np.maximum(problem.lower - w, w - problem.upper).max()
        drift = np.abs(mover.active.D / D - 1).max() + np.abs(mover.active.rho - rho).max()
        return float(np.max([drift, outside]))

    return LongRun(advance, error, 1e-8)


def region(name: str) -> LongRun:
    """Energy of the last flight, and whether the particle is still inside."""
    mover, stream = RegionMover(region_case(name)), seed_words(np.random.default_rng(3))
    w = region_case(name).exact(1, np.random.default_rng(4))[0]
    lines = 0 if mover.region.is_convex else 1

    def advance(n):
        for _ in range(n):
            mover.move(w, stream, lines=lines)

    def error():
        before, after = mover.scratch.energy
        return abs(after - before) + (np.inf if violated(mover.region, w) >= 0 else 0.0)

    return LongRun(advance, error, 1e-8)


def fenced(name: str) -> LongRun:
    """The caches as above; the view of the region is that of the state."""
    problem = FencedProblem(FENCES[name], -0.3)
    mover, stream = FencedMover(problem), seed_words(np.random.default_rng(5))
    s, w = np.zeros(3, np.int8), np.zeros(4)

    def advance(n):
        for _ in range(n):
            mover.move(s, w, stream)

    def error():
        active = mover.active
        cached = active.D.copy(), active.rho.copy()
        from pymc_exact_hmc.weights.refreshing import refresh_active

        refresh_active(mover.block, active, s)
        inside = bool(problem.allowed(s, w[None])[0])
        drift = np.abs(cached[0] / active.D - 1).max() + np.abs(cached[1] - active.rho).max()
        return float(drift) if inside else np.inf

    return LongRun(advance, error, 1e-8)


RUNS: dict[str, Callable[[], LongRun]] = {
    "binary, dense couplings": lambda: binary("dense couplings", "gaussian"),
    "binary, sparse couplings": lambda: binary("sparse couplings", "exponential"),
    "binary, tables": lambda: binary("tables", "box"),
    "integrated": lambda: gated(integrated_transition, -np.inf),
    "sheared": lambda: gated(sheared_transition, -0.4),
    "paper": lambda: gated(paper_transition, -0.4),
    "region, linear": lambda: region("wedge"),
    "region, quadratic": lambda: region("shell"),
    "fenced": lambda: fenced("raw sum"),
}


def memory() -> float:
    """Megabytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20
