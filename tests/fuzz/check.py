"""Whether the step samples a model exactly, or refuses it with a sentence."""

import traceback
import warnings
from typing import NamedTuple

import numpy as np
import pytensor
from pymc.exceptions import SamplingError
from scipy import stats
from scipy.special import ndtr, rel_entr

from pymc_exact_hmc import ExactBinaryHMC

from .truth import exact_starts, integrate

ALPHA = 1e-6
"""Probability that a model sampled rightly is reported, shared out over what is compared."""
STARTS = 300
STEPS = 8
TURNS = 2
"""Chains that take turns in one step, so that what it remembers is of another point."""
TUNING = 120
"""Draws of tuning for a step that learns how to jump; it is judged with what it has learnt."""
FEWEST = 25
"""Expected starts in which a comparison must show for the normal law to hold."""
SURE = 6
"""Standard errors that the truth of a rare event may be off by."""
LEAST_EFFICIENCY = 0.05
FAULTS = ("does not reproduce", "fault of the recogniser")


class Verdict(NamedTuple):
    """``kind`` is exact, refused, unknown (no truth, or no model), or a kind of failure."""

    kind: str
    detail: str = ""
    taken: str = ""

    @property
    def failed(self):
        return self.kind in ("error", "wrong", "stuck", "unverified")


def judge(description, seed=1, *, starts=STARTS, steps=STEPS):
    """Build a model, sample it from exact starts, and compare with its own log-density."""
    with warnings.catch_warnings(), pytensor.config.change_flags(linker="py", cxx=""):
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "The analysis of")
        try:
            model = description.build()
            model.logp()  # which PyMC does not have for every model that it builds
        except Exception as error:
            return Verdict("unknown", f"no model: {type(error).__name__}: {error}")
        return judge_model(model, description.options, seed, starts=starts, steps=steps)


def judge_model(model, options, seed=1, *, starts=STARTS, steps=STEPS):
    """Judge a model with the given options of the step."""
    try:
        step = ExactBinaryHMC(model=model, **options)
    except (ValueError, SamplingError) as error:
        return _refusal(error)
    except Exception:
        return Verdict("error", traceback.format_exc())
    return judge_step(step, model, seed, starts=starts, steps=steps)


def judge_step(step, model, seed=1, *, starts=STARTS, steps=STEPS):
    """Judge whether a step samples a model."""
    kernel = getattr(step._move, "kernel", "binary")
    taken = f"{', '.join(v.name for v in step.vars)} [{kernel}]"
    if kernel == "general":
        starts //= 3  # a wall hit costs a factorisation in Python
    density, truth = integrate(model, seed)
    if truth is not None and truth.efficiency < LEAST_EFFICIENCY:
        return Verdict("unknown", f"importance sampling: efficiency {truth.efficiency:.3f}", taken)
    try:
        rng = np.random.default_rng(seed)
        if truth is None:
            step.set_rng(rng)
            step.step(model.initial_point())  # refused where nothing is possible
            return Verdict("unknown", "no state of any probability was found", taken)
        return _compare(step, density, truth, rng, starts, steps)._replace(taken=taken)
    except SamplingError as error:
        return _refusal(error)
    except Exception:
        return Verdict("error", traceback.format_exc(), taken)


def _learnt(step, start):
    """Tune a step that jumps, from a start that the model allows; return what it has learnt."""
    if not step.proxy_memory.size:
        return step.proxy_memory
    step.set_rng(np.random.default_rng(5))
    step.calls = 1
    point = start
    for _ in range(TUNING):
        point, _ = step.step(point)
    return step.proxy_memory


def _refusal(error):
    text = str(error)
    if any(fault in text for fault in FAULTS):
        return Verdict("unverified", text)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if "pymc_exact_hmc" not in frame.filename or not text.endswith("."):
        return Verdict("error", "".join(traceback.format_exception(error)))
    return Verdict("refused", text)


def _compare(step, density, truth, rng, starts, steps):
    chosen, weights = exact_starts(truth, rng, starts)
    first = density.points(truth.s[chosen], truth.x[chosen])
    learnt = _learnt(step, {name: np.array(rows[0]) for name, rows in first.items()})
    step.stop_tuning()
    visited = np.empty((steps, len(chosen), density.d), int)
    others = np.empty((steps, len(chosen), density.n))
    for i in range(0, len(chosen), TURNS):
        together = range(i, min(i + TURNS, len(chosen)))
        paths = [[{name: np.array(rows[k]) for name, rows in first.items()}] for k in together]
        step.set_rng(rng)
        step.calls = 1  # a start that was chosen: none is to be drawn
        step.proxy_memory = learnt
        for _ in range(steps):
            for path in paths:
                path.append(step.step(path[-1])[0])
        for k, path in zip(together, paths, strict=True):
            visited[:, k], others[:, k] = density.flat(path[1:])
    if not np.isfinite(others).all():
        return Verdict("wrong", "a draw that is not a number")
    outside = density(np.concatenate(visited), np.concatenate(others)) == -np.inf
    if outside.any():
        return Verdict("wrong", f"{outside.sum()} of {len(outside)} draws are where p = 0")
    moved = {v.name for v in step.vars}
    mine, own = (
        np.flatnonzero([n in moved for n in names for _ in range(density.start[n].size)])
        for names in (density.binaries, density.others)
    )
    stuck = _stuck(truth, visited, truth.s[chosen], mine)
    still = own[(others[:, :, own] == truth.x[chosen][:, own]).all(axis=(0, 1))]
    if stuck or still.size:
        return Verdict("stuck", stuck or f"numbers {still.tolist()} of the step never change")
    return _test(density, truth, weights, visited, others)


