"""What the step says while it samples: who, what, and what to do about it."""

import logging
from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytest

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.advice import _examples
from pymc_exact_hmc.dynamics.tally import empty_tally
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.probabilities import InclusionProbability
from pymc_exact_hmc.stats import inclusion_names
from pymc_exact_hmc.watch import JUDGED_AFTER, Watch, _Labels, bound_reached, correlated_pairs

DRAWS = JUDGED_AFTER + 20
NAMES = ["twin", "sister", "strong", "idle", "void"]


def regression():
    """Two predictors that say the same, one that is beyond doubt, and two without effect."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 5))
    X[:, 1] = X[:, 0] + 0.02 * rng.normal(size=80)
    y = 0.7 * X[:, 0] + 3 * X[:, 2] + rng.normal(size=80)
    with pm.Model(coords={"predictor": NAMES}) as model:
        gamma = pm.Bernoulli("gamma", 0.1, dims="predictor")
        w = pm.Normal("w", 0, 1, dims="predictor")
        pm.Normal("y", X @ (gamma * w), 1.0, observed=y)
    return model


def said(model, draws=DRAWS, **options):
    """All that is said in one chain after tuning."""
    step = ExactBinaryHMC(model=model, rng=1, **options)
    step.tune = False
    point, found = model.initial_point(), []
    for _ in range(draws):
        point, (stats,) = step.step(point)
        found += [stats["warning"]] if stats["warning"] is not None else []
    return found


def watch_of(d, **options):
    """A watch over d indicators of a variable x, and a chain that stands still."""
    with pm.Model() as model:
        x = pm.Bernoulli("x", 0.5, shape=d)
    binary = BinaryVariable("x", model.rvs_to_values[x], (d,), 0, d)
    move = SimpleNamespace(**({"energy_error": 0.0} | options))
    return Watch(model, (binary,)), np.zeros(d, np.int8), empty_tally(d), move


def test_twins_and_certainties_are_named():
    """Predictors that stand in for each other are named, and the one that never moved."""
    messages = said(regression())
    (moved,) = [x for x in messages if "Never moved" in x.message]
    assert "gamma[strong] stayed 1" in moved.message
    assert moved.level == "info"
    (twins,) = [x for x in messages if "correlation" in x.message]
    assert "gamma[twin] and gamma[sister] stand in for each other (-" in twins.message
    assert "groups=" in twins.message
    assert len(messages) == 2


def test_nothing_is_said_of_a_good_chain():
    """Indicators that move, a probability inside its range, and rounding are no news."""
    with pm.Model() as model:
        p = pm.Beta("p", 2, 2)
        s = pm.Bernoulli("s", p, shape=12)
        pm.Potential("field", (s * np.linspace(-1, 1, 12)).sum())
    assert said(model) == []


@pytest.mark.parametrize(
    ("prior", "pull", "words"),
    [
        (lambda: pm.Uniform("p", 0, 0.2), 3.0, ["p is at its bound 0.2", "Widen the prior of p"]),
        (lambda: pm.Uniform("p", 0.5, 1), -3.0, ["p is at its bound 0.5"]),
        (lambda: pm.Beta("p", 1, 1), -8.0, ["p is at its bound 0 ", "no indicator of s"]),
        (lambda: pm.Beta("p", 1, 1), 8.0, ["p is at its bound 1 ", "every indicator of s"]),
    ],
)
def test_probability_at_its_bound(prior, pull, words):
    """A hyperprior that is pressed against a bound is named, with the bound."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", prior(), shape=30)
        pm.Potential("pull", pull * s.sum())
    text = " ".join(x.message for x in said(model))
    for word in words:
        assert word in text


def test_bounds_by_hand():
    """Natural bounds count indicators, bounds of the user count tenths of the range."""
    natural = InclusionProbability("p", "p", False, 0.0, 1.0, "s", 10)
    assert bound_reached(natural, 0.09) == 0.0
    assert bound_reached(natural, 0.11) is None
    assert bound_reached(natural, 0.91) == 1.0
    set_by_user = InclusionProbability("p", "p", False, 0.0, 0.5, "s", 10)
    assert bound_reached(set_by_user, 0.46) == 0.5
    assert bound_reached(set_by_user, 0.44) is None
    assert bound_reached(InclusionProbability("p", "p", False, 0.0, 1.0, "s", 2), 0.01) is None
    transformed = InclusionProbability("p", "p_interval__", True, 0.2, 0.6, "s", 9)
    assert transformed.read({"p_interval__": np.array(0.0)}) == pytest.approx(0.4)


def test_correlated_pairs_by_hand():
    """Opposites have −1 and copies +1; rare, constant and unrelated ones are not named."""
    rng = np.random.default_rng(5)
    x = (rng.random((100, 6)) < 0.5).astype(np.int8)
    x[:, 2] = 1 - x[:, 1]
    x[:, 5] = x[:, 4]
    x[:, [0, 3]] = 0
    x[0, [0, 3]] = 1
    pairs = correlated_pairs(x)
    assert {(i, j) for i, j, _ in pairs} == {(1, 2), (4, 5)}
    np.testing.assert_allclose(sorted(r for *_, r in pairs), [-1, 1])


