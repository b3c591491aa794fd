"""Calibration of every family: parameters and data drawn in turn come from the prior (Geweke 2004),
and ranks of true parameters among draws given data are uniform (Talts et al. 2018)."""

import numpy as np
import pymc as pm
import pytest
from scipy import special, stats
from support.families_prior import (
    FAMILIES,
    INCLUSION,
    LOWER,
    SLAB,
    TRIALS,
    UPPER,
    D,
    N,
    joint_model,
    parameters,
    replicates,
)
from support.significance import assert_holds, batch_pvalues
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC

SEED, DRAWS, TUNE = 41, 4000, 210
GAMMA = stats.gamma(4.0, scale=1 / 4.0)
NU = stats.gamma(4.0)
SKEW = stats.laplace_asymmetric(np.sqrt(0.25 / 0.75), scale=1 / 1.1)


def failures(rng, odds, alpha):
    return alpha + rng.negative_binomial(alpha, special.expit(odds))


DATA = {
    # family: writes new data into the columns of its latents (probit, …), given the predictor
    "probit": lambda rng, eta, theta: {"y": rng.random(N) < special.ndtr(eta)},
    "logit": lambda rng, eta, theta: {"a": rng.random(N) < special.expit(eta)},
    "Binomial": lambda rng, eta, theta: {"a": rng.binomial(TRIALS, special.expit(eta))},
    "NegativeBinomial": lambda rng, eta, theta: {"b": failures(rng, eta, 0.7)},
    "NegativeBinomial, mean": lambda rng, eta, theta: {"b": failures(rng, np.log(2.5) - eta, 2.5)},
    "Student-t": lambda rng, eta, theta: {"y": eta + theta["sigma"] * rng.standard_t(2.5, N)},
    "Student-t, random nu": lambda rng, eta, theta: {
        "y": eta + theta["sigma"] * rng.standard_t(theta["nu"], N)
    },
    "Laplace": lambda rng, eta, theta: {"y": eta + theta["sigma"] * rng.laplace(size=N)},
    "AsymmetricLaplace": lambda rng, eta, theta: {"y": eta + SKEW.rvs(N, random_state=rng)},
    "censored Normal": lambda rng, eta, theta: {
        "y": np.clip(eta + theta["sigma"] * rng.normal(size=N), LOWER, UPPER)
    },
}


def natural(name, point, truncated):
    """Return the parameters of a point on their natural scales."""
    theta = {x: np.exp(point[f"{x}_log__"]) for x in FAMILIES[name].others}
    w = np.exp(point["w_log__"]) if truncated else point["w"]
    return theta | {"gamma": point["gamma"], "w": w, "intercept": point["intercept"]}


def move_nu(rng, nu, residual):
    """One step of random-walk Metropolis in log ν."""
    both = np.array([[nu], [nu * np.exp(0.8 * rng.normal())]])
    log_p = NU.logpdf(both)[:, 0] + np.log(both[:, 0]) + stats.t.logpdf(residual, both).sum(axis=1)
    return both[int(np.log(rng.random()) < log_p[1] - log_p[0]), 0]


def features(theta, truncated):
    """Numbers whose means under the prior are known, and those means."""
    slab = stats.halfnorm(scale=SLAB) if truncated else stats.norm(scale=SLAB)
    laws = {"w": slab, "intercept": stats.norm(0.3, 0.8), "sigma": GAMMA, "nu": NU}
    gamma = theta["gamma"]
    columns, means = [*gamma.T, gamma[:, 0] * gamma[:, 1]], [INCLUSION] * D + [INCLUSION**2]
    uniforms = []
    for name, law in laws.items():
        if name in theta:
            uniforms += list(law.cdf(theta[name].reshape(len(gamma), -1)).T)
    for u in uniforms:
        columns += [u, u * u, u < 0.1, u > 0.9]
        means += [1 / 2, 1 / 3, 0.1, 0.1]
    for u in uniforms[1:]:
        columns += [gamma[:, 0] * u, uniforms[0] * u]
        means += [INCLUSION / 2, 1 / 4]
    return np.column_stack(columns).astype(float), np.array(means)


