"""Several clusterings at once: variances and design effects by inclusion and exclusion of their intersections."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalci_accessor.exceptions import MethodError
from evalci_accessor.stats.validate import BoolArray, FloatArray

MOST = 4  # clusterings: their intersections double in number with each


def check_number(clusterings: int) -> None:
    """Refuse one clustering, and more than can be crossed."""
    if not 2 <= clusterings <= MOST:
        raise MethodError(f"Crossed clusterings are 2 to {MOST}; got {clusterings}.")


_ROUNDING = 1e-12  # share of the parts below which a sum of theirs is rounding


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Combined:
    """A variance by inclusion and exclusion."""

    value: FloatArray
    # Where the sum is negative, or nothing but rounding, so that the largest of the clusterings' own stands in.
    negative: BoolArray
    short: BoolArray  # where it is positive, but less than that


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


_PRODUCT = 2**14  # nodes of a joint posterior before they are put into bins


_CHUNK = 2**21  # values held at a time


Values: TypeAlias = tuple[FloatArray, FloatArray]  # values and their probabilities, both (P, R)


def joint_effect(parts: Sequence[Values], common: FloatArray, greatest: FloatArray, bins: int) -> Values:
    r"""Design effects and their probabilities, each (P, bins).

    Parameters
    ----------
    parts : sequence of pairs of ndarray, shape (P, R)
        Of each clustering, what it adds to a design effect of 1, and with which probability.
    common : ndarray, shape (P,)
        What the clusterings have in common, and would be counted twice.
    greatest : ndarray, shape (P,)
        The most that any clustering can add, with a correlation of one.
    bins : int
        How many values stand for all of them.

    Notes
    -----
    One plus the sum of the parts less what is common, at least one plus the largest part, and at most one plus ``greatest``: the
    shares of the clusterings in the variance of a score make up one at most, so no more than the worst of them alone can come.
    """
    pairs = len(common)
    most = int(_PRODUCT ** (1 / len(parts)))
    parts = [part if part[0].shape[1] <= most else _binned(*part, most) for part in parts]
    width = int(np.prod([part[0].shape[1] for part in parts]))
    step = max(_CHUNK // width, 1)
    found = []
    for start in range(0, pairs, step):
        at = slice(start, start + step)
        some = [(value[at], weight[at]) for value, weight in parts]
        found.append(_chunk(some, common[at], greatest[at], bins))
    if not found:
        return np.ones((0, bins)), np.zeros((0, bins))
    effect, weight = (np.concatenate(list(part)) for part in zip(*found, strict=True))
    return effect, weight


def _chunk(parts: list[Values], common: FloatArray, greatest: FloatArray, bins: int) -> Values:
    pairs = len(common)
    total, largest, weight = np.zeros((pairs, 1)), np.zeros((pairs, 1)), np.ones((pairs, 1))
    for value, probability in parts:
        total = (total[:, :, None] + value[:, None, :]).reshape(pairs, -1)
        largest = np.maximum(largest[:, :, None], value[:, None, :]).reshape(pairs, -1)
        weight = (weight[:, :, None] * probability[:, None, :]).reshape(pairs, -1)
    joint = np.minimum(np.maximum(total - common[:, None], largest), greatest[:, None])
    value, weight = _binned(joint, weight, bins)
    return 1 + value, weight


def _binned(value: FloatArray, weight: FloatArray, size: int) -> Values:
    """So many values in each row with the same mean: those of a bin, on the log scale of 1 + value, become their mean."""
    rows = len(value)
    scale = np.log1p(value)
    held = weight > 0
    low = np.where(held, scale, np.inf).min(axis=1, keepdims=True)
    width = np.where(held, scale, -np.inf).max(axis=1, keepdims=True) - low
    with np.errstate(invalid="ignore", divide="ignore"):
        place = np.where(width > 0, (scale - low) / np.where(width > 0, width, 1.0) * size, 0.0)
    key = np.clip(place, 0, size - 1).astype(np.int64) + np.arange(rows)[:, None] * size
    mass, total = (
        np.bincount(key.ravel(), weights=w.ravel(), minlength=rows * size).reshape(rows, size)
        for w in (weight, weight * value)
    )
    return np.divide(total, mass, out=np.zeros((rows, size)), where=mass > 0), mass.astype(np.float64)
