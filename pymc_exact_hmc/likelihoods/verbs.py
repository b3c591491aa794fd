"""What every latent scheme must offer, and the smooth ones beside."""

from __future__ import annotations

from pymc_exact_hmc.compilation import verb


@verb
def draw_latents(family, eta, precision, stream, target, factor):
    """Draw the latents given the predictor; write working targets and factors of precisions.

    ``precision`` has an entry for each row, or one for all.
    """
    raise TypeError(f"{type(family).__name__} has no draw_latents")


@verb
def log_likelihood(family, eta):
    """Return Σ log p(y_n | η_n), up to a constant. Log-concave families without a scale only."""
    raise TypeError(f"{type(family).__name__} has no log_likelihood")


@verb
def add_slopes(family, eta, sums):
    """Add η_n, ∂ log p/∂η_n and −∂² log p/∂η_n² to the three rows of ``sums``."""
    raise TypeError(f"{type(family).__name__} has no add_slopes")
