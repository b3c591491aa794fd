"""inclusion_summary: numbers by hand, names, groups, and traces of every kind."""

import arviz as az
import numpy as np
import pytest
import xarray as xr
from traces import DIMS, GAMMA, NAMES, W, markov_chains, trace

from pymc_exact_hmc import inclusion_summary
from pymc_exact_hmc.results import diagnostics
from pymc_exact_hmc.results.intervals import highest_density
from pymc_exact_hmc.results.reading import read_indicators


@pytest.fixture(scope="module")
def table():
    return inclusion_summary(trace())


def test_numbers_by_hand(table):
    """age is included with 2, 3, 1, 4, 5, and 0 in three more draws."""
    row = table.loc["age"]
    assert row["inclusion"] == 5 / 8
    assert row["mean"] == 15 / 8
    assert row["mean_in"] == 3.0
    assert row["sd_in"] == pytest.approx(np.sqrt(10 / 4))
    assert row["sd"] == pytest.approx(np.sqrt((55 - 8 * (15 / 8) ** 2) / 7))
    assert row["switches"] == 2.0
    assert row["switches_min"] == 2
    assert row["note"] == "" or row["note"] == "chains disagree"


def test_rows_have_the_coordinates_labels(table):
    """Rows are named as the model named its predictors."""
    assert list(table.index) == NAMES
    assert table.index.name == "predictor"


def test_never_moved_is_said(table):
    """A constant indicator has no effective draws, no R-hat and no standard error, but a note."""
    for name, inclusion in (("income", 0.0), ("height", 1.0)):
        row = table.loc[name]
        assert row["inclusion"] == inclusion
        assert row["note"] == "never moved"
        assert np.isnan([row["ess"], row["r_hat"], row["mcse"]]).all()
    assert np.isnan(table.loc["income", "mean_in"])
    assert table.loc["income", ["mean", "sd", "hdi_low", "hdi_high"]].eq(0.0).all()
    assert table.loc["height", "mean"] == table.loc["height", "mean_in"] == 4.5


def test_chains_that_stand_still_apart():
    """Chains that are stuck at different values have an infinite R-hat."""
    gamma = np.zeros((3, 20, 2), int)
    gamma[0, :, 0] = 1
    gamma[0, 7, 1] = 1
    table = inclusion_summary(trace(gamma=(DIMS, gamma)))
    assert list(table["note"]) == [
        "never moved, chains disagree",
        "never moved in 2 of 3 chains",
    ]
    assert np.isinf(table["r_hat"].iloc[0])
    assert "mean" not in table


def test_standard_error_is_that_of_arviz():
    """√(p(1−p)n/(n−1)/ess), the standard error of the mean of the indicator."""
    rng = np.random.default_rng(4)
    gamma = markov_chains(rng, np.array([0.2, 0.6]), np.array([0.5, 0.9]), 4, 300)
    table = inclusion_summary(trace(gamma=(DIMS, gamma)))
    for j in range(2):
        x = gamma[:, :, j]
        assert table["mcse"].iloc[j] == pytest.approx(np.asarray(az.mcse(x, method="mean")).item())


@pytest.mark.parametrize("n", [1, 2, 7, 50, 333])
def test_intervals_are_those_of_arviz(n):
    """The shortest interval with ⌊prob·n⌋ steps."""
    x = np.random.default_rng(n).gamma(2.0, size=n)
    x.sort()
    low, high = highest_density(x, 0.8)
    inside = int(0.8 * n)
    widths = [x[i + inside] - x[i] for i in range(n - inside)]
    assert (low, high) == (x[np.argmin(widths)], x[np.argmin(widths) + inside])
    if n > 2:
        values = getattr(
            az.hdi(x, **{_prob_name(): 0.8}), "values", az.hdi(x, **{_prob_name(): 0.8})
        )
        np.testing.assert_allclose(values, [low, high])


def _prob_name():
    return "hdi_prob" if int(az.__version__.split(".")[0]) == 0 else "prob"


def test_interval_of_everything_counts_the_zeros():
    """With more than hdi_prob of the draws at 0 the interval is 0 alone."""
    rng = np.random.default_rng(5)
    gamma = (rng.random((2, 500, 1)) < 0.03).astype(int)
    w = rng.normal(5, 1, size=(2, 500, 1))
    table = inclusion_summary(trace(gamma=(DIMS, gamma), w=(DIMS, w)), hdi_prob=0.9)
    assert table[["hdi_low", "hdi_high"]].eq(0.0).all(axis=None)
    assert table["hdi_low_in"].iloc[0] > 1.0
    x = np.sort((gamma * w).ravel())
    table = inclusion_summary(trace(gamma=(DIMS, gamma), w=(DIMS, w)), hdi_prob=0.99)
    assert tuple(table[["hdi_low", "hdi_high"]].iloc[0]) == highest_density(x, 0.99)


