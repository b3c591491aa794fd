"""The PyMC step method."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymc.model import Model, modelcontext
from pymc.step_methods.compound import BlockedStep, Competence, StepMethodState
from pymc.step_methods.state import dataclass_state
from pymc.util import get_random_generator

from pymc_exact_hmc.assembly import assemble
from pymc_exact_hmc.explain import Explanation, explain_assembly
from pymc_exact_hmc.model.audit import Audit
from pymc_exact_hmc.model.logps import derived_once
from pymc_exact_hmc.model.points import read_state, write_state
from pymc_exact_hmc.moves.hyper import HyperMove
from pymc_exact_hmc.moves.plan import Plan
from pymc_exact_hmc.moves.proxy import ProxyMove
from pymc_exact_hmc.moves.truncated import TruncatedMove
from pymc_exact_hmc.options import Options
from pymc_exact_hmc.stats import (
    STATS,
    inclusion_names,
    progress_columns,
    progress_updates,
)
from pymc_exact_hmc.watch import Watch

CHECK_EVERY = 50
"""Draws after which cached fields are computed afresh and the energy error is measured."""


@dataclass_state
class ExactBinaryHMCState(StepMethodState):
    """What evolves from call to call, beside the point itself."""

    tune: bool
    calls: int
    slice_widths: np.ndarray
    slices_tuned: int
    proxy_memory: np.ndarray
    plan: np.ndarray


class ExactBinaryHMC(BlockedStep):
    """Exact Hamiltonian Monte Carlo for the binary variables of a model.

    Parameters
    ----------
    vars
        Binary variables to sample: Bernoulli, DiscreteUniform(0, 1), Binomial(n=1) or
        Categorical with two categories, of any shape; and Gaussian, truncated Gaussian or
        exponential weights that they switch on and off in a Gaussian likelihood. All of the
        model's by default; every other variable is left to PyMC's own steps.
    augmentation
        Law of the continuous variables whose signs are the indicators: ``"gaussian"``,
        ``"exponential"`` or ``"box"``.
    travel_time
        Length of a trajectory: a number, or an interval from which it is drawn at each
        call. By default an interval that lets a wall be hit ½ to 1 times on average. The
        paper's choice for the Gaussian augmentation is (n + ½)π. In a model without
        indicators, if given, weights move by flights of this length alone.
    trajectories
        Trajectories per draw, each with y and its momentum drawn afresh. By default one if
        ``travel_time`` is given or a wall hit needs the compiled log-density; otherwise as
        many, up to 10, as cost no more than PyMC's own work per draw.
    kernel
        How Gaussian weights that indicators switch on and off are moved together with
        them: ``"sheared"`` or ``"paper"`` for weights that indicators switch on and off,
        ``"general"`` for weights that are Gaussian given the indicators in any way, at the
        price of a factorisation per wall hit and of some compilation, ``"binary"`` to leave
        all weights to other steps. By default the first of ``"sheared"``, ``"general"`` and
        ``"binary"`` that fits.
    inclusion
        Record, as the statistic ``ehmc_inclusion``, the probability of each indicator given
        the others and the data: averages of it are less noisy than those of the indicators.
        With several binary variables x, y the statistics are ``ehmc_inclusion_x``, and so on.
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
        kernel: str | None = None,
        inclusion: bool = False,
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
        model = modelcontext(model)
        point = model.initial_point() if initial_point is None else initial_point
        options = Options(augmentation, travel_time, trajectories, kernel, inclusion)
        with derived_once():
            assembly = assemble(model, vars, point, options)
            scales = assembly.hyperparameter_names
            self._audit = Audit(model, assembly.layout, assembly.weight_names, scales)
        self.layout, self.motion = assembly.layout, assembly.motion
        self._move, self._start = assembly.move, assembly.start
        taken = [binary.value for binary in self.layout]
        names = [*assembly.weight_names, *assembly.hyperparameter_names]
        self.vars = taken + [model.rvs_to_values[model[x]] for x in names]
        self._explanation = explain_assembly(model, assembly)
        self._taken = [*(binary.name for binary in self.layout), *names]
        self._inclusion = inclusion_names([x.name for x in self.layout]) if inclusion else []
        if inclusion:
            self.stats_dtypes_shapes = STATS | dict.fromkeys(self._inclusion, (object, [None]))
            self.stats_dtypes = [
                {name: dtype for name, (dtype, _) in self.stats_dtypes_shapes.items()}
            ]
        self._watch = Watch(model, self.layout)
        self.tune = True
        self._start_chain(get_random_generator(rng))

    @staticmethod
    def competence(var: Any, has_grad: bool) -> Competence:
        """Never chosen by PyMC on its own: give it as ``step=``."""
        return Competence.INCOMPATIBLE

    @property
    def slice_widths(self) -> np.ndarray:
        """The widths of the slices that move scales, learnt during tuning."""
        hyper = self._move.hyper
        return np.zeros(0) if hyper is None else hyper.coordinates.widths.copy()

    @slice_widths.setter
    def slice_widths(self, widths: np.ndarray) -> None:
        if self._move.hyper is not None:
            self._move.hyper.coordinates.widths[:] = widths

    @property
    def slices_tuned(self) -> int:
        """The number of draws from which the widths were learnt."""
        return 0 if self._move.hyper is None else self._move.hyper.tuned

    @slices_tuned.setter
    def slices_tuned(self, tuned: int) -> None:
        if self._move.hyper is not None:
            self._move.hyper.tuned = tuned

    @property
    def proxy_memory(self) -> np.ndarray:
        """What was learnt during tuning about likelihoods that are not Gaussian."""
        proxy = getattr(self._move, "proxy", None)
        return np.zeros(0) if proxy is None else proxy.memory

    @proxy_memory.setter
    def proxy_memory(self, memory: np.ndarray) -> None:
        proxy = getattr(self._move, "proxy", None)
        if proxy is not None:
            proxy.memory = memory

    @property
    def plan(self) -> np.ndarray:
        """How flights and sweeps share the work, in a model without indicators."""
        plan = self._move.plan if isinstance(self._move, TruncatedMove) else None
        return np.array([] if plan is None else plan, dtype=float)

    @plan.setter
    def plan(self, plan: np.ndarray) -> None:
        if isinstance(self._move, TruncatedMove):
            self._move.plan = Plan.from_numbers(plan.tolist()) if plan.size else None

    def setup_chain(self, rng: Any, tune: int, draws: int) -> None:
        """Start a chain (PyMC ≥ 6.3)."""
        self._start_chain(rng, draws)

    def set_rng(self, rng: Any) -> None:
        """Start a chain (PyMC ≤ 6.2)."""
        self._start_chain(rng)

    def _start_chain(self, rng: Any, draws: int | None = None) -> None:
        self.rng = get_random_generator(rng, copy=False)
        self.calls = 0
        self._watch.start(draws)
        self._audit.start()
        self._move.forget()

    def step(self, point: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], list[Any]]:
        """Return the next point and the statistics of the move."""
        s = read_state(point, self.layout)
        for part in (self._move, self._move.hyper, getattr(self._move, "proxy", None)):
            if isinstance(part, TruncatedMove | HyperMove | ProxyMove):
                part.tuning = self.tune
        if isinstance(self._move, TruncatedMove):
            self._move.calls = self.calls
        if self.calls == 0:
            s, drawn = self._start(point, s, self.rng)
            point = point | self._move.settle(point, s, self.rng) if drawn else point
        moved = self._move(point, s, self.rng, check=self.calls % CHECK_EVERY == 0)
        new = write_state(point, s, self.layout) | moved
        if self._audit.is_due(self.calls, new):
            self._audit(self.calls, point, new, self._move)
        self.calls += 1
        return new, [self._stats(s, new)]

    def _stats(self, s: np.ndarray, new: dict[str, np.ndarray]) -> dict[str, Any]:
        move = self._move
        tally = move.tally
        stats = {
            "ehmc_hits": tally.hits.item(),
            "ehmc_crossings": tally.crossings.item(),
            "ehmc_reflections": move.reflections,
            "ehmc_rejected": move.rejected,
            "ehmc_travel_time": move.time,
            "ehmc_energy_error": move.energy_error,
            "warning": self._watch(s, new, tally, move, tuning=self.tune),
        }
        if move.inclusion is not None:
            for name, binary in zip(self._inclusion, self.layout, strict=True):
                stats[name] = move.inclusion[binary.start : binary.stop]
        return stats

    def explain(self) -> Explanation:
        """Return what was recognised, which path runs, and what is left to other steps."""
        return self._explanation

    def __repr__(self) -> str:
        """Return one line: the variables taken and the options."""
        low, high = self.motion.travel_time
        options = [
            f"augmentation={type(self.motion.augmentation).__name__.lower()!r}",
            f"travel_time=({low:.3g}, {high:.3g})",
            f"trajectories={self.motion.trajectories}",
            f"kernel={getattr(self._move, 'kernel', 'binary')!r}",
        ]
        options += ["inclusion=True"] if self._inclusion else []
        return f"ExactBinaryHMC([{', '.join(self._taken)}], {', '.join(options)})"

    def _repr_html_(self) -> str:
        return self._explanation._repr_html_()

    @staticmethod
    def _progressbar_config(n_chains: int = 1) -> Any:
        return progress_columns(n_chains)

    @staticmethod
    def _make_progressbar_update_functions() -> Any:
        return progress_updates()
