"""Which free variables of a model are binary, and where they sit in the flat vector s."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.discrete import DiscreteUniformRV
from pymc.model import Model
from pymc.pytensorf import constant_fold
from pymc.util import get_value_vars_from_user_vars
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import BernoulliRV, BinomialRV, CategoricalRV
from pytensor.tensor.random.op import RandomVariable


class BinaryVariable(NamedTuple):
    """A binary free variable: ``s[start:stop]`` is its value, flattened."""

    name: str
    value: Variable[Any, Any]
    shape: tuple[int, ...]
    start: int
    stop: int


def why_not_binary(rv: Variable[Any, Any]) -> str | None:
    """Return why a free variable cannot be taken as binary, or None if it can."""
    op = rv.owner.op if rv.owner is not None else None
    if isinstance(op, BernoulliRV):
        return None
    if isinstance(op, CategoricalRV):
        categories = constant_value(op.dist_params(rv.owner)[0].shape[-1])
        return None if _equal(categories, 2) else f"it has {_words(categories)} categories, not 2"
    if isinstance(op, BinomialRV):
        n = constant_value(op.dist_params(rv.owner)[0])
        return None if _equal(n, 1) else f"its n is {_words(n)}, not 1"
    if isinstance(op, DiscreteUniformRV):
        lower, upper = (constant_value(bound) for bound in op.dist_params(rv.owner))
        if _equal(lower, 0) and _equal(upper, 1):
            return None
        return f"its bounds are {_words(lower)} and {_words(upper)}, not 0 and 1"
    kind = getattr(op, "_print_name", None) or (type(op).__name__,)
    return f"it is a {kind[0]}, not a binary distribution"


def select_variables(
    model: Model, user_vars: Any
) -> tuple[list[Variable[Any, Any]], list[Variable[Any, Any]]]:
    """Return the value variables of the binaries to take, and the other variables given.

    All binaries of the model if no variables are given; there may be none.
    """
    if user_vars is None:
        binaries = [rv for rv in model.free_RVs if why_not_binary(rv) is None]
        others = []
    else:
        # The same variable may come by name, as itself and as its value.
        given = list(dict.fromkeys(_free_variable(model, var) for var in _as_list(user_vars)))
        binaries = [rv for rv in given if why_not_binary(rv) is None]
        others = [rv for rv in given if why_not_binary(rv) is not None]
    return [model.rvs_to_values[rv] for rv in binaries], others


def nothing_to_take(model: Model, others: list[Any], reasons: dict[str, str]) -> str:
    """Return the sentence that says why there is neither an indicator nor a truncated weight."""
    if others:
        names = "; ".join(f"{rv.name}: {_both(rv, reasons)}" for rv in others)
        return (
            "ExactBinaryHMC needs at least one binary variable, or Gaussian weights, and cannot "
            f"take these alone ({names})."
        )
    found = ", ".join(f"{rv.name} ({_both(rv, reasons)})" for rv in model.free_RVs)
    return (
        "The model has no free binary variable for ExactBinaryHMC to sample, and no truncated "
        "Gaussian ones. It takes Bernoulli, DiscreteUniform(0, 1), Binomial(n=1) and "
        "two-category Categorical variables, and Gaussian variables within bounds or "
        f"constraints; found: {found or 'no free variable at all'}."
    )


def _both(rv: Variable[Any, Any], reasons: dict[str, str]) -> str:
    why = why_not_binary(rv)
    return f"{why}; {reasons[rv.name]}" if rv.name in reasons else f"{why}"


def _free_variable(model: Model, var: Any) -> Variable[Any, Any]:
    name = getattr(var, "name", None) or repr(var)
    if isinstance(var, str) and var in model.named_vars:
        var = model[var]
    if var in model.observed_RVs or var in model.deterministics or var in model.potentials:
        raise ValueError(f"{name} is not a free variable of the model: nothing to sample.")
    try:
        (value,) = get_value_vars_from_user_vars([var], model)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        names = ", ".join(rv.name for rv in model.free_RVs)
        raise ValueError(
            f"{name} is not a free variable of this model. Its free variables are: {names}."
        ) from error
    return model.values_to_rvs[value]


def _as_list(user_vars: Any) -> list[Any]:
    items = list(user_vars) if isinstance(user_vars, list | tuple) else [user_vars]
    if not items:
        raise ValueError("vars is empty: give the binary variables to sample, or leave it out.")
    return items


def lay_out(
    values: list[Variable[Any, Any]], point: dict[str, np.ndarray]
) -> tuple[BinaryVariable, ...]:
    """Place the binaries one after the other in the flat vector s."""
    layout, start = [], 0
    for value in values:
        shape = np.shape(point[value.name])
        stop = start + int(np.prod(shape))
        layout.append(BinaryVariable(value.name, value, shape, start, stop))
        start = stop
    if start == 0:
        raise ValueError(
            f"{', '.join(b.name for b in layout)} has no entries: there is nothing to sample."
        )
    return tuple(layout)


def constant_value(variable: Variable[Any, Any]) -> np.ndarray | None:
    """Return the value of an expression that depends on no random variable, else None."""
    (folded,) = constant_fold([variable], raise_not_constant=False)
    if not isinstance(folded, Variable):
        return np.asarray(folded)
    if any(
        v.owner is not None and isinstance(v.owner.op, RandomVariable) for v in ancestors([folded])
    ):
        return None
    try:
        return np.asarray(pt.as_tensor_variable(folded).eval())
    except Exception:
        return None


def _equal(value: np.ndarray | None, target: int) -> bool:
    return value is not None and bool(np.all(value == target))


def _words(value: np.ndarray | None) -> str:
    return "unknown" if value is None else str(np.unique(value).tolist()).strip("[]")
