"""Likelihoods, noise and priors that look at indicators in unusual ways.

Docstrings say what a model might be mistaken for.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from corpus.data import keeper, xy

MODELS = {}
add = keeper(MODELS)


# Noise and priors that look at indicators.


@add("general: g, w")
def gate_and_noise_scale():
    """g[0] gates a weight and inflates the noise."""
    X, y = xy(41, beta=(1.0, 0.4))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", X @ (g * w), 0.5 + 0.5 * g[0], observed=y)
    return m


@add("general: z, g, w")
def row_flags_and_column_gates():
    """outlier flags in sigma by row, gates by column, in one likelihood, unknown scale."""
    X, y = xy(42, n=4, beta=(1.3, 0.0))
    y = y.copy()
    y[2] += 4
    with pm.Model() as m:
        z = pm.Bernoulli("z", 0.15, shape=4)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        s = pm.HalfNormal("s", 1)
        pm.Normal("y", X @ (g * w), s * pt.where(pt.eq(z, 1), 5.0, 1.0), observed=y)
    return m


@add("general: z, g, w")
def row_flag_times_predictor():
    """mu = z * (X @ (g * w)): row flags multiply column gates."""
    X, y = xy(43, n=4, beta=(1.5, 0.0))
    y = np.where(np.arange(4) == 1, 0.05, y)
    with pm.Model() as m:
        z = pm.Bernoulli("z", 0.8, shape=4, initval=np.ones(4, int))
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        pm.Normal("y", z * (X @ (g * w)), 0.5, observed=y)
    return m


@add("general: g, w")
def slab_depends_on_own_and_next_gate():
    """w_j gated by g_j with an sd that depends on g_{j+1} (rolled)."""
    X, y = xy(44)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", 0, 0.4 + 1.5 * pt.roll(g, -1), shape=3)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("general: g, w")
def slab_mean_switched_and_gated():
    """prior mean of w depends on g, and w is gated by the same g."""
    X, y = xy(45, beta=(1.2, 0.1))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", mu=pt.switch(g, 1.0, -2.0), sigma=pt.switch(g, 0.7, 0.2), shape=2)
        pm.Normal("y", pt.dot(X, w * g), 0.6, observed=y)
    return m


@add("sheared: g, w, s_log__")
def noise_prior_counts_gates():
    """HalfNormal noise whose prior scale depends on how many gates are on."""
    X, y = xy(46)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        s = pm.HalfNormal("s", 0.4 + 0.8 * g.sum())
        pm.Normal("y", X @ (g * w), s, observed=y)
    return m


@add("general: g, extra, w")
def variance_components_with_gate():
    """sigma = sqrt(s0^2 + g * s1^2) while another gate switches a weight."""
    X, y = xy(47, beta=(1.0,))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4)
        e = pm.Bernoulli("extra", 0.3)
        w = pm.Normal("w", 0, 1)
        s0, s1 = pm.HalfNormal("s0", 0.7), pm.HalfNormal("s1", 1.5)
        pm.Normal("y", X[:, 0] * g * w, pt.sqrt(s0**2 + e * s1**2), observed=y)
    return m


@add("sheared: g, w, s2_log__, gscale_log__, pi_logodds__")
def precision_parametrised_gprior():
    """conjugate g-prior.

    W ~ N(0, sqrt(g) * sigma) with sigma^2 ~ InverseGamma, noise sd sqrt(sigma2).
    """
    X, y = xy(48)
    with pm.Model() as m:
        s2 = pm.InverseGamma("s2", 3, 1.5)
        gg = pm.LogNormal("gscale", 0.5, 0.5)
        g = pm.Bernoulli("g", pm.Beta("pi", 1, 2), shape=3)
        w = pm.Normal("w", 0, tau=1 / (gg * s2), shape=3)
        pm.Normal("y", pm.math.sum(X * (g * w)[None, :], axis=1), tau=1 / s2, observed=y)
    return m


@add("sheared: g, w")
def scale_in_two_places():
    """sigma is the noise of y, and the mean of another observed Exponential."""
    X, y = xy(49, beta=(1.0, 0.0))
    with pm.Model() as m:
        s = pm.LogNormal("s", -0.3, 0.6)
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 2 * s, shape=2)
        pm.Normal("y", X @ (g * w), s, observed=y)
        pm.Exponential("gap", 1 / s, observed=np.array([0.3, 1.1, 0.9]))
    return m


@add("sheared: g, w, s_log__")
def inclusion_prob_from_scale():
    """p = s / (1 + s) with s also the noise; both uses look like step scales."""
    X, y = xy(50, beta=(1.0, 0.0, 0.5))
    with pm.Model() as m:
        s = pm.HalfNormal("s", 1.0)
        g = pm.Bernoulli("g", s / (1 + s), shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ (g * w), s, observed=y)
    return m


@add("binary: g0, g")
def inclusion_prob_from_weight():
    """w[0] is a regression weight and also the log-odds of the other gates."""
    X, y = xy(51)
    with pm.Model() as m:
        w = pm.Normal("w", 0, 1.2, shape=3)
        g0 = pm.Bernoulli("g0", 0.5)
        g = pm.Bernoulli("g", logit_p=1.5 * w[0] - 0.3, shape=2)
        b = pt.concatenate([[g0 * w[0]], g * w[1:]])
        pm.Normal("y", X @ b, 0.7, observed=y)
    return m


@add("sheared: G, g, w")
def nested_group_gates():
    """member gates have p = 0.7 * group gate, so p = 0 when the group is off."""
    X, y = xy(52, beta=(1.0, 0.5, 0.0, 0.0))
    with pm.Model() as m:
        G = pm.Bernoulli("G", 0.5, shape=2, initval=np.array([1, 1]))
        g = pm.Bernoulli("g", 0.7 * G[np.array([0, 0, 1, 1])], shape=4, initval=np.zeros(4, int))
        w = pm.Normal("w", 0, 1, shape=4)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("sheared: g, w")
def dirichlet_inclusion():
    """inclusion probabilities are a Dirichlet vector: they share one constraint."""
    X, y = xy(53)
    with pm.Model() as m:
        p = pm.Dirichlet("p", np.array([1.0, 2.0, 1.5]))
        g = pm.Bernoulli("g", p, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("sheared: h, g, w, a_logodds__")
def clipped_probability():
    """p = clip(a + 0.3 * h, 0.1, 0.9), h another flag."""
    X, y = xy(54, beta=(0.9, 0.0))
    with pm.Model() as m:
        a = pm.Beta("a", 2, 2)
        h = pm.Bernoulli("h", 0.5)
        g = pm.Bernoulli("g", pt.clip(a + 0.3 * h, 0.1, 0.9), shape=2)
        w = pm.Normal("w", 0.3, 1, shape=2)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


# Likelihoods.


@add("binary: g")
def logistic_with_lapse():
    """p = 0.08 + 0.84 * sigmoid(eta): almost, not quite, the logistic function."""
    X, y = xy(55, beta=(2.0, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 2, shape=2)
        pm.Bernoulli(
            "y", p=0.08 + 0.84 * pm.math.sigmoid(X @ (g * w)), observed=(y > 0).astype(int)
        )
    return m


@add("binary: g")
def logistic_far_clip():
    """sigmoid(clip(eta, -2, 2)): identical near zero."""
    X, y = xy(56, beta=(2.5, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 2, shape=2)
        pm.Bernoulli("y", logit_p=pt.clip(X @ (g * w), -2, 2), observed=(y > 0).astype(int))
    return m


@add("sheared: g, w, b0")
def logistic_temperature():
    """sigmoid(eta / T) with T ~ LogNormal: scale of a predictor, not noise."""
    X, y = xy(57, beta=(1.5, 0.0))
    with pm.Model() as m:
        T = pm.LogNormal("T", 0, 0.6)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        b0 = pm.Normal("b0", 0, 1)
        pm.Bernoulli("y", logit_p=(b0 + X @ (g * w)) / T, observed=(y > 0).astype(int))
    return m


@add("binary: link, g")
def link_chosen_by_flag():
    """a flag chooses between logistic and probit links."""
    X, y = xy(58, beta=(1.5, 0.0))
    with pm.Model() as m:
        link = pm.Bernoulli("link", 0.5)
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        eta = X @ (g * w)
        p = pt.switch(link, pm.math.invlogit(eta), pm.math.invprobit(eta))
        pm.Bernoulli("y", p=p, observed=(y > 0).astype(int))
    return m


@add("sheared: g, w")
def complement_probability_counts():
    """Binomial with p = 1 - sigmoid(eta), n differing by row with one n = 0.

    Complement and offset.
    """
    X, _ = xy(59, beta=(1.2, 0.0))
    n = np.array([3, 5, 0, 2, 4, 6, 1, 5])
    y = np.random.default_rng(59).binomial(n, 1 / (1 + np.exp(1.2 * X[:, 0] + 0.4)))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        pm.Binomial("y", n=n, p=1 - pm.math.sigmoid(0.4 + X @ (g * w)), observed=y)
    return m


@add("binary: g")
def negbin_background_rate():
    """mu = exp(eta) + 0.5: an additive background spoils the log link."""
    X, _ = xy(60, beta=(0.8, 0.0))
    y = np.random.default_rng(60).poisson(np.exp(0.5 + 0.8 * X[:, 0]) + 0.5)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        b0 = pm.Normal("b0", 0, 1)
        pm.NegativeBinomial("y", mu=pt.exp(b0 + X @ (g * w)) + 0.5, alpha=2.0, observed=y)
    return m


@add("binary: g, h")
def negbin_exposure_alpha_gated():
    """mu = exposure * exp(eta), and a flag changes the dispersion alpha."""
    X, _ = xy(61, beta=(0.8, 0.0))
    E = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.5, 2.0, 0.7])
    y = np.random.default_rng(61).poisson(E * np.exp(0.3 + 0.8 * X[:, 0]))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        h = pm.Bernoulli("h", 0.5)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.NegativeBinomial(
            "y", mu=E * pm.math.exp(X @ (g * w)), alpha=pt.switch(h, 10.0, 1.0), observed=y
        )
    return m


@add("sheared: g, w")
def negbin_n_p():
    """NegativeBinomial by n and p, where p = sigmoid(-eta)."""
    X, _ = xy(62, beta=(0.8, 0.0))
    y = np.random.default_rng(62).negative_binomial(2, 1 / (1 + np.exp(0.8 * X[:, 0] + 0.2)))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.NegativeBinomial("y", n=2, p=pm.math.sigmoid(-(X @ (g * w)) - 0.2), observed=y)
    return m


@add("binary: g")
def truncated_outcome():
    """pm.Truncated(Normal): the normaliser depends on the weights, unlike pm.Censored."""
    X, y = xy(63, beta=(1.0, 0.0), intercept=0.5)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        mu = 0.3 + X @ (g * w)
        pm.Truncated("y", pm.Normal.dist(mu, 0.8), lower=0.0, observed=np.abs(y) + 0.05)
    return m


@add("binary: g, f")
def censored_interval_and_noise_flag():
    """Censored on both sides, a flag inflates the noise inside the censored distribution."""
    X, y = xy(64, beta=(1.5, 0.0))
    y = np.clip(y, -0.8, 0.9)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        f = pm.Bernoulli("f", 0.4)
        w = pm.Normal("w", 0, 1.5, shape=2)
        pm.Censored(
            "y", pm.Normal.dist(X @ (g * w), 0.6 + 0.8 * f), lower=-0.8, upper=0.9, observed=y
        )
    return m


@add("sheared: g, w, s_log__")
def censored_different_limits():
    """Censoring limits differ by row (inf means uncensored), unknown noise."""
    X, y = xy(65, beta=(1.5, 0.0))
    up = np.array([0.4, np.inf, np.inf, 0.4, 0.4, np.inf, 0.8, np.inf])
    y = np.minimum(y, up)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        pm.Censored(
            "y",
            pm.Normal.dist(X @ (g * w), pm.HalfNormal("s", 1)),
            lower=None,
            upper=up,
            observed=y,
        )
    return m


@add("binary: z, g")
def mixture_weights_are_flags():
    """pm.Mixture with flags as weights (0/1), one component's mean gated."""
    X, y = xy(66, n=4, beta=(1.5,))
    with pm.Model() as m:
        z = pm.Bernoulli("z", 0.7, shape=4)
        g = pm.Bernoulli("g", 0.5)
        w = pm.Normal("w", 0, 1.5)
        W = pt.stack([0.02 + 0.96 * z, 0.98 - 0.96 * z], axis=-1)
        pm.Mixture(
            "y",
            w=W,
            comp_dists=[pm.Normal.dist(g * w * X[:, 0], 0.6), pm.Normal.dist(0.0, 3.0)],
            observed=y,
        )
    return m


