"""The NumPyro model of a case, and a run of a kernel on it."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.stats import norm
from numpyro.infer import MCMC

from peers import Draws, is_mixture, is_spins


def model_of(case):
    if is_spins(case):
        return lambda: spins(case)
    return (lambda: mixture(case)) if is_mixture(case) else (lambda: selection(case))


def selection(case):
    X, y, (n, d) = jnp.asarray(case.X), jnp.asarray(case.y), case.X.shape
    with numpyro.plate("columns", d):
        gamma = numpyro.sample("gamma", dist.Bernoulli(case.a))
        slab = dist.HalfNormal(case.tau) if case.positive else dist.Normal(0.0, case.tau)
        w = numpyro.sample("w", slab)
    eta = X @ (gamma * w)
    if case.family == "gaussian":
        law = dist.Normal(eta, case.sigma)
    elif case.family == "probit":
        law = dist.Bernoulli(probs=norm.cdf(eta))
    else:
        law = dist.Bernoulli(logits=eta)
    with numpyro.plate("rows", n):
        numpyro.sample("y", law, obs=y)


def spins(case):
    # Both kernels need a continuous variable: one that nothing depends on.
    numpyro.sample("unused", dist.Normal(0.0, 1.0))
    with numpyro.plate("sites", int(np.prod(case.shape))):
        x = numpyro.sample("x", dist.Bernoulli(0.5))
    s = 2 * x.reshape(case.shape) - 1
    bonds = sum((s * jnp.roll(s, 1, axis)).sum() for axis in range(len(case.shape)))
    numpyro.factor("coupling", case.beta * bonds)


def mixture(case):
    with numpyro.plate("means", 2):
        mu = numpyro.sample("mu", dist.Normal(jnp.array(case.prior_mean), case.prior_sd))
    with numpyro.plate("rows", case.y.size):
        z = numpyro.sample("z", dist.Bernoulli(case.share))
        numpyro.sample("y", dist.Normal(mu[z], 1.0), obs=jnp.asarray(case.y))


def sampled(kernel, draws, tune, seed):
    """Return ``Draws`` of one chain: the second of two runs, which needs no compilation."""
    mcmc = MCMC(kernel, num_warmup=tune, num_samples=draws, progress_bar=False)
    start = time.perf_counter()
    mcmc.warmup(jax.random.PRNGKey(seed))
    mcmc.run(mcmc.post_warmup_state.rng_key)
    jax.block_until_ready(mcmc.get_samples())
    whole = time.perf_counter() - start
    mcmc.post_warmup_state = mcmc.last_state
    start = time.perf_counter()
    mcmc.run(mcmc.post_warmup_state.rng_key)
    jax.block_until_ready(mcmc.get_samples())
    seconds = time.perf_counter() - start
    values = {name: np.asarray(array, float) for name, array in mcmc.get_samples().items()}
    if "gamma" in values:
        values["beta"] = values["gamma"] * values.pop("w")
    return Draws(values, seconds, whole)
