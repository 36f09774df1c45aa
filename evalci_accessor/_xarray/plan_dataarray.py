"""Planning the next eval from a pilot: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Hashable

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import PlanOptions
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Pairs, Spec, Specs
from evalci_accessor._xarray.plan_accessor import Counts, Numbers
from evalci_accessor.options import Alternative, Claim, ClusterMethod, NanPolicy, PlanMethod, Unmatched


class PlanDataArrayMethods:
    """The methods of ``da.evalci`` that plan from a pilot."""

    _obj: xr.DataArray

    def half_width(
        self,
        cluster: Spec | None,
        *,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        item: Specs | None = None,
        sample: Specs | None = None,
        dim: Dims = None,
        nested: bool = False,
        method: ClusterMethod = "auto",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_sims: int = 100,
        rng: object = 0,
    ) -> xr.Dataset:
        """How wide the interval of a rate would be with other numbers of clusters, items and samples.

        Parameters
        ----------
        cluster, n_clusters, items_per_cluster, n_samples, item, sample, dim, nested, method, confidence_level
            As in `DatasetAccessor.half_width`.
        nan_policy, n_sims, rng
            As in `DatasetAccessor.half_width`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.half_width`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.half_width`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> scores.evalci.half_width("doc_id", n_clusters=80).half_width.round(3).values
        array([0.069, 0.062, 0.059])
        """
        return _xarray.plan.half_width(
            self._obj,
            cluster,
            item=item,
            sample=sample,
            score=None,
            dim=dim,
            nested=nested,
            nan_policy=nan_policy,
            asked={"n_clusters": n_clusters, "items_per_cluster": items_per_cluster, "n_samples": n_samples},
            options=PlanOptions(method=method, confidence_level=confidence_level, n_sims=n_sims, rng=rng),
        )

    def power(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Spec | None = None,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        sample: Specs | None = None,
        dim: Dims = None,
        method: PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        """Probability that the next eval shows a difference of two systems, with other numbers of clusters, items and samples.

        Parameters
        ----------
        factor, item, cluster, difference, margin, claim, n_clusters, items_per_cluster, n_samples, sample, dim
            As in `DatasetAccessor.power`.
        method, alternative, baseline, pairs, confidence_level, unmatched, nan_policy
            As in `DatasetAccessor.power`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.power`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.power`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> scores.evalci.power("model", cluster="doc_id", baseline="atlas", difference=0.1).power.round(2).values
        array([0.47, 0.44])
        """
        return _xarray.plan.power(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            asked={
                "difference": difference,
                "margin": margin,
                "n_clusters": n_clusters,
                "items_per_cluster": items_per_cluster,
                "n_samples": n_samples,
            },
            options=PlanOptions(method=method, confidence_level=confidence_level, claim=claim, alternative=alternative),
        )

    def mde(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Spec | None = None,
        power: Numbers = 0.8,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        sample: Specs | None = None,
        dim: Dims = None,
        method: PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        """Smallest true difference of two systems that the next eval shows with a given power, or the smallest margin.

        Parameters
        ----------
        factor, item, cluster, power, difference, margin, claim, n_clusters, items_per_cluster, n_samples, sample, dim
            As in `DatasetAccessor.mde`.
        method, alternative, baseline, pairs, confidence_level, unmatched, nan_policy
            As in `DatasetAccessor.mde`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.mde`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.mde`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> scores.evalci.mde("model", cluster="doc_id", baseline="atlas").mde.round(3).values
        array([0.146, 0.154])
        """
        return _xarray.plan.mde(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            asked={
                "power": power,
                "difference": difference,
                "margin": margin,
                "n_clusters": n_clusters,
                "items_per_cluster": items_per_cluster,
                "n_samples": n_samples,
            },
            options=PlanOptions(method=method, confidence_level=confidence_level, claim=claim, alternative=alternative),
        )

    def required_clusters(
        self,
        factor: Spec | None = None,
        *,
        cluster: Spec | None = None,
        item: Specs | None = None,
        half_width: Numbers | None = None,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        power: Numbers = 0.8,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        sample: Specs | None = None,
        dim: Dims = None,
        nested: bool = False,
        method: ClusterMethod | PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_sims: int = 100,
        rng: object = 0,
    ) -> xr.Dataset:
        """How many clusters the next eval needs: for an interval of a rate, or to show something of two systems.

        Parameters
        ----------
        factor, cluster, item, half_width, difference, margin, claim, power, items_per_cluster, n_samples, sample, dim
            As in `DatasetAccessor.required_clusters`.
        nested, method, alternative, baseline, pairs, confidence_level, unmatched, nan_policy, n_sims, rng
            As in `DatasetAccessor.required_clusters`, whose formula, assumption and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.required_clusters`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.required_clusters`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> plan = scores.evalci.required_clusters("model", cluster="doc_id", baseline="atlas", difference=0.12)
        >>> plan[["n_clusters_low", "n_clusters", "n_clusters_high"]].to_dataframe()
              n_clusters_low  n_clusters  n_clusters_high  model_a model_b
        pair
        0                 44          61               84   boreal   atlas
        1                 51          67               94  cascade   atlas
        """
        return _xarray.plan.required_clusters(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
            nested=nested,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            asked={
                "half_width": half_width,
                "difference": difference,
                "margin": margin,
                "power": power,
                "items_per_cluster": items_per_cluster,
                "n_samples": n_samples,
            },
            options=PlanOptions(
                method=method,
                confidence_level=confidence_level,
                claim=claim,
                alternative=alternative,
                n_sims=n_sims,
                rng=rng,
            ),
        )
