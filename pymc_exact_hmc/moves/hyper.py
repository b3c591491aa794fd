"""Move scales and inclusion probabilities, with the weights integrated out as far as can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pymc.exceptions import SamplingError

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.model.evaluation import Point
from pymc_exact_hmc.model.hyperparameters import HyperBlock
from pymc_exact_hmc.model.verify_hyperparameters import density_terms
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.active import Active, make_active
from pymc_exact_hmc.weights.block import Block, make_block
from pymc_exact_hmc.weights.evidence import Evidence, gather, make_gathered, write_scales
from pymc_exact_hmc.weights.grams import DenseGram
from pymc_exact_hmc.weights.slices import Coordinates, move_scales
from pymc_exact_hmc.weights.statistics import make_statistics

FIRST_ROOM = 32
FASTEST = 0.05
"""Least share of a new width in the running average of widths, while tuning."""


class HyperMove:
    """Slice sampling of the hyperparameters given s, and given w where a weight is truncated.

    ``held``: given w in any case, for a move of the weights that goes on from where they are.
    """

    def __init__(
        self, block: HyperBlock, gaussian: WeightCoefficients | None, *, held: bool = False
    ):
        self.block, self._gaussian, self._held = block, gaussian, held
        self._names = ", ".join(h.name for h in block.hyperparameters)
        self._was_regular = self._regular()
        self._evidence = _evidence(block, gaussian, held)
        self.coordinates = _coordinates(block)
        self._gathered = make_gathered(block.n_noise, FIRST_ROOM)
        self._empty = _empty_block() if gaussian is None else None
        self.tuning, self.tuned = True, 0
        self._bind()
        self.forget()

    def _bind(self) -> None:
        gram, active = self._gram_and_active(None)
        s, w = np.zeros(1, np.int8), np.zeros(1)
        self._gather = bind(gather, *self._gather_arguments(gram, active, s, w))
        stream = seed_words(np.random.default_rng(0))
        arguments = (self._evidence, self._gathered, self.coordinates, stream)
        self._move = bind(move_scales, *arguments)
        if self._gaussian is not None:
            self._write = bind(write_scales, self._evidence, *self._written())

    def __getstate__(self) -> dict[str, Any]:
        """Leave out machine code, which belongs to this process, and shared arrays."""
        code = {"_gather": None, "_move": None, "_write": None}
        return {**self.__dict__, **code, "_evidence": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Compile again, or read from disk, in the new process."""
        self.__dict__.update(state)
        self._evidence = _evidence(self.block, self._gaussian, self._held)
        self._bind()

    def __call__(
        self,
        point: Point,
        s: npt.NDArray[np.int8],
        w: npt.NDArray[np.float64],
        rng: np.random.Generator,
        *,
        active: Active | None = None,
        power: float = 1.0,
    ) -> Point:
        """Return the value variables of the hyperparameters, moved.

        The block of the weights is brought to them, but for the scale of its Gram matrix.
        ``power`` is that of the likelihood; ``active`` may hold rows of its Gram matrix.
        """
        if self._regular() != self._was_regular:
            self._refuse_irregular()
        tape = self.block.tape
        self.block.load(point, s)
        self._evidence.power[0] = power
        gram, active = self._gram_and_active(active)
        k = self._gather(*self._gather_arguments(gram, active, s, w))
        if k > self._gathered.P.size:
            self._gathered = make_gathered(self.block.n_noise, 2 * k)
            self._gather(*self._gather_arguments(gram, active, s, w))
        possible = self._move(self._evidence, self._gathered, self.coordinates, seed_words(rng))
        if not possible:
            raise SamplingError(
                f"The log-density of {self._names} is not finite at the current point. Give a "
                "start that the model allows, with initvals= in pm.sample."
            )
        if self.tuning:
            self._learn_widths()
        if self._gaussian is not None:
            self._write(self._evidence, *self._written())
        memory = tape.program.memory
        return {
            h.value: np.asarray(memory[tape.inputs[h.value]], dtype=point[h.value].dtype)
            for h in self.block.hyperparameters
        }

    def density_terms(
        self, point: Point, s: npt.NDArray[np.int8], w: npt.NDArray[np.float64]
    ) -> list[float]:
        """Return terms of log p(θ, s, w, data) up to a constant; w is in the model's own units."""
        return density_terms(self.block, self._gaussian, point, s, w)

    def _learn_widths(self) -> None:
        """Bring each width closer to that of a typical slice, of which a move is a third."""
        widths, moved = self.coordinates.widths, self.coordinates.moved
        self.tuned += 1
        share = max(FASTEST, 1.0 / (1.0 + self.tuned))
        widths += share * (np.maximum(3.0 * moved, 1e-3 * widths) - widths)

    def forget(self) -> None:
        """Start a chain: nothing is known about the widths."""
        self.tuned = 0
        self.coordinates.widths[:] = 1.0

    def _written(self) -> tuple[Any, ...]:
        assert self._gaussian is not None
        gaussian = self._gaussian
        return gaussian.block, gaussian.statistics.precisions, gaussian.units

    def _gather_arguments(self, gram: Any, active: Active, s: Any, w: Any) -> tuple[Any, ...]:
        rows = (active.rows, active.slots, active.kept)
        return (self._evidence, self._gathered, gram, *rows, s, w)

    def _gram_and_active(self, active: Active | None) -> tuple[Any, Active]:
        if self._gaussian is None:
            assert self._empty is not None
            block, empty = self._empty
            return block.gram, empty
        return self._gaussian.block.gram, active or make_active(self._gaussian.block, 1)

    def _regular(self) -> list[bool]:
        """Return which noise classes keep their proportions; what is taken enters only those."""
        return [] if self._gaussian is None else [x.regular for x in self._gaussian.noise]

    def _refuse_irregular(self) -> None:
        raise SamplingError(
            f"The noise scales that {self._names} enter no longer change in proportion. Leave "
            "them to another step: ExactBinaryHMC(vars=[...]) with indicators and weights only."
        )


