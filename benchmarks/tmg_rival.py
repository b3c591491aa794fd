"""Sample a positive Gaussian with PyPI's tmg-hmc; needs NumPy and tmg-hmc alone.

    python benchmarks/tmg_rival.py PRECISION.npy DRAWS OUTPUT.npz

Writes the draws and the seconds that they took.
"""

import sys
import time

import numpy as np


def run(A, draws):
    from tmg_hmc import TMGSampler

    d = len(A)
    sampler = TMGSampler(np.zeros((d, 1)), np.linalg.inv(A))
    for axis in np.eye(d):
        sampler.add_constraint(f=axis[:, None], c=0.0)
    # Starting where the law is, so that no draw need be thrown away.
    start = time.perf_counter()
    w = sampler.sample(np.full((d, 1), 3.0 / d), n_samples=draws, burn_in=0)
    return np.asarray(w).reshape(draws, d), time.perf_counter() - start


if __name__ == "__main__":
    precision, draws, output = sys.argv[1:]
    w, seconds = run(np.load(precision), int(draws))
    np.savez(output, w=w, seconds=seconds)
