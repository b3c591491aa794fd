"""A random model as a list of choices, written out as PyMC code."""

from dataclasses import dataclass, replace

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from . import binary, regression

KINDS = {"regression": regression, "binary": binary}
OPTIONS = {
    "default": {},
    "paper": {"kernel": "paper"},
    "binary": {"kernel": "binary"},
    "general": {"kernel": "general"},
    "exponential": {"augmentation": "exponential"},
    "box": {"augmentation": "box"},
    "inclusion": {"inclusion": True},
    "long": {"travel_time": 4.5},
    "jitter": {"travel_time": (0.4, 2.0), "trajectories": 3},
}
DEFAULTS = 0.6
"""How many choices of a random model are the plain ones, on average."""


@dataclass(frozen=True)
class Description:
    """``choices`` name one alternative each; data come from ``seed``."""

    kind: str
    choices: tuple[tuple[str, str], ...]
    seed: int

    @property
    def options(self):
        """The options of the step."""
        return OPTIONS[dict(self.choices)["options"]]

    def source(self):
        """The model as PyMC code."""
        return KINDS[self.kind].source(dict(self.choices), np.random.default_rng(self.seed))

    def build(self):
        """The model."""
        names = {"np": np, "pm": pm, "pt": pt}
        exec(self.source(), names)
        return names["model"]

    def simpler(self):
        """Descriptions with one choice closer to the plain one, the plainest first."""
        for k, (name, chosen) in enumerate(self.choices):
            alternatives = list(grammar(self.kind)[name])
            for simpler in alternatives[: alternatives.index(chosen)]:
                changed = (*self.choices[:k], (name, simpler), *self.choices[k + 1 :])
                yield replace(self, choices=changed)

    def __str__(self):
        """The code, with the choices that are not plain."""
        plain = {name: next(iter(of)) for name, of in grammar(self.kind).items()}
        special = ", ".join(f"{n}={c}" for n, c in self.choices if c != plain[n])
        options = ", ".join(f"{k}={v!r}" for k, v in self.options.items())
        head = f"# {self.kind}, seed {self.seed}: {special}"
        return f"{head}\n{self.source()}step = ExactBinaryHMC({options})"


def grammar(kind):
    """Return the alternatives of each choice, the plain one first."""
    return {**KINDS[kind].GRAMMAR, "options": list(OPTIONS)}


def describe(seed):
    """Return the random description of a seed."""
    rng = np.random.default_rng([20131211, seed])
    kind = "regression" if rng.random() < 0.75 else "binary"
    choices = []
    for name, alternatives in grammar(kind).items():
        alternatives = list(alternatives)
        plain = rng.random() < DEFAULTS
        choices.append((name, alternatives[0 if plain else rng.integers(len(alternatives))]))
    return Description(kind, tuple(choices), int(rng.integers(2**31)))
