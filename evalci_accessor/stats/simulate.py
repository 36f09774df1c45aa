"""How often an interval holds the true rate, and how wide it is, on a design of one's own."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any, get_args

import numpy as np

from evalci_accessor.exceptions import ClusterError, MethodError, StoppedEarlyWarning, examples, warn
from evalci_accessor.options import (
    Alternative,
    ClusterMethod,
    ClusterShape,
    DegreesOfFreedom,
    RateOptions,
    SimulatedMethod,
)
from evalci_accessor.stats import progress as bars
from evalci_accessor.stats import special, validate
from evalci_accessor.stats.rates.bootstrap import check_bootstrap, seed_sequence
from evalci_accessor.stats.rates.clustered import Given, resolve_method
from evalci_accessor.stats.rates.clustered import rate as rate_ci
from evalci_accessor.stats.rates.moments import moments
from evalci_accessor.stats.rates.proportion import proportion_ci
from evalci_accessor.stats.totals import ClusterTotals
from evalci_accessor.stats.validate import FloatArray, IntArray, check_option

__all__ = ["CoverageResult", "coverage"]

# Most simulations, and clusters, that share a child seed: part of the result.
_BLOCK, _BLOCK_CLUSTERS = 100, 2**20
_NAIVE = "naive_"
_LARGEST = 2**40  # scores of a cluster, so that their sums are whole numbers
_EDGE = 1e-12  # a limit that equals the rate holds it, whatever the rounding
_CERTAINTY = 0.95  # level of the intervals of the coverages


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoverageResult:
    """What a simulation found of each method. Every array has the shape of the methods, (K,).

    Parameters
    ----------
    methods : tuple of str
        What ran, in the order asked for.
    coverage : ndarray of float
        Share of the simulations whose interval holds the true rate; a limit equal to the rate holds it. A sample that the method
        could not answer counts as one that does not, so that ``coverage + miss_low + miss_high + n_refused / n_sims`` is 1.
    coverage_low, coverage_high : ndarray of float
        What the number of simulations leaves open: the 95 % interval of Clopper and Pearson of the coverage.
    mean_width, median_width : ndarray of float
        Width of the intervals, over the samples that were answered; a one-sided interval ends at 0 or 1.
    miss_low, miss_high : ndarray of float
        Share of the simulations in which the true rate lies below, or above, the interval.
    n_refused : ndarray of int
        Samples without an answer: a limit was nan.
    n_sims, n_asked : int
        Simulations that were done, and asked for: fewer were done where the run was stopped.
    rate, icc : float
        True rate, and true intracluster correlation.
    shape : str
        Law of the clusters' rates.
    n, n_clusters : int
        Scores in a sample, and clusters.
    size_min, size_median, size_max : float
        Summary of the cluster sizes.
    effective_clusters : float
        Kish's effective number of clusters, ``sum(m)**2 / sum(m**2)``.
    alternative : str
        Side of the intervals.
    confidence_level : float
        Their nominal level, which the coverage should reach.
    """

    methods: tuple[str, ...]
    coverage: FloatArray
    coverage_low: FloatArray
    coverage_high: FloatArray
    mean_width: FloatArray
    median_width: FloatArray
    miss_low: FloatArray
    miss_high: FloatArray
    n_refused: IntArray
    n_sims: int
    n_asked: int
    rate: float
    icc: float
    shape: str
    n: int
    n_clusters: int
    size_min: float
    size_median: float
    size_max: float
    effective_clusters: float
    alternative: str
    confidence_level: float

    def rows(self) -> list[dict[str, object]]:
        """One dict a method with all fields, for ``pandas.DataFrame(result.rows())``."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        methods = fields.pop("methods")
        return [
            {"method": method}
            | {k: v[i].item() if isinstance(v, np.ndarray) else v for k, v in fields.items()}
            for i, method in enumerate(methods)
        ]


