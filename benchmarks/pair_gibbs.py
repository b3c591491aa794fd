"""A compiled pair-Gibbs sweep, the sampler that the paper compares with.

Each pair (s_i, w_i) in turn, given all the others: s_i with w_i integrated out, then w_i from
its truncated conditional. q = M(s∘w) is kept up to date, so that a pair that stays switched
off costs nothing but its odds.
"""

import math

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.random_stream import uniform
from pymc_exact_hmc.weights.block import LAM, LAMBDA, LOWER, UPPER, R
from pymc_exact_hmc.weights.integral import log_integral
from pymc_exact_hmc.weights.truncated_draw import draw_truncated


@kernel
def gibbs_sweep(M, coefficients, log_slab, log_odds, q, s, w, stream):
    """Draw (s_i, w_i) for i = 0, 1, …; one weight to each gate."""
    for i in range(s.size):
        old = w[i] if s[i] == 1 else 0.0
        D = M[i, i] + coefficients[LAMBDA, i]
        rho = coefficients[R, i] + coefficients[LAM, i] - q[i] + M[i, i] * old
        lower, upper = coefficients[LOWER, i], coefficients[UPPER, i]
        odds = log_odds[i] + log_integral(D, rho, lower, upper) - log_slab[i]
        s[i] = uniform(stream) * (1.0 + math.exp(-odds)) < 1.0
        new = 0.0
        if s[i] == 1:
            w[i] = draw_truncated(stream, D, rho, lower, upper)
            new = w[i]
        else:
            w[i] = draw_truncated(
                stream, coefficients[LAMBDA, i], coefficients[LAM, i], lower, upper
            )
        if new != old:
            row = M[i]
            for k in range(q.size):
                q[k] += (new - old) * row[k]


@kernel
def gibbs_sweeps(M, coefficients, log_slab, log_odds, q, s, w, stream, trace, weights, thin):
    """Fill ``trace`` and ``weights`` with indicators and weights after every ``thin`` sweeps."""
    for n in range(trace.shape[0]):
        for _ in range(thin):
            gibbs_sweep(M, coefficients, log_slab, log_odds, q, s, w, stream)
        for i in range(s.size):
            trace[n, i] = s[i]
            weights[n, i] = w[i]


@kernel
def tall_sweep(columns, noise, coefficients, log_slab, log_odds, residual, s, w, stream):
    """As ``gibbs_sweep``, on the rows of ``columns`` = X' instead of M: for few observations.

    ``residual`` is z − X(s∘w), and ``noise`` the precision of an observation.
    """
    for i in range(s.size):
        old = w[i] if s[i] == 1 else 0.0
        row = columns[i]
        square, product = 0.0, 0.0
        for k in range(row.size):
            square += row[k] * row[k]
            product += row[k] * residual[k]
        D = noise * square + coefficients[LAMBDA, i]
        rho = noise * (product + square * old) + coefficients[LAM, i]
        lower, upper = coefficients[LOWER, i], coefficients[UPPER, i]
        odds = log_odds[i] + log_integral(D, rho, lower, upper) - log_slab[i]
        s[i] = uniform(stream) * (1.0 + math.exp(-odds)) < 1.0
        new = 0.0
        if s[i] == 1:
            w[i] = draw_truncated(stream, D, rho, lower, upper)
            new = w[i]
        else:
            w[i] = draw_truncated(
                stream, coefficients[LAMBDA, i], coefficients[LAM, i], lower, upper
            )
        if new != old:
            for k in range(row.size):
                residual[k] -= (new - old) * row[k]


@kernel
def tall_sweeps(
    columns, noise, coefficients, log_slab, log_odds, residual, s, w, stream, trace, weights
):
    """Fill ``trace`` and ``weights`` with indicators and weights after each sweep."""
    for n in range(trace.shape[0]):
        tall_sweep(columns, noise, coefficients, log_slab, log_odds, residual, s, w, stream)
        for i in range(s.size):
            trace[n, i] = s[i]
            weights[n, i] = w[i]
