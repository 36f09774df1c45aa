"""Pictures can be read: no text lies on another or outside, in any style, with few rows and many, and in grey."""

from __future__ import annotations

import colorsys
import pickle

import numpy as np
import pandas as pd
import pytest

from conftest import requires
from evalci_accessor import exceptions as ex
from evalci_accessor import plot
from evalci_accessor.plot import _canvas

from .pictures import boxes, covered, labels, many_clusters, outside, over_k, overlaps, pairs, plans, rates

matplotlib = requires("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")


def draw_forest(n_rows, letters, **kind):
    honest, naive = rates(n_rows, letters=letters, **kind)
    return plot.forest(honest, naive=naive, group="family", label="model", title="A title")


PICTURES = {
    "forest": draw_forest,
    "forest, one-sided": lambda n, letters: draw_forest(n, letters, one_sided=True),
    "forest, zero": lambda n, letters: draw_forest(n, letters, zero=True),
    "differences": lambda n, letters: plot.differences(
        pairs(n, letters=letters), group="family", title="A title"
    ),
    "differences, margin": lambda n, letters: plot.differences(
        pairs(n, letters=letters, margin=0.1), title="A title"
    ),
    "differences, one-sided": lambda n, letters: plot.differences(
        pairs(n, letters=letters, margin=0.1, one_sided=True)
    ),
    "clusters": lambda n, letters: plot.clusters(
        (made := many_clusters([5 + i % 7 for i in range(n)], letters=letters))[0],
        overall=made[1],
        title="A title",
    ),
}


CURVES = {
    "pass_at_k": lambda n, letters: plot.pass_at_k(over_k(n, letters=letters), title="A title"),
    "pass_at_k, one-sided": lambda n, letters: plot.pass_at_k(over_k(n, letters=letters, one_sided=True)),
    "pass_at_k, zero": lambda n, letters: plot.pass_at_k(over_k(n, letters=letters, zero=True)),
    "half_width": lambda n, letters: plot.power(
        plans("half_width", n, letters=letters), goal=0.05, title="A title"
    ),
    "power": lambda n, letters: plot.power(plans("power", n, letters=letters), x="n_items"),
}
SMALL = {
    "forest": lambda ax: plot.forest(rates(3)[0], naive=rates(3)[1], label="model", notes=False, ax=ax),
    "clusters": lambda ax: plot.clusters((made := many_clusters([3, 9, 60]))[0], overall=made[1], ax=ax),
    "differences": lambda ax: plot.differences(pairs(3), label="model_a", notes=False, ax=ax),
    "pass_at_k": lambda ax: plot.pass_at_k(over_k(2), ax=ax),
    "power": lambda ax: plot.power(plans("half_width", 2), goal=0.05, ax=ax),
    "coverage": lambda ax: plot.coverage(covered(3), notes=False, ax=ax),
}


def legible(figure) -> None:
    """No text lies on another, or beyond the figure."""
    found = boxes(figure)
    assert overlaps(found) == []
    assert outside(found, figure) == []


@pytest.mark.parametrize(("letters", "n_lines"), [(12, 1), (60, 6)])
@pytest.mark.parametrize("picture", CURVES)
def test_curves_have_room(picture, letters, n_lines):
    figure = CURVES[picture](n_lines, letters).get_figure()
    legible(figure)
    box = figure.axes[0].get_window_extent()
    assert min(box.width, box.height) / figure.dpi > 2


def test_many_k_share_the_axis():
    made = pd.concat([over_k(1).iloc[[0]].assign(k=k) for k in range(1, 129)], ignore_index=True)
    ax = plot.pass_at_k(made)
    legible(ax.get_figure())
    assert len(ax.get_xticks()) > 8


@pytest.mark.parametrize(("letters", "n_rows"), [(12, 3), (60, 40)])
def test_coverage_has_room(letters, n_rows):
    figure = plot.coverage(covered(n_rows, letters=letters), title="A title").get_figure()
    legible(figure)
    assert figure.axes[0].get_window_extent().width / figure.dpi > 1.0


@pytest.mark.parametrize("picture", ["forest", "power"])
def test_a_long_title_takes_several_lines(picture):
    title = "A title of many words that are not as long as each other, and goes on for another line or two in any case"
    ax = (
        plot.forest(rates(3)[0], title=title, label="model")
        if picture == "forest"
        else plot.power(plans("power", 2), title=title)
    )
    assert "\n" in ax.get_title()
    assert " ".join(ax.get_title().split()) == title
    legible(ax.get_figure())


@pytest.mark.parametrize("picture", SMALL)
def test_two_narrow_pictures_stand_side_by_side(picture):
    figure, axes = plt.subplots(1, 2, figsize=(5, 4.5), layout="constrained")
    for ax in axes:
        SMALL[picture](ax)
    legible(figure)
    for ax in axes:
        assert ax.get_window_extent().width / figure.dpi > 0.7
        assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1 - 1


