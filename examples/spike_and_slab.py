"""Spike-and-slab regression with positive coefficients: the paper's section 4.3.

700 observations of 150 correlated predictors, ten of them with an effect. The indicators, the
coefficients and their signs are sampled together; every other way to spell the model gives the
same draws. All ten are found, and nothing else is.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm

from pymc_exact_hmc import ExactBinaryHMC, explain, inclusion_summary

N, D, EFFECTS = 700, 150, 10
NOISE, SLAB, INCLUSION = 10.0, 10.0, 0.1
BLUE, ORANGE = "#3B8EC2", "#DB6A2B"


def make_data(seed=1):
    rng = np.random.default_rng(seed)
    covariance = np.full((D, D), 0.3) + 2.7 * np.eye(D)
    X = rng.multivariate_normal(np.zeros(D), covariance, size=N)
    truth = np.zeros(D)
    truth[:EFFECTS] = np.linspace(1, 10, EFFECTS)
    return X, X @ truth + NOISE * rng.standard_normal(N), truth


def regression(X, z):
    with pm.Model(coords={"predictor": np.arange(D)}) as model:
        gamma = pm.Bernoulli("gamma", INCLUSION, dims="predictor")
        w = pm.HalfNormal("w", SLAB, dims="predictor")
        beta = pm.Deterministic("beta", gamma * w, dims="predictor")
        pm.Normal("z", X @ beta, NOISE, observed=z)
    return model


def draw_figure(idata, truth, path):
    posterior = idata.posterior
    inclusion = posterior["gamma"].mean(("chain", "draw")).values
    beta = posterior["beta"].values
    low, high = np.quantile(beta, [0.05, 0.95], axis=(0, 1))
    fig, axes = plt.subplots(2, 1, figsize=(8, 6), layout="constrained")
    axes[0].vlines(np.arange(D), 0, inclusion, color=BLUE, lw=1.5)
    axes[0].set(ylabel="inclusion probability", ylim=(0, 1.05), xlim=(-1, D))
    axes[0].set_title(f"{D} predictors, {EFFECTS} with an effect (the first ten)")
    first = np.arange(2 * EFFECTS)
    axes[1].vlines(first, low[first], high[first], color=BLUE, lw=3, label="90 % interval")
    axes[1].plot(first, truth[first], "_", color=ORANGE, ms=14, mew=2, label="truth")
    axes[1].set(ylabel="coefficient", xlabel="predictor", xticks=first)
    axes[1].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    X, z, truth = make_data()
    model = regression(X, z)
    print(explain(model))
    with model:
        idata = pm.sample(2000, chains=4, step=ExactBinaryHMC(), random_seed=1, progressbar=False)
    table = inclusion_summary(idata, weights="w")
    columns = ["inclusion", "mcse", "mean_in", "sd_in", "ess", "r_hat"]
    print(table[columns].head(EFFECTS + 2).round(3).to_string())
    draw_figure(idata, truth, path)
    print(f"Picture saved to {path}")

    # What never changes has no standard error.
    margin = 5 * table["mcse"].fillna(0)
    assert (table["inclusion"] - margin > 0.5)[truth > 0].all(), "an effect was missed"
    assert (table["inclusion"] + margin < 0.5)[truth == 0].all(), "an effect was made up"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/spike_and_slab.png"))
