"""While sampling, what a move believes is compared with all that the model says.

A step is made rightly; then something goes wrong that no check before the first draw could see.
"""

import cloudpickle
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.exceptions import SamplingError
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.model import recognise
from pymc_exact_hmc.model.audit import MOST_SETTINGS, Audit
from pymc_exact_hmc.weights.block import LAMBDA

RNG = np.random.default_rng(8)
X = RNG.normal(size=(12, 3))
Y = X @ [1.0, 0.0, 0.5] + RNG.normal(size=12)
DIFFERS = "does not reproduce the model's own log-density at the present values"


def gated(outcome="normal", slab=pm.Normal):
    """Scales of slab and noise that NUTS would move, as vars says."""
    with pm.Model() as model:
        tau, sigma = pm.LogNormal("tau", 0.0, 0.3), pm.LogNormal("sigma", 0.0, 0.3)
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = slab("w", sigma=tau, shape=3)
        eta = X @ (gamma * w)
        if outcome == "normal":
            pm.Normal("y", eta, sigma, observed=Y)
        elif outcome == "student":
            pm.StudentT("y", nu=4, mu=eta, sigma=sigma, observed=Y)
        else:
            pm.Bernoulli("y", logit_p=eta / sigma, observed=(Y > 0).astype(int))
    return model


def fenced():
    with pm.Model() as model:
        bound = pm.LogNormal("bound", 0.5, 0.3)
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = pm.Normal("w", 0.0, 1.0, shape=3)
        pm.Potential("fence", pm.math.switch((gamma * w).sum() < bound, 0.0, -np.inf))
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
    return model


def switched():
    with pm.Model() as model:
        tau = pm.LogNormal("tau", 0.0, 0.3)
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = pm.Normal("w", 0.1, pm.math.switch(gamma, 2.0 * tau, 0.1 * tau), shape=3)
        pm.Normal("y", X @ w, 1.0, observed=Y)
    return model


def general():
    with pm.Model() as model:
        tau = pm.LogNormal("tau", 0.0, 0.3)
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = pm.Normal("w", 0.1, tau, shape=3)
        pm.Normal("y", X @ (gamma * w) + gamma[0] * gamma[1] * w[2], 1.0, observed=Y)
    return model


def ordered():
    with pm.Model() as model:
        sigma = pm.LogNormal("sigma", 0.0, 0.3)
        w = pm.HalfNormal("w", 1.0, shape=3)
        pm.Potential("sum", pm.math.switch(w.sum() < 2.0, 0.0, -np.inf))
        pm.Normal("y", X @ w, sigma, observed=Y)
    return model


def spins(*, random=True):
    with pm.Model() as model:
        beta = pm.LogNormal("beta", 0.0, 0.3) if random else 0.7
        s = pm.Bernoulli("s", 0.4, shape=5)
        pm.Potential("pairs", beta * (s[1:] * s[:-1]).sum())
    return model


MODELS = {
    "Gaussian": gated,
    "bounds": lambda: gated(slab=pm.HalfNormal),
    "Student": lambda: gated("student"),
    "logit": lambda: gated("logit"),
    "fence": fenced,
    "switched": switched,
    "general": general,
    "ordered": ordered,
    "spins": spins,
    "no others": lambda: spins(random=False),
}
TAKEN = {"gamma", "w", "s"}


def make_step(model, **options):
    """Return a step that leaves all scales to others."""
    mine = [rv for rv in model.free_RVs if rv.name in TAKEN]
    step = ExactBinaryHMC(mine, model=model, **options)
    step.set_rng(np.random.default_rng(3))
    return step


def walk(step, model, draws=20, seed=2):
    """Draw, while the other variables move as another step would move them."""
    rng = np.random.default_rng(seed)
    point = model.initial_point()
    taken = {v.name for v in step.vars}
    for _ in range(draws):
        point, _ = step.step(point)
        for name in point.keys() - taken:
            point[name] = np.asarray(point[name] + 0.2 * rng.standard_normal())
    return point


@pytest.mark.parametrize("name", slow_but(["Gaussian", "bounds", "fence", "logit"], MODELS))
def test_nothing_is_said_where_all_is_right(name):
    """Every kind of move, and every kind of likelihood."""
    model = MODELS[name]()
    walk(make_step(model), model, draws=40)


def owner_of_coefficients(step):
    move = step._move
    if hasattr(move, "switched"):
        return move.switched
    return getattr(move, "gaussian", None) or move.coefficients


