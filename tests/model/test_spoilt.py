"""Whatever is read wrongly from a model is noticed before the first draw.

A part of the recogniser is made to give something slightly wrong; the step must refuse.
"""

import numpy as np
import pymc as pm
import pytest

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.model import hyperparameters
from pymc_exact_hmc.model.general import GeneralGaussian
from pymc_exact_hmc.model.latents import LatentRows
from pymc_exact_hmc.model.likelihood_rows import LikelihoodRows
from pymc_exact_hmc.model.switched import SwitchedCoefficients
from pymc_exact_hmc.model.walls import Walls
from pymc_exact_hmc.model.weight_coefficients import WeightCoefficients
from pymc_exact_hmc.weights.block import LAM, LAMBDA, R

RNG = np.random.default_rng(5)
X = RNG.normal(size=(12, 3))
Y = X @ [1.0, 0.0, 0.5] + RNG.normal(size=12)


def gated(likelihood=None, slab=None, constraint=None):
    with pm.Model() as model:
        sigma, tau = pm.HalfNormal("sigma", 1.0), pm.HalfNormal("tau", 1.0)
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = slab(tau) if slab else pm.Normal("w", 0.3, tau, shape=3)
        mean = X @ (gamma * w)
        if constraint is not None:
            pm.Potential("fence", pm.math.switch(constraint(gamma, w), 0.0, -np.inf))
        if likelihood is None:
            pm.Normal("y", mean, sigma, observed=Y)
        else:
            likelihood(mean, sigma)
    return model


def switched():
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = pm.Normal("w", 0.1, pm.math.switch(gamma, 2.0, 0.1), shape=3)
        pm.Normal("y", X @ w, 1.0, observed=Y)
    return model


