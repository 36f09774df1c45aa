"""Planning the next eval from a pilot: a signature, a docstring and one call a method."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic

from evalci_accessor.methods import planning
from evalci_accessor.options import (
    Alternative,
    Claim,
    ClusterMethod,
    Counts,
    Dims,
    Name,
    Names,
    NanPolicy,
    Numbers,
    PairList,
    PlanGrid,
    PlanMethod,
    PlanOptions,
    Roles,
    Unmatched,
)
from evalci_accessor.read import Answer, Reader


class Planning(Generic[Answer]):
    """Planning the next eval from a pilot."""

    _read: Reader[Answer]

    def half_width(
        self,
        cluster: Name | None,
        score: Name = "score",
        *,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        item: Names | None = None,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        nested: bool = False,
        method: ClusterMethod = "auto",
        confidence_level: float = 0.95,
        nan_policy: NanPolicy = "raise",
        n_sims: int = 100,
        rng: object = 0,
    ) -> Answer:
        r"""How wide the interval of a rate would be with other numbers of clusters, items and samples.

        Parameters
        ----------
        cluster : label or array, or None
            What the items share, as in `cluster_ci`; one clustering. None if the items are independent.
        n_clusters, items_per_cluster, n_samples : number or list, optional
            The design: clusters, items of each (their mean: sizes keep the proportions of the pilot), and
            samples of each item. Those of the pilot by default. A list makes a row for each; several lists
            make a grid. Of a cube each list makes a dim.
        item, sample : label, array or list of these, optional
            What tells the items apart whose rows are samples, and what numbers these, as in `pass_at_k`.
            Without ``item`` each row of a frame is an item; of a cube they lie along the dims of ``cluster``.
            Needed for ``n_samples`` above 1.
        score : label or array, default "score"
            The pilot's scores.
        by : label, array or list of these, optional
            What the rows (of a cube: the dims) of the answer are; a plan for each.
        dim : name, list of names or ..., optional
            Of a cube, what is reduced instead; every other dim stays. By default the dims of the items and
            their samples. A frame has none.
        nested : bool, default False
            Whether ids of items count within their cluster only.
        method : str, default "auto"
            The interval that is planned for, as in `cluster_ci` but for the bootstrap; ``"auto"`` is what
            that would run.
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
        DataFrame or Dataset
            Keys, then ``half_width`` at the posterior mean of the pilot's ICC, ``half_width_low`` and
            ``half_width_high``, its range between the ICC's limits, ``half_width_limit`` (with items without
            number in as many clusters; nan if these are single items), the design (``n_clusters``,
            ``n_items``, ``n_samples``, ``items_per_cluster``), what the pilot says (``icc``, ``icc_low``,
            ``icc_high``, ``item_icc``, the correlation of two samples of an item, ``estimate``, ``std_dev``
            of a single score, ``n_clusters_pilot``), ``cluster``, ``method`` and ``confidence_level``.

        Raises
        ------
        PilotError
            Nothing varies in the pilot (0 % or 100 % passed), or it holds no score: give numbers to
            `stats.half_width`.
        MethodError
            Several samples an item where the pilot has one, crossed clusterings, numbers that cannot be.
        EvalCIError
            As `cluster_ci`, and with ``item`` as `pass_at_k`.

        Warns
        -----
        FewClustersWarning
            The pilot's clusters are so few that they say little about the ICC.

        See Also
        --------
        required_clusters : How many clusters a half-width needs.
        variance_components : Where the variance comes from.

        Notes
        -----
        With :math:`V_1` the variance of a single score, :math:`\rho` the ICC and :math:`\kappa` the
        correlation of two samples of an item, an item's mean over n samples varies by
        :math:`V_1[\rho + (\kappa - \rho) + (1 - \kappa)/n]`, of which the first part is shared within a
        cluster. The half-width is the mean over samples drawn from that design, each with the interval that
        `cluster_ci` would give. The ICC is the posterior mean of the pilot, and its uncertainty, by far the
        largest of a small pilot, is carried through; its rate is taken as it is.

        References
        ----------
        Ridout, M. S., Demetrio, C. G. B. and Firth, D. (1999). Estimating intraclass correlation for binary
        data. Biometrics 55, 137-148. https://doi.org/10.1111/j.0006-341x.1999.00137.x

        Examples
        --------
        Twice the questions, or twice the documents?

        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval().query("model == 'atlas'")
        >>> plan = df.evalci.half_width("doc_id", n_clusters=80, items_per_cluster=[5, 10])
        >>> columns = ["n_clusters", "items_per_cluster", "half_width", "half_width_low", "half_width_high"]
        >>> plan[columns].round(3)
           n_clusters  items_per_cluster  half_width  half_width_low  half_width_high
        0          80                5.0       0.069           0.058            0.079
        1          80               10.0       0.063           0.050            0.075

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube().sel(model=["atlas"])
        >>> ds.evalci.half_width("doc_id", n_clusters=[40]).half_width.round(3).to_pandas()
        n_clusters     40
        model
        atlas       0.098
        """
        return planning.half_width(
            self._read, Roles.of(locals()), PlanGrid.of(locals()), PlanOptions.of(locals())
        )

    def power(
        self,
        factor: Name,
        item: Names | None = None,
        cluster: Name | None = None,
        score: Name = "score",
        *,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        method: PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: PairList | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> Answer:
        r"""Probability that the next eval shows a difference of two systems, for a given design.

        Parameters
        ----------
        factor, item, cluster, score, by, dim, baseline, pairs, unmatched, nan_policy
            As in `diff_ci`; one clustering, or none if the items are independent (``n_clusters`` then counts
            items).
        difference : number or list, optional
            The true difference of the first system of a pair minus the second that is worth finding. The
            pilot's own is not used. Against a margin 0 by default.
        margin : number or list, optional
            Margin of the claim, in units of the scores, as in `diff_ci`.
        claim : {"superiority", "noninferiority", "equivalence"}, optional
            What is to be shown: superiority without a margin, else noninferiority.
        n_clusters, items_per_cluster, n_samples : number or list, optional
            The design, as in `half_width`. A list makes a row for each; several lists make a grid.
        sample : label or array, optional
            What numbers the samples of an item, as in `diff_ci`. Needed for ``n_samples`` above 1.
        method : {"auto", "icc_averaged", "tango", "cr2"}
            The test that is planned for; ``"auto"`` is what `diff_ci` would run on such scores.
        alternative : {"two-sided", "less", "greater"}
            Side of the test without a margin.
        confidence_level : float, default 0.95
            Level of the interval that is to exclude 0 (or the margin), and of the limits of the pilot's ICC.

        Returns
        -------
        DataFrame or Dataset
            Keys, ``<factor>_a`` and ``<factor>_b``, then ``power`` at the posterior mean of the ICC of the
            pilot's differences, ``power_low`` and ``power_high``, its range between the ICC's limits,
            ``power_limit`` (with items without number in as many clusters), the goal (``difference``,
            ``margin``, ``claim``), the design and what the pilot says, as in `half_width` (``disagreement``,
            the share of items on which single scores disagree, in place of ``estimate``; ``std_dev`` of a
            single difference), ``cluster``, ``alternative``, ``method`` and ``confidence_level``.

        Raises
        ------
        PilotError
            The two systems never differ in the pilot, have no item in common, or disagree on fewer items than
            ``difference`` needs.
        MethodError
            No difference and no margin, several samples an item where the pilot has one, crossed clusterings,
            numbers that cannot be.
        EvalCIError
            As `diff_ci`.

        Warns
        -----
        FewClustersWarning
            The pilot's clusters are so few that they say little about the ICC.

        See Also
        --------
        mde : The smallest difference that a design shows.
        required_clusters : How many clusters a power needs.

        Notes
        -----
        Differences of single scores vary by :math:`V_1 = D - \delta^2`, with D the pilot's share of items on
        which the systems disagree and :math:`\delta` the difference that was named (graded scores: by the
        pilot's variance). From there on as in `half_width`; the test is that of `diff_ci`, whose critical
        values are those of designs drawn under a Gaussian model. Of the pilot only D (or the variance), the
        ICC and the sizes are used, and not its difference: one that led to a plan is too large on average.

        References
        ----------
        Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the
        paired-sample design. Statistics in Medicine 17, 891-908.

        Gelman, A. and Carlin, J. (2014). Beyond power calculations: assessing type S (sign) and type M
        (magnitude) errors. Perspectives on Psychological Science 9, 641-651.
        https://doi.org/10.1177/1745691614551642

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> plan = df.evalci.power(
        ...     "model", "item", "doc_id", pairs=[("boreal", "atlas")], difference=0.06, n_clusters=[40, 160]
        ... )
        >>> columns = ["model_a", "model_b", "difference", "n_clusters", "power", "power_low", "power_high"]
        >>> plan[columns].round(2)
          model_a model_b  difference  n_clusters  power  power_low  power_high
        0  boreal   atlas        0.06          40   0.20       0.16        0.25
        1  boreal   atlas        0.06         160   0.62       0.48        0.78

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> goal = {"difference": 0.1, "n_clusters": [40, 80]}
        >>> plan = ds.evalci.power("model", cluster="doc_id", baseline="atlas", **goal)
        >>> plan.power.round(2).values
        array([[0.47, 0.77],
               [0.44, 0.73]])
        """
        return planning.power(self._read, Roles.of(locals()), PlanGrid.of(locals()), PlanOptions.of(locals()))

    def mde(
        self,
        factor: Name,
        item: Names | None = None,
        cluster: Name | None = None,
        score: Name = "score",
        *,
        power: Numbers = 0.8,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        n_clusters: Counts | None = None,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        sample: Names | None = None,
        by: Names | None = None,
        dim: Dims = None,
        method: PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: PairList | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> Answer:
        r"""Smallest difference of two systems (or margin) that the next eval shows with a given power.

        Parameters
        ----------
        factor, item, cluster, score, sample, by, dim, baseline, pairs, unmatched, nan_policy
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
        DataFrame or Dataset
            Keys, ``<factor>_a`` and ``<factor>_b``, then ``mde`` (the difference, or the margin) at the
            posterior mean of the ICC of the pilot's differences, ``mde_low`` and ``mde_high``, its range
            between the ICC's limits, ``difference``, ``margin``, ``claim``, ``power``, then as in `power`.
            nan where even the largest difference that can be is not shown with that power.

        Raises
        ------
        EvalCIError
            As `power`; a difference, or a margin, that is given where it is sought.

        Warns
        -----
        FewClustersWarning
            The pilot's clusters are so few that they say little about the ICC.

        See Also
        --------
        power : What a difference that was named has.

        Notes
        -----
        The inverse of `power`: the difference at which it is the power that was named, to 1e-9. The share of
        items on which the systems disagree stays that of the pilot, and the difference cannot exceed it.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> plan = df.evalci.mde("model", "item", "doc_id", baseline="atlas", n_clusters=160)
        >>> plan[["model_a", "model_b", "n_clusters", "mde", "mde_low", "mde_high"]].round(3)
           model_a model_b  n_clusters    mde  mde_low  mde_high
        0   boreal   atlas         160  0.074    0.062     0.087
        1  cascade   atlas         160  0.078    0.067     0.092

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> plan = ds.evalci.mde("model", cluster="doc_id", pairs=[("boreal", "atlas")], n_clusters=[40, 160])
        >>> plan.mde.round(3).values
        array([[0.146, 0.074]])
        """
        return planning.mde(self._read, Roles.of(locals()), PlanGrid.of(locals()), PlanOptions.of(locals()))

    def required_clusters(
        self,
        cluster: Name | None = None,
        score: Name = "score",
        *,
        factor: Name | None = None,
        item: Names | None = None,
        sample: Names | None = None,
        half_width: Numbers | None = None,
        difference: Numbers | None = None,
        margin: Numbers | None = None,
        claim: Claim | None = None,
        power: Numbers = 0.8,
        items_per_cluster: Numbers | None = None,
        n_samples: Counts | None = None,
        by: Names | None = None,
        dim: Dims = None,
        nested: bool = False,
        method: ClusterMethod | PlanMethod = "auto",
        alternative: Alternative = "two-sided",
        baseline: Hashable = None,
        pairs: PairList | None = None,
        confidence_level: float = 0.95,
        unmatched: Unmatched = "raise",
        nan_policy: NanPolicy = "raise",
        n_sims: int = 100,
        rng: object = 0,
    ) -> Answer:
        r"""How many clusters the next eval needs: for the interval of a rate, or a claim on two systems.

        Parameters
        ----------
        cluster, score, item, sample, by, dim, nested, baseline, pairs, unmatched, nan_policy
            As in `half_width` for one rate, and in `power` for two systems.
        factor : label or array, optional
            What tells two systems apart, as in `diff_ci`. Without it the plan is for one rate.
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
        DataFrame or Dataset
            Keys (and the two systems), the goal, ``n_clusters`` at the posterior mean of the pilot's ICC,
            ``n_clusters_low`` and ``n_clusters_high``, its range between the ICC's limits, ``n_items``,
            ``n_samples`` and ``items_per_cluster`` of the former, ``half_width_limit`` or ``power_limit``
            (what items without number would reach in as many clusters as the pilot has), then as in
            `half_width` or `power`.

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
            The pilot's clusters are so few that they say little about the ICC.

        See Also
        --------
        half_width, power : What a given design reaches.

        Notes
        -----
        The smallest number of clusters at which `half_width` is at most, or `power` at least, the goal. With
        m items to a cluster it grows with the ICC about as :math:`1 + (m - 1)\rho`, so what a small pilot
        does not know of :math:`\rho` it does not know of the number either: plan for ``n_clusters_high``
        where a repeat would be dear.

        Examples
        --------
        >>> import evalci_accessor
        >>> df = evalci_accessor.datasets.load_rag_eval()
        >>> atlas = df.query("model == 'atlas'")
        >>> plan = atlas.evalci.required_clusters("doc_id", half_width=0.085)
        >>> plan[["half_width", "n_clusters", "n_clusters_low", "n_clusters_high", "icc"]].round(3)
           half_width  n_clusters  n_clusters_low  n_clusters_high  icc
        0       0.085          54              38               70  0.3
        >>> gate = df.evalci.required_clusters(
        ...     "doc_id",
        ...     factor="model",
        ...     item="item",
        ...     pairs=[("boreal", "atlas")],
        ...     margin=0.12,
        ...     items_per_cluster=[5, 20],
        ... )
        >>> gate[["items_per_cluster", "n_items", "n_clusters", "n_clusters_low", "n_clusters_high"]]
           items_per_cluster  n_items  n_clusters  n_clusters_low  n_clusters_high
        0                5.0      245          49              36               68
        1               20.0      600          30              12               52

        [2 rows x 5 columns]

        Of a cube:

        >>> ds = evalci_accessor.datasets.load_rag_eval_cube()
        >>> goal = {"factor": "model", "pairs": [("boreal", "atlas")], "margin": 0.12}
        >>> plan = ds.evalci.required_clusters("doc_id", **goal)
        >>> plan[["n_clusters", "n_clusters_low", "n_clusters_high"]].to_dataframe().T
        pair                  0
        n_clusters           49
        n_clusters_low       36
        n_clusters_high      68
        model_a          boreal
        model_b           atlas
        """
        return planning.required_clusters(
            self._read, Roles.of(locals()), PlanGrid.of(locals()), PlanOptions.of(locals())
        )
