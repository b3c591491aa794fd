"""From a PyMC model to energies: which factors touch the indicators, in which form."""
