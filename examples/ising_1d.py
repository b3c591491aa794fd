"""The one-dimensional Ising model of Pakman and Paninski (2013), section 4.1.

400 spins on a ring at inverse temperature 0.42. Prints a summary beside the exact values, then
compares the first draws of ExactBinaryHMC and of PyMC's own sampler for binary variables, both
started with every spin up.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc_exact_hmc import ExactBinaryHMC, explain

D, BETA = 400, 0.42
FIRST_DRAWS = 200
SHOWN = 100
BLUE, ORANGE = "#3B8EC2", "#DB6A2B"


def ising_ring():
    with pm.Model() as model:
        x = pm.Bernoulli("x", 0.5, shape=D)
        s = 2 * x - 1
        bonds = (s * pt.roll(s, 1)).sum()
        pm.Potential("coupling", BETA * bonds)
        pm.Deterministic("magnetisation", s.mean())
        pm.Deterministic("energy", -bonds / D)
    return model


def exact_moments():
    """Standard deviation of the magnetisation, and mean energy per spin, by transfer matrix."""
    t = np.tanh(BETA)
    variance = (1 + t) / (1 - t) * (1 - t**D) / (1 + t**D) / D
    return np.sqrt(variance), -(t + t ** (D - 1)) / (1 + t**D)


def first_draws(step_method):
    """Return the spins of a chain, from its start with all up."""
    start = np.ones((1, D), int)
    with ising_ring() as model:
        idata = pm.sample(
            FIRST_DRAWS,
            tune=0,
            chains=1,
            step=step_method([model["x"]]),
            initvals={"x": start[0]},
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
        )
    seconds = idata.posterior.attrs["sampling_time"]
    print(f"{step_method.__name__}: {FIRST_DRAWS} draws in {seconds:.2g} s")
    return 2 * np.concatenate([start, idata.posterior["x"].values[0]]) - 1


def compare(posterior, exact):
    """Fail if a mean is more than five Monte Carlo standard errors from the exact one."""
    for name, value in exact.items():
        draws = posterior["magnetisation"] ** 2 if name == "square" else posterior[name]
        mcse = az.mcse(draws.to_dataset(name=name))[name].item()
        errors = abs(draws.mean().item() - value) / mcse
        print(f"mean {name}: {errors:.1f} standard errors from the exact one")
        assert errors < 5, f"{name} is not the exact one"


def draw_figure(runs, path):
    fig, axes = plt.subplots(3, 1, figsize=(8, 7), sharex=True, layout="constrained")
    deviation, _ = exact_moments()
    axes[0].axhspan(-2 * deviation, 2 * deviation, color="0.9", label="exact mean ± 2 sd")
    for (name, spins), ax, colour in zip(runs.items(), axes[1:], (BLUE, ORANGE), strict=True):
        axes[0].plot(spins.mean(axis=1), color=colour, lw=1, label=name)
        image = spins[:, :SHOWN].T
        ax.imshow(image, aspect="auto", cmap="gray", interpolation="nearest", origin="lower")
        ax.set(ylabel="spin", title=f"{name}: the first {SHOWN} spins at each draw, white is up")
    title = f"1D Ising model, d = {D}, β = {BETA}: first {FIRST_DRAWS} draws, all spins up at first"
    axes[0].set(ylabel="magnetisation", title=title)
    axes[0].legend(loc="upper right")
    axes[-1].set_xlabel("draw")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    model = ising_ring()
    print(explain(model))
    with model:
        idata = pm.sample(1000, chains=4, step=ExactBinaryHMC(), random_seed=0, progressbar=False)
    print(az.summary(idata, var_names=["magnetisation", "energy"], round_to=4).to_string())
    deviation, energy = exact_moments()
    print(f"exact: magnetisation 0 ± {deviation:.4f}, energy {energy:.4f}")
    compare(idata.posterior, {"magnetisation": 0.0, "square": deviation**2, "energy": energy})

    samplers = [ExactBinaryHMC, pm.BinaryGibbsMetropolis]
    draw_figure({sampler.__name__: first_draws(sampler) for sampler in samplers}, path)
    print(f"Picture saved to {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/ising_1d.png"))
