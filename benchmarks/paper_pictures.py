"""The pictures of the paper, drawn from our runs."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

COLOURS = {
    "HMC": "#0072B2", "HMC, T = 2.5π": "#0072B2", "Gaussian": "#0072B2",
    "the paper's HMC": "#0072B2", "our HMC": "#009E73", "our default": "#009E73",
    "Gaussian, y drawn afresh": "#009E73", "exponential": "#CC79A7",
    "Metropolis": "#D55E00", "pair Gibbs": "#D55E00",
}  # fmt: skip
DPI = 80


def save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    plt.close(figure)


def trace_picture(shown, path):
    """Magnetisation of each chain, and every state as a column of spins."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 5), layout="constrained", sharex=True)
    for (name, states), (upper, lower) in zip(shown.items(), axes.T, strict=True):
        upper.plot(states.mean(axis=1), color=COLOURS[name], lw=0.6)
        upper.axhline(0, color="k", lw=0.6)
        upper.set(title=name, ylim=(-0.6, 1.05))
        lower.imshow(states.T, aspect="auto", cmap="gray", interpolation="nearest")
        lower.set(xlabel="draw")
    axes[0, 0].set(ylabel="magnetisation")
    axes[1, 0].set(ylabel="spin")
    figure.suptitle("1D Ising model, d = 400, β = 0.42: T = 12.5π, and every 12.5 d proposals")
    save(figure, path)


def approach_picture(curves, level, path):
    """Log-density of every run against sweeps."""
    figure, axes = plt.subplots(
        1, len(curves), figsize=(9, 3.2), layout="constrained", sharey=True, sharex=True
    )
    for ax, (name, (sweeps, lines)) in zip(axes, curves.items(), strict=True):
        # As in the paper, the first draws, which would set the scale, are left out.
        later = sweeps > 10
        ax.plot(sweeps[later], lines[:, later].T, color=COLOURS[name], lw=0.5, alpha=0.6)
        ax.plot(
            sweeps[later], np.median(lines[:, later], axis=0), color="k", lw=1.5, label="median"
        )
        ax.axhline(level, color="k", ls="--", lw=0.8, label="equilibrium")
        ax.set(title=name, xlabel="sweeps", xscale="log")
    axes[0].set(ylabel="log-density per spin")
    axes[0].legend(loc="lower right", fontsize="small", frameon=False)
    figure.suptitle(f"2D Ising model, L = 100, β = 0.5: {len(lines)} runs from disorder")
    save(figure, path)


def efficiency_picture(turns, curves, path):
    """Smallest effective size over cost against n."""
    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for name, values in curves.items():
        ax.plot(turns, values, "o-", ms=3.5, lw=1.2, color=COLOURS[name], label=name)
    ax.set(xlabel="n, with T = (n − ½)π", ylabel="smallest effective size / sweeps per draw")
    ax.set_yscale("log")
    ax.legend(fontsize="small", frameon=False)
    ax.set_title("1D Ising model, d = 400, β = 0.42")
    save(figure, path)


def slab_picture(shown, path):
    """Likelihood, first coefficient and its autocorrelation."""
    order = ["the paper's HMC", "pair Gibbs", "our HMC"]
    figure, axes = plt.subplots(3, 3, figsize=(9, 6.5), layout="constrained", sharey="row")
    for name, column in zip(order, axes.T, strict=True):
        likelihood, first, cost = shown[name]
        column[0].plot(likelihood[:1000], color=COLOURS[name], lw=0.6)
        column[1].plot(first[:1000], color=COLOURS[name], lw=0.6)
        column[2].plot(autocorrelation(first, 100), color=COLOURS[name], lw=1.2)
        column[2].axhline(0, color="k", lw=0.6)
        column[0].set(title=f"{name}, {cost} per draw")
        column[1].set(xlabel="draw")
        column[2].set(xlabel="lag", ylim=(-0.1, 1.05))
    for ax, label in zip(
        axes[:, 0], ("log-likelihood", "first coefficient", "its ACF"), strict=True
    ):
        ax.set(ylabel=label)
    figure.suptitle("Spike and slab, w ≥ 0, N = 700, d = 150")
    save(figure, path)


def autocorrelation(series, lags):
    centred = series - series.mean()
    products = [np.mean(centred[: len(centred) - k] * centred[k:]) for k in range(lags + 1)]
    return np.array(products) / max(products[0], 1e-300)
