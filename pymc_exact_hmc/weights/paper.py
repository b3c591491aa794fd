"""The paper's kernel (section 3 and Appendix C), a transition that leaves p(s, w) invariant.

Every weight moves, those of closed gates in their slabs, and (w, g = A(s)v) is continuous
where y_j = 0. When the weights J of a closed gate join P, with D = D_JJ and
x = g_J − M_JP v_P, the energy of the weights rises by

    ΔH = w_J'M_JP w_P + ½w_J'M_JJ w_J − r_J'w_J + ½x'D⁻¹x − ½g_J'Λ_J⁻¹g_J + ½ log(|D|/|Λ_J|),

and the gate is crossed iff the energy of its wall pays for it. Then v_J ← D⁻¹x and
v_P ← v_P − U v_J with U = Σ_P M_PJ. Leaving is the inverse.
"""

from __future__ import annotations

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies import commit, energy_drop
from pymc_exact_hmc.weights.active import CONTACTS, FULL, HERE, SINGULAR, SIZE
from pymc_exact_hmc.weights.flight import fly, set_out, take_off
from pymc_exact_hmc.weights.paper_crossing import (
    close_gate,
    land_closed,
    open_gate,
    rise_of_closing,
    rise_of_opening,
    take_off_closed,
)
from pymc_exact_hmc.weights.refreshing import prepare
from pymc_exact_hmc.weights.workspace import draw_schedule


@kernel
def paper_transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts):
    """Move s and w in place by one call; see ``sheared_transition`` for the arguments.

    Every gated weight needs Λ > 0. ``clocks.held`` has no meaning here, and with one clock
    for w and y, as in the paper, w travels π for each half turn.
    """
    prepare(block, active, s)
    if active.counts[FULL] + active.counts[SINGULAR] > 0:
        return
    seats, Sigma, clock, count = active.seats, active.Sigma, active.clock, active.counts
    take_off(stream, active.P, seats, Sigma, active.factor, clock, count, w)
    take_off_closed(stream, block.coefficients, active.place, w, walls.slab)
    half_turns = draw_schedule(stream, clocks, walls.order, walls.phase, walls.kinetic)
    n, k, cycle = s.size, 0, 0
    while n > 0 and count[FULL] + count[SINGULAR] == 0:
        turns = cycle + walls.phase[k]
        if not turns <= half_turns:
            break
        g = walls.order[k]
        time = clocks.w_time * turns / half_turns
        fly(seats, Sigma, clock, count, time)
        if s[g] == 0:
            rise = rise_of_opening(block, active, walls.slab, g, time)
        else:
            rise = rise_of_closing(block, active, g)
        drop = energy_drop(prior, s, g) - rise
        tally.hits[0] += 1
        if walls.kinetic[k] + drop > 0.0:
            if s[g] == 0:
                open_gate(block, active, g)
            else:
                close_gate(block, active, walls.slab, g, time)
            set_out(seats, count[SIZE], clock, time)
            s[g] ^= 1
            commit(prior, s, g)
            walls.kinetic[k] += drop
            tally.crossings[0] += 1
            tally.drop[0] += drop
            tally.per_wall[g] += 1
        elif np.isnan(drop):
            tally.undefined[0] += 1
        elif rise == np.inf:
            attempts.infeasible[g] += 1
        k += 1
        if k == n:
            k, cycle = 0, cycle + 1
    fly(seats, Sigma, clock, count, clocks.w_time)
    for a in range(count[SIZE]):
        w[active.P[a]] = seats[HERE, a]
    land_closed(block.coefficients, active.place, walls.slab, clocks.w_time, w, count)
    attempts.contacts[0] += count[CONTACTS]
