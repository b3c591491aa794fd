"""Variable selection with planted outliers: Gaussian noise against Student-t noise.

80 observations of 20 predictors, four of which matter. Ten observations are shifted far off,
more so where another predictor is large: under Gaussian noise that predictor is taken for one
that matters and weak ones are lost. Under Student-t noise a latent scale lets each row count less:
all four are found, the decoy is not, and one other predictor remains in doubt.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm

from pymc_exact_hmc import ExactBinaryHMC, explain, inclusion_summary

N, D, OUTLIERS = 80, 20, 10
TRUE = np.array([1.5, -1.0, 0.8, 0.6])
DECOY = 10
BLUE, ORANGE = "#3B8EC2", "#DB6A2B"


def make_data():
    """Return predictors, response, and which rows are outliers."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(N, D))
    y = X[:, : TRUE.size] @ TRUE + 0.7 * rng.normal(size=N)
    rows = np.argsort(-X[:, DECOY])[:OUTLIERS]
    y[rows] += rng.uniform(4, 10, OUTLIERS)
    return X, y, np.isin(np.arange(N), rows)


def selection(noise, X, y):
    with pm.Model(coords={"predictor": np.arange(D)}) as model:
        gamma = pm.Bernoulli("gamma", 0.2, dims="predictor")
        w = pm.Normal("w", 0, 1.5, dims="predictor")
        sigma = pm.HalfNormal("sigma", 2)
        mean = pm.Normal("intercept", 0, 3) + X @ (gamma * w)
        if noise == "Gaussian":
            pm.Normal("y", mean, sigma, observed=y)
        else:
            nu = pm.Gamma("nu", 2, 0.5)
            pm.StudentT("y", nu=nu, mu=mean, sigma=sigma, observed=y)
    return model


def residuals(posterior, X, y):
    """Return the residuals at the posterior mean of the coefficients."""
    weights = (posterior["gamma"] * posterior["w"]).mean(("chain", "draw")).values
    return y - X @ weights - float(posterior["intercept"].mean())


def draw_figure(inclusion, resid, outlier, path):
    fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for k, (noise, colour) in enumerate((("Gaussian", ORANGE), ("Student-t", BLUE))):
        left.bar(np.arange(D) + 0.4 * k - 0.2, inclusion[noise], 0.38, color=colour, label=noise)
    left.axvspan(-0.5, TRUE.size - 0.5, color="0.92", zorder=0)
    left.set(xlabel="predictor (shaded: those that matter)", ylabel="inclusion probability")
    left.set_xticks(np.arange(0, D, 2))
    left.legend(title="noise")
    for shown, marker, name in ((~outlier, "o", "others"), (outlier, "X", "planted outliers")):
        right.scatter(resid["Gaussian"][shown], resid["Student-t"][shown], marker=marker,
                      color=ORANGE if marker == "X" else "0.4", label=name)  # fmt: skip
    ends = np.array(right.get_xlim())
    right.plot(ends, ends, ":", color="0.6", zorder=0)
    right.set(xlabel="residual, Gaussian noise", ylabel="residual, Student-t noise")
    right.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    X, y, outlier = make_data()
    inclusion, margin, resid = {}, {}, {}
    for noise in ("Gaussian", "Student-t"):
        model = selection(noise, X, y)
        print(explain(model))
        with model:
            idata = pm.sample(
                1000, tune=500, chains=4, step=ExactBinaryHMC(), random_seed=1, progressbar=False
            )
        table = inclusion_summary(idata, weights="w")
        inclusion[noise] = table["inclusion"].values
        margin[noise] = 5 * table["mcse"].fillna(0).values  # what never changes has no error
        resid[noise] = residuals(idata.posterior, X, y)
        matter, decoy = inclusion[noise][: TRUE.size], inclusion[noise][DECOY]
        print(f"{noise} noise: inclusion of those that matter {np.round(matter, 2)}, ", end="")
        print(f"of the decoy {decoy:.2f}\n")
    draw_figure(inclusion, resid, outlier, path)
    print(f"Picture saved to {path}")

    low = {noise: inclusion[noise] - margin[noise] for noise in inclusion}
    high = {noise: inclusion[noise] + margin[noise] for noise in inclusion}
    assert low["Gaussian"][DECOY] > 0.5, "Gaussian noise should have been fooled"
    assert high["Gaussian"][: TRUE.size].min() < 0.5, "Gaussian noise should have lost some"
    assert (low["Student-t"][: TRUE.size] > 0.5).all(), "an effect was missed"
    assert high["Student-t"][DECOY] < 0.5, "the decoy was taken for an effect"
    rest = np.arange(D) >= TRUE.size
    assert low["Student-t"][~rest].min() > high["Student-t"][rest].max()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/robust_selection.png"))
