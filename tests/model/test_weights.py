"""Which weights, gates and rows are read from which model, compared with a plain reference."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.distributions.transforms import Interval, Transform
from pymc.exceptions import SamplingError
from pytensor import config
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC, explain
from pymc_exact_hmc.model.binaries import lay_out, select_variables
from pymc_exact_hmc.model.likelihood_rows import LikelihoodRows
from pymc_exact_hmc.model.noise import classify, keeps_proportions
from pymc_exact_hmc.model.switched import recognise_switched
from pymc_exact_hmc.model.verify_likelihoods import verify_likelihoods
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.model.weights import recognise_weights
from pymc_exact_hmc.random_stream import seed_words
from pymc_exact_hmc.weights.block import LOWER, SLAB_LOWER, SLAB_UPPER, UPPER, R

RNG = np.random.default_rng(33)
N, D = 7, 3
X, Z = RNG.normal(size=(N, D)), RNG.normal(size=(N + 2, D))
Y, U = RNG.normal(size=N), RNG.normal(size=N + 2)
WIDE = RNG.normal(size=(N, N + 4))
GROUP, KNOWN = np.arange(N) % 2, np.linspace(0.5, 2.0, N)


def gates_and_weights(shape=D, names=("gamma", "w")):
    gate, weight = names
    return pm.Bernoulli(gate, 0.4, shape=shape), pm.Normal(weight, 0, 2, shape=shape)


def weights_of_their_own():
    """Two likelihoods that share an intercept, each with weights and indicators."""
    (g, w), (h, v) = gates_and_weights(), gates_and_weights(names=("h", "v"))
    a = pm.Normal("a", 0, 2)
    pm.Normal("y", a + X @ (g * w), 1.0, observed=Y)
    pm.Normal("z", a + Z @ (h * v), 0.5, observed=U)
    design = np.zeros((2 * N + 2, 2 * D + 1))
    design[:N, :D], design[N:, D:-1], design[:, -1] = X, Z, 1.0
    return [*range(2 * D), -1], design, np.append(Y, U), np.repeat([1.0, 0.5], [N, N + 2])


def several_responses():
    """A matrix of weights, one column for each response, whose rows share an indicator."""
    g, w = pm.Bernoulli("g", 0.4, shape=D), pm.Normal("w", 0, 2, shape=(D, 2))
    pm.Normal("y", (X * g) @ w, 1.0, observed=np.stack([Y, U[:N]], axis=1))
    return np.repeat(range(D), 2), np.kron(X, np.eye(2)), np.stack([Y, U[:N]], axis=1).ravel(), 1.0


def repeated_measurements():
    """One mean for each row of a matrix of data."""
    g, w = gates_and_weights()
    both = np.stack([Y, U[:N]], axis=1)
    pm.Normal("y", (X @ (g * w))[:, None], 1.0, observed=both)
    return range(D), np.repeat(X, 2, axis=0), both.ravel(), 1.0


def one_scale_for_each_row():
    """A column of scales, which stands for all measurements of its row."""
    g, w = gates_and_weights()
    both = np.stack([Y, U[:N]], axis=1)
    pm.Normal("y", (X @ (g * w))[:, None], KNOWN[:, None], observed=both)
    return range(D), np.repeat(X, 2, axis=0), both.ravel(), np.repeat(KNOWN, 2)


def a_batch_of_regressions():
    """One matrix product for each group, with gates and weights of its own."""
    columns, y = RNG.normal(size=(2, N, D)), np.stack([Y, U[:N]])
    g, w = gates_and_weights(shape=(2, D))
    mean = ((g[:, None, :] * columns) @ w[..., None])[..., 0]
    pm.Normal("y", mean, 1.0, observed=y)
    design = np.zeros((2 * N, 2 * D))
    design[:N, :D], design[N:, D:] = columns
    return range(2 * D), design, y.ravel(), 1.0


def repeated_indicators():
    """The first switches two weights, the second three, the last one."""
    columns = WIDE[:, :6]
    g, w = pm.Bernoulli("g", 0.4, shape=3), pm.Normal("w", 0, 2, shape=6)
    pm.Normal("y", columns @ (pt.repeat(g, [2, 3, 1]) * w), 1.0, observed=Y)
    return [0, 0, 1, 1, 1, 2], columns, Y, 1.0


def solved(matrix):
    """Neighbours that pull each other: the predictor is the solution of a linear system."""

    def make():
        g, w = gates_and_weights()
        pm.Normal("y", pt.linalg.solve(matrix, X @ (g * w)), 1.0, observed=Y)
        return range(D), np.linalg.solve(LAG, X), Y, 1.0

    return make


LAG = np.eye(N) - 0.3 * np.eye(N, k=1) + 0.1 * np.eye(N, k=-2)


def more_weights_than_data():
    """The design is read by rows."""
    g, w = gates_and_weights(WIDE.shape[1])
    pm.Normal("y", WIDE @ (g * w), 1.0, observed=Y)
    return range(WIDE.shape[1]), WIDE, Y, 1.0


def correlated_responses(covariances):
    """Rows of correlated entries, with one covariance or one for each row."""

    def make():
        g, w = gates_and_weights()
        mean = (X @ (g * w))[:, None] * np.array([1.0, -0.5])
        pm.MvNormal("y", mean, covariances, observed=np.column_stack([Y, Y[::-1]]))
        factor = np.linalg.cholesky(np.linalg.inv(np.broadcast_to(covariances, (N, 2, 2))))
        white = np.swapaxes(factor, 1, 2)
        design = white @ (X[:, None, :] * np.array([[1.0], [-0.5]]))
        y = white @ np.stack([Y, Y[::-1]], axis=1)[:, :, None]
        return range(D), design.reshape(-1, D), y.ravel(), 1.0

    return make


COVARIANCES = np.stack([np.diag([1.0, 0.5 + k]) + 0.3 for k in range(N)])
READ = {
    "weights of their own": weights_of_their_own,
    "several responses": several_responses,
    "repeated measurements": repeated_measurements,
    "one scale for each row": one_scale_for_each_row,
    "a batch of regressions": a_batch_of_regressions,
    "repeated indicators": repeated_indicators,
    "a linear system": solved(LAG),
    "a linear system, as a tensor": solved(pt.as_tensor(LAG)),
    "more weights than data": more_weights_than_data,
    "one covariance": correlated_responses(COVARIANCES[0]),
    "covariance of each row": correlated_responses(COVARIANCES),
}


def recognised(make, recognise=recognise_weights):
    """Return what a recogniser finds in a model, and what the maker of the model says of it."""
    with pm.Model() as model:
        wanted = make()
    point = model.initial_point()
    layout = lay_out(select_variables(model, None)[0], point)
    return (model, layout, point), recognise(model, layout, point), wanted


@pytest.mark.parametrize("name", READ)
def test_gates_and_rows_are_those_of_the_model(name):
    """The gates, M = X'ΩX and r = X'Ωy of all likelihoods together."""
    (model, layout, point), (found, _), (gate, design, y, sigma) = recognised(READ[name])
    assert found.gate.tolist() == list(gate)
    gaussian = WeightCoefficients(model, found, layout, point)
    weighted = design / np.broadcast_to(sigma, y.shape)[:, None] ** 2
    M, r = gaussian.scale * gaussian.block.gram.M, gaussian.block.coefficients[R]
    np.testing.assert_allclose(M, weighted.T @ design, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(r, y @ weighted, rtol=1e-9, atol=1e-12)
    rng = np.random.default_rng(1)
    assert np.max([rows.gate_error(point, rng) for rows in gaussian.rows]) < 1e-12


def scaled_weights(*, scales):
    """Two likelihoods of the same weights, each with its own factor of them."""

    def make():
        (g, w), tau = gates_and_weights(), pm.HalfNormal("tau", 1.0)
        for name, scaled, design, y in zip("yz", scales, (X, Z), (Y, U), strict=True):
            pm.Normal(name, design @ (g * tau * w if scaled else g * w), 1.0, observed=y)

    return make


@pytest.mark.parametrize(
    "scales", [(True, True), (True, False), (False, True)], ids=["both", "first", "second"]
)
def test_units_are_those_of_every_likelihood(scales):
    """A factor of a weight is its unit only if no likelihood has the weight without it."""
    _, (found, _), _ = recognised(scaled_weights(scales=scales))
    assert found.gate.tolist() == list(range(D))
    assert list(found.units) == (["w"] if all(scales) else [])
    random = [False, False] if all(scales) else list(scales)
    assert [predictor.random for predictor in found.predictors] == random


def test_every_weight_has_the_unit_of_its_own_likelihood():
    """One does not replace the other."""

    def make():
        for name, response in (("y", Y), ("z", Y[::-1].copy())):
            g, w = gates_and_weights(names=(f"gate of {name}", f"weight of {name}"))
            mean = X @ (g * w * pm.HalfNormal(f"unit of {name}"))
            pm.Normal(name, mean, 1.0, observed=response)

    _, (found, _), _ = recognised(make)
    assert set(found.units) == {"weight of y", "weight of z"}
    assert not any(predictor.random for predictor in found.predictors)


def tails_that_are_switched(mean):
    nu = pt.switch(pm.Bernoulli("z", 0.5), 3.0, 30.0)
    pm.StudentT("y", nu, mu=mean, sigma=1.0, observed=Y)


def censored(latent):
    return lambda mean: pm.Censored("y", latent(mean), 0, None, observed=np.maximum(Y, 0))


def shifted(shift):
    """An indicator that moves the mean by itself."""
    return lambda mean: pm.Normal("y", mean + shift(pm.Bernoulli("z", 0.5)), 1.0, observed=Y)


APART = "depends on indicators apart from the weights they multiply"
LEFT = {
    "a shift": (shifted(lambda z: 0.7 * z), APART),
    "a shift by a switch": (shifted(lambda z: pt.switch(z, 1.0, 0.0)), APART),
    "a shift from a table": (shifted(lambda z: pt.constant([0.3, -1.0])[z]), APART),
    "a shift of some rows": (shifted(lambda z: GROUP * z), APART),
    "indicators in nu": (tails_that_are_switched, "the scale of y depends on indicators"),
    "censored Student": (censored(lambda mean: pm.StudentT.dist(4, mu=mean)), "no likelihood"),
    "censored Laplace": (censored(lambda mean: pm.Laplace.dist(mean, 1.0)), "no likelihood"),
}


@pytest.mark.parametrize("name", LEFT)
def test_likelihoods_of_other_kinds_leave_their_weights(name):
    """Nothing is taken, and nothing refused: w has a reason and goes to other steps."""
    likelihood, reason = LEFT[name]

    def make():
        g, w = gates_and_weights()
        likelihood(X @ (g * w))

    _, (found, reasons), _ = recognised(make)
    assert found is None
    assert reason in reasons["w"]


def test_switched_weights_are_not_gated_as_well():
    """Their kernel knows a mean in which every weight is always on."""

    def make(gated):
        g = pm.Bernoulli("g", 0.4, shape=D)
        w = pm.Normal("w", 0, pt.switch(g, 2.0, 0.1), shape=D)
        pm.Normal("y", X @ (g * w if gated else w), 1.0, observed=Y)

    _, found, _ = recognised(lambda: make(True), recognise_switched)
    assert found is None
    _, found, _ = recognised(lambda: make(False), recognise_switched)
    assert found is not None


def test_coefficients_are_random_wherever_they_stand_in_a_sum():
    """A random factor of columns in the second summand, beside an intercept."""

    def make():
        (g, w), phi = gates_and_weights(), pm.Uniform("phi")
        pm.Normal("y", pm.Normal("w0", 0, 9) + (X + phi * Z[:N]) @ (g * w), 1.0, observed=Y)

    _, (found, _), _ = recognised(make)
    assert [predictor.random for predictor in found.predictors] == [True]


def test_one_entry_that_several_indicators_multiply_is_too_many():
    """The others of the same variable have one each; all are for another kernel."""

    def make():
        g, w = gates_and_weights()
        gates = pt.stack([g[0], g[1], g[0] * g[1]])
        pm.Normal("y", X @ (gates * w), 1.0, observed=Y)

    _, (found, reasons), _ = recognised(make)
    assert found is None
    assert reasons["w"] == "an entry of it is multiplied by several indicators"


@pytest.mark.parametrize("first", [True, False])
def test_a_weight_that_is_used_twice_has_no_unit(first):
    """Only one of the two places has the factor, whichever comes first."""

    def make():
        (g, w), tau = gates_and_weights(), pm.HalfNormal("tau", 1.0)
        with_factor, without = X @ (g * (tau * w)), Z[:N] @ (g * w)
        mean = with_factor + without if first else without + with_factor
        pm.Normal("y", mean, 1.0, observed=Y)

    _, (found, _), _ = recognised(make)
    assert found.units == {}
    assert [predictor.random for predictor in found.predictors] == [True]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_second_setting_that_is_impossible_says_nothing(sign):
    """A scale close to 0 is on its other side in one of the two, and the start is as it was."""
    with pm.Model() as model:
        g, w = gates_and_weights()
        u = pm.Normal("u", sign * 0.001, 1.0)
        pm.Normal("y", X @ (g * w), sign * u, observed=Y)
    assert {v.name for v in ExactBinaryHMC(model=model).vars} > {"gamma", "w"}


def test_discrete_variables_in_scales_are_left_to_other_steps():
    """Slices are for real numbers."""
    with pm.Model() as model:
        g, k = pm.Bernoulli("g", 0.4, shape=D), pm.Poisson("k", 3.0)
        w = pm.Normal("w", 0, 0.5 + k, shape=D)
        pm.Normal("y", X @ (g * w), 1.0, observed=Y)
    assert {v.name for v in ExactBinaryHMC(model=model).vars} == {"g", "w"}


def test_some_entries_of_a_mean_may_be_switched_too():
    """By the indicators that switch their standard deviations; the others are as they are."""

    def make():
        g = pm.Bernoulli("g", 0.5, shape=D)
        mean = pt.concatenate([1.0 * g[:1], np.zeros(D - 1)])
        w = pm.Normal("w", mean, pt.switch(g, 1.0, 0.1), shape=D)
        pm.Normal("y", X @ w, 1.0, observed=Y)

    _, found, _ = recognised(make, recognise_switched)
    np.testing.assert_array_equal(found.control, range(D))


def test_switched_weights_have_one_indicator_each():
    """A prior that two of them decide together is for another kernel."""

    def make():
        g = pm.Bernoulli("g", 0.4, shape=D)
        w = pm.Normal("w", 0, pt.switch(g * g[::-1], 2.0, 0.1), shape=D)
        pm.Normal("y", X @ w, 1.0, observed=Y)

    _, found, _ = recognised(make, recognise_switched)
    assert found is None


def test_coefficients_of_switched_weights_follow_other_variables():
    """A factor of the predictor that another step moves."""

    def make():
        g, phi = pm.Bernoulli("g", 0.4, shape=D), pm.Uniform("phi")
        w = pm.Normal("w", 0, pt.switch(g, 2.0, 0.1), shape=D)
        pm.Normal("y", phi * (X @ w), 1.0, observed=Y)

    _, found, _ = recognised(make, recognise_switched)
    assert [predictor.random for predictor in found.block.predictors] == [True]


@pytest.mark.parametrize("bound", [False, True])
def test_switched_weights_enter_nothing_but_likelihoods(bound):
    """Their kernel knows priors and likelihoods; a potential on them is for another one."""

    def make():
        g = pm.Bernoulli("g", 0.4, shape=D)
        w, w0 = pm.Normal("w", 0, pt.switch(g, 2.0, 0.1), shape=D), pm.Normal("w0", 0, 10)
        pm.Normal("y", w0 + X @ w, 1.0, observed=Y)
        if bound:
            pm.Potential("small sum", -50 * w.sum() ** 2)

    _, found, _ = recognised(make, recognise_switched)
    assert found is None if bound else found.control.tolist() == [*range(D), -1]


def noises_of_groups():
    """A scale of each group, times what is known of each row."""
    g, w = gates_and_weights()
    pm.Normal("y", X @ (g * w), pm.HalfNormal("sigma", shape=2)[GROUP] * KNOWN, observed=Y)


def test_scales_of_groups_reach_the_gram_matrix():
    """Precisions keep their proportions within a group; M follows those that a move wrote."""
    (model, layout, point), (found, _), _ = recognised(noises_of_groups)
    gaussian = WeightCoefficients(model, found, layout, point)
    groups = [noise.rows.tolist() for noise in gaussian.noise]
    assert sorted(groups) == [np.flatnonzero(group == GROUP).tolist() for group in (0, 1)]
    assert all(noise.regular for noise in gaussian.noise)
    for sigma in np.array([[0.6, 1.7], [2.2, 0.9]]):
        omega = (sigma[GROUP] * KNOWN) ** -2
        gaussian.statistics.precisions[:] = [omega[noise.leader] for noise in gaussian.noise]
        moved = point | {"sigma_log__": np.log(sigma)}
        gaussian.settle_at(moved)
        assert not gaussian.update(moved)
        M = gaussian.scale * gaussian.block.gram.M
        np.testing.assert_allclose(M, X.T * omega @ X, rtol=1e-9, atol=1e-12)


def test_latents_of_groups_reach_their_own_rows():
    """Rows of a group are not the first ones: X'ΩX has the latent factor of each row."""

    def make():
        g, w = gates_and_weights()
        sigma = pm.HalfNormal("sigma", shape=2)[GROUP]
        pm.StudentT("y", nu=3, mu=X @ (g * w), sigma=sigma, observed=Y)

    (model, layout, point), (found, _), _ = recognised(make)
    gaussian = WeightCoefficients(model, found, layout, point)
    moved = point | {"sigma_log__": np.array([0.3, -0.5])}
    gaussian.update(moved)
    gaussian.draw_latents(
        moved, np.ones(D, np.int8), np.ones(D), seed_words(np.random.default_rng(1))
    )
    (tails,) = gaussian.latents
    omega = np.exp(-2 * np.array([0.3, -0.5]))[GROUP] * tails.factor
    np.testing.assert_allclose(gaussian.scale * gaussian.block.gram.row_weights, omega)
    assert np.ptp(tails.factor) > 0


