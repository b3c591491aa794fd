"""Where a chain starts that nobody told where: at a draw from p(s | θ)."""

import numpy as np
import pymc as pm
import pytest
from scipy import stats
from support.models import binary_block

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.model.evaluation import Evaluator
from pymc_exact_hmc.model.points import read_state
from pymc_exact_hmc.model.starts import PriorDraw, Start

RARE = 1e-6


@pytest.fixture(scope="module")
def model():
    with pm.Model() as model:
        p = pm.Beta("p", 1, 1)
        pm.Bernoulli("s", p, shape=300)
        pm.Bernoulli("t", 0.3, shape=200)
    return model


@pytest.mark.parametrize("p", [0.9, 0.2])
def test_other_variables_are_those_of_the_point(model, p):
    """A parent keeps its value; each variable fills its own places."""
    draw = PriorDraw(model, binary_block(model).layout)
    point = model.initial_point() | {"p_logodds__": np.array(np.log(p / (1 - p)))}
    s = draw(point, np.random.default_rng(1))
    assert stats.binomtest(int(s[:300].sum()), 300, p).pvalue > RARE
    assert stats.binomtest(int(s[300:].sum()), 200, 0.3).pvalue > RARE
    assert not np.array_equal(s, draw(point, np.random.default_rng(2)))


def test_at_most_so_many_are_on(model):
    """Those that are kept are a random choice, and no start has more."""
    block, point = binary_block(model), model.initial_point()
    factors = Evaluator([f.logp.sum() for f in block.factors], block.layout)
    default = np.zeros(500, np.int8)
    start, rng = Start(model, block, factors, default, most=7), np.random.default_rng(3)
    first, drawn = start(point, default, rng)
    second, _ = start(point, default, rng)
    assert drawn
    assert first.sum() == second.sum() == 7
    assert not np.array_equal(first, second)
    chosen = np.ones(500, np.int8)
    kept, drawn = start(point, chosen, rng)
    assert kept is chosen
    assert not drawn


def test_one_start_that_was_chosen_keeps_all():
    """Of two variables one has a start: nothing is drawn over it."""
    with pm.Model() as model:
        pm.Bernoulli("a", 0.5, shape=8, initval=np.ones(8, int))
        pm.Bernoulli("b", 0.5, shape=8)
        step = ExactBinaryHMC()
    point = model.initial_point()
    s, drawn = step._start(point, read_state(point, step.layout), np.random.default_rng(1))
    assert not drawn
    np.testing.assert_array_equal(s[:8], 1)
