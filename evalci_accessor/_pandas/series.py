"""The Series accessor: a signature, a docstring and one call a method."""

from __future__ import annotations

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import RateOptions
from evalci_accessor._pandas.accessor import Spec, Specs
from evalci_accessor._typing import (
    Alternative,
    ClusterMethod,
    DegreesOfFreedom,
    IccMethod,
    NanPolicy,
    ProportionMethod,
)


class SeriesAccessor:
    """Honest intervals for a Series of scores: ``s.evalci``."""

    def __init__(self, obj: pd.Series) -> None:
        self._obj = obj

    def proportion_ci(
        self,
        *,
        by: Specs | None = None,
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
        method, alternative, confidence_level, nan_policy
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
            method=method,
            alternative=alternative,
            confidence_level=confidence_level,
            nan_policy=nan_policy,
        )

    def cluster_ci(
        self,
        cluster: Spec,
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
            An index level, a Series with the same index, or an array by position.
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
