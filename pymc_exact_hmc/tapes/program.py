"""A program of instructions on one vector of numbers, and the loop that runs it.

Each instruction depends on some of the inputs, marked by the bits of its mask. After a change
of one input only the instructions that it reaches need to run again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.tapes.operations import (
    GATHER,
    LARGEST,
    PRODUCT,
    SMALLEST,
    SUM,
    apply_operation,
)

# Columns of ``Program.code``. An operand is a first place and a step of 0 or 1 from entry to
# entry; for GATHER, A is the first of ``indices``; for reductions, B is the number of entries
# that make one.
OPERATION, OUT, SIZE, A, STEP_A, B, STEP_B, C, STEP_C = range(9)
ALL = -1
"""The mask that runs every instruction."""


class Program(NamedTuple):
    """Instructions (rows of ``code``) with their masks, and the numbers they work on."""

    code: npt.NDArray[np.int64]
    mask: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]
    memory: npt.NDArray[np.float64]


@kernel
def run(program, mask):
    """Run the instructions that share a bit with ``mask``."""
    for row in range(program.code.shape[0]):
        if program.mask[row] & mask:
            perform(program.code[row], program.indices, program.memory)


@kernel
def add_differences(program, high, low, entries, out):
    """out[entries[n]] += memory[high[n]] − memory[low[n]], after a whole run."""
    run(program, ALL)
    for n in range(entries.size):
        out[entries[n]] += program.memory[high[n]] - program.memory[low[n]]


@kernel
def perform(line, indices, memory):
    """Carry out one instruction."""
    operation, out, size, a = line[OPERATION], line[OUT], line[SIZE], line[A]
    if operation == GATHER:
        for i in range(size):
            memory[out + i] = memory[indices[a + i]]
    elif operation <= SMALLEST:
        for i in range(size):
            memory[out + i] = reduce(operation, memory, a + i * line[B], line[B])
    else:
        for i in range(size):
            x = memory[a + i * line[STEP_A]]
            y = memory[line[B] + i * line[STEP_B]]
            z = memory[line[C] + i * line[STEP_C]]
            memory[out + i] = apply_operation(operation, x, y, z)


@kernel
def reduce(operation, memory, first, size):
    """Add up, multiply, or take the largest or smallest of some entries."""
    if operation == SUM:
        total = 0.0
        for i in range(first, first + size):
            total += memory[i]
        return total
    if operation == PRODUCT:
        total = 1.0
        for i in range(first, first + size):
            total *= memory[i]
        return total
    total = memory[first]
    for i in range(first + 1, first + size):
        x = memory[i]
        total = max(total, x) if operation == LARGEST else min(total, x)
    return total
