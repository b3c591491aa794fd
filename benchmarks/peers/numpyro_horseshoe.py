"""A horseshoe prior instead of spike and slab, sampled by NumPyro's NUTS."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

from peers import Draws


def run(case, draws, tune, seed):
    """Return draws of the coefficients, and of how much of each is kept, 1 − κ.

    κ_j = 1/(1 + |x_j|² τ²λ_j²/σ²) is the share of coefficient j that is shrunk away.
    """
    X, y, (n, d) = jnp.asarray(case.X), jnp.asarray(case.y), case.X.shape
    expected = case.a * d

    def model():
        # The global scale that the expected number of predictors asks for.
        scale = expected / (d - expected) * case.sigma / np.sqrt(n)
        tau = numpyro.sample("tau", dist.HalfCauchy(scale))
        with numpyro.plate("columns", d):
            lam = numpyro.sample("lam", dist.HalfCauchy(1.0))
            raw = numpyro.sample("raw", dist.Normal(0.0, 1.0))
        beta = numpyro.deterministic("beta", raw * lam * tau)
        with numpyro.plate("rows", n):
            numpyro.sample("y", dist.Normal(X @ beta, case.sigma), obs=y)

    start = time.perf_counter()
    mcmc = MCMC(NUTS(model), num_warmup=tune, num_samples=draws, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(seed))
    found = {name: np.asarray(array, float) for name, array in mcmc.get_samples().items()}
    whole = time.perf_counter() - start
    width = found["tau"][:, None] * found["lam"]
    strength = (case.X**2).sum(axis=0) * width**2 / case.sigma**2
    return Draws({"beta": found["beta"], "kept": strength / (1 + strength)}, whole, whole)