def test_parameters_of_latents_are_those_of_now():
    """Degrees of freedom that another step moves."""

    def make():
        g, w = gates_and_weights()
        pm.StudentT("y", nu=pm.Gamma("nu", 2, 0.1), mu=X @ (g * w), observed=Y)

    (model, layout, point), (found, _), _ = recognised(make)
    gaussian = WeightCoefficients(model, found, layout, point)
    state = np.ones(D, np.int8), np.ones(D), seed_words(np.random.default_rng(1))
    for nu in (3.0, 8.0):
        gaussian.draw_latents(point | {"nu_log__": np.log(nu)}, *state)
        np.testing.assert_allclose(gaussian.latents[0].family.nu, nu)


def test_bounds_hold_for_weights_that_are_off_too():
    """Slabs are cut on both sides, whether their gates are open or not."""

    def make():
        g, w = (
            pm.Bernoulli("g", 0.4, shape=D),
            pm.TruncatedNormal("w", 0, 1, lower=-2, upper=0.5, shape=D),
        )
        pm.Normal("y", X @ (g * w), 1.0, observed=Y)

    (model, layout, point), (found, _), _ = recognised(make)
    coefficients = WeightCoefficients(model, found, layout, point).block.coefficients
    for low, high in ((LOWER, UPPER), (SLAB_LOWER, SLAB_UPPER)):
        np.testing.assert_array_equal(coefficients[low], -2.0)
        np.testing.assert_array_equal(coefficients[high], 0.5)


