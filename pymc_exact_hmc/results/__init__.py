"""Read traces: inclusion probabilities, visited models, and the prior they started from."""
