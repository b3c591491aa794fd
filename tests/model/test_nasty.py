"""Models meant to mislead the recogniser: every energy drop equals the model's own."""

import itertools

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from support.models import binary_block, forms_of, worst_error

from pymc_exact_hmc.model.coefficients import Coefficients

TOLERANCE = 1e-9
R = np.random.default_rng(61)
X5, X32, X33 = R.normal(size=5), R.normal(size=(3, 2)), R.normal(size=(3, 3))
X12 = np.random.default_rng(62).normal(size=12)
INF = np.inf

NASTY = {}


def nasty(form, *changes):
    """Register a model, the form of its factor "a", and settings of its other variables."""

    def register(build):
        NASTY[build.__name__] = (build, form, changes)
        return build

    return register


def bits(n, p=0.4):
    return pm.Bernoulli("s", p, shape=n)


@nasty("separable", {"a_interval__": 0.7})
def bounds_that_depend_on_an_indicator():
    pm.Uniform("a", 0, 1.0 + pm.Bernoulli("s", 0.5))


@nasty("separable")
def rows_of_a_table():
    rows = pt.as_tensor(X32.T)[bits(4)]
    pm.Normal("a", rows, 1.0, observed=X12.reshape(4, 3))


@nasty("quadratic")
def rows_of_indicators_times_a_vector():
    s = pm.Bernoulli("s", 0.4, shape=(4, 2))
    pm.Normal("a", s @ np.array([1.0, 2.0]), 1.0, observed=X5[:4])


@nasty("quadratic")
def a_vector_times_columns_of_indicators():
    s = pm.Bernoulli("s", 0.4, shape=(2, 4))
    pm.Normal("a", np.array([1.0, 2.0]) @ s, 1.0, observed=X5[:4])


@nasty("multilinear", {"beta": 1.2}, {"lam": -0.7}, {"beta": 0.3, "lam": 0.8})
def two_compiled_terms_with_a_number_each():
    s = bits(9)
    pm.Potential("a", pm.Normal("beta") * pt.prod(1 - 0.5 * s))
    pm.Potential("b", -pm.Normal("lam") * pt.abs(s.sum() - 3))


@nasty("local")
def sum_of_truth_values():
    s = bits(4)
    pm.Potential("a", 0.7 * (pt.eq(s[:3], 1) + pt.eq(s[1:], 1)).sum())


@nasty("local")
def difference_without_a_sign():
    s = bits(2).astype("uint8")
    pm.Potential("a", -0.01 * (s[0] - s[1]))


@nasty("separable")
def product_that_overflows():
    pm.Potential("a", 0.01 * (bits(3).astype("int8") * np.int8(100) * np.int8(2)).sum())


@nasty("local", {"b": 1.3}, {"b": -0.4})
def sum_that_overflows_times_a_random_number():
    s = bits(3).astype("int8")
    pm.Potential(
        "a", pm.Normal("b", initval=0.0) * (np.int8(100) * s[:2] + np.int8(90) * s[1:]).sum()
    )


@nasty("separable", {"b": 1.3})
def square_of_a_product_that_overflows():
    s, b = bits(3).astype("int8"), pm.Normal("b")
    pm.Potential("a", 0.1 * b * pt.sqr(np.int8(20) * s).sum())


@nasty("generic", {"M": np.outer(X12[:9], [1.0, -0.5])}, {"M": np.outer(X12[3:], [0.2, 1.5])})
def matrix_of_another_step():
    pm.Potential("a", pt.sin(pt.dot(bits(9), pm.Normal("M", shape=(9, 2)))).sum())


@nasty("local")
def entries_added():
    s = bits(4)
    sums = pt.inc_subtensor((1.5 * s[:3])[:1], 2.0 * s[3:])
    pm.Potential("a", (pt.exp(sums) * X5[:3]).sum())


@nasty("generic")
def product_so_far():
    pm.Potential("a", (pt.cumprod(bits(3)) * X5[:3]).sum())


@nasty("separable")
def difference_from_each_entry():
    pm.Potential("a", X5 - 0.3 * pm.Bernoulli("s", 0.4))


