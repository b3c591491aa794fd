"""Stationarity and detailed balance from exact starts: every energy × augmentation × time."""

import math

import pytest
from support.cases import make, with_augmentations
from support.kernels import package_kernel
from support.laws import check_energy, check_invariance

TIMES = {"default": None, "short": 1.3, "over a half turn": 4.0, "long": 2.5 * math.pi}
FAST = ("dense couplings", "tables")
"""Energies differ in their oracles, which have tests of their own, and not in trajectories."""
AUGMENTATIONS = ["gaussian", "exponential", "box"]


@pytest.mark.parametrize(("name", "augmentation"), with_augmentations("{law}-{name}", FAST))
def test_exact_starts_stay_exact(name, augmentation):
    """p(s) is invariant, and detailed balance holds, whatever the travel time.

    Energies differ in drops and caches only, which the longest time asks most of.
    """
    case = make(name)
    for time in TIMES.values() if name == "dense couplings" else [TIMES["long"]]:
        check_invariance(case, package_kernel(case, augmentation, time))


@pytest.mark.parametrize(("name", "augmentation"), with_augmentations("{law}-{name}", FAST))
def test_energy_is_conserved(name, augmentation):
    """What log f gains in a trajectory is what its crossings took from the kinetic energies."""
    case = make(name)
    check_energy(case, package_kernel(case, augmentation, 5.5 * math.pi))


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
def test_one_indicator(augmentation):
    """The kernel is exact for a single indicator."""
    case = make("fields", d=1)
    check_invariance(case, package_kernel(case, augmentation))


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
def test_six_indicators(augmentation):
    """The kernel is exact for six coupled indicators."""
    case = make("dense couplings", d=6)
    check_invariance(case, package_kernel(case, augmentation))
