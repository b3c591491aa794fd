"""Tapes compute what the model's own graphs compute."""

import itertools
from contextvars import copy_context

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pytensor import function
from pytensor.raise_op import Assert
from pytensor.scalar import basic as scalar
from pytensor.scalar import math as scalar_math
from pytensor.tensor.elemwise import Elemwise
from scipy import special

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.compilation import _ON_DEMAND, compiled_on_demand
from pymc_exact_hmc.model import tapes
from pymc_exact_hmc.model.tape_operations import CHAINS, OPERATIONS, UntranslatableError
from pymc_exact_hmc.model.tapes import Tape
from pymc_exact_hmc.tapes import operations
from pymc_exact_hmc.tapes.program import run

GROUP = np.array([0, 2, 1, 1, 0])
PRIORS = {
    "HalfNormal": {"sigma": 2},
    "HalfCauchy": {"beta": 2},
    "HalfStudentT": {"nu": 3, "sigma": 1.5},
    "InverseGamma": {"alpha": 2, "beta": 1},
    "Gamma": {"alpha": 2, "beta": 1.3},
    "Exponential": {"lam": 0.4},
    "Uniform": {"lower": -1, "upper": 5},
    "Beta": {"alpha": 1.2, "beta": 2},
    "LogNormal": {"mu": 0.3, "sigma": 1.1},
    "Weibull": {"alpha": 2, "beta": 1},
    "TruncatedNormal": {"mu": 0, "sigma": 1, "lower": 0.1},
    "Normal": {"mu": 1, "sigma": 2},
    "StudentT": {"nu": 4, "mu": 0, "sigma": 2},
    "Pareto": {"alpha": 2, "m": 1},
    "Kumaraswamy": {"a": 1.5, "b": 2},
}


def compiled(model, outputs):
    """Return PyMC's own function of a point."""
    return model.compile_fn(outputs, inputs=model.value_vars, on_unused_input="ignore")


def assert_same(model, outputs, rng):
    """The tape and PyMC's function agree at random points."""
    point = model.initial_point()
    tape, own = Tape(outputs, point), compiled(model, outputs)
    for scale in (0.0, 0.5, 3.0):
        moved = {
            k: np.asarray(v + scale * rng.standard_normal(v.shape)) if v.dtype.kind == "f" else v
            for k, v in point.items()
        }
        for a, b in zip(tape(moved), own(moved), strict=True):
            # PyMC keeps parameters given as Python numbers in single precision.
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", PRIORS)
def test_log_densities_with_their_jacobians(name):
    """The log-density of every usual prior, on PyMC's own transformed scale."""
    with pm.Model() as model:
        getattr(pm, name)("x", **PRIORS[name])
        getattr(pm, name)("y", **PRIORS[name], shape=(2, 3))
    outputs = [x.sum() for x in model.logp(sum=False, jacobian=True)]
    assert_same(model, outputs, np.random.default_rng(3))


def test_indices_shapes_and_reductions():
    """Moving entries about, broadcasting, and reductions over any axis."""
    with pm.Model() as model:
        x = pm.Normal("x", shape=3)
        y = pm.Normal("y", shape=(3, 2))
    x, y = model.replace_rvs_by_values([x, y])
    outputs = [
        x[GROUP] * 2.0,
        (x[:, None] * y).sum(axis=0),
        (x[:, None] + y).sum(axis=1),
        y.T.ravel()[::2] / (1 + pt.sqr(x)),
        pt.exp(y[:, 1]) + x,
        pt.concatenate([x, y[:, 0], [1.5]]),
        pt.switch(x > 0, pt.exp(x), -x),
        pt.stack([x.max(), y.min(), pt.prod(x)]),
        pt.broadcast_to(x[0], (4,)),
        pt.switch(pt.all(y > -0.1, axis=1), x, -1.0) + pt.switch(pt.any(y > 0.1, axis=1), x, 2.0),
    ]
    assert_same(model, outputs, np.random.default_rng(4))


