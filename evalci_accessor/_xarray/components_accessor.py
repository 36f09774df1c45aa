"""The methods that split a variance: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Mapping

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import SplitOptions
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Spec, Specs
from evalci_accessor.options import NanPolicy


class ComponentsDatasetMethods:
    """The methods of ``ds.evalci`` that split a variance."""

    _obj: xr.Dataset

    def variance_components(
        self,
        *,
        item: Specs | None = None,
        cluster: Spec | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
        dim: Dims = None,
        nested: bool = False,
        costs: Mapping[str, float] | None = None,
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        r"""What the noise of a mean is made of, clusters, items or samples, and which of them to buy more of.

        Parameters
        ----------
        item, cluster, sample, dim, nested
            As in `DatasetAccessor.pass_at_k`. At least one item has two samples or more.
        score : name or DataArray, default "score"
            Scores on any scale.
        costs, confidence_level, nan_policy
            As in `DataFrameAccessor.variance_components`.

        Returns
        -------
        Dataset
            Over the kept dims and ``source`` (``"cluster"`` if one is named, ``"item"``, ``"sample"``) the columns of the frame's
            answer as variables: ``.to_dataframe()`` gives it. What all sources share, such as ``std_error`` and ``cost``, has the
            kept dims only.

        Raises
        ------
        EvalCIError
            As `DataFrameAccessor.variance_components`; DimensionError of dims that cannot be told.

        Notes
        -----
        With shares :math:`s_a, s_b, s_w` the variance of the mean falls to :math:`s_a/g + s_b/(gm) + s_w/(gmn)` of what it is
        when there are g times as many clusters, m times as many items in each, and n times as many samples. The assumptions, and
        what the variances are, are those of `DataFrameAccessor.variance_components`.

        References
        ----------
        Cochran, W. G. (1977). Sampling Techniques, 3rd ed., section 10.6. Wiley.

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_code_eval_cube()
        >>> answer = ds.evalci.variance_components(sample="sample", cluster="repo_id", costs={"item": 20})
        >>> answer.share.round(2).values
        array([[0.43, 0.51, 0.06],
               [0.46, 0.48, 0.06]])
        """
        return _xarray.components.variance_components(
            self._obj,
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
            dim=dim,
            nested=nested,
            nan_policy=nan_policy,
            options=SplitOptions(costs=costs, confidence_level=confidence_level),
        )


class ComponentsDataArrayMethods:
    """The methods of ``da.evalci`` that split a variance."""

    _obj: xr.DataArray

    def variance_components(
        self,
        *,
        item: Specs | None = None,
        cluster: Spec | None = None,
        sample: Specs | None = None,
        dim: Dims = None,
        nested: bool = False,
        costs: Mapping[str, float] | None = None,
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        """What the noise of a mean is made of, clusters, items or samples, and which of them to buy more of.

        Parameters
        ----------
        item, cluster, sample, dim, nested, costs, confidence_level, nan_policy
            As in `DatasetAccessor.variance_components`, whose formula, assumption and source hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.variance_components`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.variance_components`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_code_eval_cube()["tests_passed"]
        >>> scores.evalci.variance_components(sample="sample", cluster="repo_id")["variance"].round(3).values
        array([[0.025, 0.06 , 0.04 ],
               [0.026, 0.048, 0.04 ]])
        """
        return _xarray.components.variance_components(
            self._obj,
            item=item,
            cluster=cluster,
            sample=sample,
            score=None,
            dim=dim,
            nested=nested,
            nan_policy=nan_policy,
            options=SplitOptions(costs=costs, confidence_level=confidence_level),
        )
