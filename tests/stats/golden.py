"""The values that other tools gave (../reference/README.md says which) and ways to make rows of totals."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evalci_accessor.stats import ClusterTotals

REFERENCE = Path(__file__).parents[1] / "reference"
SETS = ("A", "B", "C", "D", "E")  # small data sets that several tools were given


@cache
def golden(name: str) -> Any:
    return json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))


def counts(name: str, file: str = "clubsandwich") -> tuple[np.ndarray, np.ndarray]:
    """Sums and sizes of the clusters of a set."""
    data = golden(file)["data"][name]
    return np.array(data["s"], float), np.array(data["m"], float)


def to_rows(s: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """0/1 scores and cluster codes with these totals."""
    sizes = np.asarray(m, int)
    scores = np.concatenate([np.arange(size) < passed for passed, size in zip(s, sizes, strict=True)])
    return scores.astype(float), np.repeat(np.arange(len(sizes)), sizes)


def totals(y: np.ndarray, g: np.ndarray, w: np.ndarray | None = None) -> ClusterTotals:
    """Totals of the rows of one group."""
    y, g = np.asarray(y, float), np.asarray(g)
    bounded = bool(((y >= 0) & (y <= 1)).all())
    binary = bool(((y == 0) | (y == 1)).all())
    return ClusterTotals.from_rows(
        y,
        g,
        n_clusters=int(g.max()) + 1,
        weights=None if w is None else np.asarray(w, float),
        bounded=bounded,
        binary=binary,
    )


def fractional_rows(seed: int, sizes: list[int], spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Scores between 0 and 1 that vary less than 0/1 scores would, and cluster codes."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(len(sizes)), sizes)
    latent = spread * rng.normal(size=len(sizes))[g] + rng.normal(size=len(g))
    return 1 / (1 + np.exp(-latent)), g
