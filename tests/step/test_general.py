"""Weights that are Gaussian given the indicators in any way, against enumeration."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.distributions.transforms import Transform
from step.regressions import D, N, P, X, Y
from support.conditional import exact_moments
from support.models import all_drops
from support.significance import assert_holds, batch_pvalues

from pymc_exact_hmc import ExactBinaryHMC, explain
from pymc_exact_hmc.dynamics.transition import fresh_log_density, refresh_caches
from pymc_exact_hmc.model.binaries import lay_out, select_variables
from pymc_exact_hmc.model.general import GeneralGaussian, recognise_general
from pymc_exact_hmc.moves.general import GeneralMove
from pymc_exact_hmc.moves.switched import SwitchedMove

SEED = 19
Z = np.random.default_rng(4).normal(size=(N, D))
COVARIANCE = np.cov(np.random.default_rng(5).normal(size=(D, 12))) + 0.4


def spike(model_of):
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        model_of(gamma)
    return model


def normal_spike(gamma):
    w = pm.Normal("w", 0, pm.math.switch(gamma, 1.5, 0.2), shape=D)
    pm.Normal("y", pm.Normal("w0", 1, 3) + X @ w, 1.0, observed=Y)


def spike_by_precision(gamma):
    w = pm.Normal("w", 0, tau=gamma * 0.5 + (1 - gamma) * 20.0)
    pm.Normal("y", pt.dot(X, w), 1.0, observed=Y)


def spike_with_a_mean(gamma):
    first = pm.Normal("first", 1, 3)
    w = pm.Normal("w", 0.5 * gamma, pt.stack([0.3, 1.5])[gamma])
    pm.Normal("y", first + X @ w, 1.0, observed=Y)


def spike_on_groups(gamma):
    group = np.array([0, 0, 1, 2])
    w = pm.Normal("w", 0, pt.where(pt.eq(gamma[group], 1), 2.0, 0.1), shape=D)
    pm.Normal("y", X @ w, 1.0, observed=Y)


def spike_with_a_constraint(gamma):
    normal_spike(gamma)
    pm.Potential("few", pt.switch(gamma.sum() <= 2, 0.0, -np.inf))


def gates_that_multiply(gamma):
    other = pm.Bernoulli("other", 0.6, shape=2)
    w = pm.Normal("w", 0, 1.5, shape=D)
    pm.Normal("y", X @ (gamma * other[[0, 0, 1, 1]] * w), 1.0, observed=Y)


def correlated_slab(gamma):
    w = pm.MvNormal("w", np.full(D, 0.3), COVARIANCE)
    pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
    pm.Potential("small sum", -0.5 * (w.sum() / 0.3) ** 2)


def also_ungated(gamma):
    w = pm.Normal("w", 0, 1.5, shape=D)
    pm.Normal("y", X @ (gamma * w) + 0.5 * Z @ w, 1.0, observed=Y)


def two_scales(gamma):
    raw = pm.Normal("w", 0, 1, shape=D)
    pm.Normal("y", X @ (raw * (0.1 * (1 - gamma) + 1.5 * gamma)), 1.0, observed=Y)


def shifted_by_a_gate(gamma):
    w = pm.Normal("w", 0, 1.5, shape=D)
    pm.Normal("y", X @ (gamma * w) + 0.7 * gamma[0], 1.0, observed=Y)


MODELS = {
    "normal spike": (normal_spike, SwitchedMove),
    "spike by precision": (spike_by_precision, SwitchedMove),
    "spike with a mean": (spike_with_a_mean, SwitchedMove),
    "spike on groups": (spike_on_groups, SwitchedMove),
    "spike with a constraint": (spike_with_a_constraint, SwitchedMove),
    "gates that multiply": (gates_that_multiply, GeneralMove),
    "correlated slab": (correlated_slab, GeneralMove),
    "also ungated": (also_ungated, GeneralMove),
    "two scales": (two_scales, GeneralMove),
    "shifted by a gate": (shifted_by_a_gate, GeneralMove),
}


SLOW = {"spike with a constraint", "spike by precision", "spike on groups", "two scales"}
SLOW |= {"shifted by a gate", "also ungated"}


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.slow) if x in SLOW else x for x in MODELS]
)
def test_posterior_is_that_of_enumeration(name):
    """P(s), pairs of s, E[w], E[w²], E[s w] are those of all states, each a Gaussian integral."""
    model_of, move = MODELS[name]
    model = spike(model_of)
    with model:
        step = ExactBinaryHMC()
    assert isinstance(step._move, move)
    binaries = [b.name for b in step.layout]
    weights = [v.name for v in step.vars if v.name not in binaries]
    states, p, means, squares = exact_moments(model, binaries, weights)
    assert {*binaries, *weights} == {v.name for v in model.value_vars}
    step.set_rng(np.random.default_rng(SEED))
    point, found = model.initial_point(), []
    for _ in range(12_000 if move is SwitchedMove else 4_000):
        point, _ = step.step(point)
        s = np.concatenate([point[n].ravel() for n in binaries])
        w = np.concatenate([point[n].ravel() for n in weights])
        found.append(np.concatenate([s, s[1:] * s[:-1], w, w**2, np.outer(s, w).ravel()]))
    pairs = p @ (states[:, 1:] * states[:, :-1])
    together = (states.T * p) @ means  # w is drawn given s, not given the last one
    exact = np.concatenate([p @ states, pairs, p @ means, p @ squares, together.ravel()])
    assert_holds(*batch_pvalues(np.array(found), exact), seed=SEED)


def test_scales_of_switched_priors_are_read_at_every_call():
    """Other variables in spike, slab and noise: the energy follows them."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", P, shape=D)
        sigma, tau = pm.HalfNormal("sigma", 1), pm.HalfNormal("tau", 1)
        w = pm.Normal("w", 0, pm.math.switch(gamma, tau, 0.1 * tau), shape=D)
        pm.Normal("y", X @ w, sigma, observed=Y)
        step = ExactBinaryHMC()
    assert {v.name for v in step.vars} == {"gamma", "w"}
    energy = step._move.switched.energy
    for tau, sigma in ((0.5, 1.0), (2.0, 0.7)):
        point = model.initial_point() | {
            "tau_log__": np.log(np.array(tau)), "sigma_log__": np.log(np.array(sigma))
        }  # fmt: skip
        step.step(point)
        np.testing.assert_allclose(energy.M, X.T @ X / sigma**2)
        np.testing.assert_allclose(energy.slabs[0], (0.1 * tau) ** -2)
        np.testing.assert_allclose(energy.slabs[1], tau**-2)


