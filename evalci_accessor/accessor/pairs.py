"""Two systems on the same items: a signature, a docstring and one call a method."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic

from evalci_accessor.methods import pairs as methods
from evalci_accessor.options import (
    Alternative,
    Claim,
    CompareOptions,
    CompareTest,
    Correction,
    DiffMethod,
    DiffOptions,
    Dims,
    Labels,
    Name,
    Names,
    NanPolicy,
    PairList,
    PairTestMethod,
    Roles,
    TestOptions,
    Unmatched,
)
from evalci_accessor.read import Answer, Reader


class Pairs(Generic[Answer]):
    """Two systems on the same items: tests, differences and tables of all pairs."""

    _read: Reader[Answer]

    def mcnemar(
        self,
        factor: Name,
        item: Names | None = None,
        cluster: Names | None = None,
        score: Name = "score",
        *,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        method: PairTestMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: PairList | None = None,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> Answer:
        r"""Whether two systems differ on the same items: McNemar's test, with clusters or without.

        Parameters
        ----------
        factor, item, cluster, by, dim
            As in `diff_ci`.
        score : label or array, default "score"
            The scores, 0 or 1, numbers or booleans.
        weights : label or array, optional
            How much each item counts: >= 0, one weight an item whichever system answers it, on any scale. An
            item of weight 0 is absent. The estimates become weighted means. Weights are no counts: 2 does not
            mean that an item was seen twice.
        method : str, default "auto"
            ``"auto"`` is ``"exact"`` without a cluster and ``"icc_averaged"`` with one. For independent
            items: ``"exact"``, ``"midp"``, ``"asymptotic"``, ``"corrected"``. With a cluster:
            ``"icc_averaged"``, ``"obuchowski"``, ``"durkalski"``, ``"yang"``, ``"eliasziw"``, and
            ``"sign_flip"``, a randomisation test of exchangeable systems. The former refuse a cluster, the
            latter need one. Of these ``"asymptotic"`` (then the default), ``"icc_averaged"``,
            ``"obuchowski"``, ``"durkalski"``, ``"yang"`` and ``"sign_flip"`` take weights.
        alternative : {"two-sided", "less", "greater"}
            About the difference: ``"greater"`` that the first system is better.
        baseline, pairs, unmatched, nan_policy
            As in `diff_ci`.
        n_resamples : int, default 9999
            Sign flips that are drawn where there are too many to go through.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Randomness of these: the same seed gives the same numbers, whatever the order of the rows.

        Returns
        -------
        DataFrame or Dataset
            A row (of a cube: a label of the dim ``pair``) a pair: the keys, ``<factor>_a`` and
            ``<factor>_b``, ``estimate_a``, ``estimate_b``, ``difference``, ``n_pairs`` (items),
            ``n_clusters``, ``cluster``, the items that ``both_pass``, ``only_a``, ``only_b``, ``both_fail``
            (counts, also under weights), ``statistic``, ``pvalue``, ``alternative``, ``null`` (what is
            tested) and ``method`` (what ran).

        Raises
        ------
        EvalCIError
            The same as in `diff_ci`, each a class of its own.

        Warns
        -----
        EvalCIWarning
            As in `diff_ci`.

        See Also
        --------
        diff_ci : By how much they differ.
        compare : All pairs, corrected for their number.

        Notes
        -----
        Only items on which the systems differ count: with :math:`b` items that only the first passes and
        :math:`c` that only the second passes, the exact test is binomial,
        :math:`p = \min(1, 2 P(X \le \min(b, c)))` with :math:`X \sim B(b + c, 1/2)`; mid-p takes half of the
        probability of what was observed off; the asymptotic statistic is :math:`(b - c)^2/(b + c)`. They
        assume independent items. With clusters the default is Tango's score test at the effective sample size
        :math:`n_k`, averaged over the posterior of the intracluster correlation of the item differences; it
        assumes that clusters are independent and exchangeable given their sizes. Without a discordant item p
        is 1. With weights the asymptotic statistic is :math:`(\sum w d)^2/\sum w^2 d^2`, and the default
        counts items by Kish's effective numbers.

        References
        ----------
        McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or
        percentages. Psychometrika 12, 153-157. https://doi.org/10.1007/BF02295996

        Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary matched-pairs data:
        mid-p and asymptotic are better than exact conditional. BMC Medical Research Methodology 13, 91.
        https://doi.org/10.1186/1471-2288-13-91

        Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the
        paired-sample design. Statistics in Medicine 17, 891-908.

        Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering.
        Journal of Business & Economic Statistics 29, 238-249. https://doi.org/10.1198/jbes.2010.07136

        Eliasziw, M. and Donner, A. (1991). Application of the McNemar test to non-independent matched pair
        data. Statistics in Medicine 10, 1981-1991. https://doi.org/10.1002/sim.4780101211

        Obuchowski, N. A. (1998). On the comparison of correlated proportions for clustered data. Statistics
        in Medicine 17, 1495-1507.

        Durkalski, V. L., Palesch, Y. Y., Lipsitz, S. R. and Rust, P. F. (2003). Analysis of clustered
        matched-pair data. Statistics in Medicine 22, 2417-2428. https://doi.org/10.1002/sim.1438

        Yang, Z., Sun, X. and Hardin, J. W. (2010). A note on the tests for clustered matched-pair binary
        data. Biometrical Journal 52, 638-652. https://doi.org/10.1002/bimj.201000035

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> answer = df.evalci.mcnemar("model", item="item", cluster="doc_id", pairs=[("boreal", "atlas")])
        >>> answer[["model_a", "model_b", "difference", "only_a", "only_b", "pvalue", "method"]].round(3)
          model_a model_b  difference  only_a  only_b  pvalue        method
        0  boreal   atlas        0.06      42      30   0.256  icc_averaged

        Of a cube, whose items are those of its dims:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> ds.evalci.mcnemar("model", cluster="doc_id").pvalue.round(3).values
        array([0.256, 0.176, 0.011])
        """
        return methods.mcnemar(self._read.pairs(Roles.of(locals()), averages=False), TestOptions.of(locals()))

    def diff_ci(
        self,
        factor: Name,
        item: Names | None = None,
        cluster: Names | None = None,
        score: Name = "score",
        *,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        margin: float | None = None,
        claim: Claim | None = None,
        method: DiffMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: PairList | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> Answer:
        r"""By how much two systems differ on the same items, with a verdict against a margin.

        Parameters
        ----------
        factor : label or array
            What tells the systems apart, such as the model: a column or index level of a frame, a dim of a
            cube or a coordinate along it, or an array as in `cluster_ci`. A difference is the first system of
            a pair minus the second.
        item : label, array or list of these
            What tells the questions apart, the same for all systems. Where ids are local to something, a list
            of both, as ``["task", "item"]``. For a frame it has to be named. For a cube it is dims, or
            coordinates along them; by default the dims of ``cluster``, or the one dim that is left.
        cluster : label, array or list of these, optional
            What the items share: a document, a task, a template. An item lies in one cluster. A list names
            crossed clusterings, as ``["doc_id", "prompt_id"]``; of nested ones the coarsest counts, and a
            warning says so. In a cube it may vary along dims that stay.
        score : label or array, default "score"
            The scores, numbers or booleans. Fractions are welcome. A Series or DataArray is its own score.
        sample : label or array, optional
            What numbers repeats of an item under one system (for a cube a dim, or several); they are averaged
            within the item.
        by : label, array or list of these, optional
            What the rows (of a cube: the dims) of the answer are, besides the pairs; systems are compared
            within each.
        dim : name, list of names or ..., optional
            Of a cube, what is reduced instead; every other dim stays. By default the dims of the items and
            the samples. A frame has none.
        weights : label or array, optional
            How much each item counts, as in `mcnemar`; in a cube it may vary along the items and the dims
            that stay.
        margin : float, optional
            Difference >= 0, in the units of the scores, up to which one system counts as no worse, or the two
            as the same.
        claim : {"superiority", "noninferiority", "equivalence"}, optional
            What the verdict is about, for the first system. By default superiority without a margin
            (two-sided), and noninferiority with one.
        method : str, default "auto"
            ``"auto"`` is, for scores of 0 and 1, ``"tango"`` without a cluster and ``"icc_averaged"`` with
            one, and for others ``"cr2"`` (t with Satterthwaite's degrees of freedom). Further, for
            independent items: ``"newcombe"``, ``"bonett_price"``, ``"agresti_min"`` (not with weights); for
            all: ``"cr0"``, ``"cr1"``, ``"cr3"``, ``"bootstrap_percentile"``, and for crossed clusterings
            ``"bootstrap_pigeonhole"``.
        alternative : {"two-sided", "less", "greater"}
            About the difference: ``"greater"`` that the first system is better, with a lower limit only;
            ``"less"`` with an upper one.
        baseline : optional
            A level of ``factor``: every other system minus this one.
        pairs : list of tuple, optional
            The pairs to compare, as ``[("new", "old")]``. With neither, all pairs in order of first
            appearance.
        confidence_level : float, default 0.95
            Nominal level.
        unmatched : {"raise", "drop"}
            What to do about items that only one system of a pair has. ``"drop"`` compares the common ones and
            says how many fell out.
        nan_policy : {"raise", "omit"}
            What to do about missing scores. ``"omit"`` leaves them out and says how many.
        n_resamples : int, default 9999
            Resamples of the bootstrap.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Randomness of these: the same seed gives the same numbers, whatever the order of the rows.

        Returns
        -------
        DataFrame or Dataset
            A row (of a cube: a label of the dim ``pair``) a pair: the keys, ``<factor>_a`` and
            ``<factor>_b``, ``estimate_a``, ``estimate_b``, ``difference``, ``std_error``, ``ci_low``,
            ``ci_high``, ``n_pairs`` (items), ``n_clusters``, ``cluster``, ``both_pass``, ``only_a``,
            ``only_b``, ``both_fail`` (items, counted without weights; nan where scores are not 0 or 1),
            ``statistic``, ``pvalue`` (of no difference), ``alternative``, ``margin``, ``claim``, ``verdict``
            (superior, inferior, noninferior, equivalent, different or inconclusive, of the first system),
            ``pvalue_verdict``, ``method`` and ``confidence_level``. Of a cube ``.to_dataframe()`` gives the
            frame's columns.

        Raises
        ------
        PairingError
            An item that only one system has, two scores for one item and system, a single system, a missing
            name or id.
        ColumnNotFoundError, AmbiguousNameError, AlignmentError, DimensionError
            A name, array or dim that does not fit.
        ScoreTypeError, ScoreRangeError, MissingScoreError, ScoreError
            Scores that are text, outside the method's range, missing, or infinite.
        ClusterError, MissingClusterError
            A single cluster, an item in two clusters, or scores without a cluster id.
        WeightError, MethodError
            Weights that cannot be used, or that a method does not take; options that do not exist or do not
            go together.

        Warns
        -----
        EvalCIWarning
            A class of its own for each: few or dominating clusters, few items on which the systems differ,
            items or scores left out at your request.

        See Also
        --------
        mcnemar : The test alone, in all its forms.
        compare : All pairs, corrected for their number.

        Notes
        -----
        With clusters the default inverts Tango's score test at the effective sample size
        :math:`n_k = M/(1 + (M/G^* - 1)\rho_k)`, :math:`G^* = M^2/\sum m_g^2`, averaged over the posterior of
        the intracluster correlation :math:`\rho` of the item differences (six clusters or more of one item:
        Tango's own). It assumes that clusters are independent and exchangeable given their sizes. The verdict
        is given where ``pvalue_verdict`` is at most 1 - ``confidence_level``: of one one-sided test for
        noninferiority, and for superiority by more than a margin; of both one-sided tests (TOST) for
        equivalence. It takes more as better (else pass 1 - score); pairs are not corrected for.

        With weights sizes are sums of weights, and items count as Kish's effective number
        :math:`(\sum w)^2/\sum w^2` of them, or fewer where heavy items disagree more. With crossed
        clusterings the share of the items is
        :math:`1/(1 + \sum_a e_a\rho_a - \sum_{a<b} e_{ab}\bar\rho_{ab} + \dots)`, :math:`e = n/G^* - 1`,
        averaged over the posteriors of all ICCs; the variance of ``"cr0"`` to ``"cr3"`` is
        :math:`V_a + V_b - V_{ab}` (Cameron, Gelbach and Miller).

        References
        ----------
        Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the
        paired-sample design. Statistics in Medicine 17, 891-908.

        Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial proportions
        based on paired data. Statistics in Medicine 17, 2635-2650.

        Bonett, D. G. and Price, R. M. (2012). Adjusted Wald confidence interval for a difference of binomial
        proportions based on paired data. Journal of Educational and Behavioral Statistics 37, 479-488.
        https://doi.org/10.3102/1076998611411915

        Agresti, A. and Min, Y. (2005). Simple improved confidence intervals for comparing matched
        proportions. Statistics in Medicine 24, 729-740. https://doi.org/10.1002/sim.1781

        Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with
        multi-stage samples. Survey Methodology 28, 169-181.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> answer = df.evalci.diff_ci("model", "item", "doc_id", pairs=[("boreal", "atlas")], margin=0.05)
        >>> answer[["model_a", "model_b", "difference", "ci_low", "ci_high", "claim", "verdict"]].round(3)
          model_a model_b  difference  ci_low  ci_high           claim      verdict
        0  boreal   atlas        0.06  -0.045    0.165  noninferiority  noninferior

        Of a cube, whose items are those of its dims:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> ds.evalci.diff_ci("model", cluster="doc_id").difference.round(3).values
        array([-0.06 ,  0.075,  0.135])
        """
        return methods.diff_ci(self._read.pairs(Roles.of(locals())), DiffOptions.of(locals()))

    def compare(
        self,
        factor: Name,
        item: Names | None = None,
        cluster: Names | None = None,
        score: Name = "score",
        *,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        baseline: Hashable = None,
        pairs: PairList | None = None,
        method: DiffMethod = "auto",
        test: CompareTest = "auto",
        correction: Correction = "holm",
        correction_within: Labels | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> Answer:
        r"""All pairs of systems in one table, corrected for their number, most evidence first.

        Parameters
        ----------
        factor, item, cluster, score, sample, by, dim, weights, baseline, pairs, method
            As in `diff_ci`.
        test : {"auto", "exact", "midp", "interval"}
            Where p-values come from: McNemar's exact test or its mid-p, for independent items and scores of 0
            and 1, or the law of the interval. ``"auto"`` is ``"exact"`` where it applies, without weights.
        correction : {"holm", "hochberg", "bonferroni", "bh", "by", "none"}
            Of the p-values for their number: ``"holm"`` bounds the chance of any false finding, ``"bh"`` the
            expected share of false ones.
        correction_within : label or list of labels, optional
            Keys of ``by`` (of a cube: dims that stay) within each of which the correction runs on its own; by
            default it runs over the whole table.
        confidence_level, unmatched, nan_policy
            As in `diff_ci`.
        n_resamples : int, default 9999
            Draws for the simultaneous limits, and resamples of the bootstrap.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Randomness of these: the same seed gives the same numbers, whatever the order of the rows.

        Returns
        -------
        DataFrame or Dataset
            A row (of a cube: a label of the dim ``pair``) a pair, the smallest p-value first: the keys,
            ``<factor>_a`` and ``<factor>_b``, ``estimate_a``, ``estimate_b``, ``difference``, ``std_error``,
            ``ci_low``, ``ci_high``, ``n_pairs`` (items), ``n_clusters``, ``cluster``, ``both_pass``,
            ``only_a``, ``only_b``, ``both_fail`` (items; nan where scores are not 0 or 1), ``statistic``,
            ``pvalue``, ``pvalue_adj``, ``simultaneous_low``, ``simultaneous_high``, ``test``, ``correction``,
            ``method`` and ``confidence_level``.

        Raises
        ------
        EvalCIError
            The same as in `diff_ci`, each a class of its own.

        Warns
        -----
        EvalCIWarning
            As in `diff_ci`.

        See Also
        --------
        diff_ci : One pair, with a verdict against a margin.

        Notes
        -----
        The interval of each pair is that of `diff_ci`, and with clusters so is its p-value. The correction
        runs over all rows of the table, so that a table by language is corrected for all its languages at
        once; ``correction_within`` says otherwise. The simultaneous limits hold together within such a
        family: sup-t, :math:`P(\max_j |t_j| \le c) = ` the level, with the quantile :math:`c` from a
        multiplier bootstrap over whole clusters, which knows how the pairs hang together.

        References
        ----------
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
        Statistics 6, 65-70.

        Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful
        approach to multiple testing. Journal of the Royal Statistical Society B 57, 289-300.
        https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

        Montiel Olea, J. L. and Plagborg-Moller, M. (2019). Simultaneous confidence bands: theory,
        implementation, and an application to SVARs. Journal of Applied Econometrics 34, 1-17.
        https://doi.org/10.1002/jae.2656

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> answer = df.evalci.compare("model", item="item", cluster="doc_id", rng=1)
        >>> answer[["model_a", "model_b", "difference", "ci_low", "ci_high", "pvalue_adj"]].round(3)
          model_a  model_b  difference  ci_low  ci_high  pvalue_adj
        0  boreal  cascade       0.135   0.032    0.236       0.034
        1   atlas  cascade       0.075  -0.035    0.183       0.351
        2   atlas   boreal      -0.060  -0.165    0.045       0.351

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> answer = ds.evalci.compare("model", cluster="doc_id", rng=1)
        >>> answer.model_a.values.tolist(), answer.pvalue_adj.round(3).values.tolist()
        (['boreal', 'atlas', 'atlas'], [0.034, 0.351, 0.351])
        """
        return methods.compare(self._read.pairs(Roles.of(locals())), CompareOptions.of(locals()))
