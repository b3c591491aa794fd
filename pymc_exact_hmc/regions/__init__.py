"""Gaussians in regions that are cut out by linear and quadratic walls."""