@pytest.mark.parametrize("name", ["Gaussian", "bounds", "switched", "ordered", "spins"])
def test_coefficients_that_no_longer_follow_are_noticed(name, monkeypatch):
    """What another step has changed and the move has not seen, at the second draw already."""
    model = MODELS[name]()
    step = make_step(model)
    walk(step, model, draws=1)
    kept = (False, False) if name == "ordered" else False
    monkeypatch.setattr(owner_of_coefficients(step), "update", lambda point: kept)
    with pytest.raises(SamplingError, match=DIFFERS):
        walk(step, model, draws=4)


@pytest.mark.parametrize("name", ["logit", "Student", "fence"])
def test_a_slab_that_is_wrong_is_noticed(name):
    """By one part in a thousand, once the step is made."""
    model = MODELS[name]()
    step = make_step(model)
    block, write = step._move.gaussian.block, step._move.gaussian.update

    def wrong(point):
        changed = write(point)
        if changed:
            block.coefficients[LAMBDA, 1] *= 1.001
        return changed

    step._move.gaussian.update = wrong
    block.coefficients[LAMBDA, 1] *= 1.001
    with pytest.raises(SamplingError, match=DIFFERS):
        walk(step, model, draws=40)


def test_a_wall_elsewhere_is_noticed():
    """A region that the move believes to be larger than it is."""
    model = fenced()
    step = make_step(model)
    step._move.walls.region.g[-1] += 3.0
    step._move.walls.update = lambda *args, **options: False
    with pytest.raises(SamplingError, match=DIFFERS):
        walk(step, model, draws=40)


def test_a_state_that_only_the_move_forbids_is_noticed(monkeypatch):
    """Forbidden is not undefined: such a state is never visited."""
    model = spins()
    step, point = make_step(model), model.initial_point()
    true = step._move.density_terms
    assert not point["s"].any()
    monkeypatch.setattr(
        step._move, "density_terms", lambda point, s: [-np.inf] if s.any() else true(point, s)
    )
    with pytest.raises(SamplingError, match=DIFFERS):
        step._audit(0, point, point, step._move)


def test_a_latent_family_that_is_wrong_is_noticed():
    """One response of twelve."""
    model = gated("student")
    step = make_step(model)
    step._move.gaussian.latents[0].family.y[3] += 0.1
    with pytest.raises(SamplingError, match=DIFFERS):
        walk(step, model, draws=4)


def test_wrong_coefficients_of_the_general_kernel_are_noticed(monkeypatch):
    """A slope, by one part in a thousand."""
    model = general()
    step = make_step(model)
    true = step._move.gaussian._coefficients

    def wrong(s, point):
        c, b, A = true(s, point)
        return c, 1.001 * b, A

    monkeypatch.setattr(step._move.gaussian, "_coefficients", wrong)
    with pytest.raises(SamplingError, match=DIFFERS):
        walk(step, model, draws=40)


def test_a_factor_that_was_overlooked_is_noticed(monkeypatch):
    """The whole log-density is compared, not what is known to belong to it."""
    model = spins()
    with model:
        pm.Potential("forgotten", 0.3 * model["s"][2])
    true = recognise.factors_of
    monkeypatch.setattr(
        recognise, "factors_of", lambda *a: [f for f in true(*a) if f.name != "forgotten"]
    )
    step = make_step(model)
    with pytest.raises(SamplingError, match="forgotten"):
        walk(step, model, draws=4)


@pytest.mark.parametrize("slab", [pm.Normal, pm.HalfNormal])
def test_scales_that_are_read_wrongly_are_noticed(slab):
    """Scales that the step moves itself: their prior, noise and slab, as the tape has them."""
    for place in range(3):
        model = gated(slab=slab)
        step = ExactBinaryHMC(model=model)
        step.set_rng(np.random.default_rng(1))
        tape = step._move.hyper.block.tape
        true = type(tape).__call__

        def wrong(point, place=place, tape=tape, true=true):
            found = list(true(tape, point))
            found[place] = 1.01 * found[place]
            return found

        step._move.hyper.block = _Spoilt(step._move.hyper.block, wrong)
        with pytest.raises(SamplingError, match=DIFFERS):
            walk(step, model, draws=20)


class _Spoilt:
    """A block of hyperparameters whose tape is evaluated wrongly."""

    def __init__(self, block, evaluate):
        self._block, self.tape = block, _SpoiltTape(block.tape, evaluate)

    def __getattr__(self, name):
        return getattr(self._block, name)


