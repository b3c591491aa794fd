"""Monotone regression: a Gaussian process that is known to rise, without a single indicator.

A dose–response curve on a grid of doses, with a Gaussian process prior and the knowledge that
more is never less. The curve is a Gaussian cut by linear walls and is moved by exact
Hamiltonian Monte Carlo; the noise is left to NUTS. Knowing that it rises takes a third off the
error.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc_exact_hmc import ExactBinaryHMC, explain

GRID, N = 40, 60
BLUE, ORANGE, GREY = "#3B8EC2", "#DB6A2B", "#8C8C8C"


def truth(x):
    return 1.0 / (1.0 + np.exp(-12.0 * (x - 0.45))) + 0.2 * x


def make_data(seed=3):
    rng = np.random.default_rng(seed)
    place = rng.integers(0, GRID, size=N)
    dose = np.linspace(0.0, 1.0, GRID)
    return dose, place, truth(dose[place]) + 0.35 * rng.standard_normal(N)


def curve(dose, place, y, *, rising):
    covariance = np.exp(-0.5 * (dose[:, None] - dose) ** 2 / 0.15**2) + 1e-4 * np.eye(GRID)
    with pm.Model(coords={"dose": dose}) as model:
        noise = pm.HalfNormal("noise", 0.5)
        level = pm.Normal("level", 0.5, 1.0)
        bend = pm.MvNormal("bend", np.zeros(GRID), covariance, dims="dose")
        response = pm.Deterministic("response", level + bend, dims="dose")
        pm.Normal("y", response[place], noise, observed=y)
        if rising:
            pm.Potential("rising", pt.switch(pt.all(response[1:] >= response[:-1]), 0, -np.inf))
    return model


def draw_figure(idatas, dose, place, y, path):
    fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for ax, (title, idata) in zip(axes, idatas.items(), strict=True):
        response = idata.posterior["response"].values.reshape(-1, GRID)
        low, middle, high = np.quantile(response, [0.05, 0.5, 0.95], axis=0)
        ax.fill_between(dose, low, high, color=BLUE, alpha=0.25, lw=0, label="90 % band")
        ax.plot(dose, middle, color=BLUE, label="median")
        ax.plot(dose, truth(dose), color=ORANGE, ls="--", label="truth")
        ax.plot(dose[place], y, ".", color=GREY, ms=5)
        ax.set(title=title, xlabel="dose")
    axes[0].set_ylabel("response")
    axes[0].legend(loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    dose, place, y = make_data()
    print(explain(curve(dose, place, y, rising=True)))
    idatas = {}
    for title, rising in (("smooth", False), ("smooth and rising", True)):
        with curve(dose, place, y, rising=rising) as model:
            # Without a constraint the variables are named: nothing truncates them.
            given = None if rising else [model["level"], model["bend"]]
            step = ExactBinaryHMC(given)
            idatas[title] = pm.sample(1000, chains=4, step=step, random_seed=1, progressbar=False)
    rising = idatas["smooth and rising"]
    print(az.summary(rising, var_names=["response"], coords={"dose": dose[::8]}))
    print(f"{rising.sample_stats['ehmc_reflections'].mean().item():.0f} reflections per draw")
    draw_figure(idatas, dose, place, y, path)
    print(f"Picture saved to {path}")

    error = {}
    for title, idata in idatas.items():
        response = idata.posterior["response"]
        off = response.mean(("chain", "draw")).values - truth(dose)
        error[title] = np.sqrt(np.mean(off**2))
        print(f"{title}: root mean squared error {error[title]:.3f}")
        worst = float(az.rhat(idata, var_names=["response"])["response"].max())
        assert worst < 1.05, f"the chains disagree: R-hat {worst:.3f}"
    assert (rising.posterior["response"].diff("dose") >= 0).all(), "a curve falls"
    assert error["smooth and rising"] < error["smooth"]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/monotone_regression.png"))