def test_only_a_few_are_named():
    """Three by name, the rest by their number."""
    assert _examples(["a", "b"]) == "a, b"
    assert _examples(["a", "b", "c"]) == "a, b, c"
    assert _examples(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_of_many_indicators_the_most_balanced_are_compared():
    """Two that are opposites are found among hundreds that hardly ever change."""
    x = np.zeros((100, 330), np.int8)
    x[0] = 1
    x[::2, 5], x[1::2, 320] = 1, 1
    x[0, 320] = 0
    pairs = correlated_pairs(x)
    assert [(i, j) for i, j, _ in pairs] == [(5, 320)]


@pytest.mark.parametrize("sign", [1, -1])
def test_energy_errors_are_said_once(sign):
    """An energy error beyond ±1e-6 is a warning, the first time only."""
    watch, s, tally, move = watch_of(3, energy_error=sign * 2e-6)
    tally.crossings[0] = 1
    found = [watch(s, {}, tally, move, tuning=True) for _ in range(5)]
    assert found[1:] == [None] * 4
    assert "energy error of x" in found[0].message
    watch, s, tally, move = watch_of(3, energy_error=9e-7)
    tally.crossings[0] = 1
    assert watch(s, {}, tally, move, tuning=True) is None


def test_indicators_that_flip_back_before_they_are_seen_have_moved():
    """Crossings are counted since the first draw after tuning, whatever the kept draws show."""
    watch, s, tally, move = watch_of(3)
    tally.per_wall[:] = 7
    found = []
    for _ in range(DRAWS):
        tally.crossings[0] = 2
        tally.per_wall[:2] += 2
        found.append(watch(s, {}, tally, move, tuning=False))
    (message,) = [x.message for x in found if x is not None]
    assert "1 of 3 indicators" in message
    assert "x[2] stayed 0" in message


def test_every_chain_is_told_what_another_was_told():
    """Chains of one process share the watch."""
    watch, s, tally, move = watch_of(3, energy_error=2e-6)
    tally.crossings[0] = 1
    for _ in range(2):
        watch.start(None)
        assert "energy error of x" in watch(s, {}, tally, move, tuning=True).message


def test_statistics_are_named_in_the_order_of_the_indicators():
    """With several binary variables the order is the model's own."""
    assert inclusion_names(["z", "a"]) == ["ehmc_inclusion_z", "ehmc_inclusion_a"]
    assert inclusion_names(["z"]) == ["ehmc_inclusion"]


def test_walls_that_bounds_block_are_named():
    """Crossings that had the energy but were infeasible, and never once succeeded."""
    watch, s, tally, move = watch_of(3, infeasible=np.zeros(3, np.int64))
    found = []
    for _ in range(DRAWS):
        tally.crossings[0] = 1
        tally.per_wall[[0, 2]] += 1
        move.infeasible[[0, 1]] += 1
        s[0] ^= 1
        s[2] ^= s[0]
        found.append(watch(s, {}, tally, move, tuning=False))
    (message,) = [x.message for x in found if x is not None]
    assert message.startswith("x[1] had the energy to flip")


def test_sparse_models_are_not_scolded():
    """That most of many indicators stay off is no news; one that stays on is."""
    watch, s, tally, move = watch_of(50)
    s[7] = 1
    tally.crossings[0] = 1
    found = [watch(s, {}, tally, move, tuning=False) for _ in range(DRAWS)]
    (message,) = [x.message for x in found if x is not None]
    assert "1 of 50 indicators (x[7] stayed 1)" in message


def test_short_chains():
    """A chain of known length is judged before it ends; a very short one is not judged."""
    for draws, expected in ((200, 1), (50, 0)):
        watch, s, tally, move = watch_of(4)
        watch.start(draws)
        tally.crossings[0] = 1
        s[:2] = 1
        found = [watch(s, {}, tally, move, tuning=False) for _ in range(draws)]
        assert len([x for x in found if x is not None]) == expected


def test_tuning_is_not_judged():
    """Only draws that are kept count."""
    watch, s, tally, move = watch_of(4)
    tally.crossings[0] = 1
    assert not any(watch(s, {}, tally, move, tuning=True) for _ in range(DRAWS))


@pytest.mark.parametrize("cores", [1, 2])
def test_messages_are_logged_by_pymc(cores, caplog):
    """Through pm.sample, in each chain, on one core or two."""
    with regression(), caplog.at_level(logging.INFO):
        logging.getLogger("pymc").addHandler(caplog.handler)
        try:
            pm.sample(
                520, tune=50, chains=2, cores=cores, step=ExactBinaryHMC(), random_seed=1,
                progressbar=False, compute_convergence_checks=False,
            )  # fmt: skip
        finally:
            logging.getLogger("pymc").removeHandler(caplog.handler)
    messages = {id(record): record.getMessage() for record in caplog.records}.values()
    assert sum("stand in for each other" in message for message in messages) >= 2


def test_labels_of_a_second_variable_are_its_own():
    """Places are counted from the start of all indicators, entries from that of the variable."""
    with pm.Model() as model:
        first, second = pm.Bernoulli("first", 0.5, shape=4), pm.Bernoulli("second", 0.5, shape=2)
    binaries = (
        BinaryVariable("first", model.rvs_to_values[first], (4,), 0, 4),
        BinaryVariable("second", model.rvs_to_values[second], (2,), 4, 6),
    )
    labels = [_Labels(model, binary) for binary in binaries]
    assert [labels[0][0], labels[0][3]] == ["first[0]", "first[3]"]
    assert [labels[1][4], labels[1][5]] == ["second[0]", "second[1]"]


def test_short_chains_are_judged_by_the_draws_that_are_kept():
    """PyMC ≥ 6.3 says how long a chain will be: what it says of tuning does not count."""
    with pm.Model():
        pm.Bernoulli("s", 0.5, shape=2)
        step = ExactBinaryHMC()
    judged = []
    for tune in (0, 5000):
        step.setup_chain(np.random.default_rng(1), tune, 200)
        judged.append(step._watch._judged_at)
    assert judged[0] == judged[1] < 200
