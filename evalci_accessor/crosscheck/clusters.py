"""How the clusters of a fitted model lie to ours, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor.stats.validate import IntArray


def number(column: Any) -> int:
    return int(pd.Series(column).nunique(dropna=False))


def merged(column: Any, here: int | None) -> list[str]:
    """Rows without a cluster id, which make one cluster; ``here`` is how many clusters are known."""
    missing, how = int(pd.isna(column).sum()), "have no cluster id"
    if here is not None and column.dtype.kind == "i" and (column == -1).any() and number(column) > here:
        missing, how = int((column == -1).sum()), "have the code -1, which stands for a missing id"
    if not missing:
        return []
    return [
        f"clusters merged by missing ids: {missing:,} rows there {how}, and statsmodels takes them as one cluster"
    ]


def others(column: Any, sizes: IntArray, of: str, *, beside: IntArray | None, whole: bool) -> list[str]:
    """Other clusters, or clusters of other sizes; ``beside`` are ours row by row."""
    there, here, same = number(column), len(sizes), same_sizes(column, sizes)
    what = f"other clusters{of}: " + (f"{there:,} there, {here:,} here" if there != here else "as many, but ")
    what += "" if there != here else "with other rows" if same else "of other sizes"
    crossing = "another clustering, which crosses yours" + ("" if of else ": name both in a list")
    if beside is not None:
        relation = _relation(pd.factorize(column, use_na_sentinel=False)[0], beside)
        told = relation or ("are its cluster ids in the order of its rows?" if same else crossing)
        return [] if relation == "the same" else [f"{what} ({told})"]
    if same or (there == here and not whole):  # that sizes differ among other rows is no wonder
        return []
    theirs = pd.Series(column).value_counts(dropna=False).to_numpy()
    ours = sizes * max(1, round(theirs.sum() / sizes.sum()))
    if whole and there < here and _could_be_unions(theirs, ours):
        crossing = "perhaps a coarser clustering, or ids merged, rounded or cut off"
    if whole and there > here and _could_be_unions(ours, theirs):
        crossing = "perhaps a finer clustering"
    return [f"{what} ({crossing})" if whole else what]


def _relation(theirs: Any, ours: IntArray) -> str:
    """How two clusterings of the same rows lie to each other; empty where they cross."""
    n_theirs, n_ours = len(np.unique(theirs)), len(np.unique(ours))
    both = len(np.unique(np.stack([theirs, ours], axis=1), axis=0))
    if both == n_theirs == n_ours:
        return "the same"
    if both == n_ours:
        return "a coarser clustering, or ids merged, rounded or cut off"
    return "a finer clustering" if both == n_theirs else ""


def _could_be_unions(coarse: Any, fine: Any) -> bool:
    """Whether clusters of these sizes could be unions of those: the k largest of them then hold as many at least."""
    if coarse.sum() != fine.sum():
        return True  # other rows, so nothing can be told
    large, small = (np.cumsum(np.sort(one)[::-1]) for one in (coarse, fine))
    return bool((large >= small[: len(large)]).all())


def same_sizes(groups: Any, sizes: IntArray) -> bool:
    """Whether two clusterings have clusters of the same sizes, or of twice them where each item has two rows."""
    there = np.sort(pd.Series(groups).value_counts(dropna=False).to_numpy())
    return any(np.array_equal(there, np.sort(sizes) * rows) for rows in (1, 2))
