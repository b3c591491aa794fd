"""Joint models of every family of likelihoods, whose data are unknown too.

Parameters and data are drawn together by PyMC from the model as it is written, so that nothing
of the package takes part. ``replicates`` gives models whose data were drawn at known
parameters, for calibration by simulation; ``joint_model`` is for drawing them in turn.
"""

from typing import NamedTuple

import numpy as np
import pymc as pm

N, D, INCLUSION, SLAB = 8, 3, 0.4, 1.2
X = np.random.default_rng(20131221).normal(size=(N, D))
X[:, 1] += X[:, 0]
TRIALS = np.array([1, 3, 0, 7, 2, 1, 40, 5])
LOWER, UPPER = -0.8, 1.1


class Family(NamedTuple):
    """``write`` adds the data y… to the model, given the predictor; what else it adds is listed."""

    write: object
    others: tuple[str, ...] = ()
    data: tuple[str, ...] = ("y",)


def _probit(eta):
    pm.Bernoulli("y", p=pm.math.invprobit(eta))


def _logit(eta):
    pm.Bernoulli("y", logit_p=eta)


def _binomial(eta):
    pm.Binomial("y", n=TRIALS, logit_p=eta)


def _negative_binomial(eta):
    pm.NegativeBinomial("y", n=0.7, p=pm.math.sigmoid(eta))


def _negative_binomial_mean(eta):
    pm.NegativeBinomial("y", mu=pm.math.exp(eta), alpha=2.5)


def _student(eta):
    pm.StudentT("y", nu=2.5, mu=eta, sigma=pm.Gamma("sigma", 4.0, 4.0))


def _student_random(eta):
    sigma, nu = pm.Gamma("sigma", 4.0, 4.0), pm.Gamma("nu", 4.0, 1.0)
    pm.StudentT("y", nu=nu, mu=eta, sigma=sigma)


def _laplace(eta):
    pm.Laplace("y", eta, pm.Gamma("sigma", 4.0, 4.0))


def _asymmetric_laplace(eta):
    pm.AsymmetricLaplace("y", mu=eta, b=1.1, q=0.25)


def _censored(eta):
    latent = pm.Normal.dist(eta, pm.Gamma("sigma", 4.0, 4.0))
    pm.Censored("y", latent, lower=LOWER, upper=UPPER)


def _two(eta):
    pm.Bernoulli("y", p=pm.math.invprobit(eta))
    pm.StudentT("y_real", nu=4.0, mu=eta, sigma=pm.Gamma("sigma", 4.0, 4.0))


FAMILIES = {
    "probit": Family(_probit),
    "logit": Family(_logit),
    "Binomial": Family(_binomial),
    "NegativeBinomial": Family(_negative_binomial),
    "NegativeBinomial, mean": Family(_negative_binomial_mean),
    "Student-t": Family(_student, ("sigma",)),
    "Student-t, random nu": Family(_student_random, ("sigma", "nu")),
    "Laplace": Family(_laplace, ("sigma",)),
    "AsymmetricLaplace": Family(_asymmetric_laplace),
    "censored Normal": Family(_censored, ("sigma",)),
    "probit and Student-t": Family(_two, ("sigma",), ("y", "y_real")),
}


def joint_model(name, *, truncated=False):
    """Spike-and-slab weights and an intercept, and data of a family that nobody has seen."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", INCLUSION, shape=D)
        slab = pm.HalfNormal if truncated else pm.Normal
        w = slab("w", sigma=SLAB, shape=D)
        intercept = pm.Normal("intercept", 0.3, 0.8)
        FAMILIES[name].write(intercept + X @ (gamma * w))
    return model


def parameters(name):
    """Return the names of the unknowns of a family's model."""
    return ("gamma", "w", "intercept", *FAMILIES[name].others)


def replicates(name, count, rng, *, truncated=False):
    """Yield models with data drawn from the prior predictive, and the parameters behind each."""
    joint = joint_model(name, truncated=truncated)
    wanted = (*parameters(name), *FAMILIES[name].data)
    seed = int(rng.integers(2**31))
    # One draw would come without the axis of draws.
    drawn = pm.draw([joint[x] for x in wanted], draws=max(count, 2), random_seed=seed)
    drawn = dict(zip(wanted, drawn, strict=True))
    for k in range(count):
        data = {joint[x]: drawn[x][k] for x in FAMILIES[name].data}
        yield pm.observe(joint, data), {x: drawn[x][k] for x in parameters(name)}
