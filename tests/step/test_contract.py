"""What PyMC expects of a step: points, statistics, state, progress bar, chains."""

import math

import cloudpickle
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.stats.convergence import SamplerWarning

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.stats import STATS


def ising(d=12, beta=0.4):
    """Ring of spins, and a continuous variable that no step of ours moves."""
    with pm.Model() as model:
        pm.Logistic("x")
        s = pm.Bernoulli("s", 0.5, shape=d)
        t = pm.Categorical("t", [0.3, 0.7])
        spin = 2 * s - 1
        pm.Potential("pairs", beta * (spin[1:] * spin[:-1]).sum() + 0.5 * s[0] * t)
    return model


def follow(step, point, n):
    """States of n steps from a point."""
    rows = []
    for _ in range(n):
        point, _ = step.step(point)
        rows.append(np.append(point["s"], point["t"]))
    return np.array(rows), point


def sample(model, step=None, **options):
    defaults = {"draws": 30, "tune": 20, "chains": 2, "cores": 1, "random_seed": 5}
    with model:
        return pm.sample(
            step=ExactBinaryHMC() if step is None else step,
            progressbar=False,
            compute_convergence_checks=False,
            **(defaults | options),
        )


def test_a_chain_begins_where_its_start_was_settled(monkeypatch):
    """What the move makes of a start that nobody chose is the point that is moved first."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=3), pm.Normal("w", shape=3)
        pm.Normal("y", gamma * w, 1.0, observed=np.ones(3))
        step = ExactBinaryHMC()
    seen = []
    monkeypatch.setattr(step._move, "settle", lambda point, s, rng: {"w": np.full(3, 7.0)})
    monkeypatch.setattr(
        type(step._move), "__call__", lambda self, point, s, rng, **_: seen.append(point) or {}
    )
    point = model.initial_point()
    for _ in range(2):
        step.step(point)
    np.testing.assert_array_equal(seen[0]["w"], 7.0)
    np.testing.assert_array_equal(seen[1]["w"], point["w"])


def gated():
    """Weights and scales that the step moves, and a variable that it does not."""
    with pm.Model() as model:
        pm.Logistic("x")
        gamma, w = pm.Bernoulli("gamma", pm.Beta("a", 1, 1), shape=3), pm.HalfNormal("w", shape=3)
        pm.Normal("y", gamma * w, pm.HalfNormal("sigma"), observed=np.ones(3))
    return model


def switched():
    """Spikes and slabs, whose weights are drawn at the end of each call."""
    with pm.Model() as model:
        pm.Logistic("x")
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 1), shape=3)
        w = pm.Normal("w", 0, pm.math.switch(gamma, 2.0, 0.1), shape=3)
        pm.Normal("y", w, 1.0, observed=np.ones(3))
    return model


def ordered():
    """Weights without indicators."""
    with pm.Model() as model:
        pm.Logistic("x")
        w = pm.Normal("w", shape=3)
        pm.Potential("rise", pt.switch(pt.all(w[1:] >= w[:-1]), 0, -np.inf))
        pm.Normal("y", w, 1.0, observed=np.ones(3))
    return model


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("make", [ising, gated, switched, ordered])
def test_returned_point_keeps_order_types_and_input(make, dtype):
    """Keys stand in the old order with the old types, and the old point is not changed."""
    with pytensor.config.change_flags(floatX=dtype):
        model = make()
        step = ExactBinaryHMC(model=model)
        point = model.initial_point()
    arrays, old = dict(point), {name: value.copy() for name, value in point.items()}
    for array in point.values():
        array.setflags(write=False)
    new, stats = step.step(point)
    assert list(new) == list(point)
    assert all(point[name] is array for name, array in arrays.items())
    for name, value in new.items():
        assert isinstance(value, np.ndarray)
        assert value.dtype == point[name].dtype
        assert value.shape == point[name].shape
        np.testing.assert_array_equal(point[name], old[name])
    moved = {name for name in new if not np.array_equal(new[name], point[name])}
    assert moved <= {v.name for v in step.vars} == set(point) - {"x"}
    assert new["x"] is point["x"]
    assert len(stats) == 1


def test_statistics_have_their_names_and_types():
    """Exactly the declared statistics are returned; all names are our own but ``warning``."""
    model = ising()
    step = ExactBinaryHMC(model=model, travel_time=2.5 * math.pi)
    _, (stats,) = step.step(model.initial_point())
    assert set(stats) == set(STATS) == set(step.stats_dtypes_shapes)
    assert all(name.startswith("ehmc_") or name == "warning" for name in STATS)
    for name, (dtype, _) in STATS.items():
        if name != "warning":
            assert np.asarray(stats[name]).dtype == dtype
    assert stats["ehmc_travel_time"] == pytest.approx(2.5 * math.pi)
    assert 2 * 13 <= stats["ehmc_hits"] <= 3 * 13
    assert 0 <= stats["ehmc_crossings"] <= stats["ehmc_hits"]


def test_statistics_reach_the_trace():
    """sample_stats has one number per draw of each statistic, and energies do not drift."""
    idata = sample(ising(), draws=120)
    for name in ("ehmc_hits", "ehmc_crossings", "ehmc_travel_time", "ehmc_energy_error"):
        assert idata.sample_stats[name].shape == (2, 120)
    assert np.abs(np.asarray(idata.sample_stats["ehmc_energy_error"])).max() < 1e-10
    assert np.asarray(idata.sample_stats["ehmc_crossings"]).sum() > 0


def test_progress_bar_shows_our_columns():
    """Each column has a first value per chain, and the update gives exactly these fields."""
    columns, first = ExactBinaryHMC._progressbar_config(3)
    (update,) = ExactBinaryHMC._make_progressbar_update_functions()
    model = ising()
    _, (stats,) = ExactBinaryHMC(model=model).step(model.initial_point())
    assert len(columns) == len(first)
    shown = {column.get_table_column().header: column.text_format for column in columns}
    assert shown == {
        "Wall hits": "{task.fields[ehmc_hits]}",
        "Crossings": "{task.fields[ehmc_crossings]}",
    }
    assert set(update(stats)) == set(first)
    assert all(len(values) == 3 for values in first.values())


def test_state_round_trip():
    """save → step → restore → step makes the same step again."""
    model = ising()
    step = ExactBinaryHMC(model=model, rng=3)
    _, point = follow(step, model.initial_point(), 5)
    state = step.sampling_state
    first, _ = follow(step, point, 4)
    step.sampling_state = state
    again, _ = follow(step, point, 4)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("calls", [0, 7])
def test_pickled_step_goes_on_alike(calls):
    """A step that is pickled at any time makes the steps it would have made."""
    model = ising()
    step = ExactBinaryHMC(model=model, rng=3)
    _, point = follow(step, model.initial_point(), calls)
    copy = cloudpickle.loads(cloudpickle.dumps(step))
    np.testing.assert_array_equal(follow(step, point, 60)[0], follow(copy, point, 60)[0])


def test_cores_and_start_methods_do_not_matter():
    """The same draws for cores=1, cores=2 forked, and cores=2 spawned."""
    model = ising()
    reference = sample(model).posterior
    for context in ("fork", "spawn"):
        other = sample(model, cores=2, mp_ctx=context).posterior
        for name in ("s", "t"):
            np.testing.assert_array_equal(np.asarray(reference[name]), np.asarray(other[name]))


def test_chains_start_apart_unless_told_otherwise():
    """Without a start of the user's each chain starts at its own draw; a given one is kept."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=40)
        # Nothing moves: flipping any of two coupled indicators is all but impossible.
        pm.Potential("frozen", -200.0 * pm.math.abs(s[::2] - s[1::2]).sum())
    free = np.asarray(sample(model, draws=4, tune=0, chains=4).posterior["s"])
    assert np.unique(free[:, 0], axis=0).shape[0] == 4
    given = np.tile([1, 1, 0, 0], 10)
    kept = sample(model, draws=4, tune=0, chains=4, initvals={"s": given}).posterior["s"]
    assert (np.asarray(kept)[:, 0] == given).all()


