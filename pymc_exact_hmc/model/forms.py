"""The form of each term of log f, and hence the oracle that serves it."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors

from pymc_exact_hmc.model.dependence import Dependence
from pymc_exact_hmc.model.probing import Probes, plan_probes
from pymc_exact_hmc.model.terms import Term

MAX_REACH = 8
"""Indicators per entry up to which all combinations are tabulated."""
MAX_TABLE_ENTRIES = 2_000_000
MAX_DENSE = 4_000
"""Indicators up to which all pairs may be coupled, in a full matrix."""
MAX_PAIRS = 20_000_000
MAX_PROBES = 512
"""Evaluations of a constant term that may be spent once to tabulate it."""


class Form(Enum):
    """What a term looks like as a function of s."""

    SEPARABLE = "one indicator per entry"
    QUADRATIC = "quadratic"
    LOCAL = "few indicators per entry"
    MULTILINEAR = "multilinear"
    GENERIC = "any other"


class RecognisedTerm(NamedTuple):
    """A term with its form; ``constant`` if no other random variable enters the tensor.

    ``reason`` says why a faster oracle does not fit, or is empty.
    """

    term: Term
    form: Form
    dependence: Dependence | None
    constant: bool
    reason: str
    probes: Probes | None = None


def recognise_term(
    term: Term, dependence: Dependence | None, unknowns: set[Variable[Any, Any]]
) -> RecognisedTerm:
    """Find the fastest form that a term is proven to have."""
    constant = not other_inputs(term.tensor, unknowns)
    form, reason = _form(dependence)
    if form is Form.LOCAL and dependence is not None:
        probes = plan_term_probes(dependence, constant=constant)
        if probes is not None:
            return RecognisedTerm(term, form, dependence, constant, reason, probes)
        form, reason = _form(dependence, tabulate=False)
    return RecognisedTerm(term, form, dependence, constant, reason)


def plan_term_probes(dependence: Dependence, *, constant: bool) -> Probes | None:
    """Plan the evaluations that tabulate a term, or None if they cost too much."""
    # A term that changes is tabulated at every call: not worth more than a sweep.
    most = MAX_PROBES if constant else max(16, dependence.support.shape[1] // 2)
    return plan_probes(dependence.support, most)


def _form(dependence: Dependence | None, *, tabulate: bool = True) -> tuple[Form, str]:
    if dependence is None or not dependence.shaped:
        return Form.GENERIC, "it goes through an operation that cannot be followed"
    n, d = dependence.support.shape
    reach = dependence.reach
    pairs = float(np.square(np.diff(dependence.support.indptr).astype(float)).sum())
    if reach <= 1:
        return Form.SEPARABLE, ""
    if dependence.degree <= 2 and (d <= MAX_DENSE or pairs <= MAX_PAIRS):
        return Form.QUADRATIC, ""
    if tabulate and reach <= MAX_REACH and n * 2**reach <= MAX_TABLE_ENTRIES:
        return Form.LOCAL, ""
    together = f"an entry depends on {reach} indicators together"
    if dependence.multilinear:
        return Form.MULTILINEAR, f"{together}, as a polynomial of degree {dependence.degree}"
    return Form.GENERIC, f"{together}, not as a polynomial that is affine in each"


def other_inputs(
    tensor: Variable[Any, Any], unknowns: set[Variable[Any, Any]]
) -> list[Variable[Any, Any]]:
    """Return the value variables, other than the unknowns, that enter a graph."""
    return [
        v
        for v in ancestors([tensor])
        if v.owner is None
        and v not in unknowns
        and not isinstance(v, Constant)
        and not hasattr(v, "get_value")
    ]
