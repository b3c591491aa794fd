"""Random regressions with gated weights: what is compiled is the model's own log-density."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pymc_exact_hmc import ExactBinaryHMC
from pymc_exact_hmc.model.evaluation import ONCE
from pymc_exact_hmc.model.natural import read_weights, write_weights
from pymc_exact_hmc.model.verify_weights import inside, log_gaussian

SPELLINGS = [
    lambda X, g, w: X @ (g * w),
    lambda X, g, w: (X * g) @ w,
    lambda X, g, w: pm.math.dot(X, pm.math.switch(g, w, 0)),
    lambda X, g, w: (X * (g * w)[None, :]).sum(axis=1),
    lambda X, g, w: sum(X[:, j] * g[j] * w[j] for j in range(X.shape[1])),
    lambda X, g, w: X @ pt.where(pt.eq(g, 0), 0.0, w),
    lambda X, g, w: (1.0 * X) @ pt.stack([g[j] * w[j] for j in range(X.shape[1])]),
]
PRIORS = [
    lambda n, m, s: pm.Normal("w", m, s, shape=n),
    lambda n, m, s: pm.HalfNormal("w", s, shape=n),
    lambda n, m, s: pm.TruncatedNormal("w", m, s, lower=m - s, upper=m + 2 * s, shape=n),
    lambda n, m, s: pm.TruncatedNormal("w", m, s, upper=m + s, shape=n),
    lambda n, m, s: pm.Exponential("w", scale=s, shape=n),
    lambda n, m, s: pm.Truncated("w", pm.Normal.dist(m, s), lower=m - 3 * s, shape=n),
]


@st.composite
def regressions(draw):
    """A model, with the choices that made it readable in hypothesis' report."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    groups, scales = draw(st.booleans()), draw(st.booleans())
    intercept, second = draw(st.booleans()), draw(st.booleans())
    rows, n = draw(st.sampled_from([1, 3, 8])), draw(st.integers(1, 5))
    spelling, prior = draw(st.integers(0, 6)), draw(st.integers(0, 5))
    X, y = rng.normal(size=(rows, n)), rng.normal(size=rows)
    with pm.Model() as model:
        gate = rng.integers(0, 2, n) if groups else np.arange(n)
        gamma = pm.Bernoulli("gamma", np.array(0.4), shape=int(gate.max()) + 1)
        scale = pm.HalfNormal("tau", np.array(1.0)) if scales else np.array(1.7)
        w = PRIORS[prior](n, rng.normal(size=n), scale * np.exp(rng.normal(size=n)))
        mean = SPELLINGS[spelling](X, gamma[gate] if groups else gamma, w)
        if intercept:
            mean = mean + pm.Normal("w0", np.array(0.5), np.array(2.0))
        sigma = pm.HalfNormal("sigma", np.array(1.0)) if scales else np.exp(rng.normal(size=rows))
        pm.Normal("y", mean, sigma, observed=y)
        if second:
            pm.Normal("z", 2.0 * w[0] * gamma[gate[0]], np.array(0.8), observed=np.array(0.3))
    return model


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(model=regressions(), seed=st.integers(0, 2**32 - 1))
def test_coefficients_are_those_of_the_model(model, seed):
    """Differences of −½w'(GMG + Λ)w + (Gr + λ)'w between any (s, w) are model.logp's, to 1e-9."""
    rng = np.random.default_rng(seed)
    with model:
        step = ExactBinaryHMC()
    gaussian, weights = step._move.gaussian, step._move._placed
    names = [rv.name for rv in model.free_RVs if rv.name in ("w", "w0")]
    log_p = model.compile_logp(
        vars=[*[model[n] for n in names], *model.observed_RVs], jacobian=False, sum=False, mode=ONCE
    )
    point = model.initial_point()
    for name in ("sigma_log__", "tau_log__"):
        if name in point:
            point[name] = np.asarray(rng.normal())
    gaussian.update(point)
    lower, upper = gaussian.bounds
    base = None
    for _ in range(5):
        s = rng.integers(0, 2, step.layout[-1].stop).astype(np.int8)
        trial = point | {"gamma": s.astype(point["gamma"].dtype)}
        write_weights(trial, inside(lower, upper, rng), weights, lower, upper)
        w = read_weights(trial, weights, lower, upper)
        terms = np.concatenate([np.ravel(x) for x in log_p(trial)])
        own = log_gaussian(gaussian.block, gaussian.scale, s, gaussian.units * w)
        if base is None:
            base = own, terms.sum()
        size = 1.0 + np.abs(terms).sum() + abs(own)
        assert abs((own - base[0]) - (terms.sum() - base[1])) < 1e-9 * size
