"""Random binary models: whatever is recognised reproduces model.logp()."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from hypothesis import given, settings
from hypothesis import strategies as st
from support.models import worst_error

D = 4
NUMBERS = st.floats(-3, 3, allow_nan=False).map(lambda x: round(x, 3))
INDEX = st.integers(0, D - 1)


@st.composite
def terms(draw, s, z, theta):
    """A random scalar of s (a vector), z (a 2 × 2 matrix) and a real theta."""
    kind = draw(st.integers(0, 12))
    c, i, j, k = draw(NUMBERS), draw(INDEX), draw(INDEX), draw(INDEX)
    scale = theta if draw(st.booleans()) else 1.0
    spin = 2 * s - 1
    return c * scale * [
        lambda: s[i] * s[j],
        lambda: s[i] * s[j] * s[k],
        lambda: spin[i] * spin[j] * spin[k] * spin[0],
        lambda: pt.switch(s[i], 1.5, theta),
        lambda: pt.switch(pt.eq(s[i], 1), s[j], pt.switch(s[k], 0.5, -0.5)),
        lambda: pt.as_tensor(np.array([0.3, -1.2]))[s].sum(),
        lambda: pt.as_tensor(np.arange(8.0).reshape(2, 2, 2))[s[i], s[j], s[k]],
        lambda: (s @ z.ravel()) ** 2,
        lambda: pt.exp(-0.3 * (z.sum(axis=0) + s[:2])).sum(),
        lambda: pt.abs(s.sum() - 1.5 - theta),
        lambda: (z * s[i]).sum() - (z @ z.T)[0, 1],
        lambda: pt.prod(1 - s * 0.5),
        lambda: (s[np.array([i, i, j])] * s[np.array([j, k, k])]).sum(),
    ][kind]()  # fmt: skip


@st.composite
def models(draw):
    with pm.Model() as model:
        theta = pm.Normal("theta")
        p = draw(st.sampled_from([0.3, 0.0, 1.0, "random"]))
        p = pm.math.sigmoid(theta) if p == "random" else p
        s = pm.Bernoulli("s", np.full(D, p) if isinstance(p, float) else p, shape=D)
        z = pm.Bernoulli("z", logit_p=draw(st.sampled_from([0.2, -500.0])), shape=(2, 2))
        total = sum(draw(terms(s, z, theta)) for _ in range(draw(st.integers(1, 4))))
        pm.Potential("a", total)
        if draw(st.booleans()):
            i, j = draw(INDEX), draw(INDEX)
            pm.Potential("wall", pt.switch(s[i] + z[0, 0] + s[j] < 3, 0.0, -np.inf))
    return model


@settings(max_examples=8)
@given(models())
def test_drops_of_random_models(model):
    """Every energy drop equals the model's own to 1e-9, at two settings of theta."""
    assert worst_error(model, [{"theta": 0.7}], samples=16) < 1e-9
