"""Greedy colouring: indicators of one colour can be probed in one evaluation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


def colour(neighbours: sp.csr_array) -> npt.NDArray[np.int64]:
    """Colour the vertices of a graph so that neighbours differ, in order of degree."""
    n = neighbours.shape[0]
    start, columns = neighbours.indptr, neighbours.indices
    colours = np.full(n, -1, dtype=np.int64)
    for vertex in np.argsort(-np.diff(start), kind="stable"):
        near = columns[start[vertex] : start[vertex + 1]]
        taken = set(colours[near[near != vertex]].tolist())
        choice = 0
        while choice in taken:
            choice += 1
        colours[vertex] = choice
    return colours


def meeting(support: sp.csr_array) -> sp.csr_array:
    """Return which columns share a row of a boolean matrix, as a boolean graph."""
    counts = support.astype(np.int32)
    return sp.csr_array((counts.T @ counts).astype(bool))
