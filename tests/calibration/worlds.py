"""Small models of every family whose data are unknown too, and draws from their joint law."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
from scipy.special import expit, ndtr

N, D = 6, 3
X = np.random.default_rng(6).normal(size=(N, D))
X[:, 1] += X[:, 0]
ALPHA, BETA, SHAPE, RATE = 2.0, 3.0, 4.0, 4.0
TRIALS, NU, KAPPA, LOWER, UPPER = 3, 4.0, 1.5, -0.8, 1.2
SPIKE = 0.2


class World(NamedTuple):
    """A model with free data ``y``, what the step takes, and its joint law in NumPy.

    ``prior(rng)`` returns the parameters by name on their natural scale, ``data(rng, drawn)``
    the data given them, and ``values(drawn)`` the value variables. Where the data are observed,
    ``columns(y)`` are the columns of the latents' family that hold them.
    """

    model: pm.Model
    taken: list[str]
    prior: Callable[[np.random.Generator], dict[str, Any]]
    data: Callable[[np.random.Generator, dict[str, Any]], np.ndarray]
    columns: Callable[[np.ndarray], dict[str, np.ndarray]] | None = None

    @property
    def data_variable(self) -> Any:
        """The free variable that a step of the data takes: the data, or one that means nothing."""
        return self.model["y" if self.columns is None else "holder"]

    def values(self, drawn: dict[str, Any]) -> dict[str, np.ndarray]:
        """Return the value variables of natural ones."""
        point = self.model.initial_point()
        found = {}
        for name, x in drawn.items():
            for value, transform in (
                (name, lambda x: x),
                (f"{name}_log__", np.log),
                (f"{name}_logodds__", lambda x: np.log(x) - np.log1p(-x)),
            ):
                if value in point:
                    found[value] = np.asarray(transform(x), dtype=point[value].dtype)
        return found


def _laplace_noise(rng, kappa):
    """Asymmetric Laplace noise with b = 1: positive with probability 1/(1 + κ²)."""
    up = rng.random(N) < 1.0 / (1.0 + kappa**2)
    return np.where(up, rng.exponential(1.0 / kappa, N), -rng.exponential(kappa, N))


LIKELIHOODS = {
    # name: (has a scale, y given η and σ in PyMC, the same in NumPy)
    "Gaussian": (
        True,
        lambda e, s, o: pm.Normal("y", e, s, observed=o),
        lambda r, e, s: r.normal(e, s),
    ),
    "Student": (
        True,
        lambda e, s, o: pm.StudentT("y", nu=NU, mu=e, sigma=s, observed=o),
        lambda r, e, s: e + s * r.standard_t(NU, N),
    ),
    "Laplace": (
        True,
        lambda e, s, o: pm.Laplace("y", e, s, observed=o),
        lambda r, e, s: r.laplace(e, s),
    ),
    "asymmetric Laplace": (
        False,
        lambda e, s, o: pm.AsymmetricLaplace("y", b=1.0, kappa=KAPPA, mu=e, observed=o),
        lambda r, e, s: e + _laplace_noise(r, KAPPA),
    ),
    "censored": (
        True,
        lambda e, s, o: pm.Censored(
            "y", pm.Normal.dist(e, s, shape=N), lower=LOWER, upper=UPPER, observed=o
        ),
        lambda r, e, s: np.clip(r.normal(e, s), LOWER, UPPER),
    ),
    "probit": (
        False,
        lambda e, s, o: pm.Bernoulli("y", p=pm.math.invprobit(e), observed=o),
        lambda r, e, s: (r.random(N) < ndtr(e)).astype(int),
    ),
    "logit": (
        False,
        lambda e, s, o: pm.Bernoulli("y", logit_p=e, observed=o),
        lambda r, e, s: (r.random(N) < expit(e)).astype(int),
    ),
    "binomial": (
        False,
        lambda e, s, o: pm.Binomial("y", TRIALS, logit_p=e, observed=o),
        lambda r, e, s: r.binomial(TRIALS, expit(e)),
    ),
    "negative binomial": (
        False,
        lambda e, s, o: pm.NegativeBinomial("y", n=2.0, p=pm.math.sigmoid(e), observed=o),
        lambda r, e, s: r.negative_binomial(2.0, expit(e)),
    ),
}


COLUMNS = {
    "probit": lambda y: {"y": y},
    "logit": lambda y: {"a": y},
    "binomial": lambda y: {"a": y},
    "negative binomial": lambda y: {"b": 2.0 + y},
}


def regression(family: str, slab: str) -> World:
    """Indicators with an unknown probability, gated weights, and data of a family."""
    scaled, pymc, numpy = LIKELIHOODS[family]
    with pm.Model() as model:
        a = pm.Beta("a", ALPHA, BETA)
        sigma = pm.Gamma("sigma", SHAPE, RATE) if scaled else 1.0
        gamma = pm.Bernoulli("gamma", a, shape=D)
        if slab == "spike":
            w = pm.Normal("w", 0, pm.math.switch(gamma, 1.0, SPIKE), shape=D)
            pymc(X @ w, sigma, None)
        else:
            law = (
                pm.Normal("w", 0, 1, shape=D)
                if slab == "normal"
                else pm.HalfNormal("w", 1, shape=D)
            )
            data = None
            if family != "Gaussian":
                # Only Gaussian data may be unknown; others are written where they are read.
                kind = "int64" if family in COLUMNS else "float64"
                data = pm.Data("data", np.zeros(N, kind))
                pm.Normal("holder")
            pymc(X @ (gamma * law), sigma, data)

    def prior(rng):
        a = rng.beta(ALPHA, BETA)
        gamma = (rng.random(D) < a).astype(int)
        w = rng.normal(size=D)
        if slab == "half-normal":
            w = np.abs(w)
        elif slab == "spike":
            w = w * np.where(gamma == 1, 1.0, SPIKE)
        drawn = {"a": a, "gamma": gamma, "w": w}
        return drawn | ({"sigma": rng.gamma(SHAPE, 1 / RATE)} if scaled else {})

    def data(rng, drawn):
        eta = X @ (drawn["w"] if slab == "spike" else drawn["gamma"] * drawn["w"])
        return numpy(rng, eta, drawn.get("sigma", 1.0))

    columns = COLUMNS.get(family, lambda y: {"y": y}) if family != "Gaussian" else None
    return World(model, ["gamma", "w"], prior, data, columns)


def labels() -> World:
    """Outlier flags: no weights, and a probability and a location for NUTS."""
    with pm.Model() as model:
        a, mu = pm.Beta("a", ALPHA, BETA), pm.Normal("mu", 0, 1)
        gamma = pm.Bernoulli("gamma", a, shape=N)
        pm.Normal("y", mu, pm.math.switch(gamma, 3.0, 0.5))

    def prior(rng):
        a = rng.beta(ALPHA, BETA)
        return {"a": a, "mu": rng.normal(), "gamma": (rng.random(N) < a).astype(int)}

    def data(rng, drawn):
        return rng.normal(drawn["mu"], np.where(drawn["gamma"] == 1, 3.0, 0.5))

    return World(model, ["gamma"], prior, data)


def positive() -> World:
    """Truncated weights without indicators, and a noise scale for NUTS."""
    with pm.Model() as model:
        sigma = pm.Gamma("sigma", SHAPE, RATE)
        w = pm.HalfNormal("w", 1, shape=D)
        pm.Normal("y", X @ w, sigma)

    def prior(rng):
        return {"sigma": rng.gamma(SHAPE, 1 / RATE), "w": np.abs(rng.normal(size=D))}

    return World(model, ["w"], prior, lambda rng, x: rng.normal(X @ x["w"], x["sigma"]))


WORLDS: dict[str, Callable[[], World]] = {
    "labels": labels,
    "positive weights, no indicators": positive,
    "Gaussian, switched slabs": lambda: regression("Gaussian", "spike"),
}
for _family in LIKELIHOODS:
    for _slab in ("normal", "half-normal"):
        WORLDS[f"{_family}, {_slab}"] = lambda f=_family, s=_slab: regression(f, s)


def in_one_step(family: str, slab: str) -> World:
    """A regression whose inclusion probability and noise scale the step moves itself."""
    world = regression(family, slab)
    scales = ["a", "sigma"] if LIKELIHOODS[family][0] else ["a"]
    return world._replace(taken=[*world.taken, *scales])


for _family, _slab in (
    ("Gaussian", "normal"),
    ("Gaussian", "half-normal"),
    ("Student", "normal"),
    ("probit", "normal"),
    ("logit", "half-normal"),
):
    WORLDS[f"{_family}, {_slab}, one step"] = lambda f=_family, s=_slab: in_one_step(f, s)
