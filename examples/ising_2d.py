"""The two-dimensional Ising model of Pakman and Paninski (2013), section 4.2.

A 100 × 100 torus below the critical temperature, from disordered starts: how chains reach
equilibrium. Most order quickly. Some are caught with a stripe across the torus, which flips of
single spins take very long to remove: that is the physics of the model, and R-hat shows it. The
chains that have ordered have the energy that Onsager's solution gives.
"""

import math
import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.special import ellipk

from pymc_exact_hmc import ExactBinaryHMC

L, BETA = 100, 0.5
TRAVEL_TIME = 2.5 * math.pi
CHAINS, DRAWS = 8, 600
SNAPSHOTS = (1, 5, 20, 100, DRAWS)
BLUE, ORANGE = "#3B8EC2", "#DB6A2B"


def ising_torus():
    with pm.Model() as model:
        x = pm.Bernoulli("x", 0.5, shape=(L, L))
        s = 2 * x - 1
        bonds = (s * pt.roll(s, 1, axis=0)).sum() + (s * pt.roll(s, 1, axis=1)).sum()
        pm.Potential("coupling", BETA * bonds)
        pm.Deterministic("magnetisation", s.mean())
        pm.Deterministic("energy", -bonds / L**2)
    return model


def onsager():
    """Spontaneous magnetisation and energy per spin of the infinite lattice."""
    k = 2 * math.sinh(2 * BETA) / math.cosh(2 * BETA) ** 2
    bracket = 1 + 2 / math.pi * (2 * math.tanh(2 * BETA) ** 2 - 1) * ellipk(k**2)
    return (1 - math.sinh(2 * BETA) ** -4) ** 0.125, -bracket / math.tanh(2 * BETA)


def sample(model):
    """Return the draws, without the lattices, and a few lattices of each chain."""
    lattices = {}

    def keep(trace, draw):
        number = draw.draw_idx + 1
        if number in SNAPSHOTS:
            lattices[draw.chain, number] = np.array(draw.point["x"])

    with model:
        step = ExactBinaryHMC(travel_time=TRAVEL_TIME)
        print(step.explain())
        idata = pm.sample(
            DRAWS,
            tune=0,
            chains=CHAINS,
            step=step,
            var_names=["magnetisation", "energy"],
            callback=keep,
            random_seed=4,
            progressbar=False,
            compute_convergence_checks=False,
        )
    return idata, lattices


def draw_figure(idata, lattices, path):
    magnetisation = idata.posterior["magnetisation"].values
    log_density = -BETA * idata.posterior["energy"].values
    # One chain that ended in order, and the one that ended the furthest from it.
    final = np.abs(magnetisation[:, -1])
    shown = {int(np.argmax(final)): BLUE, int(np.argmin(final)): ORANGE}

    fig = plt.figure(figsize=(9, 8.5), layout="constrained")
    upper, lower = fig.subfigures(2, 1, height_ratios=[1, 1.1])
    left, right = upper.subplots(1, 2)
    order, energy = onsager()
    for ax, lines in ((left, magnetisation), (right, log_density)):
        for chain, line in enumerate(lines):
            front = 1 if chain in shown else 0
            colour = shown.get(chain, "0.75")
            ax.plot(np.arange(1, DRAWS + 1), line, color=colour, lw=1 + front, zorder=2 + front)
        ax.set(xscale="log", xlabel="draw", xlim=(1, DRAWS))
    for level in (-order, order):
        left.axhline(level, color="k", ls="--", lw=1)
    right.axhline(-BETA * energy, color="k", ls="--", lw=1, label="infinite lattice (Onsager)")
    right.legend(loc="lower right")
    left.set(ylabel="magnetisation", ylim=(-1.05, 1.05))
    right.set(ylabel="log-density per spin")
    upper.suptitle(f"2D Ising model, L = {L}, β = {BETA}, T = 2.5π: {CHAINS} chains")

    axes = lower.subplots(len(shown), len(SNAPSHOTS), squeeze=False)
    for row, (chain, colour) in zip(axes, shown.items(), strict=False):
        for ax, draw in zip(row, SNAPSHOTS, strict=True):
            ax.imshow(lattices[chain, draw], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
            ax.set(xticks=[], yticks=[], title=f"draw {draw}")
            ax.spines[:].set(color=colour, linewidth=2.5)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    idata, lattices = sample(ising_torus())
    later = idata.posterior.isel(draw=slice(2 * DRAWS // 3, None))
    print("last third of the draws:")
    print(az.summary(later, var_names=["magnetisation", "energy"], round_to=4).to_string())
    order, energy = onsager()
    print(f"infinite lattice: magnetisation ±{order:.4f}, energy {energy:.4f}")
    draw_figure(idata, lattices, path)
    print(f"Picture saved to {path}")

    assert abs(idata.sample_stats["ehmc_energy_error"]).max() < 1e-6
    ordered = later.isel(chain=np.flatnonzero(abs(later["magnetisation"][:, 0]) > 0.9))
    mean = ordered["energy"].mean().item()
    error = az.mcse(ordered, var_names=["energy"])["energy"].item()
    print(f"{ordered.sizes['chain']} chains in order: energy {mean:.4f} ± {error:.4f}")
    assert abs(mean - energy) < 5 * error, "not the energy of the infinite lattice"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/ising_2d.png"))
