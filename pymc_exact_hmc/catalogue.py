"""What is recognised and what it costs: the table behind ``explain`` and the documentation."""

from __future__ import annotations

from typing import NamedTuple

from pymc_exact_hmc.model.forms import Form


class Path(NamedTuple):
    """A form of the log-probability, as a function of the indicators.

    ``hit`` and ``crossing`` are costs for the documentation; ``recognised`` and ``per_hit`` are
    what ``explain`` says, with {reach} for the indicators per entry.
    """

    name: str
    example: str
    hit: str
    crossing: str
    recognised: str
    per_hit: str


FORMS = {
    Form.SEPARABLE: Path(
        "separable: each term touches one",
        "mixture labels, outlier flags, `mu[z]`, `pt.switch(z, a, b)`",
        "O(1)",
        "O(1)",
        "separable: each entry depends on one indicator",
        "one comparison",
    ),
    Form.QUADRATIC: Path(
        "quadratic, sparse or dense",
        "Ising model on a lattice; Boltzmann machine, spin glass",
        "O(1)",
        "O(neighbours)",
        "quadratic: couplings between {reach} indicators per entry",
        "one comparison; a crossing updates the neighbours",
    ),
    Form.LOCAL: Path(
        "local: each term touches a few, in any form",
        "cubic and quartic interactions, hard constraints",
        "O(terms of the variable)",
        "the same",
        "local: each entry depends on at most {reach} indicators",
        "a few table look-ups",
    ),
    Form.MULTILINEAR: Path(
        "multilinear: affine in each",
        "products over many indicators",
        "O(1)",
        "one gradient",
        "multilinear",
        "one comparison; a crossing needs one gradient",
    ),
    Form.GENERIC: Path(
        "anything else",
        "any `pm.Potential`",
        "one compiled log-probability",
        "–",
        "generic",
        "one evaluation of the compiled log-density",
    ),
}
"""Forms without weights, the fastest first."""

GATED = Path(
    "gated weights",
    "`X @ (gamma * w)` in any spelling",
    "O(1)",
    "O(active weights × d)",
    "{likelihood}: linear in weights that indicators switch",
    "one comparison; a crossing updates the active weights",
)
SWITCHED = Path(
    "switched slabs",
    "`w ~ Normal(0, switch(gamma, slab, spike))`",
    "O(1)",
    "O(d²)",
    "Gaussian, priors of weights switched by indicators",
    "one comparison; a crossing updates all weights",
)
GENERAL = Path(
    "Gaussian given the indicators in any other way",
    "gates that multiply, `MvNormal` slabs",
    "one factorisation",
    "–",
    "Gaussian in the weights, given the indicators",
    "a factorisation of the weights' precision",
)

PATHS = (
    *(path for form, path in FORMS.items() if form is not Form.GENERIC),
    GATED,
    SWITCHED,
    GENERAL,
    FORMS[Form.GENERIC],
)
"""All forms, in the order in which they are documented."""