def test_a_scale_that_is_another_parameter_too_is_left():
    """The tilt of an asymmetric Laplace is in units of its scale."""
    with pm.Model() as model:
        g, w = gates_and_weights()
        b = pm.HalfNormal("b")
        pm.AsymmetricLaplace("y", kappa=1.4, mu=X @ (g * w), b=b, observed=Y)
    assert "b (it enters y not only as its noise scale" in str(explain(model))


@pytest.mark.parametrize("scaled", [pt.mul, pt.true_div], ids=["times", "over"])
def test_scales_of_rows_are_no_units_of_weights(scaled):
    """Also where there are as many rows as weights."""

    def make():
        g, w = gates_and_weights()
        rows = pm.LogNormal("rows", shape=D)
        pm.Normal("y", scaled(pt.dot(X[:D], g * w), rows), 1.0, observed=Y[:D])

    _, (found, _), _ = recognised(make)
    assert not found.units
    assert found.predictors[0].random


def test_a_free_variable_with_a_transform_may_be_the_data():
    """It is read on its own scale."""
    with pm.Model() as model:
        g, w = gates_and_weights()
        ordered, start = pm.distributions.transforms.ordered, np.arange(N, dtype=float)
        theta = pm.Normal("theta", X @ (g * w), 1.0, transform=ordered, initval=start)
        pm.Poisson("y", pt.exp(theta), observed=np.arange(N))
    step = ExactBinaryHMC(model=model)
    assert [v.name for v in step.vars] == ["gamma", "w"]
    np.testing.assert_allclose(step._move.gaussian.block.coefficients[R], X.T @ start)
    assert "theta (prior)" in str(step.explain())