def joint_draws(name, *, truncated=False, draws=DRAWS, seed=SEED, spoil=None):
    """Draw data given parameters and parameters given data in turn; return all parameters.

    New data are written into the columns that the latents are drawn from.
    """
    rng = np.random.default_rng(seed)
    ((model, _),) = replicates(name, 1, rng, truncated=truncated)
    step = ExactBinaryHMC([model[x] for x in parameters(name) if x != "nu"], model=model)
    step.set_rng(rng)
    step._audit.is_due = lambda calls, point: False  # the model keeps the data it was made of
    gaussian = step._move.gaussian
    (latent,), (rows,) = gaussian.latents, gaussian.rows
    if spoil is not None:
        spoil(step)
    point, kept = model.initial_point(), []
    if "nu" in FAMILIES[name].others:
        # The columns would be read from the model again, with the data it was made of.
        latent.update = lambda point: latent.family.nu.fill(np.exp(point["nu_log__"]))
    for k in range(draws + TUNE):
        if k == TUNE:
            step.stop_tuning()
        point, _ = step.step(point)
        theta = natural(name, point, truncated)
        beta = np.append(theta["gamma"] * theta["w"], theta["intercept"])
        sign = -1.0 if name == "NegativeBinomial, mean" else 1.0
        eta = sign * (rows.read(point).X @ beta)
        if "nu" in theta:
            residual = (latent.family.y - eta) / theta["sigma"]
            theta["nu"] = move_nu(rng, theta["nu"], residual)
            point = point | {"nu_log__": np.log(theta["nu"])}
        for column, values in DATA[name](rng, eta, theta).items():
            getattr(latent.family, column)[:] = values
        if k >= TUNE:
            kept.append(theta)
    return {x: np.array([theta[x] for theta in kept]) for x in kept[0]}


FAST = ("logit", "Student-t")
"""One of the families with Pólya–Gamma latents, and one whose rows have scales."""


@pytest.mark.parametrize("name", slow_but(FAST, DATA))
def test_step_and_data_in_turn_leave_the_prior(name):
    """Parameters are those of the prior, whatever the data of the moment are."""
    columns, means = features(joint_draws(name), truncated=False)
    assert_holds(*batch_pvalues(columns, means), seed=SEED)


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_truncated_weights(name):
    """The same with positive weights."""
    columns, means = features(joint_draws(name, truncated=True, draws=20_000), truncated=True)
    assert_holds(*batch_pvalues(columns, means), seed=SEED)


def ranks(name, count, *, draws=400, thin=20):
    """Return the rank of each true parameter among thinned draws, as a number in (0, 1)."""
    rng, found = np.random.default_rng(SEED), []
    for model, truth in replicates(name, count, rng):
        with model:
            idata = pm.sample(
                draws, tune=300, chains=1, cores=1, step=ExactBinaryHMC(), progressbar=False,
                random_seed=int(rng.integers(2**31)), compute_convergence_checks=False,
            )  # fmt: skip
        row = []
        for x in parameters(name):
            kept = idata.posterior[x].values[0, ::thin].reshape(draws // thin, -1)
            true = np.ravel(truth[x])
            below = (kept < true).sum(axis=0) + rng.random(true.size) * (
                1 + (kept == true).sum(axis=0)
            )
            row += list(below / (len(kept) + 1))
        found.append(row)
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_ranks_are_uniform(name):
    """Through pm.sample, with NUTS on what the step leaves; ties are broken at random."""
    u = ranks(name, 60)
    assert_holds(*[stats.kstest(column, "uniform").pvalue for column in u.T], seed=SEED)


def test_every_family_is_calibrated():
    """Each family that is recognised has a generator, and all its unknowns a prior."""
    assert set(FAMILIES) == {*DATA, "probit and Student-t"}
    for name in FAMILIES:
        free = {rv.name for rv in joint_model(name).free_RVs}
        assert free == {*parameters(name), *FAMILIES[name].data}
