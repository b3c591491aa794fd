"""Models whose unknowns are mostly binary: the grammar, and the code of a choice.

In the terms ``s`` are d ≤ 4 indicators as a vector, ``b`` is a number or a random variable.
"""

import numpy as np

LAWS = {
    "bernoulli": 's = pm.Bernoulli("s", {p}, shape={d})',
    "logit": 's = pm.Bernoulli("s", logit_p=np.linspace(-1, 1, {d}))',
    "vector": 's = pm.Bernoulli("s", np.linspace(0.2, 0.7, {d}))',
    "uniform": 's = pm.DiscreteUniform("s", 0, 1, shape={d})',
    "binomial": 's = pm.Binomial("s", 1, {p}, shape={d})',
    "categorical": 's = pm.Categorical("s", [0.35, 0.65], shape={d})',
    "dirichlet": 's = pm.Categorical("s", pm.Dirichlet("q", np.ones(2)), shape={d})',
    "matrix": 's = pm.Bernoulli("s", {p}, shape=(2, 2)).ravel()',
    "list": 's = pt.stack([pm.Bernoulli(f"s{{j}}", {p}) for j in range({d})])',
    "two": 's = pt.concatenate([pm.Bernoulli("u", {p}, shape=2), pm.Bernoulli("v", 0.6, shape=1)])',
    "chain": 's0 = pm.Bernoulli("s0", {p}); s1 = pm.Bernoulli("s1", 0.2 + 0.6 * s0);'
    ' s = pt.stack([s0, s1, pm.Bernoulli("s2", pt.switch(s1, 0.7, 0.3))])',
    "missing": 's = pm.Bernoulli("s", {p}, observed=np.ma.masked_values([1, -1, -1, 0], -1))',
    "sure": 's = pm.Bernoulli("s", np.array([0.0, 0.4, 1.0]), initval=np.array([0, 1, 1]))',
    "dims": 's = pm.Bernoulli("s", {p}, dims="site")',
}
SIZES = {"3": 3, "1": 1, "4": 4}
PROBABILITIES = {
    "number": "0.4",
    "beta": 'pm.Beta("p", 2, 2)',
    "sigmoid": 'pm.math.sigmoid(pm.Normal("theta"))',
    "uniform": 'pm.Uniform("p", 0, 1)',
}
FACTORS = {
    "number": "0.9",
    "normal": 'pm.Normal("b")',
    "halfnormal": 'pm.HalfNormal("b", 1.0)',
    # Bounded: exp(k b c) has no mean under a normal b and an unbounded c.
    "two": 'pm.Normal("b") * pm.Uniform("c", 0.0, 0.3)',
    "linear": '0.5 + 2 * pm.Normal("b", 0, 0.5)',
}
TERMS = {
    "none": "0.0",
    "pair": "b * s[0] * s[-1]",
    "ising": "b * ((2 * s - 1)[:-1] * (2 * s - 1)[1:]).sum()",
    "square": "-0.5 * (s.sum() - b) ** 2",
    "quadratic form": "b * (s @ np.ones(({d}, {d})) @ s) / {d}",
    "cube": "b * s[0] * s[-1] * s[{d} // 2]",
    "spins": "b * pt.prod(2 * s - 1)",
    "product": "b * pt.prod(1 - 0.5 * s)",
    "switch": "pt.switch(s[0], b, -0.3)",
    "nested switch": "pt.switch(pt.eq(s[0], 1), s[-1] * b, pt.switch(s[{d} // 2], 0.5, -0.5))",
    "table": "b * pt.as_tensor(np.arange(8.0).reshape(2, 2, 2) / 4)[s[0], s[-1], s[{d} // 2]]",
    "gather": "(b * pt.as_tensor(np.array([0.3, -1.2])))[s].sum()",
    "exp": "-pt.exp(-0.3 * b * s).sum()",
    "abs": "pt.abs(s.sum() - 1.5 - b)",
    "parity": "b * pt.eq(s.sum() % 2, 0)",
    "max": "b * pt.max(s)",
    "cumsum": "(b * pt.cumsum(s) ** 2).sum() / 4",
    "sorted": "b * pt.sort(s)[0]",
    "logsumexp": "pt.logsumexp(b * s)",
    "quarter": "b * (s[0] * s[-1]) ** 0.5",
    "division": "b * s[0] / (1 + s[-1])",
    "whole": "b * ((s[0] + s[-1]) // 2)",
    "bits": "b * (s[0] & s[-1]) - 0.2 * (s[0] | s[-1])",
    "length": "b * pt.ones({d})[pt.eq(s, 1)].sum()",
    "sine": "pt.sin(b * s.sum())",
}
WALLS = {
    "none": "",
    "at most": 'pm.Potential("wall", pt.switch(s.sum() <= 2, 0.0, -np.inf))',
    "at least": 'pm.Potential("wall", pt.switch(s.sum() >= 1, 0.0, -np.inf))',
    "not both": 'pm.Potential("wall", pt.switch(pt.and_(s[0] > 0, s[-1] > 0), -np.inf, 0.0))',
    "implies": 'pm.Potential("wall", pt.switch(s[0] <= s[-1], 0.0, -np.inf))',
    "log": 'pm.Potential("wall", pt.log(1.0 * (s.sum() <= 2)))',
}
DATA = {
    "none": "",
    "index": 'pm.Normal("y", pt.as_tensor(np.array([-0.5, 0.8]))[s], 1.0, observed=y)',
    "random means": 'pm.Normal("y", pm.Normal("means", 0, 1, shape=2)[s], 1.0, observed=y)',
    "switch": 'pm.Normal("y", pt.switch(s, 1.0, b), 1.0, observed=y)',
    "outliers": 'pm.Normal("y", 0.3, pt.switch(s, 3.0, 1.0), observed=y)',
    "random outliers": 'pm.Normal("y", 0.3, 1.0 + s * pm.HalfNormal("extra", 2.0), observed=y)',
    "poisson": 'pm.Poisson("y", pt.exp(0.5 * s + 0.2), observed=(y > 0) * 2)',
    "noisy or": 'pm.Bernoulli("y", 1 - 0.9 * pt.prod(1 - 0.6 * s), observed=1)',
    "belief net": 'pm.Bernoulli("y", logit_p=s @ np.linspace(-1, 2, {d}) - 0.3, observed=[1, 0])',
    "blend": 'pm.Normal("y", s * pm.Normal("m1", 1, 1) + (1 - s) * -0.5, 1.0, observed=y)',
    "zeros": 'pm.Poisson("y", 1.5 * s + 1e-9, observed=np.zeros({d}, int))',
    "student": 'pm.StudentT("y", 3, mu=s, sigma=1.0, observed=y)',
    "mvnormal": 'pm.MvNormal("y", 1.0 * s, np.eye({d}) + 0.5, observed=y)',
}

