"""Summaries of traces that were sampled here, with probabilities recorded and read from files."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from pymc_exact_hmc import ExactBinaryHMC, inclusion_summary, model_summary

NAMES = ["age", "income", "height"]


@pytest.fixture(scope="module")
def two_blocks():
    """Two variables of indicators in one regression, and their trace."""
    rng = np.random.default_rng(11)
    X, Z = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    y = 0.5 * X[:, 0] + 0.4 * Z[:, 1] + rng.normal(size=40)
    with pm.Model(coords={"predictor": NAMES}) as model:
        a = pm.Bernoulli("a", 0.4, dims="predictor")
        b = pm.Bernoulli("b", 0.4, shape=2)
        u = pm.Normal("u", 0, 1, dims="predictor")
        v = pm.Deterministic("v", b * pm.Normal("v_raw", 0, 1, shape=2))
        pm.Normal("y", X @ (a * u) + Z @ v, 1.0, observed=y)
        idata = pm.sample(
            1000, tune=100, chains=2, cores=1, step=ExactBinaryHMC(inclusion=True), random_seed=1,
            progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip
    return model, idata


@pytest.mark.parametrize("name", ["a", "b"])
def test_probabilities_belong_to_their_variable(two_blocks, name):
    """Means of probabilities and of indicators agree within six standard errors of the latter."""
    _, idata = two_blocks
    exact = inclusion_summary(idata, name)
    plain = inclusion_summary(idata, name, rao_blackwell=False)
    assert not np.allclose(exact["inclusion"], plain["inclusion"], atol=1e-12)
    assert (np.abs(exact["inclusion"] - plain["inclusion"]) < 6 * plain["mcse"]).all()
    assert (exact["mcse"] < plain["mcse"]).all()


def test_coefficients_are_found_by_dims_and_by_products(two_blocks):
    """u has the dims of a; v is 0 wherever b is, and v_raw is not."""
    _, idata = two_blocks
    assert list(inclusion_summary(idata, "a").index) == NAMES
    v = np.asarray(idata.posterior["v"])
    table = inclusion_summary(idata, "b")
    np.testing.assert_allclose(table["mean"], v.mean(axis=(0, 1)))
    np.testing.assert_allclose(table["mean_in"].iloc[0], v[..., 0][v[..., 0] != 0].mean())


def test_a_file_tells_the_same(two_blocks, tmp_path):
    """The trace that pm.sample returned, written to disk and read back, has the same tables."""
    model, idata = two_blocks
    path = str(tmp_path / "trace.nc")
    idata.to_netcdf(path)
    again = az.from_netcdf(path)
    for name in ("a", "b"):
        assert inclusion_summary(again, name).equals(inclusion_summary(idata, name))
        first, second = (model_summary(x, name, prior=model) for x in (idata, again))
        assert str(first) == str(second)
