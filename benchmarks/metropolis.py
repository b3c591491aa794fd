"""The competitor: Metropolis that proposes to flip one uniformly random spin at a time.

Compiled like the package's own kernels, on the same energies with their cached local fields,
with the same random stream, so that only the algorithms differ.
"""

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.energies import commit, energy_drop
from pymc_exact_hmc.random_stream import exponential, uniform


@kernel
def metropolis(energy, s, stream, n_proposals):
    """Make ``n_proposals`` proposals; return how many were accepted."""
    accepted = 0
    for _ in range(n_proposals):
        j = int(uniform(stream) * s.size)
        drop = energy_drop(energy, s, j)
        # A move downhill needs no random number.
        if drop >= 0.0 or exponential(stream) > -drop:
            s[j] ^= 1
            commit(energy, s, j)
            accepted += 1
    return accepted
