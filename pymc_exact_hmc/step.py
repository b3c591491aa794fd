"""The PyMC step method."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymc.model import Model, modelcontext
from pymc.step_methods.compound import BlockedStep, Competence, StepMethodState
from pymc.step_methods.state import dataclass_state
from pymc.util import get_random_generator

from pymc_exact_hmc.augmentations import AUGMENTATIONS
from pymc_exact_hmc.binary_move import BinaryMove, Motion
from pymc_exact_hmc.explain import Explanation, explain_block
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import ONCE
from pymc_exact_hmc.model.forms import Form
from pymc_exact_hmc.model.points import read_state, write_state
from pymc_exact_hmc.model.recognise import recognise
from pymc_exact_hmc.model.starts import Start
from pymc_exact_hmc.model.verify import factor_evaluator, verify
from pymc_exact_hmc.stats import (
    STATS,
    progress_columns,
    progress_updates,
    stuck_warning,
    undefined_warning,
)
from pymc_exact_hmc.travel_time import DEFAULT_HITS_PER_WALL, parse_travel_time

HITS_PER_DRAW = 2500
"""Cheap wall hits that cost about as much as PyMC's own work per draw."""
MAX_TRAJECTORIES = 10
CHECK_EVERY = 50
"""Draws after which cached fields are computed afresh and the energy error is measured."""
STUCK_AFTER = 500


@dataclass_state
class ExactBinaryHMCState(StepMethodState):
    """What evolves from call to call, beside the point itself."""

    calls: int
    calls_without_crossing: int
    warned: bool