def test_a_product_is_as_good_as_the_weights(table):
    """With the product in the trace too, it is taken, and gives the same numbers."""
    both = trace(
        gamma=(DIMS, GAMMA), w=(DIMS, W), scales=(DIMS, W**2), beta=(DIMS, GAMMA * W),
        coords={"predictor": NAMES},
    )  # fmt: skip
    assert inclusion_summary(both).equals(table)
    only = trace(gamma=(DIMS, GAMMA), beta=(DIMS, GAMMA * W), coords={"predictor": NAMES})
    assert inclusion_summary(only).equals(table)


def test_a_product_with_one_that_is_always_on():
    """The product is found, whatever the indicators are where no indicator switches."""
    gamma, columns = GAMMA[:, :, ::-1], ("chain", "draw", "column")
    always = W[:, :, :1]
    w, beta = (np.concatenate([x, always], axis=2) for x in (W, gamma * W))
    both = trace(gamma=(DIMS, gamma), w=(columns, w), beta=(columns, beta))
    groups = [0, 1, 2, -1]
    found = inclusion_summary(both, groups=groups)
    assert found.equals(inclusion_summary(both, weights="beta", groups=groups))


def test_coefficients_in_blocks(table, monkeypatch):
    """Read one at a time they have the same rows as all at once."""
    monkeypatch.setattr(diagnostics, "BLOCK_VALUES", 1)
    assert inclusion_summary(trace()).equals(table)


def test_rao_blackwell_probabilities_are_averaged():
    """Recorded probabilities replace the indicators in ``inclusion`` and its error only."""
    rng = np.random.default_rng(6)
    p = rng.random((4, 200, 2))
    gamma = (rng.random(p.shape) < p).astype(int)
    stats = {"ehmc_inclusion": (("chain", "draw", "k"), p)}
    table = inclusion_summary(trace(gamma=(DIMS, gamma), stats=stats))
    np.testing.assert_allclose(table["inclusion"], p.mean(axis=(0, 1)))
    plain = inclusion_summary(trace(gamma=(DIMS, gamma), stats=stats), rao_blackwell=False)
    np.testing.assert_allclose(plain["inclusion"], gamma.mean(axis=(0, 1)))
    assert (table["mcse"] < plain["mcse"]).all()
    np.testing.assert_array_equal(table["ess"], plain["ess"])


def test_probabilities_of_unknown_owners_are_not_used():
    """With two binary variables the flat statistic could belong to either."""
    gamma = np.stack([GAMMA[:, :, 0]] * 2, axis=2)
    stats = {"ehmc_inclusion": (("chain", "draw", "k"), np.full((2, 4, 2), 0.123))}
    both = {"a": (DIMS, gamma), "b": (DIMS, gamma)}
    table = inclusion_summary(trace(stats=stats, **both), gamma="b")
    np.testing.assert_allclose(table["inclusion"], gamma.mean(axis=(0, 1)))
    stats = {"ehmc_inclusion_b": (("chain", "draw", "k"), np.full((2, 4, 2), 0.123))}
    table = inclusion_summary(trace(stats=stats, **both), gamma="b")
    np.testing.assert_allclose(table["inclusion"], 0.123)


def test_labels_of_words_and_numbers():
    """Words say what they are of; numbers alone need the name of the variable."""
    coords = {"region": ["north", "south"], "year": [1, 2]}
    dims = ("chain", "draw")
    gamma = np.random.default_rng(6).integers(0, 2, (1, 40, 2, 2))
    both = read_indicators(trace(gamma=((*dims, "region", "year"), gamma), coords=coords))
    assert both.labels == ["north, 1", "north, 2", "south, 1", "south, 2"]
    numbers = read_indicators(
        trace(gamma=((*dims, "year"), gamma[..., 0]), coords={"year": [1, 2]})
    )
    assert numbers.labels == ["gamma[1]", "gamma[2]"]


def test_groups_of_weights():
    """Weights share indicators as ``groups`` says, by label or number; −1 is always on."""
    w = np.concatenate([W, W[:, :, :2]], axis=2)
    idata = trace(
        gamma=(DIMS, GAMMA), w=(("chain", "draw", "column"), w),
        coords={"predictor": NAMES, "column": list("abcde")},
    )  # fmt: skip
    table = inclusion_summary(idata, groups=["age", 0, "height", "income", -1])
    assert list(table["indicator"]) == ["age", "age", "height", "income", "always on"]
    np.testing.assert_array_equal(table["inclusion"], [5 / 8, 5 / 8, 1, 0, 1])
    assert table.loc["b", "mean_in"] == 9.0
    assert table.loc["e", "note"] == "always on"
    assert table.loc["e", "mean"] == 9.0
    by_number = inclusion_summary(idata, weights="w", groups=[0, 0, 2, 1, -1])
    assert by_number.equals(table)
    # Whatever the last indicator is.
    for order in (GAMMA, GAMMA[:, :, ::-1]):
        idata = trace(
            gamma=(DIMS, order), w=(("chain", "draw", "column"), w),
            coords={"predictor": NAMES, "column": list("abcde")},
        )  # fmt: skip
        row = inclusion_summary(idata, groups=[0, 0, 2, -1, 1]).loc["d"]
        assert row["mean"] == row["mean_in"] == W[:, :, 0].mean()


