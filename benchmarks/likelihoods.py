"""Measure likelihoods beyond the Gaussian against their targets, as ratios within one run.

    python benchmarks/likelihoods.py [--quick] [--only NAME ...] [--output FOLDER]

Prints a Markdown table and writes likelihoods.md and likelihoods.csv, to benchmarks/results by
default. The worst of indicators, weights and energy is reported, where indicators count whose
inclusion probability lies between 0.02 and 0.98, weights above 0.02.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import pymc as pm
from paper_regression import choose, sample_whole, worst_of_three
from runner import main, seeds, timed
from scipy.special import expit, log_expit, log_ndtr, ndtr
from table import Row, number

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.likelihoods import Censored, Laplace, Logistic, Probit, Student
from pymc_exact_hmc.likelihoods.working import Working, redraw
from pymc_exact_hmc.random_stream import seed_words

A, NU, SCALE = 0.1, 4, 2.0
CASES = {
    # family: (N, d, correlation of the columns, target)
    "probit": (500, 50, 0.5, 30),
    "logit": (500, 50, 0.5, 30),
    "Student-t": (700, 150, 0.1, 50),
}


class Data(NamedTuple):
    """Spike and slab with five predictors that matter, of strengths from weak to strong."""

    family: str
    X: np.ndarray
    y: np.ndarray

    def model(self):
        d = self.X.shape[1]
        with pm.Model() as model:
            gamma = pm.Bernoulli("gamma", A, shape=d)
            predictor = self.X @ (gamma * pm.Normal("w", 0, 1, shape=d))
            if self.family == "probit":
                pm.Bernoulli("y", p=pm.math.invprobit(predictor), observed=self.y)
            elif self.family == "logit":
                pm.Bernoulli("y", logit_p=predictor, observed=self.y)
            else:
                pm.StudentT("y", nu=NU, mu=predictor, sigma=SCALE, observed=self.y)
        return model

    def log_joint(self, gamma, w):
        """Return log p(y, γ, w) up to a constant, without the weights that are off."""
        beta = gamma * w
        eta, sign = beta @ self.X.T, 2 * self.y - 1
        if self.family == "probit":
            rows = log_ndtr(sign * eta)
        elif self.family == "logit":
            rows = log_expit(sign * eta)
        else:
            rows = -0.5 * (NU + 1) * np.log1p(((self.y - eta) / SCALE) ** 2 / NU)
        slab = -0.5 * beta**2 + gamma * (np.log(A / (1 - A)) - 0.5 * np.log(2 * np.pi))
        return rows.sum(axis=-1) + slab.sum(axis=-1)


def make_data(family, N, d, correlation, seed):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(N, 1))
    X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(N, d))
    eta = X[:, :5] @ np.linspace(0.2, 1.0, 5)
    if family == "Student-t":
        return Data(family, X, eta + SCALE * rng.standard_t(NU, size=N))
    probability = ndtr(eta) if family == "probit" else expit(eta)
    return Data(family, X, (rng.random(N) < probability).astype(int))


def race(data, runners, seed, quick):
    """Return ratios of effective draws per second, without and with compilation, and details.

    ``runners`` maps two names to a step and the numbers of draws, kept and thrown away.
    """
    model, rates, wholes, texts, chosen = data.model(), [], [], [], None
    for name, (method, draws, tune) in runners.items():
        draws, tune = (60, 60) if quick else (draws, tune)
        posterior, seconds, whole = sample_whole(model, draws, tune, seed, method)
        gamma, w = posterior["gamma"].values, posterior["w"].values
        chosen = choose(gamma) if chosen is None else chosen
        size, kind = worst_of_three(gamma, w, data.log_joint(gamma, w), chosen)
        rates.append(size / seconds)
        wholes.append(size / whole)
        share = f"{size / draws:.2g} per draw ({kind})"
        texts.append(
            f"{name}: {share}, {number(draws / seconds)} draws/s, {number(whole)} s in all"
        )
    return rates[0] / rates[1], wholes[0] / wholes[1], "; ".join(texts)


def default(quick):
    """The step against PyMC's default on the same models, one chain each."""
    runners = {"ours": (ExactBinaryHMC, 8000, 500), "default": (None, 1000, 500)}
    rows = []
    for family, (N, d, correlation, target) in CASES.items():
        found = [
            race(make_data(family, N, d, correlation, seed), runners, seed, quick)
            for seed in seeds(quick)[:3]
        ]
        values, wholes, details = map(list, zip(*found, strict=True))
        name = f"{family}, N = {N}, d = {d}: effective draws per second over PyMC's default"
        rows.append(Row(name, "×", target, True, values, details, wholes))
    return rows


def joint(quick):
    """Probit: the default, jumps and latents held, against latents moved as in the paper."""
    runners = {
        "default": (ExactBinaryHMC, 5000, 300),
        "joint": (partial(ExactBinaryHMC, kernel="paper"), 5000, 300),
    }
    rows = []
    for N, d in ((50, 10), (200, 20)):
        found = [
            race(make_data("probit", N, d, 0.5, seed), runners, seed, quick)
            for seed in seeds(quick)[:3]
        ]
        values, wholes, details = map(list, zip(*found, strict=True))
        name = f"probit, N = {N}, d = {d}: the default over latents moved jointly"
        rows.append(Row(name, "×", 1, True, values, details, wholes))
    return rows


def latents(quick):
    """Cost of the latent draws alone, per observation."""
    N = 2_000 if quick else 20_000
    rng = np.random.default_rng(2)
    y, ones = (rng.random(N) < 0.5).astype(float), np.ones(N)
    families = {
        "probit": (Probit(y), 100),
        "censored Normal": (Censored(y, 0 * ones, ones), 100),
        "Student-t": (Student(y, 4 * ones), 100),
        "Laplace": (Laplace(y, 0 * ones), 100),
        "Pólya–Gamma(1, ·)": (Logistic(y, ones), 1000),
    }
    rows = []
    for name, (family, target) in families.items():
        working = Working(
            np.zeros((N, 1)), rng.normal(size=N), np.ones(1), np.zeros(N, np.int64), ones,
            np.zeros(N), np.zeros(N), np.zeros(N),
        )  # fmt: skip
        state = np.full(1, 0), np.zeros(1, np.int8), np.zeros(1), np.zeros(1, np.int64)
        arguments = (family, working, *state, seed_words(rng), np.zeros((1, 1)), np.zeros(1))
        redraw(*arguments)
        values = [1e9 * timed(redraw, *arguments)[0] / N for _ in seeds(quick)]
        text = [""] * len(values)
        rows.append(Row(f"latents of {name}, per observation", " ns", target, False, values, text))
    return rows


BENCHMARKS = [default, joint, latents]

if __name__ == "__main__":
    main(BENCHMARKS, "likelihoods", __doc__)
