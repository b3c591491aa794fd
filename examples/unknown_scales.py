"""The paper's regression as people have it: noise, slab and inclusion probability unknown.

700 observations of 150 correlated predictors, ten of them with a positive effect. Nobody knows
σ, τ and a, so they have priors; the step samples them too, with the weights integrated out as far
as can be, and no other step is needed.

    python examples/unknown_scales.py [FIGURE]     saves figures/unknown_scales.png by default
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
from spike_and_slab import EFFECTS, NOISE, D, make_data

from pymc_exact_hmc import ExactBinaryHMC, explain

BLUE, ORANGE = "#0072B2", "#D55E00"


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
    fig.savefig(path, dpi=120)


def main():
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "figures/unknown_scales.png")
    X, z, _ = make_data()
    model = regression(X, z)
    print(explain(model))
    with model:
        idata = pm.sample(2000, step=ExactBinaryHMC(), random_seed=1, progressbar=False)
    print(az.summary(idata, var_names=["sigma", "tau", "a"]))
    low, high = np.quantile(idata.posterior["sigma"], [0.005, 0.995])
    assert low < NOISE < high, "the noise scale is not where it should be"
    draw_figure(idata, path)
    print(f"Figure saved to {path}")


if __name__ == "__main__":
    main()
