"""explain(): every factor, its form, its cost, and what is left to other steps."""

from xml.etree import ElementTree

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pymc_exact_hmc import ExactBinaryHMC, explain


@pytest.fixture(scope="module")
def model():
    with pm.Model() as model:
        beta = pm.HalfNormal("beta", 1)
        p = pm.Beta("p", 1, 1)
        s = pm.Bernoulli("s", p, shape=12)
        # The slowest of its terms says how a factor is recognised.
        pm.Potential("ring", beta * (s * pt.roll(s, 1)).sum() + 0.1 * s.sum())
        pm.Potential("triples", (s[:-2] * s[1:-1] * s[2:]).sum() * 0.2)
        pm.Potential("all of them", 0.3 * pt.prod(2 * s - 1))
        pm.Potential("size", -pt.abs(s.sum() - 3.5))
        pm.Normal("bystander")
        pm.Poisson("k", 1 + s[:3], observed=np.array([1, 2, 3]))
        pm.Poisson("free count", 2.0)
    return model


def test_every_factor_is_explained(model):
    """Each factor has its name, form and cost; slower paths have a reason."""
    text = str(explain(model))
    for words in (
        "s (12)", "ring", "quadratic", "triples", "local", "all of them", "multilinear",
        "gradient", "size", "generic", "compiled log-density", "k (observed)", "separable",
        "Slower path for size", "12 indicators together",
    ):  # fmt: skip
        assert words in text, f"{words!r} is missing in\n{text}"


def test_what_is_left_is_said(model):
    """Variables left to other steps are named with the reason."""
    text = str(explain(model))
    for name in ("beta", "bystander", "free count"):
        assert f"Left to PyMC's own steps: {name} (" in text
    assert "scales and probabilities p\n" in text


def test_rescaled_coefficients_are_said(model):
    """A coupling that multiplies a constant term is rescaled, not computed anew."""
    (line,) = [x for x in explain(model).lines if x.factor == "ring"]
    assert line.coefficients == "computed once, rescaled at each call"
    assert line.recognised.startswith("quadratic")


def test_the_step_explains_itself_alike(model):
    """step.explain() and explain(model) agree, as text and as a table."""
    step = ExactBinaryHMC(model=model)
    assert str(step.explain()) == str(explain(model))
    html = step.explain()._repr_html_()
    assert html.count("<tr>") == 1 + len(step.explain().lines)
    assert "ring" in html
    assert step._repr_html_() == html
    assert repr(step.explain()) == str(step.explain())


def test_the_table_is_well_formed_html():
    """Every tag is closed, names are escaped, and all that is left is listed below the table."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=3)
        pm.Potential("a<b & c", -pt.abs(s.sum() - 1.5))
        pm.Poisson("count", 2.0)
    html = explain(model)._repr_html_()
    root = ElementTree.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")
    cells = [cell.text for cell in root.iter("td")]
    assert "a<b & c (potential)" in cells
    assert any("count" in item.text for item in root.iter("li"))
    assert len(list(root.iter("th"))) == 4


def test_repr_of_the_step():
    """One line: all variables that are taken, and the options as they would be given."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 3))
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.3, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ (gamma * w), pm.HalfNormal("sigma", 1), observed=X[:, 0])
    text = repr(ExactBinaryHMC(model=model, inclusion=True))
    assert text.startswith("ExactBinaryHMC([gamma, w, sigma], augmentation='gaussian', ")
    assert text.endswith("kernel='sheared', inclusion=True)")
    assert "\n" not in text


def test_a_slab_that_is_not_gaussian_is_the_reason():
    """A gated weight with another prior is refused for its prior, not as a scale."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 3))
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.3, shape=3)
        w = pm.StudentT("w", 3, shape=3)
        pm.Normal("y", X @ (gamma * w), 1, observed=X[:, 0])
    assert "w (its prior is not Gaussian, truncated Gaussian or exponential)" in str(explain(model))


def test_a_constraint_with_a_curved_condition_is_not_called_linear():
    """One quadratic condition among linear ones makes it quadratic."""
    with pm.Model() as model:
        w = pm.Normal("w", 0, 1, shape=2)
        both = pt.and_(w[0] <= w[1], (w**2).sum() <= 4)
        pm.Potential("room", pt.switch(both, 0, -np.inf))
    assert "2 quadratic walls" in str(explain(model))


def test_a_name_that_begins_like_another_is_another():
    """Each factor has the form of its own terms."""
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=9)
        pm.Potential("y", 0.3 * s.sum())
        pm.Potential("y_late", pt.exp(-s.sum() / 3.0))
    lines = {line.split()[0]: line for line in str(explain(model)).splitlines()[3:]}
    assert "separable" in lines["y"]
    assert "separable" not in lines["y_late"]
