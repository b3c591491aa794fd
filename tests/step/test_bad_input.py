"""Bad input gets a sentence that says what is wrong and what to do."""

import itertools
import math

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.exceptions import SamplingError

from pymc_exact_hmc import ExactBinaryHMC, explain


def coin(**options):
    with pm.Model() as model:
        pm.Bernoulli("s", 0.3, shape=3, **options)
    return model


def sample(model, **options):
    with model:
        return pm.sample(
            draws=5, tune=0, chains=1, cores=1, progressbar=False, random_seed=1, **options
        )


def test_no_binary_variable():
    """The variables that were found are named, with the reason why none is binary."""
    with pm.Model() as model:
        pm.Normal("x")
        pm.Binomial("k", 3, 0.5)
        pm.DiscreteUniform("u", 0, 4)
        pm.Categorical("c", np.ones(3) / 3)
    words = r"no free binary variable.*x \(it is.*k \(its n is 3.*u \(its bounds.*c \(it has 3"
    with pytest.raises(ValueError, match=words):
        ExactBinaryHMC(model=model)


def test_entries_that_are_not_all_binary():
    """One entry with two trials, or with a wider range, and the variable is not binary."""
    with pm.Model() as model:
        pm.Binomial("k", np.array([1, 2]), 0.5)
        pm.DiscreteUniform("u", 0, np.array([1, 4]))
        pm.DiscreteUniform("v", np.array([0, -1]), 1)
    with pytest.raises(
        ValueError, match=r"no free binary.*k \(its n.*u \(its bounds.*v \(its bounds"
    ):
        ExactBinaryHMC(model=model)


def test_observed_binaries_are_not_free():
    """A model whose only Bernoulli is observed has nothing to sample."""
    with pm.Model() as model:
        pm.Bernoulli("y", 0.5, observed=[0, 1])
    with pytest.raises(ValueError, match=r"[Nn]o free"):
        ExactBinaryHMC(model=model)


def test_wall_with_the_wrong_sign():
    """A state whose log-density is +inf would be certain: the factor is named."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.4, shape=3)
        pm.Potential("fence", -pt.switch(s.sum() <= 1, 0.0, -np.inf))
    with pytest.raises(ValueError, match=r"of fence is \+inf at some state"):
        ExactBinaryHMC(model=model)


def test_variable_that_is_not_binary():
    """The variable and what it is are named."""
    with pm.Model() as model:
        pm.Bernoulli("s", 0.5)
        pm.Poisson("k", 2.0)
    with pytest.raises(ValueError, match=r"k.*[Pp]ois"):
        ExactBinaryHMC([model["k"]], model=model)


@pytest.mark.parametrize("stranger", ["nobody", 3, pt.scalar("elsewhere")])
def test_variable_that_is_not_in_the_model(stranger):
    """The free variables of the model are listed."""
    with pytest.raises(ValueError, match=r"not a free variable of this model.*: s"):
        ExactBinaryHMC([stranger], model=coin())


def test_variable_of_another_model():
    """A variable of the same name in another model is not this one."""
    with pytest.raises(ValueError, match="not a free variable"):
        ExactBinaryHMC([coin()["s"]], model=coin())


def test_observed_variable_given():
    """Observed variables cannot be sampled."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5)
        pm.Bernoulli("y", 0.2 + 0.5 * s, observed=1)
    with pytest.raises(ValueError, match="y is not a free variable"):
        ExactBinaryHMC([model["y"]], model=model)


@pytest.mark.parametrize("name", ["y", "twice", "tilt"])
def test_what_is_no_free_variable_is_named(name):
    """Observed variables, deterministics and potentials are not taken for unknown names."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5)
        pm.Bernoulli("y", 0.2 + 0.5 * s, observed=1)
        pm.Deterministic("twice", 2 * s)
        pm.Potential("tilt", 0.3 * s)
    for given in (name, model[name]):
        with pytest.raises(
            ValueError, match=f"{name}'? is not a free variable of the model: nothing"
        ):
            ExactBinaryHMC([given], model=model)


def test_a_variable_that_is_given_in_several_ways_is_one():
    """By name, as itself and as its value."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.3, shape=2)
    step = ExactBinaryHMC(["s", s, model.rvs_to_values[s]], model=model)
    assert [v.name for v in step.vars] == ["s"]
    assert step.layout[-1].stop == 2


def test_a_probability_that_is_none_at_the_start():
    """An interval of the user's that the default start lies outside of."""
    with pm.Model() as model:
        interval = pm.distributions.transforms.Interval(0.1, 0.3)
        pm.Bernoulli("s", pm.Beta("p", 1, 1, transform=interval), shape=2)
    step = ExactBinaryHMC(model=model)
    with pytest.raises(SamplingError, match=r"The log-density of 's' is .* at the start"):
        step.step(model.initial_point())


def test_empty_list():
    """An empty list of variables is refused."""
    with pytest.raises(ValueError, match=r"vars is empty|No free random variables"):
        ExactBinaryHMC([], model=coin())


@pytest.mark.parametrize("time", [0, -1.0, math.nan, math.inf, math.pi, 2 * math.pi, "far"])
def test_travel_time(time):
    """Travel times that are not positive and finite, or whole half turns, are refused."""
    with pytest.raises(ValueError, match="travel_time"):
        ExactBinaryHMC(model=coin(), travel_time=time)


