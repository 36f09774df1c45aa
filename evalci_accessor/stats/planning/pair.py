"""Planning the paired difference of two systems: power, and the smallest difference or margin that a design shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from evalci_accessor.exceptions import EvalCIError, MethodError, ScoreRangeError, examples
from evalci_accessor.options import Alternative, Claim, PlanMethod
from evalci_accessor.stats import special, validate
from evalci_accessor.stats.pairs.difference import check_tail, resolve_claim
from evalci_accessor.stats.planning import shared
from evalci_accessor.stats.planning.shared import Columns, Goal, Parts, Point, Sums
from evalci_accessor.stats.validate import FloatArray, IntArray, as_float, check_level, check_option

_NEAR = 1e-9
_ROUNDING = 1e-12


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PowerPlan:
    """What a design can show of the difference of two systems. Every array has the shape that the arguments broadcast to.

    Parameters
    ----------
    power : ndarray of float
        Probability that the claim is shown.
    difference : ndarray of float
        The true difference (of `mde`: the smallest that is shown with that power, nan where none is).
    margin : ndarray of float
        The margin of the claim, 0 without one (of `mde` for a claim against a margin: the smallest).
    std_error : ndarray of float
        Standard error of the estimated difference.
    design_effect : ndarray of float
        Its variance over that of as many independent items.
    power_limit : ndarray of float
        Power as the items of each cluster grow without bound, with the same clusters.
    n_clusters, n_items : ndarray of int
        Clusters, and items of each system.
    n_samples : int
        Samples of each item and system.
    claim, method, alternative : str
        What is to be shown, by which test.
    confidence_level : float
        Nominal level.
    """

    power: FloatArray
    difference: FloatArray
    margin: FloatArray
    std_error: FloatArray
    design_effect: FloatArray
    power_limit: FloatArray
    n_clusters: IntArray
    n_items: IntArray
    n_samples: int
    claim: str
    method: str
    alternative: str
    confidence_level: float


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class PairDesign(shared.Checked):
    """A checked question about pairs but for the difference, the margin and the number of clusters."""

    measure = "power"

    bounded: bool
    claim: Claim
    alternative: Alternative

    @classmethod
    def of(
        cls,
        asked: shared.Design,
        spread: Mapping[str, object],
        margin: float | None,
        claim: Claim | None,
        alternative: Alternative,
    ) -> tuple[PairDesign, float]:
        """The design and the margin after the checks."""
        samples = validate.whole(asked.n_samples, "n_samples", 1)
        check_tail(asked.confidence_level, alternative)
        varying = _spread(**spread)
        bounded = "std_dev" not in varying
        width, claimed = resolve_claim(margin, claim, bounded=bounded)
        if (width > 0 or claimed != "superiority") and alternative != "two-sided":
            raise MethodError(
                f"alternative={alternative!r} would be ignored: a verdict against a margin has the side of its claim. "
                "Leave alternative='two-sided'."
            )
        pattern = shared.Pattern.of(asked.items_per_cluster)
        columns = asked.correlations(samples) | varying
        single = bool((pattern.sizes == 1).all())
        ran = resolve_plan_method(asked.method, binary=bounded and samples == 1, single=single)
        level = check_level(asked.confidence_level)
        return cls(pattern, columns, samples, ran, level, bounded, claimed, alternative), width

    def variance(self, at: Point) -> float:
        """Variance of the difference of single scores of an item, which must be above 0."""
        if "std_dev" in at:
            return at["std_dev"] ** 2
        difference = at["difference"]
        if "disagreement" in at:
            return at["disagreement"] - difference**2
        a, b = at["rate"] + difference, at["rate"]
        both = a * b + at["correlation"] * np.sqrt(max(a * (1 - a), 0.0) * max(b * (1 - b), 0.0))
        return float(a + b - 2 * both) - difference**2

    def reach(self, at: Point, side: float) -> float:
        """How far from 0 a difference can lie on that side, without the end."""
        if "rate" in at:
            return abs(_furthest_difference(at["rate"], at["correlation"], side))
        return at.get("disagreement", np.inf)

    def goal(self, difference: float, margin: float) -> Goal:
        """What the verdict of `diff_ci` asks for."""
        alpha = 1 - self.level
        if self.claim == "noninferiority":
            return Goal(above=-margin, below=None, outside=alpha)
        if self.claim == "equivalence":
            return Goal(above=-margin, below=margin, outside=alpha)
        if margin > 0:
            return Goal(above=margin, below=None, outside=alpha)
        outside = alpha / 2 if self.alternative == "two-sided" else alpha
        # Only significance on the side of the truth is a success.
        down = self.alternative == "less" or (self.alternative == "two-sided" and difference < 0)
        return Goal(above=None if down else 0.0, below=0.0 if down else None, outside=outside)

    def parts(self, at: Point) -> Parts:
        """Parts of the variance of an item's value."""
        return self.parts_of(self.variance(at), at)

    def power(self, at: Point, n_clusters: int, times: float = 1.0) -> float:
        """Power of one design, with ``times`` as many items."""
        difference, parts, goal = at["difference"], self.parts(at), self.goal(at["difference"], at["margin"])
        if parts.between + parts.item <= 0:
            return goal.holds(difference)
        robust = self.method == "cr2"
        sums = Sums.draw(*self.pattern.counts(n_clusters, times), parts, robust=robust)
        of_test = shared.robust_power if robust else shared.score_power
        return of_test(sums, difference, goal)

    def limit(self, at: Point, n_clusters: int) -> float:
        """Power as the items grow without bound."""
        parts = self.parts(at)
        if parts.between <= 0:
            return self.goal(at["difference"], at["margin"]).holds(at["difference"])
        return self.power(at, n_clusters, self.pattern.endless(parts))

    def value(self, at: Point, n_clusters: int) -> float:
        """What `required_clusters` brings to ``goal``."""
        return self.power(at, n_clusters)

    def reached(self, at: Point, value: float) -> bool:
        """Whether a power is large enough."""
        return value >= at["goal"]

    def wanted(self, at: Point) -> float:
        """The variance that would reach the goal if the estimate were normal and its variance known."""
        test = self.goal(at["difference"], at["margin"])
        distance = min(abs(at["difference"] - null) for null in (test.above, test.below) if null is not None)
        return float((distance / (special.ndtri(at["goal"]) - special.ndtri(test.outside))) ** 2)

    def times(self, at: Point, value: float) -> float:
        """How many times the information it takes where this value was reached."""
        far = -special.ndtri(self.goal(at["difference"], at["margin"]).outside)
        have = max(far + special.ndtri(np.clip(value, 1e-9, 1 - 1e-9)), 0.1)
        return float(((far + special.ndtri(at["goal"])) / have) ** 2)

    def plan(self, shape: tuple[int, ...], points: Sequence[Point]) -> PowerPlan:
        """The plan of these points."""

        def one(at: Point) -> tuple[float, ...]:
            clusters = int(at["n_clusters"])
            size, count = self.pattern.counts(clusters)
            asked, n_items = (at["difference"], at["margin"]), (size * count).sum()
            if not np.isfinite(asked).all():
                return np.nan, *asked, np.nan, np.nan, np.nan, clusters, n_items
            parts = self.parts(at)
            errors = parts.std_error(size, count), parts.design_effect(size, count)
            return self.power(at, clusters), *asked, *errors, self.limit(at, clusters), clusters, n_items

        return PowerPlan(
            **shared.arrays(PowerPlan, shape, shared.each(points, one, "power")),
            n_samples=self.n_samples,
            claim=self.claim,
            method=self.method,
            alternative=self.alternative,
            confidence_level=self.level,
        )


