"""Thirty PyMC models with latent binary unknowns, in the spellings people really use.

``CORPUS``: dicts with id, tags, build, truth (exact P(=1) per binary free variable, or None), note
(the path one would expect), binaries and desc. Spellings are meant: do not tidy them up.
"""

import itertools

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

CORPUS = []


def case(id, tags, note, binaries, desc):
    def deco(build):
        CORPUS.append(
            {
                "id": id,
                "tags": tags,
                "build": build,
                "truth": None,
                "note": note,
                "binaries": binaries,
                "desc": desc,
            }
        )
        return build

    return deco


def truth_for(id):
    def deco(fn):
        for c in CORPUS:
            if c["id"] == id:
                c["truth"] = fn
                return fn
        raise KeyError(id)

    return deco


def states(n):
    return np.array(list(itertools.product([0, 1], repeat=n)), dtype="int64")


def exact(model, binaries, gaussian=(), grid=None):
    """Exact P(binary = 1): enumerate binaries, integrate ``gaussian`` free RVs in closed
    form (their log-density must be quadratic: checked), trapezoid over ``grid``, a dict of
    value-variable name -> evenly spaced points on the unconstrained scale."""
    grid = grid or {}
    ip = model.initial_point()
    bin_rvs = [model[b] for b in binaries]
    g_rvs = [model[g] for g in gaussian]
    left = {model.rvs_to_values[r].name for r in model.free_RVs}
    left -= {model.rvs_to_values[r].name for r in bin_rvs + g_rvs} | set(grid)
    assert not left, f"unknowns left over: {left}"
    outs = [model.logp()] + ([model.dlogp(vars=g_rvs)] if g_rvs else [])
    fn = model.compile_fn(outs, inputs=model.value_vars, point_fn=True, on_unused_input="ignore")
    shapes = [ip[model.rvs_to_values[r].name].shape for r in bin_rvs]
    sizes = [int(np.prod(s)) for s in shapes]
    gsh = [ip[model.rvs_to_values[r].name].shape for r in g_rvs]
    gsz = [int(np.prod(s)) for s in gsh]
    S, d = states(sum(sizes)), sum(gsz)

    def point(s, gp, w):
        p, i = dict(ip), 0
        for r, sh, k in zip(bin_rvs, shapes, sizes, strict=False):
            v = model.rvs_to_values[r]
            p[v.name] = s[i : i + k].reshape(sh).astype(v.dtype)
            i += k
        i = 0
        for r, sh, k in zip(g_rvs, gsh, gsz, strict=False):
            p[model.rvs_to_values[r].name] = w[i : i + k].reshape(sh)
            i += k
        p.update({k: np.asarray(v, float).reshape(ip[k].shape) for k, v in gp.items()})
        return p

    rng = np.random.default_rng(0)
    lw = np.full((len(S), int(np.prod([len(g) for g in grid.values()]))), -np.inf)
    for a, s in enumerate(S):
        for b, gv in enumerate(itertools.product(*grid.values())):
            gp = dict(zip(grid, gv, strict=False))
            if not d:
                lw[a, b] = fn(point(s, gp, None))[0]
                continue
            l0, g0 = fn(point(s, gp, np.zeros(d)))
            H = np.array([fn(point(s, gp, e))[1] - g0 for e in np.eye(d)])
            L = np.linalg.cholesky(-(H + H.T) / 2)
            z = np.linalg.solve(L, g0)
            lw[a, b] = l0 + z @ z / 2 + d / 2 * np.log(2 * np.pi) - np.log(np.diag(L)).sum()
            if a == b == 0:
                w = rng.normal(size=d)
                assert np.allclose(fn(point(s, gp, w))[0], l0 + g0 @ w + w @ H @ w / 2, rtol=1e-6)
    lw = np.where(np.isnan(lw), -np.inf, lw)
    if lw.shape[1] > 1:  # the rule is only fair if the mass lies inside the grid
        m = np.exp(lw - lw.max()).sum(0).reshape([len(g) for g in grid.values()])
        edge = max(
            max(
                np.take(m, [0, -1], axis=k).sum(tuple(j for j in range(m.ndim) if j != k)).max()
                if m.ndim > 1
                else m[[0, -1]].max()
                for k in range(m.ndim)
            )
            / m.sum(),
            0,
        )
        assert edge < 1e-3, f"grid cuts mass: {edge:.1e}"
    w = np.exp(lw - lw.max()).sum(1)
    pr, out, i = (w / w.sum()) @ S, {}, 0
    for name, sh, k in zip(binaries, shapes, sizes, strict=False):
        out[name] = pr[i : i + k].reshape(sh)
        i += k
    return out


