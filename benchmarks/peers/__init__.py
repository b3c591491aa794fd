"""Samplers to compare: one file for each, imported only when it is asked for.

Each has ``run(case, draws, tune, seed)``, which returns ``Draws`` of one chain on one core.
"""

from importlib.util import find_spec
from typing import Any, NamedTuple


class Draws(NamedTuple):
    """What a peer drew: arrays by variable, and the seconds that it took.

    ``whole`` counts compilation, warm-up and draws, ``seconds`` the draws alone. ``weights`` are
    importance weights, if the peer has any.
    """

    values: dict
    seconds: float
    whole: float
    weights: Any = None


class Peer(NamedTuple):
    """Which module runs a peer, what it must be able to import, and which cases it can do.

    ``settings`` are (draws, warm-up) by case, with None for the rest.
    """

    module: str
    needs: str
    can: Any
    settings: dict

    @property
    def cached(self):
        """Whether compiled code is kept on disk: the first run of all is another matter."""
        return self.needs in ("numba", "pymc", "pymc_exact_hmc")

    def missing(self):
        """Return what cannot be imported."""
        return [name for name in self.needs.split() if find_spec(name) is None]

    def draws(self, name, kind):
        """Return draws and warm-up for a case, in a run that is full, quick or filling caches."""
        few = {"quick": (50, 50), "filling": (4, 4)}
        return few.get(kind) or self.settings.get(name, self.settings[None])


def is_selection(case):
    return hasattr(case, "family")


def is_gaussian(case):
    return is_selection(case) and case.family == "gaussian"


def is_unbounded(case):
    """Say whether millipede has the model: no bounds, Gaussian or logistic."""
    return is_selection(case) and case.family != "probit" and not case.positive


def is_spins(case):
    return hasattr(case, "shape")


def is_mixture(case):
    return hasattr(case, "share")


def is_any(case):
    return True


PEERS = {
    "ExactBinaryHMC": Peer(
        "ours", "pymc_exact_hmc", is_any,
        {None: (4000, 500), "64 × 6830": (6000, 1000), "probit, 500 × 50": (8000, 500),
         "2D Ising, 32 × 32": (8000, 500)},
    ),
    "PyMC default": Peer(
        "pymc_default", "pymc", is_any,
        {None: (500, 300), "64 × 6830": (50, 50), "200 × 1000": (200, 200),
         "1D Ising, d = 400": (800, 50), "2D Ising, 32 × 32": (300, 50),
         "probit, 500 × 50": (4000, 500), "logit, 500 × 50": (4000, 500),
         "mixture, 1000 labels": (1500, 300)},
    ),
    "NumPyro DiscreteHMCGibbs": Peer(
        "numpyro_gibbs", "numpyro", is_any,
        {None: (200, 100), "64 × 6830": (20, 20), "200 × 1000": (100, 50),
         "1D Ising, d = 400": (500, 100), "2D Ising, 32 × 32": (300, 100),
         "probit, 500 × 50": (2000, 200), "logit, 500 × 50": (2000, 200)},
    ),
    "NumPyro MixedHMC": Peer(
        "numpyro_mixed", "numpyro", is_any,
        {None: (200, 100), "64 × 6830": (20, 20), "200 × 1000": (100, 50),
         "1D Ising, d = 400": (500, 100), "2D Ising, 32 × 32": (300, 100),
         "probit, 500 × 50": (2000, 200), "logit, 500 × 50": (2000, 200)},
    ),
    "millipede": Peer(
        "millipede_tempered", "millipede polyagamma torch", is_unbounded,
        {None: (4000, 1000), "64 × 6830": (2000, 1000)},
    ),
    "pair Gibbs, compiled": Peer(
        "pair_gibbs_sweeps", "numba", is_gaussian,
        {None: (40_000, 4000), "64 × 6830": (4000, 1000), "200 × 1000": (10_000, 1000)},
    ),
    "Metropolis, compiled": Peer(
        "metropolis_flips", "numba", is_spins, {None: (20_000, 2000)},
    ),
    "NUTS, labels summed out": Peer(
        "pymc_marginal", "pymc", is_mixture, {None: (1000, 500)},
    ),
}  # fmt: skip
"""In the order of the tables; the first is the reference."""