@pytest.mark.parametrize("always_on", [False, True])
def test_groups_of_a_matrix_of_indicators(always_on):
    """A pair of labels is one label, in a list of two as well as in others."""
    gamma = np.random.default_rng(6).integers(0, 2, (1, 40, 2, 2))
    idata = trace(
        gamma=(("chain", "draw", "region", "year"), gamma),
        w=(("chain", "draw", "column"), np.ones((1, 40, 2))),
        coords={"region": ["north", "south"], "year": [1, 2]},
    )
    groups = [("north", 2), -1 if always_on else ("south", 1)]
    table = inclusion_summary(idata, weights="w", groups=groups)
    share = 1.0 if always_on else gamma[:, :, 1, 0].mean()
    np.testing.assert_allclose(table["inclusion"], [gamma[:, :, 0, 1].mean(), share])
    nested = inclusion_summary(idata, weights="w", groups=[[groups[0]], [groups[1]]])
    assert nested.equals(table)


def test_weights_with_more_dims_than_indicators():
    """An indicator switches all weights of its row."""
    w = np.stack([W, 10 * W], axis=2)
    idata = trace(
        gamma=(DIMS, GAMMA), w=(("chain", "draw", "output", "predictor"), w),
        coords={"predictor": NAMES, "output": ["x", "y"]},
    )  # fmt: skip
    table = inclusion_summary(idata)
    assert table.loc[("y", "age"), "mean_in"] == 30.0
    assert table.loc[("x", "height"), "indicator"] == "height"


def test_scalar_and_matrix_indicators():
    """One indicator has its variable's name; a matrix has a row for each pair of labels."""
    one = trace(gate=(("chain", "draw"), GAMMA[:, :, 0]), w=(("chain", "draw"), W[:, :, 0]))
    assert list(inclusion_summary(one).index) == ["gate"]
    assert inclusion_summary(one, weights="w")["mean_in"].iloc[0] == 3.0
    gamma = np.stack([GAMMA, 1 - GAMMA], axis=2)
    matrix = trace(gamma=(("chain", "draw", "i", "j"), gamma))
    table = inclusion_summary(matrix)
    assert table.loc[(1, 0), "inclusion"] == 3 / 8


def test_equal_numbers_of_other_things_are_not_weights():
    """Three regions are not the weights of three predictors."""
    regions = {"region": (("chain", "draw", "area"), W)}
    table = inclusion_summary(trace(gamma=(DIMS, GAMMA), **regions, coords={"predictor": NAMES}))
    assert "mean" not in table


@pytest.mark.parametrize(
    ("variables", "arguments", "words"),
    [
        ({"a": GAMMA, "b": GAMMA}, {}, ["a, b", "gamma='a'"]),
        ({"a": GAMMA, "v": W, "w": W + 1}, {}, ["v, w", "weights='v'"]),
        ({"a": GAMMA, "w": W}, {"gamma": "g"}, ["'g'", "binary variables: a"]),
        ({"a": GAMMA, "w": W}, {"gamma": "w"}, ["'w'", "0 and 1"]),
        ({"a": GAMMA, "w": W}, {"weights": "v"}, ["'v'", "w"]),
        ({"a": GAMMA, "w": W}, {"groups": [0, 1], "weights": "w"}, ["2 coefficients", "has 3"]),
        ({"a": GAMMA, "w": W}, {"groups": ["age", 1, 7]}, ["'age'", "a[0]"]),
        ({"a": GAMMA, "w": W}, {"hdi_prob": 94}, ["hdi_prob", "94"]),
        ({"w": W}, {}, ["no binary", "w"]),
    ],
)
def test_refusals_name_the_candidates(variables, arguments, words):
    """A refusal is a sentence with the names to choose from."""
    idata = trace(**{name: (DIMS, values) for name, values in variables.items()})
    with pytest.raises(ValueError, match=r"\.$") as error:
        inclusion_summary(idata, **arguments)
    for word in words:
        assert word in str(error.value)


def test_shapes_that_differ_ask_for_groups():
    """Weights of another shape need ``groups``."""
    idata = trace(gamma=(DIMS, GAMMA), w=(("chain", "draw", "k"), W[:, :, :2]))
    with pytest.raises(ValueError, match="groups="):
        inclusion_summary(idata, weights="w")
    with pytest.raises(ValueError, match="no posterior"):
        inclusion_summary(xr.DataTree())


def test_any_kind_of_trace(table, tmp_path):
    """Datasets, data trees, ArviZ's own containers and files give the same table."""
    assert inclusion_summary(trace("dataset")).equals(table)
    assert inclusion_summary(trace("tree")["posterior"]).equals(table)
    made = az.from_dict(**_arguments({"gamma": GAMMA, "w": W}))
    assert inclusion_summary(made).equals(table)
    path = tmp_path / "trace.nc"
    made.to_netcdf(str(path))
    assert inclusion_summary(az.from_netcdf(str(path))).equals(table)
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        assert inclusion_summary(opened).equals(table)


def _arguments(variables):
    labels = {
        "coords": {"predictor": NAMES},
        "dims": {name: ["predictor"] for name in variables},
    }
    if int(az.__version__.split(".")[0]) == 0:
        return {"posterior": variables} | labels
    return {"data": {"posterior": variables}} | labels