def test_initval_in_the_model_is_kept():
    """A start given in the distribution is the user's own, also if PyMC would choose it."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=40, initval=np.zeros(40, int))
        pm.Potential("frozen", -200.0 * pm.math.abs(s[::2] - s[1::2]).sum())
    draws = np.asarray(sample(model, draws=2, tune=0, chains=2).posterior["s"])
    assert (draws == 0).all()


def test_warning_when_nothing_moves():
    """After 500 draws without a crossing the step says so, once, and names the variable."""
    with pm.Model() as model:
        s = pm.Bernoulli("stuck", 0.5, shape=3, initval=np.ones(3, int))
        pm.Potential("wall", 1e4 * s.sum())
    step = ExactBinaryHMC(model=model)
    point, warnings = model.initial_point(), []
    for _ in range(1100):
        point, (stats,) = step.step(point)
        warnings.append(stats["warning"])
    found = [w for w in warnings if w is not None]
    assert len(found) == 1
    assert isinstance(found[0], SamplerWarning)
    assert "stuck" in found[0].message
    assert "500" in found[0].message


@pytest.mark.parametrize("augmentation", ["gaussian", "exponential"])
def test_undefined_states_bounce_with_a_warning(augmentation):
    """A state whose log-density is not a number is never entered, and the user is told."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=9)
        pm.Potential("root", pm.math.sqrt(3.5 - s.sum()))
    step = ExactBinaryHMC(model=model, augmentation=augmentation)
    point, warned = model.initial_point(), 0
    for _ in range(200):
        point, (stats,) = step.step(point)
        assert point["s"].sum() <= 3
        warned += stats["warning"] is not None
    assert warned == 1


def test_what_the_prior_forbids_need_not_be_defined():
    """A potential that is not a number where an indicator with p = 0 is on bothers nobody."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", np.append(np.full(9, 0.95), 0.0))
        pm.Potential("root", pm.math.log(9.5 - s.sum()))
    step, point = ExactBinaryHMC(model=model), model.initial_point()
    for _ in range(50):
        point, (stats,) = step.step(point)
        assert stats["warning"] is None
        assert step._move.tally.undefined[0] == 0


def test_only_the_variables_given_are_taken():
    """With vars, other binaries are left to other steps and may change between calls."""
    model = ising()
    for given in ([model["s"]], model["s"], ["s"], [model.rvs_to_values[model["s"]]]):
        step = ExactBinaryHMC(given, model=model)
        assert [v.name for v in step.vars] == ["s"]
    new, _ = step.step(model.initial_point())
    assert new["t"] is not None
    posterior = sample(model, step=ExactBinaryHMC(["s"], model=model)).posterior
    assert posterior["t"].shape == (2, 30)