@pytest.mark.parametrize("operation", [*OPERATIONS, *CHAINS], ids=lambda x: x.__name__)
def test_every_operation_is_its_own(operation):
    """Each has the instruction of the same meaning.

    At numbers of both signs, at equal ones, and where digits are easily lost.
    """
    known = [*vars(scalar).values(), *vars(scalar_math).values()]
    op = Elemwise(next(x for x in known if type(x) is operation))
    x, y = pt.dvector("x"), pt.dvector("y")
    inputs = [x > 0.5, y > 0.5] if operation in (scalar.AND, scalar.OR) else [x, y]
    if operation is scalar.Switch:
        inputs = [x > 0.5, x, y]
    result = op(*inputs[: op.scalar_op.nin if op.scalar_op.nin > 0 else 2]).astype("float64")
    first = np.array([0.3, 0.7, 0.7, 2.0, 0.2, 1e-17, 40.0])
    second = np.array([0.7, 0.3, 0.7, 2.0, 0.1, 0.4, 0.5])
    for sign in (1.0, -1.0):
        point = {"x": sign * first, "y": second}
        tape = Tape([result], point)
        wanted = function([x, y], result, mode="FAST_COMPILE", on_unused_input="ignore")
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(tape(point)[0], wanted(*point.values()), rtol=1e-12)


def test_after_a_change_only_what_it_reaches_runs():
    """Running the instructions of one input alone gives the same as running all of them."""
    with pm.Model() as model:
        sigma, tau = pm.HalfNormal("sigma", 1), pm.HalfCauchy("tau", 2, shape=3)
        pm.Normal("w", 0, tau[GROUP] * sigma, shape=5)
    total = model.logp(jacobian=True)
    point = model.initial_point()
    groups = {"sigma_log__": 0, "tau_log__": 1}
    tape = Tape([total], point, groups=groups)
    tape(point)
    rng = np.random.default_rng(5)
    for name in [*groups, *groups]:
        point[name] = np.asarray(point[name] + rng.standard_normal(point[name].shape))
        tape.load(point)
        run(tape.program, 1 << groups[name])
        partial = tape.program.memory[tape.outputs[0]]
        assert partial == tape(point)[0]
    lines = tape.program.mask
    assert 0 < np.count_nonzero(lines & 1) < lines.size


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_tape_is_compared_at_two_points(dtype, monkeypatch):
    """Variables in single precision are moved in single precision."""
    compared, interpret = [], tapes._interpret

    def count(outputs, point):
        compared.append(interpret(outputs, point))
        return compared[-1]

    monkeypatch.setattr(tapes, "_interpret", count)
    x = pt.vector("x", dtype=dtype)
    Tape([pt.exp(x)], {"x": np.array([0.5, 1.0], dtype)})
    assert len(compared) == 2
    assert not np.array_equal(*compared)


def test_inputs_without_entries():
    """There is nothing to read from them."""
    x, y = pt.vector("x"), pt.vector("y")
    tape = Tape([pt.exp(pt.concatenate([x, y]))], {"x": np.zeros(0), "y": np.ones(2)})
    np.testing.assert_allclose(tape({"x": np.zeros(0), "y": np.zeros(2)})[0], [1.0, 1.0])


def test_values_that_the_model_forbids_have_no_density():
    """Where PyMC would raise an error about a parameter, the tape says −∞."""
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Normal("y", 0, x)
    tape = Tape([model.logp()], model.initial_point() | {"x": np.array(1.0)})
    assert np.isfinite(tape({"x": np.array(1.0), "y": np.array(0.0)})[0])
    assert tape({"x": np.array(-1.0), "y": np.array(0.0)})[0] == -np.inf