class ExactBinaryHMC(BlockedStep):
    """Exact Hamiltonian Monte Carlo for the binary variables of a model.

    Parameters
    ----------
    vars
        Binary variables to sample: Bernoulli, DiscreteUniform(0, 1), Binomial(n=1) or
        Categorical with two categories, of any shape. All of the model's by default; every
        other variable is left to PyMC's own steps.
    augmentation
        Law of the continuous variables whose signs are the indicators: ``"gaussian"``,
        ``"exponential"`` or ``"box"``.
    travel_time
        Length of a trajectory: a number, or an interval from which it is drawn at each
        call. By default an interval that lets a wall be hit ½ to 1 times on average. The
        paper's choice for the Gaussian augmentation is (n + ½)π.
    trajectories
        Trajectories per draw, each with y and its momentum drawn afresh. By default one if
        ``travel_time`` is given or a wall hit needs the compiled log-density; otherwise as
        many, up to 10, as cost no more than PyMC's own work per draw.
    model
        The PyMC model; that of the context by default.
    """

    name = "exact_binary_hmc"
    default_blocked = True
    default_tune_steps = 500
    stats_dtypes_shapes = STATS
    _state_class = ExactBinaryHMCState

    def __init__(
        self,
        vars: Any = None,
        *,
        augmentation: str = "gaussian",
        travel_time: float | tuple[float, float] | None = None,
        trajectories: int | None = None,
        model: Model | None = None,
        blocked: bool = True,
        rng: Any = None,
        initial_point: dict[str, np.ndarray] | None = None,
        compile_kwargs: dict[str, Any] | None = None,
    ):
        if not blocked:
            raise ValueError(
                "ExactBinaryHMC moves all its variables together: leave out blocked=False, and "
                "use one step for each group of variables if they are to be sampled apart."
            )
        if augmentation not in AUGMENTATIONS:
            known = ", ".join(repr(name) for name in AUGMENTATIONS)
            raise ValueError(f"augmentation must be one of {known}; got {augmentation!r}.")
        model = modelcontext(model)
        parse_travel_time(travel_time, AUGMENTATIONS[augmentation])
        point = model.initial_point() if initial_point is None else initial_point
        block = recognise(model, vars, point)
        self.layout = block.layout
        self.vars = [binary.value for binary in block.layout]
        coefficients = Coefficients(block.terms, block.layout, point)
        factors = factor_evaluator(block, ONCE)
        start = read_state(point, block.layout)
        verify(block, coefficients, factors, point, start)
        self._start = Start(model, block, factors, start)
        costly = any(t.form in (Form.GENERIC, Form.MULTILINEAR) for t in block.terms)
        single = travel_time is not None or costly
        self.motion = Motion(
            AUGMENTATIONS[augmentation],
            parse_travel_time(travel_time, AUGMENTATIONS[augmentation]),
            _parse_trajectories(trajectories, block.d, single=single),
        )
        self._move = BinaryMove(coefficients, self.motion)
        self._explanation = explain_block(model, block, self.motion)
        self._names = ", ".join(binary.name for binary in block.layout)
        self.tune = True
        self._start_chain(get_random_generator(rng))

    @staticmethod
    def competence(var: Any, has_grad: bool) -> Competence:
        """Never chosen by PyMC on its own: give it as ``step=``."""
        return Competence.INCOMPATIBLE

    def setup_chain(self, rng: Any, tune: int, draws: int) -> None:
        """Start a chain (PyMC ≥ 6.3)."""
        self._start_chain(rng)

    def set_rng(self, rng: Any) -> None:
        """Start a chain (PyMC ≤ 6.2)."""
        self._start_chain(rng)

    def _start_chain(self, rng: Any) -> None:
        self.rng = get_random_generator(rng, copy=False)
        self.calls = self.calls_without_crossing = 0
        self.warned = False
        self._move.forget()

    def step(self, point: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], list[Any]]:
        """Return the next point and the statistics of the move."""
        s = read_state(point, self.layout)
        if self.calls == 0:
            s = self._start(point, s, self.rng)
        moved = self._move(point, s, self.rng, check=self.calls % CHECK_EVERY == 0)
        stats = self._stats()
        self.calls += 1
        return write_state(point, s, self.layout) | moved, [stats]

    def _stats(self) -> dict[str, Any]:
        tally = self._move.tally
        crossings = int(tally.crossings[0])
        self.calls_without_crossing = 0 if crossings else self.calls_without_crossing + 1
        warning = None
        if tally.undefined[0] and not self.warned:
            warning = undefined_warning(self._names)
        elif self.calls_without_crossing == STUCK_AFTER and not self.warned:
            warning = stuck_warning(STUCK_AFTER, self._names)
        self.warned = self.warned or warning is not None
        return {
            "ehmc_hits": int(tally.hits[0]),
            "ehmc_crossings": crossings,
            "ehmc_travel_time": self._move.time,
            "ehmc_energy_error": self._move.energy_error,
            "warning": warning,
        }

    def explain(self) -> Explanation:
        """Return what was recognised, which path runs, and what is left to other steps."""
        return self._explanation

    def __repr__(self) -> str:
        """Return one line: the variables taken and the options."""
        low, high = self.motion.travel_time
        augmentation = type(self.motion.augmentation).__name__.lower()
        return (
            f"ExactBinaryHMC([{self._names}], augmentation={augmentation!r}, "
            f"travel_time=({low:.3g}, {high:.3g}), trajectories={self.motion.trajectories})"
        )

    @staticmethod
    def _progressbar_config(n_chains: int = 1) -> Any:
        return progress_columns(n_chains)

    @staticmethod
    def _make_progressbar_update_functions() -> Any:
        return progress_updates()


def _parse_trajectories(trajectories: int | None, d: int, *, single: bool) -> int:
    if trajectories is None:
        hits = d * sum(DEFAULT_HITS_PER_WALL) / 2
        return 1 if single else int(np.clip(round(HITS_PER_DRAW / hits), 1, MAX_TRAJECTORIES))
    if not isinstance(trajectories, int | np.integer) or trajectories < 1:
        raise ValueError(
            f"trajectories must be a whole number of at least 1, got {trajectories!r}."
        )
    return int(trajectories)
