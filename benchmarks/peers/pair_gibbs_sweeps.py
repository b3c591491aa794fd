"""Pair Gibbs: each indicator with its weight given all others, compiled as our own kernels."""

import time

import numpy as np
from pair_gibbs import gibbs_sweeps, tall_sweeps

from peers import Draws
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.block import make_block
from pymc_exact_hmc.weights.grams import DenseGram


def run(case, draws, tune, seed):
    start = time.perf_counter()
    n, d = case.X.shape
    noise, rng = case.sigma**-2, np.random.default_rng(seed)
    r = noise * case.X.T @ case.y
    # With fewer rows than columns, residuals are cheaper to keep than products of columns.
    tall = n < d
    gram = DenseGram(np.eye(1) if tall else noise * case.X.T @ case.X, np.ones(1))
    lower = 0.0 if case.positive else -np.inf
    block = make_block(gram, r, case.tau**-2, 0.0, np.arange(d), n_gates=d, lower=lower)
    log_odds = np.full(d, np.log(case.a / (1 - case.a)))
    s, w, stream = np.zeros(d, np.int64), np.full(d, 0.1), seed_words(rng)
    shared = block.coefficients, block.log_slab, log_odds

    def sweeps(records):
        trace, weights = np.zeros((records, d), np.int8), np.zeros((records, d), np.float32)
        if tall:
            residual = case.y - case.X @ (s * w)
            columns = np.ascontiguousarray(case.X.T)
            tall_sweeps(columns, noise, *shared, residual, s, w, stream, trace, weights)
        else:
            q = block.gram.M @ (s * w)
            gibbs_sweeps(block.gram.M, *shared, q, s, w, stream, trace, weights, 1)
        return trace, weights

    sweeps(tune)
    begin = time.perf_counter()
    gamma, w_trace = sweeps(draws)
    end = time.perf_counter()
    values = {"gamma": gamma, "beta": gamma * w_trace}
    return Draws(values, end - begin, end - start)
