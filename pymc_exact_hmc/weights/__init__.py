"""Gaussian weights switched on and off by indicators, truncated or not."""
