"""From a data frame to a conclusion: which predictors explain crime rates, and how sure are we?

The UScrime data (Ehrlich 1973; 47 states, 15 predictors), on the log scale as is usual. The noise
and the share of predictors that matter are unknown and sampled too. This is a walk through the
summaries and pictures: what the prior says, which predictors matter and by how much, which models
are likely, whether predictors stand in for each other, and whether the sampler has moved enough.
"""

# %% Set up
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pymc as pm

from pymc_exact_hmc import (
    ExactBinaryHMC,
    explain,
    inclusion_summary,
    model_summary,
    plot_coefficients,
    plot_coinclusion,
    plot_crossings,
    plot_inclusion,
    plot_models,
    plot_sizes,
    prior_inclusion,
)

DATA = Path(__file__).parent / "data" / "uscrime.csv"
NAMES = {
    "M": "young men", "So": "southern state", "Ed": "schooling", "Po1": "police 1960",
    "Po2": "police 1959", "LF": "labour force", "M.F": "men per woman", "Pop": "population",
    "NW": "nonwhite", "U1": "unemployed young", "U2": "unemployed older", "GDP": "wealth",
    "Ineq": "inequality", "Prob": "prison risk", "Time": "prison time", "y": "crime",
}  # fmt: skip
POLICE = ["police 1960", "police 1959"]


def main(path):
    # %% The data frame, with names that people can read
    frame = pd.read_csv(DATA)
    frame = frame.rename(columns={**NAMES, frame.columns[-1]: "crime"})
    logs = [name for name in frame.columns if name != "southern state"]
    frame[logs] = np.log(frame[logs])
    X = frame.drop(columns="crime")
    X = (X - X.mean()) / X.std()
    y = frame["crime"] - frame["crime"].mean()

    # %% The model: a share p of the predictors has an effect
    with pm.Model(coords={"predictor": list(X.columns)}) as model:
        p = pm.Beta("p", 2, 4)
        gamma = pm.Bernoulli("gamma", p, dims="predictor")
        w = pm.Normal("w", 0, 0.5, dims="predictor")
        sigma = pm.HalfNormal("sigma", 0.5)
        pm.Normal("crime", X.to_numpy() @ (gamma * w), sigma, observed=y.to_numpy())

    # %% Before sampling: what does the prior say, and what will the sampler do?
    prior = prior_inclusion(model)
    print(prior, explain(model), sep="\n\n")

    # %% Sample, with the probability of each indicator recorded
    with model:
        step = ExactBinaryHMC(inclusion=True)
        idata = pm.sample(2000, chains=4, step=step, random_seed=1, progressbar=False)

    # %% Which predictors, and how large are their effects?
    table = inclusion_summary(idata).sort_values("inclusion", ascending=False)
    columns = ["inclusion", "mcse", "mean_in", "hdi_low_in", "hdi_high_in", "ess", "r_hat", "note"]
    print(table[columns].round(3).to_string())

    # %% Which models? Police spending of two years is one thing said twice
    summary = model_summary(idata, prior=prior, groups={"police": POLICE})
    print(summary)

    # %% The same in pictures; the last one shows how often the sampler has moved each indicator
    fig, axes = plt.subplots(2, 3, figsize=(15, 9), layout="constrained")
    for ax, plot in zip(axes.flat, (plot_inclusion, plot_coefficients, plot_models), strict=False):
        plot(idata, ax=ax)
    plot_coinclusion(idata, top=8, ax=axes[1, 0])
    plot_sizes(idata, prior=prior, ax=axes[1, 1])
    plot_crossings(idata, ax=axes[1, 2])
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)
    print(f"Picture saved to {path}")

    # %% The conclusion
    conclude(table, summary)


def conclude(table, summary):
    factors = summary.bayes_factors["bayes_factor"]
    sure = table.index[(table["inclusion"] > 0.5) & (table["mcse"] < 0.05)]
    print(f"\nMore probable in than out: {', '.join(sure)}.")
    print(
        f"Each year of police spending alone has a Bayes factor of {factors[POLICE[0]]:.2g} and "
        f"{factors[POLICE[1]]:.2g};\nthat at least one of them matters has "
        f"{factors['any of police']:.2g}: they stand in for each other."
    )
    worst = table["r_hat"].max()
    print(f"Largest R-hat of an indicator: {worst:.3f}; never moved: "
          f"{', '.join(table.index[table['note'] == 'never moved']) or 'none'}.")  # fmt: skip
    assert worst < 1.05, "the chains disagree"
    assert factors["any of police"] > 10 > factors[POLICE].max(), "the police stand for each other"
    assert {"schooling", "inequality"} <= set(sure), "known predictors were missed"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/read_the_results.png"))