@pytest.mark.parametrize("random", [0, 1])
def test_a_spike_or_slab_that_alone_is_random_is_read_at_every_call(random):
    """As above, where the other one and the noise are known."""
    with pm.Model() as model:
        gamma, tau = pm.Bernoulli("gamma", P, shape=D), pm.HalfNormal("tau", 1)
        spike, slab = (tau, 3.0) if random == 0 else (0.1, tau)
        w = pm.Normal("w", 0, pm.math.switch(gamma, slab, spike), shape=D)
        pm.Normal("y", X @ w, 1.0, observed=Y)
        step = ExactBinaryHMC()
    for tau in (0.5, 2.0):
        step.step(model.initial_point() | {"tau_log__": np.log(np.array(tau))})
        np.testing.assert_allclose(step._move.switched.energy.slabs[random], tau**-2)


@pytest.mark.parametrize("leak", [1e-9, 1e-11])
def test_gates_that_leak_a_little_are_not_closed(leak):
    """With a wide slab what comes through may say as much as the data."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=D), pm.Normal("w", 0.0, 1.0 / leak, shape=D)
        pm.Normal("y", X @ (w * (gamma + leak)), 1.0, observed=Y)
    assert isinstance(ExactBinaryHMC(model=model)._move, GeneralMove)


def test_an_indicator_in_the_mean_alone_switches_a_weight():
    """The prior is switched all the same, and a crossing need not cost a factorisation."""
    with pm.Model() as model:
        w = pm.Normal("w", pt.switch(pm.Bernoulli("gamma", P, shape=D), 2.0, 0.0), 1.0, shape=D)
        pm.Normal("y", X @ w, 1.0, observed=Y)
    assert isinstance(ExactBinaryHMC(model=model)._move, SwitchedMove)


def test_a_function_of_a_weight_that_an_indicator_chooses_is_no_gaussian():
    """Although the choice alone would be."""
    with pm.Model() as model:
        w, s = pm.Normal("w", shape=2), pm.Bernoulli("s", 0.4, shape=6)
        pm.Potential("counts", (np.arange(6) * w[s] - pt.exp(w[s])).sum())
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == {"s"}


def test_mixture_labels_stay_with_the_binary_kernel():
    """Many more indicators than weights: a hit must not cost a factorisation."""
    with pm.Model() as model:
        z = pm.Bernoulli("z", 0.5, shape=N)
        pm.Normal("y", pm.Normal("mu", 0, 3, shape=2)[z], 1.0, observed=Y)
    text = str(explain(model))
    assert "general" not in text
    with model:
        assert [v.name for v in ExactBinaryHMC().vars] == ["z"]


def test_indicators_that_share_a_weight_are_moved_with_it_given():
    """Many more indicators than weights, as above, in a spelling that the kernel could take."""
    with pm.Model() as model:
        z, mu = pm.Bernoulli("z", 0.5, shape=N), pm.Normal("mu", 0, 3, shape=2)
        pm.Normal("y", pt.switch(z, mu[0], mu[1]), 1.0, observed=Y)
    assert "mu (so many indicators share it that they are moved" in str(explain(model))


def test_weights_that_are_not_given_are_left():
    """Of two Gaussian variables that share a likelihood only the one given is taken."""
    with pm.Model():
        gamma = pm.Bernoulli("gamma", P, shape=D)
        w, a = pm.MvNormal("w", np.zeros(D), COVARIANCE), pm.Normal("a")
        pm.Normal("y", a + X @ (gamma * w), 1.0, observed=Y)
        assert {v.name for v in ExactBinaryHMC().vars} == {"gamma", "w", "a"}
        step = ExactBinaryHMC([gamma, w])
    assert isinstance(step._move, GeneralMove)
    assert {v.name for v in step.vars} == {"gamma", "w"}


def test_a_gaussian_parameter_of_a_prior_is_left_alone():
    """A weight is Gaussian given the logarithm of its scale, which itself is not."""
    with pm.Model() as model:
        gamma, scale = pm.Bernoulli("gamma", P, shape=D + 1), pm.Normal("log_tau")
        w = pm.Normal("w", 0, pt.exp(scale), shape=D)
        pm.Normal("y", X @ (gamma[0] * gamma[1:] * w), 1.0, observed=Y)
    point = model.initial_point()
    layout = lay_out(select_variables(model, None)[0], point)
    block, reasons = recognise_general(model, layout, point)
    assert [w.name for w in block.weights] == ["w"]
    assert reasons == {"log_tau": "w is not Gaussian in it"}


@pytest.mark.parametrize("switched", [False, True])
def test_inclusion_probability_beside_a_general_block_moves(switched):
    """A Beta hyperprior of the indicators is taken and moved, not only listed."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", pm.Beta("a", 1, 1), shape=D)
        if switched:
            beta = w = pm.Normal("w", 0.0, pt.switch(gamma, 2.0, 0.1), shape=D)
        else:
            w = pm.MvNormal("w", np.zeros(D), COVARIANCE)
            beta = gamma * w
        pm.Normal("y", X @ beta, 1.0, observed=Y)
        step = ExactBinaryHMC()
    assert isinstance(step._move, SwitchedMove if switched else GeneralMove)
    assert {v.name for v in step.vars} == {"gamma", "w", "a_logodds__"}
    step.set_rng(np.random.default_rng(1))
    start = model.initial_point()
    point, _ = step.step(start)
    assert point["a_logodds__"] != start["a_logodds__"]