@pytest.mark.parametrize(("picture", "width"), [*((picture, 0.45) for picture in SMALL), ("pass_at_k", 0.25)])
def test_a_legend_is_no_wider_than_a_narrow_axes(picture, width):
    figure = plt.figure(figsize=(4, 5))
    ax = figure.add_axes((0.3, 0.1, width, 0.3))
    SMALL[picture](ax)
    figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.x1 <= ax.get_window_extent().x1 + 1
    assert legend.x0 >= ax.get_window_extent().x0 - 1


@pytest.mark.parametrize(("n_rows", "letters", "size"), [(3, 12, 10), (25, 60, 15)])
@pytest.mark.parametrize("picture", PICTURES)
def test_no_text_lies_on_another_or_outside(picture, n_rows, letters, size):
    with plt.style.context({"font.size": size}):
        figure = PICTURES[picture](n_rows, letters).get_figure()
        found = boxes(figure)
        assert len(found) > 0.6 * n_rows
        assert overlaps(found) == []
        assert outside(found, figure) == []
        box = figure.axes[0].get_window_extent()
        assert (
            min(box.width, box.height) / figure.dpi > 1.0 * min(n_rows, 5) / 5
        )  # room is left for the intervals


@pytest.mark.parametrize(
    "sizes", [[1] * 1000, [300, 2, 2, 2, 50], list(range(1, 60))], ids=["many", "dominated", "uneven"]
)
def test_clusters_of_any_sizes_have_room(sizes):
    rows, overall = many_clusters(sizes)
    figure = plot.clusters(rows, overall=overall).get_figure()
    found = boxes(figure)
    assert overlaps(found) == []
    assert outside(found, figure) == []


def test_the_check_finds_an_overlap_and_what_is_cut_off():
    figure = plot.forest(rates(3)[0]).get_figure()
    figure.axes[0].annotate(
        "on it", (1, 2), xycoords=("axes fraction", "data"), xytext=(20, 0), textcoords="offset points"
    )
    assert any("on it" in pair for pair in overlaps(boxes(figure)))
    figure.text(0.99, 0.5, "beyond the edge")
    assert outside(boxes(figure), figure) == ["beyond the edge"]


@pytest.mark.parametrize("picture", ["forest", "differences"])
def test_margin_labels_and_legend_lie_beside_the_intervals(picture):
    ax = PICTURES[picture](5, 60)
    figure = ax.get_figure()
    figure.canvas.draw()
    frame = ax.get_window_extent()
    assert min(text.get_window_extent().x0 for text in ax.texts) > frame.x1
    assert max(text.get_window_extent().x1 for text in ax.get_yticklabels()) < frame.x0
    assert ax.get_legend().get_window_extent().y0 >= frame.y1 - 1
    assert ax.title.get_window_extent().y0 > ax.get_legend().get_window_extent().y1 - 1


def test_a_figure_of_ours_grows_with_its_rows_and_labels_and_no_other_does():
    sizes = [
        plot.forest(rates(n, letters=letters)[0]).get_figure().get_size_inches()
        for n, letters in [(3, 12), (40, 12), (3, 60)]
    ]
    assert sizes[1][1] > 4 * sizes[0][1]
    assert sizes[1][0] == pytest.approx(sizes[0][0], rel=0.01)  # digits differ in width
    assert sizes[2][0] > sizes[0][0] + 2
    assert tuple(plot.forest(rates(40)[0], figsize=(5, 4)).get_figure().get_size_inches()) == (5, 4)
    figure, ax = plt.subplots(figsize=(8, 3))
    plot.forest(rates(40)[0], ax=ax)
    assert tuple(figure.get_size_inches()) == (8, 3)


def test_letters_shrink_where_the_callers_axes_is_small():
    figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    plot.forest(rates(40)[0], ax=ax)
    assert overlaps(boxes(figure), slack=2.0) == []
    _, roomy = plt.subplots(figsize=(8, 5), layout="constrained")
    plot.forest(rates(4)[0], ax=roomy)
    assert roomy.get_yticklabels()[0].get_fontsize() > 1.3 * ax.get_yticklabels()[0].get_fontsize()


@pytest.mark.parametrize("ground", ["#ffffff", "#000000", "#1e1e1e"])
@pytest.mark.parametrize(
    "color", [_canvas.BLUE, _canvas.VERMILLION, _canvas.GREEN, _canvas.PURPLE, _canvas.OCHRE]
)
def test_colours_stand_out_from_light_and_dark(color, ground):
    """At least 3 : 1, as WCAG 2.2 asks of graphics (1.4.11)."""

    def luminance(text):
        parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return np.dot([0.2126, 0.7152, 0.0722], linear)

    light, dark = sorted([luminance(color), luminance(ground)], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3
    assert colorsys.rgb_to_hsv(*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)))[1] > 0.5


