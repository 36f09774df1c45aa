r"""Cluster-robust variances of a mean difference, for many pairs at once; of crossed clusterings by inclusion and exclusion."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evalci_accessor.stats._validate import BoolArray, FloatArray
from evalci_accessor.stats.inclusion import combine, nested
from evalci_accessor.stats.moments import bell_mccaffrey_df

if TYPE_CHECKING:
    from evalci_accessor.stats.matched import PairTotals

Every: TypeAlias = "Mapping[tuple[int, ...], PairTotals]"  # by each clustering and each intersection, from their places


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairVariance:
    """The variance of each of P differences.

    Parameters
    ----------
    value : ndarray of float, shape (P,)
    df : float
        Degrees of freedom: Bell and McCaffrey's for CR2, G - 1 for the others; of crossed clusterings the fewest.
    negative, short : ndarray of bool, shape (P,)
        Where the sum over crossed clusterings is negative, so that the largest of their own stands in; and where it is less than
        that.
    """

    value: FloatArray
    df: float
    negative: BoolArray
    short: BoolArray


def pair_variance(t: PairTotals, kind: str) -> PairVariance:
    """Variance ``"cr0"`` to ``"cr3"``."""
    if t.crossed is not None:
        return _crossed(t.crossed, kind)
    power = {"cr0": 0.0, "cr1": 0.0, "cr2": -1.0, "cr3": -2.0}[kind]
    clusters, nowhere = t.n_clusters, np.zeros(len(t.total), dtype=bool)
    df = float(clusters - 1)
    if t.size is None or t.d is None:
        value = t.spread / t.n**2 * (1 - 1 / t.n) ** power
    else:
        h = t.size / t.mass
        with np.errstate(divide="ignore", invalid="ignore"):
            value = ((t.d - t.mean[:, None] * t.size) ** 2 * (1 - h) ** power).sum(axis=1) / t.mass**2
        # Beside a weight that is all of their sum but for rounding nothing is known to vary.
        value = np.where(np.isfinite(value), value, 0.0)
        df = bell_mccaffrey_df(h) if kind == "cr2" else df
    if kind == "cr1":
        value = value * clusters / (clusters - 1)
    return PairVariance(value=value, df=df, negative=nowhere, short=nowhere)


def clusterings(every: Every) -> list[int]:
    """Places of the clusterings."""
    return [some[0] for some in every if len(some) == 1]


def _crossed(every: Every, kind: str) -> PairVariance:
    """By inclusion and exclusion (Cameron, Gelbach and Miller 2011)."""
    parts = {some: pair_variance(t, kind) for some, t in every.items()}
    within = nested({some: t.n_clusters for some, t in every.items()})
    found = combine({some: part.value for some, part in parts.items()}, within[:, None])
    df = min(parts[int(d),].df for d in np.flatnonzero(~within))
    return PairVariance(value=found.value, df=df, negative=found.negative, short=found.short)