def test_indicators_move_at_the_probability_that_was_just_drawn(monkeypatch):
    """Hyperparameters move first; what follows is given their new values."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", pm.Beta("p", 1, 1), shape=3)
        w = pm.Normal("w", shape=3)
        pm.Normal("y", gamma * w + gamma[0] * gamma[1], 1.0, observed=np.ones(3))
        step = ExactBinaryHMC(kernel="general")
    move = step._move
    assert [h.value for h in move.hyper.block.hyperparameters] == ["p_logodds__"]
    drawn = {"p_logodds__": np.array(2.5)}
    monkeypatch.setattr(type(move.hyper), "__call__", lambda self, *_, **__: drawn)
    step.step(model.initial_point())
    drops, s = np.empty(3), np.zeros(3, np.int8)
    refresh_caches(move.prior.energy, s)
    all_drops(move.prior.energy, s, drops)
    np.testing.assert_allclose(drops, 2.5)


def test_new_scales_reach_the_caches_of_switched_slabs():
    """A step that was at another noise scale moves as one whose caches have expired."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.4, shape=6)
        w = pm.Normal("w", 0, pm.math.switch(gamma, 2.0, 0.3), shape=6)
        X = np.random.default_rng(3).normal(size=(12, 6))
        pm.Normal("y", X @ w, pm.HalfNormal("sigma"), observed=X[:, 0] + X[:, 2])
        pair = [ExactBinaryHMC([gamma, w]) for _ in range(2)]
    points = [model.initial_point()] * 2
    for k in range(60):
        for i, step in enumerate(pair):
            step.calls = 1
            step.rng = np.random.default_rng(k)
            sigma = np.array((-1.0, 0.0, 1.5)[k % 3])
            if i == 1:
                step._move._binary.expire()
            points[i], _ = step.step(points[i] | {"sigma_log__": sigma})
        np.testing.assert_array_equal(points[0]["gamma"], points[1]["gamma"])
        np.testing.assert_allclose(points[0]["w"], points[1]["w"], rtol=1e-7, atol=1e-9)


