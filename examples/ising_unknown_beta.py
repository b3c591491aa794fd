"""A noisy image of an Ising lattice whose temperature is unknown.

A hidden 32 × 32 pattern is drawn from the Ising model on a torus at a known inverse temperature
β, and noise is added to every pixel. The posterior recovers both the pattern and β.

With β unknown the potential must contain the normalising constant log Z(β): without it, the
larger β, the larger the unnormalised density, and the answer would be wrong. On a torus Z is
known exactly (B. Kaufman, Physical Review 76, 1232, 1949), so it is written into the model.
"""

import math
import sys
from itertools import product
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc_exact_hmc import ExactBinaryHMC, explain

L, TRUE_BETA, NOISE = 32, 0.40, 1.0
CRITICAL_BETA = math.asinh(1) / 2
BLUE, ORANGE = "#3B8EC2", "#DB6A2B"


def bonds(s):
    """Σ s_i s_j over the neighbours of a torus; s is a PyTensor matrix."""
    return (s * pt.roll(s, 1, axis=0)).sum() + (s * pt.roll(s, 1, axis=1)).sum()


def log_partition(beta, rows, columns):
    """log Σ_s exp(β bonds(s)), exactly, for a torus."""
    twice = 2 * beta
    angles = np.pi * np.arange(1, 2 * rows) / rows
    gamma = pt.arccosh(pt.cosh(twice) / pt.tanh(twice) - np.cos(angles))
    first = twice + pt.log(pt.tanh(beta))  # γ₀ changes sign at the critical point
    odd = columns / 2 * gamma[0::2]
    even = columns / 2 * pt.concatenate([first[None], gamma[1::2]])
    # ∏ 2cosh + ∏ 2sinh over the odd and over the even ones, each as ∏ 2cosh · (1 + ∏ tanh).
    parts = [
        pt.logaddexp(half, -half).sum() + pt.log1p(pt.tanh(half).prod()) for half in (odd, even)
    ]
    return rows * columns / 2 * pt.log(2 * pt.sinh(twice)) + pt.logaddexp(*parts) - math.log(2)


def check_partition(beta=0.4, rows=3, columns=4):
    """Compare the formula with the sum over all states of a small lattice."""
    states = np.array(list(product([-1, 1], repeat=rows * columns))).reshape(-1, rows, columns)
    energies = sum((states * np.roll(states, 1, axis)).sum((1, 2)) for axis in (1, 2))
    total = np.logaddexp.reduce(beta * energies)
    formula = log_partition(pt.constant(beta), rows, columns).eval()
    print(f"log Z of a {rows} × {columns} torus: formula {formula:.10f}, sum {total:.10f}")
    assert abs(formula - total) < 1e-9


def hidden_lattice():
    """Draw the pattern from the Ising model at the true β."""
    with pm.Model():
        x = pm.Bernoulli("x", 0.5, shape=(L, L))
        pm.Potential("coupling", TRUE_BETA * bonds(2 * x - 1))
        idata = pm.sample(
            2000,
            tune=0,
            chains=1,
            step=ExactBinaryHMC(),
            random_seed=3,
            progressbar=False,
            compute_convergence_checks=False,
        )
    return 2 * idata.posterior["x"].values[0, -1] - 1


def denoising(image):
    with pm.Model() as model:
        beta = pm.Gamma("beta", 4, 10)
        # Bernoulli(½) makes every state equally likely before the potential.
        x = pm.Bernoulli("x", 0.5, shape=(L, L))
        s = 2 * x - 1
        pm.Potential("ising", beta * bonds(s) - log_partition(beta, L, L))
        pm.Normal("image", s, NOISE, observed=image)
        pm.Deterministic("magnetisation", s.mean())
    return model


def draw_figure(hidden, image, idata, path):
    recovered = 2 * idata.posterior["x"].mean(("chain", "draw")).values - 1
    beta = idata.posterior["beta"].values
    by_pixel = np.mean(np.sign(image) != hidden)
    by_model = np.mean(np.sign(recovered) != hidden)

    fig, axes = plt.subplots(2, 2, figsize=(8.5, 8), layout="constrained")
    panels = [
        (hidden, "hidden pattern", 1),
        (image, f"observed: sign wrong in {by_pixel:.0%} of pixels", 3),
        (recovered, f"posterior mean: sign wrong in {by_model:.0%}", 1),
    ]
    for ax, (picture, title, limit) in zip(axes.flat, panels, strict=False):
        ax.imshow(picture, cmap="gray", vmin=-limit, vmax=limit, interpolation="nearest")
        ax.set(title=title, xticks=[], yticks=[])
    ax = axes[1, 1]
    grid = np.linspace(0.25, 0.5, 200)
    prior = 10**4 / math.factorial(3) * grid**3 * np.exp(-10 * grid)
    ax.hist(beta.ravel(), bins=50, density=True, color=BLUE, alpha=0.6, label="posterior of β")
    ax.plot(grid, prior, color="0.3", label="prior")
    ax.axvline(TRUE_BETA, color=ORANGE, lw=2, label="truth")
    ax.axvline(CRITICAL_BETA, color="k", ls=":", label="critical point")
    ax.set(xlabel="β", yticks=[], ylabel="density", title="inverse temperature", xlim=(0.25, 0.5))
    ax.legend(loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    check_partition()
    hidden = hidden_lattice()
    image = hidden + NOISE * np.random.default_rng(0).standard_normal((L, L))
    model = denoising(image)
    print(explain(model))
    with model:
        step = ExactBinaryHMC()
        idata = pm.sample(700, tune=300, chains=4, step=step, random_seed=5, progressbar=False)
    print(az.summary(idata, var_names=["beta", "magnetisation"], round_to=4).to_string())
    print(f"truth: beta {TRUE_BETA:.4f}, magnetisation {hidden.mean():.4f}")
    draw_figure(hidden, image, idata, path)
    print(f"Picture saved to {path}")

    low, high = np.quantile(idata.posterior["beta"], [0.005, 0.995])
    assert low < TRUE_BETA < high, "β is not where it should be"
    recovered = idata.posterior["x"].mean(("chain", "draw")).values > 0.5
    wrong, wrong_alone = (np.mean(sign != (hidden > 0)) for sign in (recovered, image > 0))
    assert wrong < wrong_alone, "the neighbours did not help"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/ising_unknown_beta.png"))
