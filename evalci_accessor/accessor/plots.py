"""Pictures of results, and of scores where one method gives what is drawn: ``df.evalci.plot``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal, overload

import evalci_accessor  # its plot is loaded with the first picture
from evalci_accessor.methods import pictures
from evalci_accessor.options import (
    Dims,
    Labels,
    NaiveMethod,
    Name,
    Names,
    NanPolicy,
    PlanAxis,
    RateOptions,
    Roles,
)

# The parameters that say how a picture looks, and not what it shows.
_LOOK = (
    "x", "goal", "label", "group", "sort_by", "ascending", "notes", "percent", "title", "figsize", "ax",
)  # fmt: skip

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalci_accessor.accessor import Evalci


class Plots:
    """Pictures of scores, or of a result: ``df.evalci.plot``."""

    def __init__(self, accessor: Any) -> None:
        self._accessor = accessor

    def forest(
        self,
        cluster: Names | None = None,
        score: Name = "score",
        *,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        n: Name | None = None,
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        naive: NaiveMethod | Any | None = "auto",
        label: Labels | None = None,
        group: Hashable = None,
        sort_by: Hashable = "estimate",
        ascending: bool = False,
        notes: bool = True,
        percent: bool | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Rates with their naive and their honest intervals, a row each.

        Parameters
        ----------
        cluster : label, array or list of these
            What the items share, as in `cluster_ci`, which is called with its defaults. A result is drawn without it.
        score, by, dim, weights, n, confidence_level, nan_policy
            As in `cluster_ci`.
        naive : {"auto", "wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull"} or None
            The interval for independent items that is drawn beneath, of `proportion_ci`; None draws none. ``"auto"`` is
            ``"wilson"``, and for scores other than 0 and 1 Student's t. On a result: another result with the same keys.
        label, group, sort_by, ascending, notes, percent, title, figsize, ax
            As in `evalci_accessor.plot.forest`.

        Returns
        -------
        Axes
            What was drawn on, in the units of the scores.

        Raises
        ------
        EvalCIError
            As `cluster_ci` and `evalci_accessor.plot.forest`, each a class of its own.

        Notes
        -----
        An object that has ``estimate``, ``ci_low`` and ``ci_high``, and no score, is a result, and is drawn as it is.
        For another method compute the result first: ``df.evalci.cluster_ci("doc_id", method="cr2").evalci.plot.forest()``.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_rag_eval()
        >>> ax = df.evalci.plot.forest("doc_id", by="model")
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['boreal', 'atlas', 'cascade']
        """
        return pictures.forest(
            self._accessor, Roles.of(locals()), RateOptions.of(locals()), naive, _look(locals())
        )

    def clusters(
        self,
        cluster: Name | None = None,
        score: Name = "score",
        *,
        dim: Dims = None,
        weights: Name | None = None,
        n: Name | None = None,
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        overall: Any | None = None,
        percent: bool | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Each cluster's rate and size, least rate first, with the overall rate and its interval.

        Parameters
        ----------
        cluster : label or array
            One clustering, as in `cluster_ci`. A result is drawn without it.
        score, dim, weights, n, confidence_level, nan_policy
            As in `cluster_ci`, which is called with its defaults for the overall interval.
        overall : DataFrame or Dataset, optional
            On a result of one row a cluster: that of all clusters together.
        percent, title, figsize, ax
            As in `evalci_accessor.plot.clusters`.

        Returns
        -------
        Axes
            What was drawn on: numbers of scores along x, their means along y.

        Raises
        ------
        EvalCIError
            As `cluster_ci` and `evalci_accessor.plot.clusters`, each a class of its own.

        Notes
        -----
        An object that has ``estimate`` and ``n``, and no score, is a result, such as ``proportion_ci(by=cluster)``, and
        is drawn as it is.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_rag_eval()
        >>> ax = df.query("model == 'atlas'").evalci.plot.clusters("doc_id")
        >>> ax.get_xlabel()
        '200 scores in 40 clusters of doc_id, 5 each'
        """
        return pictures.clusters(
            self._accessor, Roles.of(locals()), RateOptions.of(locals()), overall, _look(locals())
        )

    def differences(
        self,
        *,
        label: Labels | None = None,
        group: Hashable = None,
        sort_by: Hashable = None,
        ascending: bool = False,
        notes: bool = True,
        percent: bool | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Differences of all pairs of systems, of a result of `compare` or `diff_ci`.

        Parameters
        ----------
        label, group, sort_by, ascending, notes, percent, title, figsize, ax
            As in `evalci_accessor.plot.differences`.

        Returns
        -------
        Axes
            What was drawn on, in the units of the scores.

        Raises
        ------
        EvalCIError
            As `evalci_accessor.plot.differences`, each a class of its own.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_rag_eval()
        >>> ax = df.evalci.compare("model", "item", "doc_id", rng=1).evalci.plot.differences()
        >>> ax.get_xlabel(), len(ax.get_yticklabels())
        ('difference, percentage points', 3)
        """
        return evalci_accessor.plot.differences(self._accessor._obj, **_look(locals()))

    def pass_at_k(
        self,
        *,
        label: Labels | None = None,
        percent: bool | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """What k samples of an item would score, over k, of a result of `pass_at_k` and its kin.

        Parameters
        ----------
        label, percent, title, figsize, ax
            As in `evalci_accessor.plot.pass_at_k`.

        Returns
        -------
        Axes
            What was drawn on: k along x, scores along y.

        Raises
        ------
        EvalCIError
            As `evalci_accessor.plot.pass_at_k`, each a class of its own.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_code_eval()
        >>> ax = df.evalci.pass_at_k([1, 2, 5], "item", "repo_id", by="model", rng=1).evalci.plot.pass_at_k()
        >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()][:2]
        ('k, samples of an item', ['atlas', 'boreal'])
        """
        return evalci_accessor.plot.pass_at_k(self._accessor._obj, **_look(locals()))

    def power(
        self,
        *,
        x: PlanAxis | None = None,
        goal: float | Literal["auto"] | None = "auto",
        label: Labels | None = None,
        percent: bool | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """What other designs would reach, of a result of `half_width`, `power` or `mde`.

        Parameters
        ----------
        x, goal, label, percent, title, figsize, ax
            As in `evalci_accessor.plot.power`.

        Returns
        -------
        Axes
            What was drawn on.

        Raises
        ------
        EvalCIError
            As `evalci_accessor.plot.power`, each a class of its own.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_rag_eval()
        >>> pair = [("boreal", "cascade")]
        >>> plan = df.evalci.power("model", "item", "doc_id", pairs=pair, difference=0.1, n_clusters=[40, 80])
        >>> ax = plan.evalci.plot.power()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('clusters of doc_id', 'power')
        """
        return evalci_accessor.plot.power(self._accessor._obj, **_look(locals()))

    def coverage(
        self,
        *,
        label: Labels | None = None,
        group: Hashable = None,
        sort_by: Hashable = None,
        ascending: bool = False,
        notes: bool = True,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Coverage of methods in a simulation, a row each, beside the level that it should reach.

        Parameters
        ----------
        label, group, sort_by, ascending, notes, title, figsize, ax
            As in `evalci_accessor.plot.coverage`.

        Returns
        -------
        Axes
            What was drawn on, as shares along x.

        Raises
        ------
        EvalCIError
            As `evalci_accessor.plot.coverage`, each a class of its own.

        Notes
        -----
        The frame is that of ``rows()`` of what `stats.simulate.coverage` gave. No scores are simulated from.

        Examples
        --------
        >>> import pandas as pd
        >>> from evalci_accessor import stats
        >>> methods = ["auto", "cr1"]
        >>> found = stats.simulate.coverage([5] * 12, icc=0.3, rate=0.9, methods=methods, n_sims=100, rng=1)
        >>> ax = pd.DataFrame(found.rows()).evalci.plot.coverage()
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['icc_averaged', 'cr1']
        """
        return evalci_accessor.plot.coverage(self._accessor._obj, **_look(locals()))


def _look(given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a picture that say how it looks, under their names."""
    return {name: value for name, value in given.items() if name in _LOOK}


class Drawing:
    """Makes ``accessor.plot`` the pictures of the accessor's object, and of the class the class, as pandas' own is."""

    @overload
    def __get__(self, accessor: None, owner: Any) -> type[Plots]: ...
    @overload
    def __get__(self, accessor: Evalci[Any], owner: Any) -> Plots: ...
    def __get__(self, accessor: Any, owner: Any) -> type[Plots] | Plots:
        return Plots if accessor is None else Plots(accessor)
