"""Which expressions are analytic in the other variables, and which may jump or bend."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.op import RandomVariable

from pymc_exact_hmc.model.smoothness import is_smooth

DATA, GROUP = np.arange(6.0).reshape(2, 3), np.array([0, 2, 2])
SMOOTH = {
    "arithmetic": lambda x, y: (2 * x[0] - y / 3) ** 2 + 1 / x[1],
    "functions": lambda x, y: pt.exp(x) + pt.log1p(y**2) + pt.sigmoid(x) + pt.erf(x) + pt.tanh(y),
    "entries": lambda x, y: pt.set_subtensor(x[GROUP][1:], y).sum() + x[::-1].reshape((3, 1)),
    "data that choose": lambda x, y: (
        pt.switch(DATA[0] > 0, x, y) + pt.as_tensor(DATA)[:, GROUP].sum()
    ),
    "sums and products": lambda x, y: pt.dot(DATA, x) * pt.prod(x) + pt.cumsum(x).sum(),
    "joined": lambda x, y: pt.concatenate([x, pt.stack([y, y])]),
    "sizes": lambda x, y: x.shape[0] * y,
    "algebra": lambda x, y: pt.linalg.cholesky(pt.diag(pt.exp(x))) @ pt.linalg.inv(pt.diag(x)),
    "weights": lambda x, y: pt.special.softmax(x, axis=0) * y,
    "roots of what is positive": lambda x, y: (
        pt.sqrt(pt.exp(x) ** 2) + pt.log(3 * pt.sqr(pt.sigmoid(x)) / 2) + ((x**2) ** 2 + 1) ** 0.5
    ),
    "a scale between bounds": lambda x, y: (
        ((0.1 * (1 - pt.sigmoid(y)) + 2 * pt.sigmoid(y)) ** -2) ** -0.5
    ),
    "root of entries": lambda x, y: pt.sqrt(pt.exp(x)[GROUP] ** 2).reshape((3, 1)),
    "root of a law": lambda x, y: pt.sqrt(pm.HalfNormal.dist() ** 2 * pt.exp(y)),
    "cut of data": lambda x, y: pt.maximum(DATA[0], 1.0) * x,
}
BENT = {
    "switch": lambda x, y: pt.switch(y > 0, x, 0.0),
    "switch on a number": lambda x, y: pt.switch(y, x, 0.0),
    "comparison": lambda x, y: 1.0 * (x > 0),
    "cut": lambda x, y: pt.maximum(x, 0.0),
    "clip": lambda x, y: pt.clip(x, 0.0, 1.0),
    "absolute": lambda x, y: pt.abs(x),
    "root of a square": lambda x, y: pt.sqrt(pt.sqr(x)),
    "root of a power": lambda x, y: (x**2) ** 0.5,
    "root of squares of entries": lambda x, y: pt.sqrt((x**2)[GROUP]),
    "root of squares in another shape": lambda x, y: pt.sqrt((x**2).reshape((3, 1))) * y,
    "logarithm of a square": lambda x, y: pt.exp(0.5 * pt.log(3 * (x * x)[None] / 2)),
    "power that varies": lambda x, y: (x**2) ** y,
    "root of a law's square": lambda x, y: pt.sqrt(pm.Normal.dist() ** 2 * y),
    "root of a difference": lambda x, y: pt.sqrt((0.1 - pt.sigmoid(x)) ** 2),
    "root of what may exceed one": lambda x, y: pt.sqrt((1 - pt.exp(x)) ** 2),
    "root of a difference of two": lambda x, y: pt.sqrt((y - pt.sigmoid(x)) ** 2),
    "whole part": lambda x, y: pt.floor(x) + y,
    "cast": lambda x, y: x.astype("int64") * 2.0,
    "index": lambda x, y: pt.as_tensor(DATA)[0, y.astype("int64")],
    "largest": lambda x, y: pt.max(x),
    "sorted": lambda x, y: pt.sort(x),
    "further down": lambda x, y: pt.exp(2 * pt.sqr(pt.minimum(x, y))).sum(),
}


@pytest.mark.parametrize("name", [*SMOOTH, *BENT])
def test_what_bends_is_known(name):
    """One expression after another of a vector and a number."""
    x, y = pt.dvector("x"), pt.dscalar("y")
    tensor = (SMOOTH | BENT)[name](x, y)
    laws = [v for v in ancestors([tensor]) if v.owner and isinstance(v.owner.op, RandomVariable)]
    assert is_smooth(tensor, [x, y, *laws]) == (name in SMOOTH)


def test_only_the_other_variables_count():
    """What is fixed may bend; a discrete variable is never smooth."""
    x, y, k = pt.dvector("x"), pt.dscalar("y"), pt.lscalar("k")
    assert is_smooth(pt.maximum(x, 0.0) * y, [y])
    assert not is_smooth(pt.maximum(x, 0.0) * y, [x, y])
    assert not is_smooth(1.5 * k + y, [y, k])
    assert is_smooth(1.5 * k + y, [y])
