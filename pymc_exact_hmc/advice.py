"""What the step says while it samples: sentences that name the variable and the remedy."""

from __future__ import annotations

from pymc.stats.convergence import SamplerWarning, WarningType

SHOWN = 3
"""Names that are given as examples."""


def stuck_warning(calls: int, names: str) -> SamplerWarning:
    """Return the warning that no indicator has moved for many draws."""
    return _warn(
        f"No indicator of {names} has changed in the last {calls} draws. Either the posterior "
        "is all but certain, or single flips cannot leave this state: check hard constraints, "
        "and start chains from different states with initvals."
    )


def undefined_warning(names: str) -> SamplerWarning:
    """Return the warning that the log-density was not a number at a proposed state."""
    return _warn(
        f"The log-density was not a number at a proposed state of {names}. Such states are "
        "treated as impossible; check for 0 * inf and for logarithms of negative numbers."
    )


def never_moved_note(draws: int, on: list[str], off: list[str], total: int) -> SamplerWarning:
    """Return the note that some indicators have not moved."""
    parts = [
        f"{_examples(names)} stayed {word}" for names, word in ((on, "1"), (off, "0")) if names
    ]
    return SamplerWarning(
        WarningType.CONVERGENCE,
        f"Never moved in {draws} draws: {len(on) + len(off)} of {total} indicators "
        f"({'; '.join(parts)}). The data may be that certain: if all chains agree in "
        "inclusion_summary(idata), they are. If not, start chains from different states with "
        "initvals, and look for predictors that say the same.",
        "info",
    )


def blocked_warning(draws: int, names: list[str]) -> SamplerWarning:
    """Return the warning that bounds of weights keep indicators from moving."""
    return _warn(
        f"{_examples(names)} had the energy to flip but never did in {draws} draws: the weights "
        "that are on would have left their bounds. Widen these bounds, or start chains "
        "from different states with initvals.",
        WarningType.CONVERGENCE,
    )


def correlated_warning(draws: int, pairs: list[tuple[str, str, float]]) -> SamplerWarning:
    """Return the warning that indicators are all but functions of each other."""
    shown = "; ".join(
        f"{a} and {b} {'come together' if r > 0 else 'stand in for each other'} ({r:+.2f})"
        for a, b, r in pairs[:SHOWN]
    )
    more = f"; and {len(pairs) - SHOWN} more pairs" if len(pairs) > SHOWN else ""
    return _warn(
        f"Extreme correlation between indicators in {draws} draws: {shown}{more}. Do not read "
        "their inclusion probabilities one by one: ask for the group, as in model_summary(idata, "
        "prior=model, groups={...}), see plot_coinclusion(idata), or keep one predictor of each.",
        WarningType.CONVERGENCE,
    )


def at_bound_warning(name: str, indicators: str, bound: float, median: float) -> SamplerWarning:
    """Return the warning that an inclusion probability is pressed against a bound."""
    if bound in (0.0, 1.0):
        which = "no indicator" if bound == 0.0 else "every indicator"
        reason = (
            f"{which} of {indicators} wants to be on. If that is not credible, check the scale of "
            f"the weights' prior and of the predictors, or fix {name}."
        )
    else:
        reason = (
            f"the bound, not the data, decides how many of {indicators} are on. Widen the prior "
            f"of {name}."
        )
    return _warn(f"{name} is at its bound {bound:g} (median {median:.3g}): {reason}")


def energy_warning(error: float, names: str) -> SamplerWarning:
    """Return the warning that the energy bookkeeping is off by more than rounding."""
    return _warn(
        f"The energy error of {names} has reached {abs(error):.1g}, more than rounding should "
        "make: look for predictors that are nearly the same or on scales that differ by many "
        "orders of magnitude, and standardise them."
    )


def _warn(message: str, kind: WarningType = WarningType.BAD_ENERGY) -> SamplerWarning:
    return SamplerWarning(kind, message, "warn")


def _examples(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
