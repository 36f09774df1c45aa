"""From a container to what a statistic needs to know of it, and the way back."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, Generic, TypeVar

from evalci_accessor.options import Roles
from evalci_accessor.read.ids import Clustering
from evalci_accessor.read.items import Items
from evalci_accessor.read.matched import Matched
from evalci_accessor.read.samples import Sample, Scores
from evalci_accessor.stats.validate import IntArray

Answer = TypeVar("Answer")
Found = TypeVar("Found")
# By name of an axis the labels along it, by name of their column or coordinate.
Axes = dict[str, dict[str, Any]]


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Order:
    """In which order an answer stands: its rows in a frame, and in a cube the labels of its first axis."""

    rows: IntArray
    along: IntArray


class Writer(abc.ABC, Generic[Answer]):
    """The way back: columns of numbers become an answer with the caller's keys.

    ``systems`` are the labels of systems that are compared, with their dtype, and ``factor`` is what tells them apart.
    """

    systems: Any
    factor: str

    def sides(self, pairs: IntArray) -> dict[str, Any]:
        """The two systems of each pair, by their names in the answer."""
        return {f"{self.factor}_{side}": self.systems[pairs[:, k]] for k, side in enumerate("ab")}

    @property
    @abc.abstractmethod
    def keys(self) -> dict[Any, IntArray]:
        """Codes of each key, by group."""

    @abc.abstractmethod
    def refuse(self, *names: str) -> None:
        """Refuse keys that are called like a column of the answer."""

    @abc.abstractmethod
    def __call__(
        self,
        columns: dict[str, Any],
        axes: Axes | None = None,
        order: Order | None = None,
        *,
        single: bool = False,
    ) -> Answer:
        """The answer.

        Columns are arrays whose first axis is the groups and whose others are ``axes``; or one value for all; or,
        one-dimensional, along the last axis alone; or with a last axis of length 1, the same along that axis. A
        name of an axis that is a column stays where it stands. ``single`` says that the caller named one label and
        not a list, so that a cube needs no dim for it.
        """


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Read(Generic[Found, Answer]):
    """What was found in a container, and the way to write an answer back."""

    found: Found
    write: Writer[Answer]


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Clusterings:
    """The same scores by each of several clusterings."""

    samples: list[Sample]  # one a clustering; with those that are crossed, all together first
    plain: Sample  # the scores without a clustering
    named: bool  # whether the caller named them; else they are whatever repeats its values


class Reader(abc.ABC, Generic[Answer]):
    """Reads one container; a subclass for each kind of it.

    ``needs_item`` says that nothing in the container shows what the items of a comparison are.
    """

    needs_item: bool

    def scores(self, roles: Roles) -> Read[Sample, Answer]:
        """Scores that stand for themselves; weighted ones each in a cluster of their own."""
        scores = self._scores(roles)
        sample = scores.summed(None if roles.weights is None else scores.each())
        return Read(found=sample, write=self._writer(scores))

    def each(self, roles: Roles) -> Read[Sample, Answer]:
        """Scores, each in a cluster of its own."""
        scores = self._scores(roles)
        sample = dataclasses.replace(scores.summed(scores.each()), alone=True)
        return Read(found=sample, write=self._writer(scores))

    def clustered(self, roles: Roles) -> Read[Sample, Answer]:
        """Scores in clusters."""
        scores, clusterings = self._clustered(roles)
        return Read(found=scores.added_up(clusterings), write=self._writer(scores))

    def clusterings(self, roles: Roles) -> Read[Clusterings, Answer]:
        """Scores by each clustering that is named, or by all that could be one."""
        named = roles.cluster is not None
        scores, clusterings = self._clustered(roles) if named else self._candidates(roles)
        samples = [scores.summed(one) for one in clusterings]
        if named and len(samples) > 1:
            samples = [*scores.together(clusterings), *samples]
        found = Clusterings(samples=samples, plain=scores.summed(None), named=named)
        return Read(found=found, write=self._writer(scores))

    @abc.abstractmethod
    def _scores(self, roles: Roles) -> Any:
        """The scores alone, whatever they share."""

    @abc.abstractmethod
    def _clustered(self, roles: Roles) -> tuple[Scores, list[Clustering]]:
        """The scores, and the clusterings that are named."""

    @abc.abstractmethod
    def _candidates(self, roles: Roles) -> tuple[Scores, list[Clustering]]:
        """The scores, and all that could be a clustering of them."""

    @abc.abstractmethod
    def _writer(self, scores: Any) -> Writer[Answer]:
        """The way back from the scores."""

    @abc.abstractmethod
    def pairs(self, roles: Roles, *, averages: bool = True, samples: bool = False) -> Read[Matched, Answer]:
        """Systems on the same items; ``averages`` allows several scores an item, ``samples`` says how these vary."""

    @abc.abstractmethod
    def items(self, roles: Roles) -> Read[Items, Answer]:
        """Items with their samples."""

    @abc.abstractmethod
    def has_items(self, roles: Roles) -> bool:
        """Whether items, or samples of items, are named."""

    @abc.abstractmethod
    def tall(self, roles: Roles) -> Reader[Any]:
        """The same container, whose answers are frames with a row a key; the key of the systems is the factor."""

    @abc.abstractmethod
    def of_systems(self, roles: Roles) -> Roles:
        """What the scores of each system are, by what the caller named for their comparison or for their items."""

    @abc.abstractmethod
    def name(self, spec: Any, role: str) -> str:
        """What the caller's own data call it."""
