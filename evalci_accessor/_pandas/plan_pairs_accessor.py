"""Planning the comparison of two systems from a pilot: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import PlanOptions
from evalci_accessor._pandas.paired_accessor import Pairs, Spec, Specs
from evalci_accessor.options import Alternative, Claim, NanPolicy, PlanMethod, Unmatched

Numbers: TypeAlias = float | Sequence[float]
Counts: TypeAlias = int | Sequence[int]


class PlanPairsFrameMethods:
    """The methods of ``df.evalci`` that plan for two systems alone."""

    _obj: pd.DataFrame

    def power(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Spec | None = None,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        sample: Spec | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        method: PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> pd.DataFrame:
        r"""Probability that the next eval shows a difference of two systems, with other numbers of clusters, items and samples.

        Parameters
        ----------
        factor, item, cluster, score, by, baseline, pairs, unmatched, nan_policy
            As in `diff_ci`; one clustering, or none if the items are independent (``n_clusters`` then counts items).
        difference : number or list, optional
            The true difference of the first system of a pair minus the second that is worth finding. The pilot's own is not used.
            Against a margin 0 by default.
        margin : number or list, optional
            Margin of the claim, in units of the scores, as in `diff_ci`.
        claim : {"superiority", "noninferiority", "equivalence"}, optional
            What is to be shown: superiority without a margin, else noninferiority.
        n_clusters, items_per_cluster, n_samples : number or list, optional
            The design, as in `half_width`. A list makes a row for each; several lists make a grid.
        sample : label or array_like, optional
            What numbers the samples of an item, as in `diff_ci`. Needed for ``n_samples`` above 1.
        method : {"auto", "icc_averaged", "tango", "cr2"}
            The test that is planned for; ``"auto"`` is what `diff_ci` would run on such scores.
        alternative : {"two-sided", "less", "greater"}
            Side of the test without a margin.
        confidence_level : float, default 0.95
            Level of the interval that is to exclude 0 (or the margin), and of the limits of the pilot's ICC.

        Returns
        -------
        DataFrame
            Keys, ``<factor>_a`` and ``<factor>_b``, then ``power`` at the posterior mean of the ICC of the pilot's differences,
            ``power_low`` and ``power_high``, its range between the ICC's limits, ``power_limit`` (with items without number in
            as many clusters), the goal (``difference``, ``margin``, ``claim``), the design and what the pilot told, as in
            `half_width` (``disagreement``, the share of items on which single scores disagree, in place of ``estimate``;
            ``std_dev`` of a single difference), ``cluster``, ``alternative``, ``method`` and ``confidence_level``.

        Raises
        ------
        PilotError
            The two systems never differ in the pilot, have no item in common, or disagree on fewer items than ``difference`` needs.
        MethodError
            No difference and no margin, several samples asked of a pilot with one an item, crossed clusterings, numbers that
            cannot be.
        EvalCIError
            As `diff_ci`.

        Warns
        -----
        FewClustersWarning
            The pilot's clusters are so few that they hardly tell the ICC.

        See Also
        --------
        mde : The smallest difference that a design shows.
        required_clusters : How many clusters a power needs.

        Notes
        -----
        Differences of single scores vary by :math:`V_1 = D - \delta^2`, with D the pilot's share of items on which the systems
        disagree and :math:`\delta` the difference asked about (graded scores: by the pilot's variance). From there on as in
        `half_width`; the test is that of `diff_ci`, whose critical values are those of designs drawn under a Gaussian model. Of
        the pilot only D (or the variance), the ICC and the sizes are used, and not its difference: one that led to a plan is
        too large on average.

        References
        ----------
        Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample
        design. Statistics in Medicine 17, 891-908.

        Gelman, A. and Carlin, J. (2014). Beyond power calculations: assessing type S (sign) and type M (magnitude) errors.
        Perspectives on Psychological Science 9, 641-651. https://doi.org/10.1177/1745691614551642

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> plan = df.evalci.power(
        ...     "model", item="item", cluster="doc_id", pairs=[("boreal", "atlas")], difference=0.06, n_clusters=[40, 160]
        ... )
        >>> plan[["model_a", "model_b", "difference", "n_clusters", "power", "power_low", "power_high"]].round(2)
          model_a model_b  difference  n_clusters  power  power_low  power_high
        0  boreal   atlas        0.06          40   0.20       0.16        0.25
        1  boreal   atlas        0.06         160   0.62       0.48        0.78
        """
        return _pandas.plan.power(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
            by=by,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            asked={
                "difference": difference,
                "margin": margin,
                "n_clusters": n_clusters,
                "items_per_cluster": items_per_cluster,
                "n_samples": n_samples,
            },
            options=PlanOptions(method=method, confidence_level=confidence_level, claim=claim, alternative=alternative),
        )

    def mde(
        self,
        factor: Spec,
        *,
        item: Specs | None = None,
        cluster: Spec | None = None,
        power: Numbers = 0.8,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        sample: Spec | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        method: PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> pd.DataFrame:
        r"""Smallest true difference of two systems that the next eval shows with a given power, or the smallest margin.

        Parameters
        ----------
        factor, item, cluster, sample, score, by, baseline, pairs, unmatched, nan_policy
            As in `power`.
        power : number or list, default 0.8
            Power to reach.
        claim : {"superiority", "noninferiority", "equivalence"}, optional
            What is to be shown. Superiority, the default, seeks the difference; the others seek the margin.
        difference : number or list, optional
            The true difference at which a margin is sought, 0 by default.
        margin : number or list, optional
            With ``claim="superiority"``, what the difference must be shown to exceed.
        n_clusters, items_per_cluster, n_samples : number or list, optional
            The design, as in `half_width`; that of the pilot by default.
        method, alternative, confidence_level
            As in `power`.

        Returns
        -------
        DataFrame
            Keys, ``<factor>_a`` and ``<factor>_b``, then ``mde`` (the difference, or the margin) at the posterior mean of the
            ICC of the pilot's differences, ``mde_low`` and ``mde_high``, its range between the ICC's limits, ``difference``,
            ``margin``, ``claim``, ``power``, then as in `power`. nan where even the largest difference that can be is not shown
            with that power.

        Raises
        ------
        EvalCIError
            As `power`; a difference, or a margin, that is given where it is sought.

        Warns
        -----
        FewClustersWarning
            The pilot's clusters are so few that they hardly tell the ICC.

        See Also
        --------
        power : What a difference that was named has.

        Notes
        -----
        The inverse of `power`: the difference at which it is what was asked for, to 1e-9. The share of items on which the systems
        disagree stays that of the pilot, and the difference cannot exceed it.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> plan = df.evalci.mde("model", item="item", cluster="doc_id", baseline="atlas", n_clusters=[40, 160])
        >>> plan[["model_a", "model_b", "n_clusters", "mde", "mde_low", "mde_high"]].round(3)
           model_a model_b  n_clusters    mde  mde_low  mde_high
        0   boreal   atlas          40  0.146    0.125     0.171
        1   boreal   atlas         160  0.074    0.062     0.087
        2  cascade   atlas          40  0.154    0.136     0.181
        3  cascade   atlas         160  0.078    0.067     0.092
        """
        return _pandas.plan.mde(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
            by=by,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            asked={
                "power": power,
                "difference": difference,
                "margin": margin,
                "n_clusters": n_clusters,
                "items_per_cluster": items_per_cluster,
                "n_samples": n_samples,
            },
            options=PlanOptions(method=method, confidence_level=confidence_level, claim=claim, alternative=alternative),
        )
