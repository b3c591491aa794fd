"""Regressions whose weights indicators switch on and off: the grammar, and the code of a choice.

Each table gives the code of an alternative, the plain one first. In it ``g`` are the gates of
the n weights, ``w`` the weights, ``X`` the predictors, ``y`` the data, and ``k`` is a number, 0 or
1, that is left to another step.
"""

import numpy as np

SIZES = {"2": 2, "1": 1, "3": 3}
ROWS = {"4": 4, "1": 1, "9": 9}
INDICATORS = {
    "bernoulli": 'pm.Bernoulli("gamma", {p}, {shape})',
    "logit": 'pm.Bernoulli("gamma", logit_p={logit}, {shape})',
    "uniform": 'pm.DiscreteUniform("gamma", 0, 1, {shape})',
    "binomial": 'pm.Binomial("gamma", 1, {p}, {shape})',
    "categorical": 'pm.Categorical("gamma", pt.stack([1 - ({p1}), {p1}]), {shape})',
}
PROBABILITIES = {
    "number": "0.4",
    "half": "np.array(0.5)",
    "vector": "np.linspace(0.2, 0.7, {m})",
    "beta": 'pm.Beta("p", 2, 3)',
    "sigmoid": 'pm.math.sigmoid(pm.Normal("theta", -0.5, 1))',
    "nested": '0.2 + 0.5 * pm.Bernoulli("parent", 0.4)',
    "uniform": 'pm.Uniform("p", 0.1, 0.9)',
    "sure": "np.linspace(0.3, 1.0, {m})",
    "by number": "pt.as_tensor([0.2, 0.6, 0.5])[k]",
}
GATES = {
    "each": "gamma",
    "shared": "gamma",
    "group": "gamma[{group}]",
    "complement": "1 - gamma",
    "product": 'gamma * pm.Bernoulli("outer", 0.6)',
    "first": "pt.concatenate([gamma[:1], np.ones({n} - 1)])",
    "either": "pt.concatenate([gamma[:1], 1 - gamma[:1], gamma[:1]])[:{n}]",
    "spins": "2 * gamma - 1",
    "all before": "pt.cumprod(gamma)",
    "list": 'pt.stack([pm.Bernoulli(f"gamma{{j}}", {p}) for j in range({n})])',
    "leaking": "pt.switch(gamma, 1.0, pt.as_tensor([0.0, 1.0, 1.0])[k])",
}
SCALES = {
    "number": "1.5",
    "array": "np.linspace(0.5, 2.0, {n})",
    "halfnormal": 'pm.HalfNormal("tau", 1.5)',
    "exponential": 'pm.Exponential("tau", 1.0)',
    "precision": '1 / pt.sqrt(pm.Gamma("lam", 3, 2))',
    "noise": "1.5 * sigma1",
    "both": 'pm.HalfNormal("tau", 1.5) * sigma1',
    "per weight": 'pm.LogNormal("tau", 0.0, 0.5, shape={n})',
    "lognormal": 'pm.LogNormal("tau", 0.0, 0.5)',
    "uniform": 'pm.Uniform("tau", 0.5, 3.0)',
    "by number": "pt.as_tensor([1.5, 0.4, 1.0])[k]",
}
WEIGHTS = {
    "normal": 'pm.Normal("w", 0, {scale}, shape={n})',
    "mean": 'pm.Normal("w", np.linspace(-1, 1, {n}), {scale}, shape={n})',
    "random mean": 'pm.Normal("w", pm.Normal("m", 0, 1), {scale}, shape={n})',
    "tau": 'pm.Normal("w", 0.3, tau=1 / ({scale}) ** 2, shape={n})',
    "halfnormal": 'pm.HalfNormal("w", {scale}, shape={n})',
    "lower": 'pm.TruncatedNormal("w", 0.3, {scale}, lower=-0.5, shape={n})',
    "upper": 'pm.TruncatedNormal("w", -0.3, {scale}, upper=np.linspace(0.5, 1, {n}), shape={n})',
    "interval": 'pm.TruncatedNormal("w", 0.5, {scale}, lower=-1.0, upper=1.5, shape={n})',
    "random bound": 'pm.TruncatedNormal("w", 0.0, 1.5, lower=-({scale}), shape={n})',
    "exponential": 'pm.Exponential("w", scale={scale}, shape={n})',
    "truncated": 'pm.Truncated("w", pm.Normal.dist(0.2, {scale}), lower=-0.7, shape={n})',
    "mvnormal": 'pm.MvNormal("w", np.linspace(0, 1, {n}), {cov}, shape={n})',
    "random mvnormal": 'pm.MvNormal("w", np.zeros({n}), ({scale1}) ** 2 * {cov}, shape={n})',
    "noncentred": '({scale}) * pm.Normal("u", 0, 1, shape={n})',
    "shifted": '0.5 + ({scale}) * pm.Normal("u", 0.2, 1, shape={n})',
    "half noncentred": '({scale}) * pm.HalfNormal("u", 1, shape={n})',
    "spike": 'pm.Normal("w", 0, pt.switch(g, {scale}, 0.2), shape={n})',
    "blend": 'pm.Normal("w", 0, g * ({scale}) + (1 - g) * 0.2, shape={n})',
    "scalars": 'pt.stack([pm.Normal(f"w{{j}}", 0.1 * j, {scale1}) for j in range({n})])',
    "chain": 'pt.stack([pm.Normal("w0", 0, 1), pm.Normal("w1", pm.Normal("m1", 0.5, 1), 1)])',
    "untransformed": 'pm.HalfNormal("w", {scale}, shape={n}, default_transform=None)',
    "laplace": 'pm.Laplace("w", 0, {scale}, shape={n})',
    "column": 'pm.Normal("w", 0, {scale1}, shape=({n}, 1))[:, 0]',
    "ordered": 'pm.Normal("w", 0, {scale1}, shape={n}, initval=np.arange({n}) - 0.5,'
    " transform=pm.distributions.transforms.ordered)",
    "walk": 'pm.GaussianRandomWalk("w", sigma={scale1}, init_dist=pm.Normal.dist(0, 1), shape={n})',
    "bound by number": 'pm.TruncatedNormal("w", 0.3, {scale}, shape={n}, default_transform=None,'
    " lower=pt.as_tensor([-np.inf, -0.5, 0.0])[k], upper=2.0)",
}
SPELLINGS = {
    "matmul": "X @ (g * w)",
    "dot": "pt.dot(X, g * w)",
    "scaled columns": "(X * g) @ w",
    "sum": "(X * (g * w)).sum(axis=1)",
    "loop": "sum(X[:, j] * g[j] * w[j] for j in range({n}))",
    "switch": "pt.dot(X, pt.switch(pt.eq(g, 1), w, 0.0))",
    "where": "X @ pt.where(g > 0.5, w, 0.0)",
    "deterministic": 'X @ pm.Deterministic("beta", g * w)',
    "minus": "X @ (w - (1 - g) * w)",
    "transposed": "pt.dot(g * w, X.T)",
    "column": "(X @ (g * w)[:, None])[:, 0]",
    "tensordot": "pt.tensordot(X, g * w, axes=[[1], [0]])",
    "set": "X @ pt.set_subtensor(pt.zeros({n})[:], g * w)",
    "joined": "X[:, :1] @ (g * w)[:1] + X[:, 1:] @ (g * w)[1:]",
    "diagonal": "X @ pt.diag(1.0 * g) @ w",
    "halves": "0.5 * (X @ (g * w)) + X @ (0.5 * w * g)",
    "ungated too": "X @ (g * w) + 0.5 * X @ w",
    "alone": "X @ (g * w) + 0.7 * X[:, 0] * g[0]",
    "no gate": "X @ w",
    "cube": "X @ (g**3 * w)",
    "powers": "X @ (pt.exp(pt.log(2.0) * g) - 1) * w[0]",
    "batched": "pt.matmul(X[:, None, :], (g * w)[:, None])[:, 0, 0]",
    "indexed rows": "(X * pt.stack([pt.zeros({n}), w])[g.astype('int64'), np.arange({n})]).sum(1)",
}
EXTRAS = {
    "none": "",
    "intercept": ' + pm.Normal("b", 0.5, 1)',
    "offset": " + np.linspace(-1, 1, {rows})",
    "slope": ' + np.linspace(-1, 1, {rows}) * pm.Normal("b", 0, 1)',
    "random factor": ' * pm.LogNormal("factor", 0, 0.3)',
    "half intercept": ' + pm.HalfNormal("b", 1)',
    "laplace intercept": ' + pm.Laplace("b", 0, 1)',
    "factor by number": " * pt.as_tensor([1.0, 0.0, 0.5])[k]",
    "cut factor": ' * pt.maximum(pm.StudentT("cut", 5, mu=0.3), 0.0)',
}
NOISES = {
    "number": "0.8",
    "array": "np.linspace(0.6, 1.2, {rows})",
    "halfnormal": 'pm.HalfNormal("sigma", 1.0)',
    "invgamma": 'pm.InverseGamma("sigma", 4, 3)',
    "uniform": 'pm.Uniform("sigma", 0.4, 2.0)',
    "gamma": '1 / pt.sqrt(pm.Gamma("precision", 4, 3))',
    "scaled": 'pm.HalfNormal("sigma", 1.0) * np.linspace(0.6, 1.2, {rows})',
    "by number": "pt.as_tensor([0.8, 1.6, 1.0])[k]",
}
LIKELIHOODS = {
    "normal": 'pm.Normal("y", mu, sigma, observed={y})',
    "tau": 'pm.Normal("y", mu, tau=1 / sigma**2, observed={y})',
    "mvnormal": 'pm.MvNormal("y", mu, {ycov}, observed={y})',
    "random mvnormal": 'pm.MvNormal("y", mu, pt.sqr(sigma1) * {ycov}, observed={y})',
    "cholesky": 'pm.MvNormal("y", mu, chol=sigma1 * np.linalg.cholesky({ycov}), observed={y})',
    "student": 'pm.StudentT("y", 4, mu=mu, sigma=sigma, observed={y})',
    "laplace": 'pm.Laplace("y", mu, sigma, observed={y})',
    "quantile": 'pm.AsymmetricLaplace("y", mu=mu, b=1 / sigma, q=0.3, observed={y})',
    "censored": 'pm.Censored("y", pm.Normal.dist(mu, sigma), lower=None, upper=0.6,'
    " observed=np.minimum(y, 0.6))",
    "two censored": 'pm.Censored("y", pm.Normal.dist(mu, sigma), lower=-0.6, upper=0.6,'
    " observed=np.clip(y, -0.6, 0.6))",
    "probit": 'pm.Bernoulli("y", pm.math.invprobit(mu), observed={bits})',
    "logit": 'pm.Bernoulli("y", logit_p=mu, observed={bits})',
    "sigmoid": 'pm.Bernoulli("y", pm.math.sigmoid(mu), observed={bits})',
    "binomial": 'pm.Binomial("y", 3, logit_p=mu, observed={counts})',
    "negative binomial": 'pm.NegativeBinomial("y", mu=pt.exp(mu), alpha=2.0, observed={counts})',
    "poisson": 'pm.Poisson("y", pt.exp(mu), observed={counts})',
    "two columns": 'pm.Normal("y", mu[:, None] * np.array([1.0, -0.5]), sigma1, observed={Y})',
    "lognormal": 'pm.LogNormal("y", mu, sigma, observed=np.exp(y))',
    "gated noise": 'pm.Normal("y", mu, sigma * (1 + 0.5 * g[0]), observed={y})',
    "missing": 'pm.Normal("y", mu, sigma, observed=np.ma.masked_invalid({missing}))',
    "covariance by number": 'pm.MvNormal("y", mu, pt.as_tensor(np.stack([np.eye({rows}), {ycov},'
    " np.eye({rows})]))[k], observed={y})",
    "link by number": 'pm.Bernoulli("y", pt.switch(pt.as_tensor([0, 1, 1])[k],'
    " pm.math.invprobit(2 * mu), pm.math.sigmoid(mu)), observed={bits})",
    "power by number": 'pm.Bernoulli("y", pm.math.sigmoid(mu) ** pt.as_tensor([1.0, 2.0, 1.0])[k],'
    " observed={bits})",
    "dispersion by number": 'pm.NegativeBinomial("y", mu=pt.exp(mu),'
    " alpha=pt.as_tensor([1.0, 6.0, 1.0])[k], observed={counts})",
}
SECONDS = {
    "none": "",
    "normal": 'pm.Normal("z", g[0] * w[0], 0.9, observed=0.4)',
    "same noise": 'pm.Normal("z", 0.5 * g[0] * w[0], sigma1, observed=np.array([0.4, -0.2]))',
    "probit": 'pm.Bernoulli("z", pm.math.invprobit(g[0] * w[0]), observed=1)',
    "indicator": 'pm.Normal("z", 1.0 * gamma0, 0.9, observed=0.4)',
    "indicator rate": 'pm.Poisson("z", 1.0 + 2.0 * gamma0, observed=2)',
    "prior of another": 'pm.Normal("z", pm.Normal("v", w[0], 1.0), 1.0, observed=0.3)',
    "soft": 'pm.Potential("soft", -0.5 * (w[0] - 0.3) ** 2)',
    "soft gated": 'pm.Potential("soft", -0.5 * g[0] * (w[0] - 0.3) ** 2)',
    "cubic": 'pm.Potential("cubic", -0.1 * pt.abs(w[0]) ** 3)',
    "ungated": 'pm.Normal("z", w[0], 0.9, observed=0.4)',
}
COUPLINGS = {
    "none": "",
    "ising": 'pm.Potential("coupling", 0.8 * gammas[0] * gammas[-1])',
    "at most": 'pm.Potential("cap", pt.switch(gammas.sum() <= 1, 0.0, -np.inf))',
    "size": 'pm.Potential("size", -0.4 * (gammas.sum() - 1.0) ** 2)',
    "random": 'pm.Potential("coupling", pm.Normal("J", 0, 1) * gammas[0] * gammas[-1])',
    "table": 'pm.Potential("table", pt.as_tensor(np.array([0.3, -0.4]))[gammas].sum())',
}
CONSTRAINTS = {
    "none": "",
    "linear": 'pm.Potential("c", pt.switch(w.sum() <= 1.0, 0.0, -np.inf))',
    "difference": 'pm.Potential("c", pt.switch(w[0] <= w[-1] + 0.5, 0.0, -np.inf))',
    "quadratic": 'pm.Potential("c", pt.switch(pt.sum(w**2) <= 4.0, 0.0, -np.inf))',
    "gated": 'pm.Potential("c", pt.switch((g * w).sum() <= 1.0, 0.0, -np.inf))',
    "gated ball": 'pm.Potential("c", pt.switch(pt.sum((g * w) ** 2) <= 2.0, 0.0, -np.inf))',
    "two": 'pm.Potential("c", pt.switch(w[0] <= 1.2, 0.0, -np.inf)'
    " + pt.switch(w[-1] >= -1.2, 0.0, -np.inf))",
    "and": 'pm.Potential("c", pt.switch(pt.and_(w[0] <= 1.2, w[-1] >= -1.2), 0.0, -np.inf))',
    "product": 'pm.Potential("c", pt.switch((w[0] - 1.5) * (w[-1] + 1.5) <= 0, 0.0, -np.inf))',
    "outside": 'pm.Potential("c", pt.switch(pt.sum(w**2) >= 0.01, 0.0, -np.inf))',
    "log": 'pm.Potential("c", pt.log(w.sum() <= 1.0))',
    "strict": 'pm.Potential("c", pt.switch(pt.all(g * w < 1.0), 0.0, -np.inf))',
    "strict by number": 'pm.Potential("c", pt.switch((g * w).sum() <'
    " pt.as_tensor([1.0, 0.0, 1.0])[k], 0.0, -np.inf))",
}
DATA = {"array": "", "container": "container", "dims": "dims"}
CONDITIONED = {"no": "", "do": "do", "observe": "observe", "copy": "copy", "observe gate": "gate"}

