"""Models that nobody wrote for this package: what is taken of each, and whether it is exact."""

import warnings

import pytest
from fuzz.check import judge_model
from support.speed import slow_but

from corpus import fields, misleading, unusual_gates, unusual_likelihoods, unusual_priors
from pymc_exact_hmc import ExactBinaryHMC

UNUSUAL = {**unusual_gates.MODELS, **unusual_likelihoods.MODELS, **unusual_priors.MODELS}
MODELS = {**fields.MODELS, **misleading.MODELS, **UNUSUAL}
HARD_TO_INTEGRATE = ("hyperparameter_in_slab_and_inclusion",)
"""Models of which importance sampling finds no truth."""


# Half of those that mislead, and every tenth of the others.
FAST = [
    *list(misleading.MODELS)[::2],
    *list(fields.MODELS)[::10],
    *list(UNUSUAL)[::10],
]


@pytest.mark.parametrize("name", slow_but(FAST, MODELS))
def test_what_is_taken(name):
    """The kernel, and which variables it moves; what is read is verified as it is made."""
    build, taken = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = ExactBinaryHMC(model=build())
    kernel = getattr(step._move, "kernel", "binary")
    assert f"{kernel}: {', '.join(v.name for v in step.vars)}" in taken.split(" | ")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS if name not in HARD_TO_INTEGRATE])
def test_is_sampled_exactly(name):
    """From exact starts the chain keeps the posterior that follows from the model's log-density."""
    build, _ = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = judge_model(build(), {})
    assert verdict.kind == "exact", f"{verdict.kind}: {verdict.detail} ({verdict.taken})"