def resolve_plan_method(method: PlanMethod, *, binary: bool, single: bool) -> str:
    """The test that is planned for: ``"auto"`` is what `diff_ci` runs on such scores."""
    check_option(method, PlanMethod, "method")
    if method == "auto":
        return "cr2" if not binary else "tango" if single else "icc_averaged"
    if method != "cr2" and not binary:
        raise ScoreRangeError(
            f"method={method!r} is for scores of 0 and 1; graded scores (std_dev=) and means of several samples (n_samples > 1) "
            "take method='cr2', the default for them."
        )
    if method == "tango" and not single:
        raise MethodError(
            "method='tango' takes the items as independent: it goes with items_per_cluster=1. In clusters plan for "
            "method='icc_averaged', the default."
        )
    return str(method)


def _spread(disagreement: object, rate: object, correlation: object, std_dev: object) -> Columns:
    """How much the differences of the items vary, given in exactly one way."""
    either = correlation if rate is None else rate
    ways = {"disagreement": disagreement, "rate/correlation": either, "std_dev": std_dev}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        raise MethodError(
            f"How much the two systems differ item by item must be said in exactly one way; got {' and '.join(given) or 'none'}. "
            "Give disagreement= (the share of items on which one passes and the other does not), or rate= (pass rate of the second "
            "system) with correlation= (of the two systems' scores of an item), or for graded scores std_dev= (of the item "
            "differences)."
        )
    if std_dev is not None:
        what = "the standard deviation of the difference of an item"
        return {"std_dev": shared.positive(std_dev, "std_dev", what)}
    if disagreement is not None:
        share = shared.within(disagreement, "disagreement", 0, 1)
        what = "the share of items on which the two systems disagree"
        return {"disagreement": shared.positive(share, "disagreement", what)}
    if rate is None or correlation is None:
        missing = "rate" if rate is None else "correlation"
        raise MethodError(
            f"rate= and correlation= go together, and {missing}= is missing. Independent systems have correlation=0; two models on "
            "the same items rather .3 to .7."
        )
    within = shared.within
    return {"rate": within(rate, "rate", 0, 1), "correlation": within(correlation, "correlation", -1, 1)}


