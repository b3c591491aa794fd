"""What drives the progression of diabetes? From a data frame to a conclusion.

442 patients, ten measurements, and their squares and products: 64 candidate predictors (Efron,
Hastie, Johnstone and Tibshirani 2004, "Least angle regression", with the columns' usual names).
Noise, effect size and the share of useful predictors are unknown and sampled by the same step.
Body mass index, blood pressure and ltg are in; squares and products are mostly not needed.
"""

import itertools
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pymc as pm

from pymc_exact_hmc import (
    ExactBinaryHMC,
    explain,
    inclusion_summary,
    model_summary,
    plot_coinclusion,
    plot_inclusion,
)

DATA = Path(__file__).parent / "data" / "diabetes.csv"


def read_data():
    """Return 64 standardised predictors and the standardised response."""
    frame = pd.read_csv(DATA)
    y = frame.pop("progression")
    main_effects = (frame - frame.mean()) / frame.std()
    columns = {name: main_effects[name] for name in main_effects}
    columns |= {f"{n}²": main_effects[n] ** 2 for n in main_effects if n != "sex"}
    for a, b in itertools.combinations(main_effects, 2):
        columns[f"{a}·{b}"] = main_effects[a] * main_effects[b]
    X = pd.DataFrame(columns)
    return (X - X.mean()) / X.std(), (y - y.mean()) / y.std()


def selection(X, y):
    with pm.Model(coords={"predictor": X.columns}) as model:
        sigma = pm.HalfNormal("sigma", 1)
        tau = pm.HalfNormal("tau", 1)
        a = pm.Beta("a", 1, 4)
        gamma = pm.Bernoulli("gamma", a, dims="predictor")
        w = pm.Normal("w", 0, tau, dims="predictor")
        pm.Normal("progression", X.to_numpy() @ (gamma * w), sigma, observed=y.to_numpy())
    return model


def draw_figure(idata, path):
    fig, axes = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
    plot_inclusion(idata, top=20, ax=axes[0])
    plot_coinclusion(idata, top=14, ax=axes[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    X, y = read_data()
    model = selection(X, y)
    print(explain(model))
    with model:
        step = ExactBinaryHMC(inclusion=True)
        idata = pm.sample(2000, chains=4, step=step, random_seed=1, progressbar=False)
    table = inclusion_summary(idata).sort_values("inclusion", ascending=False)
    print(table.head(12).round(3).to_string())
    print(model_summary(idata))
    draw_figure(idata, path)
    print(f"Picture saved to {path}")

    sure = table["inclusion"] - 5 * table["mcse"].fillna(0) > 0.5
    assert sure[["bmi", "bp", "ltg"]].all(), "a known predictor was missed"
    assert table["r_hat"].max() < 1.05, "the chains disagree"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/diabetes.png"))
