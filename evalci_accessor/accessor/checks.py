"""What checks the other methods and puts them together: `crosscheck` and `report`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Generic

from evalci_accessor.methods import crosscheck
from evalci_accessor.methods import report as reports
from evalci_accessor.options import (
    Claim,
    ClusterMethod,
    Correction,
    CrosscheckOptions,
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


class Checks(Generic[Answer]):
    """The other methods beside statsmodels."""

    _read: Reader[Answer]

    def crosscheck(
        self,
        cluster: Names,
        score: Name = "score",
        *,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        factor: Name | None = None,
        item: Names | None = None,
        pairs: PairList | None = None,
        baseline: Hashable = None,
        sample: Names | None = None,
        against: object = None,
        contrast: object = None,
        confidence_level: float = 0.95,
        tolerance: float = 1e-6,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> Answer:
        r"""Our numbers beside those of statsmodels, or beside a model that you fitted.

        Parameters
        ----------
        cluster : label, array or list of these
            What the items share, as in `cluster_ci`. Ids may have any dtype: statsmodels sees codes. A list,
            as ``["doc_id", "prompt_id"]``, is of crossed clusterings; one whose clusters each lie within one
            of another's is left out with a warning.
        score, by, dim
            As in `cluster_ci`, and with ``factor`` as in `diff_ci`.
        weights : label or array, optional
            Weights >= 0 of the scores, as in `cluster_ci`, or with ``factor`` of the items, as in `diff_ci`;
            a score of weight 0 is absent.
        factor : label or array, optional
            What tells systems apart: the differences of `diff_ci` are checked then, and not the means of
            `cluster_ci`.
        item, pairs, baseline, sample, unmatched
            Of a comparison, as in `diff_ci`; a frame needs ``item`` then.
        against : statsmodels results, optional
            A fitted model, as ``smf.ols("score ~ 1", df).fit(...)``: a further row ``"against"``. For a
            single estimate, so of one key and one pair, or with every dim reduced. A difference that is the
            other way round there is turned, by the level in the name of its coefficient, as ``model[T.b]``,
            or else by its sign, and the note says so.
        contrast : str or array, optional
            Which coefficient of it, or what its ``t_test`` takes. By default the intercept, or of a
            comparison the other of two coefficients.
        confidence_level : float, default 0.95
            Nominal level.
        tolerance : float, default 1e-6
            Relative difference up to which two standard errors agree, and two degrees of freedom; the
            estimates may differ by so much of themselves or of their error.
        nan_policy : {"raise", "omit"}
            What to do about missing scores. ``"omit"`` leaves them out and says how many.

        Returns
        -------
        DataFrame or Dataset
            A row (of a cube: a label of the dim ``estimator``) an estimator: the keys (and ``<factor>_a``,
            ``<factor>_b``), ``estimator``, ``estimate``, ``std_error``, ``ci_low``, ``ci_high``, ``df`` (of
            t's quantile; nan under the normal one), ``note``, ``n`` and ``n_clusters`` (of ``"against"`` the
            rows and clusters of the model; of crossed clusterings the fewest), ``cluster`` (of ``"against"``
            the names of its groups, empty where there are none or statsmodels has lost them), ``package``,
            ``confidence_level``, ``tolerance``, ``estimate_difference`` (theirs minus ours),
            ``compared_with``, ``should_agree`` (whether theory says so, judged from what was fitted and not
            from what came out; a row that should not says why in its note), ``relative_difference`` (of the
            standard errors: theirs over ours, minus 1; below 1e-12 in size it is rounding and becomes 0),
            ``agrees`` and ``status``: ``"agrees"``, ``"differs as expected"``, ``"differs"``, which is the
            alarm, ``"skipped"`` (statsmodels has no numbers that mean anything), or ``"not compared"`` (ours,
            which the rows that are compared with it check).

            Ours are ``"cr0"``, ``"cr1"``, ``"cr2"`` and ``"cr3"``, with which theirs are compared, and
            ``"default"``: where that is CR2 it is compared with ``"ols_cr2"``, and elsewhere its estimate
            alone with that of OLS, so that it stays ``"not compared"`` unless its estimate differs. Theirs
            are ``"ols_cluster"`` (normal quantile), ``"ols_cluster_t"``, ``"ols_cr2"`` (made from what OLS
            holds, since statsmodels has no CR2), ``"glm_binomial_cluster"``, ``"gee_independence"``,
            ``"gee_independence_bias_reduced"`` and ``"gee_exchangeable"``.

        Raises
        ------
        EvalCIError
            The same as in `cluster_ci` and `diff_ci`, each a class of its own: missing scores and ids among
            them.
        MethodError
            An ``against`` that is no fitted model, or of which it is unclear which coefficient is meant.

        Warns
        -----
        EvalCIWarning
            The same as in `cluster_ci` and `diff_ci` by their default method.

        See Also
        --------
        cluster_ci : The interval of a rate.
        diff_ci : The interval of a difference.

        Notes
        -----
        With :math:`r_g = (s_g - p\,m_g)/M` and :math:`h_g = m_g/M`, OLS on a constant has the clustered
        variance :math:`G/(G-1) \sum r_g^2`, which is CR1; CR2, :math:`\sum r_g^2/(1-h_g)`, and Bell and
        McCaffrey's degrees of freedom are worked out from the fit's residuals and hat matrix. A binomial GLM
        has CR1, by the delta method from the logit. GEE with independence has :math:`\sum r_g^2`, CR0, and
        bias-reduced :math:`\sum r_g^2/(1-h_g)^2`, CR3. An exchangeable working correlation :math:`r` weighs
        clusters by :math:`m/(1+(m-1)r)`, so it estimates another mean unless they are equally large.
        Differences are OLS of the items' differences, and models with two rows an item and a system
        indicator, GEE on the scale of the scores; there the working correlation cancels, and GLM's further
        factor :math:`(N-1)/(N-K)` shows. The scores of a rate beyond [0, 1] go without the GLM, and through
        GEE without the logit. Weights make OLS WLS, and go to GLM as ``var_weights`` (``freq_weights`` give
        the same for a constant) and to GEE as ``weights``, but not to its bias-reduced and exchangeable
        kinds, which read them wrongly in statsmodels 0.15; of a difference an item's weight goes to its
        difference, and to both its rows.

        Over two crossed clusterings OLS and GLM have :math:`V_a + V_b - V_{ab}`, each term with its own
        :math:`G/(G-1)`, which is ours, and t the fewest clusters less 1; ``"ols_cr2"`` is that sum of one-way
        CR2, with the fewest degrees of freedom of any. The sum may be negative: statsmodels then has no
        error, while ours is the largest of the clusterings' own, so they should not agree. GEE takes one
        clustering, and OLS and GLM at most two, so of three only ``"ols_cr2"`` is left.

        Where all scores are equal a logit does not exist and nothing varies; statsmodels may call that
        converged and show an error, so no numbers of GLM and GEE are shown. GEE is skipped above 1,000,000
        rows or 100,000 clusters of a key, and bias-reduced where the cubes of the cluster sizes add up to
        more than 1e11, since it solves a system of each cluster's size (a difference has two rows an item).

        References
        ----------
        Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with
        multi-stage samples. Survey Methodology 28, 169-181.

        Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering.
        Journal of Business & Economic Statistics 29, 238-249. https://doi.org/10.1198/jbes.2010.07136

        Cameron, A. C. and Miller, D. L. (2015). A practitioner's guide to cluster-robust inference. Journal
        of Human Resources 50, 317-372. https://doi.org/10.3368/jhr.50.2.317

        Liang, K.-Y. and Zeger, S. L. (1986). Longitudinal data analysis using generalized linear models.
        Biometrika 73, 13-22. https://doi.org/10.1093/biomet/73.1.13

        Mancl, L. A. and DeRouen, T. A. (2001). A covariance estimator for GEE with improved small-sample
        properties. Biometrics 57, 126-134. https://doi.org/10.1111/j.0006-341x.2001.00126.x

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'")
        >>> answer = df.evalci.crosscheck("doc_id")
        >>> answer[["estimator", "std_error", "compared_with", "status"]].round(4)
                                    estimator  std_error  compared_with        status
        0                             cr0     0.0480            cr0  not compared
        1                             cr1     0.0486            cr1  not compared
        2                             cr2     0.0486            cr2  not compared
        3                             cr3     0.0492            cr3  not compared
        4                         default     0.0483  ols_cluster_t  not compared
        5                     ols_cluster     0.0486            cr1        agrees
        6                   ols_cluster_t     0.0486            cr1        agrees
        7                         ols_cr2     0.0486            cr2        agrees
        8            glm_binomial_cluster     0.0486            cr1        agrees
        9                gee_independence     0.0480            cr0        agrees
        10  gee_independence_bias_reduced     0.0492            cr3        agrees
        11               gee_exchangeable     0.0480            cr0        agrees

        A model of one's own, which takes the items as independent:

        >>> import statsmodels.formula.api as smf
        >>> answer = df.evalci.crosscheck("doc_id", against=smf.ols("score ~ 1", df).fit())
        >>> row = answer[answer.estimator == "against"].iloc[0]
        >>> print(f"{row.relative_difference:.0%} beside {row.compared_with}, {row.status}: {row.note}")
        -33% beside cr1, differs as expected: it takes the items as independent (cov_type='nonrobust'); t(199)
        of rows less coefficients (N-K), ours t(39)

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> answer = ds.evalci.crosscheck("doc_id")
        >>> answer.std_error.sel(estimator=["cr1", "ols_cluster_t"]).round(4).values.tolist()
        [[0.0486, 0.0486], [0.0433, 0.0433], [0.0422, 0.0422]]
        """
        return crosscheck.crosscheck(self._read, Roles.of(locals()), CrosscheckOptions.of(locals()))


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
        n: Name | None = None,
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
        score, weights, n
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
            self._read, Roles.of(locals()), ReportOptions.of(locals()), Wording.of(locals())
        )
