"""One picture of the field: speed of every peer on every case, beside ours."""

from statistics import median

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

COLOURS = {
    "PyMC default": "#D55E00", "NumPyro DiscreteHMCGibbs": "#E69F00", "NumPyro MixedHMC": "#CC79A7",
    "millipede": "#009E73", "pair Gibbs, compiled": "#56B4E9", "Metropolis, compiled": "#7F7F7F",
    "NUTS, labels summed out": "#000000",
}  # fmt: skip


def relative_speeds(lines, reference):
    """Return, by case and peer, the peer's effective draws per second over ours."""
    rates = {}
    for line in lines:
        if line.status == "finished":
            rate = line.effective / line.seconds
            rates.setdefault((line.case, line.peer), {})[line.seed] = rate
    return {
        (case, peer): median(rate / rates[case, reference][seed] for seed, rate in found.items())
        for (case, peer), found in rates.items()
        if peer != reference and (case, reference) in rates
    }


def field_picture(lines, reference, path):
    """Draw a row for each case and a point for each peer; our own speed is the line at 1."""
    speeds = relative_speeds(lines, reference)
    cases = list(dict.fromkeys(line.case for line in lines))[::-1]
    figure, ax = plt.subplots(figsize=(8, 0.36 * len(cases) + 1.6), layout="constrained")
    for peer, colour in COLOURS.items():
        points = [(speed, cases.index(case)) for (case, p), speed in speeds.items() if p == peer]
        if points:
            ax.plot(*zip(*points, strict=True), "o", ms=6, color=colour, label=peer, alpha=0.85)
    ax.axvline(1, color="#0072B2", lw=2, label=reference)
    ax.set_yticks(range(len(cases)), cases)
    ax.set(xscale="log", ylim=(-0.6, len(cases) - 0.4))
    ax.set_xlabel("effective draws per second, as a multiple of ours; left is slower")
    ax.grid(alpha=0.25, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    figure.savefig(path, dpi=90)
    plt.close(figure)