def test_of_weights_that_multiply_each_other_the_more_are_taken():
    """A number before the vector that it scales would need an indicator for itself."""
    with pm.Model() as model:
        (g, w), a = gates_and_weights(), pm.Normal("a")
        pm.Normal("y", X @ (a * g * w), 1.0, observed=Y)
    assert [v.name for v in ExactBinaryHMC(model=model).vars] == ["gamma", "w"]


def test_products_that_several_weights_share_keep_their_scale():
    """What is taken out for one weight would be missing for the other."""

    def make():
        (g, w), v = gates_and_weights(), pm.Normal("v", shape=D)
        scaled = pm.LogNormal("tau") * g
        pm.Normal("y", X @ (scaled * w) + X[::-1] @ (scaled * v) + X @ (g * v), 1.0, observed=Y)

    (model, *_), (found, _), _ = recognised(make)
    assert found.units.keys() <= {"w"}
    assert ExactBinaryHMC(model=model)._move.kernel == "sheared"


def test_scales_of_columns_of_a_transpose_are_no_units_of_weights():
    """A square matrix of weights has the same shape when it is turned."""
    data = RNG.normal(size=(N, D, D))

    def make():
        g, w = gates_and_weights(shape=(D, D))
        turned = (g * w).T * pm.LogNormal("columns", shape=D)
        pm.Normal("y", (data * turned).sum(axis=(1, 2)), 1.0, observed=Y)

    _, (found, _), _ = recognised(make)
    assert not found.units
    assert found.predictors[0].random


