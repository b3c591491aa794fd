"""Pictures: axes are given and returned, nothing is cut off, nothing global changes."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from support.speed import slow_but

from pymc_exact_hmc import (
    plot_coefficients,
    plot_coinclusion,
    plot_crossings,
    plot_inclusion,
    plot_models,
    plot_sizes,
    plot_trajectory,
    prior_inclusion,
)
from pymc_exact_hmc.plots.coinclusion import correlations
from pymc_exact_hmc.plots.models import EMPTY, NEGATIVE, POSITIVE, _cells
from pymc_exact_hmc.plots.trajectory import example_trajectory
from pymc_exact_hmc.results.coefficients import read_coefficients
from pymc_exact_hmc.results.reading import read_indicators
from pymc_exact_hmc.results.visits import count_visits

ROWS = [plot_inclusion, plot_coefficients, plot_crossings]
PICTURES = [*ROWS, plot_models, plot_coinclusion, plot_sizes]


def make_trace(d, draws=100, seed=1, name="a predictor with a name {}"):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 1.0, size=d)
    p[0] = 1.0
    gamma = (rng.random((2, draws, d)) < p).astype(int)
    gamma[:, :, -1] = 1 - gamma[:, :, -2]
    w = rng.normal(1.0, 1.0, size=gamma.shape)
    dims = ("chain", "draw", "predictor")
    labels = [name.format(i) for i in range(d)]
    return xr.Dataset({"gamma": (dims, gamma), "w": (dims, w)}, coords={"predictor": labels})


SMALL = make_trace(6)


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("plot", PICTURES)
def test_settings_are_left_alone(plot, style):
    """A picture changes no setting, and draws in the style of the user."""
    with plt.style.context(style):
        before = dict(mpl.rcParams)
        ax = plot(SMALL)
        assert dict(mpl.rcParams) == before
        assert ax.xaxis.label.get_color() == mpl.rcParams["axes.labelcolor"]
        assert mpl.colors.same_color(ax.get_facecolor(), mpl.rcParams["axes.facecolor"])


@pytest.mark.parametrize("plot", PICTURES)
def test_axes_that_are_given_are_used(plot):
    """The picture is drawn where the user says, and no other figure is opened."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    assert plot(SMALL, ax=right) is right
    assert plt.get_fignums() == [figure.number]
    assert right.has_data()
    assert not left.has_data()


@pytest.mark.parametrize("d", slow_but([150], [3, 30, 150]))
@pytest.mark.parametrize("plot", PICTURES)
def test_no_label_is_cut_off(plot, d):
    """All text lies inside the figure, in letters of at least 5 points, one beside the other."""
    axes = np.ravel(plot(make_trace(d)))
    figure = axes[0].figure
    figure.canvas.draw()
    for ax in axes:
        low, high = sorted(ax.get_ylim())
        labels = [x for x in ax.get_yticklabels() if low <= x.get_position()[1] <= high]
        boxes = [label.get_window_extent() for label in labels]
        assert all(label.get_fontsize() >= 5 for label in ax.get_yticklabels())
        left, right = ax.get_xlim()
        below = [x for x in ax.get_xticklabels() if left <= x.get_position()[0] <= right]
        below += [x for x in (ax.xaxis.label, ax.yaxis.label) if x.get_text()]
        for box in [*boxes, *(x.get_window_extent() for x in below)]:
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= figure.bbox.x1
            assert box.y1 <= figure.bbox.y1
        middles = np.sort([0.5 * (box.y0 + box.y1) for box in boxes])
        heights = [box.height for box in boxes]
        if len(boxes) > 1 and plot is not plot_sizes:
            assert np.diff(middles).min() > 0.8 * min(heights)


@pytest.mark.parametrize("plot", ROWS)
def test_all_of_150_have_a_label(plot):
    """With 150 predictors every one that was ever included has its own row and label."""
    trace = make_trace(150)
    axes = np.ravel(plot(trace))
    labels = [label.get_text() for ax in axes for label in ax.get_yticklabels()]
    seen = trace["gamma"].values.any(axis=(0, 1)) if plot is plot_coefficients else np.ones(150)
    assert len(set(labels)) == len(labels) == int(np.sum(seen))


def test_rows_are_left_out_only_with_a_word():
    """Ten thousand predictors, or a small axes, show the most probable ones and say so."""
    ax = np.ravel(plot_inclusion(make_trace(1000), top=40))
    assert ax[0].get_title(loc="left") == "40 of 1000"
    _, small = plt.subplots(figsize=(3, 2))
    plot_inclusion(make_trace(100), ax=small)
    assert small.get_title(loc="left").endswith("of 100")


def test_inclusion_shows_the_probabilities():
    """Bars are as long as the probabilities, most probable first."""
    ax = plot_inclusion(SMALL)
    widths = [bar.get_width() for bar in ax.patches]
    expected = np.sort(SMALL["gamma"].values.mean(axis=(0, 1)))[::-1]
    np.testing.assert_allclose(widths, expected)


