"""The DataArray accessor: a signature, a docstring and one call a method."""

from __future__ import annotations

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import RateOptions
from evalci_accessor._typing import (
    Alternative,
    ClusterMethod,
    DegreesOfFreedom,
    IccMethod,
    NanPolicy,
    ProportionMethod,
)
from evalci_accessor._xarray.accessor import Spec, Specs
from evalci_accessor._xarray.dims import Dims


class DataArrayAccessor:
    """Honest intervals for an array of scores: ``da.evalci``."""

    def __init__(self, obj: xr.DataArray) -> None:
        self._obj = obj

    def proportion_ci(
        self,
        *,
        dim: Dims = None,
        method: ProportionMethod = "wilson",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        """Textbook interval of a pass rate, which takes every cell as independent.

        Parameters
        ----------
        dim, method, alternative, confidence_level, nan_policy
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
            method=method,
            alternative=alternative,
            confidence_level=confidence_level,
            nan_policy=nan_policy,
        )

    def cluster_ci(
        self,
        cluster: Spec,
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
        cluster : name or DataArray
            A coordinate of the scores, or an array along one or several of their dims.
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
