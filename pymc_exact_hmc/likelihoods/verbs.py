"""What every latent scheme must offer."""

from __future__ import annotations

from pymc_exact_hmc.compilation import verb


@verb
def draw_latents(family, eta, precision, stream, target, factor):
    """Draw the latents given the predictor; write working targets and factors of precisions.

    ``precision`` has an entry for each row, or one for all.
    """
    raise TypeError(f"{type(family).__name__} has no draw_latents")