def plain_travel(log_f, s, rng, n_hits):
    """The walls of the paper, with nothing remembered but the energies."""
    order, kinetic = rng.permutation(s.size), rng.standard_exponential(s.size)
    for k in range(n_hits):
        j = order[k % s.size]
        flipped = s.copy()
        flipped[j] ^= 1
        drop = log_f(flipped) - log_f(s)
        if kinetic[k % s.size] + drop > 0:
            s[:], kinetic[k % s.size] = flipped, kinetic[k % s.size] + drop


def test_general_travel_is_the_plain_one():
    """Same random numbers, same states, from any state to any other, with coupled indicators.

    Some states are forbidden: a wall to them is hit and bounces as others do.
    """
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=4), pm.Normal("w", shape=4)
        pm.Potential("pairs", 1.2 * (gamma[1:] * gamma[:-1]).sum())
        pm.Potential("not both", pm.math.switch(gamma[1] + gamma[3] < 2, 0.0, -np.inf))
        pm.Normal("y", gamma * w + gamma[0] * gamma[1], 1.0, observed=np.ones(4))
        move = ExactBinaryHMC(kernel="general", travel_time=(2.5 * np.pi, 3.5 * np.pi))._move
    point, energy = model.initial_point(), move.prior.energy

    def log_f(s):
        return fresh_log_density(energy, s.copy()) + move.gaussian.log_density(s, point)

    for seed in range(40):
        start = np.random.default_rng(100 + seed).integers(0, 2, 4).astype(np.int8)
        start[3] *= 1 - start[1]
        # Fields that another state has left behind.
        refresh_caches(energy, 1 - start)
        found, wanted = start.copy(), start.copy()
        # A check computes fields afresh; half of the calls must do without.
        check = seed % 2 == 0
        move(point, found, np.random.default_rng(seed), check=check)
        if check:
            # Energies that are a little wrong seldom lead elsewhere, but are not conserved.
            assert abs(move.energy_error) < 1e-9
        rng, motion = np.random.default_rng(seed), move.motion
        hits = motion.travel_time.draw(rng, motion.augmentation, 4, motion.trajectories)[1]
        for n_hits in hits:
            plain_travel(log_f, wanted, rng, int(n_hits))
        np.testing.assert_array_equal(found, wanted)