def correlated_rows_and_latents():
    """Latents of the second likelihood change precisions, those of the last do not."""
    (g, w), u = gates_and_weights(), pm.StudentT("u", 3)
    mean = u + X @ (g * w)
    pm.MvNormal("y", mean, pm.HalfNormal("sigma") ** 2 * CORRELATED, observed=Y)
    pm.StudentT("z", 3, mu=mean, sigma=1.0, observed=Y)
    pm.Censored("cut", pm.Normal.dist(mean, 1.0), 0, None, observed=np.maximum(Y, 0))


CORRELATED = 0.5 * np.eye(N) + 0.5


def test_correlated_rows_beside_latents():
    """M is the sum over likelihoods, X'Ω(y − u) that of now, and each factor that of the model."""
    (model, layout, point), (found, _), _ = recognised(correlated_rows_and_latents)
    gaussian = WeightCoefficients(model, found, layout, point)
    assert verify_likelihoods(model, found, gaussian, layout, point) == ""
    moved = point | {"u": np.array(0.7), "sigma_log__": np.array(0.4)}
    gaussian.update(moved)
    precision, statistics = np.exp(-0.8) * np.linalg.inv(CORRELATED), gaussian.statistics
    r = statistics.precisions[0] * statistics.slopes[0]
    np.testing.assert_allclose(r, X.T @ precision @ (Y - 0.7), rtol=1e-9)
    stream = seed_words(np.random.default_rng(1))
    gaussian.draw_latents(moved, np.ones(D, np.int8), np.ones(D), stream)
    gram, (tails, _) = gaussian.block.gram, gaussian.latents
    M = X.T @ precision @ X + X.T * tails.factor @ X + X.T @ X
    np.testing.assert_allclose(gram.X.T * gram.row_weights @ gram.X, M, rtol=1e-9)
    assert np.ptp(tails.factor) > 0


@pytest.mark.parametrize("unit", [1e-5, 1.0, 1e5])
def test_proportions_of_precisions_have_no_unit(unit):
    """Rows are in proportion, or not, whatever the data are measured in."""
    omega = (unit * KNOWN) ** -2
    (noise,) = classify(0, [omega, 3.0 * omega], N)
    assert noise.regular
    assert keeps_proportions(noise, 0.2 * omega)
    assert not keeps_proportions(noise, omega * np.where(GROUP, 1.0, 1.0 + 1e-6))