def _correlation_range(a: float, b: float) -> tuple[float, float]:
    """Correlations that two 0/1 scores with these rates can have."""
    scale = np.sqrt(a * (1 - a) * b * (1 - b))
    return (max(0.0, a + b - 1) - a * b) / scale, (min(a, b) - a * b) / scale


def _furthest_difference(rate: float, correlation: float, side: float) -> float:
    """The largest difference at which two systems can have that correlation, or the least."""

    def fits(difference: float) -> bool:
        a = rate + difference
        if not 0 < a < 1:
            return False
        low, high = _correlation_range(a, rate)
        return low - _ROUNDING <= correlation <= high + _ROUNDING

    near, far = 0.0, -rate if side < 0 else 1 - rate
    for _ in range(60 if fits(0.0) else 0):
        middle = (near + far) / 2
        near, far = (middle, far) if fits(middle) else (near, middle)
    return near


def check_spread(design: PairDesign, points: Sequence[Point]) -> None:
    """Refuse differences that cannot be, with what could."""
    if "disagreement" in design.columns:
        rows = [(at["difference"], at["disagreement"]) for at in points]
        bad = [(d, share) for d, share in rows if abs(d) > share or share - d**2 <= 0]
        text = "`difference` cannot be larger than `disagreement`, nor both 1: the systems differ only where they disagree"
        validate.refuse(
            [f"difference {d:g} at disagreement {share:g}" for d, share in bad], len(rows), text, "are"
        )
    for at in points if "rate" in design.columns else []:
        rate, other, correlation = at["rate"], at["rate"] + at["difference"], at["correlation"]
        if not (0 < rate < 1 and 0 < other < 1):
            raise EvalCIError(
                f"`rate` and `rate` + `difference`, the pass rates of the two systems, must lie strictly between 0 and 1 to "
                f"have a correlation; got {rate:g} and {other:g}. Give disagreement= in place of rate= and correlation=."
            )
        low, high = _correlation_range(other, rate)
        if not low - _ROUNDING <= correlation <= high + _ROUNDING or design.variance(at) <= 1e-12:
            raise EvalCIError(
                f"correlation={correlation:g} cannot be: systems that pass {other:g} and {rate:g} can correlate by "
                f"{low:.3f} to {high:.3f}, and must not agree on every item."
            )