def _reg(seed, n=30, p=5, k=2, sd=1.0, size=1.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    b = np.where(np.arange(p) < k, size, 0.0)
    return X, X @ b + sd * rng.normal(size=n)


def _two(seed, n=10, gap=3.0):
    rng = np.random.default_rng(seed)
    z = np.arange(n) >= n // 2
    return np.where(z, gap / 2, -gap / 2) + rng.normal(size=n)


@case(
    "ss_mult_deterministic",
    ["spike-slab", "product", "Deterministic", "tau-param", "intercept"],
    "spike-slab gaussian",
    ["delta"],
    "Kuo-Mallick: Deterministic(delta*alpha), precisions (tau=), Gamma noise precision, vague intercept",  # noqa: E501
)
def model_01():
    X, y = _reg(1, 25, 4)
    with pm.Model() as m:
        delta = pm.Bernoulli("delta", p=0.5, shape=4)
        alpha = pm.Normal("alpha", 0, tau=0.1, shape=4)
        beta = pm.Deterministic("beta", delta * alpha)
        tau = pm.Gamma("tau", 0.1, 0.1)
        b0 = pm.Normal("intercept", 0, tau=0.001)
        pm.Normal("lik", b0 + pm.math.dot(X - X.mean(0), beta), tau=tau, observed=y)
    return m


@truth_for("ss_mult_deterministic")
def truth_01():
    return exact(
        model_01(), ["delta"], ["alpha", "intercept"], {"tau_log__": np.linspace(-4, 4, 60)}
    )


@case(
    "ss_kaggle_sparse_logit",
    ["spike-slab", "product", "positional p", "hand-made invlogit", "p >> n"],
    "generic",
    ["xi"],
    "Bernoulli('xi', .05), dot(X, xi*beta), 1/(1+exp(-x)) written out, more columns than rows",
)
def model_04():
    X, y = _reg(4, 15, 20)
    with pm.Model() as m:
        xi = pm.Bernoulli("xi", 0.05, shape=X.shape[1])
        alpha = pm.Normal("alpha", mu=0, sigma=5)
        beta = pm.Normal("beta", mu=0, sigma=0.75, shape=X.shape[1])
        eta = pm.math.dot(X, xi * beta)
        pm.Bernoulli("y_obs", 1 / (1 + pt.exp(-(eta + alpha))), observed=(y > 0).astype(int))
    return m


@case(
    "ssvs_scale_blend",
    ["SSVS", "sigma = z*slab+(1-z)*spike", "Deterministic", "centred", "Beta hyperprior"],
    "piecewise-gaussian (separable given coef)",
    ["z"],
    "George-McCulloch: the indicator switches the prior sd of a centred coefficient; scales unknown",  # noqa: E501
)
def model_07():
    X, y = _reg(7, 30, 5)
    with pm.Model() as m:
        pi = pm.Beta("pi", alpha=1.0, beta=1.0)
        sp = pm.Exponential("sigma_spike", lam=50.0)
        sl = pm.HalfNormal("sigma_slab", sigma=1.0)
        z = pm.Bernoulli("z", p=pi, shape=5)
        sb = pm.Deterministic("sigma_beta", z * sl + (1 - z) * sp)
        coef = pm.Normal("coef", mu=0.0, sigma=sb, shape=5)
        alpha = pm.Normal("alpha", 0.0, 1.0)
        sigma = pm.HalfNormal("sigma", sigma=0.5)
        pm.Normal("y", mu=alpha + pt.dot(X, coef), sigma=sigma, observed=y)
    return m


@case(
    "ss_two_branches_noncentred",
    ["spike-slab", "blend of two RVs", "non-centred slab", "HalfNormal local scale"],
    "spike-slab gaussian (both branches live)",
    ["gamma"],
    "beta_spike*(1-gamma) + (tau2*beta_tilde)*gamma: two Gaussian weights per indicator",
)
def model_10():
    X, y = _reg(10, 30, 4)
    with pm.Model() as m:
        q = pm.Beta("inclusion_prop", 2, 7)
        spike = pm.Normal("beta_spike", 0, 0.05, shape=4)
        tau2 = pm.HalfNormal("tau2", 2, shape=4)
        tilde = pm.Normal("beta_tilde", 0, 1, shape=4)
        slab = pm.Deterministic("beta_slab", 0 + tau2 * tilde)
        gamma = pm.Bernoulli("gamma", q, shape=4)
        b = pm.Deterministic("b", (spike * (1 - gamma)) + (slab * gamma))
        pm.Normal("y", pt.dot(X, b), 1.0, observed=y)
    return m


@case(
    "ss_bsts_local_level",
    ["spike-slab", "product", "cumsum random walk", "Beta per indicator"],
    "spike-slab gaussian (more Gaussian unknowns than indicators)",
    ["gamma"],
    "structural time series: cumsum of innovations plus dot(X, gamma*beta_raw)",
)
def model_13():
    rng = np.random.default_rng(13)
    X = rng.normal(size=(20, 2))
    y = np.cumsum(0.2 * rng.normal(size=20)) + 1.5 * X[:, 0] + 0.5 * rng.normal(size=20)
    with pm.Model() as m:
        pi = pm.Beta("pi", alpha=1, beta=1, shape=2)
        gamma = pm.Bernoulli("gamma", p=pi, shape=2)
        raw = pm.Normal("beta_raw", mu=0, sigma=2, shape=2)
        beta = pm.Deterministic("beta", gamma * raw)
        sl = pm.HalfNormal("sigma_level", sigma=1)
        inn = pm.Normal("level_innov", mu=0, sigma=sl, shape=20)
        level = pm.Deterministic("level", pt.cumsum(inn))
        so = pm.HalfNormal("sigma_obs", sigma=3)
        pm.Normal("obs", mu=level + pm.math.dot(X, beta), sigma=so, observed=y)
    return m


@case(
    "ss_group_prior_index",
    ["SSVS", "p = pi[group_index]", "mean per group", "HalfCauchy slab"],
    "piecewise-gaussian (separable given beta)",
    ["gamma"],
    "inclusion probability and prior mean gathered by a group index",
)
def model_16():
    X, y = _reg(16, 30, 6)
    g = np.array([0, 0, 1, 1, 2, 2])
    with pm.Model() as m:
        mu_t = pm.Normal("mu_theme", 0, 1, shape=3)
        slab = pm.HalfCauchy("slab_sd", beta=1)
        pi = pm.Beta("pi_theme", alpha=2, beta=1, shape=3)
        gamma = pm.Bernoulli("gamma", p=pi[g], shape=6)
        beta = pm.Normal("beta", mu=mu_t[g], sigma=gamma * slab + (1 - gamma) * 0.01, shape=6)
        s = pm.InverseGamma("sigma_obs", alpha=2, beta=2)
        pm.Normal("r", mu=pm.math.dot(X, beta), sigma=s, observed=y)
    return m


@case(
    "ss_python_loop_columns",
    [
        "spike-slab",
        "python loop",
        "sum of scalars b[j]*g[j]*x_j",
        "covariance depends on gamma",
        "Binomial",
    ],
    "generic",
    ["gamma"],
    "sum([betas[j]*gamma[j]*X[:, j] ...]) and MvNormal(cov=diag(f(gamma))): indicator used twice",
)
def model_19():
    rng = np.random.default_rng(19)
    X = rng.normal(size=(20, 3))
    y = rng.binomial(20, 1 / (1 + np.exp(-X[:, 0])))
    with pm.Model() as m:
        alpha = pm.Normal("alpha", 0, 1)
        gamma = pm.Bernoulli("gamma", p=0.3, shape=3)
        s = pm.Uniform("sigma", lower=0.2, upper=1.5)
        betas = pm.MvNormal(
            "betas", np.zeros(3), cov=pt.diag(s * (gamma + (1 - gamma) * 0.01)), shape=3
        )
        eta = alpha + sum([betas[j] * gamma[j] * X[:, j] for j in range(3)])
        pm.Binomial("y", n=20, p=pm.math.invlogit(eta), observed=y)
    return m


@case(
    "sign_and_zero_product",
    ["spike-slab", "two binaries per weight", "(1-delta)*(2*M-1)*f", "pt.outer", "dims", "size="],
    "higher order: piecewise-gaussian, delta*M*f is cubic",
    ["delta", "M"],
    "one flag zeroes the effect, another flips its sign, both multiply the same Gaussian",
)
def model_22():
    rng = np.random.default_rng(22)
    Y = np.array([1.0, -1.2, 0.0, 0.9])[:, None] + 0.4 * rng.normal(size=(4, 3))
    with pm.Model(coords={"nco": range(4), "setting": range(3)}) as m:
        Yt = pm.Data("Y", Y, dims=("nco", "setting"))
        delta = pm.Bernoulli("delta", p=0.4, size=4, dims="nco")
        M = pm.Bernoulli("M", p=0.6, size=4, dims="nco")
        f = pm.Normal("f", mu=0.8, sigma=0.5, dims="nco")
        mu = pm.Deterministic(
            "mu", pt.outer((1 - delta) * (2 * M - 1) * f, pt.ones(3)), dims=("nco", "setting")
        )
        pm.Normal("Y_obs", mu=mu, sigma=0.4, observed=Yt, dims=("nco", "setting"))
    return m


@truth_for("sign_and_zero_product")
def truth_22():
    return exact(model_22(), ["delta", "M"], ["f"])


@case(
    "knapsack_potential",
    ["optimisation", "Potential", "switch on weighted sum > capacity", "quadratic penalty"],
    "generic (penalty switches on a sum)",
    ["inclusion"],
    "value as reward, -(excess)^2 only when the total weight passes the capacity",
)
def model_25():
    v, w, cap = np.array([6.0, 5, 4, 3, 2, 1]), np.array([5.0, 4, 3, 2, 2, 1]), 8.0
    with pm.Model() as m:
        inc = pm.Bernoulli("inclusion", p=0.5, shape=6)
        tv, tw = pm.math.sum(inc * v), pm.math.sum(inc * w)
        pen = pm.math.switch(tw > cap, -((tw - cap) ** 2), 0.0)
        pm.Potential("action", (tv + 3 * pen) / 2.0)
    return m


@truth_for("knapsack_potential")
def truth_25():
    return exact(model_25(), ["inclusion"])


@case(
    "mix_categorical2_dirichlet",
    ["mixture", "Categorical k=2", "Dirichlet", "index a constant tensor"],
    "separable (a two-class Categorical is a binary)",
    ["category"],
    "Categorical(p=Dirichlet([1,1])) indexes known means",
)
def model_28():
    y = _two(28, 10, 2.0)
    with pm.Model() as m:
        p = pm.Dirichlet("p", a=[1, 1])
        c = pm.Categorical("category", p=p, shape=10)
        means = pt.as_tensor_variable([-1.0, 1.0])
        pm.Normal("y", mu=means[c], sigma=1.0, observed=y)
    return m


@case(
    "mix_linear_blend",
    ["mixture", "ber*m1+(1-ber)*m2", "Deterministic", "precision Gamma"],
    "piecewise-gaussian (separable given means)",
    ["ber"],
    "the oldest spelling: a convex combination with a 0/1 weight",
)
def model_31():
    y = _two(31, 10)
    with pm.Model() as m:
        p = pm.Uniform("p", 0, 1)
        ber = pm.Bernoulli("ber", p=p, shape=10)
        m1 = pm.Uniform("mean1", -15, 15)
        m2 = pm.Uniform("mean2", -15, 15)
        prec = pm.Gamma("precision", alpha=0.1, beta=0.1)
        mean = pm.Deterministic("mean", ber * m1 + (1 - ber) * m2)
        pm.Normal("process", mu=mean, tau=prec, observed=y)
    return m


@case(
    "list_of_scalars_stacked",
    ["mixture", "list of scalar Bernoullis", "pt.stack", "reshape", "pt.where"],
    "separable",
    [f"idx_{i}" for i in range(6)],
    "[pm.Bernoulli(f'idx_{i}') ...] stacked and reshaped, then where()",
)
def model_34():
    rng = np.random.default_rng(34)
    with pm.Model() as m:
        idxs = [pm.Bernoulli(f"idx_{i}", p=(0.75 if i % 2 == 0 else 0.4)) for i in range(6)]
        idx = pt.stack(idxs, axis=0).reshape((3, 2))
        pm.Normal("y", mu=pt.where(idx, 1.0, -1.0), sigma=1.0, observed=rng.normal(size=(3, 2)))
    return m


@truth_for("list_of_scalars_stacked")
def truth_34():
    return exact(model_34(), [f"idx_{i}" for i in range(6)])


@case(
    "outlier_inflated_sigma",
    ["outlier", "sigma = 1 + z", "LogNormal", "effect[index data]"],
    "piecewise-gaussian on the log scale (separable given effects)",
    ["is_outlier"],
    "the flag adds to a standard deviation; group effects gathered by a pm.Data index",
)
def model_37():
    rng = np.random.default_rng(37)
    with pm.Model() as m:
        data = pm.Data("data", np.exp(rng.normal(size=8)))
        eff = pm.Normal("cat_effect", sigma=1, shape=3)
        i = pm.Data("i", np.array([0, 1] * 4))
        z = pm.Bernoulli("is_outlier", 0.4, shape=8)
        pm.LogNormal("y", mu=eff[i], sigma=1 + z, observed=data)
    return m


@truth_for("outlier_inflated_sigma")
def truth_37():
    return exact(model_37(), ["is_outlier"], ["cat_effect"])


@case(
    "pool_truncated_index",
    [
        "mixture",
        "source[component] of stacked RVs",
        "TruncatedNormal children",
        "TruncatedNormal likelihood",
        "dims",
    ],
    "piecewise-gaussian, truncated on [0,1]; the truncation constants depend on the flags: generic",
    ["assign"],
    "stack([pos, neg])[assign] is the mean of a doubly truncated latent, itself seen through a truncated likelihood",  # noqa: E501
)
def model_40():
    rng = np.random.default_rng(40)
    obs = np.clip(np.repeat([0.1, 0.7, 0.15, 0.65], 3) + 0.05 * rng.normal(size=12), 0.01, 0.99)
    inds = np.repeat(np.arange(4), 3)
    with pm.Model(coords={"pool": range(4)}) as m:
        off = pm.Normal("offset", mu=0.6, sigma=0.1)
        neg = pm.TruncatedNormal("negative", mu=0, sigma=0.1, lower=0, upper=1)
        pos = pm.Deterministic("positive", neg + off)
        src = pm.math.stack([pos, neg], axis=0)
        c = pm.Bernoulli("assign", 0.5, dims="pool")
        pool = pm.TruncatedNormal(
            "pool_dist", mu=src[c], sigma=pm.Exponential("sigma", 1), lower=0, upper=1, dims="pool"
        )
        pm.TruncatedNormal(
            "lik",
            mu=pool[inds],
            sigma=pm.Exponential("sigma_data", 1),
            lower=0,
            upper=1,
            observed=obs,
        )
    return m


@case(
    "bcm_exam_individual",
    ["latent mixture", "switch(eq(z,1), phi_i, psi)", "bounded Normal per person", "vague Gamma"],
    "separable given phi (Binomial likelihood of a truncated Gaussian: phi stays with NUTS)",
    ["zi"],
    "each person has a truncated-normal ability which only matters when z=1",
)
def model_43():
    k = np.array([21, 17, 21, 18, 31, 31, 34, 35])
    with pm.Model() as m:
        z = pm.Bernoulli("zi", p=0.5, shape=8)
        mu = pm.Uniform("mu", upper=1, lower=0.5)
        lam = pm.Gamma("lambda_", alpha=2, beta=0.1)
        phi = pm.TruncatedNormal("phi", mu=mu, tau=lam, lower=0, upper=1, shape=8)
        th = pm.Deterministic("theta", pt.switch(pt.eq(z, 1), phi, 0.5))
        pm.Binomial("ki", p=th, n=40, observed=k)
    return m


@case(
    "bcm_malingering",
    [
        "latent mixture",
        "Beta rates",
        "switch(eq(z,0), ...)",
        "logit-offset hyperprior",
        "base rate psi",
    ],
    "separable given rates",
    ["zi"],
    "two Beta-distributed group rates with mean/concentration hyperpriors",
)
def model_46():
    k = np.array([45, 44, 45, 40, 20, 13, 12, 25])
    with pm.Model() as m:
        mub = pm.Beta("mub", alpha=1, beta=1)
        mud = pm.HalfNormal("mud", sigma=0.5)
        lb = pm.Uniform("lambdab", lower=40, upper=800)
        lm = pm.Uniform("lambdam", lower=4, upper=100)
        psi = pm.Beta("psi", alpha=5, beta=5)
        z = pm.Bernoulli("zi", p=psi, shape=8)
        mum = pm.Deterministic("mum", 1 / (1 + pt.exp(pt.log(1 / mub - 1) + mud)))
        t1 = pm.Beta("theta1", alpha=mub * lb, beta=(1 - mub) * lb)
        t2 = pm.Beta("theta2", alpha=mum * lm, beta=(1 - mum) * lm)
        pm.Binomial(
            "k", p=pm.Deterministic("theta", pt.switch(pt.eq(z, 0), t1, t2)), n=45, observed=k
        )
    return m


@case(
    "bcm_gcm_two_flags",
    ["latent mixture", "two flag vectors", "clipped Normal", "squeeze", "broadcast (1,1,n)"],
    "separable given the continuous unknowns",
    ["zck", "zcg"],
    "one flag switches a contaminant, the other the mean of a clipped Gaussian attention weight",
)
def model_49():
    rng = np.random.default_rng(49)
    n, st = 6, 4
    d1, d2 = rng.random((st, st, 1)), rng.random((st, st, 1))
    a1 = np.array([1, 1, 0, 0])[None, :, None]
    y = rng.binomial(8, np.array([0.8, 0.7, 0.3, 0.2])[:, None], (st, n))
    with pm.Model() as m:
        m1 = pm.Uniform("mu1w", 0, 1, initval=0.2)
        dl = pm.Uniform("delta", 0, 1, initval=0.5)
        m2 = pm.Deterministic("mu2w", pt.clip(m1 + dl, 0, 1))
        zc = pm.Bernoulli("zck", p=pm.Uniform("phic", 0, 1), shape=n)
        zg = pm.Bernoulli("zcg", p=pm.Uniform("phig", 0, 1), shape=n)
        c = pt.clip(pm.Normal("c", mu=1.5, sigma=0.5, shape=(1, 1, n)), 0, 5)
        muw = pm.Deterministic("muw", pt.switch(pt.eq(zg, 0), m1, m2))
        w = pt.clip(pm.Normal("w", mu=muw, sigma=0.2, shape=(1, 1, n)), 0, 1)
        s = pt.exp(-c * (w * d1 + (1 - w) * d2))
        A, B = pt.sum(a1 * s, axis=1), pt.sum((1 - a1) * s, axis=1)
        r = pt.squeeze(pt.switch(pt.eq(zc, 0), A / (A + B), pt.constant(np.ones((st, n)) * 0.5)))
        pm.Binomial("y", p=r, n=8, observed=y)
    return m


@case(
    "model_index_discreteuniform",
    ["model choice", "DiscreteUniform(0,1)", "switch(eq(m,1))", "Beta prior"],
    "separable (one binary, not spelt Bernoulli)",
    ["model_index"],
    "model index ~ DiscreteUniform(0, 1) picks the prior mean of theta",
)
def model_52():
    y = np.repeat([0, 1], [3, 6])
    with pm.Model() as m:
        i = pm.DiscreteUniform("model_index", lower=0, upper=1)
        mu = pm.math.switch(pm.math.eq(i, 1), 0.25, 0.75)
        th = pm.Beta("theta", mu * 12, (1 - mu) * 12)
        pm.Bernoulli("y", th, observed=y)
    return m


@truth_for("model_index_discreteuniform")
def truth_52():
    return exact(model_52(), ["model_index"], grid={"theta_logodds__": np.linspace(-12, 12, 2000)})


@case(
    "sprinkler_shape1",
    ["Bayes net", "nested switch", "shape=1 arrays", "Deterministic probs", "p = 0.0 in a table"],
    "generic (3 parents deep; a zero in the table is a hard constraint)",
    ["rain", "sprinkler"],
    "rain -> sprinkler -> wet grass (observed), every node an array of length one",
)
def model_55():
    with pm.Model() as m:
        rain = pm.Bernoulli("rain", 0.2, shape=1, initval=[1])
        sp = pm.Deterministic("sprinkler_p", pm.math.switch(rain, 0.01, 0.40))
        s = pm.Bernoulli("sprinkler", sp, shape=1, initval=[1])
        gp = pm.Deterministic(
            "grass_wet_p",
            pm.math.switch(rain, pm.math.switch(s, 0.99, 0.80), pm.math.switch(s, 0.90, 0.0)),
        )
        pm.Bernoulli("grass_wet", gp, observed=np.array([1]), shape=1)
    return m


@truth_for("sprinkler_shape1")
def truth_55():
    return exact(model_55(), ["rain", "sprinkler"])


@case(
    "cpt_table_lookup",
    ["Bayes net", "Categorical k=2", "shared tables", "table[A, B] advanced indexing"],
    "generic (two-class Categoricals)",
    ["E", "R", "A", "B"],
    "conditional tables held in shared variables and looked up by the parents' values",
)
def model_58():
    tA = pytensor.shared(np.array([[0.9, 0.1], [0.5, 0.5]]))
    tB = pytensor.shared(np.array([[[0.95, 0.05], [0.8, 0.2]], [[0.7, 0.3], [0.25, 0.75]]]))
    tS = pytensor.shared(np.array([[[0.99, 0.01], [0.5, 0.5]], [[0.8, 0.2], [0.4, 0.6]]]))
    with pm.Model() as m:
        E = pm.Categorical("E", p=np.array([0.8, 0.2]))
        R = pm.Categorical("R", p=np.array([0.7, 0.3]))
        A = pm.Categorical("A", p=tA[E])
        B = pm.Categorical("B", p=tB[E, R])
        pm.Categorical("S", p=tS[A, B], observed=1)
    return m


@truth_for("cpt_table_lookup")
def truth_58():
    return exact(model_58(), ["E", "R", "A", "B"])


@case(
    "bmh_privacy_algorithm",
    [
        "randomised response",
        "f*t+(1-f)*s",
        "three Bernoulli vectors",
        "sum -> one Binomial",
        "initval random",
    ],
    "generic (log of a sum of cubic terms)",
    ["truths", "first_flips", "second_flips"],
    "only the total of a gated sum is observed: Binomial(N, sum(val)/N)",
)
def model_61():
    N = 4
    with pm.Model() as m:
        p = pm.Uniform("freq_cheating", 0, 1)
        t = pm.Bernoulli("truths", p, shape=N, initval=np.array([0, 1, 0, 1]))
        f = pm.Bernoulli("first_flips", 0.5, shape=N, initval=np.array([1, 1, 0, 0]))
        s = pm.Bernoulli("second_flips", 0.5, shape=N, initval=np.array([1, 0, 1, 0]))
        val = f * t + (1 - f) * s
        prop = pm.Deterministic("observed_proportion", pt.sum(val) / float(N))
        pm.Binomial("obs", N, prop, observed=2)
    return m


@truth_for("bmh_privacy_algorithm")
def truth_61():
    from math import lgamma

    S, N = states(12), 4
    t, f, s = S[:, :4], S[:, 4:8], S[:, 8:]
    q, k = (f * t + (1 - f) * s).mean(1), t.sum(1)
    with np.errstate(divide="ignore"):
        w = q**2 * (1 - q) ** 2 * np.array([np.exp(lgamma(1 + a) + lgamma(1 + N - a)) for a in k])
    pr = w @ S / w.sum()
    return {"truths": pr[:4], "first_flips": pr[4:8], "second_flips": pr[8:]}


@case(
    "capture_recapture_m0",
    ["data augmentation", "z*p broadcast over leading axis", "observed y.T", "hard constraint"],
    "separable given omega, p",
    ["z"],
    "augmented animals: all-zero histories may or may not exist",
)
def model_64():
    y = np.array(
        [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    )
    with pm.Model(coords={"ind": range(8), "t": range(3)}) as m:
        om = pm.Uniform("omega", 0, 1)
        p = pm.Uniform("p", 0, 1)
        z = pm.Bernoulli("z", p=om, dims="ind", initval=np.ones(8, int))
        pm.Bernoulli("y_obs", p=z * p, observed=y.T, dims=("t", "ind"))
        pm.Deterministic("N", z.sum())
    return m


@truth_for("capture_recapture_m0")
def truth_64():
    # z = 1 where seen; the unseen are exchangeable: 2-d rule over (omega, p)
    g = (np.arange(600) + 0.5) / 600
    O, P = np.meshgrid(g, g, indexing="ij")  # noqa: E741
    one, zero = O * (1 - P) ** 3, 1 - O
    L = O**4 * P**7 * (1 - P) ** 5 * (one + zero) ** 3
    pz = (L * one).sum() / (L * (one + zero)).sum()
    return {"z": np.r_[np.ones(4), np.full(4, pz)]}


@case(
    "dynamic_occupancy_list",
    ["Markov chain", "loop of vector Bernoullis", "z*phi+(1-z)*gamma", "stack in Deterministic"],
    "quadratic given rates (chain couplings), plus separable detection",
    [f"z_{t}" for t in range(4)],
    "persistence/colonisation chain built year by year, stacked for the likelihood",
)
def model_67():
    rng = np.random.default_rng(67)
    y = rng.binomial(3, 0.4, (3, 4)) * (rng.random((3, 4)) < 0.7)
    with pm.Model() as m:
        psi = pm.Beta("psi", 1, 1)
        phi = pm.math.sigmoid(pm.Normal("phi0", 1, 1))
        gam = pm.math.sigmoid(pm.Normal("gamma0", -1, 1))
        zs = [pm.Bernoulli("z_0", psi, shape=3, initval=np.ones(3, int))]
        for t in range(1, 4):
            zs.append(
                pm.Bernoulli(
                    f"z_{t}",
                    zs[t - 1] * phi + (1 - zs[t - 1]) * gam,
                    shape=3,
                    initval=np.ones(3, int),
                )
            )
        z = pm.Deterministic("z", pm.math.stack(zs, axis=1))
        pm.Binomial("y", n=3, p=z * pm.Beta("p_det", 2, 2), observed=y)
    return m


@case(
    "occupancy_two_likelihoods",
    [
        "occupancy",
        "switch for mu and sigma",
        "z[:, None] in two likelihoods",
        "false positives p01",
    ],
    "piecewise-gaussian + Bernoulli (separable given the rest)",
    ["z"],
    "the same flags drive a false-positive Bernoulli and a two-component score likelihood",
)
def model_70():
    rng = np.random.default_rng(70)
    z0 = np.array([0, 1, 1, 0, 1, 0])
    sc = np.where(z0, 1, -1)[:, None] + rng.normal(size=(6, 3))
    ya = (rng.random((6, 2)) < np.where(z0, 0.7, 0.1)[:, None]).astype(int)
    with pm.Model() as m:
        psi = pm.Deterministic("psi", pm.math.sigmoid(pm.Normal("beta0", 0, 2) + np.zeros(6)))
        z = pm.Bernoulli("z", p=psi, shape=6)
        p11, p01 = pm.Beta("p11", 2, 2), pm.Beta("p01", 1, 3)
        pm.Bernoulli("y_aru", p=z[:, None] * p11 + (1 - z[:, None]) * p01, observed=ya)
        mu = pm.Normal("mu", mu=[-1, 1], sigma=2, shape=2)
        s = pm.HalfNormal("sigma", 1, shape=2)
        pm.Normal(
            "scores",
            mu=pm.math.switch(z, mu[1], mu[0])[:, None],
            sigma=pm.math.switch(z, s[1], s[0])[:, None],
            observed=sc,
        )
    return m


@case(
    "ising_image_denoise",
    [
        "Ising",
        "slices x[:, 1:]*x[:, :-1]",
        "Gaussian pixels",
        "sum in Potential",
        "unknown coupling fixed",
    ],
    "quadratic",
    ["x"],
    "neighbour products by slicing, plus a Gaussian likelihood on 2x-1",
)
def model_73():
    rng = np.random.default_rng(73)
    img = np.where(np.arange(9).reshape(3, 3) < 5, 1.0, -1.0) + rng.normal(size=(3, 3))
    with pm.Model() as m:
        x = pm.Bernoulli("x", p=0.5, shape=(3, 3))
        s = 2.0 * x - 1.0
        pm.Potential("smooth", 0.6 * ((s[:, 1:] * s[:, :-1]).sum() + (s[1:] * s[:-1]).sum()))
        pm.Normal("img", mu=s, sigma=1.0, observed=img)
    return m


@truth_for("ising_image_denoise")
def truth_73():
    return exact(model_73(), ["x"])


@case(
    "sigmoid_belief_net",
    ["directed binary net", "p = sigmoid(dot(w, parents))", "scalars in topological order"],
    "generic",
    ["n0", "n1", "n2", "n3"],
    "layered binary causes; children's logits linear in parents, leaves observed",
)
def model_76():
    W = np.random.default_rng(76).normal(size=(7, 7)) * 1.5
    with pm.Model() as m:
        v = [pm.Bernoulli("n0", 0.5), pm.Bernoulli("n1", 0.5)]
        for i in (2, 3):
            v.append(
                pm.Bernoulli(f"n{i}", p=pm.math.sigmoid(W[i, 0] * v[0] + W[i, 1] * v[1] - 0.3))
            )
        for i, o in zip((4, 5, 6), (1, 0, 1), strict=False):
            pm.Bernoulli(f"leaf{i}", logit_p=W[i, 2] * v[2] + W[i, 3] * v[3] + 0.2, observed=o)
    return m


@truth_for("sigmoid_belief_net")
def truth_76():
    return exact(model_76(), ["n0", "n1", "n2", "n3"])


@case(
    "missing_covariate_regression",
    ["missing data", "masked Bernoulli covariates", "beta * x_imputed", "several variables"],
    "spike-slab gaussian shape: unknown flag times Gaussian coefficient, shared over rows",
    ["disab_unobserved", "mother_unobserved"],
    "two 0/1 covariates with holes enter a linear predictor next to complete ones",
)
def model_79():
    rng = np.random.default_rng(79)
    d, mo = rng.integers(0, 2, 16).astype(float), rng.integers(0, 2, 16).astype(float)
    x = rng.normal(size=16)
    y = 1 + 1.5 * d - 0.8 * mo + 0.5 * x + 0.6 * rng.normal(size=16)
    d[[0, 5, 9]] = -1
    mo[[2, 7]] = -1

    def mk(v):
        return np.ma.masked_values(v, value=-1).astype("int64")

    with pm.Model() as m:
        D = pm.Bernoulli("disab", pm.Beta("p_disab", 1, 1), observed=mk(d))
        M = pm.Bernoulli("mother", pm.Beta("p_mother", 1, 1), observed=mk(mo))
        a = pm.Normal("a", 0, 2)
        b = pm.Normal("beta", 0, 2, shape=3)
        pm.Normal("score", a + b[0] * D + b[1] * M + b[2] * x, pm.HalfNormal("s", 1), observed=y)
    return m


@case(
    "change_exists_flag",
    ["change point", "existence flag", "switch(eq(d,1), after, before)", "switch(idx < tau)"],
    "separable (one binary) given tau and rates",
    ["delta"],
    "did the regime change at all? the flag makes 'after' equal to 'before'",
)
def model_82():
    y = np.r_[np.random.default_rng(82).beta(2, 6, 8), np.random.default_rng(83).beta(6, 2, 8)]
    with pm.Model() as m:
        a1, b1, a2, b2 = (
            pm.Exponential(n, 0.3) for n in ("alpha_1", "beta_1", "alpha_2", "beta_2")
        )
        tau = pm.Uniform("tau", 0, 16)
        d = pm.Bernoulli("delta", p=pm.Beta("cp", 2, 2))
        idx = np.arange(16)
        A = pm.math.switch(idx < tau, a1, pm.math.switch(pt.eq(d, 1), a2, a1))
        B = pm.math.switch(idx < tau, b1, pm.math.switch(pt.eq(d, 1), b2, b1))
        pm.Beta("obs", alpha=A, beta=B, observed=y)
    return m


@case(
    "binary_exponent",
    [
        "binary as exponent",
        "F**Z * F0**(1-Z)",
        "Gamma shape",
        "normalised rows",
        "Beta(z/K, 1) prior",
        "dims",
    ],
    "separable given G (the flag chooses a Gamma shape)",
    ["Z"],
    "clone presence raises one of two shapes to the power of the flag",
)
def model_85():
    rng = np.random.default_rng(86)
    D = rng.poisson(5, (4, 3))
    with pm.Model(coords={"spot": range(3), "clone": range(4)}) as m:
        Pi = pm.Beta("Pi", alpha=2.0 / 4, beta=1, dims=("spot", "clone"))
        Z = pm.Bernoulli("Z", p=Pi, dims=("spot", "clone"))
        G = pm.Gamma("G", 2.0**Z * 0.2 ** (1 - Z), 1, dims=("spot", "clone"))
        H = pm.Deterministic("H", G / G.sum(axis=1)[:, None], dims=("spot", "clone"))
        pm.Poisson("D", 20 * H.T, observed=D)
    return m


@case(
    "flag_prior_from_regression",
    [
        "latent class",
        "logit_p prior",
        "class-specific regression",
        "switch of two linear predictors",
    ],
    "piecewise-gaussian (separable given coefficients)",
    ["k"],
    "class membership has its own logistic regression; each class has its own line",
)
def model_88():
    rng = np.random.default_rng(88)
    x = rng.normal(size=12)
    y = np.where(x > 0, 1 + 2 * x, -1 - x) + 0.3 * rng.normal(size=12)
    with pm.Model() as m:
        g = pm.Normal("g", 0, 1.5, shape=2)
        k = pm.Bernoulli("k", logit_p=g[0] + g[1] * x)
        a, b = pm.Normal("a", 0, 3, shape=2), pm.Normal("b", 0, 3, shape=2)
        mu = pm.math.switch(k, a[1] + b[1] * x, a[0] + b[0] * x)
        pm.Normal("y", mu, pm.HalfNormal("s", 1), observed=y)
    return m
