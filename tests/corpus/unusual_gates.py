"""Gates in unusual spellings, and weights that are not quite linear.

Docstrings say what a model might be mistaken for.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from corpus.data import keeper, xy

MODELS = {}
add = keeper(MODELS)


# Spellings of gates.


@add("sheared: g, w, s_log__")
def einsum_three_operands():
    """pt.einsum contracts data, gate and weight at once."""
    X, y = xy(1)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", 0.3, 1.0, shape=3)
        s = pm.HalfNormal("s", 1.0)
        pm.Normal("y", pt.einsum("ij,j,j->i", X, g.astype("float64"), w), s, observed=y)
    return m


@add("sheared: g, w, s_log__")
def effects_that_are_added_to_entries():
    """Two effects go to the same coefficient, and a constant to another."""
    X, y = xy(1)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", [0.3, 0.0, -0.4], [1.0, 2.0, 0.5], shape=3)
        beta = pt.zeros(3)[np.array([2, 0, 2])].inc(g * w)[1].inc(0.5)
        pm.Normal("y", X @ beta, pm.HalfNormal("s", 1.0), observed=y)
    return m


@add("general: g, w")
def effects_that_indicators_shift():
    """What is added to a coefficient is an indicator itself."""
    X, y = xy(2)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", 0.0, 1.0, shape=3)
        beta = (g * w)[np.array([1, 1, 0])].inc(0.7 * g)
        pm.Normal("y", X @ beta, 0.8, observed=y)
    return m


@add("sheared: g, w")
def tensordot_diag_gate():
    """tensordot with a diagonal gate matrix.

    Inclusion probability entries differ, one is 1 and one is 0.05.
    """
    X, y = xy(2)
    with pm.Model() as m:
        g = pm.Bernoulli("g", np.array([0.05, 0.5, 1.0]), shape=3, initval=np.array([0, 1, 1]))
        w = pm.Normal("w", 0, 1.5, shape=3)
        G = pt.diag(g.astype("float64"))
        pm.Normal(
            "y", pt.tensordot(pt.tensordot(X, G, axes=1), w, axes=[[1], [0]]), 0.8, observed=y
        )
    return m


@add("sheared: g, w, s_log__")
def take_permuted_gate():
    """Gate i belongs to weight perm[i], slabs differ by entry, so pairing by position is wrong."""
    X, y = xy(3)
    with pm.Model() as m:
        g = pm.Bernoulli("g", [0.2, 0.5, 0.8], shape=3)
        w = pm.Normal("w", [0.5, 0.0, -0.5], [0.3, 1.0, 3.0], shape=3)
        beta = pm.Deterministic("beta", pt.take(w, [2, 0, 1]) * g)
        pm.Normal("y", pm.math.dot(X, beta), pm.HalfNormal("s", 1), observed=y)
    return m


@add("general: g, w")
def one_weight_two_gates_by_column():
    """w[0] is gated by g[0] in one column and by g[1] in another.

    It vanishes only when both are 0.
    """
    X, y = xy(4, beta=(1.0, 0.9, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", 0, 1.2, shape=2)
        beta = w[np.array([0, 0, 1])] * g
        pm.Normal("y", pt.dot(X, beta), 0.7, observed=y)
    return m


@add("sheared: g, w")
def ix_submatrix_gates():
    """np.ix_ picks a sub-block of a gate matrix; the unused column of gates keeps its prior."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4, 2))
    Y = X @ np.array([[1.0, 0.0], [0.0, -1.1]]) + 0.5 * rng.normal(size=(4, 2))
    with pm.Model() as m:
        g = pm.Bernoulli("g", np.array([[0.3, 0.7, 0.5]]), shape=(2, 3))
        w = pm.Normal("w", 0, 1, shape=(2, 2))
        B = g[np.ix_([1, 0], [0, 2])] * w
        pm.Normal("y", pt.dot(X, B), 0.6, observed=Y)
    return m


@add("sheared: g, w")
def set_then_inc_subtensor():
    """Coefficients assembled by set_subtensor and inc_subtensor.

    Entry 2 receives two gated weights.
    """
    X, y = xy(6, beta=(0.9, 0.0, 1.1, 0.2))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.35, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        b = pt.zeros(4)
        b = pt.set_subtensor(b[[0, 2]], (g * w)[:2])
        b = pt.inc_subtensor(b[2:], (g * w)[2])
        pm.Normal("y", pt.dot(X, b), 0.7, observed=y)
    return m