class _SpoiltTape:
    def __init__(self, tape, evaluate):
        self._tape, self._evaluate = tape, evaluate

    def __call__(self, point):
        return self._evaluate(point)

    def __getattr__(self, name):
        return getattr(self._tape, name)


def test_a_discrete_setting_is_audited_when_it_is_first_seen():
    """Powers of two would miss a rare one; only so many settings are kept."""
    with pm.Model() as model:
        k = pm.Poisson("k", 2.0)
        s = pm.Bernoulli("s", 0.4, shape=3)
        pm.Potential("field", pt.switch(pt.eq(k, 5), 1.0, 0.2) * s.sum())
    audit = make_step(model)._audit

    def due(calls, k):
        return audit.is_due(calls, model.initial_point() | {"k": np.array(k)})

    assert [due(n, 1) for n in (0, 1, 2, 3, 4)] == [True, True, False, True, False]
    assert due(5, 5)
    assert not due(6, 5)
    assert not due(8, 1)
    assert sum(due(10, 10 + j) for j in range(100)) == MOST_SETTINGS - 2
    audit.start()
    assert due(8, 1)


def test_an_audit_is_made_where_others_change_and_once_where_not():
    """A model without other variables cannot come to differ."""
    model = spins()
    calls = range(70)
    varying = make_step(model)._audit
    point = model.initial_point()
    assert [n for n in calls if varying.is_due(n, point)] == [0, 1, 3, 7, 15, 31, 63]
    with pm.Model() as alone:
        pm.Bernoulli("s", 0.4, shape=3)
    fixed = make_step(alone)._audit
    assert [n for n in calls if fixed.is_due(n, alone.initial_point())] == [0]


@pytest.mark.parametrize("name", slow_but(["Gaussian", "fence", "spins", "no others"], MODELS))
def test_draws_do_not_depend_on_the_audit(name, monkeypatch):
    """It draws nothing from the chain, and leaves the caches at the present state."""
    model = MODELS[name]()
    audited = walk(make_step(model), model, draws=12)
    monkeypatch.setattr(Audit, "is_due", lambda self, calls, point: True)
    always = walk(make_step(model), model, draws=12)
    monkeypatch.setattr(Audit, "is_due", lambda self, calls, point: False)
    never = walk(make_step(model), model, draws=12)
    for value in audited:
        assert np.array_equal(audited[value], never[value])
        assert np.array_equal(always[value], never[value])


@pytest.mark.parametrize(("literal", "stops"), [(1.0, True), (np.nan, False)])
def test_what_rewrites_make_undefined_is_asked_of_the_graph_itself(literal, stops, monkeypatch):
    """PyTensor makes √x² not a number where x < 0: that must not count as agreement."""
    model = spins()
    step = make_step(model)
    walk(step, model, draws=1)
    true = Audit._terms
    calls = []

    def rewritten(audit, point):
        calls.append(point)
        return true(audit, point) + (np.nan if len(calls) > 1 else 0.0)

    monkeypatch.setattr(Audit, "_terms", rewritten)
    other = iter(100.0 * np.arange(100.0))
    monkeypatch.setattr(
        Audit, "_literal_terms", lambda audit, point: literal * next(other) + true(audit, point)
    )
    if stops:
        with pytest.raises(SamplingError, match=DIFFERS):
            walk(step, model, draws=2)
    else:
        walk(step, model, draws=2)
    assert len(calls) > 1


def test_an_audit_goes_to_other_processes():
    """Pickled before and after its function was compiled."""
    model = spins()
    step = make_step(model)
    walk(cloudpickle.loads(cloudpickle.dumps(step)), model, draws=4)
    walk(step, model, draws=2)
    copy = cloudpickle.loads(cloudpickle.dumps(step))
    walk(copy, model, draws=4)
    copy._move.coefficients.update = lambda point: False
    with pytest.raises(SamplingError, match=DIFFERS):
        walk(copy, model, draws=4)


def test_states_that_the_model_cannot_tell_are_left_out():
    """Far out, PyMC's own probabilities are 1 to rounding, and nothing is said."""
    with pm.Model() as model:
        scale = pm.LogNormal("scale", 3.0, 0.1)
        gamma = pm.Bernoulli("gamma", 0.9, shape=3)
        w = pm.Normal("w", 0.0, 5.0, shape=3)
        eta = scale * (X @ (gamma * w))
        pm.Bernoulli("y", pm.math.invprobit(eta), observed=(X[:, 0] > 0).astype(int))
    walk(make_step(model), model, draws=20)


