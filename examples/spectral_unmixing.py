"""What is this pixel made of? Sparse non-negative unmixing of a spectrum.

An imaging spectrometer sees in each pixel a sum of the spectra of the materials in it, with
non-negative abundances. The (simulated) library has 32 minerals with broad absorption bands, each
at two grain sizes: 64 columns, most pairs with a cosine above 0.95, grain sizes above 0.99. Four
are in the pixel. Which?

Non-negative least squares fits the noise with fifteen of them. With an indicator and a HalfNormal
abundance for each, the four minerals are named, and the answer says what cannot be known: the grain
size of the faintest one. Its two spectra stand in for each other, and the sampler warns of that.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
from scipy.optimize import nnls

from pymc_exact_hmc import ExactBinaryHMC, explain, inclusion_summary

MINERALS, BANDS, NOISE = 32, 120, 0.004
GRAINS = {"fine": 1.0, "coarse": 1.6}
PRESENT = {(4, 0): 0.35, (11, 1): 0.25, (18, 0): 0.15, (25, 1): 0.08}
BLUE, ORANGE, GREEN, GREY = "#3B8EC2", "#DB6A2B", "#1F9E78", "#8C8C8C"


def make_data(seed=2):
    """Return wavelengths, the library (band, mineral, grain), a pixel and its abundances."""
    rng = np.random.default_rng(seed)
    wavelength = np.linspace(0.4, 2.5, BANDS)
    library = np.empty((BANDS, MINERALS, len(GRAINS)))
    for mineral in range(MINERALS):
        slope, bend = rng.normal(0, [0.1, 0.08])
        continuum = 0.6 + slope * (wavelength - 1.4) + bend * (wavelength - 1.4) ** 2
        centre, width = rng.uniform(0.4, 2.5, 4), rng.uniform(0.03, 0.2, 4)
        depth = rng.uniform(0.05, 0.5, 4)
        bands = depth * np.exp(-0.5 * ((wavelength[:, None] - centre) / width) ** 2)
        # Light travels further in coarse grains: darker, with deeper bands.
        for grain, path_length in enumerate(GRAINS.values()):
            library[:, mineral, grain] = continuum * np.exp(-path_length * (0.2 + bands.sum(1)))
    truth = np.zeros((MINERALS, len(GRAINS)))
    for material, amount in PRESENT.items():
        truth[material] = amount
    noise = NOISE * rng.standard_normal(BANDS)
    return wavelength, library, np.tensordot(library, truth, 2) + noise, truth


def unmixing(library, pixel):
    columns = library.reshape(BANDS, -1)
    with pm.Model(coords={"mineral": np.arange(MINERALS), "grain": list(GRAINS)}) as model:
        present = pm.Bernoulli("present", pm.Beta("share", 1, 9), dims=("mineral", "grain"))
        size = pm.HalfNormal("size", 0.5, dims=("mineral", "grain"))
        abundance = pm.Deterministic("abundance", present * size, dims=("mineral", "grain"))
        noise = pm.HalfNormal("noise", 0.02)
        pm.Normal("pixel", columns @ abundance.ravel(), noise, observed=pixel)
    return model


def draw_figure(wavelength, library, pixel, truth, least_squares, posterior, path):
    mean = posterior.mean(("chain", "draw"))
    abundance, minerals = mean["abundance"].values, np.arange(MINERALS)
    fig, axes = plt.subplot_mosaic([["pixel"] * 2, ["present", "abundance"]], figsize=(9, 6.5),
                                   layout="constrained")  # fmt: skip
    axes["pixel"].plot(wavelength, pixel, ".", color=GREY, label="pixel")
    axes["pixel"].plot(wavelength, np.tensordot(library, abundance, 2), color=BLUE, label="fit")
    for mineral, _ in PRESENT:
        part = library[:, mineral] @ abundance[mineral]
        axes["pixel"].plot(wavelength, part, "--", color=ORANGE, lw=1)
        axes["pixel"].text(0.39, part[0], mineral, color=ORANGE, ha="right", va="center")
    axes["pixel"].plot([], [], "--", color=ORANGE, label="contribution of a mineral")
    axes["pixel"].set(xlabel="wavelength in µm", ylabel="reflectance", ylim=(0, 0.6))
    axes["pixel"].legend(ncols=3, loc="upper left")
    fine, coarse = mean["present"].values.T
    axes["present"].bar(minerals, fine, color=BLUE, label="fine")
    axes["present"].bar(minerals, coarse, bottom=fine, color=GREEN, label="coarse")
    axes["present"].set(ylabel="probability of being present", ylim=(0, 1.3))
    axes["present"].legend(ncols=2, loc="upper left")
    for values, mark, colour, name in ((least_squares, "x", ORANGE, "least squares, ≥ 0"),
                                       (abundance, "o", BLUE, "posterior mean"),
                                       (truth, "_", "k", "truth")):  # fmt: skip
        shown = np.flatnonzero(values.sum(1) > 0.003)
        axes["abundance"].plot(shown, values.sum(1)[shown], mark, color=colour, ms=6, label=name)
    axes["abundance"].set(ylabel="abundance, both grain sizes", ylim=(-0.02, 0.48))
    axes["abundance"].legend(loc="upper right")
    for name in ("present", "abundance"):
        axes[name].set(xlabel="mineral", xticks=[mineral for mineral, _ in PRESENT], xlim=(-1, 32))
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    wavelength, library, pixel, truth = make_data()
    model = unmixing(library, pixel)
    print(explain(model))
    with model:
        step = ExactBinaryHMC()
        idata = pm.sample(4000, tune=500, chains=4, step=step, random_seed=1, progressbar=False)
    table = inclusion_summary(idata, gamma="present", weights="size")
    columns = ["inclusion", "mcse", "mean_in", "sd_in", "ess", "r_hat", "note"]
    print(table.nlargest(8, "inclusion")[columns].round(3).to_string())
    least_squares = nnls(library.reshape(BANDS, -1), pixel)[0].reshape(truth.shape)
    draw_figure(wavelength, library, pixel, truth, least_squares, idata.posterior, path)
    print(f"Picture saved to {path}")

    # Each mineral at either grain size; what never changes has no standard error.
    found = (idata.posterior["present"].sum("grain") > 0).to_dataset(name="found")
    probability = found["found"].mean(("chain", "draw")).values
    margin = 5 * np.nan_to_num(az.mcse(found)["found"].values)
    planted = truth.any(axis=1)
    assert (probability - margin > 0.5)[planted].all(), "a mineral was missed"
    assert (probability + margin < 0.5)[~planted].all(), "a mineral was made up"
    error = np.abs(idata.posterior["abundance"].mean(("chain", "draw")).values - truth).sum()
    error_ls = np.abs(least_squares - truth).sum()
    print(f"Sum of absolute errors of the abundances: {error:.2f}, least squares {error_ls:.2f}")
    assert error < error_ls


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/spectral_unmixing.png"))
