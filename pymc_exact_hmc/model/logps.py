"""The log-densities of a model's factors, derived once for all who ask.

PyMC derives them anew at every call, for all variables at once, which takes longer than most of
what is done with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

from pymc.model import Model
from pytensor.graph.basic import Variable

from pymc_exact_hmc.model.shorthands import write_out

Tensor: TypeAlias = Variable[Any, Any]
_KNOWN: ContextVar[dict[tuple[int, bool], dict[Tensor, Tensor]] | None] = ContextVar(
    "log-densities", default=None
)


@contextmanager
def derived_once() -> Iterator[None]:
    """Remember log-densities meanwhile; no model may be changed inside."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def factor_logps(model: Model, variables: Sequence[Tensor], *, jacobian: bool) -> list[Tensor]:
    """Return the log-density, elementwise, of each random variable or potential.

    In terms of value variables; ``jacobian``: of these, and not of the variables themselves.
    """
    known = _KNOWN.get()
    if known is None:
        return write_out(model.logp(vars=list(variables), jacobian=jacobian, sum=False))
    key = id(model), jacobian
    if key not in known:
        every = all_factors(model)
        logps = write_out(model.logp(vars=every, jacobian=jacobian, sum=False))
        known[key] = dict(zip(every, logps, strict=True))
    return [known[key][variable] for variable in variables]


def all_factors(model: Model) -> list[Tensor]:
    """Return all random variables that have a log-density, and the potentials."""
    return [*model.basic_RVs, *model.potentials]
