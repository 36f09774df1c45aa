"""Planning one rate, or one mean score: how wide its interval will be.

A rate: samples of the design are drawn and the real interval is found for each. The mean of their widths would still be noisy, so
it is adjusted by regression on two quantities whose means are known exactly (control variates): p(1 - p) of the sample and its
variance between clusters. They explain nine tenths and more of the variance of the width. Equal seeds give equal draws of the
first clusters, whatever their number, so that two designs differ by the design alone.

A mean on an open scale: the CR2 variance of normal cluster means, from the quasi-random draws of `Sums`.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import ClusterMethod, RateOptions
from evalci_accessor.stats import special
from evalci_accessor.stats.planning import shared
from evalci_accessor.stats.planning.shared import Parts, Point, Sums
from evalci_accessor.stats.rates.bootstrap import seed_sequence
from evalci_accessor.stats.rates.clustered import rate as rate_ci
from evalci_accessor.stats.rates.clustered import resolve_method
from evalci_accessor.stats.simulate import cluster_rates, item_rates
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import FloatArray, IntArray, check_level, check_option, whole

_PLENTY = 40  # clusters from which on a width scatters so little that fewer samples are enough
_FEWEST = 25
_LIMIT_SIMS = 50
_LARGE = 1000  # items of a cluster from which on they are drawn as a whole
_CONSTANT = 1e-9
_OUTLYING = 30.0  # kurtosis
Answer = tuple[float, float, float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WidthPlan:
    """How wide the interval of a design will be. Every array has the shape that the arguments broadcast to.

    Parameters
    ----------
    half_width : ndarray of float
        Mean half-width of the interval.
    half_width_low, half_width_high : ndarray of float
        Half-widths that one sample in twenty stays below, and exceeds.
    half_width_limit : ndarray of float
        Mean half-width as the items of each cluster grow without bound, with the same clusters.
    std_error : ndarray of float
        Standard error of the estimate.
    design_effect : ndarray of float
        Its variance over that of as many independent items.
    n_clusters, n_items : ndarray of int
        Clusters and items.
    n_samples : int
        Samples of each item.
    method : str
        The interval that is planned.
    confidence_level : float
        Nominal level.
    """

    half_width: FloatArray
    half_width_low: FloatArray
    half_width_high: FloatArray
    half_width_limit: FloatArray
    std_error: FloatArray
    design_effect: FloatArray
    n_clusters: IntArray
    n_items: IntArray
    n_samples: int
    method: str
    confidence_level: float


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Rates:
    """A law of 0/1 scores in clusters, and how they are looked at."""

    design: RateDesign
    rate: float
    icc: float
    item_icc: float

    @property
    def parts(self) -> Parts:
        """Parts of the variance of an item's value."""
        return Parts.of(self.rate * (1 - self.rate), self.icc, self.item_icc, self.design.n_samples)

    def half_width(self, n_clusters: int) -> Answer:
        """Mean, and 5 % and 95 % quantiles, of the half-widths of samples of the design."""
        sizes = self.sizes(n_clusters)
        most = self.design.n_sims
        n_sims = max(most >> max(int(np.log2(n_clusters / _PLENTY)), 0), min(most, _FEWEST))
        rates, rest = self.rates(n_clusters, n_sims)
        if self.design.n_samples == 1:
            s = rest.binomial(sizes[:, None], rates)
            return self.answer(sizes, s, s)
        sums, squares = np.empty((2, *rates.shape))
        large = sizes > _LARGE
        sums[large], squares[large] = self.many(sizes[large, None], rates[large], rest)
        if not large.all():
            small = sizes[~large]
            shares = item_rates(np.repeat(rates[~large], small, axis=0), self.within, rest)
            value = rest.binomial(self.design.n_samples, shares) / self.design.n_samples
            first = np.concatenate([[0], np.cumsum(small)[:-1]])
            sums[~large], squares[~large] = (np.add.reduceat(v, first, axis=0) for v in (value, value**2))
        return self.answer(sizes, sums, squares)

    @property
    def within(self) -> float:
        """Correlation of two samples of an item, given its cluster."""
        return (self.item_icc - self.icc) / (1 - self.icc) if self.icc < 1 else 1.0

    @property
    def share(self) -> float:
        """Variance of an item's value over that of a single score, given its cluster."""
        return self.within + (1 - self.within) / self.design.n_samples

    def many(
        self, size: np.ndarray, rates: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Sums of the values of so many items that they need not be drawn one by one, and of their squares.

        The sum is that of as many independent scores as have its variance: exact where the samples of an item all agree, and
        where they are independent. The squares are at their mean.
        """
        scores = np.round(size / self.share).astype(np.int64)
        return self.sums(rng.binomial(scores, rates) / scores, size)

    def sums(self, mean: FloatArray, size: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Sums of the values of items with these means, and of their squares."""
        return mean * size, (mean**2 + mean * (1 - mean) * self.share) * size

    def limit(self, n_clusters: int) -> float:
        """Mean half-width as the items grow without bound."""
        # Not 0 without an ICC: the default interval cannot rule out that a cluster now and then passes or fails as a whole.
        sizes = self.sizes(n_clusters, self.design.pattern.endless(self.parts))
        rates, rest = self.rates(n_clusters, min(self.design.n_sims, _LIMIT_SIMS))
        if self.design.n_samples == 1:
            s = rest.binomial(sizes[:, None], rates)
            return self.answer(sizes, s, s)[0]
        # So many items are at their mean, and so are their squares.
        return self.answer(sizes, *self.sums(rates, sizes[:, None]))[0]

    def sizes(self, n_clusters: int, times: float = 1.0) -> np.ndarray:
        """Sizes of the clusters."""
        size, count = self.design.pattern.counts(n_clusters, times)
        return np.repeat(size, count.astype(np.int64)).astype(np.int64)

    def rates(self, n_clusters: int, n_sims: int) -> tuple[FloatArray, np.random.Generator]:
        """Rates of the clusters, shape (G, n_sims), and the generator of the rest."""
        first, rest = (np.random.default_rng(seed) for seed in self.design.seeds)
        return cluster_rates(self.icc, self.rate, (n_clusters, n_sims), first), rest

    def answer(self, sizes: np.ndarray, s: np.ndarray, ss: np.ndarray) -> Answer:
        """Of totals of shape (G, n_sims)."""
        t = ClusterTotals.from_sums(s.T, np.broadcast_to(sizes, s.T.shape), ss.T)
        found = rate_ci(t, RateOptions(method=self.design.method, confidence_level=self.design.level))
        half = (found.ci_high - found.ci_low) / 2
        low, high = np.quantile(half, [0.05, 0.95])
        return self.adjusted(sizes, s, half), float(low), float(high)

    def adjusted(self, sizes: np.ndarray, s: np.ndarray, half: FloatArray) -> float:
        """Mean half-width, given the true means of what goes with it."""
        parts, n = self.parts, sizes.sum()
        h = sizes[:, None] / n
        v = parts.between + parts.item / sizes[:, None]  # variance of a cluster mean
        total = (h**2 * v).sum()
        mean = s.sum(axis=0) / n
        spread = self.rate * (1 - self.rate) - total
        known = [mean * (1 - mean) - spread, (h**2 * (s / sizes[:, None] - mean) ** 2).sum(axis=0)]
        known[1] = known[1] - (h**2 * (v * (1 - 2 * h) + total)).sum()
        columns = [k / k.std() for k in known if k.std() > _CONSTANT * total]
        # A few samples that differ from all others, as of a rate near 0 or 1, are no ground for a slope.
        columns = [k for k in columns if ((k - k.mean()) ** 4).mean() < _OUTLYING]
        design = np.column_stack([np.ones(len(half)), *columns])
        if len(half) < 4 * design.shape[1]:
            return float(half.mean())
        return float(np.clip(np.linalg.lstsq(design, half, rcond=None)[0][0], half.min(), half.max()))


def open_half_width(parts: Parts, size: FloatArray, count: FloatArray, level: float) -> Answer:
    """Mean and quantiles of the half-width of CR2's t interval."""
    if parts.between + parts.item <= 0:
        return 0.0, 0.0, 0.0
    sums = Sums.draw(size, count, parts, robust=True)
    half = shared.robust_quantile(sums, (1 - level) / 2) * np.sqrt(sums.robust_variance(sums.estimate))
    low, high = np.quantile(half, [0.05, 0.95])
    return float(half.mean()), float(low), float(high)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class RateDesign(shared.Checked):
    """A checked question about one rate but for the number of clusters."""

    measure = "half_width"

    n_sims: int
    seeds: tuple[np.random.SeedSequence, ...]

    @classmethod
    def of(
        cls, asked: shared.Design, rate: object, std_dev: object, n_sims: object, rng: object
    ) -> RateDesign:
        """The design after the checks."""
        if (rate is None) == (std_dev is None):
            raise MethodError(
                "Give either rate= (scores of 0 and 1) or std_dev= (of graded scores); got "
                f"{'neither' if rate is None else 'both'}."
            )
        method, samples = asked.method, whole(asked.n_samples, "n_samples", 1)
        columns = asked.correlations(samples)
        if std_dev is None:
            columns["rate"] = shared.within(rate, "rate", 0, 1)
            ran = resolve_method(method, bounded=True)
            if ran.startswith("bootstrap"):
                raise MethodError(
                    f"method={method!r} draws resamples, which planning does not; plan for 'icc_averaged' or 'cr2'."
                )
        else:
            what = "the standard deviation of single scores"
            columns["std_dev"] = shared.positive(std_dev, "std_dev", what)
            check_option(method, ClusterMethod, "method")
            ran = "cr2" if method == "auto" else str(method)
            if ran != "cr2":
                raise MethodError(
                    f"method={method!r}: with std_dev= the plan is for method='cr2', the default for graded scores."
                )
        pattern, level = shared.Pattern.of(asked.items_per_cluster), check_level(asked.confidence_level)
        sims, seeds = whole(n_sims, "n_sims", 10), tuple(seed_sequence(rng).spawn(2))
        return cls(pattern, columns, samples, ran, level, sims, seeds)

    def parts(self, at: Point) -> Parts:
        """Parts of the variance of an item's value."""
        return self.parts_of(at["rate"] * (1 - at["rate"]) if "rate" in at else at["std_dev"] ** 2, at)

    def half_width(self, at: Point, n_clusters: int) -> Answer:
        """Mean half-width, and quantiles."""
        if "rate" in at:
            return Rates(self, at["rate"], at["icc"], at["item_icc"]).half_width(n_clusters)
        return open_half_width(self.parts(at), *self.pattern.counts(n_clusters), self.level)

    def limit(self, at: Point, n_clusters: int) -> float:
        """Mean half-width as the items grow without bound."""
        if "rate" in at:
            return Rates(self, at["rate"], at["icc"], at["item_icc"]).limit(n_clusters)
        parts = self.parts(at)
        if parts.between <= 0:
            return 0.0
        times = self.pattern.endless(parts)
        return open_half_width(parts, *self.pattern.counts(n_clusters, times), self.level)[0]

    def value(self, at: Point, n_clusters: int) -> float:
        """What `required_clusters` brings to ``goal``."""
        return self.half_width(at, n_clusters)[0]

    def reached(self, at: Point, value: float) -> bool:
        """Whether a half-width is small enough."""
        return value <= at["goal"]

    def wanted(self, at: Point) -> float:
        """The variance that would reach the goal if the estimate were normal and its variance known."""
        return float((at["goal"] / special.ndtri((1 + self.level) / 2)) ** 2)

    def times(self, at: Point, value: float) -> float:
        """How many times the information it takes where this value was reached."""
        return (value / at["goal"]) ** 2


def half_width(
    rate: object = None,
    *,
    icc: object,
    n_clusters: object,
    items_per_cluster: object,
    n_samples: int = 1,
    item_icc: object = None,
    std_dev: object = None,
    method: ClusterMethod = "auto",
    confidence_level: float = 0.95,
    n_sims: int = 100,
    rng: object = 0,
) -> WidthPlan:
    r"""How wide the interval of one rate, or of one mean score, will be.

    Parameters
    ----------
    rate : float or array_like
        True rate, from 0 to 1. For graded scores leave it out and give ``std_dev``.
    icc : float or array_like
        Intracluster correlation of single scores, from 0 to 1.
    n_clusters : int or array_like
        Number of clusters, 2 or more.
    items_per_cluster : float or sequence of float
        Items in each cluster; a sequence is a pattern of sizes, as of a pilot, that any number of clusters follows.
    n_samples : int, default 1
        Samples of each item, whose mean is the item's score.
    item_icc : float or array_like, optional
        Correlation of two samples of the same item, at least ``icc``; needed with several samples.
    std_dev : float or array_like, optional
        Standard deviation of single scores on an open scale.
    method : str, default "auto"
        As in `cluster_ci`, but for the bootstrap: ``"auto"`` is ``"icc_averaged"`` for a rate, and ``"cr2"`` with ``std_dev``.
    confidence_level : float, default 0.95
        Nominal level.
    n_sims : int, default 100
        Samples of the design that are drawn for a rate, at least 10. From 80 clusters on, where intervals differ less, fewer are.
    rng : None, int, SeedSequence, BitGenerator or Generator, default 0
        Randomness of these samples; the same for all designs of a call.

    Returns
    -------
    WidthPlan

    Raises
    ------
    EvalCIError
        Numbers out of range, or that do not broadcast.
    ClusterError
        Fewer than two clusters, or sizes below 1.
    MethodError
        An unknown option, or one that does not fit; neither a rate nor a standard deviation, or both.

    See Also
    --------
    required_clusters : The number of clusters for a half-width.
    simulate.coverage : Coverage of any interval on a design.

    Notes
    -----
    With shares :math:`h_g` of the n items the standard error is the root of

    .. math:: \sigma^2 \Big[\rho \sum_g h_g^2 + \frac{1}{n}\Big(\rho_i - \rho + \frac{1-\rho_i}{r}\Big)\Big],

    :math:`\sigma^2 = p(1-p)` or ``std_dev``\ :sup:`2`, r samples, :math:`\rho_i` ``item_icc``. With equal sizes and one sample that
    is :math:`\sigma^2 (1 + (m-1)\rho)/n` [1]_, which never falls below :math:`\sigma^2 \rho / G`; unequal sizes cost more [2]_.

    The half-width is more than 1.96 of these, since the ICC is not known to who analyses the data. So for a rate it is the mean
    over samples of the design, drawn from the beta-binomial law (rates of items within a cluster beta as well), of the real
    interval, adjusted by regression on two quantities with known means; its own error is some .3 %, but some 2 % where few samples
    hold a fail (or a pass), with few clusters and rates beyond .05 and .95, and that of the limit there some 5 %. For ``std_dev``
    the cluster means are taken as normal. The ICC is taken as known, and rates as having nothing to do with sizes.

    References
    ----------
    .. [1] Kish, L. (1965). Survey Sampling. Wiley.
    .. [2] Eldridge, S. M., Ashby, D. and Kerry, S. (2006). Sample size for cluster randomized trials: effect of coefficient of
       variation of cluster size and analysis method. International Journal of Epidemiology 35, 1292-1300.
       https://doi.org/10.1093/ije/dyl129

    Examples
    --------
    Forty documents of five questions, much alike; then four times the questions, then four times the documents:

    >>> from evalci_accessor import stats
    >>> for documents, questions in [(40, 5), (40, 20), (160, 5)]:
    ...     plan = stats.half_width(0.8, icc=0.3, n_clusters=documents, items_per_cluster=questions)
    ...     print(f"{plan.n_items} questions: {plan.half_width:.3f}, with endless ones {plan.half_width_limit:.3f}")
    200 questions: 0.087, with endless ones 0.071
    800 questions: 0.076, with endless ones 0.071
    800 questions: 0.042, with endless ones 0.035
    """
    asked = shared.Design(icc, item_icc, n_samples, items_per_cluster, method, confidence_level)
    design = RateDesign.of(asked, rate, std_dev, n_sims, rng)
    shape, points = design.points(n_clusters=shared.whole_clusters(n_clusters))

    def one(at: Point) -> tuple[float, ...]:
        clusters = int(at["n_clusters"])
        parts, (size, count) = design.parts(at), design.pattern.counts(clusters)
        widths = (*design.half_width(at, clusters), design.limit(at, clusters))
        errors = parts.std_error(size, count), parts.design_effect(size, count)
        return *widths, *errors, clusters, (size * count).sum()

    return WidthPlan(
        **shared.arrays(WidthPlan, shape, shared.each(points, one, "half-widths")),
        n_samples=design.n_samples,
        method=design.method,
        confidence_level=design.level,
    )