@add("binary: g")
def normalmixture_contaminated():
    """NormalMixture outcome with a gated mean in one component: not Gaussian in w."""
    X, y = xy(67, beta=(1.3, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        eta = X @ (g * w)
        mu = pt.stack([eta, pt.zeros_like(eta)], axis=1)
        pm.NormalMixture("y", w=np.array([0.8, 0.2]), mu=mu, sigma=np.array([0.6, 2.5]), observed=y)
    return m


@add("binary: g")
def normalmixture_slab():
    """the weight itself has a NormalMixture prior, then gated."""
    X, y = xy(68, beta=(1.3, 0.0))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.NormalMixture("w", w=[0.5, 0.5], mu=[-1.0, 1.0], sigma=[0.4, 0.8], shape=2)
        pm.Normal("y", X @ (g * w), 0.7, observed=y)
    return m


@add("binary: g")
def zip_psi_and_rate_gated():
    """ZeroInflatedPoisson: one flag in psi, another in the rate, one in both."""
    x = np.linspace(-1, 1, 8)
    y = np.array([0, 1, 0, 2, 0, 3, 4, 0])
    with pm.Model() as m:
        g = pm.Bernoulli("g", [0.5, 0.4, 0.3], shape=3)
        w = pm.Normal("w", 0, 1, shape=2)
        psi = pm.Deterministic("psi", 0.4 + 0.3 * g[0] + 0.25 * g[2])
        pm.ZeroInflatedPoisson(
            "y", psi=psi, mu=pt.exp(w[0] + x * g[1] * w[1] + 0.3 * g[2]), observed=y
        )
    return m


@add("general: g, w")
def customdist_unnormalised():
    """Binomial with p = 1 - sigmoid(eta), n differing by row with one n = 0.

    Complement and offset.
    """
    X, y = xy(69, beta=(1.0, 0.0))

    def logp(value, mu, prec):
        return -0.5 * prec * (value - mu) ** 2

    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.CustomDist("y", X @ (g * w), 1.0 + 0.5 * g[1], logp=logp, observed=y)
    return m


@add("binary: g")
def customdist_huber():
    """Huber loss in a CustomDist: Gaussian near the fit, linear outside."""
    X, y = xy(70, beta=(1.0, 0.0))
    y = y.copy()
    y[3] += 4

    def logp(value, mu):
        r = pt.abs(value - mu) / 0.6
        return pt.switch(r < 1.5, -0.5 * r**2, -1.5 * r + 1.125)

    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.CustomDist("y", X @ (g * w), logp=logp, observed=y)
    return m


@add("binary: heavy, g")
def studentt_df_flag():
    """Student-t with degrees of freedom and scale chosen by a flag, gated mean."""
    X, y = xy(71, beta=(1.2, 0.0))
    with pm.Model() as m:
        heavy = pm.Bernoulli("heavy", 0.5)
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.StudentT(
            "y",
            nu=pt.switch(heavy, 2.0, 30.0),
            mu=X @ (g * w),
            sigma=pm.HalfNormal("s", 1),
            observed=y,
        )
    return m


@add("sheared: g, w")
def asymmetric_laplace_kappa():
    """AsymmetricLaplace by kappa, random b; quantile shift must be exact."""
    X, y = xy(72, beta=(1.2, 0.0))
    with pm.Model() as m:
        b = pm.LogNormal("b", 0, 0.5)
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.AsymmetricLaplace("y", kappa=1.6, mu=0.2 + X @ (g * w), b=b, observed=y)
    return m


@add("binary: g")
def ordered_logistic_gated():
    """OrderedLogistic with gated predictor and ordered random cutpoints."""
    X, y = xy(73, beta=(1.5, 0.0))
    k = np.digitize(y, [-0.7, 0.7])
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        w = pm.Normal("w", 0, 1.5, shape=2)
        c = pm.Normal(
            "c",
            mu=[-1, 1],
            sigma=1,
            shape=2,
            transform=pm.distributions.transforms.ordered,
            initval=np.array([-1.0, 1.0]),
        )
        pm.OrderedLogistic("y", eta=X @ (g * w), cutpoints=c, observed=k, compute_p=False)
    return m


@add("general: g, w")
def lognormal_and_normal_share_gates():
    """Two likelihoods share gates and weights.

    LogNormal outcome gated, Normal outcome with the raw weight.
    """
    X, y = xy(74, n=4, beta=(0.8, 0.0))
    v = np.array([0.7, -0.2]) + 0.3 * np.random.default_rng(74).normal(size=2)
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=2)
        pm.LogNormal("y", X @ (g * w), 0.6, observed=np.exp(y))
        pm.Normal("pilot", w, 0.8, observed=v)
    return m


@add("sheared: g, w")
def gate_here_index_there():
    """the same flags gate weights in one likelihood and index rates in a Poisson one."""
    X, y = xy(75, n=5, beta=(1.0, 0.0, 0.6))
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        lam = pt.as_tensor_variable(np.array([0.7, 2.5]))
        pm.Normal("y", X @ (g * w), 0.8, observed=y)
        pm.Poisson("clicks", lam[g], observed=np.array([2, 0, 1]))
    return m


@add("general: g, w0, y_unobserved")
def observed_weight_among_free():
    """a gated weight whose neighbour is observed; masked outcomes are imputed."""
    X, y = xy(76, n=6, beta=(1.0, 0.6))
    ym = np.ma.masked_array(y, mask=[0, 0, 1, 0, 0, 0])
    with pm.Model() as m:
        g = pm.Bernoulli("g", 0.4, shape=2)
        tau = pm.HalfNormal("tau", 1.0)
        w0 = pm.Normal("w0", 0, tau)
        w1 = pm.Normal("w1", 0, tau, observed=0.6)
        pm.Normal("y", g[0] * w0 * X[:, 0] + g[1] * w1 * X[:, 1], 0.6, observed=ym)
    return m


@add("general: C_unobserved, w")
def masked_binary_covariate_interaction():
    """a masked 0/1 covariate is both an offset with its own weight and a gate of another one."""
    rng = np.random.default_rng(77)
    c = np.array([1, 0, 1, -1, 0, -1, 1, 0])
    x = rng.normal(size=8)
    y = np.array([1, 0, 1, 1, 0, 0, 1, 0]) * (0.5 + 1.2 * x) + 0.5 * rng.normal(size=8)
    with pm.Model() as m:
        C = pm.Bernoulli("C", 0.5, observed=np.ma.masked_values(c, -1))
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Normal("y", w[0] * C + w[1] * C * x, 0.6, observed=y)
    return m
