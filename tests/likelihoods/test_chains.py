"""Steps with latents in PyMC: pickled, resumed, and in several processes."""

import cloudpickle
import numpy as np
import pymc as pm
import pytest
from support.speed import slow_but

from likelihoods.families import BINARY, D, P, X, make_model
from pymc_exact_hmc import ExactBinaryHMC

MODELS = {
    "probit": lambda: make_model("probit", "normal"),
    "logit": lambda: make_model("logit", "half-normal"),
    "student": lambda: make_model("student", "normal"),
}


def hyper():
    """Latents, a proxy, and a scale that is moved by slices."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        tau = pm.LogNormal("tau", 0.0, 0.5)
        pm.Bernoulli("y", logit_p=X @ (gamma * pm.Normal("w", 0, tau, shape=D)), observed=BINARY)
    return model


MODELS["scale"] = hyper


def follow(step, point, n):
    points = []
    for _ in range(n):
        point, _ = step.step(point)
        points.append(np.concatenate([np.ravel(x) for x in point.values()]))
    return np.array(points), point


@pytest.mark.parametrize("name", slow_but(["probit", "logit"], MODELS))
def test_pickled_and_resumed_steps_go_on_alike(name):
    """During tuning and after it: latents are redrawn, and what was learnt is kept."""
    model = MODELS[name]()
    step = ExactBinaryHMC(model=model, rng=3)
    _, point = follow(step, model.initial_point(), 120)
    for _ in range(2):
        copy, state = cloudpickle.loads(cloudpickle.dumps(step)), step.sampling_state
        first, _ = follow(step, point, 90)
        np.testing.assert_allclose(follow(copy, point, 90)[0], first, rtol=1e-9, atol=1e-12)
        other = ExactBinaryHMC(model=model, rng=8)
        other.sampling_state = state
        np.testing.assert_allclose(follow(other, point, 90)[0], first, rtol=1e-9, atol=1e-12)
        step.stop_tuning()


def test_processes_make_the_draws_of_one():
    """Two chains in two processes are the two chains of one process."""
    model, traces = MODELS["probit"](), []
    for cores in (1, 2):
        with model:
            traces.append(
                pm.sample(
                    40, tune=120, chains=2, cores=cores, step=ExactBinaryHMC(), random_seed=4,
                    progressbar=False, compute_convergence_checks=False,
                ).posterior
            )  # fmt: skip
    np.testing.assert_array_equal(traces[0]["gamma"].values, traces[1]["gamma"].values)
    np.testing.assert_allclose(traces[0]["w"].values, traces[1]["w"].values, rtol=1e-9)
