"""The report of a DataArray: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import ReportOptions, Wording
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Pairs, Spec, Specs
from evalci_accessor.options import Claim, ClusterMethod, Correction, DiffMethod, NanPolicy, Unmatched

if TYPE_CHECKING:
    from evalci_accessor.report import Report


class ReportDataArrayMethods:
    """The method of ``da.evalci`` that puts the answers of others together."""

    _obj: xr.DataArray

    def report(
        self,
        cluster: Specs,
        *,
        factor: Spec | None = None,
        item: Specs | None = None,
        sample: Specs | None = None,
        dim: Dims = None,
        weights: Spec | None = None,
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        margin: float | None = None,
        claim: Claim | None = None,
        method: ClusterMethod = "auto",
        diff_method: DiffMethod = "auto",
        correction: Correction = "holm",
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
        nouns: tuple[str, str] | None = None,
        percent: bool | None = None,
        title: str | None = None,
        not_covered: Mapping[str, str] | None = None,
    ) -> Report:
        """One report of scores, comparisons, clustering, warnings and what is not covered.

        Parameters
        ----------
        cluster, factor, item, sample, dim, weights, baseline, pairs, margin, claim, method, diff_method, correction
            As in `DatasetAccessor.report`.
        confidence_level, unmatched, nan_policy, n_resamples, rng, nouns, percent, title, not_covered
            As in `DatasetAccessor.report`.

        Returns
        -------
        Report
            As `DatasetAccessor.report`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.report`.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> scores = datasets.load_rag_eval_cube()["score"]
        >>> scores.evalci.report("doc_id", factor="model", rng=1).title
        'score, clustered by doc_id'
        """
        return _xarray.reports.report(
            self._obj, cluster, factor=factor, item=item, sample=sample, score=None, dim=dim, weights=weights, baseline=baseline,
            pair_list=pairs, unmatched=unmatched, nan_policy=nan_policy,
            options=ReportOptions(
                method=method, diff_method=diff_method, correction=correction, margin=margin, claim=claim,
                confidence_level=confidence_level, n_resamples=n_resamples, rng=rng,
            ),
            wording=Wording(nouns=nouns, percent=percent, title=title, not_covered=not_covered),
        )  # fmt: skip