def test_conditions_of_the_model_itself():
    """An assertion in a graph forbids where it fails, and says nothing where it holds."""
    x, y = pt.vector("x", shape=(2,)), pt.scalar("y")
    checked = pt.sum(Assert("positive")(pt.exp(x), pt.all(x > 0), y < 3))
    tape = Tape([checked], {"x": np.array([1.0, 2.0]), "y": np.array(0.0)})
    for values, number, allowed in (([1, 2], 0, 1), ([1, -2], 0, 0), ([1, 2], 3, 0)):
        found = tape({"x": np.array(values, float), "y": np.array(float(number))})[0]
        assert found == pytest.approx(np.exp(values).sum()) if allowed else found == -np.inf


def test_what_a_tape_does_not_know_is_named():
    """An operation that tapes lack is refused by name, never computed wrongly."""
    with pm.Model() as model:
        pm.VonMises("x", mu=0.0, kappa=1.0)
    with pytest.raises(UntranslatableError, match=r"ArcTan2|I0|Bessel"):
        Tape([model.logp()], model.initial_point())


def test_bits_of_whole_numbers_are_not_truth_values():
    """2 and 1 are both true and have no bit in common."""
    with pm.Model() as model:
        pm.Poisson("x", 2.0)
        pm.Poisson("y", 2.0)
    x, y = model.value_vars
    for both in (x & y, x | y):
        with pytest.raises(UntranslatableError, match="on whole numbers"):
            Tape([1.5 * both], model.initial_point())
    Tape([1.5 * ((x > 0) & (y > 0))], model.initial_point())


@pytest.mark.parametrize("groups", [{}, {"x": 0}])
def test_an_index_that_moves_is_not_followed(groups):
    """Whether or not it belongs to a group of inputs that change alone."""
    with pm.Model() as model:
        pm.Normal("x", shape=3)
        pm.DiscreteUniform("k", 0, 2)
    x, k = model.value_vars
    with pytest.raises(UntranslatableError, match="an index that depends on random variables"):
        Tape([pt.exp(x[k])], model.initial_point(), groups=groups)


def whole_numbers():
    with pm.Model() as model:
        pm.Normal("z")
        pm.Poisson("x", 2.0)
        pm.Poisson("y", 2.0)
    z, x, y = model.value_vars
    return model, z, x, y


def test_whole_numbers_as_far_as_they_are_like_real_ones():
    """Sums of truth values are truth values; long whole numbers do not overflow."""
    model, z, x, y = whole_numbers()
    outputs = [
        1.5 * ((x > 1) + (y > 1) + (z > 0)),
        1.5 * ((x > 1) * (y > 1)),
        z * (x * y - 3 * x + y**2),
        (x > 2).astype("int8") * z,
        pt.switch(x > 2, 100, 3) * z,
        pt.abs(x - 3) * pt.sign(y - 2) * z,
        pt.stack([x > 1, y > 2]).sum() * z,
        pt.cast(x, "bool") * z + pt.maximum(x, y).astype("float64"),
    ]
    tape = Tape(outputs, model.initial_point())
    graph = function([z, x, y], outputs)
    for point in itertools.product([-0.7, 0.9], range(4), range(4)):
        values = dict(zip("zxy", map(np.array, point), strict=True))
        for own, value in zip(tape(values), graph(*point), strict=True):
            assert np.allclose(own, value)