def true_difference(design: PairDesign, difference: object, margin: float) -> FloatArray:
    """The difference to plan for, which must not lie where the claim is false."""
    d = as_float(difference, "difference")
    wrong = [v for v in d.ravel().tolist() if design.goal(v, margin).holds(v) < 1]
    if wrong:
        against = f" with a margin of {margin:g}" if margin else ""
        raise EvalCIError(
            f"{len(wrong)} of {d.size} values of `difference` make the claim ({design.claim}{against}, "
            f"alternative={design.alternative!r}) false: {examples(f'{v:g}' for v in wrong)}. No design shows what is "
            "not so. Name a true difference for which the claim holds; to show that two systems are as good as equal give a "
            "margin=, with difference=0."
        )
    return d


def check_power(power: object, goal: Goal) -> float:
    """The power asked for."""
    value = as_float(power, "power")
    if value.ndim or not goal.outside < value < 1:
        shown = power if value.ndim else f"{float(value):g}"
        hint = f" Did you mean {float(value) / 100:g}?" if not value.ndim and 1 < value < 100 else ""
        raise MethodError(
            f"power={shown} must be one number between {goal.outside:g} (which the test has without any difference) and 1.{hint}"
        )
    return float(value)


def power(
    difference: object,
    *,
    icc: object,
    n_clusters: object,
    items_per_cluster: object,
    disagreement: object = None,
    rate: object = None,
    correlation: object = None,
    std_dev: object = None,
    n_samples: int = 1,
    item_icc: object = None,
    margin: float | None = None,
    claim: Claim | None = None,
    method: PlanMethod = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> PowerPlan:
    r"""Probability that a design shows a difference of two systems on the same items, or the claim about a margin.

    Parameters
    ----------
    difference : float or array_like
        True difference, first system minus second. Under noninferiority and equivalence 0 is the usual one.
    icc : float or array_like
        Intracluster correlation of the differences of single items (not of the scores), from 0 to 1.
    n_clusters : int or array_like
        Number of clusters, 2 or more.
    items_per_cluster : float or sequence of float
        Items in each cluster; a sequence is a pattern of sizes, as of a pilot, that any number of clusters follows.
    disagreement : float or array_like, optional
        Share of the items on which one system passes and the other does not. Give this, or ``rate`` and ``correlation``, or
        ``std_dev``.
    rate, correlation : float or array_like, optional
        Pass rate of the second system, and correlation of the two systems' scores of an item.
    std_dev : float or array_like, optional
        Standard deviation of the difference of an item, for graded scores.
    n_samples : int, default 1
        Samples of each item and system, whose mean is the item's score.
    item_icc : float or array_like, optional
        Correlation of the differences of two samples of the same item, at least ``icc``; needed with several samples.
    margin, claim, alternative, confidence_level
        As in `diff_ci`, whose verdict is planned.
    method : {"auto", "icc_averaged", "tango", "cr2"}
        Test; ``"auto"`` is what `diff_ci` runs: ``"icc_averaged"`` for 0/1 scores in clusters, ``"tango"`` for single items,
        ``"cr2"`` for graded scores and means of several samples.

    Returns
    -------
    PowerPlan

    Raises
    ------
    EvalCIError
        Numbers out of range, that cannot go together, or that do not broadcast; a difference for which the claim is false.
    ClusterError
        Fewer than two clusters, or sizes below 1.
    MethodError
        An unknown option, or one that does not fit; a spread that is said in no way or in several.

    See Also
    --------
    mde : The smallest difference with a given power.
    required_clusters : The number of clusters for it.

    Notes
    -----
    With shares :math:`h_g` of the items the difference has the variance

    .. math:: V = \sigma^2 \Big[\rho \sum_g h_g^2 + \frac{1}{n}\Big(\rho_i - \rho + \frac{1-\rho_i}{r}\Big)\Big]

    with :math:`\rho` the ICC, :math:`\rho_i` ``item_icc``, r samples, and :math:`\sigma^2` = ``disagreement`` -
    ``difference``\ :sup:`2`, or ``std_dev``\ :sup:`2`. With equal sizes and one sample that is
    :math:`\sigma^2 (1 + (m-1)\rho)/n` [1]_; unequal ones cost more [2]_. A rate and a correlation give the disagreement
    :math:`p_a + p_b - 2 p_{ab}` with :math:`p_{ab} = p_a p_b + \phi\sqrt{p_a q_a p_b q_b}` [3]_.

    The power is not the normal one of V: the ICC is unknown to the test, which pays for that, most with few clusters. So the real
    critical values are averaged over what the data may show of the ICC, with cluster means taken as normal. For ``"cr2"`` with
    equal sizes this is the noncentral t on G - 1 degrees of freedom. Only significance on the side of the truth counts.
    Simulated powers of 0/1 scores are within .03 of it in most designs, also under laws that are not the plan's (docs, "Plan an
    evaluation"). It is too careful by more where nearly all disagreements go one way (a difference next to the disagreement), and
    too hopeful where a few clusters hold most of the items and clusters are of two kinds. The ICC is taken as known and the
    clusters as exchangeable draws whose sizes say nothing of the difference.

    References
    ----------
    .. [1] Donner, A. and Klar, N. (2000). Design and Analysis of Cluster Randomization Trials in Health Research. Arnold.
       The design effect: Kish, L. (1965). Survey Sampling. Wiley.
    .. [2] Eldridge, S. M., Ashby, D. and Kerry, S. (2006). Sample size for cluster randomized trials: effect of coefficient of
       variation of cluster size and analysis method. International Journal of Epidemiology 35, 1292-1300.
       https://doi.org/10.1093/ije/dyl129
    .. [3] Connor, R. J. (1987). Sample size for testing differences in proportions for the paired-sample design. Biometrics 43,
       207-211. https://doi.org/10.2307/2531961

    Examples
    --------
    Forty documents of five questions; the systems disagree on one question in five, and one is ten points better.

    >>> from evalci_accessor import stats
    >>> plan = stats.power(0.1, disagreement=0.2, icc=0.1, n_clusters=[40, 80], items_per_cluster=5)
    >>> plan.power.round(2)
    array([0.77, 0.97])

    Is it at most five points worse, if it is just as good?

    >>> plan = stats.power(0, margin=0.05, disagreement=0.2, icc=0.1, n_clusters=80, items_per_cluster=5)
    >>> print(f"{plan.claim}: {plan.power:.2f}, with endless questions {plan.power_limit:.2f}")
    noninferiority: 0.59, with endless questions 0.93
    """
    asked = shared.Design(icc, item_icc, n_samples, items_per_cluster, method, confidence_level)
    spread = {"disagreement": disagreement, "rate": rate, "correlation": correlation, "std_dev": std_dev}
    design, width = PairDesign.of(asked, spread, margin, claim, alternative)
    true = true_difference(design, difference, width)
    clusters = shared.whole_clusters(n_clusters)
    shape, points = design.points(difference=true, n_clusters=clusters, margin=np.asarray(width))
    check_spread(design, points)
    return design.plan(shape, points)


def mde(
    *,
    power: float = 0.8,
    icc: object,
    n_clusters: object,
    items_per_cluster: object,
    difference: object = None,
    disagreement: object = None,
    rate: object = None,
    correlation: object = None,
    std_dev: object = None,
    n_samples: int = 1,
    item_icc: object = None,
    margin: float | None = None,
    claim: Claim | None = None,
    method: PlanMethod = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> PowerPlan:
    r"""Smallest true difference that a design shows with a given power; under a claim against a margin, the smallest margin.

    Parameters
    ----------
    power : float, default 0.8
        Power to reach.
    icc, n_clusters, items_per_cluster, disagreement, rate, correlation, std_dev, n_samples, item_icc, method
        As in `power`.
    difference : float or array_like, optional
        True difference at which a margin is sought, 0 by default. Not for superiority, where it is what is sought.
    margin : float, optional
        Margin that the difference must exceed, under superiority. The other claims seek it.
    claim : {"superiority", "noninferiority", "equivalence"}, optional
        What is to be shown: superiority, by default, seeks the difference, the others the margin.
    alternative, confidence_level
        As in `power`; under ``"less"`` the difference is below 0.

    Returns
    -------
    PowerPlan
        Its ``difference`` (or ``margin``) is the answer, nan where even the largest that can be is not shown with that power;
        a margin of 0 where a positive ``difference`` is shown with it anyhow.

    Raises
    ------
    EvalCIError, ClusterError, MethodError
        As in `power`; a power that is not between the error of the test and 1.

    Notes
    -----
    The inverse of `power`, to 1e-9. A disagreement stays what it is while the difference is sought.

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> plan = stats.mde(disagreement=0.2, icc=0.1, n_clusters=40, items_per_cluster=5)
    >>> print(f"{plan.difference:.3f}")
    0.104
    >>> plan = stats.mde(claim="noninferiority", disagreement=0.2, icc=0.1, n_clusters=40, items_per_cluster=5)
    >>> print(f"{plan.margin:.3f}")
    0.095
    """
    seeks_margin = claim in ("noninferiority", "equivalence")
    if seeks_margin and margin is not None:
        raise MethodError(
            f"claim={claim!r} seeks the margin; leave out margin={margin!r}, or use power() to see what it allows."
        )
    if not seeks_margin and claim is None and margin is not None:
        raise MethodError(
            "With margin= say what is to be shown: claim='superiority' seeks the smallest difference that is shown to exceed the "
            "margin; claim='noninferiority' and 'equivalence' seek the margin itself, without margin=."
        )
    if not seeks_margin and difference is not None:
        raise MethodError(
            "difference= is what is sought; it goes with claim='noninferiority' or 'equivalence'."
        )
    asked = shared.Design(icc, item_icc, n_samples, items_per_cluster, method, confidence_level)
    spread = {"disagreement": disagreement, "rate": rate, "correlation": correlation, "std_dev": std_dev}
    design, width = PairDesign.of(asked, spread, 0.5 if seeks_margin else margin, claim, alternative)
    goal = check_power(power, design.goal(1.0, width))
    true = as_float(0.0 if difference is None else difference, "difference")
    shape, points = design.points(difference=true, n_clusters=shared.whole_clusters(n_clusters))
    check_spread(design, points)
    side = -1.0 if alternative == "less" else 1.0

    def one(at: Point) -> Point:
        clusters, d = int(at["n_clusters"]), at["difference"]
        error = design.parts(at).std_error(*design.pattern.counts(clusters))

        def asked(x: float) -> Point:
            return at | ({"margin": x} if seeks_margin else {"difference": side * x, "margin": width})

        def excess(x: float) -> float:
            return design.power(asked(x), clusters) - goal

        if seeks_margin:
            low, end = abs(d) if claim == "equivalence" else max(0.0, -d), 1.0 if design.bounded else np.inf
        else:
            low, end = width, design.reach(at, side)
        return asked(_root(excess, low, end, error))

    return design.plan(shape, shared.each(points, one, "differences"))


def _root(excess: Callable[[float], float], low: float, end: float, error: float) -> float:
    """Where the excess turns positive between ``low`` and ``end``; ``low`` if it is so there already, nan if nowhere."""
    from scipy.optimize import brentq

    first, last = low + _NEAR * error, end * (1 - _NEAR)
    if first >= last:
        return float("nan")
    if excess(first) >= 0:
        return low
    low, high = first, min(low + 4 * error, last)
    while excess(high) < 0:
        if high >= last:
            return float("nan")
        low, high = high, min(high + 2 * (high - low), last)
    return float(brentq(excess, low, high, xtol=min(1e-12, 1e-9 * error), rtol=1e-12))
