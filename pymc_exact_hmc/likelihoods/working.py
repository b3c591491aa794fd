"""The working rows of a likelihood with latents, and what they add up to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.likelihoods.verbs import draw_latents

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


class Working(NamedTuple):
    """Rows η = offset + X(s∘w), and their targets and factors given the latents.

    The precision of row n is that of its class ``label[n]`` times ``relative[n]``, both without
    latents, times ``factor[n]``; ``precision`` is the product without the factor, for each row
    or for all.
    """

    X: Matrix
    offset: Vector
    precision: Vector
    label: npt.NDArray[np.int64]
    relative: Vector
    eta: Vector
    target: Vector
    factor: Vector


@kernel
def predict(X, offset, gate, s, w, on, eta):
    """η = offset + X(s∘w); ``on`` is scratch."""
    k = 0
    for i in range(w.size):
        if gate[i] < 0 or s[gate[i]] == 1:
            on[k] = i
            k += 1
    for n in range(eta.size):
        total = offset[n]
        for a in range(k):
            total += X[n, on[a]] * w[on[a]]
        eta[n] = total


@kernel
def redraw(family, working, gate, s, w, on, stream, slopes, squares):
    """Draw the latents at (s, w) and compute r_c = X'Vt and t'Vt of the classes concerned."""
    predict(working.X, working.offset, gate, s, w, on, working.eta)
    draw_latents(family, working.eta, working.precision, stream, working.target, working.factor)
    add_up(
        working.X, working.offset, working.label, working.relative, working.target,
        working.factor, slopes, squares,
    )  # fmt: skip


@kernel
def add_up(X, offset, label, relative, target, factor, slopes, squares):
    """r_c = Σ v_n t_n x_n and Σ v_n t_n², with t free of the offset."""
    if not target.size:
        return
    first, last = label[0], label[0]
    for n in range(target.size):
        first, last = min(first, label[n]), max(last, label[n])
    # The classes of one likelihood follow each other.
    for c in range(first, last + 1):
        squares[c] = 0.0
        slopes[c, :] = 0.0
    for n in range(target.size):
        c, t = label[n], target[n] - offset[n]
        pull = relative[n] * factor[n] * t
        squares[c] += pull * t
        for i in range(X.shape[1]):
            slopes[c, i] += pull * X[n, i]
