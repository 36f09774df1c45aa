"""Repeated samples of an item: a signature, a docstring and one call a method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

from evalci_accessor.methods import repeated
from evalci_accessor.options import (
    Alternative,
    ClusterMethod,
    DegreesOfFreedom,
    Dims,
    Ks,
    Name,
    Names,
    NanPolicy,
    RateOptions,
    RepeatedOptions,
    Roles,
    SplitOptions,
    TooFew,
)
from evalci_accessor.read import Answer, Reader


class Repeated(Generic[Answer]):
    """Repeated samples of an item: measures over k of them, and what their noise is made of."""

    _read: Reader[Answer]

    def pass_at_k(
        self,
        k: Ks,
        item: Names | None = None,
        cluster: Names | None = None,
        score: Name = "score",
        *,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        nested: bool = False,
        too_few: TooFew = "raise",
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> Answer:
        r"""Probability that at least one of k samples of an item passes (pass@k), over items.

        Parameters
        ----------
        k : int or list of int
            How many samples are drawn of an item. Of a cube a list makes a dim ``k``.
        item : label, array or list of these
            What tells the items apart, of which several scores are samples; a list makes a longer id. For a
            frame it has to be named. For a cube it is dims, or arrays along them; by default the dims of
            ``cluster``, or the one that is left.
        cluster : label, array or list of these, optional
            What the items share: a document, a user. Without one, items are independent. A list names crossed
            clusterings.
        sample : label, array or list of these, optional
            What numbers the samples of an item: for a cube their dim, for a frame a column. A frame does not
            need it, but with it copies are found, and rows of two models that ``by`` should have kept apart.
            A list makes a longer number.
        score : label or array, default "score"
            Scores of 0 and 1, or booleans. A Series or DataArray is its own score.
        by : label, array or list of these, optional
            What the rows (of a cube: the dims) of the answer are, as the model.
        dim : name, list of names or ..., optional
            Of a cube, what is reduced instead; every other dim stays. By default the dims of ``item``,
            ``sample`` and ``cluster``; further dims hold samples too. A frame has none.
        weights : label or array, optional
            How much each item counts, the same for all its samples; the scale does not matter. By default
            items weigh equally, however many samples they have.
        nested : bool, default False
            Whether the ids of items count within their cluster, so that one id in two clusters is two items.
        too_few : {"raise", "omit"}
            What to do about items with fewer than k samples. ``"omit"`` leaves them out and says how many.
        method, df, alternative, confidence_level
            As in `cluster_ci`, over the values of the items.
        nan_policy : {"raise", "omit"}
            What to do about missing scores. ``"omit"`` leaves these samples out and says how many.
        n_resamples : int, default 9999
            Draws for the simultaneous limits, and resamples of the bootstrap methods.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Randomness of these: the same seed gives the same numbers.

        Returns
        -------
        DataFrame or Dataset
            For each key one row a ``k``: ``measure``, ``estimate`` (the mean over the items, which weigh
            equally without ``weights``), ``std_error``, ``ci_low``, ``ci_high``, ``simultaneous_low`` and
            ``simultaneous_high`` (limits that hold for all k of a key at once), ``df``, ``n_items``,
            ``n_omitted`` (items with fewer than k samples), ``n_samples_min``, ``n_samples_median``,
            ``n_samples_max``, ``item_share`` and ``sample_share`` (of the variance of the estimate: more
            samples lower the latter only; nan where an item has fewer than 2k samples), ``n_clusters``,
            ``cluster``, ``icc``, ``design_effect``, ``n_eff``, ``method``, ``confidence_level``. Of a cube
            these are variables over the dims that stay and ``k``.

        Raises
        ------
        SamplesError
            Items with fewer than k samples, or with one; two scores under one number; missing ids.
        ClusterError, MissingClusterError
            An item in two clusters, a single cluster or item, rows without a cluster id.
        WeightError
            Weights that are missing, negative, infinite, all 0, or not the same for all samples of an item.
        ScoreTypeError, ScoreRangeError, MissingScoreError, ScoreError
            Scores that are text, not 0 or 1, missing, or infinite.
        ColumnNotFoundError, AmbiguousNameError, AlignmentError, DimensionError, MethodError
            A name, array or option that does not fit.

        Warns
        -----
        EvalCIWarning
            As `cluster_ci` of the items' values, of ids of items that look alike (`ClusterIdWarning`), and of
            samples and items that were left out.
        PooledSamplesWarning
            A column that the call does not name divides the samples of nearly every item, as a model would.

        See Also
        --------
        pass_hat_k : All k pass.
        best_of_k : Scores that are not 0 or 1.

        Notes
        -----
        An item with c of n samples passed has the value :math:`1 - \binom{n-c}{k}/\binom{n}{k}`, unbiased for
        any k up to n; no power of the pooled rate is, since items differ. For k = 1 the estimate is the mean
        of the items' rates: of all rows only if all items have as many samples.

        The values vary between items both because items differ and because their samples do, so an interval
        over items holds both sources of error. ``sample_share`` is
        :math:`\sum_i w_i^2 \hat V_i/(\sum_i w_i)^2` over the variance of the mean, with :math:`w_i` the
        items' weights and :math:`\hat V_i` the unbiased variance of an item's value over new samples, cut to
        [0, 1], and the rest, ``item_share``, that of items and clusters; nan where an item has fewer than 2k
        samples, which it takes. That variance is the one of the analysis of variance,
        :math:`\hat\sigma_a^2/G^* + MSW/M`, which is CR1 for clusters of one size, and CR1 under crossed
        clusterings. With few clusters it is uncertain, and the share too large on average. Samples are
        independent given their item, and items, or clusters, of each other. The simultaneous limits are
        sup-t, at the level at which pointwise ones hold together; over crossed clusterings the covariance is
        the sum over all pairs of items that share any id, and where that is no covariance, as it can be with
        few clusters, the k count as unrelated.

        References
        ----------
        Chen, M. et al. (2021). Evaluating large language models trained on code.
        https://arxiv.org/abs/2107.03374

        Montiel Olea, J. L. and Plagborg-Moller, M. (2019). Simultaneous confidence bands: theory,
        implementation, and an application to SVARs. Journal of Applied Econometrics 34, 1-17.
        https://doi.org/10.1002/jae.2656

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval()
        >>> answer = df.evalci.pass_at_k([1, 4], "item", "repo_id", sample="sample", by="model", rng=1)
        >>> columns = ["model", "k", "estimate", "ci_low", "ci_high", "n_items", "n_clusters", "sample_share"]
        >>> answer[columns].round(3)
            model  k  estimate  ci_low  ci_high  n_items  n_clusters  sample_share
        0   atlas  1     0.260   0.176    0.360       80          20         0.061
        1   atlas  4     0.467   0.351    0.585       80          20         0.149
        2  boreal  1     0.371   0.272    0.479       80          20         0.060
        3  boreal  4     0.598   0.455    0.730       80          20         0.065

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_code_eval_cube()
        >>> ds.evalci.pass_at_k([1, 4], sample="sample", cluster="repo_id", rng=1).estimate.round(3).values
        array([[0.26 , 0.467],
               [0.371, 0.598]])
        """
        return repeated.over_k(
            self._read.items(Roles.of(locals())),
            k,
            RepeatedOptions(measure="pass_at_k", too_few=too_few, rate=RateOptions.of(locals())),
        )

    def pass_hat_k(
        self,
        k: Ks,
        item: Names | None = None,
        cluster: Names | None = None,
        score: Name = "score",
        *,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        nested: bool = False,
        too_few: TooFew = "raise",
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> Answer:
        r"""Probability that all of k samples of an item pass (pass^k), over items.

        Parameters
        ----------
        k, item, cluster, score, sample, by, dim, weights, nested, too_few
            As in `pass_at_k`.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `pass_at_k`.

        Returns
        -------
        DataFrame or Dataset
            As `pass_at_k`.

        Raises
        ------
        EvalCIError
            As `pass_at_k`.

        See Also
        --------
        pass_at_k : At least one passes.

        Notes
        -----
        An item with c of n samples passed has the value :math:`\binom{c}{k}/\binom{n}{k}`, unbiased for any k
        up to n, where the power :math:`(c/n)^k` would be too high.

        The interval, the shares and the simultaneous limits are those of `pass_at_k`.

        References
        ----------
        Yao, S. et al. (2024). tau-bench: A benchmark for tool-agent-user interaction in real-world domains.
        https://arxiv.org/abs/2406.12045

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval().query("model == 'atlas'")
        >>> answer = df.evalci.pass_hat_k([1, 2, 4], item="item", cluster="repo_id", rng=1)
        >>> answer[["k", "estimate", "simultaneous_low", "simultaneous_high", "sample_share"]].round(3)
           k  estimate  simultaneous_low  simultaneous_high  sample_share
        0  1     0.260             0.166              0.374         0.061
        1  2     0.163             0.084              0.274         0.064
        2  4     0.110             0.043              0.219         0.110
        """
        return repeated.over_k(
            self._read.items(Roles.of(locals())),
            k,
            RepeatedOptions(measure="pass_hat_k", too_few=too_few, rate=RateOptions.of(locals())),
        )

    def best_of_k(
        self,
        k: Ks,
        item: Names | None = None,
        cluster: Names | None = None,
        score: Name = "score",
        *,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        weights: Name | None = None,
        nested: bool = False,
        too_few: TooFew = "raise",
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> Answer:
        r"""Expected greatest score of k samples of an item, over items, for scores on any scale.

        Parameters
        ----------
        k, item, cluster, score, sample, by, dim, weights, nested, too_few
            As in `pass_at_k`; scores are numbers on any scale.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `pass_at_k`.

        Returns
        -------
        DataFrame or Dataset
            As `pass_at_k`.

        Raises
        ------
        EvalCIError
            As `pass_at_k`, but for scores that are not 0 or 1.

        See Also
        --------
        pass_at_k : Scores of 0 and 1.

        Notes
        -----
        With the scores of an item in ascending order its value is
        :math:`\sum_j y_{(j)} \binom{j-1}{k-1}/\binom{n}{k}`, the mean of the maximum over all subsets of k,
        whatever the ties; for 0/1 scores it is `pass_at_k`.

        The interval, the shares and the simultaneous limits are those of `pass_at_k`.

        References
        ----------
        Chen, M. et al. (2021). Evaluating large language models trained on code.
        https://arxiv.org/abs/2107.03374

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval().query("model == 'atlas'")
        >>> answer = df.evalci.best_of_k([1, 4], item="item", cluster="repo_id", score="tests_passed", rng=1)
        >>> answer[["k", "measure", "estimate", "ci_low", "ci_high", "method"]].round(3)
           k    measure  estimate  ci_low  ci_high        method
        0  1  best_of_k     0.600   0.505    0.690  icc_averaged
        1  4  best_of_k     0.778   0.687    0.853  icc_averaged
        """
        return repeated.over_k(
            self._read.items(Roles.of(locals())),
            k,
            RepeatedOptions(measure="best_of_k", too_few=too_few, rate=RateOptions.of(locals())),
        )

    def variance_components(
        self,
        item: Names | None = None,
        cluster: Name | None = None,
        score: Name = "score",
        *,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        nested: bool = False,
        costs: Mapping[str, float] | None = None,
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> Answer:
        r"""What the noise of a mean is made of, clusters, items or samples, and which of them to buy more of.

        Parameters
        ----------
        item, cluster, sample, by, dim, nested
            As in `pass_at_k`; one clustering. At least one item has two samples or more.
        score : label or array, default "score"
            Scores on any scale.
        costs : mapping, optional
            What a new ``"cluster"``, ``"item"`` and ``"sample"`` cost, by default
            ``{"cluster": 0, "item": 0, "sample": 1}``: a sample is a call of the model, and costs are in
            calls. ``{"item": 5}`` says that it takes the worth of five calls to make an item, apart from its
            samples.
        confidence_level : float, default 0.95
            Level of the intervals of the variances.
        nan_policy : {"raise", "omit"}
            What to do about missing scores. ``"omit"`` leaves these samples out and says how many.

        Returns
        -------
        DataFrame or Dataset
            For each key a row (of a cube: a label of the dim ``source``) for each ``source``: ``"cluster"``
            (if one is named), ``"item"`` and ``"sample"``.

            - ``estimate``, ``std_error``: the mean over the items, which weigh equally, and its standard
              error, CR1 of the items' means over clusters.
            - ``variance``, ``variance_low``, ``variance_high``: the variance of the clusters' true means, of
              the items' within a cluster, and of the samples of an item, with its interval. Unbiased, so that
              it may be negative; the interval is cut at 0, and nan where all clusters are alike in it.
            - ``share``: of the variance of the estimate. A negative ``variance`` has none.
            - ``count``: how many there are now: clusters, items of a cluster (the mean; all items without
              clusters), samples of an item (the harmonic mean).
            - ``std_error_doubled``, ``std_error_limit``: the standard error with twice as many, and with any
              number, of this one, all else kept. Items come in the same clusters, samples of the same items.
            - ``cost``, ``cost_doubled``: what all costs now, and with twice as many.
            - ``gain``: the relative fall of the variance for a relative rise of the cost, at the margin;
              above 1 it buys more than more of everything would.
            - ``best``: whether that is the largest gain.
            - ``count_best``: the items of a cluster and the samples of an item that give the least error at
              any budget under these costs, not rounded; nan for what goes with the budget.
            - ``n_items``, ``n_clusters``, ``n_samples_min``, ``n_samples_median``, ``n_samples_max``,
              ``cluster``, ``confidence_level``.

        Raises
        ------
        SamplesError
            A single sample of every item, two scores under one number, missing ids.
        ClusterError, MissingClusterError
            An item in two clusters, a single cluster or item, rows without a cluster id.
        ScoreTypeError, MissingScoreError, ScoreError
            Scores that are text, missing, or infinite.
        ColumnNotFoundError, AmbiguousNameError, AlignmentError, DimensionError, MethodError
            A name, array, option or cost that does not fit.

        Warns
        -----
        FewClustersWarning
            Fewer than 20 effective clusters (or items, where there are none).
        SingletonClusterWarning
            Each cluster holds one item, so that the two cannot be told apart: the row of the clusters is nan.
        ClusterIdWarning
            Ids that look alike, which may split an item or a cluster.
        DominantClusterWarning, RareOutcomeWarning, DegenerateRateWarning
            As `cluster_ci` of the items' means.
        SentinelScoreWarning, MissingScoreWarning
            As in `cluster_ci`.
        PooledSamplesWarning
            As in `pass_at_k`.

        See Also
        --------
        pass_at_k : The interval of the mean (``k=1``).
        design_effect : Which clusterings matter.

        Notes
        -----
        The variances are those of the nested analysis of variance, with what the samples add taken off, and
        their intervals a jackknife over clusters: `stats.variance_components` has the formulas, the sources
        and the measured coverage. Clusters are independent, and so are the items of a cluster given the
        cluster and the samples of an item given the item. Where one cluster holds many of the items,
        ``std_error``, CR1, is too small, and so is all that is projected from it.

        With shares :math:`s_a, s_b, s_w` the variance of the mean falls to
        :math:`s_a/g + s_b/(gm) + s_w/(gmn)` of what it is when there are g times as many clusters, m times as
        many items in each, and n times as many samples (`stats.projected_error` gives it for any design).
        ``gain`` is :math:`-(dV/V)/(dC/C)` for cost C. More clusters bring their items and samples, so they
        lower all three parts and raise all the cost: their gain is 1. While only calls cost, nothing beats a
        new item in a new cluster, and ``count_best`` is 1; several samples of an item, or items of a cluster,
        pay where items or clusters cost something themselves (`stats.best_counts`).

        References
        ----------
        Cochran, W. G. (1977). Sampling Techniques, 3rd ed., section 10.6. Wiley.

        Snijders, T. A. B. and Bosker, R. J. (1993). Standard errors and sample sizes for two-level research.
        Journal of Educational Statistics 18, 237-259. https://doi.org/10.3102/10769986018003237

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval().query("model == 'atlas'")
        >>> answer = df.evalci.variance_components("item", "repo_id", costs={"item": 20, "cluster": 100})
        >>> columns = ["source", "variance", "share", "count", "std_error_doubled", "gain", "count_best"]
        >>> answer[columns].round(3)
            source  variance  share  count  std_error_doubled   gain  count_best
        0  cluster     0.017  0.434   20.0              0.032  1.000         NaN
        1     item     0.080  0.505    4.0              0.038  1.038       4.827
        2   sample     0.097  0.061   10.0              0.044  0.336       4.916

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_code_eval_cube()
        >>> answer = ds.evalci.variance_components(sample="sample", cluster="repo_id", costs={"item": 20})
        >>> answer.share.round(2).values
        array([[0.43, 0.51, 0.06],
               [0.46, 0.48, 0.06]])
        """
        return repeated.variance_components(self._read.items(Roles.of(locals())), SplitOptions.of(locals()))
