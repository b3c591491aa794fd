"""Every family through the step, against enumeration × quadrature."""

import numpy as np
import pymc as pm
import pytest
from support.significance import assert_holds, batch_pvalues
from support.speed import slow_but

from likelihoods.families import FAMILIES, D, exact, make_model, natural, run
from likelihoods.quadrature import posterior
from pymc_exact_hmc import ExactBinaryHMC

SEED, DRAWS = 7, 9000


def compare(s, w, answer, seed=SEED):
    """Inclusion probabilities, all pairs of them, and first two moments of weights that are on."""
    states, p, first, second = answer
    pairs = [(i, j) for i in range(s.shape[1]) for j in range(i)]
    wanted = [p @ states, [p @ (states[:, i] * states[:, j]) for i, j in pairs], first, second]
    on = s * w
    found = [s, *[(s[:, i] * s[:, j])[:, None] for i, j in pairs], on, on * w]
    return batch_pvalues(np.column_stack(found), np.concatenate(wanted))


SLABS = ("normal", "half-normal", "two-sided")
CASES = [(family, slab) for family in FAMILIES for slab in SLABS]
FAST = [(family, SLABS[i % 3]) for i, family in enumerate(FAMILIES)]
"""Each family with one slab, each slab with several families; the slow suite crosses them."""


@pytest.mark.parametrize(("family", "slab"), slow_but(FAST, CASES))
def test_posterior_is_exact(family, slab):
    """Inclusion and moments are those of the marginal model, truncated or not."""
    model = make_model(family, slab)
    s, points = run(model, DRAWS, seed=SEED)
    w = natural(model, points).reshape(-1, D)
    assert_holds(*compare(s, w, exact(family, slab, posterior)), seed=SEED)


def test_data_far_from_zero_are_no_probabilities_near_one():
    """Of heavy-tailed data every predictor is compared with the model."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=2), pm.Normal("w", shape=2)
        mean = 1000.0 + np.eye(5)[:, :2] @ (gamma * w)
        pm.StudentT("y", nu=4, mu=mean, sigma=1.0, observed=np.full(5, 1000.5))
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == {"gamma", "w"}
