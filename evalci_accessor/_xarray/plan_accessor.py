"""Planning the next eval from a pilot: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import PlanOptions
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Pairs, Spec, Specs
from evalci_accessor.options import Alternative, Claim, ClusterMethod, NanPolicy, PlanMethod, Unmatched

Numbers: TypeAlias = float | Sequence[float]
Counts: TypeAlias = int | Sequence[int]


class PlanDatasetMethods:
    """The methods of ``ds.evalci`` that plan from a pilot."""

    _obj: xr.Dataset

    def half_width(
        self,
        cluster: Spec | None,
        *,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        item: Specs | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
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
        cluster : name or DataArray
            What the items share, along their dims; one clustering.
        item : name, DataArray or list of these, optional
            Dims of the items, or coordinates along them that make their key. By default the dims of the cluster, or the one
            that is left.
        sample : name or list of names, optional
            Dims of the samples. Needed for ``n_samples`` above 1.
        score : name or DataArray, default "score"
            The pilot's scores.
        dim : name, list of names or ..., optional
            What is reduced; by default the dims of the items and of their samples. Every other dim is kept. (The frame's ``by`` has
            the opposite sense: it names what is kept.)
        n_clusters, items_per_cluster, n_samples, nested, method, confidence_level, nan_policy, n_sims, rng
            As in `DataFrameAccessor.half_width`; a list makes a dim of that name.

        Returns
        -------
        Dataset
            Over the kept dims and a dim for each list, the columns of the frame's answer as variables:
            ``.to_dataframe()`` gives it.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.half_width`; DimensionError of dims that cannot be told.

        Warns
        -----
        EvalCIWarning
            As `DataFrameAccessor.half_width`.

        Notes
        -----
        Formula, assumptions and sources are those of `DataFrameAccessor.half_width`.

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube().sel(model=["atlas"])
        >>> plan = ds.evalci.half_width("doc_id", n_clusters=[40, 80])
        >>> plan.half_width.round(3).to_pandas()
        n_clusters     40     80
        model
        atlas       0.098  0.069
        """
        return _xarray.plan.half_width(
            self._obj,
            cluster,
            item=item,
            sample=sample,
            score=score,
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
        score: Spec = "score",
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
        factor : name or DataArray
            The dim along which the systems lie, or a coordinate along it, as in `DatasetAccessor.diff_ci`.
        cluster : name or DataArray, optional
            What the items share, along their dims; one clustering.
        item : name, DataArray or list of these, optional
            Dims of the items, or coordinates along them that make their key. By default the dims of the cluster, or the one
            that is left.
        sample : name or list of names, optional
            Dims of the samples. Needed for ``n_samples`` above 1.
        score : name or DataArray, default "score"
            The pilot's scores.
        dim : name, list of names or ..., optional
            What is reduced; by default the dims of the items and of their samples. Every other dim is kept. (The frame's ``by`` has
            the opposite sense: it names what is kept.)
        difference, margin, claim, n_clusters, items_per_cluster, n_samples, method, alternative, baseline, pairs
            As in `DataFrameAccessor.power`.
        confidence_level, unmatched, nan_policy
            As in `DataFrameAccessor.power`; a list makes a dim of that name.

        Returns
        -------
        Dataset
            Over the kept dims, ``pair`` and a dim for each list, the columns of the frame's answer as variables:
            ``.to_dataframe()`` gives it.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.power`; DimensionError of dims that cannot be told.

        Warns
        -----
        EvalCIWarning
            As `DataFrameAccessor.power`.

        Notes
        -----
        Formula, assumptions and sources are those of `DataFrameAccessor.power`.

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> plan = ds.evalci.power("model", cluster="doc_id", baseline="atlas", difference=0.1, n_clusters=[40, 80])
        >>> plan.power.round(2).values
        array([[0.47, 0.77],
               [0.44, 0.73]])
        """
        return _xarray.plan.power(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
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
        score: Spec = "score",
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
        factor : name or DataArray
            The dim along which the systems lie, or a coordinate along it, as in `DatasetAccessor.diff_ci`.
        cluster : name or DataArray, optional
            What the items share, along their dims; one clustering.
        item : name, DataArray or list of these, optional
            Dims of the items, or coordinates along them that make their key. By default the dims of the cluster, or the one
            that is left.
        sample : name or list of names, optional
            Dims of the samples. Needed for ``n_samples`` above 1.
        score : name or DataArray, default "score"
            The pilot's scores.
        dim : name, list of names or ..., optional
            What is reduced; by default the dims of the items and of their samples. Every other dim is kept. (The frame's ``by`` has
            the opposite sense: it names what is kept.)
        power, difference, margin, claim, n_clusters, items_per_cluster, n_samples, method, alternative, baseline
            As in `DataFrameAccessor.mde`.
        pairs, confidence_level, unmatched, nan_policy
            As in `DataFrameAccessor.mde`; a list makes a dim of that name.

        Returns
        -------
        Dataset
            Over the kept dims, ``pair`` and a dim for each list, the columns of the frame's answer as variables:
            ``.to_dataframe()`` gives it.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.mde`; DimensionError of dims that cannot be told.

        Warns
        -----
        EvalCIWarning
            As `DataFrameAccessor.mde`.

        Notes
        -----
        Formula, assumptions and sources are those of `DataFrameAccessor.mde`.

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> plan = ds.evalci.mde("model", cluster="doc_id", baseline="atlas", n_clusters=[40, 160])
        >>> plan.mde.round(3).values
        array([[0.146, 0.074],
               [0.154, 0.078]])
        """
        return _xarray.plan.mde(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
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
        score: Spec = "score",
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
        factor : name or DataArray, optional
            The dim along which the systems lie, or a coordinate along it, as in `DatasetAccessor.diff_ci`.
            Without it the plan is for one rate.
        cluster : name or DataArray, optional
            What the items share, along their dims; one clustering.
        item : name, DataArray or list of these, optional
            Dims of the items, or coordinates along them that make their key. By default the dims of the cluster, or the one
            that is left.
        sample : name or list of names, optional
            Dims of the samples. Needed for ``n_samples`` above 1.
        score : name or DataArray, default "score"
            The pilot's scores.
        dim : name, list of names or ..., optional
            What is reduced; by default the dims of the items and of their samples. Every other dim is kept. (The frame's ``by`` has
            the opposite sense: it names what is kept.)
        half_width, difference, margin, claim, power, items_per_cluster, n_samples, nested, method, alternative
            As in `DataFrameAccessor.required_clusters`.
        baseline, pairs, confidence_level, unmatched, nan_policy, n_sims, rng
            As in `DataFrameAccessor.required_clusters`; a list makes a dim of that name.

        Returns
        -------
        Dataset
            Over the kept dims, ``pair`` of two systems, and a dim for each list, the columns of the frame's answer as variables:
            ``.to_dataframe()`` gives it.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.required_clusters`; DimensionError of dims that cannot be told.

        Warns
        -----
        EvalCIWarning
            As `DataFrameAccessor.required_clusters`.

        Notes
        -----
        Formula, assumptions and sources are those of `DataFrameAccessor.required_clusters`.

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube().sel(model=["atlas"])
        >>> plan = ds.evalci.required_clusters(cluster="doc_id", half_width=0.085)
        >>> plan[["n_clusters", "n_clusters_low", "n_clusters_high"]].to_dataframe()
                 n_clusters  n_clusters_low  n_clusters_high
        model
        atlas            54              38               70
        """
        return _xarray.plan.required_clusters(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
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
