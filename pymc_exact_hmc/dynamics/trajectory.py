"""Deterministic trajectories of (y, q) across the walls y_j = 0.

A wall j is reached with kinetic energy e_j. With Δ_j the energy drop of flipping s_j,

    cross iff e_j + Δ_j > 0, and then e_j ← e_j + Δ_j;  otherwise bounce.       (eq. 9)

Nothing else about y and q matters for s, so only e_j and the hit times are followed.
"""

from __future__ import annotations

import numpy as np

from pymc_exact_hmc.augmentations import period
from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies import commit, energy_drop


@kernel(inline="always")
def hit(energy, s, j, kinetic, tally):
    """Let wall j be hit with energy ``kinetic``; return the energy it is left with."""
    drop = energy_drop(energy, s, j)
    tally.hits[0] += 1
    if kinetic + drop > 0.0:
        s[j] ^= 1
        commit(energy, s, j)
        tally.crossings[0] += 1
        tally.drop[0] += drop
        tally.per_wall[j] += 1
        return kinetic + drop
    if np.isnan(drop):
        tally.undefined[0] += 1
    return kinetic


@kernel(inline="always")
def travel_in_order(energy, s, order, kinetic, n_hits, tally):
    """Hit walls order[0], order[1], … and again from the start, ``n_hits`` in all.

    The Gaussian augmentation, whose walls are hit in a fixed cyclic order. The k-th wall
    of the order carries ``kinetic[k]``, which persists from one cycle to the next.
    """
    d = s.size
    k = 0
    # Counted outside memory, which is a tenth of the time of a cheap hit.
    crossings, undefined, gained = 0, 0, 0.0
    for _ in range(n_hits):
        j = order[k]
        drop = energy_drop(energy, s, j)
        left = kinetic[k] + drop
        if left > 0.0:
            s[j] ^= 1
            commit(energy, s, j)
            kinetic[k] = left
            crossings += 1
            gained += drop
            tally.per_wall[j] += 1
        elif np.isnan(drop):
            undefined += 1
        k += 1
        if k == d:
            k = 0
    tally.hits[0] += n_hits
    tally.crossings[0] += crossings
    tally.undefined[0] += undefined
    tally.drop[0] += gained


@kernel
def sift_down(queue, time, root):
    """Restore the heap property of ``queue`` (earliest ``time`` first) below ``root``."""
    n = queue.size
    moving = queue[root]
    while True:
        child = 2 * root + 1
        if child >= n:
            break
        if child + 1 < n and time[queue[child + 1]] < time[queue[child]]:
            child += 1
        if not time[queue[child]] < time[moving]:
            break
        queue[root] = queue[child]
        root = child
    queue[root] = moving


@kernel(inline="always")
def travel_by_queue(augmentation, energy, s, queue, kinetic, time, travel_time, tally):
    """Hit walls in order of ``time``, the next hit of each, until ``travel_time``.

    For augmentations whose period depends on the energy, so that walls overtake each other.
    """
    d = s.size
    for j in range(d):
        queue[j] = j
    for root in range(d // 2 - 1, -1, -1):
        sift_down(queue, time, root)
    while True:
        j = queue[0]
        # Written so that a time that is not a number ends the trajectory.
        if not time[j] <= travel_time:
            break
        kinetic[j] = hit(energy, s, j, kinetic[j], tally)
        time[j] += period(augmentation, kinetic[j])
        sift_down(queue, time, 0)
