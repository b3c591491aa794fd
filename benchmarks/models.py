"""The models that the benchmarks sample."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

D, BETA_RING = 400, 0.42
L, BETA_TORUS = 100, 0.5


def ising_ring():
    with pm.Model() as model:
        x = pm.Bernoulli("x", 0.5, shape=D)
        s = 2 * x - 1
        pm.Potential("coupling", BETA_RING * (s * pt.roll(s, 1)).sum())
    return model


def lattice_energy(shape, beta):
    """β Σ s_i s_j on a periodic lattice, for a kernel: β (4 x_i x_j − 2 x_i − 2 x_j + 1)."""
    # Not at the top: start and memory of PyMC alone are measured with this file, too.
    from pymc_exact_hmc.energies import SparseCouplings

    sites = np.arange(int(np.prod(shape))).reshape(shape)
    shifts = [(step, axis) for axis in range(len(shape)) for step in (1, -1)]
    neighbours = np.stack([np.roll(sites, *shift).ravel() for shift in shifts], axis=1)
    d, degree = neighbours.shape
    return SparseCouplings(
        h=np.full(d, -2.0 * degree * beta),
        start=degree * np.arange(d + 1),
        columns=neighbours.ravel().astype(np.int32),
        values=np.full(degree * d, 4.0 * beta),
        local_field=np.zeros(d),
    )


def ring_bonds(states):
    return (states * np.roll(states, 1, axis=1)).sum(axis=1)


def ising_torus():
    with pm.Model() as model:
        x = pm.Bernoulli("x", 0.5, shape=(L, L))
        s = 2 * x - 1
        bonds = (s * pt.roll(s, 1, axis=0)).sum() + (s * pt.roll(s, 1, axis=1)).sum()
        pm.Potential("coupling", BETA_TORUS * bonds)
    return model


def empty_torus():
    """The variable of the torus, and nothing else."""
    with pm.Model() as model:
        pm.Bernoulli("x", 0.5, shape=(L, L))
    return model


def mixture(rng, n=20_000):
    """n labels of a mixture of two normal distributions with unknown means."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 10, shape=2, initval=np.array([-1.0, 1.0]))
        z = pm.Bernoulli("z", 0.4, shape=n)
        y = rng.standard_normal(n) + np.where(rng.random(n) < 0.4, 1.0, -1.0)
        pm.Normal("y", mu[z], 1.0, observed=y)
    return model


def non_polynomial(rng, rows=200, d=60):
    """log f(s) = −Σ log cosh of 200 combinations of 60 indicators."""
    A = 0.3 * rng.standard_normal((rows, d))
    with pm.Model() as model:
        x = pm.Bernoulli("x", 0.5, shape=d)
        pm.Potential("cosh", -pt.log(pt.cosh(pt.dot(A, 2.0 * x - 1.0))).sum())
    return model
