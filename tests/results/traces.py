"""Small traces made by hand."""

import numpy as np
import xarray as xr

DIMS = ("chain", "draw", "predictor")
NAMES = ["age", "income", "height"]

# Two chains of four draws. age is on in 5 of 8 draws, income never, height always.
GAMMA = np.array(
    [
        [[1, 0, 1], [1, 0, 1], [0, 0, 1], [1, 0, 1]],
        [[0, 0, 1], [1, 0, 1], [1, 0, 1], [0, 0, 1]],
    ]
)
W = np.array(
    [
        [[2.0, 9.0, 1.0], [3.0, 9.0, 2.0], [7.0, 9.0, 3.0], [1.0, 9.0, 4.0]],
        [[8.0, 9.0, 5.0], [4.0, 9.0, 6.0], [5.0, 9.0, 7.0], [6.0, 9.0, 8.0]],
    ]
)


def trace(kind="tree", stats=None, coords=None, **variables):
    """A trace of variables given as (dims, values); of the hand-made ones by default."""
    if not variables:
        variables = {"gamma": (DIMS, GAMMA), "w": (DIMS, W)}
        coords = {"predictor": NAMES}
    posterior = xr.Dataset(variables, coords=coords)
    groups = {"posterior": posterior}
    if stats is not None:
        groups["sample_stats"] = xr.Dataset(stats)
    return xr.DataTree.from_dict(groups) if kind == "tree" else posterior


def markov_chains(rng, p, stay, chains, draws):
    """Binary series (chain, draw, series) that are drawn afresh, or stay with a probability."""
    x = np.empty((chains, draws, len(p)), np.int64)
    x[:, 0] = rng.random((chains, len(p))) < p
    for t in range(1, draws):
        fresh = rng.random((chains, len(p))) < p
        x[:, t] = np.where(rng.random((chains, len(p))) < stay, x[:, t - 1], fresh)
    return x