def test_lines_side_by_side_differ_in_more_than_colour():
    ax = plot.pass_at_k(over_k(6))
    lines = [line for line in ax.lines if line.get_gid() == "estimate"]
    assert len({line.get_marker() for line in lines}) == 6
    assert len({line._unscaled_dash_pattern for line in lines}) == 6
    assert len({matplotlib.colors.to_hex(line.get_color()) for line in lines}) == 6
    edges = [line for line in ax.lines if line.get_gid() == "edge"]
    assert len({line._unscaled_dash_pattern for line in edges}) == 6  # those of a line share its dash


def test_coverage_that_falls_short_differs_in_more_than_colour():
    ax = plot.coverage(covered(4))
    reached, short = (line for line in ax.lines if line.get_gid() == "coverage")
    assert reached.get_marker() != short.get_marker()
    assert matplotlib.colors.same_color(reached.get_markerfacecolor(), reached.get_color())
    assert not matplotlib.colors.same_color(short.get_markerfacecolor(), short.get_color())


# Machado, Oliveira and Fernandes (2009), IEEE Transactions on Visualization and Computer Graphics 15, 1291-1298: linear RGB.
SEEN = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
}


@pytest.mark.parametrize("sight", SEEN)
def test_the_two_colours_of_most_pictures_differ_for_the_colour_blind(sight):
    colors = [np.array(matplotlib.colors.to_rgb(color)) for color in (_canvas.BLUE, _canvas.VERMILLION)]
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in colors]
    seen = [np.clip(np.array(SEEN[sight]) @ c, 0, 1) for c in linear]
    assert np.abs(seen[0] - seen[1]).max() > 0.25


def test_naive_and_honest_differ_in_more_than_colour():
    honest, naive = rates(3)
    ax = plot.forest(honest, naive=naive)
    kinds = {found.get_gid(): found for found in ax.collections}
    assert kinds["interval"].get_linestyle() != kinds["naive"].get_linestyle()
    assert kinds["interval"].get_linewidth()[0] > 1.5 * kinds["naive"].get_linewidth()[0]
    points = {line.get_gid(): line for line in ax.lines}
    assert points["estimate"].get_marker() != points["naive estimate"].get_marker()
    assert points["estimate"].get_markerfacecolor() != points["naive estimate"].get_markerfacecolor()


def test_naive_lies_under_honest_and_rows_stay_apart():
    honest, naive = rates(40)
    ax = plot.forest(honest, naive=naive)
    figure = ax.get_figure()
    figure.canvas.draw()
    levels = {
        found.get_gid(): np.array([ax.transData.transform(segment[0])[1] for segment in found.get_segments()])
        for found in ax.collections if found.get_gid() in ("interval", "naive")
    }  # fmt: skip
    points = 72 / figure.dpi
    assert ((levels["interval"] - levels["naive"]) * points > 5).all()
    assert (
        (levels["naive"][:-1] - levels["interval"][1:]) * points > 8
    ).all()  # pixels count from the bottom


@pytest.mark.parametrize(
    ("centre", "half"), [(0.0, 0.1), (0.5, 0.001), (-0.0008, 0.0002), (1e9, 1e-3), (150_000.0, 90_000.0)]
)
@pytest.mark.parametrize("size", [6, 10, 20])
def test_numbers_along_an_axis_have_room(centre, half, size):
    point = centre + half * np.array([-0.5, 0, 0.5])
    with plt.style.context({"font.size": size}):
        result = rates(3)[0].assign(estimate=point, ci_low=point - half, ci_high=point + half)
        legible(plot.forest(result).get_figure())
        wide = over_k(1).assign(estimate=centre, ci_low=centre - half, ci_high=centre + half).iloc[:, :6]
        legible(plot.pass_at_k(wide).get_figure())


@pytest.mark.parametrize("picture", SMALL)
def test_pictures_are_kept_by_pickle(picture):
    figure, ax = plt.subplots()
    SMALL[picture](ax)
    again = pickle.loads(pickle.dumps(figure)).axes[0]
    for axis, other in ((ax.xaxis, again.xaxis), (ax.yaxis, again.yaxis)):
        shown = [text.get_text() for text in axis.get_ticklabels()]
        assert shown == [text.get_text() for text in other.get_ticklabels()]


@pytest.mark.parametrize("picture", SMALL)
def test_axes_that_share_both_scales_hide_the_labels_within(picture):
    figure, axes = plt.subplots(1, 2, figsize=(10, 5), sharey=True, layout="constrained")
    for ax in axes:
        SMALL[picture](ax)
    legible(figure)
    assert axes[1].get_yticklabels() == []


