"""Several clusterings at once: which of them count, since one that lies within another adds nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from evalci_accessor._ids import Codes, by_label
from evalci_accessor.exceptions import ClusterError, MethodError, NestedClustersWarning, plain, warn
from evalci_accessor.stats.rates.crossed import MOST
from evalci_accessor.stats.validate import FloatArray, IntArray

_NAMES = 16  # nobody names more clusterings than that
BETWEEN = " + "  # the names of crossed clusterings


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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointIds:
    """What several clusterings make together, numbered, for the matching of items, which knows one clustering.

    Parameters
    ----------
    names : list of str
    coded : list of Codes
        The clusterings themselves.
    corners : list of ndarray of int, shape (J,)
        The cluster in each clustering of each of the J joint numbers.
    values : ndarray of float, shape (n,)
        The joint number of each score, nan where an id is missing.
    """

    names: list[str]
    coded: list[Codes]
    corners: list[IntArray]
    values: FloatArray

    @property
    def lacking(self) -> list[str]:
        """Names of those in which ids are missing."""
        return [name for name, one in zip(self.names, self.coded, strict=True) if (one.codes < 0).any()]

    @property
    def name(self) -> str:
        """What they are called together."""
        return joint_name(self.names)

    def label(self, number: float) -> tuple[Any, ...]:
        """The ids that a joint number stands for."""
        return tuple(
            plain(one.label(int(corner[int(number)]))) for one, corner in zip(self.coded, self.corners, strict=True)
        )


def join_ids(names: list[str], coded: list[Codes]) -> JointIds:
    """Number what several clusterings make together; their codes have one shape."""
    lacking = np.any([one.codes < 0 for one in coded], axis=0)
    joint = coded[0].codes.ravel()
    for one in coded[1:]:
        joint = np.unique(joint, return_inverse=True)[1].reshape(-1) * (one.size + 1) + one.codes.ravel() + 1
    _, first, codes = np.unique(joint, return_index=True, return_inverse=True)
    values = codes.reshape(lacking.shape).astype(np.float64)
    return JointIds(
        names=names,
        coded=coded,
        corners=[one.codes.ravel()[first] for one in coded],
        values=np.where(lacking, np.nan, values),
    )


NEGATIVE = "is negative, as it can be with few clusters; the larger of the clusterings' own variances stands in"
SHORT = "is less than that of one of the clusterings alone, a chance of few clusters, so the interval may be too narrow"


def variance_words(name: str, what: str, *, default: bool) -> str:
    """What is said of a variance over crossed clusterings that is ``NEGATIVE`` or ``SHORT``.

    ``default`` says that the default method of these scores is a sum itself.
    """
    way = "The default method has no such sums."
    if default:
        way = "Look at each clustering alone too, and report the widest interval."
    return f"the variance over {name!r} by inclusion and exclusion {what}. {way}"


def joint_name(names: Sequence[str]) -> str:
    """What crossed clusterings are called together."""
    return BETWEEN.join(names)


def refuse_ids(specs: Sequence[object], way_out: str) -> None:
    """Refuse a long list: it holds ids, one a score, where names of clusterings are meant."""
    if len(specs) > _NAMES:
        raise MethodError(
            f"cluster= is a list of {len(specs)}; a list names clusterings, as cluster=['doc_id', 'prompt_id']. {way_out}"
        )


def list_hint(name: object) -> str:
    """What to do about a name that several clusterings have together."""
    parts = name.split(BETWEEN) if isinstance(name, str) else []
    return f" Several clusterings go in a list: cluster={parts!r}." if len(parts) > 1 else ""


def check_listed(specs: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Names of the clusterings, each its own; an empty list is refused, and one that names the same twice."""
    if not specs:
        raise ClusterError(
            "cluster= names no clustering; name what the items share, as cluster='doc_id'. Of a frame design_effect() tries every "
            "column that could be it."
        )
    named = [(type(spec), spec) for spec in specs if isinstance(spec, (str, int, tuple))]
    twice = next((spec for kind, spec in named if named.count((kind, spec)) > 1), None)
    if twice is not None:
        raise MethodError(f"cluster= names {twice!r} twice; name each clustering once.")
    # Arrays without a name, or with the same, are told apart by number.
    return [name if names.count(name) == 1 else f"{name} {names[: k + 1].count(name)}" for k, name in enumerate(names)]


def ordered(clusterings: Sequence[Clustering]) -> list[Clustering]:
    """Several with their clusters numbered by label, so that no order of the rows moves a draw; one as it is."""
    if len(clusterings) < 2:
        return list(clusterings)
    return [dataclasses.replace(one, coded=by_label(one.coded)) for one in clusterings]


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
    if max(sizes) < 2:  # no scores, or a single cluster of each, of which others speak
        return counted
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