@add("sheared: g, w_log__, s_log__")
def inc_subtensor_repeated_index():
    """inc_subtensor at repeated indices accumulates; w[0], w[1] act on the same column."""
    X, y = xy(7, beta=(1.3, 0.0, -0.7))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.HalfNormal("w", 1.0, shape=3)
        b = pt.inc_subtensor(pt.zeros(3)[[0, 0, 2]], g * w)
        pm.Normal("y", pt.dot(X, b), pm.HalfNormal("s", 1), observed=y)
    return m


@add("sheared: g, w")
def transpose_flatten_gates():
    """g.T.flatten() against w: the order of gates is not that of weights."""
    X, y = xy(8, beta=(1.0, 0.0, 0.0, -1.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", np.array([[0.2, 0.6], [0.4, 0.5]]), shape=(2, 2))
        w = pm.Normal("w", 0, [2.0, 0.5, 1.0, 1.5], shape=4)
        pm.Normal("y", X @ (g.T.flatten() * w), 0.8, observed=y)
    return m


@add("general: g, h, W")
def newaxis_outer_gates():
    """g[:, None] * h[None, :] * W: every weight needs a row gate and a column gate."""
    rng = np.random.default_rng(9)
    Y = np.array([[1.2, 0.1], [0.0, -0.1]]) + 0.4 * rng.normal(size=(3, 2, 2))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        h = pm.Bernoulli("h", 0.3, shape=2)
        W = pm.Normal("W", 0, 1, shape=(2, 2))
        pm.Normal("y", g[:, None] * h[None, :] * W, 0.5, observed=Y)
    return m


@add("sheared: g, w, pi_logodds__")
def shared_gate_broadcast_column():
    """gate of shape (3.

    1) over weights (3, 1), transposed, specify_broadcastable, with dims and a pm.Data
    predictor.
    """
    X, y = xy(10)
    with pm.Model(coords={"p": ["a", "b", "c"], "obs": range(8), "one": [0]}) as m:
        Xd = pm.Data("X", X, dims=("obs", "p"))
        g = pm.Bernoulli("g", pm.Beta("pi", 2, 3, shape=(3, 1)), dims=("p", "one"))
        w = pm.Normal("w", 0, 1, dims=("p", "one"))
        mu = pm.Deterministic(
            "mu", (Xd * pt.specify_broadcastable((g * w).T, 0)).sum(axis=1), dims="obs"
        )
        pm.Normal("y", mu, 0.7, observed=y, dims="obs")
    return m


@add("general: g, w, b0")
def complement_same_weight():
    """One weight, routed to one column or the other: it never vanishes."""
    X, y = xy(11, beta=(1.0, 0.0), intercept=0.5)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5)
        w = pm.Normal("w", 0, 1)
        b0 = pm.Normal("b0", 0, 1)
        pm.Normal("y", b0 + X[:, 0] * (g * w) + X[:, 1] * ((1 - g) * w), 0.9, observed=y)
    return m


@add("general: g, w")
def complement_rows_and_columns():
    """g gates w[0], 1-g gates w[1], and g[1] gates their common third."""
    X, y = xy(12, beta=(0.8, 0.0, 0.9))
    with pm.Model() as m:
        g = pm.Bernoulli("g", [0.3, 0.6], shape=2)
        w = pm.Normal("w", [0.5, -0.5, 0.0], 1.0, shape=3)
        b = pt.stack([g[0] * w[0], (1 - g[0]) * w[1], g[1] * w[2]])
        pm.Normal("y", X @ b, pm.InverseGamma("s", 3, 2), observed=y)
    return m


@add("general: g, w")
def gate_powers():
    """g**2 * w, sqrt(g) * w and g * g * w are g * w; g**0 is not."""
    X, y = xy(13, beta=(1.0, 0.0, 0.8, 0.3))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=4)
        w = pm.Normal("w", 0, 1, shape=4)
        b = pt.stack([g[0] ** 2 * w[0], pt.sqrt(g[1]) * w[1], g[2] * g[2] * w[2], g[3] ** 0 * w[3]])
        pm.Normal("y", pt.dot(X, b), 0.7, observed=y)
    return m


