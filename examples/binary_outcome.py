"""Which measurements tell malignant from benign tumours? Probit and logit side by side.

569 biopsies with 30 measurements each, many of them nearly the same quantity (radius, perimeter
and area correlate at 0.99), so single predictors share the credit. Latent variables make both
likelihoods Gaussian in the weights, and indicators and weights move together. Both links rank
the measurements alike.

The groups are nearly separable, so predictors are large and their credit is shared in many ways:
look at R-hat, which is printed.

Data: Breast Cancer Wisconsin (Diagnostic), W. Wolberg, O. Mangasarian, N. Street and W. Street
(1993), UCI Machine Learning Repository, doi.org/10.24432/C5DW2B, CC BY 4.0; the copy that
scikit-learn ships, with 1 for malignant.
"""

import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm

from pymc_exact_hmc import ExactBinaryHMC, explain

DATA = Path(__file__).parent / "data" / "breast_cancer.csv"
BLUE, ORANGE = "#3B8EC2", "#DB6A2B"
# A logistic curve is about 1.7 times as wide as Φ, so its slab is too.
SLABS = {"probit": 1.0, "logit": 1.7}
SHOWN = 15


def read_data():
    """Return names, standardised measurements and outcomes."""
    names = DATA.read_text().splitlines()[0].split(",")
    table = np.genfromtxt(DATA, delimiter=",", skip_header=1)
    X, y = table[:, :-1], table[:, -1].astype(int)
    return [name.replace("_", " ") for name in names[:-1]], (X - X.mean(0)) / X.std(0), y


def selection(link, names, X, y):
    with pm.Model(coords={"measurement": names}) as model:
        share = pm.Beta("share", 1, 5)
        gamma = pm.Bernoulli("gamma", share, dims="measurement")
        w = pm.Normal("w", 0, SLABS[link], dims="measurement")
        eta = pm.Normal("intercept", 0, 3) + X @ (gamma * w)
        if link == "probit":
            pm.Bernoulli("malignant", p=pm.math.invprobit(eta), observed=y)
        else:
            pm.Bernoulli("malignant", logit_p=eta, observed=y)
    return model


def draw_figure(names, inclusion, path):
    mean = np.mean(list(inclusion.values()), axis=0)
    order = np.argsort(-mean)[:SHOWN][::-1]
    places = np.arange(order.size)
    fig, ax = plt.subplots(figsize=(8, 5.5), layout="constrained")
    for k, (link, colour) in enumerate((("logit", ORANGE), ("probit", BLUE))):
        ax.barh(places + 0.4 * k - 0.2, inclusion[link][order], 0.38, color=colour, label=link)
    ax.set_yticks(places, [names[i] for i in order])
    ax.set(xlabel="inclusion probability", xlim=(0, 1), title="Malignant or benign: what tells?")
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    names, X, y = read_data()
    inclusion = {}
    for link in SLABS:
        model = selection(link, names, X, y)
        print(explain(model))
        with model:
            idata = pm.sample(
                2000, tune=500, chains=4, step=ExactBinaryHMC(), random_seed=1, progressbar=False
            )
        inclusion[link] = idata.posterior["gamma"].mean(("chain", "draw")).values
        print(az.summary(idata, var_names=["intercept", "share"], round_to=2).to_string())
        worst = float(az.rhat(idata, var_names=["gamma"])["gamma"].max())
        print(f"Largest R-hat of an indicator, {link}: {worst:.3f}\n")
        assert worst < 1.05, "the chains disagree"
    for i in np.argsort(-inclusion["probit"])[:8]:
        print(
            f"{names[i]:25s} probit {inclusion['probit'][i]:.2f}  logit {inclusion['logit'][i]:.2f}"
        )
    draw_figure(names, inclusion, path)
    print(f"Picture saved to {path}")

    likeness = np.corrcoef(inclusion["probit"], inclusion["logit"])[0, 1]
    print(f"Correlation of the inclusion probabilities under both links: {likeness:.3f}")
    assert likeness > 0.9, "probit and logit name other measurements"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/binary_outcome.png"))
