"""One likelihood of each family: the PyMC variable, and its log-density by SciPy."""

import numpy as np
import pymc as pm
from scipy import special, stats
from step.regressions import bernoulli

from pymc_exact_hmc import ExactBinaryHMC

RNG = np.random.default_rng(20131220)
N, D, P = 24, 2, 0.4
TUNE = 210
X = RNG.normal(size=(N, D))
X[:, 1] += 0.8 * X[:, 0]
ETA = X @ np.array([0.9, 0.0])
BINARY = (RNG.random(N) < special.expit(1.5 * ETA)).astype(int)
TRIALS = RNG.integers(0, 6, N)
SUCCESSES = RNG.binomial(TRIALS, special.expit(ETA))
REAL = ETA + RNG.standard_t(3, N)
CUT = np.clip(REAL, -0.6, 0.9)
COUNTS = RNG.poisson(np.exp(0.7 * ETA))


def censored(eta, sigma=1.3):
    low, high = special.log_ndtr((-0.6 - eta) / sigma), special.log_ndtr((eta - 0.9) / sigma)
    inner = stats.norm.logpdf(CUT, eta, sigma)
    return np.where(CUT <= -0.6, low, np.where(CUT >= 0.9, high, inner))


FAMILIES = {
    "probit": (
        lambda eta: pm.Bernoulli("y", p=pm.math.invprobit(eta), observed=BINARY),
        lambda eta: special.log_ndtr(np.where(BINARY == 1, eta, -eta)),
    ),
    "logit": (
        lambda eta: pm.Bernoulli("y", logit_p=eta, observed=BINARY),
        lambda eta: special.log_expit(np.where(BINARY == 1, eta, -eta)),
    ),
    "binomial": (
        lambda eta: pm.Binomial("y", n=TRIALS, logit_p=eta, observed=SUCCESSES),
        lambda eta: stats.binom.logpmf(SUCCESSES, TRIALS, special.expit(eta)),
    ),
    "negative binomial, mu": (
        lambda eta: pm.NegativeBinomial("y", mu=pm.math.exp(eta), alpha=0.6, observed=COUNTS),
        lambda eta: stats.nbinom.logpmf(COUNTS, 0.6, 0.6 / (0.6 + np.exp(eta))),
    ),
    "negative binomial, p": (
        lambda eta: pm.NegativeBinomial("y", n=2.5, p=pm.math.sigmoid(eta), observed=COUNTS),
        lambda eta: stats.nbinom.logpmf(COUNTS, 2.5, special.expit(eta)),
    ),
    "student": (
        lambda eta: pm.StudentT("y", nu=2.5, mu=eta, sigma=0.9, observed=REAL),
        lambda eta: stats.t.logpdf(REAL, 2.5, eta, 0.9),
    ),
    "student, rows": (
        lambda eta: pm.StudentT(
            "y", nu=np.linspace(1, 9, N), mu=eta, sigma=np.linspace(0.5, 2, N), observed=REAL
        ),
        lambda eta: stats.t.logpdf(REAL, np.linspace(1, 9, N), eta, np.linspace(0.5, 2, N)),
    ),
    "laplace": (
        lambda eta: pm.Laplace("y", eta, 1.2, observed=REAL),
        lambda eta: stats.laplace.logpdf(REAL, eta, 1.2),
    ),
    "asymmetric laplace": (
        lambda eta: pm.AsymmetricLaplace("y", mu=eta, b=1.1, q=0.25, observed=REAL),
        lambda eta: stats.laplace_asymmetric.logpdf(REAL, np.sqrt(0.25 / 0.75), eta, 1 / 1.1),
    ),
    "censored": (
        lambda eta: pm.Censored("y", pm.Normal.dist(eta, 1.3), lower=-0.6, upper=0.9, observed=CUT),
        censored,
    ),
}

SLABS = {
    "normal": (lambda: pm.Normal("w", 0.2, 1.5, shape=D), {"mean": 0.2, "sd": 1.5}),
    "half-normal": (lambda: pm.HalfNormal("w", 1.4, shape=D), {"sd": 1.4, "lower": 0.0}),
    "two-sided": (
        lambda: pm.TruncatedNormal("w", 0.3, 1.0, lower=-0.4, upper=1.0, shape=D),
        {"mean": 0.3, "sd": 1.0, "lower": -0.4, "upper": 1.0},
    ),
}
UNBOUNDED = {"mean": 0.0, "sd": 1.0, "lower": -np.inf, "upper": np.inf}


def make_model(family, slab):
    """A spike-and-slab regression with a likelihood of a family."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        FAMILIES[family][0](X @ (gamma * SLABS[slab][0]()))
    return model


def exact(family, slab, posterior):
    log_density = FAMILIES[family][1]
    return posterior(
        lambda eta: log_density(eta).sum(axis=-1), X, range(D), log_prior=bernoulli(P),
        **(UNBOUNDED | SLABS[slab][1]),
    )  # fmt: skip


def natural(model, values, name="w"):
    """The values of a weight on its natural scale."""
    rv = model[name]
    transform, value = model.rvs_to_transforms[rv], model.rvs_to_values[rv].name
    drawn = np.array([v[value] for v in values])
    if transform is None:
        return drawn
    return transform.backward(drawn, *rv.owner.inputs).eval()


def run(model, draws, *, seed=7, **options):
    """Return (s, points) of a chain of the step alone, after tuning for a short while."""
    with model:
        step = ExactBinaryHMC(**options)
    step.set_rng(np.random.default_rng(seed))
    point, points = model.initial_point(), []
    for k in range(draws + TUNE):
        if k == TUNE:
            step.stop_tuning()
        point, _ = step.step(point)
        if k >= TUNE:
            points.append(dict(point))
    s = np.array([np.concatenate([p[b.name].ravel() for b in step.layout]) for p in points])
    return s, points