def test_an_impossible_state_must_be_impossible_in_both():
    """A state that the model forbids and the move does not."""
    with pm.Model() as model:
        theta = pm.Normal("theta")
        s = pm.Bernoulli("s", 0.5, shape=3)
        pm.Potential("wall", pt.switch(s[0] * s[1] > 0, -np.inf, theta * s[2]))
    step = make_step(model)
    own = type(step._move).density_terms

    def without_the_wall(point, s):
        allowed = s.copy()
        allowed[0] = 0
        return own(step._move, point, allowed)

    step._move.density_terms = without_the_wall
    with pytest.raises(SamplingError, match="wall"):
        walk(step, model, draws=40)


def test_data_far_from_zero_are_no_reason_to_stop():
    """Sums of squares of which twelve digits cancel are not precise, and need not be."""
    with pm.Model() as model:
        sigma = pm.LogNormal("sigma", 0.0, 0.3)
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w, a = pm.Normal("w", sigma=2.0, shape=3), pm.Normal("a", 1e6, 10.0)
        pm.Normal("y", a + X @ (gamma * w), sigma, observed=1e6 + Y)
    for taken in (["gamma", "w", "a"], ["gamma", "w", "a", "sigma"]):
        step = ExactBinaryHMC([model[x] for x in taken], model=model)
        step.set_rng(np.random.default_rng(3))
        walk(step, model, draws=40)


def test_rewrites_that_are_wrong_are_no_fault_of_the_recogniser():
    """PyTensor forgets this switch where it rewrites; as it stands the graph has it."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = pm.Normal("w", shape=3)
        mean = X @ (gamma * w) + pt.switch(w[0] > 1.0, 1.0, 0.0)
        pm.Normal("y", mean, 0.8, observed=Y)
    step = ExactBinaryHMC([gamma], model=model)
    step.set_rng(np.random.default_rng(3))
    point, _ = step.step(model.initial_point())
    for _ in range(7):
        point, _ = step.step(point | {"w": np.array([2.0, 0.5, -1.0])})


def test_untransformed_weights_stay_within_their_bounds():
    """What is compared beside a draw is within the support: a weight near 0 does not step over."""
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = pm.HalfNormal("w", 1.0, shape=3, default_transform=None)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=Y)
    step = ExactBinaryHMC(model=model)
    point = model.initial_point() | {"w": np.full(3, 1e-3)}
    for seed in range(5):
        for state in step._audit._near(point, np.random.default_rng(seed)):
            assert (state["w"] > 0).all()
            assert (state["w"] != point["w"]).all()


def test_scales_are_compared_in_their_own_type(monkeypatch):
    """A function of numbers in single precision takes no others."""
    with pm.Model() as model:
        gamma, tau = pm.Bernoulli("gamma", 0.4, shape=3), pm.HalfNormal("tau")
        pm.Normal("y", X @ (gamma * pm.Normal("w", 0, tau, shape=3)), 1.0, observed=Y)
    step, seen = ExactBinaryHMC(model=model), []
    monkeypatch.setattr(
        step._audit, "_compare", lambda calls, now, states, move, **_: seen.extend(states)
    )
    point = {n: v.astype("float32") if v.dtype.kind == "f" else v
             for n, v in model.initial_point().items()}  # fmt: skip
    step._audit(1, point, point, step._move)
    assert len(seen) == 4
    for state in seen:
        assert {n: v.dtype for n, v in state.items()} == {n: v.dtype for n, v in point.items()}


def test_probabilities_that_round_to_one_are_no_fault():
    """Of log(1 − p) PyMC has three digits left there; other differences are noticed as ever."""
    with pm.Model() as model:
        p = pm.Beta("p", 1, 1)
        gamma = pm.Bernoulli("gamma", p, shape=3)
        pm.Normal("y", X @ (gamma * pm.Normal("w", 0, 1, shape=3)), 1.0, observed=Y)
    step = ExactBinaryHMC([model["gamma"], model["w"]], model=model, rng=1)
    point = model.initial_point() | {"gamma": np.ones(3, int)}
    for log_odds in (0.0, 20.0, 29.50024042, 36.0, 45.0, -800.0):
        there = point | {"p_logodds__": np.array(log_odds)}
        step.calls = 1  # a start that was chosen
        step.step(there)
    step._move.prior.update(there | {"p_logodds__": np.array(19.0)})
    step._move.prior.update = lambda point: False
    with pytest.raises(SamplingError, match=DIFFERS):
        step._audit(1, point, point | {"p_logodds__": np.array(20.0)}, step._move)
