"""The colours of pictures can be told apart by everybody, on white and on black."""

import itertools

import numpy as np
import pytest

from pymc_exact_hmc.plots.style import BLUE, GREEN, GREY, ORANGE

# Machado, Oliveira and Fernandes (2009), severity 1.
VISION = {
    "trichromat": np.eye(3),
    "deuteranope": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanope": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x = TO_XYZ @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
def test_colours_differ(vision):
    """CIE 1976 differences of 20 and more: ten times what is just noticeable."""
    seen = [lab(np.array(VISION[vision]) @ linear(c)) for c in (BLUE, ORANGE, GREEN)]
    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(one - other) > 20
    grey = lab(np.array(VISION[vision]) @ linear(GREY))
    assert np.linalg.norm(seen[0] - grey) > 20


@pytest.mark.parametrize("background", [0.0, 1.0])
def test_colours_stand_out(background):
    """The contrast that WCAG asks of graphics, 3:1, on black and on white."""
    for colour in (BLUE, ORANGE, GREEN, GREY):
        luminance = float(linear(colour) @ TO_XYZ[1])
        light, dark = max(luminance, background), min(luminance, background)
        assert (light + 0.05) / (dark + 0.05) > 3
