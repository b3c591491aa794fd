"""The paper's regression as people have it: noise, slab and inclusion probability unknown.

700 observations of 150 correlated predictors, ten of them with a positive effect. Nobody knows
σ, τ and a, so they have priors; the step samples them too, with the weights integrated out as far
as can be, and no other step is needed. The effects are found as if the scales were known, and the
scales are found too.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm

from pymc_exact_hmc import ExactBinaryHMC, explain, inclusion_summary

N, D, EFFECTS, NOISE = 700, 150, 10, 10.0
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
        sigma = pm.HalfNormal("sigma", 20)
        tau = pm.HalfCauchy("tau", 10)
        a = pm.Beta("a", 1, 9)
        gamma = pm.Bernoulli("gamma", a, dims="predictor")
        w = pm.HalfNormal("w", tau, dims="predictor")
        pm.Normal("z", X @ (gamma * w), sigma, observed=z)
    return model


def draw_figure(idata, path):
    posterior = idata.posterior
    inclusion = posterior["gamma"].mean(("chain", "draw")).values
    truth = {"sigma": NOISE, "a": EFFECTS / D, "tau": None}
    labels = {"sigma": "noise σ", "tau": "slab τ", "a": "inclusion probability a"}
    fig, axes = plt.subplot_mosaic(
        [["gamma"] * 3, ["sigma", "tau", "a"]], figsize=(8, 6), layout="constrained"
    )
    axes["gamma"].vlines(np.arange(D), 0, inclusion, color=BLUE, lw=1.5)
    axes["gamma"].set(ylabel="inclusion probability", ylim=(0, 1.05), xlim=(-1, D))
    axes["gamma"].set(xlabel="predictor", title=f"{D} predictors, the first {EFFECTS} have effects")
    for name, value in truth.items():
        draws = posterior[name].values.ravel()
        most = np.quantile(draws, 0.995)
        axes[name].hist(draws, bins=np.linspace(draws.min(), most, 50), color=BLUE, density=True)
        if value is not None:
            axes[name].axvline(value, color=ORANGE, label="truth")
            axes[name].legend()
        axes[name].set(xlabel=labels[name], yticks=[])
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    X, z, truth = make_data()
    model = regression(X, z)
    print(explain(model))
    with model:
        idata = pm.sample(2000, chains=4, step=ExactBinaryHMC(), random_seed=1, progressbar=False)
    print(az.summary(idata, var_names=["sigma", "tau", "a"]))
    draw_figure(idata, path)
    print(f"Picture saved to {path}")

    for name, value in (("sigma", NOISE), ("a", EFFECTS / D)):
        low, high = np.quantile(idata.posterior[name], [0.005, 0.995])
        assert low < value < high, f"{name} is not where it should be"
    table = inclusion_summary(idata)
    margin = 5 * table["mcse"].fillna(0)  # what never changes has no standard error
    assert (table["inclusion"] - margin > 0.5)[truth > 0].all(), "an effect was missed"
    assert (table["inclusion"] + margin < 0.5)[truth == 0].all(), "an effect was made up"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/unknown_scales.png"))
