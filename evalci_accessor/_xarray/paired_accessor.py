"""Two systems on the same items: the part of the Dataset accessor that compares them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import xarray as xr

from evalci_accessor import _xarray
from evalci_accessor._options import CompareOptions, DiffOptions, TestOptions
from evalci_accessor._xarray.dims import Dims
from evalci_accessor.options import (
    Alternative,
    Claim,
    CompareTest,
    Correction,
    DiffMethod,
    Layout,
    NanPolicy,
    PairTestMethod,
    Unmatched,
)

Spec: TypeAlias = Hashable | xr.DataArray
Specs: TypeAlias = Spec | Sequence[Hashable | xr.DataArray]
Pairs: TypeAlias = Sequence[tuple[Hashable, Hashable]]


class PairedDatasetMethods:
    """The methods of ``ds.evalci`` that compare systems."""

    _obj: xr.Dataset

    def mcnemar(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        score: Spec = "score",
        dim: Dims = None,
        weights: Spec | None = None,
        method: PairTestMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        layout: Layout = "pair",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> xr.Dataset:
        r"""Whether two systems differ on the same items: McNemar's test, with clusters or without.

        Parameters
        ----------
        factor : name or DataArray
            The dim along which the systems lie, or a coordinate along it. A difference is the first system of a pair minus
            the second.
        item : name, DataArray or list of these, optional
            Dims of the items, or coordinates along them that make their key. By default the dims of the cluster, or the one
            dim that is left.
        cluster : name, DataArray or list of these, optional
            What the items share: a coordinate or variable along their dims; it may vary along dims that stay. A list names crossed
            clusterings, as ``["doc_id", "prompt_id"]``; of nested ones the coarsest counts, which is said.
        score : name or DataArray, default "score"
            The scores, 0 or 1.
        dim : name, list of names or ..., optional
            What is reduced; by default the dims of the items. Every other dim is kept. (The frame's ``by`` has the opposite
            sense: it names what is kept.)
        weights : name or DataArray, optional
            How much each item counts, as in `DataFrameAccessor.mcnemar`: along the items, the dims that stay, or both; along the
            systems or repeats only if it is the same there.
        layout : {"pair", "square"}
            One dim ``pair`` with the systems as coordinates ``<factor>_a`` and ``<factor>_b`` along it, or two dims of these
            names, of all ordered pairs unless ``baseline`` or ``pairs`` name them.
        method, alternative, baseline, pairs, unmatched, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.mcnemar`.

        Returns
        -------
        Dataset
            Over the kept dims and the pairs, the variables ``estimate_a``, ``estimate_b``, ``difference``, ``n_pairs``
            (items), ``n_clusters``, ``cluster``, the items that ``both_pass``, ``only_a``, ``only_b``, ``both_fail``,
            ``statistic``, ``pvalue``, ``alternative``, ``null`` (what is tested) and ``method`` (what ran). With
            ``layout="pair"``, ``.to_dataframe()`` gives the frame's columns.

        Raises
        ------
        PairingError
            An item that only one system has, two scores for one item and system, a single system, a missing name or id.
        ColumnNotFoundError, DimensionError, AmbiguousNameError, AlignmentError
            A name, array or dim that does not fit.
        ScoreTypeError, ScoreRangeError, MissingScoreError, ScoreError
            Scores that are text, outside the method's range, missing, or infinite.
        ClusterError, MissingClusterError
            A single cluster, an item in two clusters, or scores without a cluster id.
        WeightError, MethodError
            Weights that cannot be used, or that a method does not take; options that do not exist or do not go together.

        Warns
        -----
        EvalCIWarning
            A class of its own for each: few or dominating clusters, few items on which the systems differ, items or scores
            left out at your request.

        See Also
        --------
        diff_ci : By how much they differ.
        compare : All pairs, corrected for their number.

        Notes
        -----
        Only items on which the systems differ count: with :math:`b` items that only the first passes and :math:`c` that only
        the second passes, the exact test is binomial, :math:`p = \min(1, 2 P(X \le \min(b, c)))` with
        :math:`X \sim B(b + c, 1/2)`; mid-p takes half of the probability of what was observed off; the asymptotic statistic is
        :math:`(b - c)^2/(b + c)`. They assume independent items. With clusters the default is Tango's score test at the
        effective sample size :math:`n_k`, averaged over the posterior of the intracluster correlation of the item
        differences; it assumes that clusters are independent and exchangeable given their sizes. Without a discordant item
        p is 1.

        References
        ----------
        McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
        Psychometrika 12, 153-157. https://doi.org/10.1007/BF02295996

        Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary matched-pairs data: mid-p and
        asymptotic are better than exact conditional. BMC Medical Research Methodology 13, 91.
        https://doi.org/10.1186/1471-2288-13-91

        Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample
        design. Statistics in Medicine 17, 891-908.

        Eliasziw, M. and Donner, A. (1991). Application of the McNemar test to non-independent matched pair data. Statistics
        in Medicine 10, 1981-1991. https://doi.org/10.1002/sim.4780101211

        Obuchowski, N. A. (1998). On the comparison of correlated proportions for clustered data. Statistics in Medicine 17,
        1495-1507.

        Durkalski, V. L., Palesch, Y. Y., Lipsitz, S. R. and Rust, P. F. (2003). Analysis of clustered matched-pair data.
        Statistics in Medicine 22, 2417-2428. https://doi.org/10.1002/sim.1438

        Yang, Z., Sun, X. and Hardin, J. W. (2010). A note on the tests for clustered matched-pair binary data. Biometrical
        Journal 52, 638-652. https://doi.org/10.1002/bimj.201000035

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> ds.evalci.mcnemar("model", cluster="doc_id").pvalue.round(3).values
        array([0.256, 0.176, 0.011])
        """
        return _xarray.pairs.mcnemar(
            self._obj, factor, item=item, cluster=cluster, score=score, dim=dim, weights=weights, baseline=baseline,
            pairs=pairs, unmatched=unmatched, nan_policy=nan_policy, layout=layout,
            options=TestOptions(method=method, alternative=alternative, n_resamples=n_resamples, rng=rng),
        )  # fmt: skip

    def diff_ci(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
        dim: Dims = None,
        weights: Spec | None = None,
        margin: float | None = None,
        claim: Claim | None = None,
        method: DiffMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        layout: Layout = "pair",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> xr.Dataset:
        r"""By how much two systems differ on the same items, with a verdict against a margin.

        Parameters
        ----------
        factor : name or DataArray
            The dim along which the systems lie, or a coordinate along it. A difference is the first system of a pair minus
            the second.
        item : name, DataArray or list of these, optional
            Dims of the items, or coordinates along them that make their key. By default the dims of the cluster, or the one
            dim that is left.
        cluster : name, DataArray or list of these, optional
            What the items share: a coordinate or variable along their dims; it may vary along dims that stay. A list names crossed
            clusterings, as ``["doc_id", "prompt_id"]``; of nested ones the coarsest counts, which is said.
        sample : name or list of names, optional
            Dims of the repeats of an item, which are averaged within it.
        score : name or DataArray, default "score"
            The scores, numbers or booleans.
        dim : name, list of names or ..., optional
            What is reduced; by default the dims of the items and of the samples. Every other dim is kept. (The frame's
            ``by`` has the opposite sense: it names what is kept.)
        weights : name or DataArray, optional
            How much each item counts, as in `DataFrameAccessor.mcnemar`: along the items, the dims that stay, or both; along the
            systems or repeats only if it is the same there.
        layout : {"pair", "square"}
            One dim ``pair`` with the systems as coordinates ``<factor>_a`` and ``<factor>_b`` along it, or two dims of these
            names, of all ordered pairs unless ``baseline`` or ``pairs`` name them.
        margin, claim, method, alternative, baseline, pairs, confidence_level, unmatched, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.diff_ci`.

        Returns
        -------
        Dataset
            Over the kept dims and the pairs, the variables ``estimate_a``, ``estimate_b``, ``difference``, ``std_error``,
            ``ci_low``, ``ci_high``, ``n_pairs`` (items), ``n_clusters``, ``cluster``, ``both_pass``, ``only_a``, ``only_b``,
            ``both_fail`` (items; nan where scores are not 0 or 1), ``statistic``, ``pvalue`` (of no difference),
            ``alternative``, ``margin``, ``claim``, ``verdict`` (superior, inferior, noninferior, equivalent, different or
            inconclusive, said of the first system), ``pvalue_verdict``, ``method`` and ``confidence_level``. With
            ``layout="pair"``, ``.to_dataframe()`` gives the frame's columns.

        Raises
        ------
        PairingError
            An item that only one system has, two scores for one item and system, a single system, a missing name or id.
        ColumnNotFoundError, DimensionError, AmbiguousNameError, AlignmentError
            A name, array or dim that does not fit.
        ScoreTypeError, ScoreRangeError, MissingScoreError, ScoreError
            Scores that are text, outside the method's range, missing, or infinite.
        ClusterError, MissingClusterError
            A single cluster, an item in two clusters, or scores without a cluster id.
        WeightError, MethodError
            Weights that cannot be used, or that a method does not take; options that do not exist or do not go together.

        Warns
        -----
        EvalCIWarning
            A class of its own for each: few or dominating clusters, few items on which the systems differ, items or scores
            left out at your request.

        See Also
        --------
        mcnemar : The test alone, in all its forms.
        compare : All pairs, corrected for their number.

        Notes
        -----
        With clusters the default inverts Tango's score test at the effective sample size
        :math:`n_k = M/(1 + (M/G^* - 1)\rho_k)`, :math:`G^* = M^2/\sum m_g^2`, averaged over the posterior of the intracluster
        correlation :math:`\rho` of the item differences (six clusters or more of one item: Tango's own). It assumes that clusters
        are independent and exchangeable given their sizes. The verdict is given where ``pvalue_verdict`` is at most
        1 - ``confidence_level``: of one one-sided test for noninferiority, and for superiority by more than a margin; of both
        one-sided tests (TOST) for equivalence. It takes more as better (else pass 1 - score); pairs are not corrected for.

        References
        ----------
        Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample
        design. Statistics in Medicine 17, 891-908.

        Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial proportions based on paired
        data. Statistics in Medicine 17, 2635-2650.

        Bonett, D. G. and Price, R. M. (2012). Adjusted Wald confidence interval for a difference of binomial proportions based
        on paired data. Journal of Educational and Behavioral Statistics 37, 479-488.
        https://doi.org/10.3102/1076998611411915

        Agresti, A. and Min, Y. (2005). Simple improved confidence intervals for comparing matched proportions. Statistics in
        Medicine 24, 729-740. https://doi.org/10.1002/sim.1781

        Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
        samples. Survey Methodology 28, 169-181.

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> answer = ds.evalci.diff_ci("model", cluster="doc_id", layout="square")
        >>> answer.difference.round(3).values
        array([[   nan, -0.06 ,  0.075],
               [ 0.06 ,    nan,  0.135],
               [-0.075, -0.135,    nan]])
        """
        return _xarray.pairs.diff_ci(
            self._obj, factor, item=item, cluster=cluster, sample=sample, score=score, dim=dim, weights=weights,
            baseline=baseline, pairs=pairs, unmatched=unmatched, nan_policy=nan_policy, layout=layout,
            options=DiffOptions(
                method=method, alternative=alternative, margin=margin, claim=claim, confidence_level=confidence_level,
                n_resamples=n_resamples, rng=rng,
            ),
        )  # fmt: skip

    def compare(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Specs | None = None,
        sample: Specs | None = None,
        score: Spec = "score",
        dim: Dims = None,
        weights: Spec | None = None,
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        method: DiffMethod = "auto",
        test: CompareTest = "auto",
        correction: Correction = "holm",
        correction_within: Hashable | Sequence[Hashable] = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        layout: Layout = "pair",
        n_resamples: int = 9999,
        rng: object = None,
    ) -> xr.Dataset:
        r"""All pairs of systems in one table, corrected for their number, most evidence first.

        Parameters
        ----------
        factor : name or DataArray
            The dim along which the systems lie, or a coordinate along it. A difference is the first system of a pair minus
            the second.
        item : name, DataArray or list of these, optional
            Dims of the items, or coordinates along them that make their key. By default the dims of the cluster, or the one
            dim that is left.
        cluster : name, DataArray or list of these, optional
            What the items share: a coordinate or variable along their dims; it may vary along dims that stay. A list names crossed
            clusterings, as ``["doc_id", "prompt_id"]``; of nested ones the coarsest counts, which is said.
        sample : name or list of names, optional
            Dims of the repeats of an item, which are averaged within it.
        score : name or DataArray, default "score"
            The scores, numbers or booleans.
        dim : name, list of names or ..., optional
            What is reduced; by default the dims of the items and of the samples. Every other dim is kept. (The frame's
            ``by`` has the opposite sense: it names what is kept.)
        weights : name or DataArray, optional
            How much each item counts, as in `DataFrameAccessor.mcnemar`: along the items, the dims that stay, or both; along the
            systems or repeats only if it is the same there.
        test : {"auto", "exact", "midp", "interval"}
            Where p-values come from: McNemar's exact test or its mid-p, for independent items and scores of 0 and 1, or the
            law of the interval. ``"auto"`` is ``"exact"`` where it applies, without weights.
        correction : {"holm", "hochberg", "bonferroni", "bh", "by", "none"}
            Of the p-values for their number: ``"holm"`` bounds the chance of any false finding, ``"bh"`` the expected share
            of false ones.
        correction_within : name or list of names, optional
            Dims that stay, within each of which the correction runs on its own; by default it runs over the whole table.
        layout : {"pair", "square"}
            One dim ``pair`` with the systems as coordinates ``<factor>_a`` and ``<factor>_b`` along it, or two dims of these
            names, mirrored, unless ``baseline`` or ``pairs`` name the pairs.
        baseline, pairs, method, confidence_level, unmatched, nan_policy, n_resamples, rng
            As in `DataFrameAccessor.compare`.

        Returns
        -------
        Dataset
            Over the kept dims and the pairs, the one with the smallest p-value first, the variables ``estimate_a``,
            ``estimate_b``, ``difference``, ``std_error``, ``ci_low``, ``ci_high``, ``n_pairs`` (items), ``n_clusters``,
            ``cluster``, ``both_pass``, ``only_a``, ``only_b``, ``both_fail`` (items; nan where scores are not 0 or 1),
            ``statistic``, ``pvalue``, ``pvalue_adj``, ``simultaneous_low``, ``simultaneous_high``, ``test``,
            ``correction``, ``method`` and ``confidence_level``. With ``layout="pair"``, ``.to_dataframe()`` gives the
            frame's columns.

        Raises
        ------
        EvalCIError
            The same as in `diff_ci`, each a class of its own.

        See Also
        --------
        diff_ci : One pair, with a verdict against a margin.

        Notes
        -----
        The interval of each pair is that of `diff_ci`, and with clusters so is its p-value. The correction runs over all
        rows of the table, so that a table by language is corrected for all its languages at once; ``correction_within``
        says otherwise. The simultaneous limits hold together within such a family: sup-t, :math:`P(\max_j |t_j| \le c) = ` the
        level, with the quantile :math:`c` from a multiplier bootstrap over whole clusters, which knows how the pairs hang
        together.

        References
        ----------
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.

        Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful approach to
        multiple testing. Journal of the Royal Statistical Society B 57, 289-300.
        https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

        Montiel Olea, J. L. and Plagborg-Moller, M. (2019). Simultaneous confidence bands: theory, implementation, and an
        application to SVARs. Journal of Applied Econometrics 34, 1-17. https://doi.org/10.1002/jae.2656

        Examples
        --------
        >>> import evalci_accessor
        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> answer = ds.evalci.compare("model", cluster="doc_id", rng=1)
        >>> answer.model_a.values.tolist(), answer.pvalue_adj.round(3).values.tolist()
        (['boreal', 'atlas', 'atlas'], [0.034, 0.351, 0.351])
        """
        return _xarray.pairs.compare(
            self._obj, factor, item=item, cluster=cluster, sample=sample, score=score, dim=dim, weights=weights,
            baseline=baseline, pairs=pairs, correction_within=correction_within, unmatched=unmatched, nan_policy=nan_policy,
            layout=layout,
            options=CompareOptions(
                method=method, test=test, correction=correction, confidence_level=confidence_level, n_resamples=n_resamples,
                rng=rng,
            ),
        )  # fmt: skip