@add("general: g0, g1, h, w0, w1, w2")
def interaction_gates_heredity():
    """main effects gated once, interaction gated by g0*g1*h, python loop, scalars."""
    rng = np.random.default_rng(14)
    x = rng.normal(size=(8, 2))
    y = x[:, 0] + 0.9 * x[:, 0] * x[:, 1] + 0.5 * rng.normal(size=8)
    with pm.Model() as m:
        g = [pm.Bernoulli(f"g{i}", 0.5) for i in range(2)]
        h = pm.Bernoulli("h", 0.4)
        w = [pm.Normal(f"w{i}", 0, 1) for i in range(3)]
        mu = 0.0
        for i in range(2):
            mu = mu + g[i] * w[i] * x[:, i]
        mu += g[0] * g[1] * h * w[2] * x[:, 0] * x[:, 1]
        pm.Normal("y", mu, 0.6, observed=y)
    return m


@add("general: g, w")
def or_gate_maximum():
    """pt.maximum(g0, g1) gates a weight; g2 gates another by bitwise and."""
    X, y = xy(15, beta=(1.1, 0.6))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.3, shape=4)
        w = pm.Normal("w", 0, 1.5, shape=2)
        gate = pt.stack([pt.maximum(g[0], g[1]), g[2] & g[3]])
        pm.Normal("y", pt.dot(X, gate * w), 0.7, observed=y)
    return m


@add("general: g, w")
def xor_gate_neq():
    """weight on when exactly one of two flags is on, via pt.neq.

    Another by bitwise xor, and by parity of three.
    """
    X, y = xy(16, beta=(1.0, -0.8, 0.4))
    with pm.Model() as m:
        g = pm.Bernoulli("g", [0.3, 0.5, 0.6], shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        b0 = pt.switch(pt.neq(g[0], g[1]), w[0], 0.0)
        b1 = (g[1] ^ g[2]) * w[1]
        b2 = (g.sum() % 2) * w[2]
        pm.Normal("y", X[:, 0] * b0 + X[:, 1] * b1 + X[:, 2] * b2, 0.7, observed=y)
    return m


@add("binary: g")
def cumprod_ar_order():
    """AR order selection: cumprod of flags gates the lags."""
    rng = np.random.default_rng(17)
    z = np.zeros(11)
    for t in range(1, 11):
        z[t] = 0.7 * z[t - 1] + 0.6 * rng.normal()
    L = np.column_stack([z[2:10], z[1:9], z[0:8]])
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.6, shape=3)
        phi = pm.Normal("phi", 0, 0.7, shape=3)
        k = pm.Deterministic("order", pt.cumprod(g).sum())
        pm.Normal("z", pt.dot(L, pt.cumprod(g) * phi), pm.HalfNormal("s", 1), observed=z[3:11])
        pm.Potential("short", -0.2 * k)
    return m


@add("sheared: jump, size, level0")
def cumsum_jumps():
    """Level is a cumulative sum of gated jumps."""
    rng = np.random.default_rng(18)
    y = np.array([0, 0, 1.5, 1.5, 1.5, 0.5, 0.5, 0.5]) + 0.4 * rng.normal(size=8)
    with pm.Model() as m:
        g = pm.Bernoulli("jump", 0.25, shape=3)
        w = pm.Normal("size", 0, 1.5, shape=3)
        lev = pm.Normal("level0", 0, 1)
        steps = pt.set_subtensor(pt.zeros(8)[np.array([2, 4, 5])], g * w)
        pm.Normal("y", lev + pt.cumsum(steps), 0.5, observed=y)
    return m


@add("binary: switch")
def cumsum_as_regime_index():
    """Cumulative number of switches is the index into regime means."""
    rng = np.random.default_rng(19)
    y = np.array([0, 0, 1.5, 1.5, -1, -1]) + 0.5 * rng.normal(size=6)
    with pm.Model() as m:
        g = pm.Bernoulli("switch", 0.3, shape=3)
        mu = pm.Normal("mu", 0, 1.5, shape=4)
        steps = pt.concatenate([pt.zeros(1, dtype="int64"), g])
        reg = pm.Deterministic("regime", pt.cumsum(steps))
        pm.Normal("y", mu[reg[np.array([0, 0, 1, 1, 2, 3])]], 0.6, observed=y)
    return m