GRAMMAR = {
    "n": SIZES,
    "rows": ROWS,
    "indicators": INDICATORS,
    "probability": PROBABILITIES,
    "gates": GATES,
    "scale": SCALES,
    "weights": WEIGHTS,
    "spelling": SPELLINGS,
    "extra": EXTRAS,
    "noise": NOISES,
    "likelihood": LIKELIHOODS,
    "second": SECONDS,
    "coupling": COUPLINGS,
    "constraint": CONSTRAINTS,
    "data": DATA,
    "conditioned": CONDITIONED,
}


def source(chosen, rng):
    """Return the code of a model."""
    n, rows = SIZES[chosen["n"]], ROWS[chosen["rows"]]
    X, y = _round(rng.normal(size=(rows, n))), _round(rng.normal(size=rows))
    m = 1 if chosen["gates"] == "shared" else 2 if chosen["gates"] == "group" else n
    scalar = chosen["gates"] == "shared"
    vector = chosen["probability"] in ("vector", "sure")
    dims = chosen["data"] == "dims" and not scalar
    words = {
        "n": n,
        "rows": rows,
        "m": m,
        "y": "y" if chosen["data"] == "array" else "data",
        "p": "p[0]" if vector and (scalar or chosen["gates"] == "list") else "p",
        "logit": "pm.math.logit(p[0])" if vector and scalar else "pm.math.logit(p)",
        "p1": "p[0]" if vector else "p",
        "shape": 'dims="gate"' if dims else f"shape={() if scalar else m}",
        "group": [j % 2 for j in range(n)],
        "cov": f"(0.5 * np.eye({n}) + 0.5)",
        "ycov": f"(0.7 * np.eye({rows}) + 0.3)",
        "bits": (y > 0).astype(int).tolist(),
        "counts": np.minimum(3, np.abs(2 * y).astype(int)).tolist(),
        "Y": _round(np.column_stack([y, -y])).tolist(),
        "missing": [*y[:-1].tolist(), "np.nan"],
    }
    words["missing"] = "[" + ", ".join(str(x) for x in words["missing"]) + "]"
    several = chosen["scale"] in ("array", "per weight")
    words |= {"scale": "scale", "scale1": "scale[0]" if several else "scale"}
    lines = _lines(chosen, words, X, y, dims=dims, m=m)
    return "\n".join(lines) + "\n"


