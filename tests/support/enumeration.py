"""Every state of a small binary distribution."""

from itertools import product

import numpy as np

LARGEST = 12


def states(d):
    """All 2^d states, the first indicator changing slowest."""
    assert d <= LARGEST, f"2^{d} states are too many to enumerate"
    return np.array(list(product([0, 1], repeat=d)), np.int8)


def number_of(s):
    """Row of ``states`` that equals s, or each row of s."""
    return np.asarray(s, np.int64) @ (1 << np.arange(np.shape(s)[-1])[::-1])


def distribution(log_f, d):
    """Exact probabilities of all states."""
    weight = np.array([log_f(s) for s in states(d)])
    probability = np.exp(weight - weight.max())
    return probability / probability.sum()


def acceptance(log_f, d):
    """Mean acceptance of a Metropolis flip of a random indicator, in equilibrium."""
    probability = distribution(log_f, d)
    total = 0.0
    for i, s in enumerate(states(d)):
        for j in range(d):
            flipped = s.copy()
            flipped[j] ^= 1
            total += min(probability[i], probability[number_of(flipped)])
    return total / d
