"""The accessors: a signature, a docstring and one call a method."""

from __future__ import annotations

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import RateOptions
from evalci_accessor._plots import Plots
from evalci_accessor._xarray.components_accessor import ComponentsDatasetMethods
from evalci_accessor._xarray.crosscheck_accessor import CrosscheckDatasetMethods
from evalci_accessor._xarray.dims import Dims
from evalci_accessor._xarray.paired_accessor import PairedDatasetMethods, Spec, Specs
from evalci_accessor._xarray.plan_accessor import PlanDatasetMethods
from evalci_accessor._xarray.plot_accessor import DatasetPlots
from evalci_accessor._xarray.repeated_accessor import RepeatedDatasetMethods
from evalci_accessor._xarray.report_accessor import ReportDatasetMethods
from evalci_accessor.options import (
    Alternative,
    ClusterMethod,
    DegreesOfFreedom,
    IccMethod,
    NanPolicy,
    ProportionMethod,
)


class DatasetAccessor(
    PairedDatasetMethods,
    CrosscheckDatasetMethods,
    RepeatedDatasetMethods,
    ComponentsDatasetMethods,
    PlanDatasetMethods,
    ReportDatasetMethods,
):
    """Honest intervals for a cube of scores: ``ds.evalci``."""

    plot = Plots(DatasetPlots)

    def __init__(self, obj: xr.Dataset) -> None:
        self._obj = obj

    def proportion_ci(
        self,
        *,
        score: Spec = "score",
        dim: Dims = None,
        weights: Spec | None = None,
        method: ProportionMethod = "wilson",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        r"""Textbook interval of a pass rate, which takes every cell as independent.

        Parameters
        ----------
        score : name or DataArray, default "score"
            Scores in [0, 1].
        dim : name, list of names or ..., optional
            What is reduced; every other dim is kept. It may be left out where the scores have one dim. (The frame's ``by``
            has the opposite sense: it names what is kept.)
        weights : name or DataArray, optional
            How much each cell counts, >= 0, on any scale; a cell of weight 0 is absent. They are no counts.
        method : {"wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull"}
            Which interval.
        alternative : {"two-sided", "less", "greater"}
            ``"greater"`` gives a lower limit (the upper is 1), ``"less"`` an upper one (the lower is 0).
        confidence_level : float, default 0.95
            Nominal level.
        nan_policy : {"raise", "omit"}
            What to do about missing scores: an item that was never run is not a failure. ``"omit"`` leaves them out and
            says how many.

        Returns
        -------
        Dataset
            Over the kept dims, the variables ``estimate, std_error, ci_low, ci_high, df, n, n_clusters, cluster, icc,
            design_effect, n_eff, method, confidence_level``, as `cluster_ci` has them. Here every cell counts as a cluster
            of its own.

        Raises
        ------
        ColumnNotFoundError, DimensionError, AlignmentError, AmbiguousNameError
            A name, dim or array that does not fit.
        ScoreTypeError, ScoreRangeError, MissingScoreError, ScoreError
            Scores that are text, outside [0, 1], missing, or infinite.
        WeightError
            Weights that cannot be used.

        See Also
        --------
        cluster_ci : The interval to report where items come in clusters.

        Notes
        -----
        Wilson: :math:`(p + z^2/2n \pm z\sqrt{p(1-p)/n + z^2/4n^2})/(1 + z^2/n)`. It assumes independent items; with
        clusters it is too narrow by ``design_effect().width_ratio``. With weights n is an effective number of cells, as in
        `DataFrameAccessor.proportion_ci`.

        References
        ----------
        Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion. Statistical Science
        16, 101-133. https://doi.org/10.1214/ss/1009213286

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> ds.evalci.proportion_ci(dim="item").estimate.values
        array([0.695, 0.755, 0.62 ])
        """
        return _xarray.methods.proportion_ci(
            self._obj,
            score=score,
            dim=dim,
            weights=weights,
            method=method,
            alternative=alternative,
            confidence_level=confidence_level,
            nan_policy=nan_policy,
        )

    def cluster_ci(
        self,
        cluster: Specs,
        *,
        score: Spec = "score",
        dim: Dims = None,
        weights: Spec | None = None,
        method: ClusterMethod = "auto",
        df: DegreesOfFreedom = "auto",
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> xr.Dataset:
        r"""Interval of a pass rate (or mean score) whose items come in clusters.

        Parameters
        ----------
        cluster : name, DataArray or list of these
            What the items share: a coordinate or variable along one or several dims of the scores. A list names crossed
            clusterings, as ``["doc_id", "prompt_id"]``: scores that share any of their ids are dependent. Of nested ones the
            coarsest counts, which is said.
        score : name or DataArray, default "score"
            The scores, numbers or booleans. Fractions are welcome.
        dim : name, list of names or ..., optional
            What is reduced; every other dim is kept. By default the dims of ``cluster``. (The frame's ``by`` has the
            opposite sense: it names what is kept.)
        weights : name or DataArray, optional
            Weights >= 0; their scale does not matter and a cell of weight 0 is absent.
        method, df, alternative, confidence_level, n_resamples, rng
            As in `DataFrameAccessor.cluster_ci`.
        nan_policy : {"raise", "omit"}
            What to do about missing scores: an item that was never run is not a failure. ``"omit"`` leaves them out and
            says how many.

        Returns
        -------
        Dataset
            Over the kept dims, the variables ``estimate``, ``std_error``, ``ci_low``, ``ci_high``, ``df``, ``n``,
            ``n_clusters``, ``cluster``, ``icc``, ``design_effect``, ``n_eff``, ``method`` and ``confidence_level``;
            with a dim kept, ``.to_dataframe()`` gives the frame's answer.

        Raises
        ------
        ColumnNotFoundError, DimensionError, AlignmentError, AmbiguousNameError
            A name, dim or array that does not fit.
        ScoreTypeError, ScoreRangeError, MissingScoreError, ScoreError
            Scores that are text, outside the method's range, missing, or infinite.
        ClusterError, MissingClusterError, WeightError, MethodError
            Clusters, weights or options that cannot be used.

        Notes
        -----
        The default solves :math:`\sum_k w_k I_L(p n_k, (1-p) n_k + 1) = \alpha/2` for the lower limit and the mirror image
        for the upper, with :math:`n_k = M/(1 + (M/G^* - 1)\rho_k)` averaged over the posterior :math:`w_k` of the
        intracluster correlation. It assumes that clusters are independent and exchangeable given their sizes.

        Crossed clusterings take the variance :math:`V_a + V_b - V_{ab}` (Cameron, Gelbach and Miller), and the least degrees of
        freedom. The default averages over the posteriors of all their ICCs, with
        :math:`\mathrm{Deff} = 1 + \sum_a e_a\rho_a - \sum_{a<b} e_{ab}\bar\rho_{ab} + \dots`, :math:`e = M/G^* - 1`, in place of
        one. It assumes that the clusters of each clustering are independent.

        References
        ----------
        Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
        counts estimated from survey data. Survey Methodology 24, 193-201.

        Pustejovsky, J. E. and Tipton, E. (2018). Small-sample methods for cluster-robust variance estimation and hypothesis
        testing in fixed effects models. Journal of Business & Economic Statistics 36, 672-683.
        https://doi.org/10.1080/07350015.2016.1247004

        Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering. Journal of Business &
        Economic Statistics 29, 238-249. https://doi.org/10.1198/jbes.2010.07136

        Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1, 386-411. https://doi.org/10.1214/07-AOAS122

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> answer = ds.evalci.cluster_ci("doc_id")
        >>> answer.ci_low.round(3).values
        array([0.589, 0.659, 0.532])
        """
        return _xarray.methods.cluster_ci(
            self._obj,
            cluster,
            score=score,
            dim=dim,
            weights=weights,
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

    def design_effect(
        self,
        cluster: Specs | None = None,
        *,
        score: Spec = "score",
        dim: Dims = None,
        weights: Spec | None = None,
        icc_method: IccMethod = "anova",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
    ) -> xr.Dataset:
        r"""How clustered the scores are, by what, and how far too narrow a naive interval is.

        Parameters
        ----------
        cluster : name, DataArray or list of these, optional
            One clustering, or several to compare. With none, every coordinate and variable along the reduced dims that
            repeats its values is tried, except yes/no ones and fractional measurements. Several that are named have a further
            label for all that are crossed, together, as ``"doc_id + prompt_id"``.
        score, dim, weights, nan_policy
            As in `cluster_ci`; by default the dims of all the clusterings are reduced.
        icc_method : {"anova", "fleiss_cuzick", "pairwise", "posterior"}
            Estimator of the ICC.
        confidence_level : float, default 0.95
            Level of the ICC's interval.

        Returns
        -------
        Dataset
            Over the kept dims and a dim ``cluster``, the largest design effect first: ``icc``, ``icc_low``, ``icc_high``,
            ``design_effect``, ``n_eff``, ``width_ratio``, ``n``, ``n_clusters``, ``effective_clusters``,
            ``largest_share``, ``size_min``, ``size_median``, ``size_max``, ``icc_method``, ``confidence_level``.

        Raises
        ------
        EvalCIError
            The same as in `cluster_ci`, each a class of its own.

        Notes
        -----
        :math:`\mathrm{Deff} = 1 + (\sum m_g^2/M - 1)\max(\rho, 0)`, and ``width_ratio`` is its root. Each clustering takes
        its own clusters as independent.

        References
        ----------
        Kish, L. (1965). Survey Sampling. Wiley.

        Ridout, M. S., Demetrio, C. G. B. and Firth, D. (1999). Estimating intraclass correlation for binary data. Biometrics
        55, 137-148. https://doi.org/10.1111/j.0006-341x.1999.00137.x

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> ds.evalci.design_effect("doc_id").design_effect.round(2).values
        array([[2.2, 2. , 1.5]])
        """
        return _xarray.methods.design_effect(
            self._obj,
            cluster,
            score=score,
            dim=dim,
            weights=weights,
            icc_method=icc_method,
            confidence_level=confidence_level,
            nan_policy=nan_policy,
        )