@nasty("local")
def at_least_one():
    pm.Potential("a", pt.switch(pt.any(pt.eq(bits(3), 1)), 0.0, -INF))


@nasty("separable")
def all_of_some():
    pm.Potential("a", pt.switch(pt.all(pt.eq(bits(3)[:2], 1)), 0.0, -INF))


@nasty("local")
def indicators_of_eight_bits():
    s = pm.Bernoulli("s", 0.4, shape=3, dtype="int8")
    pm.Potential("a", 0.01 * (s * np.int8(100) + pt.roll(s, 1) * np.int8(100)).sum())


@nasty("generic")
def sum_in_eight_bits():
    pm.Potential("a", 0.01 * (100 * bits(9)).sum(dtype="int8"))


@nasty("generic", {"c": X5[:3]})
def powers_of_a_count():
    pm.Potential("a", (bits(9).sum() ** np.array([0.0, 1.0, 2.0]) * pm.Normal("c", shape=3)).sum())


@nasty("quadratic", {"J": X33})
def couplings_that_start_at_zero():
    s, J = bits(3), pm.Normal("J", shape=(3, 3))
    pm.Normal("a", pt.dot(J, s), 1.0, observed=X5[:3])


@nasty("generic")
def volume_of_those_chosen():
    """A determinantal point process."""
    s, L = bits(9), 0.3 * np.eye(9) + 0.2
    pm.Potential("a", pt.linalg.slogdet(L * s[:, None] * s[None] + pt.diag(1.0 - s))[1])


@nasty("generic")
def product_of_some():
    pm.Potential("a", 0.9 * pt.prod(bits(10) ** np.array([1, 0, 1, 1, 1, 1, 1, 1, 1, 1])))


@nasty("separable", {"x": 0.0}, {"x": -1.0}, {"x": 1e-300})
def floor_of_a_huge_number():
    x = pm.Normal("x", initval=0.3)
    steps = pt.floor(1 / pt.maximum(x, 0.0))
    pm.Normal("a", bits(2) * pt.switch(steps >= 2, 1.5, 0.0), 1.0, observed=X5[:2])


@nasty("generic", {"tau": 1}, {"tau": 5}, {"tau": 0})
def shape_that_depends_on_another_variable():
    s, tau = bits(2), pm.DiscreteUniform("tau", 0, 6)
    y = pt.as_tensor(R.normal(size=6))
    pm.Potential("a", (s[0] * y[np.arange(6) < tau]).sum() + pt.exp((s[1] * y[tau:]).sum()))


@nasty("generic")
def mask_that_depends_on_indicators():
    pm.Potential("a", (pt.as_tensor(X5)[pt.eq(bits(5), 1)] - 3.0).sum())


@nasty("generic")
def count_by_shape():
    s = bits(5)
    pm.Potential("a", s.sum() * pt.as_tensor(X5)[pt.eq(s, 1)].shape[0] * 0.3)


@nasty("generic")
def length_that_depends_on_indicators():
    pm.Potential("a", pt.full((bits(3).sum(),), -2.0).sum())


@nasty("local")
def parameters_that_some_states_do_not_allow():
    s = bits(4)
    pm.Bernoulli("a", 0.2 + 0.5 * s[:2] + 0.5 * s[2:], observed=[1, 1])


@nasty("quadratic")
def pairs_that_meet_in_two_hundred_and_fifty_six_rows():
    s = bits(2)
    pm.Normal("a", 1.5 * s[0] - 0.7 * s[1], 1.0, observed=np.linspace(-1, 2, 256))


@nasty("separable", {"b_log__": 0.4})
def rows_without_an_indicator():
    flags = pt.concatenate([pt.zeros(1), bits(4), pt.zeros(1)])
    b = pm.HalfNormal("b")
    pm.Normal("a", 0.3, pt.switch(flags, 10 * b, b), observed=np.append(X5, 0.4))


@nasty("separable")
def stacked_booleans():
    s = bits(5)
    pm.Potential("a", pt.switch(pt.stack([pt.eq(s[i], 1) for i in range(5)]), X5, 0.0).sum())


