"""A straight line through data with outliers, with a flag for each point.

The data are the 20 points of Hogg, Bovy and Lang (2010, arXiv:1008.4686, table 1), of which the
first four do not follow the line. ExactBinaryHMC moves the flags, NUTS the line, the share of
outliers and their spread. The result is a line that the outliers do not pull, and for each point
the probability of being one: near 1 for three of the four, while the error bar of the other is so
long that it may as well belong to the line.

Flags that are independent given the rest can also be summed out by hand; NUTS alone then samples
the line, which is the better way if the flags are not of interest. Both give the same line.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc_exact_hmc import ExactBinaryHMC, explain

# fmt: off
POINTS = np.array([  # x, y, standard error of y
    [201, 592, 61], [244, 401, 25], [47, 583, 38], [287, 402, 15], [203, 495, 21],
    [58, 173, 15], [210, 479, 27], [202, 504, 14], [198, 510, 30], [158, 416, 16],
    [165, 393, 14], [201, 442, 25], [157, 317, 52], [131, 311, 16], [166, 400, 34],
    [160, 337, 31], [186, 423, 42], [125, 334, 26], [218, 533, 16], [146, 344, 22],
])
# fmt: on
X, Y, SIGMA = POINTS.T


def robust_line(*, flags):
    with pm.Model() as model:
        slope = pm.Normal("slope", 0, 5)
        # The height of the line at the mean of X is nearly independent of the slope.
        height = pm.Normal("height", Y.mean(), 200)
        line = height + slope * (X - X.mean())
        share = pm.Beta("share", 1, 4)
        # Outliers scatter much more widely: a spread near zero would not make them outliers.
        spread = pm.LogNormal("outlier_spread", np.log(200), 0.5)

        wide = pt.sqrt(SIGMA**2 + spread**2)
        if flags:
            outlier = pm.Bernoulli("outlier", share, shape=len(X))
            pm.Normal("y", line, pt.switch(outlier, wide, SIGMA), observed=Y)
        else:
            parts = [pm.Normal.dist(line, SIGMA), pm.Normal.dist(line, wide)]
            pm.Mixture("y", pt.stack([1 - share, share]), parts, observed=Y)
        pm.Deterministic("intercept", height - slope * X.mean())
    return model


def least_squares(keep):
    """Slope, intercept and their standard errors by weighted least squares."""
    design = np.stack([X[keep], np.ones(keep.sum())], axis=1) / SIGMA[keep, None]
    covariance = np.linalg.inv(design.T @ design)
    return covariance @ design.T @ (Y[keep] / SIGMA[keep]), np.sqrt(np.diag(covariance))


def draw_figure(idata, path):
    posterior = idata.posterior
    grid = np.linspace(30, 310)
    slope, intercept = (posterior[name].values.ravel()[:, None] for name in ("slope", "intercept"))
    low, middle, high = np.quantile(intercept + slope * grid, [0.025, 0.5, 0.975], axis=0)
    probability = posterior["outlier"].mean(("chain", "draw")).values

    fig, ax = plt.subplots(figsize=(7.5, 5.5), layout="constrained")
    ax.fill_between(grid, low, high, color="0.85", label="95 % band of the line")
    ax.plot(grid, middle, color="0.3", label="posterior median")
    (a, b), _ = least_squares(np.full(len(X), True))
    ax.plot(grid, a * grid + b, "k:", label="least squares, all points")
    ax.errorbar(X, Y, SIGMA, fmt="none", color="0.3", lw=1, zorder=2)
    points = ax.scatter(
        X, Y, c=probability, cmap="cividis", vmin=0, vmax=1, s=60, edgecolor="k", zorder=3
    )
    fig.colorbar(points, label="probability of being an outlier")
    ax.set(xlabel="x", ylabel="y", xlim=(30, 310), title="Robust regression with outlier flags")
    ax.legend(loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    model = robust_line(flags=True)
    print(explain(model))
    options = {"chains": 4, "random_seed": 1, "progressbar": False}
    with model:
        idata = pm.sample(1000, tune=500, step=ExactBinaryHMC(), **options)
    with robust_line(flags=False):
        summed_out = pm.sample(1000, tune=500, **options)
    names = ["slope", "intercept", "share", "outlier_spread"]
    print(az.summary(idata, var_names=names, round_to=2).to_string())
    (a, b), (a_error, b_error) = least_squares(np.arange(len(X)) >= 4)
    print(f"least squares without the first four points: slope {a:.2f} ± {a_error:.2f}, ", end="")
    print(f"intercept {b:.0f} ± {b_error:.0f}")
    flagged = idata.posterior["outlier"].mean(("chain", "draw")).values
    print("probability of being an outlier:", np.array2string(flagged, precision=2))
    draw_figure(idata, path)
    print(f"Picture saved to {path}")

    assert np.array_equal(np.flatnonzero(flagged > 0.5), [1, 2, 3]), "other points are flagged"
    for name in names:
        means = [trace.posterior[name].mean().item() for trace in (idata, summed_out)]
        error = np.hypot(*(az.mcse(trace)[name].item() for trace in (idata, summed_out)))
        assert abs(means[0] - means[1]) < 5 * error, f"{name}: {means} differ"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/outliers.png"))
