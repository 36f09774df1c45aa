"""Data for pictures, and what is read off them."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd


def rates(
    n_rows: int, *, letters: int = 12, one_sided: bool = False, zero: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """An honest and a naive result with made numbers, for pictures need no data."""
    point = np.linspace(0.05, 0.95, n_rows)
    names = [f"model-{i:02d}-{'abcdefghij' * 6}"[:letters] for i in range(n_rows)]

    def result(half: float, clusters: int, method: str) -> pd.DataFrame:
        low, high = np.clip(point - half, 0.001, None), np.clip(point + half, None, 0.999)
        where = point.copy()
        if zero:
            where[0], low[0], high[0] = 0.0, 0.0, half
            where[-1], low[-1], high[-1] = 1.0, 1 - half, 1.0
        if one_sided:
            high = np.ones(n_rows)
        return pd.DataFrame(
            {
                "family": [f"family {i % 3}" for i in range(n_rows)], "model": names, "estimate": where, "ci_low": low,
                "ci_high": high, "n": 12_345, "n_clusters": clusters, "cluster": "doc_id" if method == "cr2" else "",
                "method": method, "confidence_level": 0.95,
            }
        )  # fmt: skip

    return result(0.2, 40, "cr2"), result(0.1, 12_345, "wilson")


def pairs(
    n_rows: int, *, letters: int = 12, margin: float | None = None, one_sided: bool = False
) -> pd.DataFrame:
    """Differences with made numbers."""
    point = np.linspace(-0.3, 0.4, n_rows)
    names = [f"model-{i:02d}-{'abcdefghij' * 6}"[:letters] for i in range(n_rows + 1)]
    frame = pd.DataFrame(
        {
            "family": [f"family {i % 2}" for i in range(n_rows)], "model_a": names[1:], "model_b": names[:-1],
            "estimate_a": 0.5, "estimate_b": 0.5 - point, "difference": point, "ci_low": point - 0.1,
            "ci_high": 1.0 if one_sided else point + 0.1, "n_pairs": 500, "n_clusters": 40, "cluster": "doc_id",
            "only_a": 77, "only_b": 66,
        }
    )  # fmt: skip
    if margin is None:
        more = {
            "pvalue_adj": 0.0004, "simultaneous_low": point - 0.2, "simultaneous_high": point + 0.2, "correction": "holm",
        }  # fmt: skip
    else:
        more = {"margin": margin, "verdict": np.where(point > 0, "noninferior", "inconclusive")}
    return frame.assign(**more, confidence_level=0.95)


def many_clusters(sizes: list[int], *, letters: int = 8) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rates of clusters of these sizes, and the overall result."""
    size = np.array(sizes)
    rate = np.linspace(0, 1, len(size)) ** 2
    names = [f"doc-{i:03d}-{'klmnopqrst' * 6}"[:letters] for i in range(len(size))]
    frame = pd.DataFrame({"doc_id": names, "estimate": rate, "n": size})
    mean = float((rate * size).sum() / size.sum())
    overall = {
        "estimate": mean,
        "ci_low": mean * 0.8,
        "ci_high": mean * 1.2,
        "method": "cr2",
        "confidence_level": 0.95,
    }
    return frame, pd.DataFrame(overall, index=[0])


def over_k(n_lines: int, *, letters: int = 12, one_sided: bool = False, zero: bool = False) -> pd.DataFrame:
    """Rates over k with made numbers, a line a model."""
    k = np.array([1, 2, 5, 10])
    lines = []
    for i in range(n_lines):
        point = (0.0 if zero else 0.2) + 0.5 * np.log(k) / np.log(10) + 0.04 * i
        high = np.ones(4) if one_sided else np.clip(point + 0.1, 0, 1)
        lines.append(
            pd.DataFrame(
                {
                    "model": f"model-{i:02d}-{'abcdefghij' * 6}"[:letters], "k": k, "measure": "pass_at_k", "estimate": point,
                    "ci_low": np.clip(point - 0.1, 0, 1), "ci_high": high, "simultaneous_low": np.clip(point - 0.15, 0, 1),
                    "simultaneous_high": np.clip(high + 0.05, 0, 1), "n_items": 80, "n_clusters": 20, "cluster": "repo_id",
                    "method": "icc_averaged", "confidence_level": 0.95,
                }
            )
        )  # fmt: skip
    return pd.concat(lines, ignore_index=True)