@nasty("separable")
def joined_booleans():
    s = bits(5)
    parts = pt.concatenate([pt.eq(s[3:], 1), pt.eq(s[:3], 0)])
    pm.Potential("a", pt.switch(parts, X5, 0.0).sum())


@nasty("separable")
def joined_small_integers():
    s = bits(300)
    parts = pt.concatenate([s[100:].astype("int8"), s[:100].astype("int8")])
    pm.Potential("a", pt.switch(parts, np.random.default_rng(1).normal(size=300), 0.0).sum())


@nasty("quadratic")
def square_of_a_sum():
    pm.Potential("a", -0.3 * (bits(6).sum() - 2) ** 2)


@nasty("quadratic")
def dense_quadratic():
    s = bits(5)
    J = np.random.default_rng(2).normal(size=(5, 5))
    pm.Potential("a", pt.dot(s, pt.dot(J, s)))


@nasty("local")
def cumulative_sum():
    pm.Potential("a", (X32 * pt.exp(0.3 * pt.cumsum(bits((3, 2)), axis=-1))).sum())


@nasty("quadratic")
def square_of_a_cumulative_sum():
    pm.Potential("a", (X32 * pt.cumsum(bits((3, 2)), axis=-1) ** 2).sum())


@nasty("quadratic")
def batched_matrix_vector_product():
    pm.Potential("a", (X33 * pt.matvec(pt.as_tensor(X33), bits((3, 3))) ** 2).sum())


@nasty("separable", {"b": 1.3}, {"b": -0.4})
def ones_like_indicators():
    s, b = bits(3), pm.Normal("b")
    pm.Potential("a", (b * pt.ones_like(s) * s).sum())


@nasty("local")
def bitwise_and_of_numbers():
    s = bits(3)
    allowed = pt.bitwise_and(s[0] + s[1] + 1, s[2] + 1)
    pm.Potential("a", pt.switch(allowed, 0.0, -INF))


@nasty("separable", {"b": [[1.7]]})
def scalar_with_two_dimensions():
    s, b = bits(3), pm.Normal("b", shape=(1, 1))
    pm.Potential("a", (b * (s * X5[:3]) + b**2).sum())


@nasty("separable", {"b": 0.9})
def repeats_by_broadcasting():
    s, b = bits(3), pm.Normal("b")
    pm.Potential("a", ((s * X5[:3])[None, :] * b + np.zeros((4, 1))).sum())


@nasty("local", {"b": 0.9})
def switch_on_another_variable():
    s, b = bits(4), pm.Normal("b")
    pm.Potential("a", pt.switch(b > 0.5, pt.exp(s[0] + s[1]), pt.exp(s[2] * s[3])))


@nasty("local", {"k": 2}, {"k": 0})
def index_by_another_variable():
    s, k = bits(4), pm.Categorical("k", np.ones(4) / 4)
    pm.Potential("a", 0.8 * s[k] + pt.exp(s[k] * s[0]))


@nasty("local", {"b": 2.0})
def set_entries():
    s, b = bits(4), pm.Normal("b")
    x = pt.set_subtensor(pt.zeros(4)[1:3], s[1:3] * b)
    x = pt.set_subtensor(x[0], s[0] * s[3] * 0.5)
    pm.Potential("a", pt.exp(x).sum())


@nasty("local")
def add_to_entries_twice():
    s = bits(4)
    x = pt.inc_subtensor(pt.zeros(3)[np.array([0, 0, 1, 2])], 1.0 * s)
    pm.Potential("a", pt.exp(0.5 * x).sum())


@nasty("multilinear")
def product_of_many():
    s = bits(10)
    pm.Potential("a", 0.7 * pt.prod(s) + 0.4 * pt.prod(1 - s) + 0.3 * pt.prod(2 * s - 1))


@nasty("quadratic")
def product_of_two():
    pm.Potential("a", 0.7 * pt.prod(bits(2)))


