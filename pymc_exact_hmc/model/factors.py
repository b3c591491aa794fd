"""The factors of a model's log-density that touch the indicators."""

from __future__ import annotations

from typing import Any, NamedTuple

from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.logps import factor_logps


class Factor(NamedTuple):
    """One random variable or potential; ``logp`` is its own log-density, elementwise.

    The graph of ``logp`` is PyMC's, in terms of value variables.
    """

    name: str
    kind: str
    logp: Variable[Any, Any]


def factors_of(model: Model, layout: tuple[BinaryVariable, ...]) -> list[Factor]:
    """Return the factors whose log-density depends on one of the binaries."""
    values = {binary.value for binary in layout}
    rvs = {model.values_to_rvs[value] for value in values}
    touched = [
        var for var in [*model.basic_RVs, *model.potentials] if not rvs.isdisjoint(ancestors([var]))
    ]
    # With the Jacobian, because bounds that depend on an indicator make it depend on it too.
    logps = factor_logps(model, touched, jacobian=True)
    return [
        Factor(var.name, _kind(model, var), logp)
        for var, logp in zip(touched, logps, strict=True)
        if not values.isdisjoint(ancestors([logp]))
    ]


def _kind(model: Model, var: Variable[Any, Any]) -> str:
    if var in model.potentials:
        return "potential"
    return "observed" if var in model.observed_RVs else "prior"
