"""The methods that split a variance: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import SplitOptions
from evalci_accessor._pandas.paired_accessor import Spec, Specs
from evalci_accessor.options import NanPolicy


class ComponentsFrameMethods:
    """The methods of ``df.evalci`` that split a variance."""

    _obj: pd.DataFrame

    def variance_components(
        self,
        *,
        item: Specs | None = None,
        cluster: Spec | None = None,
        sample: Spec | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        nested: bool = False,
        costs: Mapping[str, float] | None = None,
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> pd.DataFrame:
        r"""What the noise of a mean is made of, clusters, items or samples, and which of them to buy more of.

        Parameters
        ----------
        item, cluster, sample, by, nested
            As in `pass_at_k`. At least one item has two samples or more.
        score : label or array_like, default "score"
            Scores on any scale.
        costs : mapping, optional
            What a new ``"cluster"``, ``"item"`` and ``"sample"`` cost, by default ``{"cluster": 0, "item": 0, "sample": 1}``: a
            sample is a call of the model, and costs are in calls. ``{"item": 5}`` says that it takes the worth of five calls to
            make an item, apart from its samples.
        confidence_level : float, default 0.95
            Level of the intervals of the variances.
        nan_policy : {"raise", "omit"}
            What to do about missing scores. ``"omit"`` leaves these samples out and says how many.

        Returns
        -------
        DataFrame
            For each key a row for each ``source``: ``"cluster"`` (if one is named), ``"item"`` and ``"sample"``.

            - ``estimate``, ``std_error``: the mean over the items, which weigh equally, and its standard error, CR1 of the items'
              means over clusters.
            - ``variance``, ``variance_low``, ``variance_high``: the variance of the clusters' true means, of the items' within a
              cluster, and of the samples of an item, with its interval. Unbiased, so that it may be negative; the interval is cut
              at 0, and nan where all clusters are alike in it.
            - ``share``: of the variance of the estimate. A negative ``variance`` has none.
            - ``count``: how many there are now: clusters, items of a cluster (the mean; all items without clusters), samples of an
              item (the harmonic mean).
            - ``std_error_doubled``, ``std_error_limit``: the standard error with twice as many, and with any number, of this one,
              all else kept. Items come in the same clusters, samples of the same items.
            - ``cost``, ``cost_doubled``: what all costs now, and with twice as many.
            - ``gain``: the relative fall of the variance for a relative rise of the cost, at the margin; above 1 it buys more than
              more of everything would.
            - ``best``: whether that is the largest gain.
            - ``count_best``: the items of a cluster and the samples of an item that give the least error at any budget under
              these costs, not rounded; nan for what goes with the budget.
            - ``n_items``, ``n_clusters``, ``n_samples_min``, ``n_samples_median``, ``n_samples_max``, ``cluster``,
              ``confidence_level``.

        Raises
        ------
        SamplesError
            A single sample of every item, two scores under one number, missing ids.
        ClusterError, MissingClusterError
            An item in two clusters, a single cluster or item, rows without a cluster id.
        ScoreTypeError, MissingScoreError, ScoreError
            Scores that are text, missing, or infinite.
        ColumnNotFoundError, AmbiguousNameError, AlignmentError, MethodError
            A name, array, option or cost that does not fit.

        Warns
        -----
        FewClustersWarning
            Fewer than 20 effective clusters (or items, where there are none).
        SingletonClusterWarning
            Each cluster holds one item, so that the two cannot be told apart: the row of the clusters is nan.
        ClusterIdWarning
            Ids that look alike, which may split an item or a cluster.
        DominantClusterWarning, RareOutcomeWarning, DegenerateRateWarning, SentinelScoreWarning, MissingScoreWarning
            As `cluster_ci` of the items' means.
        PooledSamplesWarning
            As in `pass_at_k`.

        See Also
        --------
        pass_at_k : The interval of the mean (``k=1``).
        design_effect : Which clusterings matter.

        Notes
        -----
        The variances are those of the nested analysis of variance, with what the samples add taken off, and their intervals a
        jackknife over clusters: `stats.variance_components` has the formulas, the sources and the measured coverage. Clusters
        are independent, and so are the items of a cluster given the cluster and the samples of an item given the item. Where one
        cluster holds many of the items, ``std_error``, CR1, is too small, and so is all that is projected from it.

        With shares :math:`s_a, s_b, s_w` the variance of the mean falls to :math:`s_a/g + s_b/(gm) + s_w/(gmn)` of what it is
        when there are g times as many clusters, m times as many items in each, and n times as many samples
        (`stats.projected_error` gives it for any design). ``gain`` is :math:`-(dV/V)/(dC/C)` for cost C. More clusters bring
        their items and samples, so they lower all three parts and raise all the cost: their gain is 1. While only calls cost,
        nothing beats a new item in a new cluster, and ``count_best`` is 1; several samples of an item, or items of a cluster, pay
        where items or clusters cost something themselves (`stats.best_counts`).

        References
        ----------
        Cochran, W. G. (1977). Sampling Techniques, 3rd ed., section 10.6. Wiley.

        Snijders, T. A. B. and Bosker, R. J. (1993). Standard errors and sample sizes for two-level research. Journal of
        Educational Statistics 18, 237-259. https://doi.org/10.3102/10769986018003237

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval().query("model == 'atlas'")
        >>> answer = df.evalci.variance_components(item="item", cluster="repo_id", costs={"item": 20, "cluster": 100})
        >>> answer[["source", "variance", "share", "count", "std_error_doubled", "gain", "best", "count_best"]].round(3)
            source  variance  share  count  std_error_doubled   gain   best  count_best
        0  cluster     0.017  0.434   20.0              0.032  1.000  False         NaN
        1     item     0.080  0.505    4.0              0.038  1.038   True       4.827
        2   sample     0.097  0.061   10.0              0.044  0.336  False       4.916
        """
        return _pandas.components.variance_components(
            self._obj,
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
            by=by,
            nested=nested,
            nan_policy=nan_policy,
            options=SplitOptions(costs=costs, confidence_level=confidence_level),
        )


class ComponentsSeriesMethods:
    """The methods of ``s.evalci`` that split a variance."""

    _obj: pd.Series

    def variance_components(
        self,
        *,
        item: Specs | None = None,
        cluster: Spec | None = None,
        sample: Spec | None = None,
        by: Specs | None = None,
        nested: bool = False,
        costs: Mapping[str, float] | None = None,
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> pd.DataFrame:
        """What the noise of a mean is made of, clusters, items or samples, and which of them to buy more of.

        Parameters
        ----------
        item, cluster, sample, by, nested, costs, confidence_level, nan_policy
            As in `DataFrameAccessor.variance_components`, whose formula, assumption and source hold here too; names are index
            levels.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.variance_components`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.variance_components`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval().query("model == 'atlas'")
        >>> scores = df.set_index(["item", "repo_id"])["score"]
        >>> scores.evalci.variance_components(item="item")[["source", "variance", "share"]].round(3)
           source  variance  share
        0    item     0.097  0.909
        1  sample     0.097  0.091
        """
        return _pandas.components.variance_components(
            self._obj,
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
            by=by,
            nested=nested,
            nan_policy=nan_policy,
            options=SplitOptions(costs=costs, confidence_level=confidence_level),
        )
