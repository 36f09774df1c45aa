"""Pictures of a DataArray over k and of plans: a signature, a docstring and one call each."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import PlanOptions, RateOptions
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Pairs, Spec, Specs
from evalci_accessor._xarray.plan_accessor import Counts, Numbers
from evalci_accessor._xarray.repeated_accessor import Ks
from evalci_accessor.options import (
    Alternative,
    Claim,
    ClusterMethod,
    DegreesOfFreedom,
    Labels,
    NanPolicy,
    PlanAxis,
    PlanMethod,
    RepeatedMeasure,
    TooFew,
    Unmatched,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DataArrayCurves:
    """The pictures of ``array.evalci.plot`` that are lines over k, clusters or items."""

    _obj: xr.DataArray

    def pass_at_k(
        self,
        k: Ks,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
        dim: Dims = None,
        weights: Spec | None = None,
        nested: bool = False,
        too_few: TooFew = "raise",
        measure: RepeatedMeasure = "pass_at_k",
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
        label: Labels | None = None,
        percent: bool | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """What k samples of an item would score, over k, with a bar for each k and a band for all of them together.

        Parameters
        ----------
        k, item, cluster, sample, dim, weights, nested, too_few
            As in `DataArrayAccessor.pass_at_k`.
        measure : {"pass_at_k", "pass_hat_k", "best_of_k"}
            The method that is called, once.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `DataArrayAccessor.pass_at_k`.
        label, percent, title, figsize, ax
            As in `evalci_accessor.plot.pass_at_k`.

        Returns
        -------
        Axes
            What was drawn on: k along x, scores along y.

        Raises
        ------
        EvalCIError
            As `DataArrayAccessor.pass_at_k` and `evalci_accessor.plot.pass_at_k`, each a class of its own.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> scores = datasets.load_code_eval_cube()["score"]
        >>> ax = scores.evalci.plot.pass_at_k([1, 2, 5], cluster="repo_id", sample="sample", rng=1)
        >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()][:2]
        ('k, samples of an item', ['atlas', 'boreal'])
        """
        return _xarray.plots.pass_at_k(
            self._obj, k, measure=measure, item=item, cluster=cluster, sample=sample, score=None, dim=dim, weights=weights,
            nested=nested, too_few=too_few, nan_policy=nan_policy,
            options=RateOptions(
                method=method, df=df, alternative=alternative, confidence_level=confidence_level, n_resamples=n_resamples, rng=rng,
            ),
            look={"label": label, "percent": percent, "title": title, "figsize": figsize, "ax": ax},
        )  # fmt: skip

    def power(
        self,
        factor: Spec | None = None,
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
        x: PlanAxis | None = None,
        goal: float | Literal["auto"] | None = "auto",
        label: Labels | None = None,
        percent: bool | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """What other numbers of clusters, items and samples would reach: half-width of one rate, or power for two systems.

        Parameters
        ----------
        factor, difference, margin, claim, alternative, baseline, pairs, unmatched
            As in `DataArrayAccessor.power`, which is called once; without a factor `DataArrayAccessor.half_width` is, and the
            others are refused.
        item, cluster, n_clusters, items_per_cluster, n_samples, sample, dim, method, confidence_level, nan_policy
            As there.
        nested, n_sims, rng
            As in `DataArrayAccessor.half_width`; of one rate alone.
        x, goal, label, percent, title, figsize, ax
            As in `evalci_accessor.plot.power`.

        Returns
        -------
        Axes
            What was drawn on.

        Raises
        ------
        EvalCIError
            As these methods and `evalci_accessor.plot.power`, each a class of its own.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> scores = datasets.load_rag_eval_cube()["score"]
        >>> ax = scores.evalci.plot.power(
        ...     "model", cluster="doc_id", pairs=[("boreal", "cascade")], difference=0.1, n_clusters=[40, 80]
        ... )
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('clusters of doc_id', 'power')
        """
        return _xarray.plots.power(
            self._obj, factor, item=item, cluster=cluster, sample=sample, score=None, dim=dim, nested=nested,
            of_pair={"baseline": baseline, "pairs": pairs, "unmatched": unmatched}, nan_policy=nan_policy,
            asked={
                "difference": difference, "margin": margin, "n_clusters": n_clusters, "items_per_cluster": items_per_cluster,
                "n_samples": n_samples,
            },
            options=PlanOptions(
                method=method, confidence_level=confidence_level, claim=claim, alternative=alternative, n_sims=n_sims, rng=rng,
            ),
            look={
                "x": x, "goal": goal, "label": label, "percent": percent, "title": title, "figsize": figsize, "ax": ax,
            },
        )  # fmt: skip