@add("general: g, w")
def sum_of_flags_times_weight():
    """An effect proportional to the number of flags: n * w with n in 0..3 is no gate."""
    X, y = xy(20, beta=(2.0, 0.5))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", 0.6, 0.7, shape=2)
        pm.Normal("y", g.sum() * w[0] * X[:, 0] + w[1] * X[:, 1], 0.8, observed=y)
    return m


@add("general: g, w")
def averaged_gates():
    """gates normalised by their number: g / max(sum(g), 1)."""
    X, y = xy(21, beta=(1.0, 1.0, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0.5, 1.0, shape=3)
        share = g / pt.maximum(g.sum(), 1)
        pm.Normal("y", X @ (share * w), 0.8, observed=y)
    return m


@add("binary: s, d")
def sign_flip_exponential():
    """(2g-1) flips the sign of a positive weight: on either way."""
    X, y = xy(22, beta=(-1.0, 0.8))
    with pm.Model() as m:
        s = pm.Bernoulli("s", 0.5, shape=2)
        d = pm.Bernoulli("d", 0.5, shape=2)
        w = pm.Exponential("w", 1.0, shape=2)
        pm.Normal("y", X @ (d * (2 * s - 1) * w), 0.8, observed=y)
    return m


@add("binary: g")
def weight_to_the_gate():
    """w ** g: off means 1, not 0."""
    rng = np.random.default_rng(23)
    x = rng.uniform(0.5, 2, size=8)
    y = 1.8 * x + 0.5 * rng.normal(size=8)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.HalfNormal("w", 1.5, shape=2)
        pm.Normal("y", x * (w**g).prod(), 0.7, observed=y)
    return m


@add("general: g, w")
def halved_by_flag():
    """w / (1 + g): the weight is divided, never off."""
    X, y = xy(24, beta=(1.0, 0.5))
    with pm.Model() as m:
        g = pm.Bernoulli("g", [0.5, 0.3], shape=2)
        w = pm.Normal("w", 0, 2, shape=2)
        pm.Normal("y", X @ (w / (1 + g)), pm.HalfNormal("s", 1), observed=y)
    return m


@add("binary: g")
def argmax_selects():
    """The first flag that is on selects the mean (argmax of an all-zero vector is 0)."""
    rng = np.random.default_rng(25)
    y = 1.0 + 0.7 * rng.normal(size=5)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.35, shape=4)
        mu = pm.Normal("mu", [-1.0, 0.0, 1.0, 2.0], 0.5, shape=4)
        pm.Normal("y", mu[pt.argmax(g)], 0.8, observed=y)
    return m


@add("binary: g")
def sorted_gated_weights():
    """pt.sort of the gated coefficients: column j sees the j-th smallest."""
    X, y = xy(26, beta=(-0.5, 0.0, 1.2))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ pt.sort(g * w), 0.7, observed=y)
    return m


@add("binary: g")
def logsumexp_of_gated():
    """smooth maximum of gated weights is the mean."""
    rng = np.random.default_rng(27)
    y = 1.5 + 0.5 * rng.normal(size=6)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", pm.math.logsumexp(g * w), 0.6, observed=y)
    return m


@add("binary: hi, lo")
def bits_as_integer_index():
    """Two DiscreteUniform bits make an integer 0..3 that looks up a Gaussian weight."""
    rng = np.random.default_rng(28)
    y = np.array([0.9, 1.1, -0.2, 0.1]) + 0.3 * rng.normal(size=4)
    with pm.Model() as m:
        hi = pm.DiscreteUniform("hi", 0, 1, shape=2)
        lo = pm.DiscreteUniform("lo", 0, 1, shape=2)
        mu = pm.Normal("mu", [0, 0.5, 1.0, 1.5], 0.4, shape=4)
        k = 2 * hi + lo
        pm.Normal("y", mu[pt.repeat(k, 2)], 0.5, observed=y)
    return m


# Not quite linear in the weight.


@add("binary: g")
def far_clip_on_weight():
    """clip(w, -2.5, 2.5) bends only far out, but the data pull there."""
    X, y = xy(29, beta=(3.0, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 3, shape=2)
        pm.Normal("y", X @ (g * pt.clip(w, -2.5, 2.5)), 0.8, observed=y)
    return m


@add("binary: g")
def kinked_weight_switch():
    """A threshold on the weight: small effects count as none (pt.switch on |w|)."""
    X, y = xy(30, beta=(0.9, 0.1))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        eff = pt.switch(pt.abs(w) > 0.3, w, 0.0)
        pm.Normal("y", X @ (g * eff), 0.6, observed=y)
    return m


@add("binary: g")
def abs_weight_gated():
    """g * |w| with a Normal prior: looks like HalfNormal, two copies."""
    X, y = xy(31, beta=(0.8, -0.6))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0.4, 1, shape=2)
        pm.Normal("y", X @ (g * pt.abs(w)), 0.6, observed=y)
    return m