@pytest.mark.parametrize("picture", SMALL)
def test_what_cannot_be_drawn_on_is_refused_before_anything_is_drawn(picture):
    for projection in ("polar", "3d"):
        ax = plt.subplots(subplot_kw={"projection": projection})[1]
        with pytest.raises(ex.MethodError, match=projection):
            SMALL[picture](ax)
    ax = plt.subplots()[1]
    SMALL[picture](ax)
    before = len(ax.get_children())
    with pytest.raises(ex.MethodError, match=r"holds a picture.*concatenate"):
        SMALL[picture](ax)
    assert len(ax.get_children()) == before
    ax.clear()
    SMALL[picture](ax)


@pytest.mark.parametrize("picture", ["forest", "differences", "coverage"])
def test_rows_are_not_called_after_those_of_another_picture(picture):
    _, axes = plt.subplots(1, 2, sharey=True)
    SMALL[picture](axes[0])
    named = labels(axes[0])
    other = {
        "forest": lambda: plot.forest(rates(3)[0], label="model", ascending=True, ax=axes[1]),
        "differences": lambda: plot.differences(pairs(3)[::-1], label="model_a", ax=axes[1]),
        "coverage": lambda: plot.coverage(covered(4), ax=axes[1]),
    }
    with pytest.raises(ex.MethodError, match=r"other rows.*sharey=True; or give both the same rows"):
        other[picture]()
    assert labels(axes[0]) == named


def test_clusters_are_not_called_after_those_of_another_picture():
    _, axes = plt.subplots(2, 1, sharex=True)
    SMALL["clusters"](axes[0])
    with pytest.raises(ex.MethodError, match=r"other clusters.*sharex=True"):
        SMALL["clusters"](axes[1])


def test_clusters_that_share_heights_are_all_in_sight():
    _, axes = plt.subplots(1, 2, sharey=True)
    for ax, scale in zip(axes, (100, 2), strict=True):
        made = many_clusters([3, 9])[0]
        plot.clusters(made.assign(estimate=made["estimate"] * scale), ax=ax)
    assert axes[0].get_ylim()[1] > 100


def test_dark_axes_get_light_ink_whatever_style_is_in_force():
    with plt.style.context("dark_background"):
        _, ax = plt.subplots()
    plot.differences(pairs(3), ax=ax, title="T")
    ink = {matplotlib.colors.to_hex(text.get_color()) for text in (*ax.texts, *ax.get_legend().get_texts())}
    assert ink == {"#ffffff"}
    zero = next(found for found in ax.collections if found.get_gid() == "zero")
    assert matplotlib.colors.to_hex(zero.get_edgecolor()[0]) == "#ffffff"


@pytest.mark.parametrize("letters", [40, 58, 61, 200])
def test_the_minus_of_a_broken_pair_ends_the_line_of_the_first_system(letters):
    first, second = "a" * letters, "b" * letters
    lines = labels(plot.differences(pairs(1).assign(model_a=first, model_b=second, family="f")))[0].split(
        "\n"
    )
    place = next(i for i, line in enumerate(lines) if line.startswith("b"))
    assert lines[place - 1].endswith("a \N{MINUS SIGN}")
    assert "".join(lines).replace(" ", "") == f"f·{first}\N{MINUS SIGN}{second}"
    assert max(map(len, lines)) <= 64


def test_names_of_lines_are_shown_as_written_in_the_ink_of_their_axes():
    with plt.style.context("dark_background"):
        _, ax = plt.subplots()
    made = over_k(3)
    made["model"] = np.repeat(["$\\frac{x", "a_b^c $5 & 100 %", "two\nlines"], 4)
    plot.pass_at_k(made, ax=ax, title="$\\frac{t")
    ax.get_figure().canvas.draw()  # unfinished mathematics would raise here
    assert [text.get_text() for text in ax.get_legend().get_texts()][:3] == [
        "$\\frac{x",
        "a_b^c $5 & 100 %",
        "two lines",
    ]
    third = [line for line in ax.lines if line.get_gid() == "estimate"][2]
    assert matplotlib.colors.to_hex(third.get_color()) == "#ffffff"


def test_names_are_shown_as_written():
    honest, _ = rates(3)
    honest["model"] = ["$\\frac{x", "a_b^c $5 & 100 %", "two\nlines"]
    ax = plot.forest(honest, sort_by=None, title="$\\frac{t", label="model")
    ax.get_figure().canvas.draw()  # unfinished mathematics would raise here
    assert labels(ax) == ["$\\frac{x", "a_b^c $5 & 100 %", "two lines"]
