"""Small data for the models of the corpus, and where they are kept."""

import numpy as np


def predictors_and_response(seed, n=12, p=3, size=0.5, sd=1.0):
    """Return X and y, of which every other predictor explains a little."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    b = size * np.where(np.arange(p) % 2 == 0, 1.0, 0.0)
    return X, X @ b + sd * rng.normal(size=n)


def predictors_and_outcome(seed, n=14, p=3, size=0.8):
    """Return X and a binary y."""
    X, y = predictors_and_response(seed, n, p, size)
    return X, (y > 0).astype(int)


def xy(seed, n=8, beta=(1.2, 0.0, -0.8), sd=0.7, intercept=0.0):
    """Return X and y with the coefficients given."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(beta)))
    return X, intercept + X @ np.asarray(beta, float) + sd * rng.normal(size=n)


def keeper(models):
    """Return a decorator that keeps models by name, with kernel and value variables to be taken."""

    def add(taken):
        def keep(build):
            models[build.__name__] = (build, taken)
            return build

        return keep

    return add
