"""One picture of all targets: how far each measurement is on the right side of its own."""

from statistics import median

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

MET, MISSED = "#0072B2", "#D55E00"


def margin(row, value):
    """Return by how much a value is better than the target: above 1 is met."""
    return value / row.target if row.at_least else row.target / value


def summary_picture(rows, path):
    """Draw a line from the worst to the best repeat of each row, with a point at the median."""
    rows = [row for row in rows if row.target > 0 and min(row.values) > 0]
    figure, ax = plt.subplots(figsize=(9, 0.27 * len(rows) + 1.2), layout="constrained")
    for k, row in enumerate(reversed(rows)):
        colour = MET if row.met() else MISSED
        margins = [margin(row, value) for value in row.values]
        ax.plot([min(margins), max(margins)], [k, k], color=colour, lw=1.5, alpha=0.6)
        ax.plot(margin(row, median(row.values)), k, "o", ms=4.5, color=colour)
    ax.axvline(1, color="k", lw=1)
    labels = [plain(row.name) for row in reversed(rows)]
    ax.set_yticks(range(len(rows)), labels, fontsize=7)
    ax.set(xscale="log", xlabel="times better than the target (median and range of the seeds)")
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.grid(axis="x", alpha=0.25, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def plain(name, longest=80):
    text = name.replace("`", "")
    return text if len(text) <= longest else text[: longest - 1] + "…"