@nasty("local")
def whole_number_arithmetic():
    s = bits(4)
    pm.Potential("a", 1.0 * ((s[0] + s[1]) // 2) - (s[2] + s[3] + 1) % 2 + (s[1] & s[2]) * 0.3)


@nasty("separable")
def casts():
    s = bits(4)
    entries = s.astype("bool").astype("float32") * X5[:4].astype("float32")
    pm.Potential("a", entries.astype("float64").sum())


@nasty("local")
def constraints_around_a_negative_factor():
    s = bits(3)
    pm.Potential("a", -1.0 * pt.switch(s[0] + s[1] > 1, INF, 0.0) - (s[2] * 0.3))


@nasty("local")
def hard_constraints():
    s = bits(5)
    pairs = pt.all(pt.le(s[:-1] + s[1:], 1))
    pm.Potential("a", pt.switch(pairs, 0.0, -INF) + pt.switch(pt.and_(s[0] > 0, s[4] > 0), -INF, 0))


@nasty("generic")
def total_is_even():
    pm.Potential("a", pt.switch(pt.eq(bits(9).sum() % 2, 0), 0.0, -1.5))


@nasty("local")
def determinant():
    s = bits(3)
    L = X33 @ X33.T + np.eye(3)
    chosen = pt.diag(1.0 * s) @ L @ pt.diag(1.0 * s) + pt.diag(1.0 - s)
    pm.Potential("a", pt.linalg.slogdet(chosen)[1])


@nasty("separable", {"p_simplex__": [0.3]}, {"p_simplex__": [-1.2]})
def two_categories_with_random_probabilities():
    p = pm.Dirichlet("p", np.ones(2))
    z = pm.Categorical("z", p, shape=4)
    pm.Normal("a", pt.as_tensor([-1.0, 1.0])[z], observed=X5[:4])


@nasty("separable")
def partly_observed():
    data = np.ma.masked_values([1, -1, 0, -1, -1], -1)
    with pytest.warns(pm.exceptions.ImputationWarning):
        z = pm.Bernoulli("z", 0.3, observed=data)
    pm.Normal("a", z * 1.5, observed=X5)


@nasty("separable")
def far_fields():
    s = pm.Bernoulli("s", logit_p=np.array([500.0, -500.0, 0.3, 40.0]))
    pm.Potential("a", (s * np.array([-500.0, 499.0, 1e3, -1e3])).sum())


@nasty("separable")
def probabilities_zero_and_one():
    s = pm.Bernoulli("s", np.array([0.0, 1.0, 0.5]), initval=np.array([0, 1, 0]))
    pm.Potential("a", s.sum() * 0.4)


@nasty("local", {"p_logodds__": 0.8})
def table_of_three():
    table = pt.as_tensor(R.normal(size=(2, 2, 2)))
    p = pm.Beta("p", 1, 1)
    u, v, w = (pm.Bernoulli(name, p) for name in "uvw")
    pm.Potential("a", table[u, v, w] + pt.log(p) * table[w, w, u])


@nasty("local")
def one_indicator_twice_in_an_entry():
    s = bits(3)
    pm.Potential("a", pt.exp(s[np.array([0, 0, 1])] * s[np.array([0, 1, 1])]).sum())


@nasty("separable", {"b": [0.2, 0.9]})
def single_precision_parameters():
    s, b = bits(2), pm.Normal("b", shape=2)
    pm.Potential("a", (b * s * np.array([0.3, 0.7], "float32")).sum())


@nasty("local")
def quartic_in_spins():
    spin = 2 * bits(5) - 1
    pm.Potential("a", 0.4 * (spin[:-3] * spin[1:-2] * spin[2:-1] * spin[3:]).sum())


@nasty("quadratic", {"b": 0.6}, {"b": 2.0})
def several_variables_in_one_potential():
    u, v = pm.Bernoulli("u", 0.3, shape=(2, 2)), pm.Bernoulli("v", 0.6, shape=2)
    w, b = pm.Bernoulli("w", 0.5), pm.Normal("b")
    pm.Potential("a", b * ((u @ v) * np.array([1.0, -2.0])).sum() + w * v.sum() * b)


@nasty("quadratic", {"b": 0.7}, {"b": -1.2})
def scalars_stacked_under_a_random_coupling():
    s, b = pt.stack([pm.Bernoulli(f"s{j}", 0.4) for j in range(3)]), pm.Normal("b")
    pm.Potential("a", b * s[0] * s[-1])


@nasty("multilinear", {"b": 0.7}, {"b": -1.2})
def product_of_many_scalars():
    s, b = pt.stack([pm.Bernoulli(f"s{j}", 0.4) for j in range(9)]), pm.Normal("b")
    pm.Potential("a", b * pt.prod(2 * s - 1))


@nasty("generic")
def cube_of_a_sum():
    pm.Potential("a", 0.1 * (bits(12) * X12).sum() ** 3)


@nasty("generic")
def power_of_a_constant():
    pm.Potential("a", 1.4 ** (bits(12) * X12).sum())


@nasty("generic")
def constant_over_a_sum():
    pm.Potential("a", 2.0 / (20.0 + (bits(12) * X12).sum()))


@nasty("generic")
def switch_on_a_total():
    s = bits(12)
    pm.Potential("a", pt.switch(s.sum() > 5, (s * X12).sum(), s[:3].sum()))


@nasty("multilinear")
def product_of_disjoint_sums():
    s = bits(12) * X12
    pm.Potential("a", (1 + s[:4].sum()) * (2 + s[4:8].sum()) * (3 + s[8:].sum()))


@nasty("generic")
def product_of_overlapping_sums():
    s = bits(12) * X12
    pm.Potential("a", (1 + s[:6].sum()) * (2 + s[4:8].sum()) * (3 + s[8:].sum()))


@nasty("local", {"b": 0.6}, {"b": -1.4})
def powers_that_differ():
    s, b = bits(3), pm.Normal("b")
    pm.Potential("a", ((b * (s + pt.roll(s, 1) + 0.5)) ** np.array([2.0, 3.0, 2.0])).sum())


@nasty("quadratic", {"b": 0.6}, {"b": -1.4})
def square_of_a_scaled_sum():
    pm.Potential("a", -((pm.Normal("b") * (bits(4) * X5[:4]).sum()) ** 2))


@nasty("local", {"b": 0.6}, {"b": -1.4})
def cube_of_a_scaled_sum():
    """Its scale is cubed as well."""
    pm.Potential("a", 0.1 * (pm.Normal("b") * (bits(4) * X5[:4]).sum()) ** 3)


@nasty("generic")
def several_data_in_a_compiled_factor():
    s = bits(12)
    x, y, z = (pm.Data(name, R.normal(size=12)) for name in "xyz")
    pm.Potential("a", pt.exp(0.3 * (s @ x)) + pt.abs(s @ y - 0.4) * (s @ z))


@pytest.mark.parametrize("name", NASTY)
def test_every_drop_is_that_of_the_model(name):
    """Δ_j of the energy equals the difference of model.logp(), for all other variables' values."""
    build, form, changes = NASTY[name]
    with pm.Model() as model:
        build()
    assert worst_error(model, changes) < TOLERANCE
    assert form in forms_of(model, "a")


def test_rvs_of_a_model_with_data_and_dims():
    """Data and dims= are followed like constants and shapes, in an index or a Deterministic too."""
    with pm.Model(coords={"site": range(4), "visit": range(3)}) as model:
        x = pm.Data("x", R.normal(size=(4, 3)), dims=("site", "visit"))
        z = pm.Bernoulli("z", 0.4, dims="site")
        mean = pm.Deterministic("mean", z[:, None] * x)
        pm.Normal("y", mean, 1.0, observed=R.normal(size=(4, 3)), dims=("site", "visit"))
        pm.Normal("v", pm.Normal("mu", shape=2)[z], 1.0, observed=R.normal(size=4), dims="site")
    assert worst_error(model) < TOLERANCE
    assert forms_of(model) == {"separable"}


@pytest.mark.parametrize("degree", [3, 1])
def test_terms_that_are_called_back_count_as_changing(degree):
    """Another variable that enters them alone makes caches of the same indicators wrong."""
    with pm.Model() as model:
        count, beta = bits(9).sum(), pm.Normal("beta")
        pm.Potential("a", pt.exp(beta * count) if degree == 1 else beta * count**degree)
    block = binary_block(model)
    coefficients = Coefficients(block.terms, block.layout, model.initial_point())
    assert coefficients.update(model.initial_point() | {"beta": np.array(0.3)})


@pytest.mark.parametrize("multilinear", [True, False])
def test_one_of_two_terms_that_are_called_back_counts_as_changing(multilinear):
    """A term that no other variable enters does not hide one that some do."""
    with pm.Model() as model:
        s, beta = bits(9), pm.Normal("beta")
        pm.Potential("a", (beta if multilinear else 1.0) * pt.prod(1 + 0.1 * s))
        pm.Potential("b", (1.0 if multilinear else beta) * s.sum() ** 3)
    block = binary_block(model)
    coefficients = Coefficients(block.terms, block.layout, model.initial_point())
    assert len(coefficients._compiled) == 2
    assert coefficients.update(model.initial_point() | {"beta": np.array(0.3)})


def test_the_entry_that_depends_on_most_indicators_decides():
    """Not the first, which depends on one."""
    with pm.Model() as model:
        pm.Potential("a", pt.exp(0.3 * np.tril(np.ones((4, 4))) @ bits(4)).sum())
    assert forms_of(model, "a") == {"local"}
    assert worst_error(model) < TOLERANCE


def test_what_is_too_dear_to_tabulate_at_every_call_is_not_local():
    """All triples of ten indicators, with a random vector among them."""
    triples = np.array(list(itertools.combinations(range(10), 3)))
    with pm.Model() as model:
        s, b = bits(10), pm.Normal("b", shape=len(triples))
        pm.Potential("a", pt.exp(b * s[triples].sum(axis=1)).sum())
    assert "local" not in forms_of(model, "a")
    assert worst_error(model, [{"b": np.linspace(-1, 1, len(triples))}]) < TOLERANCE


def test_a_matrix_of_indicators_that_is_called_back():
    """Entries are numbered by rows, in what is compiled as elsewhere."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.4, shape=(2, 3))
        pm.Potential("a", pt.sin((np.arange(1.0, 7.0).reshape(2, 3) * s).sum()))
    with pm.Model() as larger:
        s = pm.Bernoulli("s", 0.4, shape=(2, 7))
        pm.Potential("a", pt.sin((np.arange(1.0, 15.0).reshape(2, 7) * s).sum()))
    assert worst_error(model) < TOLERANCE
    assert forms_of(larger, "a") == {"generic"}
    assert worst_error(larger) < TOLERANCE


@pytest.mark.parametrize("name", ["added", "subtracted", "joined"])
def test_parts_of_what_indicators_select_stay_together(name):
    """They decide how many entries there are, so what is added to each of them counts too."""
    with pm.Model() as model:
        s = bits(5)
        chosen = pt.as_tensor(X5)[s.nonzero()[0]]
        whole = {
            "added": chosen + 0.7,
            "subtracted": 0.7 - chosen,
            "joined": pt.concatenate([chosen, chosen * 0 + 0.7]),
        }[name]
        pm.Potential("a", whole.sum())
    assert worst_error(model) < TOLERANCE


NOT_POLYNOMIALS = {
    "an average of those selected": lambda s: (X5 * s).sum() / (1 + s.sum()),
    "a switch between neighbours": lambda s: pt.switch(s[1:], 0.7 * s[:-1], 0.2).sum(),
    "a switch of a square": lambda s: pt.switch(s[0], s[1] + s[2], s[3] * s[4]),
}


@pytest.mark.parametrize("name", NOT_POLYNOMIALS)
def test_what_divides_or_switches_is_no_polynomial(name):
    """Its derivatives say nothing of what a flip changes."""
    with pm.Model() as model:
        pm.Potential("a", NOT_POLYNOMIALS[name](bits(5)))
    assert forms_of(model, "a") == {"local"}
    assert worst_error(model) < TOLERANCE


def test_products_of_factors_that_share_indicators_are_not_multilinear():
    """Each factor depends on two neighbours, so each indicator enters squared."""
    near = np.eye(12) + np.eye(12, k=1)
    with pm.Model() as model:
        pm.Potential("a", pt.prod(1 - 0.1 * (near * bits(12)).sum(axis=1)))
    assert forms_of(model, "a") == {"generic"}
    assert worst_error(model) < TOLERANCE