def test_collapsed_densities_follow_another_variable():
    """One that is left to another step, and the only one there is."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=2), pm.Normal("w", shape=2)
        sigma = pm.HalfNormal("sigma")
        pm.Normal("y", gamma * w + gamma[0] * gamma[1] * w[::-1], sigma, observed=np.ones(2))
        gaussian = ExactBinaryHMC([gamma, w], kernel="general")._move.gaussian
    point, s = model.initial_point(), np.ones(2, np.int8)
    densities = [gaussian.log_density(s, point | {"sigma_log__": np.array(x)}) for x in (0.0, 0.5)]
    assert densities[0] != densities[1]


def test_a_hierarchy_of_three_levels_is_taken_whole():
    """The mean of a mean of a weight that meets an indicator."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.4, shape=D)
        top = pm.Normal("top")
        w = pm.Normal("w", pm.Normal("middle", top, 1.0), 1.0, shape=D)
        pm.Normal("apart", pm.Normal("other"), 1.0, observed=0.5)
        pm.Normal("y", X @ ((1 + gamma) * w), 1.0, observed=Y)
    step = ExactBinaryHMC(model=model)
    assert {v.name for v in step.vars} == {"gamma", "top", "middle", "w"}


def test_a_system_that_an_indicator_changes():
    """Its solution depends on the weights on the right, and on the indicator on the left."""
    neighbours = np.eye(N, k=1) + np.eye(N, k=-1)
    with pm.Model() as model:
        pull, gamma = pm.Bernoulli("pull", 0.5), pm.Bernoulli("gamma", P, shape=D)
        w = pm.Normal("w", 0.0, 1.0, shape=D)
        system = np.eye(N) - 0.3 * pull * neighbours
        pm.Normal("y", pt.linalg.solve(system, X @ (gamma * w)), 1.0, observed=Y)
    step = ExactBinaryHMC(model=model)
    assert isinstance(step._move, GeneralMove)
    assert [v.name for v in step.vars] == ["pull", "gamma", "w"]


def test_a_matrix_of_weights_is_drawn_by_rows():
    """Without noise a draw is the mean: A w = b in the order of joint_terms."""
    rng = np.random.default_rng(3)
    with pm.Model() as model:
        rows, columns = pm.Bernoulli("rows", 0.5, shape=2), pm.Bernoulli("columns", 0.5, shape=3)
        w = pm.Normal("w", rng.normal(size=(2, 3)), 1.0, shape=(2, 3))
        pm.Normal("y", rows[:, None] * columns * w, 1.0, observed=rng.normal(size=(2, 3)))
    gaussian = ExactBinaryHMC(model=model, kernel="general")._move.gaussian
    point, s = model.initial_point(), np.ones(5, np.int8)

    class Silent:
        def standard_normal(self, n):
            return np.zeros(n)

    drawn = gaussian.draw(s, point, Silent())["w"]
    _, b, A = gaussian._coefficients(s, point)
    np.testing.assert_allclose(A @ drawn.ravel(), b, rtol=1e-9, atol=1e-12)


