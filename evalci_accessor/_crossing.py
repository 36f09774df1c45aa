"""Several clusterings at once: which of them count, since one that lies within another adds nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from evalci_accessor._ids import Codes
from evalci_accessor._warn import warn
from evalci_accessor.exceptions import ClusterError, MethodError, NestedClustersWarning
from evalci_accessor.stats.crossed import MOST

_NAMES = 16  # nobody names more clusterings than that


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clustering:
    """Ids of what the scores share, one a score.

    Parameters
    ----------
    name : str
    coded : Codes
    """

    name: str
    coded: Codes


def joint_name(names: Sequence[str]) -> str:
    """What crossed clusterings are called together."""
    return " + ".join(names)


def refuse_ids(specs: Sequence[object], way_out: str) -> None:
    """Refuse a long list: it holds ids, one a score, where names of clusterings are meant."""
    if len(specs) > _NAMES:
        raise MethodError(
            f"cluster= is a list of {len(specs)}; a list names clusterings, as cluster=['doc_id', 'prompt_id']. {way_out}"
        )


def check_listed(names: Sequence[str]) -> None:
    """Refuse an empty list of clusterings, and one that names the same twice."""
    if not names:
        raise ClusterError("The list of clusterings is empty; name what the items share, as cluster='doc_id'.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise MethodError(f"cluster= names {twice[0]!r} twice; name each clustering once.")


def refuse_many(names: Sequence[str]) -> None:
    """Refuse more clusterings than can be crossed."""
    if len(names) > MOST:
        raise MethodError(
            f"cluster= names {len(names)} clusterings of which none lies within another; at most {MOST} can be crossed, since each "
            "doubles the number of terms. Leave out those that matter least: design_effect(cluster=[...]) tells which."
        )


def coarsest(clusterings: Sequence[Clustering], *, told: bool) -> list[int]:
    """Which clusterings count: not those whose clusters each lie in one cluster of another. Says so where ``told``."""
    sizes = [len(np.unique(one.coded.codes)) for one in clusterings]
    counted = list(range(len(clusterings)))
    # The finest first, so that of a chain only the coarsest stays; of two that are the same the first does.
    for a in sorted(counted, key=lambda k: (-sizes[k], -k)):
        for b in counted:
            if b != a and _within(clusterings[a], clusterings[b], sizes[a]):
                if told:
                    _say(clusterings[a].name, clusterings[b].name, sizes[a], same=sizes[a] == sizes[b])
                counted = [k for k in counted if k != a]
                break
    return counted


def _within(inner: Clustering, outer: Clustering, size: int) -> bool:
    both = inner.coded.codes.astype(np.int64) * max(outer.coded.size, 1) + outer.coded.codes
    return len(np.unique(both)) == size


def _say(inner: str, outer: str, size: int, *, same: bool) -> None:
    if same:
        text = f"{inner!r} and {outer!r} divide the scores alike into {size} clusters, so {outer!r} alone counts."
    else:
        text = (
            f"Each of the {size} clusters of {inner!r} lies within one cluster of {outer!r}: they are nested, not crossed, and the "
            f"coarsest counts. {inner!r} was left out; name {outer!r} alone to say so."
        )
    warn(text, NestedClustersWarning)
