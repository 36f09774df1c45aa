"""The Series accessor: a signature, a docstring and one call a method."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import CompareOptions, DiffOptions, RateOptions, TestOptions
from evalci_accessor._pandas.components_accessor import ComponentsSeriesMethods
from evalci_accessor._pandas.crosscheck_accessor import CrosscheckSeriesMethods
from evalci_accessor._pandas.paired_accessor import Pairs, Spec, Specs
from evalci_accessor._pandas.plan_series import PlanSeriesMethods
from evalci_accessor._pandas.plot_series import SeriesPlots
from evalci_accessor._pandas.repeated_series import RepeatedSeriesMethods
from evalci_accessor._pandas.report_series import ReportSeriesMethods
from evalci_accessor._plots import Plots
from evalci_accessor.options import (
    Alternative,
    Claim,
    ClusterMethod,
    CompareTest,
    Correction,
    DegreesOfFreedom,
    DiffMethod,
    IccMethod,
    NanPolicy,
    PairTestMethod,
    ProportionMethod,
    Unmatched,
)


class SeriesAccessor(
    CrosscheckSeriesMethods,
    RepeatedSeriesMethods,
    ComponentsSeriesMethods,
    PlanSeriesMethods,
    ReportSeriesMethods,
):
    """Honest intervals for a Series of scores: ``s.evalci``."""

    plot = Plots(SeriesPlots)

    def __init__(self, obj: pd.Series) -> None:
        self._obj = obj

    def proportion_ci(
        self,
        *,
        by: Specs | None = None,
        weights: Spec | None = None,
        method: ProportionMethod = "wilson",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> pd.DataFrame:
        """Textbook interval of a pass rate, which takes every score as independent.

        Parameters
        ----------
        by : label, array_like or list of these, optional
            What the rows of the result are: an index level, a Series with the same index, or an array by position.
        weights, method, alternative, confidence_level, nan_policy
            As in `DataFrameAccessor.proportion_ci`, whose formula, assumption and source hold here too.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.proportion_ci`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.proportion_ci`.

        Examples
        --------
        >>> import pandas as pd, evalci_accessor
        >>> pd.Series([True] * 7 + [False] * 13).evalci.proportion_ci()[["estimate", "ci_low", "ci_high"]].round(4)
           estimate  ci_low  ci_high
        0      0.35  0.1812   0.5671
        """
        return _pandas.methods.proportion_ci(
            self._obj,
            score=self._obj,
            by=by,
            weights=weights,
            method=method,
            alternative=alternative,
            confidence_level=confidence_level,
            nan_policy=nan_policy,
        )

    def cluster_ci(
        self,
        cluster: Specs,
        *,
        by: Specs | None = None,
        weights: Spec | None = None,
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> pd.DataFrame:
        """Interval of a pass rate (or mean score) whose items come in clusters.

        Parameters
        ----------
        cluster, by, weights
            An index level, a Series with the same index, or an array by position; of ``cluster`` also a list, of crossed ones.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.cluster_ci`, whose formula, assumption and sources hold here too.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.cluster_ci`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.cluster_ci`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'")
        >>> scores = df.set_index("doc_id")["score"]
        >>> scores.evalci.cluster_ci("doc_id")[["estimate", "ci_low", "ci_high", "n_clusters"]].round(3)
           estimate  ci_low  ci_high  n_clusters
        0     0.695   0.589    0.788          40
        """
        return _pandas.methods.cluster_ci(
            self._obj,
            cluster,
            score=self._obj,
            by=by,
            weights=weights,
            nan_policy=nan_policy,
            options=RateOptions(
                method=method,
                df=df,
                alternative=alternative,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            ),
        )

    def design_effect(
        self,
        cluster: Specs | None = None,
        *,
        by: Specs | None = None,
        weights: Spec | None = None,
        icc_method: IccMethod = "anova",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> pd.DataFrame:
        """How clustered the scores are, by what, and how far too narrow a naive interval is.

        Parameters
        ----------
        cluster : label, array_like or list of these, optional
            Index levels, Series or arrays; with none, every index level that repeats its values is tried.
        by, weights, icc_method, confidence_level, nan_policy
            As in `DataFrameAccessor.design_effect`, whose formula, assumption and sources hold here too.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.design_effect`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.design_effect`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'")
        >>> scores = df.set_index(["doc_id", "template_id"])["score"]
        >>> scores.evalci.design_effect()[["cluster", "design_effect", "n_clusters"]].round(2)
               cluster  design_effect  n_clusters
        0       doc_id           2.20          40
        1  template_id           1.12           8
        """
        return _pandas.methods.design_effect(
            self._obj,
            cluster,
            score=self._obj,
            by=by,
            weights=weights,
            icc_method=icc_method,
            confidence_level=confidence_level,
            nan_policy=nan_policy,
        )

    def mcnemar(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        by: Specs | None = None,
        weights: Spec | None = None,
        method: PairTestMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> pd.DataFrame:
        """Whether two systems differ on the same items: McNemar's test, with clusters or without.

        Parameters
        ----------
        factor, item, cluster, by, weights
            Index levels, Series with the same index, or arrays by position; a list of ``cluster`` names crossed ones.
        method, alternative, baseline, pairs, unmatched, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.mcnemar`, whose formula, assumption and sources hold here too.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.mcnemar`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.mcnemar`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> scores = df.set_index(["model", "item", "doc_id"])["score"]
        >>> answer = scores.evalci.mcnemar("model", item="item", cluster="doc_id", baseline="atlas")
        >>> answer[["model_a", "model_b", "only_a", "only_b", "pvalue"]].round(3)
           model_a model_b  only_a  only_b  pvalue
        0   boreal   atlas      42      30   0.256
        1  cascade   atlas      36      51   0.176
        """
        return _pandas.pairs.mcnemar(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            score=self._obj,
            by=by,
            weights=weights,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            options=TestOptions(
                method=method,
                alternative=alternative,
                n_resamples=n_resamples,
                rng=rng,
            ),
        )

    def diff_ci(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Spec | None = None,
        by: Specs | None = None,
        weights: Spec | None = None,
        margin: float | None = None,
        claim: Claim | None = None,
        method: DiffMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> pd.DataFrame:
        """By how much two systems differ on the same items, with a verdict against a margin.

        Parameters
        ----------
        factor, item, cluster, sample, by, weights
            Index levels, Series with the same index, or arrays by position.
        margin, claim, method, alternative, baseline, pairs, confidence_level, unmatched, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.diff_ci`, whose formula, assumption and sources hold here too.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.diff_ci`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.diff_ci`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> scores = df.set_index(["model", "item", "doc_id"])["score"]
        >>> answer = scores.evalci.diff_ci("model", item="item", cluster="doc_id", baseline="atlas")
        >>> answer[["model_a", "model_b", "difference", "ci_low", "ci_high"]].round(3)
           model_a model_b  difference  ci_low  ci_high
        0   boreal   atlas       0.060  -0.045    0.165
        1  cascade   atlas      -0.075  -0.183    0.035
        """
        return _pandas.pairs.diff_ci(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
            by=by,
            weights=weights,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            options=DiffOptions(
                method=method,
                alternative=alternative,
                margin=margin,
                claim=claim,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            ),
        )

    def compare(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Spec | None = None,
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
    ) -> pd.DataFrame:
        """All pairs of systems in one table, corrected for their number, most evidence first.

        Parameters
        ----------
        factor, item, cluster, sample, by, weights
            Index levels, Series with the same index, or arrays by position.
        baseline, pairs, method, test, correction, correction_within, confidence_level, unmatched, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.compare`, whose formula, assumption and sources hold here too.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.compare`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.compare`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> scores = df.set_index(["model", "item", "doc_id"])["score"]
        >>> answer = scores.evalci.compare("model", item="item", cluster="doc_id", baseline="atlas", rng=1)
        >>> answer[["model_a", "model_b", "difference", "pvalue_adj"]].round(3)
           model_a model_b  difference  pvalue_adj
        0  cascade   atlas      -0.075       0.351
        1   boreal   atlas       0.060       0.351
        """
        return _pandas.pairs.compare(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
            by=by,
            weights=weights,
            baseline=baseline,
            pairs=pairs,
            correction_within=correction_within,
            unmatched=unmatched,
            nan_policy=nan_policy,
            options=CompareOptions(
                method=method,
                test=test,
                correction=correction,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            ),
        )
