"""Many chains on a Dask cluster, for those who outgrow one machine.

Each worker samples chains of its own, with a seed of its own; nothing is shared but the data, so
the work grows with the cluster. Here the cluster is two processes on this machine: for a real one,
replace LocalCluster by its address, with this package installed on every worker.

The model is that of diabetes.py: which of 64 measurements, squares and products predict how the
disease goes on? The Monte Carlo error falls like one over the square root of the number of chains,
and R-hat over all of them says that they agree. Needs dask and distributed:
pip install "pymc-exact-hmc[examples]".
"""

import itertools
import sys
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr
from distributed import Client, LocalCluster

from pymc_exact_hmc import ExactBinaryHMC, inclusion_summary

DATA = Path(__file__).parent / "data" / "diabetes.csv"
JOBS, CHAINS, DRAWS = 8, 2, 1000
BLUE, ORANGE, GREY = "#3B8EC2", "#DB6A2B", "#8C8C8C"


def read_data():
    """Return 64 standardised predictors and the standardised response."""
    frame = pd.read_csv(DATA)
    frame = (frame - frame.mean()) / frame.std()
    y = frame.pop("progression")
    columns = dict(frame) | {f"{n}²": frame[n] ** 2 for n in frame if n != "sex"}
    columns |= {f"{a}·{b}": frame[a] * frame[b] for a, b in itertools.combinations(frame, 2)}
    X = pd.DataFrame(columns)
    return (X - X.mean()) / X.std(), y


def sample(X, y, seed):
    """Run on a worker: build the model there, sample, and send the trace back."""
    # Arrays that come over the network need not be aligned in memory, as PyTensor wants them.
    columns, X, y = X.columns, X.to_numpy(copy=True), y.to_numpy(copy=True)
    with pm.Model(coords={"predictor": columns}):
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 4), dims="predictor")
        w = pm.Normal("w", 0, pm.HalfNormal("tau", 1), dims="predictor")
        pm.Normal("progression", X @ (gamma * w), pm.HalfNormal("sigma", 1), observed=y)
        return pm.sample(DRAWS, tune=500, chains=CHAINS, cores=1, step=ExactBinaryHMC(),
                         random_seed=seed, progressbar=False, quiet=True)  # fmt: skip


def join(traces):
    """Put the chains of several traces into one, numbered from 0."""
    if hasattr(az, "concat"):  # ArviZ 0, which comes with PyMC 5
        return az.concat(*traces, dim="chain", reset_dim=True)
    groups = {}
    for name in ("posterior", "sample_stats"):
        group = xr.concat([trace[name].to_dataset() for trace in traces], "chain")
        groups[name] = group.assign_coords(chain=np.arange(group.sizes["chain"]))
    return xr.DataTree.from_dict(groups)


def draw_figure(trace, table, path):
    top = table.nlargest(12, "inclusion").index[::-1]
    chains = trace.posterior["gamma"].mean("draw").sel(predictor=top).values
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    left.plot(chains.T, np.arange(top.size), ".", color=GREY, alpha=0.5)
    left.plot([], [], ".", color=GREY, label="one chain")
    left.plot(table["inclusion"][top], np.arange(top.size), "o", color=BLUE, label="all chains")
    left.set(xlabel="inclusion probability", xlim=(-0.02, 1.02))
    left.set_yticks(np.arange(top.size), top)
    left.legend(loc="lower right")
    number, open_ones = np.array([2, 4, 8, 16]), table["inclusion"].between(0.1, 0.9)
    parts = [inclusion_summary(trace.isel(chain=slice(n))) for n in number]
    error = np.array([part["mcse"][open_ones].mean() for part in parts])
    right.loglog(number, error, "o-", color=BLUE, label="measured")
    right.loglog(number, error[-1] * (number / number[-1]) ** -0.5, "--", color=ORANGE,
                 label="1 / √chains")  # fmt: skip
    right.set(xlabel="chains", ylabel="mean Monte Carlo error", ylim=(0.002, 0.02))
    right.set_xticks(number, number)
    right.set_yticks([0.002, 0.005, 0.01, 0.02], ["0.002", "0.005", "0.01", "0.02"])
    right.minorticks_off()
    right.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=100)


def main(path):
    seeds = np.random.SeedSequence(1).generate_state(JOBS)
    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**workers) as cluster, Client(cluster) as client:
        data = client.scatter(read_data(), broadcast=True)
        futures = [client.submit(sample, *data, seed) for seed in seeds]
        # The same seed once more, on any worker; pure=False, or Dask would look up the result.
        again = client.submit(sample, *data, seeds[0], pure=False)
        traces, again = client.gather(futures), again.result()
    trace = join(traces)
    table = inclusion_summary(trace)
    columns = ["inclusion", "mcse", "mean_in", "ess", "r_hat"]
    print(table.nlargest(8, "inclusion")[columns].round(3).to_string())
    worst = table["r_hat"].max()
    print(f"{trace.posterior.sizes['chain']} chains, largest R-hat of an indicator {worst:.3f}")
    draw_figure(trace, table, path)
    print(f"Picture saved to {path}")

    draws = [np.asarray(t.posterior["w"]) for t in (*traces, again)]
    assert np.array_equal(draws[0], draws[-1]), "draws depend on more than the seed"
    assert not np.array_equal(draws[0], draws[1]), "two jobs sampled the same chains"
    assert trace.posterior.sizes["chain"] == JOBS * CHAINS
    assert worst < 1.05, "the chains disagree"
    sure = table["inclusion"] - 5 * table["mcse"].fillna(0) > 0.5
    assert sure[["bmi", "bp", "ltg"]].all(), "a known predictor was missed"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures/dask_chains.png"))
