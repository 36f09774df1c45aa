"""The report of a Dataset: a signature, a docstring and one call."""

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


class ReportDatasetMethods:
    """The method of ``ds.evalci`` that puts the answers of others together."""

    _obj: xr.Dataset

    def report(
        self,
        cluster: Specs,
        *,
        factor: Spec | None = None,
        item: Specs | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
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
        cluster : name, DataArray or list of these
            What the items share, as in `cluster_ci`.
        factor : name or DataArray, optional
            The dim along which the systems lie, or a coordinate along it; with it they are compared, as in `compare`.
        item : name, DataArray or list of these, optional
            Dims of the items, as in `compare`; without ``factor`` they are counted.
        sample : name or list of names, optional
            Dims of the repeats of an item. Items count alike, however many samples each has.
        score, weights
            As in `cluster_ci`.
        dim : name, list of names or ..., optional
            What is reduced; by default the dims of the items and the samples, and without ``factor`` those of ``cluster``. (The
            frame's ``by`` has the opposite sense: it names what is kept.)
        baseline, pairs, margin, claim, method, diff_method, correction
            As in `DataFrameAccessor.report`.
        confidence_level, unmatched, nan_policy, n_resamples, rng, nouns, percent, title, not_covered
            As in `DataFrameAccessor.report`.

        Returns
        -------
        Report
            As `DataFrameAccessor.report`.

        Raises
        ------
        EvalCIError
            As the methods that are called, each a class of its own.

        Notes
        -----
        Numbers are those of the methods. Their warnings are part of the report and are not raised besides.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> ds = datasets.load_rag_eval_cube()
        >>> report = ds.evalci.report("doc_id", factor="model", rng=1)
        >>> report
        <Report 'score, clustered by doc_id': 3 rows, 3 comparisons, 0 warnings>
        """
        return _xarray.reports.report(
            self._obj, cluster, factor=factor, item=item, sample=sample, score=score, dim=dim, weights=weights, baseline=baseline,
            pair_list=pairs, unmatched=unmatched, nan_policy=nan_policy,
            options=ReportOptions(
                method=method, diff_method=diff_method, correction=correction, margin=margin, claim=claim,
                confidence_level=confidence_level, n_resamples=n_resamples, rng=rng,
            ),
            wording=Wording(nouns=nouns, percent=percent, title=title, not_covered=not_covered),
        )  # fmt: skip
