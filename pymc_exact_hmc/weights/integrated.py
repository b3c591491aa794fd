"""The transition for blocks without bounds: binary trajectories, then a draw of w | s."""

from __future__ import annotations

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.dynamics.trajectory import travel_in_order
from pymc_exact_hmc.energies import Sum
from pymc_exact_hmc.random_stream import (
    fill_exponential,
    number_of_hits,
    shuffle_front,
    uniform,
)
from pymc_exact_hmc.weights.active import FULL, SINGULAR
from pymc_exact_hmc.weights.collapsed import Collapsed
from pymc_exact_hmc.weights.conditional import draw_weights
from pymc_exact_hmc.weights.refreshing import prepare


@kernel
def integrated_transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts):
    """Move s and w in place by one call; see ``sheared_transition`` for the arguments.

    Only the half turns of ``clocks`` matter, and ``attempts`` stays as it is.
    """
    prepare(block, active, s)
    if active.counts[FULL] + active.counts[SINGULAR] > 0:
        return
    half_turns = clocks.fewest + (clocks.most - clocks.fewest) * uniform(stream)
    n_hits = number_of_hits(stream, s.size, half_turns)
    energy = Sum(prior, Collapsed(block, active))
    travel_afresh(energy, s, stream, walls.order, walls.kinetic, n_hits, tally)
    draw_weights(block, active, w, stream)


# Not inlined: numba drops what inlined code stores in a tuple that was made in the same kernel.
@kernel
def travel_afresh(energy, s, stream, order, kinetic, n_hits, tally):
    """Draw order and energies of the hits and follow them."""
    n = min(n_hits, s.size)
    shuffle_front(stream, order, n)
    fill_exponential(stream, kinetic, n)
    travel_in_order(energy, s, order, kinetic, n_hits, tally)