def test_classes_keep_proportions_where_each_scale_moves():
    """Rows in blocks, or apart: each class is measured by a row of its own."""
    known = np.linspace(0.5, 2.0, N)
    for group in (np.arange(N) // (N // 3 + 1), np.arange(N) % 3):
        settings = [known * np.array(scales)[group] for scales in ([1.0, 4, 9], [0.5, 9, 3])]
        classes = classify(0, settings, N)
        assert [noise.regular for noise in classes] == 3 * [True]
        np.testing.assert_array_equal(np.sort(np.concatenate([c.rows for c in classes])), range(N))
        for noise in classes:
            for precision in (*settings, known * np.array([7.0, 0.2, 1.5])[group]):
                assert keeps_proportions(noise, precision)
                here = precision[noise.rows]
                np.testing.assert_allclose(precision[noise.leader] * noise.relative, here)


def test_noise_that_may_jump_has_no_classes():
    """What settings show of rows, others may change: the scales on both sides stay with NUTS."""
    precisions = [np.repeat(pair, (3, N - 3)) for pair in ([1.0, 4.0], [0.5, 9.0])]
    assert [noise.regular for noise in classify(0, precisions, N)] == [True, True]
    assert [noise.regular for noise in classify(0, precisions, N, jumps=True)] == [False]
    with pm.Model() as model:
        (g, w), s = gates_and_weights(), pm.HalfNormal("s", shape=2)
        before = np.arange(N) < pm.DiscreteUniform("change", 1, N)
        pm.Normal("y", X @ (g * w), pt.switch(before, s[0], s[1]), observed=Y)
    assert "s (the noise of y changes from row to row" in str(explain(model))


def test_noise_that_may_jump_is_read_anew():
    """Rows in proportion at the start may not be so later: their scale is left to another step."""

    def make():
        g, w = gates_and_weights()
        floor = pt.maximum(pm.HalfNormal("s", 1.0), 0.1 * KNOWN)
        pm.Normal("y", X @ (g * w), floor, observed=Y)

    (model, layout, point), (found, _), _ = recognised(make)
    gaussian = WeightCoefficients(model, found, layout, point)
    assert [noise.regular for noise in gaussian.noise] == [False]
    assert "s (the noise of y changes from row to row" in str(explain(model))


def leaking_gates():
    """Closed gates let weights through from some number on."""
    g, w = gates_and_weights()
    k = pm.DiscreteUniform("k", 0, 5)
    pm.Normal("y", X @ (pt.switch(g, 1.0, pt.maximum(k - 3, 0)) * w), 1.0, observed=Y)


def test_gates_that_leak_later_are_noticed():
    """Where a predictor may jump, its gates are looked at whenever it is read."""
    (model, layout, point), (found, _), _ = recognised(leaking_gates)
    gaussian = WeightCoefficients(model, found, layout, point)
    gaussian.update(point | {"k": np.array(1)})
    with pytest.raises(SamplingError, match="predictor of y depends on indicators in another way"):
        gaussian.update(point | {"k": np.array(5)})


def test_units_that_may_be_zero_are_none():
    """A weight cannot be measured in a unit that is 0 with some probability."""

    def make():
        (g, w), k = gates_and_weights(), pm.Poisson("k", 1.0)
        pm.Normal("y", X @ (g * k * w), 1.0, observed=Y)

    _, (found, _), _ = recognised(make)
    assert not found.units
    assert found.predictors[0].random


def test_units_that_are_zero_in_one_entry_at_the_start_are_none():
    """The others are no reason to measure in it."""

    def make():
        (g, w), u = gates_and_weights(), pm.Laplace("u", np.arange(float(D)), 1.0)
        pm.Normal("y", X @ (g * u * w), 1.0, observed=Y)

    _, (found, _), _ = recognised(make)
    assert not found.units
    assert found.predictors[0].random


def test_a_weight_that_is_itself_a_scale():
    """Also where the scale is the variable and no expression of it."""

    def make():
        g, w = pm.Bernoulli("g", 0.4, shape=D), pm.HalfNormal("w", 1.0, shape=D)
        pm.Normal("y", X @ (g * w), 1.0, observed=Y)
        pm.Normal("z", np.zeros(D), w, observed=U[:D])

    _, (found, reasons), _ = recognised(make)
    assert found is None
    assert reasons["w"] == "the scale of z depends on it"


def bounded_by(g, k=1.0):
    return pm.Uniform("scale", 0.2, 1.0 + 2 * g[0] * k)


class InUnits(Transform):
    """log(x / unit), where the unit is the last parameter of the law."""

    name = "units"

    def forward(self, value, *inputs):
        return pt.log(value / inputs[-1])

    def backward(self, value, *inputs):
        return pt.exp(value) * inputs[-1]

    def log_jac_det(self, value, *inputs):
        return value + pt.log(inputs[-1])


class InUnitsOfBoth(InUnits):
    """The same, for both signs."""

    def forward(self, value, *inputs):
        return value / inputs[-1]

    def backward(self, value, *inputs):
        return value * inputs[-1]

    def log_jac_det(self, value, *inputs):
        return pt.log(inputs[-1]) + pt.zeros_like(value)


class FromMean(Transform):
    """The distance of x from its mean, the last parameter but one."""

    name = "distance"

    def forward(self, value, *inputs):
        return value - inputs[-2]

    def backward(self, value, *inputs):
        return value + inputs[-2]

    def log_jac_det(self, value, *inputs):
        return pt.zeros_like(value)


HELD = {
    "a slab, in units": lambda g: pm.Normal(
        "w", 0, pm.HalfNormal("t", 1.0 + g[0], default_transform=InUnits()), shape=D
    ),
    "a slab, through two transforms": lambda g: pm.Normal(
        "w", 0, pm.Uniform("t", 0, 1.0 + g[0], transform=Interval(-20, 20)), shape=D
    ),
    "a slab": lambda g: pm.Normal("w", 0, bounded_by(g), shape=D),
    "a slab, once a number is not 0": lambda g: pm.Normal(
        "w", 0, bounded_by(g, pm.Poisson("k", 1.0)), shape=D
    ),
    "a bound": lambda g: pm.TruncatedNormal("w", 0, 1, lower=-bounded_by(g), shape=D),
    "a slab, through another": lambda g: pm.Normal(
        "w", 0, pm.Uniform("other", 0, bounded_by(g)), shape=D
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_an_indicator_that_bounds_a_parameter_moves_it(name):
    """Steps hold value variables, so what these stand for moves with the bounds."""

    def make():
        g = pm.Bernoulli("g", 0.4, shape=D)
        pm.Normal("y", X @ (g * HELD[name](g)), 1.0, observed=Y)

    _, (found, reasons), _ = recognised(make)
    assert found is None
    assert reasons["w"] == "its prior depends on g"


def test_missing_data_that_move_with_the_weights_are_no_data():
    """Steps hold the value variable: here the distance of u from its mean."""

    def make():
        g, w = gates_and_weights()
        u = pm.Normal("u", X @ (g * w), 1.0, default_transform=FromMean())
        pm.Normal("y", u, 1.0, observed=Y)

    _, (found, reasons), _ = recognised(make)
    assert found is None
    assert reasons["w"].startswith("it enters u, which is no likelihood")


def test_missing_data_that_move_with_a_scale_are_no_data():
    """As above, with b in units of a scale that the step would move."""

    def make():
        (g, w), s = gates_and_weights(), pm.HalfNormal("s")
        b = pm.Normal("b", X @ (g * w), s, shape=N, default_transform=InUnitsOfBoth())
        pm.Poisson("y", pt.exp(b), observed=np.arange(N))

    _, (found, reasons), _ = recognised(make)
    assert found is None
    assert reasons["w"].startswith("it enters b, which is no likelihood")


EMPTY = {
    "logit": lambda mean: pm.Bernoulli("y", logit_p=mean, observed=np.zeros(0, int)),
    "Laplace": lambda mean: pm.Laplace("y", mean, 1.0, observed=np.zeros(0)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_likelihood_without_rows_says_nothing(name):
    """Weights are those of the prior and of other likelihoods."""

    def make():
        g, w = gates_and_weights()
        EMPTY[name](np.zeros((0, D)) @ (g * w))

    (model, layout, point), (found, _), _ = recognised(make)
    gaussian = WeightCoefficients(model, found, layout, point)
    assert [weight.name for weight in found.weights] == ["w"]
    assert verify_likelihoods(model, found, gaussian, layout, point) == ""


def test_an_indicator_that_bounds_the_noise_moves_it():
    """As above."""

    def make():
        g, w = gates_and_weights()
        pm.Normal("y", X @ (g * w), bounded_by(g), observed=Y)

    _, (found, reasons), _ = recognised(make)
    assert found is None
    assert reasons["w"] == "the scale of y depends on indicators"


def test_noise_that_is_in_proportion_near_the_start_only():
    """A soft change point: far from it each row has a noise that looks like a constant."""

    def make():
        (g, w), tau = gates_and_weights(), pm.Uniform("tau", 0.0, N - 1.0)
        steps = pm.math.sigmoid(100 * (np.arange(N) - 0.5 - tau))
        pm.Normal("y", X @ (g * w), 0.4 + 2 * steps, observed=Y)

    (model, layout, point), (found, _), _ = recognised(make)
    gaussian = WeightCoefficients(model, found, layout, point)
    assert [noise.regular for noise in gaussian.noise] == [False]
    assert "tau (the noise of y changes from row to row" in str(explain(model))


def test_a_covariance_that_keeps_its_shape_near_the_start_only():
    """Correlations over a distance that is so short at first that they underflow."""
    squares = np.subtract.outer(100.0 * np.arange(N), 100.0 * np.arange(N)) ** 2

    def make():
        (g, w), ls = gates_and_weights(), pm.HalfCauchy("ls", 1.0)
        cov = 0.1 * np.eye(N) + pt.exp(-squares / (2 * ls**2))
        pm.MvNormal("y", X @ (g * w), cov, observed=Y)

    (model, layout, point), (found, _), _ = recognised(make)
    assert not WeightCoefficients(model, found, layout, point).rows[0].proportional
    assert "ls (the covariance of y changes its shape with it)" in str(explain(model))


def test_a_covariance_that_exists_at_the_start_only_has_no_shape(monkeypatch):
    """Nothing can be said of one number from one setting."""

    def make():
        (g, w), s = gates_and_weights(), pm.HalfNormal("s")
        pm.MvNormal("y", X @ (g * w), s**2 * np.eye(N), observed=Y)

    (model, layout, point), (found, _), _ = recognised(make)
    assert WeightCoefficients(model, found, layout, point).rows[0].proportional
    monkeypatch.setattr(LikelihoodRows, "_scales_elsewhere", lambda self, point, seed: [])
    assert not WeightCoefficients(model, found, layout, point).rows[0].proportional


def test_gates_that_are_closed_near_the_start_only():
    """A leak that is 0 to rounding until another variable opens it."""
    with pm.Model() as model:
        (g, w), b = gates_and_weights(), pm.Laplace("b", -1.0, 1.0)
        leak = pm.math.sigmoid(100 * b)
        pm.Normal("y", X @ ((g + (1 - g) * leak) * w), 1.0, observed=Y)
    assert "gated Gaussian" not in str(explain(model))


def test_shifts_that_are_zero_at_the_start_are_shifts():
    """An indicator that lets a shift in beside its weight is more than a gate."""
    with pm.Model() as model:
        (g, w), b = gates_and_weights(), pm.Laplace("b", 0.0, 1.0)
        pm.Normal("y", X @ (g * (b + w)), 1.0, observed=Y)
    assert model.initial_point()["b"] == 0.0
    assert "gated Gaussian" not in str(explain(model))


def test_units_that_are_zero_at_the_start_are_none():
    """A weight may be multiplied by what starts at 0."""

    def make():
        (g, w), a = gates_and_weights(), pm.Laplace("a", 0.0, 1.0)
        pm.Normal("y", a * (X @ (g * w)), 1.0, observed=Y)

    _, (found, _), _ = recognised(make)
    assert not found.units
    assert found.predictors[0].random


def test_weights_meet_indicators_through_others():
    """A weight of a second likelihood, which shares one of the first, is in the same Gaussian."""

    def make():
        (g, w), u, v = gates_and_weights(), pm.Normal("u"), pm.Normal("v", shape=2)
        pm.Normal("y", X @ (g * w) + u, 1.0, observed=Y)
        pm.Normal("z", Z[:, :2] @ v + u, 1.0, observed=U)
        pm.Normal("t", pm.Normal("apart") * np.ones(3), 1.0, observed=np.ones(3))

    _, (found, reasons), _ = recognised(make)
    assert [w.name for w in found.weights] == ["w", "u", "v"]
    assert reasons["apart"] == "it meets no indicator"


JUMPING = {
    "a number": lambda: pt.switch(pm.Poisson("k", 1.0) > 2, -1.0, -np.inf),
    "a cut": lambda: pt.switch(pm.Normal("k") > 2, -1.0, -np.inf),
}


@pytest.mark.parametrize("name", JUMPING)
@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("side", [1, -1])
def test_bounds_that_may_come_and_go_are_not_taken(name, gated, side):
    """Which weights are bounded is settled before the first draw."""
    with pm.Model() as model:
        lower, upper = (JUMPING[name](), 3.0)[::side]
        g = pm.Bernoulli("g", 0.4, shape=D) if gated else 1.0
        if side < 0:
            lower, upper = -lower, -upper
        options = {"shape": D, "default_transform": None, "initval": side * np.ones(D)}
        w = pm.TruncatedNormal("w", 0, 1, lower=lower, upper=upper, **options)
        pm.Normal("y", X @ (g * w), 1.0, observed=Y)
    if gated:
        assert "its bounds depend on a discrete variable" in str(explain(model))
    else:
        with pytest.raises(ValueError, match="its bounds depend on a discrete variable"):
            ExactBinaryHMC(model=model)


ROWS = np.arange(N) / N
NUISANCE = {
    "in an exponent": (lambda a, b: pt.exp(b * ROWS), ["w"]),
    "in the exponent of a factor": (lambda a, b: a * pt.exp(b * ROWS), ["w", "a"]),
    "beside an intercept": (lambda a, b: a + pt.maximum(b, 0.0), ["w", "a"]),
    "one factor of two": (lambda a, b: a * b * ROWS, ["w", "a"]),
    "intercepts of rows": (lambda a, b: pm.Normal("rows", shape=N) + pt.exp(a + b), ["w", "rows"]),
    "where it is gated too": (lambda a, b: 0.0, None),
}


@pytest.mark.parametrize("name", NUISANCE)
@pytest.mark.parametrize("logistic", [False, True])
def test_a_parameter_that_does_not_fit_leaves_alone(name, logistic):
    """Other variables are given, so a Gaussian one among them costs no weight but itself."""
    extra, taken = NUISANCE[name]

    def make():
        (g, w), a, b = gates_and_weights(), pm.Normal("a"), pm.Normal("b")
        eta = X @ (g * w) + (g[0] * pt.exp(a + b) if taken is None else extra(a, b))
        if logistic:
            pm.Bernoulli("y", logit_p=eta, observed=Y > 0)
        else:
            pm.Normal("y", eta, 1.0, observed=Y)

    _, (found, reasons), _ = recognised(make)
    if taken is None:
        assert found is None
    else:
        assert [weight.name for weight in found.weights] == taken
        assert "the predictor of y is n" in reasons["b"]


WIDE_BOUNDS = [
    (-1e30, 1e30, 1.0),
    (-1e18, np.inf, 1.0),
    (-1e25, 1.0, 1.0),
    (-np.inf, 1e20, 1.0),
    (-1e9, np.inf, 1e-6),
]


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize(("lower", "upper", "sd"), WIDE_BOUNDS)
def test_bounds_without_digits_between_them_are_not_taken(lower, upper, sd, gated):
    """PyMC's transform maps all values to the same number: what is written cannot be read."""
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.4, shape=D) if gated else 1.0
        w = pm.TruncatedNormal("w", 0, sd, lower=lower, upper=upper, shape=D)
        pm.Normal("y", X @ (g * w), 1.0, observed=Y)
    sentence = "its bounds are so far away that its transform cannot tell its values apart"
    if gated:
        assert f"w ({sentence})" in str(explain(model))
    else:
        with pytest.raises(ValueError, match=sentence):
            ExactBinaryHMC(model=model)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1e30), (-1e10, 1e10), (-1.0, np.inf)])
def test_bounds_with_digits_between_them_are_taken(lower, upper):
    """Also wide ones, and all that have no transform."""
    for transform in ({}, {"default_transform": None}):

        def make(transform=transform):
            g = pm.Bernoulli("g", 0.4, shape=D)
            w = pm.TruncatedNormal("w", 0, 1, lower=lower, upper=upper, shape=D, **transform)
            pm.Normal("y", X @ (g * w), 1.0, observed=Y)

        _, (found, _), _ = recognised(make)
        assert [weight.name for weight in found.weights] == ["w"]


SINGLE = X.astype("float32")
SINGLE_Y = Y.astype("float32")
IN_SINGLE_PRECISION = {
    "noise": lambda eta: pm.Normal("y", eta, pm.HalfNormal("s"), observed=SINGLE_Y),
    "Student": lambda eta: pm.StudentT("y", nu=4, mu=eta, sigma=0.5, observed=SINGLE_Y),
    "logit": lambda eta: pm.Bernoulli("y", logit_p=pm.Normal("a") + eta, observed=Y > 0),
    "probit": lambda eta: pm.Bernoulli("y", pm.math.invprobit(eta), observed=Y > 0),
}


SLABS = [pm.Normal, pm.HalfNormal, pm.TruncatedNormal]
EACH_ONCE = [(SLABS[i % 3], name) for i, name in enumerate(IN_SINGLE_PRECISION)]


@pytest.mark.parametrize(
    ("slab", "name"), slow_but(EACH_ONCE, [(s, n) for s in SLABS for n in IN_SINGLE_PRECISION])
)
def test_weights_in_single_precision_are_gated_too(name, slab):
    """They have the same kernel as in double precision, and nothing is refused."""
    with config.change_flags(floatX="float32"), pm.Model() as model:
        bounds = {"lower": -0.5, "upper": 2.0} if slab is pm.TruncatedNormal else {}
        w = slab("w", sigma=1.0, shape=D, **bounds)
        IN_SINGLE_PRECISION[name](SINGLE @ (pm.Bernoulli("g", 0.4, shape=D) * w))
        assert f"{D} of them gated" in str(explain(model))


def test_general_weights_and_constraints_in_single_precision():
    """As above, for gates that multiply, for walls, and without indicators."""
    with config.change_flags(floatX="float32"):
        with pm.Model() as general:
            g, w = gates_and_weights()
            pm.Normal("y", SINGLE @ (g * g[::-1] * w), 0.5, observed=SINGLE_Y)
        assert "Gaussian weights w" in str(explain(general))
        with pm.Model() as walls:
            g, w = gates_and_weights()
            pm.Potential("c", pt.switch(pt.all(g * w >= -0.1), 0, -np.inf))
            pm.Normal("y", SINGLE @ (g * w), 0.5, observed=SINGLE_Y)
        assert f"{D} of them gated" in str(explain(walls))
        with pm.Model() as alone:
            w = pm.HalfNormal("w", shape=D)
            pm.Normal("y", SINGLE @ w, 0.5, observed=SINGLE_Y)
        assert "takes Gaussian weights w (3)" in str(explain(alone))
