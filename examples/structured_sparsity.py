"""Which region of an image predicts an outcome? Sparsity with neighbours that hold together.

150 people, an image of 16 × 16 pixels of each (smooth, as images are) and a score. Two regions of
the image have an effect. There are more pixels than people, so the prior matters: with independent
indicators the effect is scattered over pixels; an Ising prior, in which neighbouring indicators
prefer to agree, knows that effects come in regions (as in Goldsmith, Huang and Crainiceanu 2014,
"Smooth scalar-on-image regression via spatial Bayesian variable selection").

The coupling is a potential, recognised as quadratic and sparse; indicators and weights move
together as before. How strong it should be is not learnt here: its normalising constant would be
needed, see ising_unknown_beta.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
from matplotlib.colors import LinearSegmentedColormap
from scipy.ndimage import gaussian_filter

from pymc_exact_hmc import ExactBinaryHMC, explain

L, N, NOISE, SLAB = 16, 150, 1.0, 0.5
COUPLING, FIELD = 0.9, -0.5
BLUE, ORANGE, GREY = "#3B8EC2", "#DB6A2B", "#8C8C8C"


def make_data(seed=1):
    """Return images, scores, and which pixels have an effect."""
    rng = np.random.default_rng(seed)
    images = gaussian_filter(rng.standard_normal((N, L, L)), (0, 0.8, 0.8), mode="wrap")
    images /= images.std()
    row, column = np.mgrid[:L, :L]
    disc = (row - 4) ** 2 + (column - 5) ** 2 < 8
    bar = (abs(row - 11) < 2) & (abs(column - 11) < 3)
    effect = 0.5 * disc - 0.5 * bar
    score = (images * effect).sum((1, 2)) + NOISE * rng.standard_normal(N)
    return images.reshape(N, -1), score, effect


def selection(X, y, share, *, coupled):
    with pm.Model(coords={"row": np.arange(L), "column": np.arange(L)}) as model:
        gamma = pm.Bernoulli("gamma", 0.5 if coupled else share, dims=("row", "column"))
        w = pm.Normal("w", 0, SLAB, dims=("row", "column"))
        if coupled:
            s = 2 * gamma - 1
            agreement = (s[1:] * s[:-1]).sum() + (s[:, 1:] * s[:, :-1]).sum()
            pm.Potential("regions", COUPLING / 2 * agreement + FIELD / 2 * s.sum())
        pm.Normal("score", X @ (gamma * w).ravel(), NOISE, observed=y)
    return model


def draw_figure(image, effect, estimates, inclusion, path):
    fig, axes = plt.subplots(2, 3, figsize=(9, 5.6), layout="constrained")
    colours = LinearSegmentedColormap.from_list("", ["#B34700", ORANGE, "white", BLUE, "#00598C"])
    axes[0, 0].imshow(effect, cmap=colours, vmin=-0.6, vmax=0.6)
    axes[0, 0].set_title("planted effect")
    axes[1, 0].imshow(image, cmap="Greys")
    axes[1, 0].set_title(f"one of {N} images")
    for column, title in enumerate(estimates, start=1):
        top, bottom = axes[:, column]
        wrong = np.sum((inclusion[title] > 0.5) != (effect != 0))
        mean = top.imshow(estimates[title], cmap=colours, vmin=-0.6, vmax=0.6)
        top.set_title(f"{title}: mean effect")
        chance = bottom.imshow(inclusion[title], cmap="Greys", vmin=0, vmax=1)
        bottom.contour(effect != 0, [0.5], colors=ORANGE, linewidths=1.5)
        bottom.set_title(f"inclusion, pixels wrong: {wrong}")
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
    fig.colorbar(mean, ax=axes[0], label="effect")
    fig.colorbar(chance, ax=axes[1], label="inclusion probability")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    X, y, effect = make_data()
    planted = effect != 0
    estimates, inclusion = {}, {}
    for title, coupled in (("independent", False), ("coupled", True)):
        # The independent prior is given the true share, which nobody knows: it cannot do better.
        model = selection(X, y, planted.mean(), coupled=coupled)
        print(explain(model))
        with model:
            step = ExactBinaryHMC()
            idata = pm.sample(1000, tune=500, chains=4, step=step, random_seed=1, progressbar=False)
        posterior = idata.posterior
        inclusion[title] = posterior["gamma"].mean(("chain", "draw")).values
        estimates[title] = (posterior["gamma"] * posterior["w"]).mean(("chain", "draw")).values
        r_hat = float(az.rhat(idata, var_names=["gamma"])["gamma"].max())
        wrong = np.sum((inclusion[title] > 0.5) != planted)
        print(f"{title}: {wrong} of {planted.size} pixels wrong, largest R-hat {r_hat:.3f}\n")
        assert r_hat < 1.05, "the chains disagree"
    draw_figure(X[0].reshape(L, L), effect, estimates, inclusion, path)
    print(f"Picture saved to {path}")

    brier = {title: np.mean((p - planted) ** 2) for title, p in inclusion.items()}
    for title, error in brier.items():
        print(f"mean squared error of the inclusion probabilities, {title}: {error:.4f}")
    assert brier["coupled"] < brier["independent"] / 2
    assert ((inclusion["coupled"] > 0.5) == planted).mean() > 0.97


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/structured_sparsity.png"))
