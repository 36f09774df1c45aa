"""The DataArray accessor: a signature, a docstring and one call a method."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import CompareOptions, DiffOptions, RateOptions, TestOptions
from evalci_accessor._plots import Plots
from evalci_accessor._xarray.components_accessor import ComponentsDataArrayMethods
from evalci_accessor._xarray.crosscheck_accessor import CrosscheckDataArrayMethods
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Pairs, Spec, Specs
from evalci_accessor._xarray.plan_dataarray import PlanDataArrayMethods
from evalci_accessor._xarray.plot_dataarray import DataArrayPlots
from evalci_accessor._xarray.repeated_dataarray import RepeatedDataArrayMethods
from evalci_accessor._xarray.report_dataarray import ReportDataArrayMethods
from evalci_accessor.options import (
    Alternative,
    Claim,
    ClusterMethod,
    CompareTest,
    Correction,
    DegreesOfFreedom,
    DiffMethod,
    IccMethod,
    Layout,
    NanPolicy,
    PairTestMethod,
    ProportionMethod,
    Unmatched,
)


class DataArrayAccessor(
    CrosscheckDataArrayMethods,
    RepeatedDataArrayMethods,
    ComponentsDataArrayMethods,
    PlanDataArrayMethods,
    ReportDataArrayMethods,
):
    """Honest intervals for an array of scores: ``da.evalci``."""

    plot = Plots(DataArrayPlots)

    def __init__(self, obj: xr.DataArray) -> None:
        self._obj = obj

    def proportion_ci(
        self,
        *,
        dim: Dims = None,
        weights: Spec | None = None,
        method: ProportionMethod = "wilson",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        """Textbook interval of a pass rate, which takes every cell as independent.

        Parameters
        ----------
        dim, weights, method, alternative, confidence_level, nan_policy
            As in `DatasetAccessor.proportion_ci`, whose formula, assumption and source hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.proportion_ci`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.proportion_ci`.

        Examples
        --------
        >>> import xarray as xr, evalci_accessor
        >>> answer = xr.DataArray([True] * 7 + [False] * 13, dims="item").evalci.proportion_ci()
        >>> print(f"{answer.ci_low.item():.4f} {answer.ci_high.item():.4f}")
        0.1812 0.5671
        """
        return _xarray.methods.proportion_ci(
            self._obj,
            score=None,
            dim=dim,
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
        dim: Dims = None,
        weights: Spec | None = None,
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> xr.Dataset:
        """Interval of a pass rate (or mean score) whose items come in clusters.

        Parameters
        ----------
        cluster : name, DataArray or list of these
            A coordinate of the scores, or an array along one or several of their dims; a list names crossed clusterings.
        dim, weights, method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `DatasetAccessor.cluster_ci`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.cluster_ci`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.cluster_ci`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> scores.sel(model="atlas").evalci.cluster_ci("doc_id").n_clusters.item()
        40
        """
        return _xarray.methods.cluster_ci(
            self._obj,
            cluster,
            score=None,
            dim=dim,
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
        dim: Dims = None,
        weights: Spec | None = None,
        icc_method: IccMethod = "anova",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        """How clustered the scores are, by what, and how far too narrow a naive interval is.

        Parameters
        ----------
        cluster, dim, weights, icc_method, confidence_level, nan_policy
            As in `DatasetAccessor.design_effect`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.design_effect`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.design_effect`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> scores.sel(model="atlas").evalci.design_effect("doc_id").n_clusters.values
        array([40])
        """
        return _xarray.methods.design_effect(
            self._obj,
            cluster,
            score=None,
            dim=dim,
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
        dim: Dims = None,
        weights: Spec | None = None,
        method: PairTestMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        layout: Layout = "pair",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> xr.Dataset:
        """Whether two systems differ on the same items: McNemar's test, with clusters or without.

        Parameters
        ----------
        factor, item, cluster, dim, weights
            Dims, coordinates of the scores, or DataArrays along their dims.
        method, alternative, baseline, pairs, unmatched, nan_policy, layout, n_resamples, rng
            As in `DatasetAccessor.mcnemar`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.mcnemar`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.mcnemar`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> scores.evalci.mcnemar("model", cluster="doc_id", baseline="atlas").only_b.values
        array([30, 51])
        """
        return _xarray.pairs.mcnemar(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            score=None,
            dim=dim,
            weights=weights,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            layout=layout,
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
        sample: Specs | None = None,
        dim: Dims = None,
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
        layout: Layout = "pair",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> xr.Dataset:
        """By how much two systems differ on the same items, with a verdict against a margin.

        Parameters
        ----------
        factor, item, cluster, sample, dim, weights
            Dims, coordinates of the scores, or DataArrays along their dims.
        margin, claim, method, alternative, baseline, pairs, confidence_level, unmatched, nan_policy, layout, n_resamples, rng
            As in `DatasetAccessor.diff_ci`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.diff_ci`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.diff_ci`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> scores.evalci.diff_ci("model", cluster="doc_id", baseline="atlas").difference.round(3).values
        array([ 0.06 , -0.075])
        """
        return _xarray.pairs.diff_ci(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
            weights=weights,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            layout=layout,
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
        sample: Specs | None = None,
        dim: Dims = None,
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
        layout: Layout = "pair",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> xr.Dataset:
        """All pairs of systems in one table, corrected for their number, most evidence first.

        Parameters
        ----------
        factor, item, cluster, sample, dim, weights
            Dims, coordinates of the scores, or DataArrays along their dims.
        baseline, pairs, method, test, correction, correction_within
            As in `DatasetAccessor.compare`.
        confidence_level, unmatched, nan_policy, layout, n_resamples, rng
            As in `DatasetAccessor.compare`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.compare`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.compare`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> scores.evalci.compare("model", cluster="doc_id", rng=1).difference.round(3).values
        array([ 0.135,  0.075, -0.06 ])
        """
        return _xarray.pairs.compare(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
            weights=weights,
            baseline=baseline,
            pairs=pairs,
            correction_within=correction_within,
            unmatched=unmatched,
            nan_policy=nan_policy,
            layout=layout,
            options=CompareOptions(
                method=method,
                test=test,
                correction=correction,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            ),
        )
