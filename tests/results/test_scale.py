"""Summaries of 10 000 indicators in 4 000 draws within 10 s and 2 GB."""

import subprocess
import sys

import pytest

SCRIPT = """
import resource, time
import numpy as np, xarray as xr
from pymc_exact_hmc import inclusion_summary, model_summary
rng = np.random.default_rng(0)
dims, p = ("chain", "draw", "predictor"), rng.random(10_000)
gamma = np.empty((4, 1000, 10_000), np.int64)
w = np.empty(gamma.shape)
for chain in range(4):
    gamma[chain] = rng.random((1000, 10_000)) < p
    rng.standard_normal(out=w[chain])
idata = xr.Dataset({"gamma": (dims, gamma), "w": (dims, w)})
start = time.process_time()
table, models = inclusion_summary(idata), model_summary(idata)
seconds = time.process_time() - start
assert len(table) == 10_000 and models.n_draws == 4000
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
def test_ten_thousand_indicators():
    """Both summaries together, the trace's own 0.6 GB included."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    seconds, gigabytes = map(float, done.stdout.split())
    assert seconds < 10
    assert gigabytes < 2
