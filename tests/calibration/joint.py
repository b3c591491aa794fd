"""Steps that move the data, so that one call of ``pm.sample`` is a whole calibration.

Geweke: after each draw of the parameters the data are drawn given them; the marginals of the
parameters are then their priors. SBC: from time to time truth and data are drawn afresh, and the
parameters are put at another draw from the prior; the truth's rank among the draws is uniform.
"""

from typing import Any

import numpy as np
import pymc as pm
from pymc.step_methods.compound import BlockedStep
from worlds import World

from pymc_exact_hmc import ExactBinaryHMC

BURN, DRAWS, THIN = 20, 15, 2
LENGTH = BURN + DRAWS * THIN
"""Draws of one replication of SBC, of which the last ``DRAWS``, thinned, are ranked."""


class _DataStep(BlockedStep):
    """Takes y; the parameters it reads from the point, on their natural scale."""

    name = "data"
    stats_dtypes_shapes = {}  # noqa: RUF012

    def __init__(self, vars: Any, *, model: pm.Model, world: World, **_: Any):
        self.world, self.vars = world, [model.rvs_to_values[v] for v in vars]
        self.rng, self.exact = np.random.default_rng(0), None

    def set_rng(self, rng: Any) -> None:
        self.rng = rng

    def setup_chain(self, rng: Any, tune: Any, draws: Any) -> None:
        self.rng = rng

    def _write(self, point: dict[str, Any], y: np.ndarray) -> dict[str, Any]:
        if self.world.columns is None:
            return dict(point) | {"y": np.asarray(y, dtype=point["y"].dtype)}
        self.world.model["data"].set_value(y.astype(self.world.model["data"].dtype))
        (latent,) = self.exact._move.gaussian.latents
        for name, column in self.world.columns(y).items():
            getattr(latent.family, name)[:] = column
        return dict(point)


class Geweke(_DataStep):
    """Draws y given the parameters."""

    def step(self, point: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        drawn = {}
        for name in self.world.prior(np.random.default_rng(0)):
            for value, back in (
                (name, None),
                (f"{name}_log__", np.exp),
                (f"{name}_logodds__", _expit),
            ):
                if value in point:
                    drawn[name] = point[value] if back is None else back(point[value])
        return self._write(point, self.world.data(self.rng, drawn)), [{}]


class Replicate(_DataStep):
    """Draws truth and data every ``LENGTH`` calls; keeps the truths."""

    def __init__(self, vars: Any, *, model: pm.Model, world: World, **_: Any):
        super().__init__(vars, model=model, world=world)
        self.calls, self.truths = 0, list[dict[str, Any]]()
        self._log_p = model.compile_logp()

    def step(self, point: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        if self.calls % LENGTH == 0:
            truth = self.world.prior(self.rng)
            self.truths.append(truth)
            point = self._start(self._write(point, self.world.data(self.rng, truth)))
        self.calls += 1
        return dict(point), [{}]

    def _start(self, point: dict[str, Any]) -> dict[str, Any]:
        """Return another draw from the prior.

        In the tails of a probit PyMC's log-density is −inf to rounding, from where NUTS does not
        begin; where a chain begins must only not depend on the truth.
        """
        while True:
            start = point | self.world.values(self.world.prior(self.rng))
            if np.isfinite(self._log_p(start)):
                return start


def data_step(kind: type[_DataStep], world: World) -> Any:
    """Return a step that takes the data of a world."""
    return kind([world.data_variable], model=world.model, world=world)


def _expit(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def sample(
    world: World, data: _DataStep, draws: int, tune: int, seed: int
) -> dict[str, np.ndarray]:
    """Run ``pm.sample`` with the exact step, NUTS for the rest, and the data step first."""
    with world.model:
        data.exact = ExactBinaryHMC([world.model[name] for name in world.taken])
        # Last, because the exact step refuses to begin with other data than it was made of.
        step = [data.exact, data]
        taken = {*data.exact.vars, *data.vars}
        nuts = {"target_accept": 0.95} if taken < set(world.model.value_vars) else None
        idata = pm.sample(
            draws, tune=tune, chains=1, cores=1, step=step, random_seed=seed, progressbar=False,
            compute_convergence_checks=False, **({} if nuts is None else {"nuts": nuts}),
        )  # fmt: skip
    return {
        name: np.asarray(idata.posterior[name])[0]
        for name in idata.posterior
        if name not in ("y", "holder")
    }
