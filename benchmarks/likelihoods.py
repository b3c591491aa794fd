"""Likelihoods beyond the Gaussian: effective draws per second of the worst indicator.

python benchmarks/likelihoods.py            # the step against PyMC's default, one chain each
python benchmarks/likelihoods.py latents    # nanoseconds per observation of latent draws
python benchmarks/likelihoods.py probit     # latents held, or moved jointly as in the paper
"""

import sys
import time

import arviz as az
import numpy as np
import pymc as pm
from scipy.special import expit, ndtr

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.likelihoods import Censored, Laplace, Logistic, Probit, Student
from pymc_exact_hmc.likelihoods.working import Working, redraw
from pymc_exact_hmc.random_stream import seed_words

SMOKE = "smoke" in sys.argv[1:]
A = 0.1


def design(N, d, correlation, rng):
    """Columns of variance 1, all pairs correlated alike."""
    shared = rng.normal(size=(N, 1))
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(N, d))


def model_of(family, N, d, correlation=0.5):
    """Spike and slab with five predictors that matter, of strengths from weak to strong."""
    rng = np.random.default_rng(1)
    X = design(N, d, correlation, rng)
    beta = np.zeros(d)
    beta[:5] = np.linspace(0.2, 1.0, 5)
    eta = X @ beta
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", A, shape=d)
        predictor = X @ (gamma * pm.Normal("w", 0, 1, shape=d))
        if family == "probit":
            y = rng.random(N) < ndtr(eta)
            pm.Bernoulli("y", p=pm.math.invprobit(predictor), observed=y.astype(int))
        elif family == "logit":
            y = rng.random(N) < expit(eta)
            pm.Bernoulli("y", logit_p=predictor, observed=y.astype(int))
        else:
            y = eta + 2.0 * rng.standard_t(4, size=N)
            pm.StudentT("y", nu=4, mu=predictor, sigma=2.0, observed=y)
    return model


def worst_rate(model, draws, tune, step=None):
    """Effective draws per second of the worst indicator with 0.02 < inclusion < 0.98."""
    options = {} if step is None else {"step": step}
    with model:
        began = time.perf_counter()
        idata = pm.sample(
            draws, tune=tune, chains=1, cores=1, random_seed=1, progressbar=False,
            compute_convergence_checks=False, **options,
        )  # fmt: skip
        seconds = time.perf_counter() - began
    s = idata.posterior["gamma"].values[0].astype(float)
    open_ = np.flatnonzero((s.mean(0) > 0.02) & (s.mean(0) < 0.98))
    # An indicator that never moved has no effective draws; ArviZ would say all of them are.
    ess = [float(az.ess(s[None, :, g])) for g in open_] or [0.0]
    return min(ess) * len(s) / (len(s) + tune) / seconds, 1e6 * seconds / (draws + tune)


def compare():
    """The step and PyMC's default on the same models, in one run."""
    print("| model | N | d | sampler | µs per draw | effective/s | ratio |")
    print("|---|---|---|---|---|---|---|")
    sizes = {"probit": (500, 50), "logit": (500, 50), "student": (700, 150)}
    for family, (N, d) in sizes.items():
        model = model_of(family, N, d, 0.5 if family != "student" else 0.1)
        step = ExactBinaryHMC(model=model)
        many, few = (200, 5) if SMOKE else (20_000, 1000)
        ours, ours_time = worst_rate(model, many, 200, step)
        default, default_time = worst_rate(model, few, few // 2)
        for name, rate, micro in (("default", default, default_time), ("step", ours, ours_time)):
            ratio = rate / default if default > 0 else np.inf
            print(f"| {family} | {N} | {d} | {name} | {micro:.0f} | {rate:.3g} | {ratio:.3g} |",
                  flush=True)  # fmt: skip


def latents():
    """Cost of a call of the latent draws alone, without the sums over rows."""
    N = 2_000 if SMOKE else 20_000
    rng = np.random.default_rng(2)
    y, ones = (rng.random(N) < 0.5).astype(float), np.ones(N)
    families = {
        "probit": Probit(y),
        "censored": Censored(y, 0 * ones, ones),
        "student": Student(y, 4 * ones),
        "laplace": Laplace(y, 0 * ones),
        "Pólya–Gamma(1)": Logistic(y, ones),
        "Pólya–Gamma(2.5)": Logistic(y, 2.5 * ones),
    }
    print("| latents | ns per observation |\n|---|---|")
    for name, family in families.items():
        working = Working(
            np.zeros((N, 1)), rng.normal(size=N), np.ones(1), np.zeros(N, np.int64), ones,
            np.zeros(N), np.zeros(N), np.zeros(N),
        )  # fmt: skip
        state = np.full(1, 0), np.zeros(1, np.int8), np.zeros(1), np.zeros(1, np.int64)
        arguments = (*state, seed_words(rng), np.zeros((1, 1)), np.zeros(1))
        redraw(family, working, *arguments)
        best = np.inf
        for _ in range(10):
            began = time.perf_counter()
            redraw(family, working, *arguments)
            best = min(best, time.perf_counter() - began)
        print(f"| {name} | {1e9 * best / N:.0f} |", flush=True)


def probit():
    """Latents held during a call against latents moved jointly with the weights."""
    print("| N | d | kernel | µs per draw | effective/s |\n|---|---|---|---|---|")
    for N, d in ((50, 10), (200, 20)):
        model = model_of("probit", N, d)
        for kernel, draws in (("sheared", 5_000), ("paper", 1_000)):
            step = ExactBinaryHMC(model=model, kernel=kernel)
            rate, micro = worst_rate(model, 100 if SMOKE else draws, 100, step)
            print(f"| {N} | {d} | {kernel} | {micro:.0f} | {rate:.3g} |", flush=True)


if __name__ == "__main__":
    probit() if "probit" in sys.argv else latents() if "latents" in sys.argv else compare()
