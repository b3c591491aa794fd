"""Bad input around weights gets a sentence that names the variable and the remedy."""

import contextlib

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.exceptions import SamplingError

from pymc_exact_hmc import ExactBinaryHMC, explain

RNG = np.random.default_rng(0)
N, D = 20, 3
X = RNG.normal(size=(N, D))
Y = X[:, 0] + RNG.normal(size=N)


def normal_weights():
    return pm.Normal("w", 0, 1, shape=D)


def regression(*, columns=X, y=Y, prior=normal_weights, sigma=lambda g, w: 1.0, mean=None):
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.3, shape=D), prior()
        mu = columns @ (gamma * w) if mean is None else mean(gamma, w)
        pm.Normal("y", mu, sigma(gamma, w), observed=y)
    return model


def first_step(model, **options):
    with model:
        step = ExactBinaryHMC(**options)
    step.set_rng(np.random.default_rng(1))
    point = model.initial_point()
    for _ in range(200):
        point, _ = step.step(point)
    return step


def with_entry(array, entry):
    changed = array.copy()
    changed.flat[4] = entry
    return changed


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
def test_predictors_that_are_not_finite(entry):
    """NaN or inf in X names the likelihood and says what to do."""
    with pytest.raises(ValueError, match=r"predictors or the data of y .*[Rr]emove or impute"):
        first_step(regression(columns=with_entry(X, entry)))


def test_data_that_are_not_finite():
    """inf in the response as well; NaN is a missing value to PyMC, and imputed."""
    with pytest.raises(ValueError, match=r"predictors or the data of y .*[Rr]emove or impute"):
        first_step(regression(y=with_entry(Y, np.inf)))


@pytest.mark.parametrize("sigma", [0.0, -1.0])
def test_scale_that_is_not_positive(sigma):
    """A density that is nowhere finite cannot be verified, and is refused."""
    with pytest.raises(ValueError, match=r"log-density of y is not finite.*scales are positive"):
        first_step(regression(sigma=lambda g, w: sigma))


def test_scale_that_depends_on_the_weights():
    """The weights go to NUTS, with the reason; the indicators are sampled all the same."""
    model = regression(sigma=lambda g, w: pt.exp(w[0]))
    assert "w (the scale of y depends on it)" in str(explain(model))
    assert [v.name for v in first_step(model).vars] == ["gamma"]


@pytest.mark.parametrize(
    "mean", [pt.exp, lambda x: pt.clip(x, -50, 50), lambda x: pt.maximum(x, -9)]
)
def test_mean_that_is_not_linear(mean):
    """Also where the bend is far away from anything that probing would see."""
    model = regression(mean=lambda g, w: mean(X @ (g * w)))
    assert "w (the predictor of y is not affine in the weights)" in str(explain(model))
    assert [v.name for v in first_step(model).vars] == ["gamma"]


def test_likelihood_that_is_not_quadratic():
    """A Poisson likelihood is named, and the weights are left to NUTS."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.3, shape=D), normal_weights()
        pm.Poisson("count", pt.exp(X @ (gamma * w)), observed=np.ones(N, int))
    assert "w (it enters count, which is no likelihood that can be made Gaussian" in str(
        explain(model)
    )
    assert [v.name for v in first_step(model).vars] == ["gamma"]


def test_flat_prior():
    """A weight that is off has no distribution under a flat prior."""
    model = regression(prior=lambda: pm.Flat("w", shape=D))
    assert "w (its flat prior is not Gaussian" in str(explain(model))


def test_dependent_columns_under_an_exponential_prior():
    """The precision is singular as soon as both columns are in: said, not inverted."""
    twice = np.column_stack([X[:, 0], X[:, 0], X[:, 1]])
    model = regression(columns=twice, prior=lambda: pm.Exponential("w", 1.0, shape=D))
    with pytest.raises(SamplingError, match=r"w: the weights that are switched on are linearly"):
        first_step(model)


def test_bounds_that_leave_nothing():
    """lower ≥ upper in one coordinate names the weight."""
    start = np.array([1.5, 0.7, 2.0])
    model = regression(
        prior=lambda: pm.TruncatedNormal("w", 0, 1, lower=1, upper=[2, 0.5, 3], initval=start)
    )
    with pytest.raises(ValueError, match=r"bounds of w leave nothing.*lower ≥ upper"):
        first_step(model)


@pytest.mark.parametrize("transform", [{}, {"default_transform": None}])
@pytest.mark.filterwarnings("ignore:invalid value encountered in log:RuntimeWarning")
def test_start_outside_the_truncation(transform):
    """A start below the bound names the weight, transformed or not."""
    start = np.array([0.5, -1.0, 0.5])
    model = regression(
        prior=lambda: pm.TruncatedNormal("w", 0, 1, lower=0, shape=D, initval=start, **transform)
    )
    with pytest.raises(SamplingError, match=r"w starts outside the bounds.*initval"):
        first_step(model)


UNFIT = {
    "paper": (
        lambda: regression(prior=lambda: pm.Exponential("w", 1.0, shape=D)),
        "w: the paper's kernel needs a Gaussian slab",
    ),
    "sheared": (lambda: regression(mean=lambda g, w: X @ g), "w: it meets no indicator"),
    "general": (lambda: regression(mean=lambda g, w: pt.exp(X @ w) * g[0]), "not"),
}


@pytest.mark.parametrize("kernel", UNFIT)
def test_kernel_that_does_not_fit(kernel):
    """A kernel that was asked for and does not fit is refused with the reason."""
    build, reason = UNFIT[kernel]
    with pytest.raises(ValueError, match=f"kernel='{kernel}' needs Gaussian weights.*{reason}"):
        first_step(build(), kernel=kernel)


def test_the_papers_kernel_with_another_augmentation():
    """Its trajectories are those of the Gaussian one."""
    with pytest.raises(ValueError, match="the paper's kernel needs the Gaussian augmentation"):
        ExactBinaryHMC(model=regression(), kernel="paper", augmentation="exponential")


def test_truncated_weights_with_another_augmentation():
    """The exponential and box augmentations know no truncated weights."""
    model = regression(prior=lambda: pm.HalfNormal("w", 1, shape=D))
    with model:
        step = ExactBinaryHMC(augmentation="box")
    assert "w (truncated weights need the Gaussian augmentation)" in str(step.explain())


def test_unknown_kernel():
    """The known kernels are listed."""
    with pytest.raises(ValueError, match=r"'binary', 'general', 'sheared', 'paper'.*'nuts'"):
        first_step(regression(), kernel="nuts")


def test_inclusion_without_weights():
    """Rao–Blackwell probabilities need gated weights."""
    with pytest.raises(ValueError, match=r"inclusion=True needs weights"):
        first_step(regression(mean=lambda g, w: X @ g), inclusion=True)


def test_inclusion_of_weights_under_constraints_is_refused():
    """Their odds are not those of a Gaussian."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.4, shape=3), pm.Normal("w", shape=3)
        pm.Potential("c", pt.switch((gamma * w).sum() <= 1.0, 0.0, -np.inf))
        pm.Normal("y", X[:, :3] @ (gamma * w), 1.0, observed=np.zeros(len(X)))
    with pytest.raises(ValueError, match="inclusion=True is not available for weights under"):
        ExactBinaryHMC(model=model, inclusion=True)


