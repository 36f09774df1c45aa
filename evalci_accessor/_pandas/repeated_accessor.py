"""The methods for repeated samples: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import RateOptions
from evalci_accessor._pandas.paired_accessor import Spec, Specs
from evalci_accessor.options import Alternative, ClusterMethod, DegreesOfFreedom, NanPolicy, TooFew

Ks: TypeAlias = int | Sequence[int]


class RepeatedFrameMethods:
    """The methods of ``df.evalci`` for repeated samples."""

    _obj: pd.DataFrame

    def pass_at_k(
        self,
        k: Ks,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        weights: Spec | None = None,
        nested: bool = False,
        too_few: TooFew = "raise",
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> pd.DataFrame:
        r"""Probability that at least one of k samples of an item passes (pass@k), over items.

        Parameters
        ----------
        k : int or list of int
            How many samples are drawn of an item.
        item : label, array_like or list of these
            What tells the items apart, whose rows are samples; it has to be named. A list makes a longer id.
        cluster : label, array_like or list of these, optional
            What the items share: a document, a user. Without one, items are independent. A list names crossed clusterings.
        sample : label, array_like or list of these, optional
            What numbers the samples of an item. It is not needed, but with it copies are found, and rows of two models that ``by``
            should have kept apart. A list makes a longer number.
        score : label or array_like, default "score"
            Scores of 0 and 1, or booleans.
        by : label, array_like or list of these, optional
            What the rows of the result are, as the model. (The xarray accessor's ``dim`` has the opposite sense: it names what
            is reduced.)
        weights : label or array_like, optional
            How much each item counts, the same for all its samples; the scale does not matter. By default items weigh equally,
            however many samples they have.
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
        DataFrame
            For each key one row a ``k``: ``measure``, ``estimate`` (the mean over the items, which weigh equally
            without ``weights``), ``std_error``, ``ci_low``, ``ci_high``, ``simultaneous_low`` and ``simultaneous_high``
            (limits that hold for all k of a key at once), ``df``, ``n_items``, ``n_omitted`` (items with fewer than k samples),
            ``n_samples_min``, ``n_samples_median``, ``n_samples_max``, ``item_share`` and ``sample_share`` (of the variance of
            the estimate: more samples lower the latter only; nan where an item has fewer than 2k samples), ``n_clusters``,
            ``cluster``, ``icc``,
            ``design_effect``, ``n_eff``, ``method``, ``confidence_level``.

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
        ColumnNotFoundError, AmbiguousNameError, AlignmentError, MethodError
            A name, array or option that does not fit.

        Warns
        -----
        EvalCIWarning
            As `cluster_ci` of the items' values, of ids of items that look alike (`ClusterIdWarning`), and of samples and items
            that were left out.
        PooledSamplesWarning
            A column that the call does not name divides the samples of nearly every item, as a model would.

        See Also
        --------
        pass_hat_k : All k pass.
        best_of_k : Scores that are not 0 or 1.

        Notes
        -----
        An item with c of n samples passed has the value :math:`1 - \binom{n-c}{k}/\binom{n}{k}`, unbiased for any k
        up to n; no power of the pooled rate is, since items differ. For k = 1 the estimate is the mean of the items' rates: of
        all rows only if all items have as many samples.

        The values vary between items both because items differ and because their samples do, so an interval over items holds both
        sources of error. ``sample_share`` is :math:`\sum_i w_i^2 \hat V_i/(\sum_i w_i)^2` over the variance of the mean, with
        :math:`w_i` the items' weights and :math:`\hat V_i` the unbiased variance of an item's value over new samples, cut to [0,
        1], and the rest, ``item_share``, that of items and clusters; nan where an item has fewer than 2k samples, which it takes.
        That variance is the one of the analysis of variance, :math:`\hat\sigma_a^2/G^* + MSW/M`, which is CR1 for clusters of one
        size, and CR1 under crossed clusterings. With few clusters it is uncertain, and the share too large on average. Samples
        are independent given their item, and items, or clusters, of each other. The simultaneous limits are sup-t, at the level
        at which pointwise ones hold together; over crossed clusterings the covariance is the sum over all pairs of items that
        share any id, and where that is no covariance, as it can be with few clusters, the k count as unrelated.

        References
        ----------
        Chen, M. et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374

        Montiel Olea, J. L. and Plagborg-Moller, M. (2019). Simultaneous confidence bands: theory, implementation, and an
        application to SVARs. Journal of Applied Econometrics 34, 1-17. https://doi.org/10.1002/jae.2656

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval()
        >>> answer = df.evalci.pass_at_k([1, 4], item="item", cluster="repo_id", sample="sample", by="model", rng=1)
        >>> answer[["model", "k", "estimate", "ci_low", "ci_high", "n_items", "n_clusters", "sample_share"]].round(3)
            model  k  estimate  ci_low  ci_high  n_items  n_clusters  sample_share
        0   atlas  1     0.260   0.176    0.360       80          20         0.061
        1   atlas  4     0.467   0.351    0.585       80          20         0.149
        2  boreal  1     0.371   0.272    0.479       80          20         0.060
        3  boreal  4     0.598   0.455    0.730       80          20         0.065
        """
        return _pandas.repeated.repeated(
            self._obj,
            k,
            measure="pass_at_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
            by=by,
            weights=weights,
            nested=nested,
            too_few=too_few,
            nan_policy=nan_policy,
            options=RateOptions(
                method=method,
                df=df,
                alternative=alternative,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            ),
        )

    def pass_hat_k(
        self,
        k: Ks,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        weights: Spec | None = None,
        nested: bool = False,
        too_few: TooFew = "raise",
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> pd.DataFrame:
        r"""Probability that all of k samples of an item pass (pass^k), over items.

        Parameters
        ----------
        k, item, cluster, sample, score, by, weights, nested, too_few
            As in `pass_at_k`.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `pass_at_k`.

        Returns
        -------
        DataFrame
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
        An item with c of n samples passed has the value :math:`\binom{c}{k}/\binom{n}{k}`, unbiased for any k up to
        n, where the power :math:`(c/n)^k` would be too high.

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
        return _pandas.repeated.repeated(
            self._obj,
            k,
            measure="pass_hat_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
            by=by,
            weights=weights,
            nested=nested,
            too_few=too_few,
            nan_policy=nan_policy,
            options=RateOptions(
                method=method,
                df=df,
                alternative=alternative,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            ),
        )

    def best_of_k(
        self,
        k: Ks,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        weights: Spec | None = None,
        nested: bool = False,
        too_few: TooFew = "raise",
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> pd.DataFrame:
        r"""Expected greatest score of k samples of an item, over items, for scores on any scale.

        Parameters
        ----------
        k, item, cluster, sample, score, by, weights, nested, too_few
            As in `pass_at_k`; scores are numbers on any scale.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `pass_at_k`.

        Returns
        -------
        DataFrame
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
        With the scores of an item in ascending order its value is :math:`\sum_j y_{(j)}
        \binom{j-1}{k-1}/\binom{n}{k}`, the mean of the maximum over all subsets of k, whatever the ties; for 0/1 scores it is
        `pass_at_k`.

        The interval, the shares and the simultaneous limits are those of `pass_at_k`.

        References
        ----------
        Chen, M. et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374

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
        return _pandas.repeated.repeated(
            self._obj,
            k,
            measure="best_of_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
            by=by,
            weights=weights,
            nested=nested,
            too_few=too_few,
            nan_policy=nan_policy,
            options=RateOptions(
                method=method,
                df=df,
                alternative=alternative,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            ),
        )
