"""Figures: what is drawn are the numbers, nothing global changes, files are whole and the same each time."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from comitia.report import SevenSegments
from comitia.report._blocks import blocks
from comitia.report._presentation import STYLES, style
from comitia.report._vocabulary import in_order, title
from comitia.report.figures import critical_difference, ensemble_sizes, rank_heat_map, regret, seven_segments
from comitia.report.figures._files import save


def texts(figure: Figure) -> list[str]:
    return [item.get_text() for item in figure.findobj(mpl.text.Text)]


@pytest.fixture(
    params=["sizes", "critical", "heat", "regret", "regret of one", "heat of one", "segments"], scope="module"
)
def figure(request, run) -> Figure:
    alone = run.rows[run.rows.dataset == "seven-segment"]
    return {
        "sizes": lambda: ensemble_sizes(run.rows, ensemble="emodt"),
        "critical": lambda: critical_difference(*blocks(run.rows, ensembles=["emodt"], losses=["f1"])),
        "heat": lambda: rank_heat_map(run.blocks),
        "regret": lambda: regret(run.blocks),
        "regret of one": lambda: regret(blocks(alone)),
        "heat of one": lambda: rank_heat_map(blocks(alone)),
        "segments": lambda: seven_segments(run.digits),
    }[request.param]()


def test_nothing_is_cut_off(figure):
    FigureCanvasAgg(figure).draw()
    drawn = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) >= -0.01


def test_no_two_texts_of_a_panel_overlap(figure):
    FigureCanvasAgg(figure).draw()
    for axes in figure.axes:
        boxes = [
            (item.get_text(), item.get_window_extent())
            for item in axes.texts
            if item.get_text() and item.get_window_extent().width
        ]
        for i, (name, box) in enumerate(boxes):
            for other, second in boxes[i + 1 :]:
                width = min(box.x1, second.x1) - max(box.x0, second.x0)
                height = min(box.y1, second.y1) - max(box.y0, second.y0)
                assert width <= 0.5 or height <= 0.5, (name, other)


def test_curves_are_the_means_over_folds_at_each_size(rows):
    figure = ensemble_sizes(rows, ensemble="emodt", datasets=["weather"], losses=["f1"])
    (axes,) = figure.axes
    part = rows[(rows.ensemble == "emodt") & (rows.dataset == "weather") & (rows.loss == "f1")]
    for line, method in zip(axes.lines, in_order(part.aggregation), strict=True):
        means = part[part.aggregation == method].groupby("size").value.mean()
        np.testing.assert_array_equal(line.get_xdata(), means.index)
        np.testing.assert_allclose(line.get_ydata(), 100 - 100 * means)


def test_published_curves_are_thin_lines_beside_ones_own(rows):
    part = rows[(rows.ensemble == "emodt") & (rows.dataset == "weather") & (rows.loss == "f1")]
    published = part[part.fold == 0]
    figure = ensemble_sizes(part, ensemble="emodt", paper=published)
    thin = [line for line in figure.axes[0].lines if line.get_linewidth() < 1]
    assert len(thin) == 6
    assert "thin: the paper" in texts(figure)
    gmv = published[published.aggregation == "gmv"].sort_values("size")
    np.testing.assert_allclose(thin[0].get_ydata(), 100 - 100 * gmv.value)


def test_curves_need_two_sizes(rows):
    with pytest.raises(ValueError, match="one size, 12"):
        ensemble_sizes(rows[rows["size"] == 12], ensemble="emodt")


def test_the_diagram_puts_each_aggregation_at_its_average_rank(rows):
    (block,) = blocks(rows, ensembles=["emodt"], losses=["f1"])
    (axes,) = critical_difference(block).axes
    markers = [line for line in axes.lines if len(line.get_xdata()) == 1]
    np.testing.assert_allclose(sorted(float(line.get_xdata()[0]) for line in markers), sorted(block.average_ranks))
    for method, rank in zip(block.methods, block.average_ranks, strict=True):
        name = title(method)
        assert any(name in text and f"{rank:.2f}" in text for text in texts(axes.figure))


def test_the_diagram_needs_two_datasets(rows):
    with pytest.raises(ValueError, match="1 complete dataset"):
        critical_difference(*blocks(rows[rows.dataset == "seven-segment"], ensembles=["emodt"], losses=["f1"]))


def test_the_heat_map_shows_the_average_ranks(rows):
    figure = rank_heat_map(blocks(rows, ensembles=["emodt"]))
    grid = figure.axes[0].images[0].get_array()
    for column, block in enumerate(blocks(rows, ensembles=["emodt"])):
        for row, method in enumerate(["gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr"]):
            assert grid[row, column] == pytest.approx(block.average_ranks[block.index(method)])


def test_regret_is_zero_for_the_best_and_the_mean_gap_for_the_others(rows):
    figure = regret(blocks(rows, ensembles=["emodt"]))
    (block,) = blocks(rows, ensembles=["emodt"], losses=["f1"])
    axes = figure.axes[2]
    labels = [item.get_text() for item in axes.texts]
    gaps = block.values.max(axis=1, keepdims=True) - block.values
    assert labels == [f"{gap:.2f}" for gap in gaps.mean(axis=0)]
    assert (block.regret.min(axis=1) == 0).all()


def test_displays_light_the_segments_of_the_labelings(run):
    count = len(run.digits.images)
    figure = seven_segments(run.digits)
    for column in range(count):
        panel = figure.axes[(2 + 0) * count + column]  # the first aggregation's row
        lit = np.asarray(next(iter(run.digits.labelings.values())))[column]
        truth = np.asarray(run.digits.truth)[column]
        dark = [patch.get_facecolor()[:3] == mpl.colors.to_rgb("#1a1a1a") for patch in panel.patches]
        hatched = [bool(patch.get_hatch()) for patch in panel.patches]
        np.testing.assert_array_equal(dark, (lit == 1) & (truth == 1))
        np.testing.assert_array_equal(hatched, (lit == 1) & (truth == 0))


def test_segments_lie_where_a_display_has_them(run):
    panel = seven_segments(run.digits).axes[len(run.digits.images)]
    centres = np.array([patch.get_xy()[:-1].mean(axis=0) for patch in panel.patches])
    x, y = centres[:, 0] - 0.12 * centres[:, 1], centres[:, 1]
    expected = [(0.5, 2), (1, 1.5), (1, 0.5), (0.5, 0), (0, 0.5), (0, 1.5), (0.5, 1)]  # a to g
    np.testing.assert_allclose(np.column_stack([x, y]), expected, atol=1e-9)


def test_the_most_disputed_digits_are_those_on_which_displays_differ():
    truth = np.zeros((4, 7), dtype=int)
    other = truth.copy()
    other[2] = 1
    other[0, :3] = 1
    kept = SevenSegments(np.arange(4 * 64).reshape(4, 8, 8), truth, {"gmv": truth, "ctp": other}).most_disputed(2)
    np.testing.assert_array_equal(np.asarray(kept.images)[:, 0, 0], [0, 128])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": np.zeros((3, 8, 7))}, r"images must have shape .* got shape \(3, 8, 7\)"),
        ({"truth": np.zeros((3, 6))}, r"truth must be .* got shape \(3, 6\)"),
        ({"labelings": {"ctp": np.full((3, 7), 2)}}, "ctp must be zeros and ones"),
        ({"labelings": {}}, "labelings must be of at least one"),
    ],
)
def test_bad_digits_are_refused(changes, message):
    good = {"images": np.zeros((3, 8, 8)), "truth": np.zeros((3, 7)), "labelings": {"ctp": np.zeros((3, 7))}}
    with pytest.raises(ValueError, match=message):
        SevenSegments(**(good | changes))


def test_saving_writes_each_format_whole_and_the_same_each_time(rows, tmp_path):
    figure = rank_heat_map(blocks(rows))
    first = [path.read_bytes() for path in save(figure, tmp_path / "a" / "ranks")]
    second = [path.read_bytes() for path in save(rank_heat_map(blocks(rows)), tmp_path / "b" / "ranks")]
    assert [content[:4] for content in first[1:]] == [b"%PDF", b"\x89PNG"]
    assert b"<svg" in first[0]
    assert first == second
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["ranks.pdf", "ranks.png", "ranks.svg"]


def test_saving_leaves_nothing_behind_when_it_fails(rows, tmp_path):
    with pytest.raises(ValueError, match="formats must be some of svg, pdf, png; got 'gif'"):
        save(rank_heat_map(blocks(rows)), tmp_path / "ranks", formats=["gif"])
    figure = Figure()
    figure.draw = lambda renderer: 1 / 0
    with pytest.raises(ZeroDivisionError):
        save(figure, tmp_path / "broken", formats=["png"])
    assert list(tmp_path.iterdir()) == []


def test_colours_and_dashes_tell_all_aggregations_apart():
    looks = {(entry.colour, entry.dashes[0], entry.markers[0]) for entry in STYLES.values()}
    assert len(looks) == len(STYLES)
    assert len({look.markers for look in STYLES.values()}) == len({look.colour for look in STYLES.values()}) == 8


def test_strangers_and_other_pools_are_told_apart_too():
    names = ["ctp", "ctp · median", "mine", "yours"]
    looks = {name: style(name, names) for name in names}
    assert looks["ctp · median"].colour == looks["ctp"].colour
    assert len({look.markers for look in looks.values()}) == 4
    assert len({looks[name].colour for name in ("ctp", "mine", "yours")}) == 3


def test_importing_and_drawing_leave_matplotlib_as_it_was():
    # Reading the setting "backend" would itself choose one and load pyplot.
    program = """
import sys
import matplotlib as mpl
settings = lambda: {name: mpl.rcParams[name] for name in mpl.rcParams if name != "backend"}
before = settings()
from matplotlib.figure import Figure
from comitia.report.figures._files import as_svg
assert "<svg" in as_svg(Figure())
assert settings() == before
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
