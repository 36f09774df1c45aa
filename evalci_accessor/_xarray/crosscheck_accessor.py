"""Our numbers beside statsmodels': the part of the xarray accessors that puts them there."""

from __future__ import annotations

from collections.abc import Hashable

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import CrosscheckOptions
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import Pairs, Spec, Specs
from evalci_accessor.options import NanPolicy, Unmatched


class CrosscheckDatasetMethods:
    """The method of ``ds.evalci`` that checks the others."""

    _obj: xr.Dataset

    def crosscheck(
        self,
        cluster: Specs,
        *,
        score: Spec = "score",
        dim: Dims = None,
        weights: Spec | None = None,
        factor: Spec | None = None,
        item: Specs | None = None,
        pairs: Pairs | None = None,
        baseline: Hashable = None,
        sample: Specs | None = None,
        against: object = None,
        contrast: object = None,
        confidence_level: float = 0.95,
        tolerance: float = 1e-6,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        r"""Our numbers beside those of statsmodels, or beside a model that you fitted.

        Parameters
        ----------
        cluster : name, DataArray or list of these
            What the items share: a coordinate or variable along one or several dims of the scores. A list, as
            ``["doc_id", "prompt_id"]``, is of crossed clusterings; one whose clusters each lie within one of another's is left out
            with a warning, as in `cluster_ci`.
        score : name or DataArray, default "score"
            The scores, numbers or booleans. Fractions are welcome.
        dim : name, list of names or ..., optional
            What is reduced; every other dim is kept. By default the dims of ``cluster`` (of a list, those of all), or of the items
            of a comparison. (The frame's ``by`` has the opposite sense: it names what is kept.)
        weights : name or DataArray, optional
            Weights >= 0, along any dims of the scores, or with ``factor`` of the items, as in `diff_ci`; a cell of weight 0 is
            absent.
        factor : name or DataArray, optional
            The dim along which systems lie, or a coordinate along it: the differences of `diff_ci` are checked then, and not
            the means of `cluster_ci`.
        item, pairs, baseline, sample, unmatched
            Of a comparison, as in `diff_ci`.
        against, contrast, confidence_level, tolerance
            As in `DataFrameAccessor.crosscheck`; a fitted model is for a single estimate, so with every dim reduced.
        nan_policy : {"raise", "omit"}
            What to do about missing scores. ``"omit"`` leaves them out and says how many.

        Returns
        -------
        Dataset
            Over the kept dims (and the pairs) and a dim ``estimator``, the variables ``estimate``, ``std_error``, ``ci_low``,
            ``ci_high``, ``df``, ``note``, ``n``, ``n_clusters``, ``estimate_difference``, ``compared_with``, ``should_agree``,
            ``relative_difference``, ``agrees`` and ``status``; along ``estimator`` alone ``cluster`` and ``package``; and
            ``confidence_level`` and ``tolerance``, as the frame's columns.

        Raises
        ------
        EvalCIError
            The same as in `cluster_ci` and `diff_ci`, each a class of its own.

        Notes
        -----
        With :math:`r_g = (s_g - p\,m_g)/M` and :math:`h_g = m_g/M`: clustered OLS and GLM have
        :math:`G/(G-1) \sum r_g^2`, CR2 from what OLS holds :math:`\sum r_g^2/(1-h_g)`, GEE with independence
        :math:`\sum r_g^2`, bias-reduced :math:`\sum r_g^2/(1-h_g)^2`. The exchangeable working correlation estimates another
        mean unless all clusters are equally large. Over two crossed clusterings OLS and GLM have :math:`V_a + V_b - V_{ab}`, CR2
        is that sum of one-way ones, and GEE takes one clustering only; of three statsmodels takes none. A negative sum leaves
        statsmodels without an error. GEE is skipped above 1,000,000 rows or 100,000 clusters of a cell of the
        answer, and bias-reduced where the cubes of the cluster sizes add up to more than 1e11.

        References
        ----------
        Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering. Journal of Business
        & Economic Statistics 29, 238-249. https://doi.org/10.1198/jbes.2010.07136

        Liang, K.-Y. and Zeger, S. L. (1986). Longitudinal data analysis using generalized linear models. Biometrika 73, 13-22.
        https://doi.org/10.1093/biomet/73.1.13

        Mancl, L. A. and DeRouen, T. A. (2001). A covariance estimator for GEE with improved small-sample properties. Biometrics
        57, 126-134. https://doi.org/10.1111/j.0006-341x.2001.00126.x

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> answer = ds.evalci.crosscheck("doc_id")
        >>> answer.std_error.sel(estimator=["cr1", "ols_cluster_t"]).round(4).values.tolist()
        [[0.0486, 0.0486], [0.0433, 0.0433], [0.0422, 0.0422]]
        """
        return _xarray.crosscheck.crosscheck(
            self._obj,
            cluster,
            score=score,
            dim=dim,
            weights=weights,
            factor=factor,
            item=item,
            sample=sample,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            options=CrosscheckOptions(
                against=against,
                contrast=contrast,
                confidence_level=confidence_level,
                tolerance=tolerance,
            ),
        )


class CrosscheckDataArrayMethods:
    """The method of ``da.evalci`` that checks the others."""

    _obj: xr.DataArray

    def crosscheck(
        self,
        cluster: Specs,
        *,
        dim: Dims = None,
        weights: Spec | None = None,
        factor: Spec | None = None,
        item: Specs | None = None,
        pairs: Pairs | None = None,
        baseline: Hashable = None,
        sample: Specs | None = None,
        against: object = None,
        contrast: object = None,
        confidence_level: float = 0.95,
        tolerance: float = 1e-6,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        """Our numbers beside those of statsmodels, or beside a model that you fitted.

        Parameters
        ----------
        cluster : name, DataArray or list of these
            A coordinate of the scores, or an array along one or several of their dims; of crossed clusterings a list.
        dim, weights, factor, item, pairs, baseline, sample, against, contrast, confidence_level, tolerance, unmatched, nan_policy
            As in `DatasetAccessor.crosscheck`, whose formulas, assumptions and sources hold here too.

        Returns
        -------
        Dataset
            As `DatasetAccessor.crosscheck`.

        Raises
        ------
        EvalCIError
            As `DatasetAccessor.crosscheck`.

        Examples
        --------
        >>> import evalci_accessor
        >>> scores = evalci_accessor.datasets.load_rag_eval_cube()["score"]
        >>> answer = scores.evalci.crosscheck("doc_id", factor="model", pairs=[("boreal", "atlas")])
        >>> answer.agrees.sel(estimator=["ols_cluster_t", "gee_independence"]).values.tolist()
        [[True, True]]
        """
        return _xarray.crosscheck.crosscheck(
            self._obj,
            cluster,
            score=None,
            dim=dim,
            weights=weights,
            factor=factor,
            item=item,
            sample=sample,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            options=CrosscheckOptions(
                against=against,
                contrast=contrast,
                confidence_level=confidence_level,
                tolerance=tolerance,
            ),
        )