def _test(density, truth, weights, visited, others):
    names, exact = _features(density, truth, truth.s, truth.x)
    flat = (np.concatenate(list(visited)), np.concatenate(list(others)))
    _, found = _features(density, truth, *flat)
    found = found.reshape(*visited.shape[:2], -1).mean(axis=0)
    share = truth.weights / truth.weights.sum()
    mean = share @ exact
    error2 = (share**2) @ (exact - mean) ** 2
    own = weights / weights.sum()
    excess = own @ (found - mean)
    error2 = error2 + (own**2) @ (found - mean - excess) ** 2
    z = np.where(error2 > 0, excess / np.sqrt(np.maximum(error2, 1e-30)), 0.0)
    # What hardly ever happens, or hardly ever fails to, has no normal law.
    often = np.minimum(mean, 1 - mean) * len(weights) >= FEWEST
    # What the draws of the truth have never met may happen all the same.
    truth_error = np.sqrt((share**2) @ (exact - mean) ** 2) + 1 / len(share)
    rare = _chernoff(mean, mean + excess, truth_error, 1 / (own @ own))
    pvalues = np.where(often, 2 * stats.norm.sf(np.abs(z)), rare)
    worst = int(np.argmin(pvalues))
    if not pvalues[worst] >= ALPHA / pvalues.size:
        lines = [
            f"{names[k]}: {mean[k] + excess[k]:.4f} instead of {mean[k]:.4f} (z = {z[k]:.1f})"
            for k in np.argsort(pvalues)[:5]
        ]
        return Verdict("wrong", "; ".join(lines))
    return Verdict("exact", f"worst z = {np.abs(z[often]).max(initial=0):.1f}")


def _chernoff(mean, found, error, n):
    """Bound of the p-value that n draws in [0, 1] of this mean have such an average, or beyond.

    The mean is known with an error. Averages along the path of a chain deviate no more than its
    draws at one time do.
    """
    found = np.clip(found, 0.0, 1.0)
    p = np.clip(found, mean - SURE * error, mean + SURE * error)
    p = np.clip(p, 0.0, 1.0)
    return np.exp(-n * (rel_entr(found, p) + rel_entr(1 - found, 1 - p)))


def _features(density, truth, s, x):
    """Names and values, in (0, 1), of what is compared: states, and others by their rank."""
    code = s @ (1 << np.arange(density.d)[::-1]) if density.d else np.zeros(len(s), int)
    names = [f"P(s = {state})" for state in truth.states]
    columns = [(code == k).astype(float) for k in range(len(truth.states))]
    for j in range(density.d):
        names.append(f"P(s[{j}] = 1)")
        columns.append(s[:, j].astype(float))
    share = truth.weights / truth.weights.sum()
    labels = [f"{n}[{i}]" for n in density.others for i in range(density.start[n].size)]
    for k, label in enumerate(labels):
        order = np.argsort(truth.x[:, k])
        steps = np.cumsum(share[order])
        median, low, high = (
            truth.x[order, k][np.searchsorted(steps, q)] for q in (0.5, 0.16, 0.84)
        )
        rank = ndtr((x[:, k] - median) / max((high - low) / 2, 1e-300))
        names += [f"rank of {label}", f"spread of {label}"]
        columns += [rank, np.abs(2 * rank - 1)]
        for j in range(density.d):
            names.append(f"rank of {label} if s[{j}]")
            columns.append(rank * s[:, j])
    return names, np.column_stack(columns)


def _stuck(truth, visited, start, mine):
    """Say which indicator of the step never flips, though flips would be accepted (Metropolis)."""
    codes = {tuple(state): p for state, p in zip(truth.states, truth.probability, strict=True)}
    path = np.concatenate([start[None], visited])
    for j in mine:
        accepted = 0.0
        for state, p in codes.items():
            flipped = list(state)
            flipped[j] = 1 - flipped[j]
            accepted += min(p, codes[tuple(flipped)])  # p · min(1, p'/p)
        if accepted > 0.2 and not (np.diff(path[..., j], axis=0) != 0).any():
            return f"s[{j}] never moved, though {accepted:.2f} of its flips could be accepted"
    return ""
