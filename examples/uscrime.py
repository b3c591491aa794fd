"""Which predictors explain crime rates? All 2¹⁵ models, exactly and by sampling.

The UScrime data (Ehrlich 1973; 47 states, 15 predictors), on the log scale as is usual. With the
noise known, the probability of every subset of predictors has a closed form, so the sampled
inclusion probabilities can be laid beside the exact ones.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm

from pymc_exact_hmc import ExactBinaryHMC, explain, inclusion_summary

DATA = Path(__file__).parent / "data" / "uscrime.csv"
SLAB, INCLUSION = 0.5, 0.5
BLUE, ORANGE = "#3B8EC2", "#DB6A2B"


def read_data():
    """Return names, standardised predictors and centred response, on the log scale."""
    names = DATA.read_text().splitlines()[0].split(",")
    table = np.genfromtxt(DATA, delimiter=",", skip_header=1)
    table = np.where([name == "So" for name in names], table, np.log(np.where(table > 0, table, 1)))
    X, y = table[:, :-1], table[:, -1]
    return names[:-1], (X - X.mean(0)) / X.std(0), y - y.mean()


def noise_scale(X, y):
    """Return the residual standard deviation of the full least-squares fit."""
    residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    return np.sqrt(residual @ residual / (len(y) - X.shape[1] - 1))


def selection(names, X, y, sigma):
    with pm.Model(coords={"predictor": names}) as model:
        gamma = pm.Bernoulli("gamma", INCLUSION, dims="predictor")
        w = pm.Normal("w", 0, SLAB, dims="predictor")
        pm.Normal("crime", X @ (gamma * w), sigma, observed=y)
    return model


def model_probabilities(X, y, sigma):
    """Return all 2¹⁵ models as rows of zeros and ones, and their posterior probabilities."""
    d = X.shape[1]
    gram, slope = X.T @ X / sigma**2, X.T @ y / sigma**2
    weights = np.empty(2**d)
    for code in range(2**d):
        on = np.flatnonzero(code >> np.arange(d) & 1)
        precision = gram[np.ix_(on, on)] + np.eye(on.size) / SLAB**2
        mean = np.linalg.solve(precision, slope[on])
        _, logdet = np.linalg.slogdet(precision)
        weights[code] = 0.5 * (slope[on] @ mean - logdet) - on.size * np.log(SLAB)
    weights += d * np.log(0.5)
    probability = np.exp(weights - weights.max())
    probability /= probability.sum()
    return np.arange(2**d)[:, None] >> np.arange(d) & 1, probability


def draw_figure(names, exact, sampled, path):
    order = np.argsort(-exact)
    fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    ax.bar(np.arange(len(names)), exact[order], color=BLUE, label="exact, all 32 768 models")
    ax.plot(sampled[order], "o", color=ORANGE, label="sampled")
    ax.set_xticks(np.arange(len(names)), [names[i] for i in order])
    ax.set(ylabel="inclusion probability", ylim=(0, 1.02), title="UScrime: which predictors?")
    ax.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    names, X, y = read_data()
    sigma = noise_scale(X, y)
    model = selection(names, X, y, sigma)
    print(explain(model))
    with model:
        idata = pm.sample(4000, chains=4, step=ExactBinaryHMC(), random_seed=1, progressbar=False)
    table = inclusion_summary(idata)
    included, probability = model_probabilities(X, y, sigma)
    table.insert(1, "exact", probability @ included)
    columns = ["inclusion", "exact", "mcse", "mean_in", "sd_in", "ess", "r_hat"]
    print(table[columns].round(4).to_string())
    draw_figure(names, table["exact"].values, table["inclusion"].values, path)
    print(f"Picture saved to {path}")

    errors = (table["inclusion"] - table["exact"]).abs() / table["mcse"]
    print(f"Largest distance from the exact answer: {errors.max():.1f} standard errors")
    assert (errors < 5).all(), "the sampled probabilities are not the exact ones"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/uscrime.png"))
