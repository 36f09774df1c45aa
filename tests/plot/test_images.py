"""Pictures look as they did. ``python -m plot.test_images``, run in ``tests``, draws the kept ones anew.

Letters are left out, since their shapes differ between versions of Matplotlib; `test_layout` looks after them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import requires
from evalci_accessor import plot

from .pictures import covered, many_clusters, over_k, pairs, plans, rates

matplotlib = requires("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")
compare = pytest.importorskip("matplotlib.testing.compare")

KEPT = Path(__file__).parent.parent / "baseline"
# Root mean square over the levels of red, green and blue, of 255.
TOLERANCE = 1.0


def forest(ax, n_rows=5, **kind):
    honest, naive = rates(n_rows, **kind)
    plot.forest(honest, naive=naive, ax=ax)


def clusters(ax, sizes):
    made, overall = many_clusters(sizes)
    plot.clusters(made, overall=overall, ax=ax)


PICTURES = {
    "forest_3": lambda ax: forest(ax, 3),
    "forest_40": lambda ax: forest(ax, 40),
    "forest_one_sided": lambda ax: forest(ax, one_sided=True),
    "forest_zero_counts": lambda ax: forest(ax, zero=True),
    "forest_groups": lambda ax: plot.forest(rates(6)[0], group="family", ax=ax),
    "forest_dark": forest,
    "differences": lambda ax: plot.differences(pairs(7), ax=ax),
    "differences_margin_dark": lambda ax: plot.differences(pairs(5, margin=0.12), ax=ax),
    "differences_one_sided": lambda ax: plot.differences(pairs(5, margin=0.12, one_sided=True), ax=ax),
    "clusters_even": lambda ax: clusters(ax, [5] * 20),
    "clusters_dominated": lambda ax: clusters(ax, [3, 9, 4, 60, 8, 5, 30]),
    "clusters_1000": lambda ax: clusters(ax, [1 + i % 9 for i in range(1000)]),
    "pass_at_k_1": lambda ax: plot.pass_at_k(over_k(1), ax=ax),
    "pass_at_k_6_dark": lambda ax: plot.pass_at_k(over_k(6), ax=ax),
    "pass_at_k_one_sided": lambda ax: plot.pass_at_k(over_k(2, one_sided=True), ax=ax),
    "half_width_3": lambda ax: plot.power(plans("half_width", 3), goal=0.05, ax=ax),
    "power_2_dark": lambda ax: plot.power(plans("power", 2), ax=ax),
    "coverage_dark": lambda ax: plot.coverage(covered(6), ax=ax),
    "coverage_designs": lambda ax: plot.coverage(covered(3, n_designs=2), ax=ax),
}


def axes(height: float = 2.5):
    """Axes whose place in the figure does not depend on letters."""
    return plt.figure(figsize=(5, height), dpi=72).add_axes((0.03, 0.06, 0.94, 0.9))


def keep(ax, path: Path) -> None:
    """Write a picture without its letters."""
    for text in ax.figure.findobj(matplotlib.text.Text):
        text.set_visible(False)
    ax.get_legend().set_visible(False)
    ax.figure.savefig(path)
    plt.close(ax.figure)


def draw(name: str, path: Path) -> None:
    """The picture of that name, as it is kept."""
    with plt.style.context(["default", *(["dark_background"] if "dark" in name else [])]):
        ax = axes(6 if "40" in name else 2.5)
        PICTURES[name](ax)
        keep(ax, path)


@pytest.mark.parametrize("name", PICTURES)
def test_picture_looks_as_it_did(name, tmp_path):
    draw(name, tmp_path / f"{name}.png")
    kept = tmp_path / f"{name}_kept.png"  # the comparison writes beside what it compares
    kept.write_bytes((KEPT / f"{name}.png").read_bytes())
    assert compare.compare_images(str(kept), str(tmp_path / f"{name}.png"), tol=TOLERANCE) is None


def test_each_kept_picture_is_tried():
    assert {path.stem for path in KEPT.glob("*.png")} == set(PICTURES)


@pytest.mark.parametrize("change", [None, "style", "limit", "mark"])
def test_the_comparison_sees_a_change(change, tmp_path):
    forest(before := axes())
    keep(before, tmp_path / "before.png")
    honest, naive = rates(5)
    if change == "limit":
        honest.loc[2, "ci_high"] += 0.1
    plot.forest(honest, naive=naive, ax=(ax := axes()))
    if change == "style":
        next(found for found in ax.collections if found.get_gid() == "naive").set_linestyle("-")
    if change == "mark":
        next(line for line in ax.lines if line.get_gid() == "naive estimate").set_markerfacecolor("#d55e00")
    keep(ax, tmp_path / "after.png")
    found = compare.compare_images(str(tmp_path / "before.png"), str(tmp_path / "after.png"), tol=TOLERANCE)
    assert (found is None) == (change is None)


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    for each in PICTURES:
        draw(each, KEPT / f"{each}.png")
    print(f"{len(PICTURES)} pictures in {KEPT}; numpy {np.__version__}, matplotlib {matplotlib.__version__}")
