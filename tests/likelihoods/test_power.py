"""Wrong variants of the latents, each rejected by a named test."""

import numpy as np
import pytest
from scipy import special
from support.significance import assert_holds, batch_pvalues

from likelihoods import test_calibration, test_proxy, test_samplers
from likelihoods.families import D, exact, make_model, natural, run
from likelihoods.quadrature import posterior
from likelihoods.test_families import compare
from pymc_exact_hmc.likelihoods import Logistic, Probit, Student
from pymc_exact_hmc.likelihoods.working import add_up, predict

SEED = 17


def rejects(check):
    """The check fails."""
    with pytest.raises(AssertionError):
        check()


def in_turn(name, spoil):
    """``test_step_and_data_in_turn_leave_the_prior`` of a spoilt step."""
    draws = test_calibration.joint_draws(name, spoil=spoil, draws=3000)
    assert_holds(*batch_pvalues(*test_calibration.features(draws, False)), seed=SEED)


def replace_draw(draw):
    """Have the latents drawn by a wrong function of (rng, family, eta, precision)."""

    def spoil(step):
        (latent,) = step._move.gaussian.latents
        step._move.proxy = None
        rng = np.random.default_rng(SEED)

        def redraw(family, working, gate, s, w, on, stream, slopes, squares):
            predict(working.X, working.offset, gate, s, w, on, working.eta)
            target, factor = draw(rng, family, working.eta, working.precision)
            working.target[:], working.factor[:] = target, factor
            add_up(
                working.X, working.offset, working.label, working.relative, working.target,
                working.factor, slopes, squares,
            )  # fmt: skip

        latent._redraw = redraw

    return spoil


def truncated(rng, mean, positive):
    """N(mean, 1) on one side of zero, by inversion in logarithms."""
    sign = np.where(positive, 1, -1)
    log_tail = np.log(rng.random(mean.size)) + special.log_ndtr(sign * mean)
    return mean - sign * special.ndtri_exp(log_tail)


def right_probit(rng, family, eta, precision):
    return truncated(rng, eta, family.y > 0.5), 1.0


def wrong_side(rng, family, eta, precision):
    """Failures are drawn as successes are."""
    return truncated(rng, eta, np.ones(eta.size, bool)), 1.0


def stale(rng, family, eta, precision):
    """The latents belong to another state than that of the chain: one with all weights 0."""
    return truncated(rng, 0 * eta, family.y > 0.5), 1.0


def right_student(rng, family, eta, precision):
    rate = 0.5 * (family.nu + precision * (family.y - eta) ** 2)
    return family.y, rng.gamma(0.5 * (family.nu + 1)) / rate


def scale_not_squared(rng, family, eta, precision):
    """σ in the place of σ²."""
    rate = 0.5 * (family.nu + np.sqrt(precision) * (family.y - eta) ** 2)
    return family.y, rng.gamma(0.5 * (family.nu + 1)) / rate


@pytest.mark.slow
@pytest.mark.parametrize(("name", "draw"), [("probit", right_probit), ("Student-t", right_student)])
def test_right_latents_pass(name, draw):
    """Written in NumPy, the same latents leave the prior as well."""
    in_turn(name, replace_draw(draw))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "draw"),
    [("probit", wrong_side), ("probit", stale), ("Student-t", scale_not_squared)],
)
def test_wrong_latents_are_rejected(name, draw):
    """By drawing parameters and data in turn."""
    rejects(lambda: in_turn(name, replace_draw(draw)))


def test_wrong_sign_is_rejected_by_the_law_of_the_latents(monkeypatch):
    """``test_probit_latents``: the other side of zero."""
    right = test_samplers.latents
    monkeypatch.setattr(
        test_samplers, "latents", lambda family, eta: right(Probit(1 - family.y), eta)
    )
    rejects(lambda: test_samplers.test_probit_latents(0.5, 0))


def test_wrong_kappa_is_rejected_by_the_score(monkeypatch):
    """``test_logistic_latents_reproduce_the_likelihood``: κ = a in the place of a − b/2."""
    right = test_samplers.latents

    def wrong(family, eta):
        target, factor = right(family, eta)
        return target + 0.5 * family.b / factor, factor

    monkeypatch.setattr(test_samplers, "latents", wrong)
    rejects(lambda: test_samplers.test_logistic_latents_reproduce_the_likelihood((1.0, 1.0), 2.0))


def test_wrong_shape_is_rejected_by_the_score(monkeypatch):
    """The same: PG(b, η) of one more trial than there was."""
    right = test_samplers.latents

    def wrong(family, eta):
        _, factor = right(Logistic(family.a, family.b + 1), eta)
        return (family.a - 0.5 * family.b) / factor, factor

    monkeypatch.setattr(test_samplers, "latents", wrong)
    rejects(lambda: test_samplers.test_logistic_latents_reproduce_the_likelihood((3.0, 7.0), 2.0))


def test_wrong_rate_is_rejected_by_the_law_of_the_scales(monkeypatch):
    """``test_student_latents``: the scale where its square belongs."""
    right = test_samplers.latents
    monkeypatch.setattr(
        test_samplers,
        "latents",
        lambda family, eta, precision: right(Student(*family), eta, np.sqrt(precision)),
    )
    rejects(lambda: test_samplers.test_student_latents(2.0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [lambda total: 0.0 * total, lambda total: 0.5 * total])
def test_jumps_that_are_not_corrected_are_rejected(wrong, monkeypatch):
    """``test_any_proxy_is_exact``: jumps that are always taken, or half corrected."""
    from pymc_exact_hmc.moves.proxy import ProxyMove

    right = ProxyMove._total
    monkeypatch.setattr(ProxyMove, "_total", lambda self, s, w: wrong(right(self, s, w)))
    rejects(lambda: test_proxy.test_any_proxy_is_exact("probit"))


def test_right_jumps_pass():
    """The same chain as in ``test_families``, for comparison."""
    model = make_model("probit", "normal")
    s, points = run(model, 3000, seed=SEED)
    w = natural(model, points).reshape(-1, D)
    assert_holds(*compare(s, w, exact("probit", "normal", posterior)), seed=SEED)