def test_correlations_by_hand():
    """An indicator and its opposite have −1; a constant one has none."""
    places, r = correlations(SMALL["gamma"].values)
    assert 0 not in places
    assert r[-1, -2] == pytest.approx(-1.0)
    flat = SMALL["gamma"].values.reshape(-1, 6)[:, places]
    np.testing.assert_allclose(r, np.corrcoef(flat.T), atol=1e-6)


def test_pairs_have_the_labels_of_both():
    """Rows and columns are the same indicators, one apart; the closest pair comes first."""
    ax = plot_coinclusion(SMALL)
    below, left = (
        [x.get_text() for x in xs] for xs in (ax.get_xticklabels(), ax.get_yticklabels())
    )
    assert below[1:] == left[:-1]
    assert {below[0][-1], left[0][-1]} == {"4", "5"}


def test_models_are_as_wide_as_they_are_probable():
    """Those that are not shown leave their share of the axis."""
    share = count_visits(SMALL["gamma"].values).share
    assert len(share) > 3
    left, right = plot_models(SMALL, models=3).get_xlim()
    assert left == 0
    assert right == pytest.approx(share[:3].sum())


def test_coefficients_that_were_never_included_are_left_out():
    """The others keep their labels."""
    gamma = SMALL["gamma"].copy()
    gamma[..., 0] = 0
    ax = plot_coefficients(SMALL.assign(gamma=gamma), sort=False)
    assert [x.get_text()[-1] for x in ax.get_yticklabels()] == list("12345")


def test_models_without_coefficients_and_wide_names():
    """Indicators alone have one colour; long names are shortened."""
    trace = make_trace(5, name="an endlessly long name of a predictor, number {}")
    ax = plot_models(trace.drop_vars("w"))
    assert all(len(label.get_text()) <= 28 for label in ax.get_yticklabels())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["included"]


def test_sizes_of_a_prior_alone():
    """The prior can be seen before there is a trace."""
    import pymc as pm

    with pm.Model() as model:
        pm.Bernoulli("gamma", 0.25, shape=4)
    ax = plot_sizes(prior=prior_inclusion(model))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["prior"]
    with pytest.raises(ValueError, match="prior_inclusion"):
        plot_sizes()
    heights = [line.get_ydata() for line in plot_sizes(prior=model, gamma="gamma").lines]
    np.testing.assert_allclose(heights[0], prior_inclusion(model).sizes)


def test_refusals():
    """What cannot be drawn is said."""
    with pytest.raises(ValueError, match="weights="):
        plot_coefficients(SMALL.drop_vars("w"))
    still = SMALL.drop_vars("w").isel(predictor=[0])
    with pytest.raises(ValueError, match="nothing to correlate"):
        plot_coinclusion(still)
    with pytest.raises(ValueError, match="top must be at least 2"):
        plot_coinclusion(SMALL, top=1)
    with pytest.raises(ValueError, match="No coefficient was included in any draw"):
        plot_coefficients(SMALL.assign(gamma=0 * SMALL["gamma"]), weights="w")


def test_signs_are_those_of_the_coefficients_own_indicator():
    """Also where the dims of the coefficients are in another order."""
    rng = np.random.default_rng(5)
    gamma, w = rng.integers(0, 2, (1, 60, 2, 3)), np.abs(rng.normal(size=(1, 60, 2, 3)))
    w[:, :, 0, 1] *= -1
    sampled = ("chain", "draw")
    trace = xr.Dataset(
        {
            "gamma": ((*sampled, "outcome", "predictor"), gamma),
            "beta": ((*sampled, "predictor", "outcome"), np.swapaxes(gamma * w, 2, 3)),
        }
    )
    indicators = read_indicators(trace)
    coefficients, visits = read_coefficients(trace, indicators), count_visits(indicators.draws)
    n = len(visits.share)
    cells = _cells(indicators, coefficients, visits, n, np.arange(6))
    on = visits.models[:n].T == 1
    signs = np.array([1, -1, 1, 1, 1, 1])
    np.testing.assert_array_equal(
        cells, np.where(on, np.where(signs[:, None] > 0, POSITIVE, NEGATIVE), EMPTY)
    )


def test_trajectory_marks_every_event():
    """Each crossing, bounce and reflection has its mark at its time."""
    trajectory = example_trajectory()
    top, middle, bottom = plot_trajectory(trajectory)
    drawn = [
        float(line.get_xdata()[0])
        for ax in (top, bottom)
        for line in ax.lines
        if line.get_marker() in ("o", "^") and len(line.get_xdata())
    ]
    np.testing.assert_allclose(sorted(drawn), [event.time for event in trajectory.events])
    assert {event.kind for event in trajectory.events} == {"crossing", "bounce", "reflection"}
    _, axes = plt.subplots(3)
    assert plot_trajectory(axes=axes) is axes
    assert middle.get_ylabel() == "s"
