r"""Inclusion and exclusion over crossed clusterings and their intersections: what each pair of scores adds, counted once."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from evalci_accessor.stats._validate import BoolArray, FloatArray

_ROUNDING = 1e-12  # share of the parts below which a sum of theirs is rounding


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combined:
    """A variance by inclusion and exclusion.

    Parameters
    ----------
    value : ndarray of float
    negative : ndarray of bool
        Where the sum is negative, or nothing but rounding, so that the largest of the clusterings' own stands in.
    short : ndarray of bool
        Where it is positive, but less than that.
    """

    value: FloatArray
    negative: BoolArray
    short: BoolArray


def combine(parts: Mapping[tuple[int, ...], FloatArray], nested: BoolArray) -> Combined:
    """Add up variances by each clustering, as (0,), and by each intersection, as (0, 1)."""
    total = np.sum([-((-1) ** len(some)) * part for some, part in parts.items()], axis=0)
    scale = np.sum(list(parts.values()), axis=0)
    alone = np.stack([part for some, part in parts.items() if len(some) == 1])
    largest = np.where(nested, 0.0, alone).max(axis=0)
    with np.errstate(invalid="ignore"):
        negative = (total <= _ROUNDING * scale) & (largest > 0)
        short = ~negative & (total < largest * (1 - 1e-9))
        value = np.where(negative, largest, np.maximum(total, 0.0))
    return Combined(value=value, negative=negative, short=short)


def nested(n_clusters: Mapping[tuple[int, ...], npt.ArrayLike]) -> BoolArray:
    """Which clusterings lie within another, shape (D, ...), from numbers of clusters by clustering and intersection.

    Of two that are the same the first counts.
    """
    every = {some: np.asarray(n) for some, n in n_clusters.items()}
    own = np.stack([n for some, n in every.items() if len(some) == 1])
    out = np.zeros(own.shape, dtype=bool)
    for a, b in itertools.combinations(range(len(own)), 2):
        out[b] |= every[a, b] == own[b]
        out[a] |= (every[a, b] == own[a]) & (own[a] != own[b])
    return out


def counted(n_clusters: Mapping[tuple[int, ...], int]) -> list[int]:
    """Places of the clusterings that do not lie within another."""
    return [int(d) for d in np.flatnonzero(~nested(n_clusters))]
