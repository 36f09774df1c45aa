"""The report of a Series: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import ReportOptions, Wording
from evalci_accessor._pandas.paired_accessor import Pairs, Spec, Specs
from evalci_accessor.options import Claim, ClusterMethod, Correction, DiffMethod, NanPolicy, Unmatched

if TYPE_CHECKING:
    from evalci_accessor.report import Report


class ReportSeriesMethods:
    """The method of ``s.evalci`` that puts the answers of others together."""

    _obj: pd.Series

    def report(
        self,
        cluster: Specs,
        *,
        factor: Spec | None = None,
        item: Specs | None = None,
        sample: Spec | None = None,
        by: Specs | None = None,
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
        cluster, factor, item, sample, by, weights, baseline, pairs, margin, claim, method, diff_method, correction
            Index levels, Series with the same index, or arrays by position, where they name something.
        confidence_level, unmatched, nan_policy, n_resamples, rng, nouns, percent, title, not_covered
            As in `DataFrameAccessor.report`.

        Returns
        -------
        Report
            As `DataFrameAccessor.report`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.report`.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> scores = datasets.load_rag_eval().set_index(["model", "item", "doc_id"])["score"]
        >>> scores.evalci.report("doc_id", by="model").title
        'score, clustered by doc_id'
        """
        return _pandas.reports.report(
            self._obj, cluster, factor=factor, item=item, sample=sample, score=self._obj, by=by, weights=weights, baseline=baseline,
            pair_list=pairs, unmatched=unmatched, nan_policy=nan_policy,
            options=ReportOptions(
                method=method, diff_method=diff_method, correction=correction, margin=margin, claim=claim,
                confidence_level=confidence_level, n_resamples=n_resamples, rng=rng,
            ),
            wording=Wording(nouns=nouns, percent=percent, title=title, not_covered=not_covered),
        )  # fmt: skip
