"""Measure likelihoods beyond the Gaussian against their targets, as ratios within one run.

    python benchmarks/likelihoods.py [--quick] [--only NAME ...] [--output FOLDER]

Prints a Markdown table and writes likelihoods.md and likelihoods.csv, to benchmarks/results by
default. Indicators count whose inclusion probability lies between 0.02 and 0.98; the worst of
them is reported. Compilation is not timed.
"""

import numpy as np
import pymc as pm
from paper_regression import open_indicators, sample, worst_indicator
from runner import main, seeds, timed
from scipy.special import expit, ndtr
from table import Row, number

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.likelihoods import Censored, Laplace, Logistic, Probit, Student
from pymc_exact_hmc.likelihoods.working import Working, redraw
from pymc_exact_hmc.random_stream import seed_words

A = 0.1
CASES = {
    # family: (N, d, correlation of the columns, target)
    "probit": (500, 50, 0.5, 30),
    "logit": (500, 50, 0.5, 30),
    "Student-t": (700, 150, 0.1, 50),
}


def model_of(family, N, d, correlation, seed):
    """Spike and slab with five predictors that matter, of strengths from weak to strong."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(N, 1))
    X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(N, d))
    beta = np.zeros(d)
    beta[:5] = np.linspace(0.2, 1.0, 5)
    eta = X @ beta
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", A, shape=d)
        predictor = X @ (gamma * pm.Normal("w", 0, 1, shape=d))
        if family == "probit":
            y = (rng.random(N) < ndtr(eta)).astype(int)
            pm.Bernoulli("y", p=pm.math.invprobit(predictor), observed=y)
        elif family == "logit":
            y = (rng.random(N) < expit(eta)).astype(int)
            pm.Bernoulli("y", logit_p=predictor, observed=y)
        else:
            y = eta + 2.0 * rng.standard_t(4, size=N)
            pm.StudentT("y", nu=4, mu=predictor, sigma=2.0, observed=y)
    return model


def default(quick):
    """The step against PyMC's default on the same models, one chain each."""
    rows = []
    for family, (N, d, correlation, target) in CASES.items():
        values, details = [], []
        for seed in seeds(quick)[:3]:
            model = model_of(family, N, d, correlation, seed)
            steps = {"ours": ExactBinaryHMC(model=model), "default": None}
            draws = {"ours": (8000, 500), "default": (1000, 500)}
            draws = dict.fromkeys(draws, (60, 60)) if quick else draws
            rates, texts, among = {}, [], None
            for name, step in steps.items():
                posterior, seconds = sample(model, *draws[name], seed, step=step)
                gamma = posterior["gamma"].values
                among = open_indicators(gamma) if among is None else among
                size = worst_indicator(gamma, among)
                rates[name] = size / seconds
                texts.append(
                    f"{name}: {size / draws[name][0]:.2g} per draw, "
                    f"{number(draws[name][0] / seconds)} draws/s"
                )
            values.append(rates["ours"] / rates["default"])
            details.append("; ".join(texts))
        name = f"{family}, N = {N}, d = {d}: effective draws per second over PyMC's default"
        rows.append(Row(name, "×", target, True, values, details))
    return rows


def joint(quick):
    """Probit: the default, jumps and latents held, against latents moved as in the paper."""
    rows = []
    for N, d in ((50, 10), (200, 20)):
        values, details = [], []
        for seed in seeds(quick)[:3]:
            model = model_of("probit", N, d, 0.5, seed)
            rates, among = [], None
            for kernel, draws in (("sheared", 5000), ("paper", 5000)):
                draws = 60 if quick else draws
                step = ExactBinaryHMC(model=model, kernel=kernel)
                posterior, seconds = sample(model, draws, 300, seed, step=step)
                gamma = posterior["gamma"].values
                among = open_indicators(gamma) if among is None else among
                rates.append(worst_indicator(gamma, among) / seconds)
            values.append(rates[0] / rates[1])
            details.append(f"default {number(rates[0])}/s, joint {number(rates[1])}/s")
        name = f"probit, N = {N}, d = {d}: the default over latents moved jointly"
        rows.append(Row(name, "×", 1, True, values, details))
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
