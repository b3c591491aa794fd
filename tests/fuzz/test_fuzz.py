"""A fixed sample of random models, and whether a wrong sampler would be noticed."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pymc_exact_hmc import ExactBinaryHMC

from .check import judge, judge_model, judge_step
from .description import Description, describe, grammar
from .shrink import shrink

SAMPLE = (1003, 1006, 1007)
"""Seeds of the models of the fast suite; ``python -m tests.fuzz`` goes through thousands."""


def plain(kind, **changes):
    choices = {name: next(iter(of)) for name, of in grammar(kind).items()}
    return Description(kind, tuple((choices | changes).items()), 1)


@pytest.mark.parametrize("seed", SAMPLE)
def test_sampled_exactly_or_refused(seed):
    """From exact starts the chain keeps the posterior that follows from the model's log-density."""
    description = describe(seed)
    verdict = judge(description)
    assert not verdict.failed, f"{verdict.kind}: {verdict.detail}\n{description}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10_000, 10_200))
def test_more_models(seed):
    """The same for more models."""
    test_sampled_exactly_or_refused(seed)


def test_a_model_without_indicators_is_judged():
    """Truncated weights alone have one state, the empty one."""
    with pm.Model() as model:
        w = pm.HalfNormal("w", 1.0, shape=2)
        pm.Normal("y", w.sum(), 1.0, observed=0.5)
    verdict = judge_model(model, {})
    assert verdict.kind == "exact", verdict


def test_a_model_that_allows_nothing_is_refused():
    """Where no state is possible there is no truth, and must be no draw."""
    verdict = judge(plain("binary", law="missing", wall="implies"))
    assert verdict.kind == "refused", verdict
    assert "'wall' is -inf at the start" in verdict.detail


def test_a_description_is_a_model():
    """The same seed gives the same code, and the code gives the model."""
    assert str(describe(5)) == str(describe(5))
    names = [rv.name for rv in plain("regression").build().basic_RVs]
    assert names == ["gamma", "w", "y"]


def test_a_failure_is_shrunk_to_what_matters():
    """Choices that have nothing to do with a failure become plain."""
    start = plain("regression", weights="halfnormal", extra="intercept", noise="invgamma", n="3")

    def fails(description):
        return dict(description.choices)["weights"] not in ("normal", "mean")

    smallest = dict(shrink(start, fails).choices)
    assert smallest == dict(plain("regression", weights="random mean").choices)


MISREAD = {
    "inclusion probability": ({}, ("0.4", "0.6")),
    "slab": ({}, ("scale = 1.5", "scale = 3.0")),
    "noise": ({}, ("sigma = 0.8", "sigma = 1.2")),
    "slab of a scale": ({"scale": "lognormal"}, ("0.0, 0.5", "0.5, 0.5")),
    "bound": ({"weights": "lower"}, ("lower=-0.5", "lower=0.0")),
    "coupling": ({"coupling": "ising"}, ("0.8 *", "-0.2 *")),
    "data": ({}, ("observed=y", "observed=y + 0.6")),
}
"""What a recogniser could read wrongly: the step of a model in which the words are changed."""


@pytest.mark.parametrize(
    "name",
    [n if n == "slab" else pytest.param(n, marks=pytest.mark.slow) for n in MISREAD],
)
def test_a_step_that_misreads_a_model_is_noticed(name):
    """The step of another model, which differs in one number, is not judged exact."""
    changes, (right, wrong) = MISREAD[name]
    description = plain("regression", **changes)
    assert right in description.source()
    names = {"np": np, "pm": pm, "pt": pt}
    exec(description.source().replace(right, wrong), names)
    step = ExactBinaryHMC(model=names["model"])
    verdict = judge_step(step, description.build())
    assert verdict.kind == "wrong", verdict
