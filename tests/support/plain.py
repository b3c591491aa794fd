"""The transition in plain Python, with every rule replaceable: where wrong kernels come from."""

import heapq
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from support.kernels import empty_reports


def flip_drop(log_f, s, j):
    """Δ_j = log f(s with s_j flipped) − log f(s)."""
    flipped = s.copy()
    flipped[j] ^= 1
    return log_f(flipped) - log_f(s)


def draw_kinetic(augmentation, rng):
    half = 0.5 * rng.standard_normal() ** 2
    return {
        "gaussian": lambda: rng.standard_exponential(),
        "exponential": lambda: rng.standard_exponential() + half,
        "box": lambda: half,
    }[augmentation]()


def period(augmentation, e):
    return {
        "gaussian": lambda: math.pi,
        "exponential": lambda: 2 * math.sqrt(2 * e),
        "box": lambda: 2 / math.sqrt(2 * e),
    }[augmentation]()


@dataclass(frozen=True)
class Rules:
    """What a kernel does at each point; a wrong kernel replaces one of these."""

    drop: Any = flip_drop
    crosses: Any = lambda e, drop: e + drop > 0
    left_over: Any = lambda e, drop: e + drop
    period: Any = period
    draw_kinetic: Any = draw_kinetic
    sequence: Any = None
    """Makes of a permutation and n the walls to be hit, n of them (Gaussian only)."""


def cycle(order, n):
    """The first n walls of the order, again and again."""
    return [order[k % len(order)] for k in range(n)]


def plain_kernel(case, augmentation, travel_time, rules=None):
    """A kernel with the interface of ``package_kernel``."""
    rules = rules or Rules()

    def hit(s, j, e, reports, i):
        drop = rules.drop(case.log_f, s, j)
        reports.hits[i] += 1
        if rules.crosses(e, drop):
            s[j] ^= 1
            reports.crossings[i] += 1
            reports.drop[i] += drop
            return rules.left_over(e, drop)
        return e

    def in_order(s, rng, reports, i):
        full, rest = divmod(travel_time / math.pi, 1)
        n = int(full) * case.d + rng.binomial(case.d, rest)
        order = rng.permutation(case.d)
        e = [rules.draw_kinetic(augmentation, rng) for _ in range(case.d)]
        for j in (rules.sequence or cycle)(order, n):
            e[j] = hit(s, j, e[j], reports, i)
        return e[order[-1]]

    def by_queue(s, rng, reports, i):
        e = [rules.draw_kinetic(augmentation, rng) for _ in range(case.d)]
        queue = [(rng.random() * rules.period(augmentation, e[j]), j) for j in range(case.d)]
        heapq.heapify(queue)
        while queue[0][0] <= travel_time:
            time, j = queue[0]
            e[j] = hit(s, j, e[j], reports, i)
            heapq.heapreplace(queue, (time + rules.period(augmentation, e[j]), j))
        return e[-1]

    travel = in_order if augmentation == "gaussian" else by_queue

    def move(S, rng):
        reports = empty_reports(len(S))
        for i, s in enumerate(S):
            reports.kinetic[i] = travel(s, rng, reports, i)
        return reports

    return move


def table_of(log_f, d):
    """The same log f, looked up: kernels in plain Python evaluate it many times."""
    from support.enumeration import number_of, states

    values = np.array([log_f(s) for s in states(d)])
    return lambda s: float(values[number_of(s)])