def coverage(
    sizes: object,
    icc: float,
    rate: float,
    methods: SimulatedMethod | Iterable[SimulatedMethod] = "auto",
    *,
    n_sims: int = 1000,
    shape: ClusterShape = "beta_binomial",
    df: DegreesOfFreedom = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    progress: bool | None = None,
    rng: object = None,
) -> CoverageResult:
    r"""How often the interval of a rate holds the truth on a given design, and how wide it is, by simulation.

    Parameters
    ----------
    sizes : array_like of int, shape (G,)
        Number of scores in each cluster, the same in every simulation.
    icc : float
        True intracluster correlation, from 0 to 1.
    rate : float
        True rate, from 0 to 1.
    methods : str or sequence of str
        Any ``method`` of `cluster_ci` for one clustering (``"auto"`` is ``"icc_averaged"``), and ``"naive_wilson"``,
        ``"naive_wald"``, ``"naive_clopper_pearson"``, ``"naive_jeffreys"``, ``"naive_agresti_coull"``: those of `proportion_ci`,
        as if there were no clusters. All see the same samples.
    n_sims : int
        Number of simulated samples. The standard error of a coverage of .95 is .007 with 1,000 and .0022 with 10,000.
    shape : {"beta_binomial", "all_or_nothing", "logit_normal"}
        How the clusters differ, at the same ICC: their rates follow a beta law; a share ``icc`` of the clusters passes or fails
        as a whole, and the others have the overall rate; the logits of their rates follow a normal law.
    df, alternative, confidence_level, n_resamples
        As in `cluster_ci`, for all methods. ``n_resamples`` is of each simulated sample.
    progress : bool, optional
        Whether to show a bar on stderr. By default there is one in a terminal and in a notebook, once two seconds have passed.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Randomness; the same seed gives the same numbers, whatever the other methods. A longer run begins with the samples of a
        shorter one.

    Returns
    -------
    CoverageResult
        Stopped by Ctrl-C, or by a notebook's stop button, it is over the simulations done so far (in whole blocks of 100, or of
        fewer with over 10,000 clusters), and says so in ``n_sims`` and by a `StoppedEarlyWarning`. Before the first block is
        done the `KeyboardInterrupt` passes through.

    Raises
    ------
    MethodError
        An option that is unknown, or that a method or these sizes do not take; an ICC or a rate outside [0, 1].
    ClusterError
        Sizes that are no list of whole numbers of at least 1; a single cluster, unless all methods are naive.

    See Also
    --------
    evalci_accessor.stats.cluster_ci, evalci_accessor.stats.design_effect

    Notes
    -----
    Each cluster has a rate of its own with mean :math:`p` and variance :math:`\rho p (1 - p)`; its scores are independent given
    that rate. So the scores have mean :math:`p`, and two of one cluster correlate by exactly :math:`\rho`, under every shape:
    Beta\ :math:`(p t, (1 - p) t)` with :math:`t = (1 - \rho)/\rho` [1]_; 1 or 0, at odds p to 1 - p, with probability
    :math:`\rho`, else p; the logistic function of a normal variable whose two parameters are solved for. The shapes agree at
    an ICC of 0 and of 1. Clusters are independent, and their sizes go with nothing.

    References
    ----------
    .. [1] Skellam, J. G. (1948). A probability distribution derived from the binomial distribution by regarding the probability
       of success as variable between the sets of trials. Journal of the Royal Statistical Society B 10, 257-261.

    Examples
    --------
    Twelve documents of five questions each, much alike: how good is the usual interval?

    >>> from evalci_accessor import stats
    >>> methods = ["icc_averaged", "cr1", "naive_wilson"]
    >>> found = stats.simulate.coverage([5] * 12, icc=0.3, rate=0.9, methods=methods, n_sims=200, rng=1)
    >>> for method, share, width in zip(found.methods, found.coverage, found.mean_width):
    ...     print(f"{method:12} {share:.2f} {width:.2f}")
    icc_averaged 0.99 0.28
    cr1          0.88 0.22
    naive_wilson 0.80 0.15
    """
    names = _names(methods, df)
    m, true_icc, true_rate = _sizes(sizes, names), _share(icc, "icc"), _share(rate, "rate")
    level, resamples = validate.check_level(confidence_level), validate.check_resamples(n_resamples)
    check_option(shape, ClusterShape, "shape")
    validate.tail(confidence_level, alternative)
    options = RateOptions(df=df, n_resamples=resamples, alternative=alternative, confidence_level=level)
    design = _Design(m, true_icc, true_rate, shape, names, options)
    asked = validate.whole(n_sims, "n_sims", 1, " (the default is 1000)")
    seeds = seed_sequence(rng).spawn(-(-asked // design.block))
    done: list[FloatArray] = []
    try:
        for i in bars.progress(range(len(seeds)), label="simulations", unit="block", show=progress):
            with bars.within():
                limits = design.limits(seeds[i], min(design.block, asked - i * design.block))
            done.append(limits)  # at once for all methods, so that a stop leaves them on the same samples
    except KeyboardInterrupt:
        if not done:
            raise
    found = np.concatenate(done, axis=2)
    if found.shape[2] < n_sims:
        warn(
            f"stopped after {found.shape[2]:,} of {n_sims:,} simulations; the result is over these. The same seed with "
            "a larger n_sims begins with the same samples.",
            StoppedEarlyWarning,
        )
    return design.result(found, asked)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class _Design:
    sizes: IntArray
    icc: float
    rate: float
    shape: ClusterShape
    names: tuple[Any, ...]
    options: RateOptions

    @property
    def block(self) -> int:
        """Samples drawn at a time: fewer of many clusters, which would fill the memory."""
        return max(1, min(_BLOCK, _BLOCK_CLUSTERS // len(self.sizes)))

    def limits(self, seed: np.random.SeedSequence, held: int) -> FloatArray:
        """Limits of the first samples of a block, shape (K, 2, held)."""
        data, resampling = seed.spawn(2)
        # A block is always drawn in full, so that a longer run begins with the samples of a shorter one.
        generator = np.random.default_rng(data)
        s = cluster_sums(self.sizes, self.icc, self.rate, self.block, generator, shape=self.shape)[:held]
        t = ClusterTotals.from_sums(s, np.broadcast_to(self.sizes, s.shape))
        mo = moments(t)
        out = np.empty((len(self.names), 2, held))
        # Samples that shared their resamples would err together, and the interval of the coverage would be too narrow.
        children = resampling.spawn(held)
        options = self.options
        sided: Any = {"alternative": options.alternative, "confidence_level": options.confidence_level}
        for limits, name in zip(out, self.names, strict=True):
            if name.startswith("bootstrap") and name != "bootstrap_exact":
                for h, child in enumerate(children):
                    answer = rate_ci(t.one(h), dataclasses.replace(options, method=name, rng=child))
                    limits[:, h] = answer.ci_low, answer.ci_high
                continue
            if name.startswith(_NAIVE):
                textbook: Any = name.removeprefix(_NAIVE)
                answer = proportion_ci(s.sum(axis=1), self.sizes.sum(), method=textbook, **sided)
            else:
                answer = rate_ci(t, dataclasses.replace(options, method=name), Given(mo=mo))
            limits[:] = answer.ci_low, answer.ci_high
        return out

    def result(self, limits: FloatArray, n_asked: int) -> CoverageResult:
        """Summary of limits of shape (K, 2, n_sims)."""
        low, high = limits[:, 0], limits[:, 1]
        n_sims = low.shape[1]
        answered = ~np.isnan(low) & ~np.isnan(high)
        below, above = answered & (self.rate < low - _EDGE), answered & (self.rate > high + _EDGE)
        held = answered & ~below & ~above
        share = proportion_ci(held.sum(axis=1), n_sims, method="clopper_pearson", confidence_level=_CERTAINTY)
        rows = zip(high - low, answered, strict=True)
        widths = [row[kept] if kept.any() else np.array([np.nan]) for row, kept in rows]
        m = self.sizes
        return CoverageResult(
            methods=self.names,
            coverage=share.estimate,
            coverage_low=share.ci_low,
            coverage_high=share.ci_high,
            mean_width=np.array([width.mean() for width in widths]),
            median_width=np.array([np.median(width) for width in widths]),
            miss_low=below.mean(axis=1),
            miss_high=above.mean(axis=1),
            n_refused=n_sims - answered.sum(axis=1),
            n_sims=n_sims,
            n_asked=n_asked,
            rate=self.rate,
            icc=self.icc,
            shape=self.shape,
            n=int(m.sum()),
            n_clusters=len(m),
            size_min=float(m.min()),
            size_median=float(np.median(m)),
            size_max=float(m.max()),
            effective_clusters=float(m.sum() ** 2 / (m.astype(np.float64) ** 2).sum()),
            alternative=self.options.alternative,
            confidence_level=self.options.confidence_level,
        )


def _names(methods: object, df: DegreesOfFreedom) -> tuple[str, ...]:
    """Methods by the name of what runs, each once."""
    several = isinstance(methods, Iterable) and not isinstance(methods, str)
    asked: list[Any] = list(methods) if several else [methods]  # type: ignore[call-overload]
    if not asked:
        raise MethodError(
            "`methods` is empty; name one or several, as methods=['icc_averaged', 'cr1', 'naive_wilson']."
        )
    names: list[str] = []
    for name in asked:
        check_option(name, SimulatedMethod, "methods")
        clustered = name in get_args(ClusterMethod)
        if not clustered and df != "auto":
            raise MethodError(
                f"method={name!r} uses no t quantile, so df={df!r} would be ignored; leave df='auto'."
            )
        names.append(resolve_method(name, bounded=True) if clustered else name)
        check_bootstrap(names[-1], crossed=False)
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise MethodError(
            f"`methods` names {examples(map(repr, twice))} twice ('auto' is 'icc_averaged'); name each once."
        )
    return tuple(names)


def _sizes(sizes: object, names: tuple[str, ...]) -> IntArray:
    """Sizes of the clusters, one entry a cluster."""
    m = validate.as_float(sizes, "sizes")
    if m.ndim != 1 or not m.size:
        raise ClusterError(
            f"`sizes` must be a list with the number of scores of each cluster; got shape {m.shape}. Forty clusters of five are "
            "sizes=[5] * 40; of a frame, df.groupby('doc_id').size()."
        )
    bad = m[(m < 1) | (m > _LARGEST) | (m != np.round(m))]
    text, left_out = "`sizes` must be whole numbers from 1 to 2**40", " Leave empty clusters out."
    validate.refuse(bad, m.size, text, kind=ClusterError, hint=left_out)
    if m.size == 1 and not all(name.startswith(_NAIVE) for name in names):
        raise ClusterError(
            "`sizes` holds a single cluster, from which no error between clusters can be told. Name two clusters or more, or "
            "simulate the naive_ methods alone."
        )
    return m.astype(np.int64)


def _share(value: object, name: str) -> float:
    """A number from 0 to 1."""
    array = validate.as_float(value, name)
    if array.ndim:
        raise MethodError(
            f"`{name}` must be one number; got shape {array.shape}. Call once for each of several."
        )
    if not 0 <= array <= 1:
        below = name == "icc" and array < 0
        hint = " A negative estimate says that clustering was not seen: pass 0." if below else ""
        raise MethodError(f"{name}={float(array):g} must lie between 0 and 1.{hint}")
    return float(array)


# Draws of 0/1 scores in clusters with a given rate and intracluster correlation, both exact.
#
# Each cluster has a rate of its own, with mean p and variance icc * p * (1 - p), and its scores are independent given that rate:
# so two scores of a cluster correlate by exactly the ICC, whatever the shape of the law of the rates.

_NEAR = 1e-15  # an ICC as near to 0 or 1 as this cannot be told from it
_LEAST = 1e-300  # beta draws refuse a parameter of 0, to which very small ones would round
_STEEP = 5.0  # standard deviation of the logits from which on clusters mostly pass or fail as a whole


def cluster_sums(
    sizes: IntArray,
    icc: float,
    rate: float,
    n_draws: int,
    rng: np.random.Generator,
    *,
    shape: ClusterShape = "beta_binomial",
) -> IntArray:
    """Sums of 0/1 scores of clusters of the given sizes, shape (n_draws, G)."""
    return rng.binomial(sizes, cluster_rates(icc, rate, (n_draws, len(sizes)), rng, shape=shape))


def cluster_rates(
    icc: float,
    rate: float,
    size: tuple[int, ...],
    rng: np.random.Generator,
    *,
    shape: ClusterShape = "beta_binomial",
) -> FloatArray:
    """Rates of clusters, with mean ``rate`` and variance ``icc * rate * (1 - rate)``."""
    if icc <= _NEAR or rate in (0, 1):
        return np.full(size, float(rate))
    if icc >= 1 - _NEAR:  # the limit of every shape
        return (rng.random(size) < rate).astype(np.float64)
    if shape == "all_or_nothing":
        whole = rng.random(size) < icc
        return np.where(whole, rng.random(size) < rate, rate)
    if shape == "logit_normal":
        mean, sd = logit_normal(icc, rate)
        return np.asarray(special.expit(mean + sd * rng.normal(size=size)))
    strength = (1 - icc) / icc
    return rng.beta(max(rate * strength, _LEAST), max((1 - rate) * strength, _LEAST), size=size)


@functools.lru_cache(maxsize=64)
def logit_normal(icc: float, rate: float) -> tuple[float, float]:
    r"""Mean and standard deviation of normal logits whose rates have mean ``rate`` and variance ``icc * rate * (1 - rate)``.

    The integrals are sums over fine even grids (the trapezoidal rule, whose error for such integrands is far below rounding). While
    the standard deviation is small the grid is of normal values. Once it is large the logistic function is a step beside it, and
    the integral is taken by parts: over the logistic density, :math:`E\,r = \int \Phi((\mu - x)/\sigma)\,\lambda(x)\,dx` and
    :math:`E\,r(1-r) = \int \phi((x - \mu)/\sigma)\,\lambda(x)\,dx/\sigma`.
    """
    from scipy.optimize import brentq

    z = np.linspace(-9, 9, 2001)
    normal = np.exp(-z * z / 2)
    normal /= normal.sum()
    x = np.linspace(-45, 45, 1801)
    logistic = special.expit(x) * special.expit(-x)
    logistic /= logistic.sum()
    goal = rate * (1 - rate)

    def mean(centre: float, sd: float) -> float:
        if sd < _STEEP:
            return float(normal @ special.expit(centre + sd * z))
        return float(logistic @ special.ndtr((centre - x) / sd))

    def centre_of(sd: float) -> float:
        far = 750 + 40 * sd
        return float(brentq(lambda centre: mean(centre, sd) - rate, -far, far, xtol=1e-12, rtol=1e-14))

    def excess(log_sd: float) -> float:
        sd = float(np.exp(log_sd))
        centre = centre_of(sd)
        if sd < _STEEP:
            return float(normal @ (special.expit(centre + sd * z) - rate) ** 2 / goal - icc)
        density = np.exp(-(((x - centre) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))
        return float(1 - logistic @ density / goal - icc)

    log_sd = brentq(excess, np.log(1e-10), np.log(1e18), xtol=1e-12, rtol=1e-14)
    sd = float(np.exp(log_sd))
    return centre_of(sd), sd


def item_rates(of_clusters: FloatArray, icc: float, rng: np.random.Generator) -> FloatArray:
    """Rates of items inside clusters of these rates, beta about them with variance ``icc * rate * (1 - rate)``."""
    if icc <= _NEAR:
        return of_clusters
    if icc >= 1 - _NEAR:
        return (rng.random(of_clusters.shape) < of_clusters).astype(np.float64)
    strength = (1 - icc) / icc
    return rng.beta(*(np.maximum(rate * strength, _LEAST) for rate in (of_clusters, 1 - of_clusters)))