def _empty_block() -> tuple[Block, Active]:
    none = np.zeros(0)
    block = make_block(DenseGram(np.zeros((0, 0)), np.ones(1)), none, none, none, none, n_gates=0)
    return block, make_active(block)


def _evidence(block: HyperBlock, gaussian: WeightCoefficients | None, hold: bool) -> Evidence:
    total, *rest = block.tape.outputs
    noise = np.array([int(place.item()) for place in rest[: block.n_noise]], np.int64)
    if gaussian is None:
        none = np.zeros((5, 0), np.int64)
        statistics = make_statistics(0, 0, dense=True)
        gate, held = np.zeros(0, np.int64), 0
    else:
        none = np.stack(rest[block.n_noise :])
        statistics, gate = gaussian.statistics, gaussian.block.gate
        held = int(hold or gaussian.block.is_truncated)
    return Evidence(
        block.tape.program,
        np.array([total.item()], np.int64),
        noise,
        np.ascontiguousarray(none),
        gate,
        np.array([held]),
        np.ones(1),
        statistics,
    )


def _coordinates(block: HyperBlock) -> Coordinates:
    places, masks, reach = [], [], []
    for i, h in enumerate(block.hyperparameters):
        own = block.tape.inputs[h.value].ravel()
        places.append(own)
        masks.append(np.full(own.size, 1 << min(i, 60)))
        reach.append(np.full(own.size, int(h.reaches_weights)))
    place = np.concatenate(places).astype(np.int64)
    return Coordinates(
        place,
        np.concatenate(masks).astype(np.int64),
        np.concatenate(reach).astype(np.int64),
        np.zeros(place.size, np.int32),
        np.ones(place.size),
        np.zeros(place.size),
    )