WHOLE = {
    "cut off": lambda z, x, y: (z * 3).astype("int64"),
    "cut off at eight bits": lambda z, x, y: (x * 100).astype("int8"),
    "a sum that overflows": lambda z, x, y: (x > 0) * 100 + (y > 0) * 100,
    "a product that overflows": lambda z, x, y: x.astype("int8") * y.astype("int8"),
    "a square that overflows": lambda z, x, y: pt.sqr(100 * (x > 0)),
    "below zero without a sign": lambda z, x, y: -(x.astype("uint8")),
    "an inverse": lambda z, x, y: ~x,
    "a quotient": lambda z, x, y: x // (y + 2),
    "a rest": lambda z, x, y: x % 2,
    "a power": lambda z, x, y: x**y,
    "a sum in eight bits": lambda z, x, y: pt.stack([x, y]).sum(dtype="int8"),
    "a product in eight bits": lambda z, x, y: pt.stack([x, y]).prod(dtype="int8"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_that_are_not_like_real_ones_are_refused(name):
    """They overflow, are cut off, or work bit by bit: a tape would compute something else."""
    model, z, x, y = whole_numbers()
    graph = z * WHOLE[name](z, x, y)
    with pytest.raises(
        UntranslatableError, match=r"whole numbers|conversion|the operation|at the start"
    ):
        Tape([graph], model.initial_point())


FUNCTIONS = {
    "EXP": np.exp, "EXPM1": np.expm1, "LOG": np.log, "LOG1P": np.log1p, "LOG2": np.log2,
    "LOG10": np.log10, "SQRT": np.sqrt, "SOFTPLUS": lambda x: np.logaddexp(0, x),
    "LOG1MEXP": lambda x: np.log(-np.expm1(x)), "SIGMOID": special.expit, "TANH": np.tanh,
    "SIN": np.sin, "COS": np.cos, "ATAN": np.arctan, "FLOOR": np.floor, "SIGN": np.sign,
    "ABS": np.abs, "SQUARE": np.square, "RECIPROCAL": np.reciprocal, "NEG": np.negative,
    "COPY": np.positive, "NOT": np.logical_not, "LOG_GAMMA": special.gammaln,
    "ERF": special.erf, "ERFC": special.erfc, "ERFCX": special.erfcx, "IS_NAN": np.isnan,
    "IS_INF": np.isinf,
}  # fmt: skip
PAIRS = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "POW": np.power,
    "EQ": np.equal, "NEQ": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
    "GE": np.greater_equal, "AND": np.logical_and, "OR": np.logical_or, "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
}  # fmt: skip
NUMBERS = [-40.0, -12.5, -3.7, -1.0, -0.4, 1e-9, 0.4, 1.0, 3.7, 12.5, 40.0]


@pytest.mark.parametrize("name", [*FUNCTIONS, *PAIRS])
def test_operations_are_those_of_numpy_and_scipy(name):
    """On both sides of zero, near it and far from it, wherever they are defined."""
    operation = getattr(operations, name)
    for x in NUMBERS:
        for y in NUMBERS if name in PAIRS else [0.0]:
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                wanted = PAIRS[name](x, y) if name in PAIRS else FUNCTIONS[name](x)
            if np.isfinite(wanted):
                found = operations.apply_operation(operation, x, y, 0.0)
                assert found == pytest.approx(float(wanted), rel=1e-12), (x, y)


def test_what_is_compiled_on_demand_is_not_kept():
    """A tape that was only looked at does not make later ones slow."""
    with pm.Model() as model:
        pm.HalfNormal("x")
    tapes._machine_code.clear()
    with compiled_on_demand():
        Tape([model.logp()], model.initial_point())
    assert not tapes._machine_code
    with_code = copy_context()
    with_code.run(_compiled_at_once, model)
    assert list(tapes._machine_code) == [run]


def _compiled_at_once(model):
    _ON_DEMAND.set(False)
    Tape([model.logp()], model.initial_point())


def test_what_is_impossible_beside_the_start_is_no_reason_to_leave_it():
    """A probability near 0 is one at the start; beside it there is an error, as PyMC has it."""
    with pm.Model() as model:
        p = pm.Normal("p", 0.05, 0.02, shape=20)
        s = pm.Bernoulli("s", p)
        step = ExactBinaryHMC()
    assert {v.name for v in step.vars} == {"p", "s"}
    point = model.initial_point()
    tape = Tape(model.logp(vars=[s], sum=False), point)
    np.testing.assert_allclose(tape(point)[0], np.full(20, np.log1p(-0.05)))