def test_unknown_augmentation():
    """The known augmentations are listed."""
    with pytest.raises(ValueError, match=r"'gaussian', 'exponential', 'box'.*'laplace'"):
        ExactBinaryHMC(model=coin(), augmentation="laplace")


@pytest.mark.parametrize("trajectories", [0, -1, 1.5, "many"])
def test_trajectories(trajectories):
    """The number of trajectories is a whole number of at least 1."""
    with pytest.raises(ValueError, match="trajectories"):
        ExactBinaryHMC(model=coin(), trajectories=trajectories)


def test_one_step_per_variable_is_refused():
    """blocked=False would sample each variable apart."""
    with pytest.raises(ValueError, match="together"), coin():
        ExactBinaryHMC(blocked=False)


def test_no_model():
    """Outside a model context a model must be given."""
    with pytest.raises(TypeError, match=r"[Mm]odel"):
        ExactBinaryHMC()


def test_forbidden_start_names_the_factor():
    """log-p −inf at a start of the user's names the factor, and says what to do."""
    model = coin(initval=np.ones(3, int))
    with model:
        pm.Potential("at most two", pt.switch(model["s"].sum() <= 2, 0.0, -np.inf))
    with pytest.raises(SamplingError, match=r"'at most two' is -inf at the start.*initval"):
        ExactBinaryHMC(model=model).step(model.initial_point())


def test_undefined_start_names_the_factor():
    """log-p NaN at the start names the factor."""
    model = coin(initval=np.ones(3, int))
    with model:
        x = pm.Normal("x", initval=-1.0)
        pm.Potential("root of x", pt.sqrt(x) * pt.exp(model["s"].sum()))
    with pytest.raises(SamplingError, match="'root of x' is nan"):
        ExactBinaryHMC(model=model).step(model.initial_point())


BROKEN = np.array([1.0, np.nan, 2.0])
NOT_NUMBERS = {
    "fields": lambda s: (s * BROKEN).sum(),
    "couplings": lambda s: s @ np.diag(BROKEN[1:], 1) @ s,
    "tables": lambda s: pt.exp(s * pt.roll(s, 1)) @ BROKEN,
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_coefficients_that_are_not_numbers_name_the_factor(name):
    """Constant coefficients that are NaN are refused when the step is made."""
    model = coin()
    with model:
        pm.Potential("broken", NOT_NUMBERS[name](model["s"]))
    with pytest.raises(ValueError, match="broken' is not a number"):
        ExactBinaryHMC(model=model)


def test_vector_potential_is_added_up_and_said():
    """A Potential that returns a vector is added up, as PyMC does, and explain() says so."""
    model = coin()
    with model:
        pm.Potential("vector", model["s"] * np.array([1.0, -2.0, 0.5]))
    text = str(explain(model))
    assert "vector" in text
    assert "added up" in text


def test_hard_constraints_simply_bounce():
    """−inf in parts of the space is never entered and never an error."""
    model = coin()
    with model:
        pm.Potential("not all", pt.switch(model["s"].sum() < 3, 0.0, -np.inf))
        idata = pm.sample(
            draws=500, tune=0, chains=2, cores=1, step=ExactBinaryHMC(), progressbar=False,
            random_seed=1, compute_convergence_checks=False,
        )  # fmt: skip
    totals = np.asarray(idata.posterior["s"]).sum(-1)
    assert totals.max() == 2
    assert set(np.unique(totals)) == {0, 1, 2}


def test_responses_that_changed_are_noticed():
    """As below, where the data are what was observed."""
    with pm.Model() as model:
        y = pm.Data("y_data", np.zeros(3))
        pm.Normal("y", pm.Bernoulli("s", 0.5, shape=3), 1.0, observed=y, shape=3)
        step = ExactBinaryHMC()
        pm.set_data({"y_data": np.ones(3)})
    with pytest.raises(SamplingError, match="data of the model have changed"):
        sample(model, step=step)


def test_pairs_that_are_forbidden_stay_so():
    """Walls between two indicators leave no trace in caches, however often they are met."""
    with pm.Model() as model:
        s, beta = pm.Bernoulli("s", 0.5, shape=4), pm.Normal("beta")
        pm.Potential("apart", pt.switch(s[1:] * s[:-1] > 0, -np.inf, 0.0).sum())
        pm.Potential("field", beta * s.sum())
        step = ExactBinaryHMC([s])
    step.set_rng(np.random.default_rng(3))
    point, visited = model.initial_point(), set()
    for _ in range(300):
        point, (stats,) = step.step(point)
        visited.add(tuple(point["s"].tolist()))
        assert stats["warning"] is None
    assert len(visited) == 8
    assert not any(a and b for x in visited for a, b in itertools.pairwise(x))


@pytest.mark.parametrize("start", [None, np.array([1, 0])])
def test_data_that_changed_are_noticed(start):
    """A step made for other data refuses to go on: its coefficients would be the old ones.

    One number among thousands is enough.
    """
    data = np.zeros(4000)
    with pm.Model() as model:
        field = pm.Data("field", data)
        s = pm.Bernoulli("s", 0.5, shape=2, initval=start)
        pm.Potential("push", (field[2000:2002] * s).sum())
        step = ExactBinaryHMC()
    sample(model, step=step)
    with model:
        pm.set_data({"field": np.where(np.arange(4000) == 2001, 3.0, data)})
    with pytest.raises(SamplingError, match=r"data of the model have changed.*new one"):
        sample(model, step=step)
    idata = sample(model, step=ExactBinaryHMC(model=model))
    assert idata.posterior["s"].shape == (1, 5, 2)
