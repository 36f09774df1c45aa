"""Planning the next eval from a pilot: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import PlanOptions
from evalci_accessor._pandas.paired_accessor import Pairs, Spec, Specs
from evalci_accessor._pandas.plan_pairs_accessor import Counts, Numbers
from evalci_accessor.options import Alternative, Claim, ClusterMethod, NanPolicy, PlanMethod, Unmatched


class PlanSeriesMethods:
    """The methods of ``s.evalci`` that plan from a pilot."""

    _obj: pd.Series

    def half_width(
        self,
        cluster: Spec | None,
        *,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        item: Specs | None = None,
        sample: Spec | None = None,
        by: Specs | None = None,
        nested: bool = False,
        method: ClusterMethod = "auto",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_sims: int = 100,
        rng: object = 0,
    ) -> pd.DataFrame:
        """How wide the interval of a rate would be with other numbers of clusters, items and samples.

        Parameters
        ----------
        cluster, n_clusters, items_per_cluster, n_samples, item, sample, by, nested, method, confidence_level
            As in `DataFrameAccessor.half_width`.
        nan_policy, n_sims, rng
            As in `DataFrameAccessor.half_width`, whose formula, assumption and sources hold here too; names are index levels.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.half_width`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.half_width`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'")
        >>> scores = df.set_index("doc_id")["score"]
        >>> scores.evalci.half_width("doc_id", n_clusters=80)[["n_clusters", "n_items", "half_width"]].round(3)
           n_clusters  n_items  half_width
        0          80      400       0.069
        """
        return _pandas.plan.half_width(
            self._obj,
            cluster,
            item=item,
            sample=sample,
            score=self._obj,
            by=by,
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
        sample: Spec | None = None,
        by: Specs | None = None,
        method: PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> pd.DataFrame:
        """Probability that the next eval shows a difference of two systems, with other numbers of clusters, items and samples.

        Parameters
        ----------
        factor, item, cluster, difference, margin, claim, n_clusters, items_per_cluster, n_samples, sample, by, method
            As in `DataFrameAccessor.power`.
        alternative, baseline, pairs, confidence_level, unmatched, nan_policy
            As in `DataFrameAccessor.power`, whose formula, assumption and sources hold here too; names are index levels.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.power`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.power`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> scores = df.set_index(["model", "item", "doc_id"])["score"]
        >>> plan = scores.evalci.power("model", item="item", cluster="doc_id", pairs=[("boreal", "atlas")], difference=0.1)
        >>> plan[["model_a", "model_b", "difference", "n_clusters", "power"]].round(2)
          model_a model_b  difference  n_clusters  power
        0  boreal   atlas         0.1          40   0.47
        """
        return _pandas.plan.power(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
            by=by,
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
        sample: Spec | None = None,
        by: Specs | None = None,
        method: PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> pd.DataFrame:
        """Smallest true difference of two systems that the next eval shows with a given power, or the smallest margin.

        Parameters
        ----------
        factor, item, cluster, power, difference, margin, claim, n_clusters, items_per_cluster, n_samples, sample, by
            As in `DataFrameAccessor.mde`.
        method, alternative, baseline, pairs, confidence_level, unmatched, nan_policy
            As in `DataFrameAccessor.mde`, whose formula, assumption and sources hold here too; names are index levels.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.mde`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.mde`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> scores = df.set_index(["model", "item", "doc_id"])["score"]
        >>> plan = scores.evalci.mde("model", item="item", cluster="doc_id", pairs=[("boreal", "atlas")])
        >>> plan[["model_a", "model_b", "mde", "mde_low", "mde_high"]].round(3)
          model_a model_b    mde  mde_low  mde_high
        0  boreal   atlas  0.146    0.125     0.171
        """
        return _pandas.plan.mde(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
            by=by,
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
        sample: Spec | None = None,
        by: Specs | None = None,
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
    ) -> pd.DataFrame:
        """How many clusters the next eval needs: for an interval of a rate, or to show something of two systems.

        Parameters
        ----------
        factor, cluster, item, half_width, difference, margin, claim, power, items_per_cluster, n_samples, sample, by
            As in `DataFrameAccessor.required_clusters`.
        nested, method, alternative, baseline, pairs, confidence_level, unmatched, nan_policy, n_sims, rng
            As in `DataFrameAccessor.required_clusters`, whose formula, assumption and sources hold here too; names are index
            levels.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.required_clusters`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.required_clusters`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> scores = df.set_index(["model", "item", "doc_id"])["score"]
        >>> ask = {"item": "item", "cluster": "doc_id", "pairs": [("boreal", "atlas")]}
        >>> plan = scores.evalci.required_clusters("model", difference=0.12, **ask)
        >>> plan[["difference", "power", "n_clusters", "n_clusters_low", "n_clusters_high"]]
           difference  power  n_clusters  n_clusters_low  n_clusters_high
        0        0.12    0.8          61              44               84
        """
        return _pandas.plan.required_clusters(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
            by=by,
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
