"""Compare what was recognised in a model with the model's own log-density, state by state."""

import numpy as np
from pytensor.graph.traversal import ancestors

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.dynamics.transition import refresh_caches
from pymc_exact_hmc.energies import energy_drop
from pymc_exact_hmc.model.binaries import lay_out, select_variables
from pymc_exact_hmc.model.coefficients import Coefficients
from pymc_exact_hmc.model.evaluation import ONCE
from pymc_exact_hmc.model.points import read_state, write_state
from pymc_exact_hmc.model.recognise import recognise
from support.enumeration import states


def binary_block(model, vars=None):
    """Recognise the binaries of a model, or those given."""
    point = model.initial_point()
    return recognise(model, lay_out(select_variables(model, vars)[0], point), point)


def forms_of(model, factor=None, vars=None):
    """Names of the forms of the terms of a factor, or of all."""
    block = binary_block(model, vars)
    return {t.form.name.lower() for t in block.terms if factor in (None, t.term.factor)}


@kernel
def all_drops(energy, s, drops):
    for j in range(s.size):
        drops[j] = energy_drop(energy, s, j)


def worst_error(model, changes=(), vars=None, samples=64, seed=0):
    """Largest relative error of an energy drop, at each of the given settings of other variables.

    At every state if there are few, at random ones otherwise. Infinite drops must be equal.
    """
    base = model.initial_point()
    block = binary_block(model, vars)
    coefficients = Coefficients(block.terms, block.layout, base)
    log_p = model.compile_logp(mode=ONCE)
    rng, d = np.random.default_rng(seed), block.d
    worst, drops, compared = 0.0, np.empty(d), 0
    for change in [{}, *changes]:
        point = base | {k: np.asarray(v, base[k].dtype) for k, v in change.items()}
        coefficients.update(point)

        def value(s, point=point):
            return log_p(write_state(point, s, block.layout))

        for s, here in allowed_states(value, read_state(point, block.layout), samples, rng):
            refresh_caches(coefficients.energy, s.copy())
            all_drops(coefficients.energy, s.copy(), drops)
            compared += 1
            for j in range(d) if d <= 12 else rng.choice(d, 3):
                flipped = s.copy()
                flipped[j] ^= 1
                worst = max(worst, _error(drops[j], value(flipped) - here, abs(here)))
    assert compared, "no state that the model allows was compared"
    return worst


def allowed_states(value, start, samples, rng):
    """Yield states of finite log-density, with it: all if few, or random ones and a walk.

    The walk from the start visits what hardly any random state would be: where most are forbidden.
    """
    d = start.size
    tried = states(d) if d <= 6 else rng.integers(0, 2, (samples, d)).astype(np.int8)
    known = [(s, value(s)) for s in tried]
    found = [(s, here) for s, here in known if np.isfinite(here)]
    yield from found
    if d <= 6 or 2 * len(found) >= samples:
        return
    s = found[0][0].copy() if found else start.astype(np.int8)
    for _ in range(samples):
        here = value(s)
        if np.isfinite(here):
            yield s.copy(), here
        j = rng.integers(d)
        s[j] ^= 1
        if np.isfinite(here) and not np.isfinite(value(s)):
            s[j] ^= 1


def rounding(model):
    """Relative rounding error of a model's log-density.

    PyMC computes in single precision what it derives from parameters given as Python numbers.
    """
    single = any(
        v.owner is not None and getattr(v.type, "dtype", "") == "float32"
        for v in ancestors([model.logp()])
    )
    return np.finfo(np.float32).eps if single else 1e-9


def _error(own, model, size):
    if np.isnan(model):
        return 0.0
    if np.isnan(own):
        return np.inf
    if np.isinf(own) or np.isinf(model):
        return 0.0 if own == model else np.inf
    return abs(own - model) / (1 + abs(model) + size)
