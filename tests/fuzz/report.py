"""The verdict on the model of a seed and, if it fails, the plainest model that fails alike."""

import time
import traceback
from typing import NamedTuple

from .check import Verdict, judge
from .description import describe
from .shrink import shrink


class Judged(NamedTuple):
    """A model's verdict, its processor time, and the plainest model that fails like it."""

    seed: int
    verdict: Verdict
    seconds: float
    report: str = ""


def judged(seed: int, most: int) -> Judged:
    """Judge one model; if it fails, look for a plainer one among at most so many."""
    description, start = describe(seed), time.process_time()
    try:
        verdict = judge(description)
    except Exception:
        # A truth that cannot be had is a fault, too, and must not end a run of thousands.
        return Judged(seed, Verdict("error", traceback.format_exc()), 0.0, str(description))
    seconds = time.process_time() - start
    report = failure(description, verdict, most) if verdict.failed else ""
    return Judged(seed, verdict, seconds, report)


def failure(description, verdict, most):
    """Return the plainest model that fails like this one, and how it fails."""
    smallest = shrink(description, lambda x: judge(x).kind == verdict.kind, most=most)
    found = judge(smallest)
    return f"{found.kind}: {found.detail}\n\n{smallest}"
