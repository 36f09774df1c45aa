"""The methods for repeated samples: a signature, a docstring and one call."""

from __future__ import annotations

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import RateOptions
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Spec, Specs
from evalci_accessor._xarray.repeated_accessor import Ks
from evalci_accessor.options import Alternative, ClusterMethod, DegreesOfFreedom, NanPolicy, TooFew


class RepeatedDataArrayMethods:
    """The methods of ``da.evalci`` for repeated samples."""

    _obj: xr.DataArray

    def pass_at_k(
        self,
        k: Ks,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
        dim: Dims = None,
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
    ) -> xr.Dataset:
        """Probability that at least one of k samples of an item passes (pass@k), over items.

        Parameters
        ----------
        k, item, cluster, sample, dim, weights, nested, too_few
            As in `DatasetAccessor.pass_at_k`, whose formula, assumption and source hold here too.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As there.

        Returns
        -------
        Dataset
            As `DatasetAccessor.pass_at_k`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.pass_at_k`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_code_eval_cube()["score"]
        >>> scores.evalci.pass_at_k(2, sample="sample", cluster="repo_id").estimate.round(3).values
        array([0.357, 0.489])
        """
        return _xarray.repeated.repeated(
            self._obj,
            k,
            measure="pass_at_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
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
        dim: Dims = None,
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
    ) -> xr.Dataset:
        """Probability that all of k samples of an item pass (pass^k), over items.

        Parameters
        ----------
        k, item, cluster, sample, dim, weights, nested, too_few
            As in `DatasetAccessor.pass_hat_k`, whose formula, assumption and source hold here too.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As there.

        Returns
        -------
        Dataset
            As `DatasetAccessor.pass_hat_k`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.pass_hat_k`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_code_eval_cube()["score"]
        >>> scores.evalci.pass_hat_k(2, sample="sample", cluster="repo_id").estimate.round(3).values
        array([0.163, 0.253])
        """
        return _xarray.repeated.repeated(
            self._obj,
            k,
            measure="pass_hat_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
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
        dim: Dims = None,
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
    ) -> xr.Dataset:
        """Expected greatest score of k samples of an item, over items, for scores on any scale.

        Parameters
        ----------
        k, item, cluster, sample, dim, weights, nested, too_few
            As in `DatasetAccessor.best_of_k`, whose formula, assumption and source hold here too.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As there.

        Returns
        -------
        Dataset
            As `DatasetAccessor.best_of_k`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.best_of_k`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_code_eval_cube()["tests_passed"]
        >>> scores.evalci.best_of_k(2, sample="sample", cluster="repo_id").estimate.round(3).values
        array([0.702, 0.779])
        """
        return _xarray.repeated.repeated(
            self._obj,
            k,
            measure="best_of_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
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
