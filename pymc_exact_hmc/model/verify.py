"""Check the recognised structure against the model's own log-density, before any draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pymc_exact_hmc.dynamics.transition import fresh_log_density
from pymc_exact_hmc.energies import energy_drop
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import Evaluator, Point
from pymc_exact_hmc.model.points import jittered
from pymc_exact_hmc.model.recognise import Block
from pymc_exact_hmc.model.rounding import rounding

FLIPS = 24
"""Single flips that are compared with the model, at each setting of the other variables."""
SHARES = (0.5, 0.5, 0.5, 0.1, 0.9, 0.02, 0.98)
"""Shares of ones in random states whose log-densities are compared: all indicators at once."""


ModelTerms = Callable[[np.ndarray, Point], Sequence[np.ndarray]]
"""The log-density of each factor at s and at a setting of the other variables."""


def factor_evaluator(block: Block, mode: object) -> Evaluator:
    """Return a function that gives the log-density of each factor of the block."""
    return Evaluator(
        [f.logp.astype("float64").sum() for f in block.factors], block.layout, mode=mode
    )


def verify(
    block: Block, coefficients: Coefficients, model_terms: Evaluator, point: Point, s: np.ndarray
) -> None:
    """Raise ``ValueError``, naming the factor, if any energy drop differs from the model's.

    Random states, and a walk of single flips from s, as far as the model allows them, at two
    settings of the other variables.
    """
    rng = np.random.default_rng(20131209)

    def checked_terms(state: np.ndarray, setting: Point) -> Sequence[np.ndarray]:
        terms = model_terms(state, setting)
        certain = [f.name for f, term in zip(block.factors, terms, strict=True) if term == np.inf]
        if certain and setting is point:
            raise ValueError(_certain_sentence(certain))
        return terms

    if _disagrees(coefficients, checked_terms, point, s, rng):
        raise ValueError(_blame(block, model_terms, point, s))
    coefficients.update(point)


def _disagrees(
    coefficients: Coefficients,
    model_terms: ModelTerms,
    point: Point,
    s: np.ndarray,
    rng: np.random.Generator,
) -> bool:
    settings = [point] + ([jittered(point, rng)] if coefficients.varies else [])
    return any(
        _walk_disagrees(coefficients, model_terms, setting, s.copy(), rng) for setting in settings
    )


def _walk_disagrees(
    coefficients: Coefficients,
    model_terms: ModelTerms,
    point: Point,
    s: np.ndarray,
    rng: np.random.Generator,
) -> bool:
    coefficients.update(point)
    energy = coefficients.energy
    allowed = _allowed_states(model_terms, point, s, rng)
    if not allowed:
        return False  # nothing to compare with: the start is refused when sampling begins
    s, current = allowed[0]
    start, own_start = current.sum(), fresh_log_density(energy, s)
    for state, terms in allowed[1:]:
        own = fresh_log_density(energy, state) - own_start
        if not close(own, terms.sum() - start, np.append(terms, current)):
            return True
    fresh_log_density(energy, s)
    for _ in range(FLIPS):
        j = int(rng.integers(s.size))
        own = energy_drop(energy, s, j)
        s[j] ^= 1
        flipped = np.asarray(model_terms(s, point), dtype=float)
        if not close(own, flipped.sum() - current.sum(), current):
            return True
        if np.isfinite(flipped).all():
            current = flipped
        else:
            s[j] ^= 1
        own_now = fresh_log_density(energy, s)
        if not close(own_now - own_start, current.sum() - start, current):
            return True
    return False


def _allowed_states(
    model_terms: ModelTerms, point: Point, s: np.ndarray, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return s and random states with their log-densities, without those that are forbidden."""
    states = [s, *[(rng.random(s.size) < share).astype(np.int8) for share in SHARES]]
    terms = [np.asarray(model_terms(state, point), dtype=float) for state in states]
    return [(a, b) for a, b in zip(states, terms, strict=True) if np.isfinite(b).all()]


def close(own: float, model: float, size: np.ndarray) -> bool:
    """Return whether a difference of log-densities agrees with the model's own."""
    if np.isnan(model):
        return True  # the model itself does not say; such flips bounce and are counted
    if np.isinf(own) or np.isinf(model):
        return own == model
    # PyMC keeps some parameters given as Python numbers in single precision.
    tolerance = 1e-6 * (1.0 + abs(own) + abs(model)) + rounding() * np.abs(size).sum()
    return bool(abs(own - model) <= tolerance)


def _certain_sentence(names: list[str]) -> str:
    return (
        f"The log-density of {', '.join(names)} is +inf at some state of the indicators, so there "
        "is no posterior. A wall is 0 where the state is allowed and -inf elsewhere: "
        "pt.switch(allowed, 0.0, -np.inf)."
    )


def _blame(block: Block, model_terms: Evaluator, point: Point, s: np.ndarray) -> str:
    """Find the factors whose own terms do not reproduce them, and say so."""
    wrong = []
    for factor in block.factors:
        alone = Block(block.layout, [factor], block.terms_of(factor))
        own = Coefficients(alone.terms, block.layout, point)
        rng = np.random.default_rng(20131209)
        if _disagrees(own, factor_evaluator(alone, None), point, s, rng):
            wrong.append(factor.name)
    named = ", ".join(wrong) or ", ".join(f.name for f in block.factors)
    return (
        f"What was recognised in {named} does not reproduce the model's own log-density, so "
        "nothing was sampled. Please report the model: this is a fault of the recogniser. "
        "Meanwhile leave the variables concerned out of vars."
    )
