"""Joint tests (Geweke 2004): parameters and data drawn in turn come from the prior.

If the step leaves p(θ, s, w | y) invariant, then alternating it with a draw of y | θ, s, w leaves
the joint distribution invariant, whose marginals are the priors as written in the model.
"""

import numpy as np
import pymc as pm
import pytest
from pymc.step_methods.compound import BlockedStep
from scipy import stats
from support.significance import assert_holds, batch_pvalues

from pymc_exact_hmc import ExactBinaryHMC

SEED = 23
N, D = 5, 3
X = np.random.default_rng(6).normal(size=(N, D))
X[:, 1] += X[:, 0]
ALPHA, BETA, SHAPE, RATE = 2.0, 3.0, 4.0, 4.0

SLABS = {
    # name: (prior of w at scale τ, mean of the data)
    "centred": (lambda tau: pm.Normal("w", 0, tau, shape=D), lambda g, w, tau: X @ (g * w)),
    "truncated": (lambda tau: pm.HalfNormal("w", tau, shape=D), lambda g, w, tau: X @ (g * w)),
    "non-centred": (lambda tau: pm.Normal("w", 0, 1, shape=D), lambda g, w, tau: X @ (g * w * tau)),
    "non-centred, truncated": (
        lambda tau: pm.TruncatedNormal("w", 0.5, 1, lower=-0.5, upper=2.0, shape=D),
        lambda g, w, tau: X @ (g * w * tau),
    ),
    "spike": (None, lambda g, w, tau: X @ w),
}


def joint_model(slab):
    """A model whose data are unknown too."""
    prior, mean = SLABS[slab]
    with pm.Model() as model:
        sigma, tau = pm.Gamma("sigma", SHAPE, RATE), pm.Gamma("tau", SHAPE, RATE)
        gamma = pm.Bernoulli("gamma", pm.Beta("a", ALPHA, BETA), shape=D)
        if prior is None:
            w = pm.Normal("w", 0, pm.math.switch(gamma, tau, 0.2 * tau), shape=D)
        else:
            w = prior(tau)
        pm.Normal("y", mean(gamma, w, tau), sigma)
    return model


class DataStep(BlockedStep):
    """Draws y from p(y | everything else)."""

    name = "data"
    stats_dtypes_shapes = {}  # noqa: RUF012

    def __init__(self, vars, *, model, **_):
        self.vars = [model.rvs_to_values[v] for v in vars]
        mean, sigma = (
            model.replace_rvs_by_values([p])[0]
            for p in model["y"].owner.op.dist_params(model["y"].owner)
        )
        inputs = [v for v in model.value_vars if v.name != "y"]
        self._names = [v.name for v in inputs]
        self._parameters = pm.pytensorf.compile(inputs, [mean, sigma], on_unused_input="ignore")
        self.rng = np.random.default_rng(0)

    def set_rng(self, rng):
        self.rng = rng

    def setup_chain(self, rng, tune, draws):
        self.rng = rng

    def step(self, point):
        mean, sigma = self._parameters(*[point[n] for n in self._names])
        y = mean + sigma * self.rng.standard_normal(N)
        return dict(point) | {"y": np.asarray(y, dtype=point["y"].dtype)}, [{}]


def features(gamma, w, sigma, tau, a, slab):
    """Numbers whose means under the prior are known, each in a column; and those means."""
    gamma, w = gamma.reshape(-1, D), w.reshape(-1, D)
    scale = tau[:, None] if SLABS[slab][0] is not None and "non" not in slab else 1.0
    if slab == "spike":
        scale = tau[:, None] * np.where(gamma == 1, 1.0, 0.2)
    law = {
        "truncated": stats.halfnorm(),
        "non-centred, truncated": stats.truncnorm(-1.0, 1.5, 0.5, 1.0),
    }.get(slab, stats.norm())
    uniforms = [
        *law.cdf(w / scale).T,
        stats.gamma(SHAPE, scale=1 / RATE).cdf(sigma),
        stats.gamma(SHAPE, scale=1 / RATE).cdf(tau),
        stats.beta(ALPHA, BETA).cdf(a),
    ]
    columns, means = list(gamma.T), [ALPHA / (ALPHA + BETA)] * D
    for u in uniforms:
        columns += [u, u * u, u < 0.1, u > 0.9]
        means += [1 / 2, 1 / 3, 0.1, 0.1]
    # Dependence between parts of the prior that the data couple.
    columns += [gamma[:, 0] * gamma[:, 1], uniforms[0] * uniforms[1], uniforms[0] * uniforms[D]]
    both = ALPHA * (ALPHA + 1) / ((ALPHA + BETA) * (ALPHA + BETA + 1))
    return np.column_stack(columns).astype(float), np.array([*means, both, 1 / 4, 1 / 4])


@pytest.mark.parametrize(
    ("slab", "kernel"),
    [
        pytest.param("centred", None, marks=pytest.mark.slow),
        pytest.param("truncated", None, marks=pytest.mark.slow),
        pytest.param("non-centred", None, marks=pytest.mark.slow),
        ("non-centred, truncated", None),
        pytest.param("centred", "paper", marks=pytest.mark.slow),
        pytest.param("truncated", "paper", marks=pytest.mark.slow),
    ],
)
def test_step_and_data_in_turn_leave_the_prior(slab, kernel):
    """The step takes everything but the data: indicators, weights, scales, probabilities."""
    model = joint_model(slab)
    with model:
        taken = [model[n] for n in ("gamma", "w", "sigma", "tau", "a")]
        step = ExactBinaryHMC(taken, kernel=kernel)
    data = DataStep([model["y"]], model=model)
    rng = np.random.default_rng(SEED)
    step.set_rng(rng)
    data.set_rng(rng)
    value = {n: model.rvs_to_values[model[n]] for n in ("w", "sigma", "tau", "a")}
    natural = pm.pytensorf.compile(
        list(value.values()), model.replace_rvs_by_values([model[n] for n in value])
    )
    point, found = model.initial_point(), []
    for k in range(30_000 if kernel else 15_000):
        if k == 300:
            step.stop_tuning()
        point, _ = step.step(point)
        point, _ = data.step(point)
        if k >= 300:
            found.append((point["gamma"], *natural(*[point[v.name] for v in value.values()])))
    columns, means = features(*[np.array(x) for x in zip(*found, strict=True)], slab)
    assert_holds(*batch_pvalues(columns, means), seed=SEED)


@pytest.mark.slow
def test_many_weights_without_their_gram_matrix(monkeypatch):
    """The same where X'X is never formed, as with thousands of weights."""
    monkeypatch.setattr("pymc_exact_hmc.model.weight_coefficients.MAX_DENSE_GRAM", 1)
    test_step_and_data_in_turn_leave_the_prior("centred", None)


@pytest.mark.slow
@pytest.mark.parametrize("slab", ["truncated", "centred", "spike"])
def test_with_nuts_on_the_scales(slab):
    """Through pm.sample: the step on (s, w), NUTS on scales and probability, then the data."""
    model = joint_model(slab)
    with model:
        step = [ExactBinaryHMC([model["gamma"], model["w"]]), DataStep([model["y"]], model=model)]
        idata = pm.sample(
            8000, tune=1000, chains=1, cores=1, step=step, random_seed=SEED, progressbar=False,
            compute_convergence_checks=False, nuts={"target_accept": 0.95},
        )  # fmt: skip
    draws = [idata.posterior[n].values[0] for n in ("gamma", "w", "sigma", "tau", "a")]
    columns, means = features(*draws, slab)
    assert_holds(*batch_pvalues(columns, means), seed=SEED)
