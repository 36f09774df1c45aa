"""Planning the next eval from a pilot: a signature, a docstring and one call."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd

from evalci_accessor import _pandas
from evalci_accessor._options import PlanOptions
from evalci_accessor._pandas.paired_accessor import Pairs, Spec, Specs
from evalci_accessor._pandas.plan_pairs_accessor import Counts, Numbers, PlanPairsFrameMethods
from evalci_accessor.options import Alternative, Claim, ClusterMethod, NanPolicy, PlanMethod, Unmatched


class PlanFrameMethods(PlanPairsFrameMethods):
    """The methods of ``df.evalci`` that plan from a pilot."""

    _obj: pd.DataFrame

    def half_width(
        self,
        cluster: Spec | None,
        *,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        item: Specs | None = None,
        sample: Spec | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        nested: bool = False,
        method: ClusterMethod = "auto",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_sims: int = 100,
        rng: object = 0,
    ) -> pd.DataFrame:
        r"""How wide the interval of a rate would be with other numbers of clusters, items and samples.

        Parameters
        ----------
        cluster : label or array_like, or None
            What the items share, as in `cluster_ci`; one clustering. None if the items are independent.
        n_clusters, items_per_cluster, n_samples : number or list, optional
            The design: clusters, items of each (their mean: sizes keep the proportions of the pilot), and samples of each item.
            Those of the pilot by default. A list makes a row for each; several lists make a grid.
        item, sample : label, array_like or list of these, optional
            What tells the items apart whose rows are samples, and what numbers these, as in `pass_at_k`. Without ``item`` each
            row is an item. Needed for ``n_samples`` above 1.
        score : label or array_like, default "score"
            The pilot's scores.
        by : label, array_like or list of these, optional
            A plan for each distinct key. (The xarray accessor's ``dim`` has the opposite sense: it names what is reduced.)
        nested : bool, default False
            Whether ids of items count within their cluster only.
        method : str, default "auto"
            The interval that is planned for, as in `cluster_ci` but for the bootstrap; ``"auto"`` is what that would run.
        confidence_level : float, default 0.95
            Level of that interval, and of the limits of the pilot's ICC.
        nan_policy : {"raise", "omit"}
            What to do about missing scores.
        n_sims : int, default 100
            Samples of each design that are drawn.
        rng : None, int, SeedSequence, BitGenerator or Generator, default 0
            Randomness of these.

        Returns
        -------
        DataFrame
            Keys, then ``half_width`` at the posterior mean of the pilot's ICC, ``half_width_low`` and ``half_width_high``, its
            range between the ICC's limits, ``half_width_limit`` (with items without number in as many clusters; nan if
            these are single items), the design (``n_clusters``, ``n_items``, ``n_samples``, ``items_per_cluster``), what the pilot
            told (``icc``, ``icc_low``, ``icc_high``, ``item_icc``, the correlation of two samples of an item, ``estimate``,
            ``std_dev`` of a single score, ``n_clusters_pilot``), ``cluster``, ``method`` and ``confidence_level``.

        Raises
        ------
        PilotError
            Nothing varies in the pilot (0 % or 100 % passed), or it holds no score: give numbers to `stats.half_width`.
        MethodError
            Several samples asked of a pilot with one an item, crossed clusterings, numbers that cannot be.
        EvalCIError
            As `cluster_ci`, and with ``item`` as `pass_at_k`.

        Warns
        -----
        FewClustersWarning
            The pilot's clusters are so few that they hardly tell the ICC.

        See Also
        --------
        required_clusters : How many clusters a half-width needs.
        variance_components : Where the variance comes from.

        Notes
        -----
        With :math:`V_1` the variance of a single score, :math:`\rho` the ICC and :math:`\kappa` the correlation of two samples
        of an item, an item's mean over n samples varies by :math:`V_1[\rho + (\kappa - \rho) + (1 - \kappa)/n]`, of which the
        first part is shared within a cluster. The half-width is the mean over samples drawn from that design, each with the
        interval that `cluster_ci` would give. The ICC is the posterior mean of the pilot, and its uncertainty, by far the
        largest of a small pilot, is carried through; its rate is taken as it is.

        References
        ----------
        Ridout, M. S., Demetrio, C. G. B. and Firth, D. (1999). Estimating intraclass correlation for binary data. Biometrics
        55, 137-148. https://doi.org/10.1111/j.0006-341x.1999.00137.x

        Examples
        --------
        Twice the questions, or twice the documents?

        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'")
        >>> plan = df.evalci.half_width("doc_id", n_clusters=[40, 80], items_per_cluster=[5, 10])
        >>> plan[["n_clusters", "items_per_cluster", "half_width", "half_width_low", "half_width_high"]].round(3)
           n_clusters  items_per_cluster  half_width  half_width_low  half_width_high
        0          40                5.0       0.098           0.083            0.112
        1          40               10.0       0.090           0.071            0.107
        2          80                5.0       0.069           0.058            0.079
        3          80               10.0       0.063           0.050            0.075
        """
        return _pandas.plan.half_width(
            self._obj,
            cluster,
            item=item,
            sample=sample,
            score=score,
            by=by,
            nested=nested,
            nan_policy=nan_policy,
            asked={"n_clusters": n_clusters, "items_per_cluster": items_per_cluster, "n_samples": n_samples},
            options=PlanOptions(method=method, confidence_level=confidence_level, n_sims=n_sims, rng=rng),
        )

    def required_clusters(
        self,
        factor: Spec | None = None,
        *,
        cluster: Spec | None = None,
        item: Specs | None = None,
        half_width: Numbers | None = None,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        power: Numbers = 0.8,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        sample: Spec | None = None,
        score: Spec = "score",
        by: Specs | None = None,
        nested: bool = False,
        method: ClusterMethod | PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: Pairs | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_sims: int = 100,
        rng: object = 0,
    ) -> pd.DataFrame:
        r"""How many clusters the next eval needs: for an interval of a rate, or to show something of two systems.

        Parameters
        ----------
        factor : label or array_like, optional
            What tells two systems apart, as in `diff_ci`. Without it the plan is for one rate.
        cluster, item, sample, score, by, nested, baseline, pairs, unmatched, nan_policy
            As in `half_width` for one rate, and in `power` for two systems.
        half_width : number or list, optional
            The goal for one rate: half of the width that its interval may have.
        difference, margin, claim, power : number or list, optional
            The goal for two systems, as in `power`; .8 by default.
        items_per_cluster, n_samples : number or list, optional
            As in `half_width`. A list makes a row for each, as do several goals; several lists make a grid.
        method, alternative, confidence_level, n_sims, rng
            As in `half_width` and `power`.

        Returns
        -------
        DataFrame
            Keys (and the two systems), the goal, ``n_clusters`` at the posterior mean of the pilot's ICC, ``n_clusters_low``
            and ``n_clusters_high``, its range between the ICC's limits, ``n_items``, ``n_samples`` and ``items_per_cluster`` of
            the former, ``half_width_limit`` or ``power_limit`` (what items without number would reach in as many clusters as
            the pilot has), then as in `half_width` or `power`.

        Raises
        ------
        MethodError
            No goal, or those of one rate and of two systems at once.
        EvalCIError
            As `half_width` and `power`.

        Warns
        -----
        PlanWarning
            In the clusters of the pilot no number of items reaches the goal.
        FewClustersWarning
            The pilot's clusters are so few that they hardly tell the ICC.

        See Also
        --------
        half_width, power : What a given design reaches.

        Notes
        -----
        The smallest number of clusters at which `half_width` is at most, or `power` at least, what was asked for. With m items
        to a cluster it grows with the ICC about as :math:`1 + (m - 1)\rho`, so what a small pilot does not know of :math:`\rho`
        it does not know of the number either: plan for ``n_clusters_high`` where a repeat would be dear.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> atlas = df.query("model == 'atlas'")
        >>> plan = atlas.evalci.required_clusters(cluster="doc_id", half_width=0.085)
        >>> plan[["half_width", "n_clusters", "n_clusters_low", "n_clusters_high", "icc"]].round(3)
           half_width  n_clusters  n_clusters_low  n_clusters_high  icc
        0       0.085          54              38               70  0.3
        >>> gate = df.evalci.required_clusters(
        ...     "model", item="item", cluster="doc_id", pairs=[("boreal", "atlas")], margin=0.12, items_per_cluster=[5, 20]
        ... )
        >>> gate[["items_per_cluster", "n_items", "n_clusters", "n_clusters_low", "n_clusters_high"]]
           items_per_cluster  n_items  n_clusters  n_clusters_low  n_clusters_high
        0                5.0      245          49              36               68
        1               20.0      600          30              12               52

        [2 rows x 5 columns]
        """
        return _pandas.plan.required_clusters(
            self._obj,
            factor,
            item=item,
            cluster=cluster,
            sample=sample,
            score=score,
            by=by,
            nested=nested,
            baseline=baseline,
            pairs=pairs,
            unmatched=unmatched,
            nan_policy=nan_policy,
            asked={
                "half_width": half_width,
                "difference": difference,
                "margin": margin,
                "power": power,
                "items_per_cluster": items_per_cluster,
                "n_samples": n_samples,
            },
            options=PlanOptions(
                method=method,
                confidence_level=confidence_level,
                claim=claim,
                alternative=alternative,
                n_sims=n_sims,
                rng=rng,
            ),
        )