def plans(kind: str, n_lines: int, *, n_points: int = 4, letters: int = 12) -> pd.DataFrame:
    """Half-widths or powers over clusters with made numbers, a line a size of clusters."""
    clusters, sizes = np.meshgrid(
        20 * 2 ** np.arange(n_points), 2.0 ** np.arange(1, n_lines + 1), indexing="ij"
    )
    g, m = clusters.ravel(), sizes.ravel()
    width = 0.6 * np.sqrt((1 + 0.3 * (m - 1)) / (g * m))
    floor = 0.6 * np.sqrt(0.3 / g)
    value, limit = (width, floor) if kind == "half_width" else (1 - 2 * width, 1 - 2 * floor)
    return pd.DataFrame(
        {
            "model": f"model-{'abcdefghij' * 6}"[:letters], kind: value, f"{kind}_low": 0.8 * value,
            f"{kind}_high": np.minimum(1.2 * value, 1), f"{kind}_limit": limit, "n_clusters": g,
            "n_items": (g * m).astype(int), "n_samples": 1, "items_per_cluster": m, "icc_low": 0.1, "icc_high": 0.4,
            "cluster": "doc_id", "method": "icc_averaged", "confidence_level": 0.95,
        }
    )  # fmt: skip


def covered(n_rows: int, *, letters: int = 12, n_designs: int = 1) -> pd.DataFrame:
    """Coverages with made numbers, from the level down to far below it."""
    point = np.linspace(0.97, 0.6, n_rows)
    names = [f"method-{i:02d}-{'abcdefghij' * 6}"[:letters] for i in range(n_rows)]
    return pd.concat(
        pd.DataFrame(
            {
                "method": names, "coverage": point, "coverage_low": point - 0.015, "coverage_high": np.minimum(point + 0.015, 1),
                "mean_width": 0.2, "miss_low": 1 - point, "miss_high": 0.0, "n_sims": 1000, "icc": 0.1 * (j + 1), "rate": 0.9,
                "n_clusters": 12, "confidence_level": 0.95,
            }
        )
        for j in range(n_designs)
    ).reset_index(drop=True)  # fmt: skip


def heights(ax, gid: str) -> list[np.ndarray]:
    """Heights of each line of one kind along its x, and of lines from below to above their ends, shape (R, 2)."""
    lines = [np.asarray(line.get_ydata()) for line in ax.lines if line.get_gid() == gid]
    upright = [found for found in ax.collections if found.get_gid() == gid and hasattr(found, "get_segments")]
    return [
        *lines,
        *(np.array([[y for _, y in segment] for segment in found.get_segments()]) for found in upright),
    ]


def segments(ax, gid: str) -> np.ndarray:
    """Ends of the lines of one kind, from the top, shape (R, 2)."""
    lines = next(found for found in ax.collections if found.get_gid() == gid)
    return np.array([[x for x, _ in segment] for segment in lines.get_segments()])


def steps(ax) -> tuple[np.ndarray, np.ndarray]:
    """Heights of the clusters, and the edges between them."""
    edges, heights = next(line for line in ax.lines if line.get_gid() == "rates").get_data()
    assert heights[-1] == heights[-2]  # the last step ends where it is
    return np.asarray(heights)[:-1], np.asarray(edges)


def marks(ax, gid: str) -> np.ndarray:
    """Where the marks of one kind stand, shape (M, 2)."""
    found = [np.column_stack(line.get_data()) for line in ax.lines if line.get_gid() == gid]
    return np.concatenate(found) if found else np.empty((0, 2))


def labels(ax) -> list[str]:
    """What the rows are called, from the top; headings too."""
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    return [text.get_text() for _, text in sorted(ticks, key=lambda pair: pair[0])]


def notes(ax) -> list[str]:
    """The texts of the margin."""
    return [text.get_text() for text in ax.texts if text.get_gid() == "note"]


def said(ax) -> list[str]:
    """The texts of the legend, each in one line."""
    return [" ".join(text.get_text().split()) for text in ax.get_legend().get_texts()]


def boxes(figure) -> list[tuple[str, object]]:
    """Every text that is drawn, with the box that it takes."""
    from matplotlib.text import Text

    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    found = []
    for ax in figure.axes:  # ticks beyond the limits are no part of the picture
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            room = 1e-6 * (high - low)
            drawn = {
                tick.label1 for tick in axis.get_major_ticks() if low - room <= tick.get_loc() <= high + room
            }
            hidden = {tick.label1 for tick in axis.get_major_ticks()} - drawn
            hidden |= {tick.label2 for tick in axis.get_major_ticks()} | {
                tick.label1 for tick in axis.get_minor_ticks()
            }
            hidden |= {tick.label2 for tick in axis.get_minor_ticks()}
            shown = [text for text in shown if text not in hidden]
    for text in shown:
        box = text.get_window_extent(renderer)
        found.append((text.get_text(), box))
    return found


def overlaps(found, slack: float = 1.0) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes share more than ``slack`` pixels either way."""
    clash = []
    for (a, one), (b, other) in itertools.combinations(found, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        if wide > slack and high > slack:
            clash.append((a, b))
    return clash


def outside(found, figure, slack: float = 1.0) -> list[str]:
    """Texts that do not lie within the figure."""
    frame = figure.bbox
    return [
        text for text, box in found
        if box.x0 < frame.x0 - slack or box.x1 > frame.x1 + slack or box.y0 < frame.y0 - slack or box.y1 > frame.y1 + slack
    ]  # fmt: skip
