"""What was recognised is checked against the model before the first draw."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from support.models import binary_block

from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import ONCE
from pymc_exact_hmc.model.logps import derived_once, factor_logps
from pymc_exact_hmc.model.rounding import at_least_rounding, rounding
from pymc_exact_hmc.model.verify import close, factor_evaluator, verify
from pymc_exact_hmc.model.verify_weights import inside

D = 2000
FIELD = np.random.default_rng(0).normal(size=D)


def parts(model):
    point = model.initial_point()
    block = binary_block(model)
    coefficients = Coefficients(block.terms, block.layout, point)
    return block, coefficients, factor_evaluator(block, ONCE), point


def check(model, spoil):
    """Verify a model after ``spoil`` has changed what was recognised."""
    block, coefficients, factors, point = parts(model)
    spoil(coefficients)
    verify(block, coefficients, factors, point, np.zeros(block.d, np.int8))


@pytest.fixture
def labels():
    with pm.Model() as model:
        pm.Potential("field", (FIELD * pm.Bernoulli("s", 0.5, shape=D)).sum())
    return model


def swap_two(coefficients):
    h = coefficients.energy.h
    h[5], h[6] = h[6], h[5]


def scale_one(coefficients):
    coefficients.energy.h[1234] *= 1.5


def test_weights_are_tried_inside_their_bounds():
    """Bounds on either side, on both, far from zero, and none."""
    lower = np.array([2.0, -5.0, 3.0, -np.inf, -np.inf])
    upper = np.array([2.5, -4.0, np.inf, -1.0, np.inf])
    rng = np.random.default_rng(2)
    w = np.array([inside(lower, upper, rng, size=size) for size in [0.1, 1.0] * 50])
    assert ((lower < w) & (w < upper)).all()
    assert (w.std(axis=0) > 0).all()


def test_what_is_right_passes(labels):
    """Coefficients that reproduce the model are accepted."""
    check(labels, lambda _: None)


@pytest.mark.parametrize("spoil", [swap_two, scale_one])
def test_one_wrong_coefficient_among_thousands_is_found(labels, spoil):
    """A mismatch is an error that names the factor, even if it concerns one indicator of 2000."""
    with pytest.raises(ValueError, match="does not reproduce the model's own log-density"):
        check(labels, spoil)


def test_a_forbidden_default_start_does_not_skip_the_check():
    """Where the default start is forbidden, states that the model allows are compared."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.4, shape=6)
        pm.Potential("some", pt.switch(s.sum() > 0, 0.0, -np.inf))
        pm.Potential("field", (FIELD[:6] * s).sum())
    check(model, lambda _: None)

    def spoil(coefficients):
        coefficients._h[2] += 1.0

    with pytest.raises(ValueError, match="does not reproduce"):
        check(model, spoil)


def test_drops_are_compared_beside_log_densities():
    """Couplings that are not symmetric give the right log f and wrong drops."""
    rng = np.random.default_rng(1)
    J = np.triu(rng.normal(size=(6, 6)), 1)
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=6)
        pm.Potential("pairs", s @ J @ s)
    check(model, lambda _: None)

    def spoil(coefficients):
        coefficients.energy.J[0, 1:] += 0.5
        coefficients.energy.J[1:, 0] -= 0.5

    with pytest.raises(ValueError, match="does not reproduce"):
        check(model, spoil)


def test_a_second_setting_of_the_other_variables_is_compared():
    """Coefficients that are right at the start and do not follow the other variables are found."""
    with pm.Model() as model:
        theta = pm.Normal("theta", initval=0.3)
        s = pm.Bernoulli("s", 0.5, shape=6)
        pm.Potential("field", theta * (FIELD[:6] * s).sum())
    check(model, lambda _: None)

    def spoil(coefficients):
        coefficients.update = lambda point: False

    with pytest.raises(ValueError, match="does not reproduce"):
        check(model, spoil)


def test_a_large_constant_hides_nothing():
    """Differences are compared, not log-densities: 10⁸ more or less is no excuse."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=6)
        pm.Potential("field", (FIELD[:6] * s).sum() + 1e8)
    check(model, lambda _: None)

    def spoil(coefficients):
        coefficients._h[2] += 0.1

    with pytest.raises(ValueError, match="does not reproduce"):
        check(model, spoil)


def test_tolerances_are_widened_in_single_precision_alone():
    """What is smaller than rounding in double precision was chosen, and is kept."""
    assert at_least_rounding(1e-14) == 1e-14
    with pytensor.config.change_flags(floatX="float32"):
        assert at_least_rounding(1e-14) == 10 * rounding() > 1e-7
        assert at_least_rounding(0.1) == 0.1


def test_log_densities_are_remembered_with_and_without_the_jacobian():
    """They differ by the log scale itself, whichever is asked for first."""
    with pm.Model() as model:
        scale = pm.HalfNormal("scale")
    for first in (True, False):
        with derived_once():
            found = {j: factor_logps(model, [scale], jacobian=j)[0] for j in (first, not first)}
        (value,) = model.value_vars
        with_it, without = (found[j].eval({value: 0.7}) for j in (True, False))
        assert with_it - without == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("own", "model", "agree"),
    [
        (-np.inf, -np.inf, True), (-np.inf, 0.0, False), (0.0, -np.inf, False), (0.0, np.nan, True),
        (np.nan, 0.0, False), (np.inf, -np.inf, False), (3.0, 3.0, True), (3.0, 3.001, False),
        (3.0, -3.0, False),
    ],
)  # fmt: skip
def test_log_densities_agree_to_rounding_or_are_infinite_together(own, model, agree):
    """Where the model itself says nothing, anything is as good."""
    assert close(own, model, np.array([3.0, 5.0])) == agree
