"""Thirty models in the spellings people use: recognised, verified, sampled, and exact."""

import warnings

import numpy as np
import pymc as pm
import pytest
from scipy import stats
from support.models import binary_block, rounding, worst_error
from support.significance import assert_holds
from support.wild_models import CORPUS

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.model.evaluation import ONCE

IDS = [case["id"] for case in CORPUS]
EXACT = [case for case in CORPUS if case["truth"] is not None]
BATCHES = 40
SEED = 71

FASTEST = {
    "knapsack_potential": "local",
    "bmh_privacy_algorithm": "generic",
    "sprinkler_shape1": "local",
    "cpt_table_lookup": "local",
    "dynamic_occupancy_list": "local",
    "ising_image_denoise": "quadratic",
    "sigmoid_belief_net": "local",
    "ss_mult_deterministic": "quadratic",
    "sign_and_zero_product": "local",
}
"""The slowest form that each model should need; the others are separable or listed as any."""
ANY = {"ss_python_loop_columns", "ss_kaggle_sparse_logit", "ss_two_branches_noncentred"}
ANY |= {"ss_bsts_local_level"}
FAST = {"knapsack_potential", "ising_image_denoise"}
"""Whose posteriors the fast suite looks at."""
SLOW = pytest.mark.slow
DROPS = {*IDS[::3], "sign_and_zero_product"} - {"ss_python_loop_columns", "ss_kaggle_sparse_logit"}
"""Whose drops the fast suite looks at; two of the others take seconds for each drop."""
ORDER = ["separable", "quadratic", "local", "multilinear", "generic"]


def build(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.exceptions.ImputationWarning)
        return case["build"]()


@pytest.mark.parametrize(
    "case",
    [case if case["id"] in DROPS else pytest.param(case, marks=SLOW) for case in CORPUS],
    ids=IDS,
)
def test_recognised_drops_are_those_of_the_model(case):
    """Every spelling is recognised in its form, and gives the drops of model.logp()."""
    model = build(case)
    assert worst_error(model, samples=12) < rounding(model)
    slowest = max((t.form.name.lower() for t in binary_block(model).terms), key=ORDER.index)
    if case["id"] not in ANY:
        assert ORDER.index(slowest) <= ORDER.index(FASTEST.get(case["id"], "separable"))


STEPS = {"knapsack_potential"}
"""Which the fast suite makes take steps; all of them are recognised above."""


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=c["id"], marks=() if c["id"] in STEPS else SLOW) for c in CORPUS],
)
def test_every_model_takes_steps(case):
    """The step accepts the model, keeps inside its support, and leaves the others alone."""
    model = build(case)
    step = ExactBinaryHMC(model=model)
    step.set_rng(np.random.default_rng(SEED))
    point = model.initial_point()
    log_p = model.compile_logp(mode=ONCE)
    for _ in range(20):
        new, (report,) = step.step(point)
        moved = {v.name for v in step.vars}
        assert all(new[k] is point[k] for k in point if k not in moved)
        point = new
    assert np.isfinite(log_p(point))
    assert abs(report["ehmc_energy_error"]) < 1e-9
    assert set(case["binaries"]) <= moved


def batch_pvalues(draws, exact):
    """p-values that the means of correlated draws are as given, from means of batches."""
    chains, n = draws.shape[:2]
    size = n * chains // BATCHES
    means = draws.reshape(BATCHES, size, -1).mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    found, exact = means.mean(axis=0), np.ravel(exact)
    rare = np.minimum(exact, 1 - exact) * n * chains < 100
    # Too rare to estimate an error: at least one draw of each batch is as good as independent.
    p, x = np.minimum(exact, 1 - exact)[rare], np.where(exact < 0.5, found, 1 - found)[rare]
    bounds = stats.binom.sf(np.ceil(x * BATCHES) - 1, BATCHES, p)
    z = (found - exact)[~rare] / error[~rare]
    return [*bounds, *2 * stats.t.sf(np.abs(z), BATCHES - 1)]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["id"], marks=() if case["id"] in FAST else SLOW) for case in EXACT],
)
def test_posterior_is_exact(case):
    """P(indicator = 1) through pm.sample is that of enumeration and quadrature."""
    model = build(case)
    with model:
        idata = pm.sample(
            draws=2000,
            tune=500,
            chains=4,
            cores=1,
            step=ExactBinaryHMC(),
            random_seed=SEED,
            progressbar=False,
            compute_convergence_checks=False,
        )
    pvalues = []
    for name, exact in case["truth"]().items():
        draws = np.asarray(idata.posterior[name], float)
        pvalues.extend(batch_pvalues(draws, exact))
    assert_holds(*pvalues, seed=SEED)
