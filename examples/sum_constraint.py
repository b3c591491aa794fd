"""Positive coefficients that add up to no more than a budget, most of them zero.

The paper's regression with positive coefficients (section 4.3), smaller and noisier, with one
more thing known: what the predictors in use contribute adds up to at most BUDGET. A coefficient
that is switched off counts as 0 in that sum. The same answer could be had by sampling without a
budget and throwing draws away, as long as enough of them are left: here they are, and both agree.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc_exact_hmc import ExactBinaryHMC, explain

N, D, EFFECTS = 80, 30, 5
NOISE, SLAB, INCLUSION, BUDGET = 6.0, 3.0, 0.2, 8.0
BLUE, ORANGE = "#3B8EC2", "#DB6A2B"


def make_data(seed=2):
    rng = np.random.default_rng(seed)
    covariance = np.full((D, D), 0.3) + 2.7 * np.eye(D)
    X = rng.multivariate_normal(np.zeros(D), covariance, size=N)
    truth = np.zeros(D)
    truth[:EFFECTS] = np.linspace(0.5, 2.5, EFFECTS)
    return X, X @ truth + NOISE * rng.standard_normal(N), truth


def regression(X, z, *, budget):
    with pm.Model(coords={"predictor": np.arange(D)}) as model:
        gamma = pm.Bernoulli("gamma", INCLUSION, dims="predictor")
        w = pm.HalfNormal("w", SLAB, dims="predictor")
        beta = pm.Deterministic("beta", gamma * w, dims="predictor")
        pm.Normal("z", X @ beta, NOISE, observed=z)
        if budget:
            pm.Potential("budget", pt.switch(beta.sum() <= BUDGET, 0, -np.inf))
    return model


def draw_figure(idatas, truth, path):
    fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for (title, idata), color in zip(idatas.items(), (ORANGE, BLUE), strict=True):
        beta = idata.posterior["beta"].values.reshape(-1, D)
        axes[0].hist(
            beta.sum(axis=1),
            bins=np.linspace(4, 12, 81),
            density=True,
            color=color,
            alpha=0.5,
            label=title,
        )
        axes[1].plot(beta.mean(axis=0), "o", color=color, ms=5, label=title)
    axes[0].axvline(BUDGET, color="black", lw=1, label="budget")
    axes[0].set(xlabel="sum of the coefficients", ylabel="density", yticks=[])
    axes[0].legend()
    axes[1].plot(truth, "_", color="black", ms=12, label="truth")
    axes[1].set(xlabel="predictor", ylabel="posterior mean of the coefficient")
    axes[1].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def mcse(draws):
    return az.mcse(draws.to_dataset(name="it"))["it"].values


def main(path):
    X, z, truth = make_data()
    print(explain(regression(X, z, budget=True)))
    idatas = {}
    for title, budget in (("without a budget", False), ("with a budget", True)):
        with regression(X, z, budget=budget):
            step = ExactBinaryHMC()
            idatas[title] = pm.sample(3000, chains=4, step=step, random_seed=1, progressbar=False)
    for title, idata in idatas.items():
        total = idata.posterior["beta"].sum("predictor")
        print(f"{title}: the coefficients add up to {total.mean().item():.2f} on average, ", end="")
        print(f"{total.max().item():.2f} at most")
    draw_figure(idatas, truth, path)
    print(f"Picture saved to {path}")

    free, bounded = (idata.posterior["beta"] for idata in idatas.values())
    assert (bounded.sum("predictor") <= BUDGET).all(), "a draw is over the budget"
    # Over the free draws within the budget, beta - mean of the bounded draws is 0 on average.
    mean, within = bounded.mean(("chain", "draw")), free.sum("predictor") <= BUDGET
    gap = (free - mean).where(within, 0.0)
    error = np.hypot(mcse(gap), within.mean().item() * mcse(bounded))
    errors = np.abs(gap.mean(("chain", "draw")).values) / error
    print(f"{within.mean().item():.0%} of the free draws are within the budget; ", end="")
    print(f"their means differ from the bounded ones by at most {errors.max():.1f} standard errors")
    assert (errors < 5).all(), "the bounded draws are not the free ones within the budget"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/sum_constraint.png"))
