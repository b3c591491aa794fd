"""The paper's chain, which the benchmarks run with compiled trajectories."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from pymc_exact_hmc.dynamics.classical import travel

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from spin_chain import SpinChain


@pytest.mark.parametrize("travel_time", [0.5 * math.pi, 2.5 * math.pi])
def test_classical_chain_follows_the_particle(travel_time):
    """s and y after one trajectory are those of the plain NumPy reference."""
    chain = SpinChain((7,), 0.42)
    chain.restart(1)

    def log_f(s):
        spins = 2.0 * s - 1.0
        return 0.42 * float(spins @ np.roll(spins, 1))

    for seed in range(20):
        chain.rng = np.random.default_rng(seed)
        momentum = np.random.default_rng(seed).standard_normal(7)
        expected = travel("gaussian", log_f, chain.y, momentum, travel_time)
        chain.classical(travel_time)(1)
        np.testing.assert_array_equal(chain.s, expected.s)
        np.testing.assert_allclose(chain.y, expected.y, rtol=0, atol=1e-10)
