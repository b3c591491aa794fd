"""Many draws of the samplers inside kernels."""

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.likelihoods.gamma_draw import gamma
from pymc_exact_hmc.likelihoods.inverse_gaussian import inverse_gaussian
from pymc_exact_hmc.likelihoods.polya_gamma import polya_gamma


@kernel
def fill_gamma(stream, shape, out):
    for i in range(out.size):
        out[i] = gamma(stream, shape)


@kernel
def fill_inverse_gaussian(stream, q, out):
    for i in range(out.size):
        out[i] = inverse_gaussian(stream, q)


@kernel
def fill_polya_gamma(stream, b, c, out):
    for i in range(out.size):
        out[i] = polya_gamma(stream, b, c)
