"""Wrong kernels, each rejected by a named test: the tests can see these bugs."""

import math

import numpy as np
import pytest
from scipy import stats
from support.cases import Case, couplings, quadratic
from support.laws import (
    check_crossing_rate,
    check_energy,
    check_hit_rate,
    check_invariance,
    check_kinetic_law,
    check_no_cycle,
)
from support.plain import Rules, cycle, flip_drop, period, plain_kernel, table_of

D = 4
RNG = np.random.default_rng(3)
H, J = RNG.normal(size=D), couplings(RNG, D, scale=1.5)
GLASS = Case(None, table_of(quadratic(H, J), D), D)
RNG = np.random.default_rng(5)
H3, J3 = 0.5 * RNG.normal(size=3), couplings(RNG, 3, scale=3.0)
TRIPLE = Case(None, table_of(quadratic(H3 - 0.5 * J3.sum(1), J3), 3), 3)
FAIR = Case(None, lambda s: 0.0, D)
SQRT_2PI = math.sqrt(2 * math.pi)
N = 12_000


def invariance(case, kernel, *_):
    check_invariance(case, kernel, n=N)


def crossing_rate(case, kernel, *_):
    check_crossing_rate(case, kernel, n=N)


def energy(case, kernel, *_):
    check_energy(case, kernel)


def kinetic_law(case, kernel, augmentation, _):
    laws = {"gaussian": stats.expon, "exponential": stats.gamma(1.5), "box": stats.gamma(0.5)}
    check_kinetic_law(case, kernel, laws[augmentation].cdf, n=N)


def hit_rate(case, kernel, augmentation, time):
    check_hit_rate(case, kernel, time, math.pi if augmentation == "gaussian" else SQRT_2PI, n=N)


def no_cycle(case, kernel, *_):
    check_no_cycle(case, kernel)


def steep(log_f, s, j):
    return 1.05 * flip_drop(log_f, s, j)


def against_the_sign(log_f, s, j):
    return -flip_drop(log_f, s, j)


def plus_one_only(log_f, s, j):
    """The paper's Δ_j, defined for −1 → +1, used in both directions."""
    return (1 - 2 * int(s[j])) * flip_drop(log_f, s, j)


def double_diagonal(log_f, s, j):
    """½J_jj counted although the diagonal is part of h already."""
    return flip_drop(log_f, s, j) + 0.25


def stale(log_f, s, j):
    """Local fields of the state with all indicators at 0: commit is missing."""
    empty = np.zeros_like(s)
    return (1 - 2 * int(s[j])) * flip_drop(log_f, empty, j)


def last_of_the_cycle(order, n):
    full, rest = divmod(n, len(order))
    return [*cycle(order, full * len(order)), *order[len(order) - rest :]]


def sorted_walls(order, n):
    return cycle(np.sort(order), n)


def fixed_period(augmentation, e):
    return SQRT_2PI


def half_period(augmentation, e):
    return 0.5 * period(augmentation, e)


WRONG = {
    "energy drop 5 % too large": (Rules(drop=steep), "gaussian", 2.5 * math.pi, energy),
    "sign of the drop": (Rules(drop=against_the_sign), "gaussian", 2.0, invariance),
    "drop of −1 → +1 only": (Rules(drop=plus_one_only), "gaussian", 2.0, invariance),
    "diagonal counted twice": (Rules(drop=double_diagonal), "gaussian", 2.0, invariance),
    "stale cache": (Rules(drop=stale), "gaussian", 2.5 * math.pi, invariance),
    "hits out of time order": (Rules(sequence=sorted_walls), "gaussian", 0.6 * math.pi, invariance),
    "energy not persistent": (
        Rules(left_over=lambda e, drop: e),
        "gaussian",
        2.5 * math.pi,
        invariance,
    ),
    "energy not persistent, law": (
        Rules(left_over=lambda e, drop: e),
        "exponential",
        6.0,
        invariance,
    ),
    "energy spent, never gained": (
        Rules(left_over=lambda e, drop: e + min(drop, 0)),
        "gaussian",
        2.5 * math.pi,
        kinetic_law,
    ),
    "crossing with energy missing": (
        Rules(crosses=lambda e, drop: e + drop > -0.1, left_over=lambda e, d: max(e + d, 1e-9)),
        "gaussian",
        2.0,
        crossing_rate,
    ),
    "period of the exponential fixed": (
        Rules(period=fixed_period),
        "exponential",
        6.0,
        invariance,
    ),
    "half the period of the exponential": (
        Rules(period=half_period),
        "exponential",
        4.0,
        hit_rate,
    ),
    "half the period of the box": (Rules(period=half_period), "box", 4.0, hit_rate),
    "energy of the box for the exponential": (
        Rules(draw_kinetic=lambda _, rng: rng.standard_exponential()),
        "exponential",
        4.0,
        invariance,
    ),
}


def reject(name):
    rules, augmentation, time, check = WRONG[name]
    with pytest.raises(AssertionError):
        check(GLASS, plain_kernel(GLASS, augmentation, time, rules), augmentation, time)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernel_is_rejected(name):
    """The named test rejects the wrong kernel, on a glass of four strongly coupled spins."""
    reject(name)


def test_exactly_one_half_turn_is_rejected():
    """With T = π fair independent spins all flip for ever."""
    with pytest.raises(AssertionError):
        check_no_cycle(FAIR, plain_kernel(FAIR, "gaussian", math.pi))


@pytest.mark.slow
def test_last_walls_of_the_partial_turn_are_rejected():
    """The last K walls, not the first, in the partial turn: stationary, but not reversible."""
    rules, time = Rules(sequence=last_of_the_cycle), 1.66 * math.pi
    with pytest.raises(AssertionError):
        check_invariance(TRIPLE, plain_kernel(TRIPLE, "gaussian", time, rules), n=30_000)
    check_invariance(TRIPLE, plain_kernel(TRIPLE, "gaussian", time), n=30_000)


@pytest.mark.slow
@pytest.mark.parametrize("augmentation", ["gaussian", "exponential", "box"])
@pytest.mark.parametrize("time", [0.6 * math.pi, 1.5 * math.pi])
def test_right_kernel_is_accepted(augmentation, time):
    """Every test above accepts the kernel with no rule replaced."""
    kernel = plain_kernel(GLASS, augmentation, time)
    for check in (invariance, energy, hit_rate, no_cycle):
        check(GLASS, kernel, augmentation, time)
    if augmentation == "gaussian":
        crossing_rate(GLASS, kernel)
    if time > math.pi:
        kinetic_law(GLASS, kernel, augmentation, time)
