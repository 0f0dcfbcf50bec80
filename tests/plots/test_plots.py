"""Plots: what stands on the axes is what the result objects hold, and nothing global is touched."""

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from headcount import PACC, ArtificialPrevalence, Outputs, Samples, UniformPrevalence, estimate, evaluate, plots
from headcount.evaluation import Evaluation
from headcount.exceptions import DataError
from headcount.significance import compare_ranks
from tests.conftest import blobs


def evaluation(name="a", bias=0.0, n_classes=2):
    rng = np.random.default_rng(0)
    true = np.repeat(np.linspace(0, 1, 21), 10)
    true = np.column_stack([1 - true, true]) if n_classes == 2 else rng.dirichlet(np.ones(n_classes), 210)
    estimated = np.clip(true + rng.normal(0, 0.01, true.shape) + np.resize([-bias, bias], n_classes), 0, 1)
    return Evaluation(
        name, np.arange(n_classes), true, estimated / estimated.sum(axis=1, keepdims=True), np.full(210, 100)
    )


def drawn(ax):
    """Draw the figure, which raises if something can't be drawn; return its pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def hidden_ticks(ax):
    """Return the labels of ticks outside the axes, which are not drawn."""
    return {
        label
        for axis in (ax.xaxis, ax.yaxis)
        for at, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        if not ax.axison or not min(axis.get_view_interval()) <= at <= max(axis.get_view_interval())
    }


def misplaced_texts(ax):
    """Return pairs of texts that overlap, and texts outside the figure."""
    drawn(ax)
    renderer, figure, hidden = ax.figure.canvas.get_renderer(), ax.figure.bbox, hidden_ticks(ax)
    texts = [
        t for t in ax.figure.findobj(mpl.text.Text) if t.get_text().strip() and t.get_visible() and t not in hidden
    ]
    boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in texts]
    boxes = [(text, box.padded(-1)) for text, box in boxes if box.width]
    outside = [t for t, b in boxes if b.x0 < 0 or b.y0 < 0 or b.x1 > figure.x1 or b.y1 > figure.y1]
    return [(t, u) for i, (t, b) in enumerate(boxes) for u, c in boxes[:i] if b.overlaps(c)], outside


def test_the_diagonal_shows_the_medians_and_the_band_of_each_true_share():
    one, biased = evaluation(), evaluation("b", 0.1)
    ax = plots.diagonal([one, biased], band=0.5)
    medians = [np.median(one.estimated[np.isclose(one.true[:, 1], p), 1]) for p in np.linspace(0, 1, 21)]
    np.testing.assert_allclose(ax.lines[1].get_ydata(), medians)
    assert ax.lines[2].get_ydata()[10] == pytest.approx(0.6, abs=0.01)
    low, high = (np.quantile(one.estimated[one.true[:, 1] == 0.5, 1], q) for q in (0.25, 0.75))
    band = ax.collections[0].get_paths()[0].vertices
    assert {low, high} <= {*band[np.isclose(band[:, 0], 0.5), 1].tolist()}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert misplaced_texts(ax) == ([], [])
    assert plots.diagonal(one, band=0).collections[:] == []
    assert one.plot().get_xlabel() == "true share of 1"


def test_the_error_by_shift_is_the_mean_error_of_the_samples_at_that_shift():
    one = evaluation("a", 0.1)
    ax = plots.error_by_shift({"x": one}, [0.5, 0.5], n_bins=5)
    shift = np.abs(one.true[:, 1] - 0.5)
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(x, [0.05, 0.15, 0.25, 0.35, 0.45])
    assert y[-1] == pytest.approx(one.ae[shift >= 0.4].mean())
    assert misplaced_texts(ax) == ([], [])
    with pytest.raises(DataError, match="must be 2 shares"):
        plots.error_by_shift(one, [0.2, 0.3, 0.5])


def test_boxes_show_the_bias_by_prevalence():
    ax = plots.bias_by_prevalence([evaluation("a"), evaluation("b", 0.1)], n_bins=5)
    medians = [line.get_ydata()[0] for line in ax.lines if line.get_color() == "black" and len(line.get_ydata()) == 2]
    assert len(ax.patches) == 10
    assert sum(abs(m - 0.1) < 0.02 for m in medians) >= 3
    assert [t.get_text() for t in ax.get_xticklabels()][:2] == ["0 to 20 %", "20 to 40 %"]
    assert misplaced_texts(ax) == ([], [])


def test_intervals_by_group_are_those_of_the_estimate():
    X, y = blobs(600, 3, 0)
    names = [f"2025-{m:02d}" for m in range(1, 9)]
    samples = Samples.from_groups(np.repeat(names, 50))
    answer = estimate(PACC(random_state=0).fit(X[:200], y[:200]), X[200:], samples)
    ax = answer.plot()
    assert len(ax.containers) == 3
    points, (low, high), _ = ax.containers[1].lines[0], ax.containers[1].lines[1], None
    np.testing.assert_allclose(points.get_ydata(), answer.shares[:, 1])
    np.testing.assert_allclose(low.get_ydata(), answer.low[:, 1])
    np.testing.assert_allclose(high.get_ydata(), answer.high[:, 1])
    assert [t.get_text() for t in ax.get_xticklabels()] == names
    assert misplaced_texts(ax)[1] == []
    dated = plots.intervals(answer, [answer.classes[0]], names=pd.to_datetime([f"{n}-01" for n in names]))
    assert len(dated.containers) == 1
    drawn(dated)
    with pytest.raises(DataError, match="8 groups and 2 names"):
        plots.intervals(answer, names=["a", "b"])
    with pytest.raises(DataError, match="no class 'x'"):
        plots.intervals(answer, ["x"])


def test_the_triangle_puts_shares_at_their_place():
    ax = plots.ternary(np.eye(3), ["a", "b", "c"], name="corners")
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [[0, 0], [1, 0], [0.5, np.sqrt(0.75)]], atol=1e-12)
    plots.ternary([[1 / 3] * 3], true=[[1, 0, 0]], name="middle", ax=ax)
    np.testing.assert_allclose(ax.collections[1].get_offsets(), [[0.5, np.sqrt(0.75) / 3]])
    assert misplaced_texts(ax) == ([], [])
    drawn(plots.ternary(evaluation(n_classes=3)))
    with pytest.raises(DataError, match="three classes; got 2"):
        plots.ternary([[0.5, 0.5]])


def test_reliability_is_the_share_of_the_class_among_items_of_equal_posteriors():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    y = (rng.random(20_000) < p).astype(int)
    ax = plots.reliability(Outputs.from_posteriors(p, [0, 1]), y, name="right")
    points = ax.containers[0].lines[0]
    np.testing.assert_allclose(points.get_xdata(), points.get_ydata(), atol=0.04)
    plots.reliability(Outputs.from_posteriors(p**3, [0, 1]), y, name="too low", ax=ax)
    assert np.all(ax.containers[1].lines[0].get_ydata()[2:8] > ax.containers[1].lines[0].get_xdata()[2:8] + 0.1)
    assert misplaced_texts(ax)[1] == []
    with pytest.raises(DataError, match="20000 items and 2 labels"):
        plots.reliability(Outputs.from_posteriors(p, [0, 1]), [0, 1])


def test_a_critical_difference_diagram_joins_what_can_not_be_told_apart():
    rng = np.random.default_rng(1)
    errors = rng.random((40, 1)) + 0.1 * rng.random((40, 12)) + np.repeat([0.0, 0.2, 0.4], 4)
    ranks = compare_ranks(pd.DataFrame(errors, columns=[f"method {j}" for j in range(12)]))
    ax = ranks.plot()
    bars = [line for line in ax.lines if line.get_linewidth() == 3.0]
    assert len(bars) == len(ranks.groups()) == 3
    assert misplaced_texts(ax) == ([], [])
    nemenyi = compare_ranks(errors, test="nemenyi")
    [scale] = [line for line in nemenyi.plot().lines if line.get_linewidth() == 2.0]
    assert np.ptp(scale.get_xdata()) == pytest.approx(nemenyi.critical_difference)


def test_plots_draw_on_given_axes_and_touch_nothing_global(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it fails
    before = dict(mpl.rcParams)
    figure = Figure(figsize=(8, 4))
    axes = figure.subplots(1, 2)
    assert plots.diagonal(evaluation(), ax=axes[0]) is axes[0]
    assert plots.error_by_shift(evaluation(), [0.5, 0.5], ax=axes[1]).figure is figure
    assert dict(mpl.rcParams) == before


def test_what_is_no_evaluation_is_refused():
    for wrong in ([], {}, "a", [1.0]):
        with pytest.raises(DataError, match="what `evaluate` returns"):
            plots.diagonal(wrong)


def test_pictures_change_with_what_they_show():
    X, y = blobs(400, 2, 0)
    q = PACC(random_state=0).fit(X[:200], y[:200])
    for protocol in (
        ArtificialPrevalence(5, repeats=4, sample_size=50, random_state=0),
        UniformPrevalence(20, sample_size=50, random_state=1),
    ):
        result = evaluate(q, X[200:], y[200:], protocol)
        moved = Evaluation(result.name, result.classes, result.true, result.estimated[:, ::-1].copy(), result.sizes)
        assert (drawn(plots.diagonal(result)) != drawn(plots.diagonal(moved))).any()
