"""Not one draw outside a region, however nasty: corners, thin wedges, tangent and thin walls."""

import numpy as np
import pytest
from region_cases import EYE, Case, Mover, wedge

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.regions.region import make_region, violated
from pymc_exact_hmc.regions.truncated import REJECTED, truncated_transition

A = np.array([[1.5, 0.6], [0.6, 1.0]])
B = np.array([0.5, 0.3])
MODE = np.linalg.solve(A, B)
FLAT = [0.0, 0.0]
NASTY = {
    "corner far from the mode": (make_region(EYE, [-2.0, -3.0]), [2.1, 3.1]),
    "corner at the mode": (make_region(EYE, -MODE), MODE + 0.1),
    "wedge at 1°": (wedge(1.0), [1.0, 0.005]),
    "wedge at 0.1°": (wedge(0.1), [1.0, 0.0005]),
    "almost parallel": (make_region([[1.0, 0.0], [-1.0, 1e-3]], [0.0, 1e-3]), [5e-4, 0.0]),
    "strip far away": (make_region([[1, 0.3], [-1, -0.3]], [-1e3, 1e3 + 1e-3]), [1000.0005, 0]),
    "tangent": (make_region([[1.0, 0.0], [2.0, 0.0]], FLAT, [-EYE]), [0.5, 0.0]),
    "thin shell": (make_region([FLAT, FLAT], [-1.0, 1.01], [EYE, -EYE]), [1.002, 0.0]),
    "ball on a line": (make_region([[0.0, 1.0], FLAT], [0.0, 1.0], [-EYE]), [0.1, 0.1]),
    "cusp": (
        make_region([[0.0, 1.0], [0.0, -1.0]], FLAT, [[[1.0, 0], [0, 0]], [[2.0, 0], [0, 0]]]),
        [0.5, 0.4],
    ),
    "cone": (make_region([FLAT], [0.0], [[[1.0, 0.0], [0.0, -1.0]]]), [1.0, 0.5]),
}  # fmt: skip

MANY_REFLECTIONS = ("wedge at 0.1°", "almost parallel", "strip far away", "thin shell")
"""Where a flight is reflected hundreds of times: fewer draws will do."""


@kernel
def count_outside(region, law, scratch, w, sweeps, lines, draws, stream):
    """Return how many of the draws are outside, and how many moves rounding took back."""
    outside = rejected = 0
    for k in range(draws):
        # Sweeps alone, flights alone, and both.
        time = 0.0 if sweeps > 0 and k % 3 == 0 else 0.5 * np.pi
        some = sweeps if k % 3 < 2 else 0
        truncated_transition(region, law, scratch, w, time, some, lines, False, stream)
        outside += violated(region, w) >= 0
        rejected += scratch.counts[REJECTED]
    return outside, rejected


@pytest.mark.parametrize(
    "draws", [14_000, pytest.param(1_400_000, marks=pytest.mark.slow)], ids=["1e5", "1e7"]
)
@pytest.mark.parametrize("name", NASTY)
def test_never_a_draw_outside(name, draws):
    """10⁵ draws over all regions together, or 10⁷; as good as none is taken back."""
    region, start = NASTY[name]
    mover, w = Mover(Case(region, A, B)), np.array(start, dtype=float)
    assert violated(region, w) < 0
    convex = int(region.is_convex)
    draws //= 14 if name in MANY_REFLECTIONS else 1
    stream = seed_words(np.random.default_rng(31))
    move = (mover.region, mover.law, mover.scratch, w, convex, 1 - convex)
    outside, rejected = count_outside(*move, draws, stream)
    assert outside == 0
    assert not np.array_equal(w, start)
    assert rejected < draws / 1000
