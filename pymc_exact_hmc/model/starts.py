"""Starting states: a draw of the indicators from p(s | θ), so that chains start apart."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from pymc.model import Model
from pymc.pytensorf import compile as compile_pymc
from pymc.pytensorf import reseed_rngs
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import ONCE, Point
from pymc_exact_hmc.model.forms import other_inputs

Tensor: TypeAlias = Variable[Any, Any]


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


def keeps_user_start(model: Model, layout: tuple[BinaryVariable, ...]) -> bool:
    """Return whether the model gives a starting value to any of the indicators."""
    rvs = [model.values_to_rvs[binary.value] for binary in layout]
    return any(model.rvs_to_initial_values.get(rv) is not None for rv in rvs)
