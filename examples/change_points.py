"""When did the Nile change? One indicator for every year in which the level may jump.

The flow of the Nile at Aswan, 1871 to 1970 (Cobb 1978, Biometrika 65, 243), is known for a drop
about 1899. Nobody says beforehand how many jumps there are: each year has an indicator and a jump
of unknown size, and the columns of X are steps, so that neighbouring years are nearly the same
predictor. The answer is a probability for each year and for each number of jumps.

Given that there is exactly one jump, the years can be summed out by hand, and the sampled answer is
laid beside the exact one. If you know that there is one, do just that; with several, the sum has
too many terms and the sampler goes on.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
from scipy.special import logsumexp

from pymc_exact_hmc import ExactBinaryHMC, explain, inclusion_summary

# fmt: off
FLOW = np.array([  # 10⁸ m³ in each year from 1871
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180,
    799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833,
    701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845,
    864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649,
    846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815,
    1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
]) / 100.0
# fmt: on
YEARS = 1871 + np.arange(FLOW.size)
STEPS = (YEARS[:, None] >= YEARS[1:]).astype(float)
LEVEL, JUMP, NOISE, RATE = (10.0, 5.0), 3.0, 2.0, 0.02
BLUE, ORANGE, GREY = "#3B8EC2", "#DB6A2B", "#8C8C8C"


def jumps():
    with pm.Model(coords={"year": YEARS, "jump_year": YEARS[1:]}) as model:
        start = pm.Normal("start", *LEVEL)
        jumped = pm.Bernoulli("jumped", RATE, dims="jump_year")
        size = pm.Normal("size", 0, JUMP, dims="jump_year")
        level = pm.Deterministic("level", start + STEPS @ (jumped * size), dims="year")
        pm.Normal("flow", level, pm.HalfNormal("noise", NOISE), observed=FLOW)
    return model


def exact_year_of_the_jump():
    """Return the probability of each year given one jump, level, size and noise summed out."""
    y, prior = FLOW - LEVEL[0], np.diag([LEVEL[1] ** -2, JUMP**-2])
    noise = np.linspace(0.8, 2.2, 80)
    log_weight = np.empty((noise.size, STEPS.shape[1]))
    for i, sigma in enumerate(noise):
        for j, step in enumerate(STEPS.T):
            design = np.stack([np.ones(y.size), step]) / sigma
            precision, slope = design @ design.T + prior, design @ y / sigma
            gain = slope @ np.linalg.solve(precision, slope) - np.linalg.slogdet(precision)[1]
            log_weight[i, j] = gain / 2 - y.size * np.log(sigma)
        log_weight[i] -= 0.5 * (y @ y / sigma**2 + (sigma / NOISE) ** 2)
    return np.exp(logsumexp(log_weight, axis=0) - logsumexp(log_weight))


def draw_figure(posterior, exact, path):
    one = posterior["jumped"].sum("jump_year") == 1
    sampled = posterior["jumped"].where(one).mean(("chain", "draw")).values
    level = posterior["level"].values.reshape(-1, FLOW.size)
    low, middle, high = np.quantile(level, [0.05, 0.5, 0.95], axis=0)
    number = np.bincount(posterior["jumped"].values.sum(-1).ravel()) / one.size

    fig, axes = plt.subplot_mosaic([["flow"] * 2, ["year", "number"]], figsize=(8, 6),
                                   layout="constrained")  # fmt: skip
    axes["flow"].plot(YEARS, FLOW, ".-", color=GREY, lw=0.7, label="flow")
    axes["flow"].fill_between(YEARS, low, high, color=BLUE, alpha=0.3, lw=0, label="90 % band")
    axes["flow"].plot(YEARS, middle, color=BLUE, label="level, median")
    axes["flow"].set(ylabel="flow in 10¹⁰ m³", xlabel="year", title="The Nile at Aswan")
    axes["flow"].legend(ncols=3, loc="upper right")
    shown = slice(1893 - YEARS[1], 1905 - YEARS[1])
    axes["year"].bar(YEARS[1:][shown], exact[shown], color=BLUE, label="exact")
    axes["year"].plot(YEARS[1:][shown], sampled[shown], "o", color=ORANGE, label="sampled")
    axes["year"].set(xlabel="year of the jump, given one jump", ylabel="probability")
    axes["year"].legend()
    axes["number"].bar(np.arange(number.size), number, color=BLUE)
    axes["number"].set(xlabel="number of jumps", ylabel="probability", xlim=(-0.5, 5.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    model = jumps()
    print(explain(model))
    with model:
        idata = pm.sample(4000, chains=4, step=ExactBinaryHMC(), random_seed=1, progressbar=False)
    posterior, exact = idata.posterior, exact_year_of_the_jump()
    table = inclusion_summary(idata, gamma="jumped", weights="size")
    columns = ["inclusion", "mcse", "mean_in", "sd_in", "ess", "r_hat"]
    print(table.nlargest(6, "inclusion")[columns].round(3).to_string())
    draw_figure(posterior, exact, path)
    print(f"Picture saved to {path}")

    # Over the draws with one jump, jumped - exact is 0 on average: how far off is it?
    gap = (posterior["jumped"] - exact).where(posterior["jumped"].sum("jump_year") == 1, 0.0)
    gap = gap.isel(jump_year=np.flatnonzero(exact > 0.01)).to_dataset(name="gap")
    errors = np.abs(gap["gap"].mean(("chain", "draw")) / az.mcse(gap)["gap"])
    print(f"Largest distance from the exact answer: {errors.max().item():.1f} standard errors")
    assert (errors < 5).all(), "the sampled years are not the exact ones"
    assert table["inclusion"].idxmax() == 1899


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/change_points.png"))
