"""Calls of the transitions that cannot leave a state half moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.dynamics.tally import Tally
from pymc_exact_hmc.dynamics.transition import refresh_caches
from pymc_exact_hmc.random_stream import Stream
from pymc_exact_hmc.weights.active import CONTACTS, FULL, SINGULAR, Active, expire, make_active
from pymc_exact_hmc.weights.block import Block
from pymc_exact_hmc.weights.conditional import draw_slabs
from pymc_exact_hmc.weights.flight import MOST_CONTACTS
from pymc_exact_hmc.weights.refreshing import refresh_active
from pymc_exact_hmc.weights.workspace import Attempts, Clocks, Walls


class SingularPrecisionError(ValueError):
    """The weights that are on are linearly dependent and their prior does not separate them."""


class Call(NamedTuple):
    """What a call needs beside the state; ``active`` may be replaced by a larger one."""

    transition: Callable[..., None]
    prior: Any
    block: Block
    active: Active
    walls: Walls
    clocks: Clocks
    tally: Tally
    attempts: Attempts


def make_call(call: Call, s: npt.NDArray[Any], w: npt.NDArray[np.float64], stream: Stream) -> Call:
    """Move s and w in place; return the call to be made next time.

    If P needs more seats than there are, the move is undone and made again, with the same
    random numbers, in twice as many, and what was undone is not counted. A flight that does not
    end keeps the old state.
    """
    moved: tuple[npt.NDArray[Any], ...] = (s, w)
    if call.active.P.size < call.block.gate.size:
        # Seats can run out; where they cannot, copying the counters is a tenth of a call.
        moved += (*call.tally, *call.attempts)
    start, words = [array.copy() for array in moved], stream.copy()
    while True:
        transition, prior, block, active, walls, clocks, tally, attempts = call
        transition(prior, block, active, walls, clocks, s, w, stream, tally, attempts)
        count = active.counts
        if count[FULL] + count[SINGULAR] == 0 and count[CONTACTS] < MOST_CONTACTS:
            return call
        for array, old in zip(moved, start, strict=True):
            array[:] = old
        refresh_caches(prior, s)
        if count[SINGULAR]:
            expire(active)
            raise SingularPrecisionError(
                "the weights that are switched on are linearly dependent given the data, and "
                "their prior (flat, exponential or very wide) does not tell them apart"
            )
        if not count[FULL]:
            _stay(call, s, w, stream)
            return call
        stream[:] = words
        call = call._replace(active=make_active(block, 2 * active.P.size))


def _stay(call: Call, s: npt.NDArray[Any], w: npt.NDArray[np.float64], stream: Stream) -> None:
    """Give a flight up: caches are those of the old state, and weights that are off are drawn.

    Their scales may have been moved with these weights integrated out. The random numbers of the
    flight are not used again, because that it did not end says something about them.
    """
    call.active.counts[CONTACTS] = 0
    call.attempts.given_up[0] += 1
    refresh_active(call.block, call.active, s)
    draw_slabs(stream, call.block.coefficients, call.active.place, w)
