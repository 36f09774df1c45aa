"""The report of a DataFrame: a signature, a docstring and one call."""

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


class ReportFrameMethods:
    """The method of ``df.evalci`` that puts the answers of others together."""

    _obj: pd.DataFrame

    def report(
        self,
        cluster: Specs,
        *,
        factor: Spec | None = None,
        item: Specs | None = None,
        sample: Spec | None = None,
        score: Spec = "score",
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
        cluster : label, array_like or list of these
            What the items share, as in `cluster_ci`.
        factor : label or array_like, optional
            What tells the systems apart; with it they are compared, as in `compare`.
        item : label, array_like or list of these, optional
            What tells the items apart; needed with ``factor``, whose systems it pairs. Without it the report speaks of scores,
            since it cannot know whether several are of one item.
        sample : label or array_like, optional
            Number of the repeat of an item, as in `compare`. Items count alike then, however many samples each has, so that a
            difference is that of the scores beside it.
        score, weights
            As in `cluster_ci`.
        by : label, array_like or list of these, optional
            What the rows are, before ``factor``; comparisons are within them.
        baseline, pairs
            Which comparisons, as in `compare`.
        margin, claim
            With a margin the comparisons are those of `diff_ci`, with a verdict.
        method, diff_method
            ``method`` of `cluster_ci` and of `compare`.
        correction : {"holm", "hochberg", "bonferroni", "bh", "by", "none"}
            Of the p-values for their number.
        confidence_level, unmatched, nan_policy, n_resamples, rng
            As in these methods. Without ``rng`` what is drawn differs a little from run to run.
        nouns : tuple of str, optional
            What items and clusters are called, as ``("questions", "documents")``.
        percent : bool, optional
            Whether scores are written in per cent; by default if all numbers lie in [0, 1].
        title : str, optional
            Title of the report.
        not_covered : dict, optional
            What you know about errors that no interval covers, as ``{"label error": "2 of 100 checked by hand"}``. Those that are
            always named are "label error", "prompt choice", "contamination", "other material", "best of many" and "other
            clusterings"; others may be added.

        Returns
        -------
        Report
            Shows itself in a notebook; ``to_html(path)``, ``to_markdown()``, ``to_dict()`` and ``sentence`` give it away.

        Raises
        ------
        EvalCIError
            As the methods that are called, each a class of its own.

        See Also
        --------
        cluster_ci, proportion_ci, design_effect, compare, diff_ci : Each is called once, and those of items as independent.

        Notes
        -----
        Numbers are those of the methods. Their warnings are part of the report and are not raised besides.

        Examples
        --------
        >>> from evalci_accessor import datasets
        >>> df = datasets.load_rag_eval()
        >>> report = df.evalci.report("doc_id", factor="model", item="item", rng=1)
        >>> report
        <Report 'score, clustered by doc_id': 3 rows, 3 comparisons, 0 warnings>
        >>> print(report.sentence[:86])
        On 200 items in 40 clusters of doc_id, atlas scored 69.5 % (95 % interval 58.9 to 78.8
        """
        return _pandas.reports.report(
            self._obj, cluster, factor=factor, item=item, sample=sample, score=score, by=by, weights=weights, baseline=baseline,
            pair_list=pairs, unmatched=unmatched, nan_policy=nan_policy,
            options=ReportOptions(
                method=method, diff_method=diff_method, correction=correction, margin=margin, claim=claim,
                confidence_level=confidence_level, n_resamples=n_resamples, rng=rng,
            ),
            wording=Wording(nouns=nouns, percent=percent, title=title, not_covered=not_covered),
        )  # fmt: skip