GRAMMAR = {
    "law": LAWS,
    "d": SIZES,
    "probability": PROBABILITIES,
    "factor": FACTORS,
    "term": TERMS,
    "other term": TERMS,
    "wall": WALLS,
    "data": DATA,
}
FIXED = {"matrix": 4, "two": 3, "chain": 3, "missing": 4, "sure": 3}


def source(chosen, rng):
    """Return the code of a model."""
    d = FIXED.get(chosen["law"], SIZES[chosen["d"]])
    y = np.round(rng.normal(size=d), 2)
    words = {"d": d, "p": PROBABILITIES[chosen["probability"]]}
    if chosen["law"] == "list" and chosen["probability"] != "number":
        words["p"] = "0.4"
    coords = f'coords={{"site": range({d})}}' if chosen["law"] == "dims" else ""
    inside = [LAWS[chosen["law"]].format(**words)]
    inside.append(f"b = {FACTORS[chosen['factor']]}")
    for name, key in (("first", "term"), ("second", "other term")):
        if chosen[key] != "none":
            inside.append(f'pm.Potential("{name}", {TERMS[chosen[key]].format(**words)})')
    inside += [x.format(**words) for x in (WALLS[chosen["wall"]], DATA[chosen["data"]]) if x]
    head = [f"y = np.array({y.tolist()})", f"with pm.Model({coords}) as model:"]
    return "\n".join([*head, *[f"    {line}" for line in inside]]) + "\n"
