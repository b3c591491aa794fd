"""Markov transitions that leave p(s) ∝ f(s) exactly invariant.

(y, q) given s is drawn afresh before each trajectory, an exact Gibbs move; only its
energies and hit times are needed, and those are drawn directly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.augmentations import Box, Exponential, Gaussian, draw_kinetic, period
from pymc_exact_hmc.compilation import kernel, verb
from pymc_exact_hmc.dynamics.trajectory import travel_by_queue, travel_in_order
from pymc_exact_hmc.energies import commit, energy_drop, log_density, refresh
from pymc_exact_hmc.random_stream import fill_exponential, shuffle_front, uniform


class Workspace(NamedTuple):
    """Scratch memory of a transition: nothing in it outlives a trajectory."""

    order: npt.NDArray[np.int32]
    kinetic: npt.NDArray[np.float64]
    time: npt.NDArray[np.float64]


def make_workspace(d: int) -> Workspace:
    """Return scratch memory for d walls."""
    return Workspace(np.empty(d, np.int32), np.empty(d), np.empty(d))


@verb
def travel(augmentation, energy, s, stream, travel_time, n_hits, workspace, tally):
    """Draw (y, q) given s and follow it for ``travel_time``.

    ``n_hits`` is the number of hits in that time, where it does not depend on (y, q)
    beyond the order of hits (Gaussian augmentation); the others ignore it.
    """
    raise TypeError(f"{type(augmentation).__name__} has no travel")


@travel.register(Gaussian)
def _travel_gaussian(augmentation, energy, s, stream, travel_time, n_hits, workspace, tally):
    # First hit times are independent and uniform on (0, π), so their order is a uniformly
    # random permutation; only its first n_hits entries are looked at when T < π.
    n = min(n_hits, s.size)
    shuffle_front(stream, workspace.order, n)
    fill_exponential(stream, workspace.kinetic, n)
    travel_in_order(energy, s, workspace.order, workspace.kinetic, n_hits, tally)


@travel.register(Exponential)
@travel.register(Box)
def _travel_queue(augmentation, energy, s, stream, travel_time, n_hits, workspace, tally):
    for j in range(s.size):
        e = draw_kinetic(augmentation, stream)
        workspace.kinetic[j] = e
        workspace.time[j] = uniform(stream) * period(augmentation, e)
    travel_by_queue(
        augmentation,
        energy,
        s,
        workspace.order,
        workspace.kinetic,
        workspace.time,
        travel_time,
        tally,
    )


@kernel
def transition(augmentation, energy, s, stream, travel_time, n_hits, workspace, tally):
    """Move s in place by one trajectory for each entry of ``n_hits``.

    The caches of ``energy`` must be up to date; they are when this returns.
    """
    for i in range(n_hits.size):
        travel(augmentation, energy, s, stream, travel_time, n_hits[i], workspace, tally)


@kernel
def refresh_caches(energy, s):
    """Compute every cache of ``energy`` afresh from s."""
    refresh(energy, s)


@kernel
def fresh_log_density(energy, s):
    """Compute every cache of ``energy`` afresh from s and return log f(s)."""
    refresh(energy, s)
    return log_density(energy, s)


@kernel
def drop_of_flip(energy, s, j):
    """Return the energy drop of flipping s_j, for loops that are not compiled."""
    return energy_drop(energy, s, j)


@kernel
def commit_flip(energy, s, j):
    """Bring the caches up to date after s_j was flipped."""
    commit(energy, s, j)
