"""Augmentations p(y | s), one file each."""

from pymc_exact_hmc.augmentations.box import Box
from pymc_exact_hmc.augmentations.exponential import Exponential
from pymc_exact_hmc.augmentations.gaussian import Gaussian
from pymc_exact_hmc.augmentations.verbs import draw_kinetic, period

Augmentation = Gaussian | Exponential | Box

AUGMENTATIONS: dict[str, Augmentation] = {
    "gaussian": Gaussian(),
    "exponential": Exponential(),
    "box": Box(),
}
"""The augmentations by the name a user gives."""

__all__ = [
    "AUGMENTATIONS",
    "Augmentation",
    "Box",
    "Exponential",
    "Gaussian",
    "draw_kinetic",
    "period",
]
