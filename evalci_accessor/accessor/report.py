"""The report: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Generic

from evalci_accessor.methods import report as reports
from evalci_accessor.options import (
    Claim,
    ClusterMethod,
    Correction,
    DiffMethod,
    Dims,
    Name,
    Names,
    NanPolicy,
    PairList,
    ReportOptions,
    Roles,
    Unmatched,
    Wording,
)
from evalci_accessor.read import Answer, Reader

if TYPE_CHECKING:
    from evalci_accessor.report import Report


class Reports(Generic[Answer]):
    """The answers of the other methods, put together."""

    _read: Reader[Answer]

    def report(
        self,
        cluster: Names,
        score: Name = "score",
        *,
        factor: Name | None = None,
        item: Names | None = None,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        baseline: Hashable = None,
        pairs: PairList | None = None,
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
        r"""One report of scores, comparisons, clustering, warnings and what is not covered.

        Parameters
        ----------
        cluster : label, array or list of these
            What the items share, as in `cluster_ci`.
        factor : label or array, optional
            What tells the systems apart; with it they are compared, as in `compare`.
        item : label, array or list of these, optional
            What tells the items apart; a frame needs it with ``factor``, whose systems it pairs. Without it
            the report speaks of scores, since it cannot know whether several are of one item.
        sample : label or array, optional
            Number of the repeat of an item, as in `compare`. Items count alike then, however many samples
            each has, so that a difference is that of the scores beside it.
        score, weights
            As in `cluster_ci`.
        by : label, array or list of these, optional
            What the rows (of a cube: the dims) of the answer are, before ``factor``; comparisons are within
            them.
        dim : name, list of names or ..., optional
            Of a cube, what is reduced instead; every other dim stays. By default the dims of the items and
            the samples, and without ``factor`` those of ``cluster``. A frame has none.
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
            What you know about errors that no interval covers, as
            ``{"label error": "2 of 100 checked by hand"}``. Those that are always named are "label error",
            "prompt choice", "contamination", "other material", "best of many" and "other clusterings"; others
            may be added.

        Returns
        -------
        Report
            Shows itself in a notebook; ``to_html(path)``, ``to_markdown()``, ``to_dict()`` and ``sentence``
            give it away.

        Raises
        ------
        EvalCIError
            As the methods that are called, each a class of its own.

        See Also
        --------
        cluster_ci, proportion_ci, design_effect, compare, diff_ci : What it calls, once each.

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

        Of a cube:

        >>> datasets.load_rag_eval_cube().evalci.report("doc_id", factor="model", rng=1)
        <Report 'score, clustered by doc_id': 3 rows, 3 comparisons, 0 warnings>
        """
        return reports.report(
            self._read,
            Roles(
                cluster=cluster,
                score=score,
                factor=factor,
                item=item,
                sample=sample,
                by=by,
                dim=dim,
                weights=weights,
                baseline=baseline,
                pairs=pairs,
                unmatched=unmatched,
                nan_policy=nan_policy,
            ),
            ReportOptions(
                method=method,
                diff_method=diff_method,
                correction=correction,
                margin=margin,
                claim=claim,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            ),
            Wording(nouns=nouns, percent=percent, title=title, not_covered=not_covered),
        )
