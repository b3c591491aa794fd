"""Random PyMC models, each sampled exactly or refused with a reason."""
