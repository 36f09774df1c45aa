"""Pictures of a DataFrame: a signature, a docstring and one call each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import CompareOptions, RateOptions
from evalci_accessor._pandas.paired_accessor import Pairs, Spec, Specs
from evalci_accessor._pandas.plot_curves_accessor import FrameCurves
from evalci_accessor.options import (
    Alternative,
    ClusterMethod,
    CompareTest,
    Correction,
    DegreesOfFreedom,
    DiffMethod,
    Labels,
    NaiveMethod,
    NanPolicy,
    Unmatched,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FramePlots(FrameCurves):
    """Pictures of a DataFrame of scores, or of a result: ``df.evalci.plot``."""

    def __init__(self, obj: pd.DataFrame) -> None:
        self._obj = obj

    def forest(
        self,
        cluster: Specs | None = None,
        *,
        score: Spec = "score",
        by: Specs | None = None,
        weights: Spec | None = None,
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
        naive: NaiveMethod | pd.DataFrame | None = "auto",
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
        cluster : label, array_like or list of these
            What the items share, as in `DataFrameAccessor.cluster_ci`. A result is drawn without it.
        score, by, weights, method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.cluster_ci`, which is called once.
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
            As `DataFrameAccessor.cluster_ci` and `evalci_accessor.plot.forest`, each a class of its own.

        Notes
        -----
        A frame that has columns ``estimate``, ``ci_low`` and ``ci_high``, and no score, is a result, and is drawn as it is:
        then options of the interval are refused.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_rag_eval()
        >>> ax = df.evalci.plot.forest("doc_id", by="model")
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['boreal', 'atlas', 'cascade']
        """
        return _pandas.plots.forest(
            self._obj, cluster, score=score, by=by, weights=weights, nan_policy=nan_policy, naive=naive,
            options=RateOptions(
                method=method, df=df, alternative=alternative, confidence_level=confidence_level, n_resamples=n_resamples, rng=rng,
            ),
            look={
                "label": label, "group": group, "sort_by": sort_by, "ascending": ascending, "notes": notes, "percent": percent,
                "title": title, "figsize": figsize, "ax": ax,
            },
        )  # fmt: skip

    def clusters(
        self,
        cluster: Specs | None = None,
        *,
        score: Spec = "score",
        weights: Spec | None = None,
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
        overall: pd.DataFrame | None = None,
        percent: bool | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Each cluster's rate and size, least rate first, with the overall rate and its interval.

        Parameters
        ----------
        cluster
            One clustering, as in `DataFrameAccessor.cluster_ci`. A result is drawn without it.
        score, weights, method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.cluster_ci`, which is called once for the overall interval.
        overall : DataFrame, optional
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
            As `DataFrameAccessor.cluster_ci` and `evalci_accessor.plot.clusters`, each a class of its own.

        Notes
        -----
        A frame that has columns ``estimate`` and ``n``, and no score, is a result, such as ``proportion_ci(by=cluster)``,
        and is drawn as it is: then options of the interval are refused.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_rag_eval()
        >>> ax = df.query("model == 'atlas'").evalci.plot.clusters("doc_id")
        >>> ax.get_xlabel()
        '200 scores in 40 clusters of doc_id, 5 each'
        """
        return _pandas.plots.clusters(
            self._obj, cluster, score=score, weights=weights, nan_policy=nan_policy, overall=overall,
            options=RateOptions(
                method=method, df=df, alternative=alternative, confidence_level=confidence_level, n_resamples=n_resamples, rng=rng,
            ),
            look={"percent": percent, "title": title, "figsize": figsize, "ax": ax},
        )  # fmt: skip

    def differences(
        self,
        factor: Spec | None = None,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Spec | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        weights: Spec | None = None,
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        method: DiffMethod = "auto",
        test: CompareTest = "auto",
        correction: Correction = "holm",
        correction_within: Hashable | Sequence[Hashable] = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
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
        """Differences of all pairs of systems, with simultaneous intervals behind those of each pair.

        Parameters
        ----------
        factor, item, cluster, sample, score, by, weights, baseline, pairs, method, test, correction, correction_within
            As in `DataFrameAccessor.compare`, which is called once. A result is drawn without them.
        confidence_level, unmatched, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.compare`.
        label, group, sort_by, ascending, notes, percent, title, figsize, ax
            As in `evalci_accessor.plot.differences`.

        Returns
        -------
        Axes
            What was drawn on, in the units of the scores.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.compare` and `evalci_accessor.plot.differences`, each a class of its own.

        Notes
        -----
        A frame that has columns ``difference``, ``ci_low`` and ``ci_high``, and no score, is a result, and is drawn as
        it is: then options of the comparison are refused. For a margin draw what `diff_ci` gives.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_rag_eval()
        >>> ax = df.evalci.plot.differences("model", item="item", cluster="doc_id", rng=1)
        >>> ax.get_xlabel(), len(ax.get_yticklabels())
        ('difference, percentage points', 3)
        """
        return _pandas.plots.differences(
            self._obj, factor, item=item, cluster=cluster, sample=sample, score=score, by=by, weights=weights,
            baseline=baseline, pair_list=pairs, correction_within=correction_within, unmatched=unmatched, nan_policy=nan_policy,
            options=CompareOptions(
                method=method, test=test, correction=correction, confidence_level=confidence_level, n_resamples=n_resamples,
                rng=rng,
            ),
            look={
                "label": label, "group": group, "sort_by": sort_by, "ascending": ascending, "notes": notes, "percent": percent,
                "title": title, "figsize": figsize, "ax": ax,
            },
        )  # fmt: skip
