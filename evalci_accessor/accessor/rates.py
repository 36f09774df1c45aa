"""Rates: a signature, a docstring and one call a method."""

from __future__ import annotations

from typing import Generic

from evalci_accessor.methods import rates
from evalci_accessor.options import (
    Alternative,
    ClusterMethod,
    DegreesOfFreedom,
    Dims,
    IccMethod,
    IccOptions,
    Name,
    Names,
    NanPolicy,
    ProportionMethod,
    RateOptions,
    Roles,
)
from evalci_accessor.read import Answer, Reader


class Rates(Generic[Answer]):
    """Rates: intervals and design effects."""

    _read: Reader[Answer]

    def proportion_ci(
        self,
        score: Name = "score",
        *,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        n: Name | None = None,
        method: ProportionMethod = "wilson",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> Answer:
        r"""Textbook interval of a pass rate, which takes every score as independent.

        Parameters
        ----------
        score : label or array, default "score"
            Scores in [0, 1]. Labels and arrays are as in `cluster_ci`.
        by : label, array or list of these, optional
            What the rows (of a cube: the dims) of the answer are, as in `cluster_ci`.
        dim : name, list of names or ..., optional
            Of a cube, what is reduced instead; a frame has none. It may be left out where the scores have one
            dim.
        weights : label or array, optional
            How much each score counts, >= 0, on any scale; a score of weight 0 is absent. They are no counts.
        n : label or array, optional
            Numbers of scores, where each row (cell) is a count: ``score`` of ``n`` passed. The answer is that of a
            row a score; not with ``weights``.
        method : {"wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull"}
            Which interval.
        alternative : {"two-sided", "less", "greater"}
            ``"greater"`` gives a lower limit (the upper is 1), ``"less"`` an upper one (the lower is 0).
        confidence_level : float, default 0.95
            Nominal level.
        nan_policy : {"raise", "omit"}
            What to do about missing scores. ``"omit"`` leaves them out and says how many.

        Returns
        -------
        DataFrame or Dataset
            As in `cluster_ci`. Here every score counts as a cluster of its own.

        Raises
        ------
        ColumnNotFoundError, AmbiguousNameError, AlignmentError, DimensionError
            A name, array or dim that does not fit.
        ScoreTypeError, ScoreRangeError, MissingScoreError, ScoreError
            Scores that are text, outside [0, 1], missing, or infinite.
        WeightError
            Weights that cannot be used.

        See Also
        --------
        cluster_ci : The interval to report where items come in clusters.

        Notes
        -----
        Wilson: :math:`(p + z^2/2n \pm z\sqrt{p(1-p)/n + z^2/4n^2})/(1 + z^2/n)`. It assumes independent
        items; with clusters it is too narrow by ``design_effect().width_ratio``. For scores between 0 and 1
        it is conservative. With weights n is Kish's effective number of scores :math:`(\sum w)^2/\sum w^2`,
        or :math:`p(1-p)/V` if that is less, with :math:`V = \sum w^2(y-p)^2/(\sum w)^2`; ``"wald"`` uses V
        itself for scores of 0 and 1. ``std_error`` is :math:`\sqrt{V n/(n-1)}` of the n scores, as survey
        software has it.

        References
        ----------
        Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion.
        Statistical Science 16, 101-133. https://doi.org/10.1214/ss/1009213286

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> df.evalci.proportion_ci(by="model")[["model", "estimate", "ci_low", "ci_high", "n"]].round(3)
             model  estimate  ci_low  ci_high    n
        0    atlas     0.695   0.628    0.755  200
        1   boreal     0.755   0.691    0.809  200
        2  cascade     0.620   0.551    0.684  200

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> ds.evalci.proportion_ci(dim="item").estimate.values
        array([0.695, 0.755, 0.62 ])
        """
        return rates.proportion_ci(self._read.scores(Roles.of(locals())), RateOptions.of(locals()))

    def cluster_ci(
        self,
        cluster: Names,
        score: Name = "score",
        *,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        n: Name | None = None,
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> Answer:
        r"""Interval of a pass rate (or mean score) whose items come in clusters.

        Parameters
        ----------
        cluster : label, array or list of these
            What the items share: a document, a conversation, a template. A label is a column or index level
            of a frame, or a coordinate or variable of a cube. An array is a Series with the frame's index, an
            array by position, or a DataArray along dims of the cube. A list names crossed clusterings, as
            ``["doc_id", "prompt_id"]``: scores that share any of their ids are dependent. Of nested ones the
            coarsest counts, and a warning says so.
        score : label or array, default "score"
            The scores, numbers or booleans. Fractions are welcome. A Series or DataArray is its own score.
        by : label, array or list of these, optional
            What the rows (of a cube: the dims) of the answer are, in order of first appearance. A missing key
            is a key of its own.
        dim : name, list of names or ..., optional
            Of a cube, what is reduced instead; every other dim stays. By default the dims of ``cluster``. A
            frame has none.
        weights : label or array, optional
            Weights >= 0; their scale does not matter and a score of weight 0 is absent. The estimate is the
            weighted (Hajek) mean, its variance the linearised one.
        n : label or array, optional
            Numbers of scores, where each row (cell) is a count: ``score`` of ``n`` passed. The answer is that of a
            row a score; not with ``weights``.
        method : str, default "auto"
            ``"auto"`` is ``"icc_averaged"`` for scores in [0, 1] and ``"cr2"`` for others. Further:
            ``"cr0"``, ``"cr1"``, ``"cr2"``, ``"cr3"`` (t); ``"wald"``, ``"wilson"``, ``"clopper_pearson"`` on
            the effective sample size with t; ``"logit"``; ``"korn_graubard"``; ``"bootstrap_percentile"``,
            ``"bootstrap_bca"``, ``"bootstrap_t"``, and ``"bootstrap_exact"`` (equal sizes and whole scores
            only), and for crossed clusterings ``"bootstrap_pigeonhole"``.
        df : {"auto", "clusters", "satterthwaite"}
            Degrees of freedom of the methods with a t quantile: G - 1, or Bell and McCaffrey's; ``"auto"``
            takes the latter for ``"cr2"`` and the former elsewhere. Of crossed clusterings the fewest count.
        alternative : {"two-sided", "less", "greater"}
            ``"greater"`` gives a lower limit only, ``"less"`` an upper one.
        confidence_level : float, default 0.95
            Nominal level.
        nan_policy : {"raise", "omit"}
            What to do about missing scores: an item that was never run is not a failure. ``"omit"`` leaves
            them out and says how many.
        n_resamples : int, default 9999
            Resamples of the bootstrap methods that draw.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Randomness of these methods: the same seed gives the same numbers, whatever the order of the rows.

        Returns
        -------
        DataFrame or Dataset
            The keys, then ``estimate`` (the mean of the scores; no method moves it), ``std_error``,
            ``ci_low``, ``ci_high``, ``df``, ``n`` (scores), ``n_clusters``, ``cluster`` (name), ``icc``,
            ``design_effect``, ``n_eff`` (effective sample size), ``method`` (what ran) and
            ``confidence_level``. Of crossed clusterings ``cluster`` is ``"doc_id + prompt_id"``,
            ``n_clusters`` that of the one with the fewest, and ``icc`` nan, since each has its own. Of a cube
            these are variables over the dims that stay; with one or more, ``.to_dataframe()`` gives the
            frame's answer.

        Raises
        ------
        ColumnNotFoundError, AmbiguousNameError, AlignmentError, DimensionError
            A name, array or dim that does not fit.
        ScoreTypeError, ScoreRangeError, MissingScoreError, ScoreError
            Scores that are text, outside the method's range, missing, or infinite.
        ClusterError, MissingClusterError
            A single cluster, or scores without a cluster id.
        WeightError, MethodError
            Weights or options that cannot be used.

        Warns
        -----
        EvalCIWarning
            A class of its own for each: few or dominating clusters, a rate of 0 or 1, a rare outcome, rates
            that go with sizes, clusters of one item, a variance of zero, a bootstrap where it is unreliable,
            clusterings that are nested, a crossed variance that is negative or too small, scores left out,
            scores that look like marks, ids that look alike. Each names its group; the interval is given all
            the same.

        See Also
        --------
        design_effect : How clustered the scores are, and by what.

        Notes
        -----
        The default solves :math:`\sum_k w_k I_L(p n_k, (1-p) n_k + 1) = \alpha/2` for the lower limit and the
        mirror image for the upper: the tail of Clopper and Pearson at the effective sample size
        :math:`n_k = M/(1 + (M/G^* - 1)\rho_k)`, averaged over the posterior :math:`w_k` of the intracluster
        correlation :math:`\rho`, with :math:`G^* = M^2/\sum m_g^2`. It assumes that clusters are independent
        and exchangeable given their sizes; a guard widens it where rates go with sizes.

        Crossed clusterings take the variance :math:`V_a + V_b - V_{ab}` (Cameron, Gelbach and Miller), and
        the least degrees of freedom. The default averages over the posteriors of all their ICCs, with
        :math:`\mathrm{Deff} = 1 + \sum_a e_a\rho_a - \sum_{a<b} e_{ab}\bar\rho_{ab} + \dots`,
        :math:`e = M/G^* - 1`, in place of one. It assumes that the clusters of each clustering are
        independent.

        References
        ----------
        Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected
        number of positive counts estimated from survey data. Survey Methodology 24, 193-201.

        Pustejovsky, J. E. and Tipton, E. (2018). Small-sample methods for cluster-robust variance estimation
        and hypothesis testing in fixed effects models. Journal of Business & Economic Statistics 36, 672-683.
        https://doi.org/10.1080/07350015.2016.1247004

        Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering.
        Journal of Business & Economic Statistics 29, 238-249. https://doi.org/10.1198/jbes.2010.07136

        Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1, 386-411.
        https://doi.org/10.1214/07-AOAS122

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> answer = df.evalci.cluster_ci("doc_id", by="model")
        >>> answer[["model", "estimate", "ci_low", "ci_high", "n", "n_clusters", "n_eff"]].round(3)
             model  estimate  ci_low  ci_high    n  n_clusters    n_eff
        0    atlas     0.695   0.589    0.788  200          40   90.870
        1   boreal     0.755   0.659    0.836  200          40  100.510
        2  cascade     0.620   0.532    0.702  200          40  136.292

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> ds.evalci.cluster_ci("doc_id").ci_low.round(3).values
        array([0.589, 0.659, 0.532])
        """
        return rates.cluster_ci(self._read.clustered(Roles.of(locals())), RateOptions.of(locals()))

    def design_effect(
        self,
        cluster: Names | None = None,
        score: Name = "score",
        *,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        n: Name | None = None,
        icc_method: IccMethod = "anova",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> Answer:
        r"""How clustered the scores are, by what, and how far too narrow a naive interval is.

        Parameters
        ----------
        cluster : label, array or list of these, optional
            One clustering, or several to compare. With none, everything that repeats its values is tried: the
            columns and index levels of a frame, except the score, the keys and the weights, and the
            coordinates and variables along the reduced dims of a cube; yes/no values and fractional
            measurements are passed over. Several that are named have a further row for all that are crossed,
            together, as ``"doc_id + prompt_id"``.
        score, by, dim, weights, n, nan_policy
            As in `cluster_ci`; of a cube the dims of all the clusterings are reduced by default.
        icc_method : {"anova", "fleiss_cuzick", "pairwise", "posterior"}
            Estimator of the ICC; ``"posterior"`` is the mean of the posterior over which the default interval
            averages.
        confidence_level : float, default 0.95
            Level of the ICC's interval.

        Returns
        -------
        DataFrame or Dataset
            For each key one row (of a cube: a dim ``cluster``), the largest design effect first: ``cluster``,
            ``icc``, ``icc_low``, ``icc_high``, ``design_effect``, ``n_eff``, ``width_ratio`` (how many times
            too narrow an interval for independent items is), ``n``, ``n_clusters``, ``effective_clusters``
            (Kish's), ``largest_share``, ``size_min``, ``size_median``, ``size_max``, ``icc_method``,
            ``confidence_level``.

        Raises
        ------
        EvalCIError
            The same as in `cluster_ci`, each a class of its own.

        See Also
        --------
        cluster_ci : The interval.

        Notes
        -----
        :math:`\mathrm{Deff} = 1 + (\sum m_g^2/M - 1)\max(\rho, 0)`, and ``width_ratio`` is its root. The
        ANOVA estimate is :math:`(MSB - MSW)/(MSB + (n_0 - 1)MSW)`; it may be negative, which counts as 0 in
        Deff. Its interval is Searle's, which assumes normal scores; Fleiss and Cuzick's and the pairwise
        estimate have a delete-one-cluster jackknife, the posterior its quantiles. Each row takes its own
        clusters as independent. The figures describe these data as they are; the default of `cluster_ci`
        averages over what the ICC could be, so its columns differ where the data say little.

        References
        ----------
        Kish, L. (1965). Survey Sampling. Wiley.

        Ridout, M. S., Demetrio, C. G. B. and Firth, D. (1999). Estimating intraclass correlation for binary
        data. Biometrics 55, 137-148. https://doi.org/10.1111/j.0006-341x.1999.00137.x

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'")
        >>> answer = df.evalci.design_effect()
        >>> answer[["cluster", "icc", "design_effect", "width_ratio", "n_clusters"]].round(2)
                   cluster   icc  design_effect  width_ratio  n_clusters
        0           doc_id  0.30           2.20         1.48          40
        1      template_id  0.01           1.12         1.06           8
        2  conversation_id  0.04           1.11         1.06          50

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> ds.evalci.design_effect("doc_id").design_effect.round(2).values.ravel()
        array([2.2, 2. , 1.5])
        """
        return rates.design_effect(self._read.clusterings(Roles.of(locals())), IccOptions.of(locals()))
