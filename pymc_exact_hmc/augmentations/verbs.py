"""What a trajectory asks of an augmentation p(y | s).

A wall j is y_j = 0. Between two hits of it the pair (y_j, q_j) runs through one period of
its motion, whose length depends only on the kinetic energy e_j carried at the wall. Drawn
afresh, e_j has the law below and the time to the first hit is uniform over the period.

The Gaussian one answers neither question: all its periods are π, so walls keep their order.
"""

from __future__ import annotations

from pymc_exact_hmc.compilation import verb


@verb
def draw_kinetic(augmentation, stream):
    """Return the kinetic energy e_j that a fresh (y_j, q_j) carries at its wall."""
    raise TypeError(f"{type(augmentation).__name__} has no draw_kinetic")


@verb
def period(augmentation, kinetic):
    """Return the time between two hits of a wall that is reached with ``kinetic``."""
    raise TypeError(f"{type(augmentation).__name__} has no period")