def _lines(chosen, words, X, y, *, dims, m):
    def code(table, key):
        return table[chosen[key]].format(**words)

    coords = f'coords={{"gate": range({m})}}' if dims else ""
    inside = []
    if chosen["data"] != "array":
        inside += ['X = pm.Data("X", X)', 'data = pm.Data("data", y)']
    inside.append(f"sigma = {code(NOISES, 'noise')}")
    inside.append(
        "sigma1 = sigma" if chosen["noise"] not in ("array", "scaled") else "sigma1 = sigma[0]"
    )
    if chosen["indicators"] != "uniform" or chosen["gates"] == "list":
        inside.append(f"p = {code(PROBABILITIES, 'probability')}")
    if chosen["gates"] == "list":
        inside.append(f"gamma = {code(GATES, 'gates')}")
        inside.append("g = gamma")
    else:
        inside.append(f"gamma = {code(INDICATORS, 'indicators')}")
        inside.append(f"g = {code(GATES, 'gates')}")
        if chosen["gates"] == "shared":
            inside.append(f"g = g * np.ones({words['n']})")
    inside.append("gammas = pt.atleast_1d(gamma)")
    inside.append("gamma0 = gammas[0]")
    inside.append(f"scale = {code(SCALES, 'scale')}")
    inside.append(f"w = {_weights(chosen, words)}")
    extra = code(EXTRAS, "extra")
    inside.append(f"mu = {code(SPELLINGS, 'spelling')}")
    if extra:
        inside.append(f"mu = (mu){extra}")
    for table, key in (
        (LIKELIHOODS, "likelihood"),
        (SECONDS, "second"),
        (COUPLINGS, "coupling"),
        (CONSTRAINTS, "constraint"),
    ):
        inside += [line for line in [code(table, key)] if line]
    if "[k]" in "".join(inside):
        inside.insert(0, 'k = pm.Categorical("k", [0.5, 0.5, 0.0])')
    used = "\n".join(inside)
    for name in ("gamma0 = gammas[0]", "gammas = pt.atleast_1d(gamma)", "sigma1 = "):
        variable = name.split(" ")[0]
        if used.count(variable) == 1:
            inside = [line for line in inside if not line.startswith(name)]
            used = "\n".join(inside)
    head = [f"X = np.array({X.tolist()})", f"y = np.array({y.tolist()})"]
    head.append(f"with pm.Model({coords}) as model:")
    return [*head, *[f"    {line}" for line in inside], *_after(chosen, words)]


def _weights(chosen, words):
    text = WEIGHTS[chosen["weights"]].format(**words)
    if chosen["weights"] == "chain" and words["n"] != 2:
        text = WEIGHTS["normal"].format(**words)
    return text


UNNAMED = ("noncentred", "shifted", "half noncentred", "scalars", "chain", "column")
"""Weights that are no variable called w."""


def _after(chosen, words):
    kind, on = chosen["conditioned"], '{"gamma": model["gamma"].eval() * 0 + 1}'
    if kind == "observe" and chosen["weights"] in UNNAMED:
        return []
    if kind in ("do", "observe gate") and chosen["gates"] == "list":
        return []
    outer = '{"outer": 1}' if chosen["gates"] == "product" else on
    after = {
        "no": [],
        "do": [f"model = pm.do(model, {on})"],
        "observe": ['model = pm.observe(model, {"w": np.full(model["w"].eval().shape, 0.3)})'],
        "copy": ["model = model.copy()"],
        "observe gate": [f"model = pm.observe(model, {outer})"],
    }
    return after[kind]


def _round(x):
    return np.round(x, 2)
