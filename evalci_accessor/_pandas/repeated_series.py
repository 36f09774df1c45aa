"""The methods for repeated samples: a signature, a docstring and one call."""

from __future__ import annotations

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import RateOptions
from evalci_accessor._pandas.paired_accessor import Spec, Specs
from evalci_accessor._pandas.repeated_accessor import Ks
from evalci_accessor.options import Alternative, ClusterMethod, DegreesOfFreedom, NanPolicy, TooFew


class RepeatedSeriesMethods:
    """The methods of ``s.evalci`` for repeated samples."""

    _obj: pd.Series

    def pass_at_k(
        self,
        k: Ks,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
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
        """Probability that at least one of k samples of an item passes (pass@k), over items.

        Parameters
        ----------
        k, item, cluster, sample, by, weights, nested, too_few
            As in `DataFrameAccessor.pass_at_k`, whose formula, assumption and source hold here too; names are index levels.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As there.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.pass_at_k`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.pass_at_k`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval().query("model == 'atlas'")
        >>> scores = df.set_index(["item", "repo_id"])["score"]
        >>> scores.evalci.pass_at_k(2, item="item", cluster="repo_id")[["k", "measure", "estimate"]].round(3)
           k    measure  estimate
        0  2  pass_at_k     0.357
        """
        return _pandas.repeated.repeated(
            self._obj,
            k,
            measure="pass_at_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
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
        """Probability that all of k samples of an item pass (pass^k), over items.

        Parameters
        ----------
        k, item, cluster, sample, by, weights, nested, too_few
            As in `DataFrameAccessor.pass_hat_k`, whose formula, assumption and source hold here too; names are index levels.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As there.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.pass_hat_k`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.pass_hat_k`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval().query("model == 'atlas'")
        >>> scores = df.set_index(["item", "repo_id"])["score"]
        >>> scores.evalci.pass_hat_k(2, item="item", cluster="repo_id")[["k", "measure", "estimate"]].round(3)
           k     measure  estimate
        0  2  pass_hat_k     0.163
        """
        return _pandas.repeated.repeated(
            self._obj,
            k,
            measure="pass_hat_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
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
        """Expected greatest score of k samples of an item, over items, for scores on any scale.

        Parameters
        ----------
        k, item, cluster, sample, by, weights, nested, too_few
            As in `DataFrameAccessor.best_of_k`, whose formula, assumption and source hold here too; names are index levels.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As there.

        Returns
        -------
        DataFrame
            As `DataFrameAccessor.best_of_k`.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.best_of_k`.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_code_eval().query("model == 'atlas'")
        >>> scores = df.set_index(["item", "repo_id"])["tests_passed"]
        >>> scores.evalci.best_of_k(2, item="item", cluster="repo_id")[["k", "measure", "estimate"]].round(3)
           k    measure  estimate
        0  2  best_of_k     0.702
        """
        return _pandas.repeated.repeated(
            self._obj,
            k,
            measure="best_of_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=self._obj,
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