def general():
    """Indicators in the mean, beside the weights and as factors of several."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = pm.Normal("w", 0.1, 1.0, shape=3)
        pm.Normal("y", X @ (gamma * w) + gamma[0] * gamma[1] * w[2], 1.0, observed=Y)
    return model


def ordered():
    """No indicators: a Gaussian within a region."""
    with pm.Model() as model:
        w = pm.HalfNormal("w", 1.0, shape=3)
        pm.Potential("sum", pm.math.switch(w.sum() < 2.0, 0.0, -np.inf))
        pm.Normal("y", X @ w, 1.0, observed=Y)
    return model


def after(change, *, method):
    """Make a method of a class change its own object after it has done its work."""

    def spoil(monkeypatch, owner):
        true = getattr(owner, method)

        def wrong(self, *args, **options):
            result = true(self, *args, **options)
            changed = change(self, result)
            return result if changed is None else changed

        monkeypatch.setattr(owner, method, wrong)

    return spoil


def rescale(row, entry=1, factor=1.01):
    def change(self, _):
        self.block.coefficients[row, entry] *= factor

    return change


def swap_slopes(self, _):
    self.block.coefficients[R, :2] = self.block.coefficients[R, 1::-1].copy()


def wrong_coupling(self, _):
    self.block.gram.M[0, 2] += 0.3
    self.block.gram.M[2, 0] += 0.3


def scale_forgotten(self, _):
    self.scale = 1.0


def never_anew(self, _):
    return True


def longer_rows(self, rows):
    return rows._replace(X=1.001 * rows.X)


def moved_offset(self, rows):
    return rows._replace(offset=rows.offset + 0.01, target=rows.target - 0.01)


def wrong_family(self, _):
    self.family[0][3] = 1.0 - self.family[0][3]


def wrong_second_family(self, _):
    if self.likelihood == 1:
        wrong_family(self, _)


def moved_wall(self, rows):
    F, g, Q = rows
    return F, np.append(g[:-1], g[-1] + 0.4), Q


def turned_wall(self, rows):
    F, g, Q = rows
    return np.concatenate([F[:-1], 1.2 * F[-1:, ::-1] * [1.0, 0.5, 2.0]]), g, Q


def wider_spike(self, _):
    self.energy.slabs[0] *= 0.9


def mean_forgotten(self, _):
    self.energy.slabs[3] = 0.0


def wrong_b(self, found):
    return [found[0], 1.01 * found[1], found[2]]


BINARY = (Y > 0).astype(int)
CASES = {
    "slope of one weight": (gated, WeightCoefficients, after(rescale(R), method="_write")),
    "precision of one slab": (gated, WeightCoefficients, after(rescale(LAMBDA), method="_write")),
    "mean of one slab": (gated, WeightCoefficients, after(rescale(LAM), method="_write")),
    "order of the weights": (gated, WeightCoefficients, after(swap_slopes, method="_write")),
    "one entry of X'X": (gated, WeightCoefficients, after(wrong_coupling, method="_write")),
    "noise scale forgotten": (gated, WeightCoefficients, after(scale_forgotten, method="_write")),
    "coefficients kept": (gated, WeightCoefficients, after(never_anew, method="_is_at")),
    "rows of a Gaussian": (gated, LikelihoodRows, after(longer_rows, method="read")),
    "rows of a probability": (
        lambda: gated(lambda eta, _: pm.Bernoulli("y", logit_p=eta, observed=BINARY)),
        LikelihoodRows,
        after(longer_rows, method="read"),
    ),
    "offset of a probability": (
        lambda: gated(lambda eta, _: pm.Bernoulli("y", logit_p=0.4 + eta, observed=BINARY)),
        LikelihoodRows,
        after(moved_offset, method="read"),
    ),
    "one response": (
        lambda: gated(lambda eta, _: pm.Bernoulli("y", logit_p=eta, observed=BINARY)),
        LatentRows,
        after(wrong_family, method="update"),
    ),
    "one response of the second likelihood": (
        lambda: gated(
            lambda eta, _: [pm.Bernoulli(y, logit_p=eta, observed=BINARY) for y in ("y", "z")]
        ),
        LatentRows,
        after(wrong_second_family, method="update"),
    ),
    "slab of a probability": (
        lambda: gated(lambda eta, _: pm.Bernoulli("y", logit_p=eta, observed=BINARY)),
        WeightCoefficients,
        after(rescale(LAMBDA), method="_write"),
    ),
    "noise of a Student": (
        lambda: gated(lambda mean, sigma: pm.StudentT("y", nu=4, mu=mean, sigma=sigma, observed=Y)),
        LikelihoodRows,
        after(lambda self, rows: rows._replace(precision=1.1 * rows.precision), method="read"),
    ),
    "place of a gated wall": (
        lambda: gated(constraint=lambda g, w: (g * w).sum() < 1.0),
        Walls,
        after(moved_wall, method="_rows"),
    ),
    "slope of a gated wall": (
        lambda: gated(constraint=lambda g, w: (g * w).sum() < 1.0),
        Walls,
        after(turned_wall, method="_rows"),
    ),
    "place of a wall": (ordered, Walls, after(moved_wall, method="_rows")),
    "slope of a wall": (ordered, Walls, after(turned_wall, method="_rows")),
    "spike": (switched, SwitchedCoefficients, after(wider_spike, method="_write")),
    "mean of a switched slab": (
        switched,
        SwitchedCoefficients,
        after(mean_forgotten, method="_write"),
    ),
    "general Gaussian": (general, GeneralGaussian, after(wrong_b, method="_coefficients")),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_wrongly_is_refused(name, monkeypatch):
    """The step refuses with the sentence about the model's own log-density."""
    make, owner, spoil = CASES[name]
    model = make()
    spoil(monkeypatch, owner)
    with model, pytest.raises(ValueError, match="does not reproduce the model's own log-density"):
        ExactBinaryHMC()


@pytest.mark.parametrize("output", ["noise", "slab", "prior"])
def test_hyperparameters_that_are_read_wrongly_are_refused(output, monkeypatch):
    """A noise scale, a slab or a prior that the tape gets wrong by a factor."""
    true = hyperparameters.Tape

    def wrong(outputs, point, groups=None):
        place = {"prior": 0, "noise": 1, "slab": 2}[output]
        outputs = [1.05 * x if k == place else x for k, x in enumerate(outputs)]
        return true(outputs, point, groups=groups)

    monkeypatch.setattr(hyperparameters, "Tape", wrong)
    with gated(), pytest.raises(ValueError, match="does not reproduce"):
        ExactBinaryHMC()


@pytest.mark.parametrize("make", [gated, switched, general, ordered], ids=lambda f: f.__name__)
def test_what_is_read_rightly_is_taken(make):
    """Nothing is refused where nothing is wrong, and w is among what is moved."""
    with make() as model:
        step = ExactBinaryHMC()
    assert model.rvs_to_values[model["w"]] in step.vars
