"""Starting states: a draw of the indicators from p(s | θ), so that chains start apart."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from pymc.exceptions import SamplingError
from pymc.model import Model
from pymc.pytensorf import compile as compile_pymc
from pymc.pytensorf import reseed_rngs
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.data import Data
from pymc_exact_hmc.model.evaluation import ONCE, Evaluator, Point
from pymc_exact_hmc.model.forms import other_inputs
from pymc_exact_hmc.model.recognise import Block

Tensor: TypeAlias = Variable[Any, Any]
TRIES = 25
"""Draws from p(s | θ) that are tried before the default start is kept."""


class PriorDraw:
    """Draws the indicators from their prior, given the other variables of a point."""

    def __init__(self, model: Model, layout: tuple[BinaryVariable, ...]):
        rvs = [model.values_to_rvs[binary.value] for binary in layout]
        parents = [v for v in model.basic_RVs if v in set(ancestors(rvs)) and v not in set(rvs)]
        values = model.replace_rvs_by_values(parents)
        draws = clone_replace(rvs, dict(zip(parents, values, strict=True))) if parents else rvs
        inputs = list(dict.fromkeys(v for draw in draws for v in _plain_inputs(draw)))
        self.names = [v.name for v in inputs]
        self.function = compile_pymc(inputs, draws, mode=ONCE)

    def __call__(self, point: Point, rng: np.random.Generator) -> np.ndarray:
        """Return a flat state s."""
        generators = [v for v in self.function.get_shared() if isinstance(v.type, RandomType)]
        reseed_rngs(generators, int(rng.integers(2**31)))
        draws = self.function(*[point[name] for name in self.names])
        return np.concatenate([np.ravel(draw) for draw in draws]).astype(np.int8)


def _plain_inputs(draw: Tensor) -> list[Tensor]:
    return [v for v in other_inputs(draw, set()) if not isinstance(v.type, RandomType)]


class Start:
    """Decides where a chain starts: where the user said, or else at a draw from p(s | θ).

    At most ``most`` indicators of a draw are kept at 1: each costs the first moves dearly.
    """

    def __init__(
        self,
        model: Model,
        block: Block,
        factors: Evaluator,
        default: np.ndarray,
        *,
        most: int | None = None,
    ):
        rvs = [model.values_to_rvs[binary.value] for binary in block.layout]
        given = any(model.rvs_to_initial_values.get(rv) is not None for rv in rvs)
        self._default = None if given else default
        self._draw = PriorDraw(model, block.layout)
        self._factors = factors
        self._data = Data(model)
        self._most = most
        self._names = [factor.name for factor in block.factors]
        self._variables = ", ".join(binary.name for binary in block.layout)

    def __call__(
        self, point: Point, s: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, bool]:
        """Return the state to start from, and whether it was drawn.

        Raise ``SamplingError`` if the model forbids it, or has changed.
        """
        self._data.check()
        if self._default is not None and np.array_equal(s, self._default):
            for _ in range(TRIES):
                try:
                    drawn = self._thin(self._draw(point, rng), rng)
                except ValueError:
                    break  # a probability that is none, of which there is a sentence below
                if np.isfinite(self._factors(drawn, point)).all():
                    return drawn, True
        for name, value in zip(self._names, self._factors(s, point), strict=True):
            if not np.isfinite(value):
                raise SamplingError(
                    f"The log-density of {name!r} is {float(value)} at the start. Give a start "
                    "that the model allows, with initvals= in pm.sample or initval= in the "
                    f"distribution of {self._variables}."
                )
        return s, False

    def _thin(self, s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        on = np.flatnonzero(s)
        if self._most is not None and on.size > self._most:
            s[rng.permutation(on)[self._most :]] = 0
        return s
