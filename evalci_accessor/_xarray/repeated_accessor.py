"""The methods for repeated samples: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import RateOptions
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Spec, Specs
from evalci_accessor.options import Alternative, ClusterMethod, DegreesOfFreedom, NanPolicy, TooFew

Ks: TypeAlias = int | Sequence[int]


class RepeatedDatasetMethods:
    """The methods of ``ds.evalci`` for repeated samples."""

    _obj: xr.Dataset

    def pass_at_k(
        self,
        k: Ks,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
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
        r"""Probability that at least one of k samples of an item passes (pass@k), over items.

        Parameters
        ----------
        k : int or list of int
            How many samples are drawn of an item; a list makes a dim ``k``.
        item : name, DataArray or list of these, optional
            The dim of the items, or what tells them apart along dims of the scores. By default the cluster's dim, or the one
            that is left beside ``sample`` and what is kept.
        cluster : name, DataArray or list of these, optional
            What the items share, along the dims of the items. Without one, items are independent. A list names crossed
            clusterings.
        sample : name or list of names, optional
            The dim of the samples, or what numbers them along a dim of the items.
        score : name or DataArray, default "score"
            Scores of 0 and 1, or booleans.
        dim : name, list of names or ..., optional
            What is reduced; every other dim is kept. By default the dims of ``item``, ``sample`` and ``cluster``; further dims
            hold samples too. (The frame's ``by`` has the opposite sense: it names what is kept.)
        weights : name or DataArray, optional
            How much each item counts, along dims of the scores.
        nested, too_few, method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.pass_at_k`.

        Returns
        -------
        Dataset
            Over the kept dims and ``k``, the columns of the frame's answer as variables: with a dim kept, ``.to_dataframe()``
            gives it.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.pass_at_k`; DimensionError of dims that cannot be told.

        Notes
        -----
        An item with c of n samples passed has the value :math:`1 - \binom{n-c}{k}/\binom{n}{k}`, unbiased for any k
        up to n; no power of the pooled rate is, since items differ. For k = 1 the estimate is the mean of the items' rates: of
        all rows only if all items have as many samples.

        The interval, the shares and the simultaneous limits are those of `DataFrameAccessor.pass_at_k`.

        References
        ----------
        Chen, M. et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_code_eval_cube()
        >>> answer = ds.evalci.pass_at_k([1, 4], sample="sample", cluster="repo_id", rng=1)
        >>> answer.estimate.round(3).values
        array([[0.26 , 0.467],
               [0.371, 0.598]])
        """
        return _xarray.repeated.repeated(
            self._obj,
            k,
            measure="pass_at_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
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
        score: Spec = "score",
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
        r"""Probability that all of k samples of an item pass (pass^k), over items.

        Parameters
        ----------
        k, item, cluster, sample, score, dim, weights, nested, too_few
            As in `pass_at_k`.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `pass_at_k`.

        Returns
        -------
        Dataset
            As `pass_at_k`.

        Raises
        ------
        EvalCIError
            As `pass_at_k`.

        Notes
        -----
        An item with c of n samples passed has the value :math:`\binom{c}{k}/\binom{n}{k}`, unbiased for any k up to
        n, where the power :math:`(c/n)^k` would be too high.

        The interval, the shares and the simultaneous limits are those of `DataFrameAccessor.pass_at_k`.

        References
        ----------
        Yao, S. et al. (2024). tau-bench: A benchmark for tool-agent-user interaction in real-world domains.
        https://arxiv.org/abs/2406.12045

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_code_eval_cube()
        >>> answer = ds.evalci.pass_hat_k([1, 4], sample="sample", cluster="repo_id", rng=1)
        >>> answer.estimate.round(3).values
        array([[0.26 , 0.11 ],
               [0.371, 0.172]])
        """
        return _xarray.repeated.repeated(
            self._obj,
            k,
            measure="pass_hat_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
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
        score: Spec = "score",
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
        r"""Expected greatest score of k samples of an item, over items, for scores on any scale.

        Parameters
        ----------
        k, item, cluster, sample, score, dim, weights, nested, too_few
            As in `pass_at_k`; scores are numbers on any scale.
        method, df, alternative, confidence_level, nan_policy, n_resamples, rng
            As in `pass_at_k`.

        Returns
        -------
        Dataset
            As `pass_at_k`.

        Raises
        ------
        EvalCIError
            As `pass_at_k`.

        Notes
        -----
        With the scores of an item in ascending order its value is :math:`\sum_j y_{(j)}
        \binom{j-1}{k-1}/\binom{n}{k}`, the mean of the maximum over all subsets of k, whatever the ties; for 0/1 scores it is
        `pass_at_k`.

        The interval, the shares and the simultaneous limits are those of `DataFrameAccessor.pass_at_k`.

        References
        ----------
        Chen, M. et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_code_eval_cube()
        >>> answer = ds.evalci.best_of_k([1, 4], sample="sample", cluster="repo_id", score="tests_passed", rng=1)
        >>> answer.estimate.round(3).values
        array([[0.6  , 0.778],
               [0.681, 0.846]])
        """
        return _xarray.repeated.repeated(
            self._obj,
            k,
            measure="best_of_k",
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
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
