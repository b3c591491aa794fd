"""A fixed sample of random models, and whether a wrong sampler would be noticed."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pymc_exact_hmc import ExactBinaryHMC

from .check import judge, judge_model, judge_step
from .description import Description, describe, grammar
from .shrink import shrink

SAMPLE = {
    1002: "gamma, w [sheared]",
    1006: None,
    1009: "s0, s1, s2 [binary]",
    1015: "gamma, outer, w0 [general]",
    1021: "gamma, w_interval__, precision_log__ [sheared]",
}
"""Seeds of the models of the fast suite, and what is to be taken of them; nothing if they are
refused. ``python -m tests.fuzz`` goes through thousands."""


def plain(kind, **changes):
    choices = {name: next(iter(of)) for name, of in grammar(kind).items()}
    return Description(kind, tuple((choices | changes).items()), 1)


@pytest.mark.parametrize("seed", SAMPLE)
def test_sampled_exactly_or_refused(seed):
    """From exact starts the chain keeps the posterior that follows from the model's log-density."""
    verdict = judge(describe(seed))
    kind = "exact" if SAMPLE[seed] else "refused"
    assert (verdict.kind, verdict.taken) == (kind, SAMPLE[seed] or ""), verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10_000, 10_200))
def test_more_models(seed):
    """The same for more models, of which nothing else is known."""
    description = describe(seed)
    verdict = judge(description)
    assert not verdict.failed, f"{verdict.kind}: {verdict.detail}\n{description}"


@pytest.mark.parametrize("fault", ["frozen", "not a number"])
def test_a_sampler_that_fails_quietly_is_noticed(fault, monkeypatch):
    """Exact starts are no excuse for a step that stays there, or for a draw that is no number."""
    with pm.Model() as model:
        w = pm.HalfNormal("w", 1.0, shape=2, default_transform=None)
        pm.Normal("y", w.sum(), 1.0, observed=0.5)
    step = ExactBinaryHMC(model=model)
    assert judge_step(step, model).kind == "exact"
    wrong = dict if fault == "frozen" else (lambda point: point | {"w": np.full(2, np.nan)})
    monkeypatch.setattr(step, "step", lambda point: (wrong(point), [{}]))
    assert judge_step(step, model).kind == {"frozen": "stuck"}.get(fault, "wrong")


def test_a_rare_event_that_becomes_common_is_noticed():
    """Its frequency has no normal law, but a bound."""
    with pm.Model() as model:
        pm.Bernoulli("s", 0.05, shape=2)
    with pm.Model() as other:
        pm.Bernoulli("s", [0.05, 0.3], shape=2)
    assert judge_model(model, {}).kind == "exact"
    assert judge_step(ExactBinaryHMC(model=other), model).kind == "wrong"


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