def test_what_a_prior_forbids_is_not_laid_to_bounds_of_weights():
    """A gate with p = 0 never opens, but not because its weight would leave its bounds."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", [0.0, 0.5, 1.0], shape=3)
        w = pm.TruncatedNormal("w", 0.0, 1.0, lower=0.0, shape=3)
        pm.Normal("y", (gamma * w).sum(), 1.0, observed=1.0)
    for kernel in ("paper", "sheared"):
        step, point = ExactBinaryHMC(model=model, kernel=kernel), model.initial_point()
        for _ in range(50):
            point, _ = step.step(point)
        np.testing.assert_array_equal(step._move.infeasible[[0, 2]], 0)


def test_the_papers_kernel_takes_exponential_weights_that_are_always_on():
    """Only weights that are off must be held by a Gaussian slab."""
    X = np.random.default_rng(3).normal(size=(9, 3))
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.5, shape=2), pm.Normal("w", 0, 1, shape=2)
        mean = X[:, 0] * pm.Exponential("w0", 1.0) + X[:, 1:] @ (gamma * w)
        pm.Normal("y", mean, 1.0, observed=X.sum(axis=1))
        step = ExactBinaryHMC(kernel="paper")
    assert {v.name for v in step.vars} == {"gamma", "w", "w0_log__"}
    step.set_rng(np.random.default_rng(1))
    step.step(model.initial_point())


def test_weights_of_the_papers_kernel_do_not_make_whole_turns():
    """A travel time around nπ would reflect them at their means for ever."""
    model = regression()
    for (fewest, most), turns in (
        ((0.5, 1.0), 0.75),
        ((0.75, 1.25), 0.5),
        ((0.0, 2.0), 0.5),
        ((1.8, 2.1), 1.5),
    ):
        step = ExactBinaryHMC(
            model=model, kernel="paper", travel_time=(fewest * np.pi, most * np.pi)
        )
        assert step._move._clocks.w_time == pytest.approx(turns * np.pi)


def test_a_flight_that_would_not_end_is_given_up():
    """Slabs of a billionth of their standard deviation: the old state is kept, and counted."""
    model = regression(prior=lambda: pm.TruncatedNormal("w", 0, 10, lower=0, upper=1e-9, shape=D))
    step = ExactBinaryHMC(model=model, kernel="paper")
    step.set_rng(np.random.default_rng(1))
    step.calls = 1  # a start that was chosen
    _, (stats,) = step.step(model.initial_point())
    assert stats["ehmc_rejected"] == 1


@pytest.mark.parametrize(("mean", "intercept"), [(1e3, True), (1e8, False), (1e8, True)])
def test_data_far_from_zero(mean, intercept):
    """Only with an intercept sums of squares cancel, and only far away noise cannot be learnt."""
    with pm.Model() as model:
        gamma, w = pm.Bernoulli("gamma", 0.3, shape=D), normal_weights()
        mu = X @ (gamma * w) + (pm.Normal("w0", mean, 10.0) if intercept else 0.0)
        pm.Normal("y", mu, pm.HalfNormal("sigma"), observed=mean + Y)
    expected = pytest.warns(UserWarning, match="data of y are so far from 0.*Subtract their mean")
    with expected if intercept and mean == 1e8 else contextlib.nullcontext():
        ExactBinaryHMC(model=model)


def test_data_far_from_zero_in_the_second_likelihood():
    """Each is looked at."""
    with pm.Model() as model:
        mean = X @ (pm.Bernoulli("gamma", 0.3, shape=D) * normal_weights())
        sigma = pm.HalfNormal("sigma")
        pm.Normal("y", mean + pm.Normal("a", 0.0, 10.0), sigma, observed=Y)
        pm.Normal("z", mean + pm.Normal("b", 1e8, 10.0), sigma, observed=1e8 + Y)
    with pytest.warns(UserWarning, match="data of z are so far from 0"):
        ExactBinaryHMC(model=model)