@add("binary: g")
def squared_and_plain_weight():
    """w enters the mean of one row block linearly and of the other squared."""
    rng = np.random.default_rng(32)
    x = rng.normal(size=8)
    y = np.r_[0.9 * x[:4], 0.81 * x[4:]] + 0.4 * rng.normal(size=8)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4)
        w = pm.Normal("w", 0, 1)
        mu = pt.concatenate([g * w * x[:4], g * w**2 * x[4:]])
        pm.Normal("y", mu, 0.6, observed=y)
    return m


@add("sheared: g, load")
def product_of_two_weights():
    """loading * score with a gate: bilinear in Gaussian unknowns."""
    rng = np.random.default_rng(33)
    y = 1.2 * np.array([1.0, 0.8]) + 0.4 * rng.normal(size=(3, 2))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        load = pm.Normal("load", 1, 0.5, shape=2)
        f = pm.Normal("f", 0, 1)
        pm.Normal("y", g * load * f, 0.5, observed=y)
    return m


@add("binary: g")
def weight_in_the_noise_too():
    """w[0] is gated in the mean and ungated in log sigma."""
    X, y = xy(34, beta=(1.0, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (g * w), pt.exp(0.4 * w[0] - 0.3), observed=y)
    return m


@add("general: g, w")
def centred_then_gated():
    """g * (w - w.mean()): every weight appears under every gate."""
    X, y = xy(35, beta=(1.0, -1.0, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=3)
        w = pm.Normal("w", 0, 1.2, shape=3)
        pm.Normal("y", X @ (g * (w - w.mean())), 0.7, observed=y)
    return m


@add("general: g, w")
def fused_differences():
    """Gates on differences of neighbouring weights; w[0] ungated."""
    rng = np.random.default_rng(36)
    y = np.repeat([0.2, 0.2, 1.4, 1.4], 2) + 0.4 * rng.normal(size=8)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.3, shape=3)
        w = pm.Normal("w", 0, 1, shape=4)
        lev = w[0] + pt.concatenate([[0.0], pt.cumsum(g * pt.diff(w))])
        pm.Normal("y", pt.repeat(lev, 2), 0.5, observed=y)
    return m


@add("general: g, w")
def slope_and_intercept_one_weight():
    """the same w is an ungated intercept and a gated slope."""
    rng = np.random.default_rng(37)
    x = rng.normal(size=8)
    y = 0.8 + 0.8 * x + 0.6 * rng.normal(size=8)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.3)
        w = pm.Normal("w", 0, 1)
        pm.Normal("y", w + g * w * x, 0.7, observed=y)
    return m


@add("sheared: g, d, s_log__")
def effects_in_units_of_noise():
    """Non-centred effects multiplied by sigma: sigma enters the mean as well as the noise."""
    X, y = xy(38)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        d = pm.Normal("d", 0.4, 1, shape=3)
        s = pm.HalfNormal("s", 1)
        pm.Normal("y", X @ (g * d) * s, s, observed=y)
    return m


@add("general: g, w")
def switch_on_continuous_scale():
    """The gate only counts when tau > 1: the structure of the predictor depends on a scale."""
    X, y = xy(39, beta=(1.2, 0.0))
    with pm.Model() as m:
        tau = pm.LogNormal("tau", 0.0, 0.7)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, tau, shape=2)
        pm.Normal("y", pt.switch(tau > 1.0, X @ (g * w), X @ w), 0.7, observed=y)
    return m


@add("general: g, w")
def soft_gate_beside_hard_gate():
    """A continuous gate u in (0,1) next to a binary one: blend of two predictors."""
    X, y = xy(40, beta=(1.0, 0.5))
    with pm.Model() as m:
        u = pm.Beta("u", 2, 2)
        g = pm.Bernoulli("g", u, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (u * g * w + (1 - u) * w), 0.7, observed=y)
    return m