def test_a_quadratic_that_is_not_a_number_is_refused(monkeypatch):
    """NaN is larger than no number, and not right for that."""
    with pm.Model():
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=2), pm.Normal("w", shape=2)
        pm.Normal("y", gamma * w + gamma[0] * gamma[1] * w[::-1], 1.0, observed=np.ones(2))
        true = GeneralGaussian._coefficients

        def undefined(self, s, point):
            c, b, A = true(self, s, point)
            return c, np.nan * b, A

        monkeypatch.setattr(GeneralGaussian, "_coefficients", undefined)
        with pytest.raises(ValueError, match="does not reproduce"):
            ExactBinaryHMC(kernel="general")


class Relative(Transform):
    """x in units of its mean."""

    name = "relative"

    def forward(self, value, *inputs):
        return value / inputs[-2]

    def backward(self, value, *inputs):
        return value * inputs[-2]

    def log_jac_det(self, value, *inputs):
        return pt.log(pt.abs(inputs[-2]))


def test_a_weight_in_the_jacobian_of_another_variable_is_left():
    """The density of u is quadratic in w, that of its value variable is not."""
    with pm.Model() as model:
        g, w = pm.Bernoulli("g", 0.5, shape=2), pm.Normal("w", 1.0, 1.0, initval=1.0)
        pm.Normal("u", w, 1.0, default_transform=Relative(), initval=1.0)
        pm.Normal("y", g[0] * w + (1 - g[1]) * w, 0.8, observed=[0.5, 1.2])
    assert [v.name for v in ExactBinaryHMC(model=model).vars] == ["g"]


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_powers_that_are_data(exponent):
    """PyTensor's second derivatives of w¹ are not numbers at w = 0, unless it sees the 1."""
    with pm.Model() as model:
        power = pm.Data("power", exponent)
        g, w = pm.Bernoulli("g", 0.5, shape=2), pm.Normal("w")
        pm.Normal("y", w**power * (g[0] - g[1]), 0.8, observed=[0.5, 1.2])
    assert [v.name for v in ExactBinaryHMC(model=model).vars] == ["g"]


def test_a_logarithm_of_a_scale_takes_no_weight_along():
    """What bends a factor is given, and the others are Gaussian all the same."""
    with pm.Model() as model:
        g, w = pm.Bernoulli("g", 0.5, shape=D), pm.Normal("w", 0, 1, shape=D)
        noise = pt.exp(pm.Normal("log noise", 0, 0.5))
        pm.Normal("y", X @ (g * g[::-1] * w), noise, observed=Y)
    text = str(explain(model))
    assert "Gaussian weights w" in text
    assert "log noise (the scale of y depends on it)" in text


@pytest.mark.parametrize("augmentation", ["exponential", "box"])
def test_other_augmentations_leave_general_weights(augmentation):
    """Their kernel knows one augmentation; the indicators have all."""
    with pm.Model() as model:
        g, w = pm.Bernoulli("g", 0.5, shape=D), pm.Normal("w", 0, 1, shape=D)
        pm.Normal("y", X @ (g * g[::-1] * w), 1.0, observed=Y)
    assert [v.name for v in ExactBinaryHMC(model=model).vars] == ["g", "w"]
    step = ExactBinaryHMC(model=model, augmentation=augmentation)
    assert [v.name for v in step.vars] == ["g"]


def test_a_weight_is_not_blamed_for_its_mean():
    """Two parameters whose product is the mean of a weight: these are given, the weight stays."""
    with pm.Model() as model:
        g, mean = pm.Bernoulli("g", 0.5, shape=D), pm.Normal("a", 1, 1) * pm.Normal("b", 1, 1)
        w = pm.Normal("w", mean, 1, shape=D)
        pm.Normal("y", X @ (g * g[::-1] * w), 1.0, observed=Y)
    assert "Gaussian weights w\n" in str(explain(model))
