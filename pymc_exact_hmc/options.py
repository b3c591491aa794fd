"""What the user asked for, checked, and how trajectories are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.model.forms import Form
from pymc_exact_hmc.model.recognise import Block
from pymc_exact_hmc.moves.binary import Motion
from pymc_exact_hmc.moves.gated import KERNELS
from pymc_exact_hmc.travel_time import DEFAULT_HITS_PER_WALL, TravelTime, parse_travel_time

HITS_PER_DRAW = 800
"""Cheap wall hits that cost less than PyMC's own work per draw."""
MAX_TRAJECTORIES = 10
HITS_PER_WALL, HITS_PER_WALL_OF_PAPER = (0.85, 1.15), (0.5, 0.5)
"""Hits per wall of the kernels that move weights; the paper's has T = π/2."""


@dataclass(frozen=True)
class Options:
    """What the user asked for, as given."""

    augmentation: str
    travel_time: Any
    trajectories: int | None
    kernel: str | None
    inclusion: bool = False


def check_options(options: Options) -> None:
    """Refuse values that no model could be sampled with."""
    if options.augmentation not in AUGMENTATIONS:
        known = ", ".join(repr(name) for name in AUGMENTATIONS)
        raise ValueError(f"augmentation must be one of {known}; got {options.augmentation!r}.")
    kernels = ["binary", "general", *KERNELS]
    if options.kernel is not None and options.kernel not in kernels:
        known = ", ".join(repr(name) for name in kernels)
        raise ValueError(f"kernel must be one of {known}; got {options.kernel!r}.")
    parse_travel_time(options.travel_time, AUGMENTATIONS[options.augmentation])


def make_motion(options: Options, block: Block, *, single: bool) -> Motion:
    """Return how trajectories are made; ``single``: one per draw, as with weights."""
    augmentation = AUGMENTATIONS[options.augmentation]
    travel_time = parse_travel_time(options.travel_time, augmentation)
    if single and options.travel_time is None:
        low, high = HITS_PER_WALL_OF_PAPER if options.kernel == "paper" else HITS_PER_WALL
        travel_time = TravelTime(low * augmentation.hit_time, high * augmentation.hit_time)
    costly = any(t.form in (Form.GENERIC, Form.MULTILINEAR) for t in block.terms)
    single = single or costly or options.travel_time is not None
    return Motion(
        augmentation, travel_time, parse_trajectories(options.trajectories, block.d, single=single)
    )


def parse_trajectories(trajectories: int | None, d: int, *, single: bool) -> int:
    """Return the number of trajectories per draw."""
    if trajectories is None:
        hits = d * sum(DEFAULT_HITS_PER_WALL) / 2
        return 1 if single else int(np.clip(round(HITS_PER_DRAW / hits), 1, MAX_TRAJECTORIES))
    whole = isinstance(trajectories, int | np.integer) and not isinstance(trajectories, bool)
    if not whole or trajectories < 1:
        raise ValueError(
            f"trajectories must be a whole number of at least 1, got {trajectories!r}."
        )
    return int(trajectories)
