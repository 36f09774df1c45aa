r"""Many comparisons at once: simultaneous limits, and adjusted p-values.

The estimates of all contrasts come from the same clusters, so they are jointly normal with a covariance that the clusters'
influences give. The law of the largest :math:`|t|` under it says how far the level of the pointwise intervals must go down
for all of them to hold together. Bonferroni's level is what it takes without knowing that law, and the law is not known where
clusters are few: the estimated correlations have a rank below the number of clusters, and extreme t come from small standard
errors, which are less alike than the estimates. So contrasts with few degrees of freedom are charged by the union bound.

Measured by benchmarks/simultaneous.py (nominal .05; all pairs of 3, 10 and 50 systems, 5 to 160 clusters of equal, log-normal or
dominated sizes): the family-wise error is at most .067 with the default method and .080 with CR2, just as Bonferroni's is, against
.71 for the Gaussian level alone; with 160 clusters the level is 1.1, 1.3 and 2.0 times Bonferroni's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from evalci_accessor.exceptions import MethodError
from evalci_accessor.options import Correction
from evalci_accessor.stats import special
from evalci_accessor.stats.validate import BoolArray, FloatArray, IntArray, as_numbers, check_option

_BLOCK = 256  # draws that share a child seed: part of the result
_CHUNK = 1024  # clusters drawn, or contrasts compared, at a time: so that the work stays in cache
_DENSE = 1536  # columns up to which a covariance is factored in place of drawing for every cluster
_NONE = 1e-12  # a contrast's variance, relative to those of its columns, that is rounding


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Block:
    """Means of some systems on the same items, and which of their differences are asked for."""

    # (G, C): influence of each cluster on each column's estimate, `(s_g - p m_g) / M`: its outer product with itself is
    # the covariance of the estimates
    influence: FloatArray
    # (K, 2): columns a and b of each difference a - b; b of -1 where column a is itself a contrast
    contrasts: IntArray
    # (K,): degrees of freedom of the contrasts' standard errors (Bell and McCaffrey's); nan where there are none
    df: FloatArray | float
    # (G,): which cluster each row is, at most one row a cluster. Blocks that name the same cluster are dependent through
    # it. By default the clusters are in no other block.
    clusters: IntArray | None = None

    @classmethod
    def from_covariance(cls, covariance: FloatArray, contrasts: IntArray, df: FloatArray | float) -> Block:
        """A block of which only the covariance (C, C) of the columns is known, and that shares no clusters."""
        value, vector = np.linalg.eigh(covariance)
        return cls(influence=(vector * np.sqrt(np.maximum(value, 0.0))).T, contrasts=contrasts, df=df)


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class _Contrasts:
    """Contrasts of one block that vary, each once."""

    a: IntArray
    b: IntArray
    scale: FloatArray  # 1 / standard error
    df: FloatArray

    def __getitem__(self, keep: BoolArray | slice) -> _Contrasts:
        return _Contrasts(a=self.a[keep], b=self.b[keep], scale=self.scale[keep], df=self.df[keep])


@dataclasses.dataclass(slots=True, kw_only=True, eq=False, repr=False)
class _Factor:
    """Influences with rows sorted by a numbering of the clusters that all factors share."""

    influence: FloatArray
    order: IntArray
    codes: IntArray
    columns: list[tuple[int, slice]]  # which block each run of columns belongs to

    def rows(self, start: int, stop: int) -> tuple[IntArray, IntArray]:
        """Rows of the clusters from ``start`` to ``stop``, and their clusters."""
        first, last = np.searchsorted(self.codes, (start, stop))
        return self.order[first:last], self.codes[first:last]


def simultaneous_outside(
    blocks: Sequence[Block], alpha: float, *, n_draws: int = 9999, seed: np.random.SeedSequence
) -> float:
    r"""Probability that each limit may leave outside, for all intervals to hold together with probability 1 - alpha.

    Parameters
    ----------
    blocks : sequence of Block
        The family: all contrasts of all blocks. Contrasts without variance (systems that agree everywhere) are left out, and
        a contrast that is listed twice, in either direction, counts once.
    alpha : float
        Probability that any of the two-sided intervals misses.
    n_draws : int
        Draws of the largest :math:`|t|`.
    seed : SeedSequence
        Randomness. The same seed gives the same number.

    Returns
    -------
    float
        Between alpha / (2 K), Bonferroni's for K contrasts, and alpha / 2, which it is for a single one.

    Notes
    -----
    With E the influences, :math:`Z = E'\xi` for independent standard normal :math:`\xi`, a draw for each cluster, and
    :math:`t_{ab} = (Z_a - Z_b) / \mathrm{sd}(Z_a - Z_b)`, let c be the :math:`1 - \alpha` quantile of :math:`\max |t_{ab}|`.
    Then intervals with :math:`\Phi(-c)` outside each limit hold together [1]_; as a level it applies to intervals
    of any shape. With many clusters and few columns, Z is drawn from its covariance :math:`E'E`, which is the same law.

    That is right as clusters grow in number. With few, beyond the critical value a t has about
    :math:`\exp(z^4/4\nu)` times the tail of a normal, by small standard errors that contrasts share less than the estimates. So
    with z the normal quantile of Bonferroni's level and :math:`\nu` the degrees of freedom, the level is
    :math:`\Phi(-c) \exp(-z^4/8\nu)`; contrasts for which the discount is over one half (:math:`\nu < z^4/(8 \log 2)`) are not
    drawn but charged 2 x level each, as Bonferroni does; where that is all of them, nothing is drawn. The constant 8, half of
    that tail, was chosen by simulation; the module has its numbers.

    References
    ----------
    .. [1] Montiel Olea, J. L. and Plagborg-Moller, M. (2019). Simultaneous confidence bands: theory, implementation, and an
       application to SVARs. Journal of Applied Econometrics 34, 1-17. https://doi.org/10.1002/jae.2656

    Examples
    --------
    >>> import numpy as np
    >>> from evalci_accessor.stats.pairs.multiplicity import Block, simultaneous_outside
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> block = Block.from_covariance(np.eye(3), pairs, df=500)
    >>> outside = simultaneous_outside([block], 0.05, seed=np.random.SeedSequence(1))
    >>> print(f"{outside:.4f}; Bonferroni {0.05 / 6:.4f}")
    0.0099; Bonferroni 0.0083
    """
    found = [_contrasts(block) for block in blocks]
    n_contrasts = sum(len(contrasts.a) for contrasts in found)
    if n_contrasts < 2:
        return alpha / 2
    bonferroni = alpha / (2 * n_contrasts)
    cost = float(special.ndtri(bonferroni)) ** 4 / 8
    drawn = [contrasts[contrasts.df >= cost / np.log(2)] for contrasts in found]
    n_drawn = sum(len(contrasts.a) for contrasts in drawn)
    if n_drawn == 0:
        return bonferroni
    largest = _largest(blocks, drawn, n_draws, seed)
    df = min(contrasts.df.min() for contrasts in drawn if len(contrasts.df))
    tails = special.ndtr(-largest.astype(np.float64)) * np.exp(-cost / df)
    return float(np.clip(_level(tails, n_contrasts - n_drawn, alpha), bonferroni, alpha / 2))


def _level(tails: FloatArray, charged: int, alpha: float) -> float:
    """Greatest level u at which draws with a tail of at most u, and 2 u for each charged contrast, make up alpha at most."""
    room = alpha - np.arange(1, len(tails) + 1) / (len(tails) + 1) + 1e-12
    level = np.sort(tails)
    if charged:
        level = np.minimum(level, room / (2 * charged))
    return float(np.where(room > 0, level, 0.0).max())


def _contrasts(block: Block) -> _Contrasts:
    pairs, first = np.unique(np.sort(block.contrasts.reshape(-1, 2), axis=1), axis=0, return_index=True)
    df = np.broadcast_to(np.asarray(block.df, dtype=np.float64), len(block.contrasts))[first]
    df = np.nan_to_num(df, nan=0.0)
    a, b = pairs.T
    variance, total = _variances(block.influence, a, b)
    varies = variance > _NONE * total
    scale = 1 / np.sqrt(np.where(varies, variance, 1.0))
    return _Contrasts(a=a, b=b, scale=scale, df=df)[varies]


def _variances(influence: FloatArray, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray]:
    """Variance of each contrast, and what it would be without a covariance; column -1 is 0."""
    columns = influence.shape[1]
    square = np.append(np.einsum("gc,gc->c", influence, influence), 0.0)
    total = square[a] + square[b]
    if columns <= _DENSE:
        product = np.pad(influence.T @ influence, (0, 1))
        return total - 2 * product[a, b], total
    variance = np.empty(len(a))
    for part in chunks(len(a), max(2**20 // max(len(influence), 1), 1)):
        left, right = (np.where(i[part] >= 0, influence[:, i[part]], 0.0) for i in (a, b))
        variance[part] = ((left - right) ** 2).sum(axis=0)
    return variance, total


def _largest(
    blocks: Sequence[Block], contrasts: list[_Contrasts], n_draws: int, seed: np.random.SeedSequence
) -> np.ndarray:
    """The largest |t| of each draw, float32."""
    factors, n_clusters = _factors(blocks, [len(c.a) > 0 for c in contrasts])
    largest = np.zeros(n_draws, dtype=np.float32)
    for part, generator in seeded_chunks(n_draws, _BLOCK, seed):
        for z, factor in zip(_draw(factors, n_clusters, generator), factors, strict=True):
            for index, columns in factor.columns:
                _raise_to_largest(largest[part], z[columns], contrasts[index])
    return largest


def _raise_to_largest(largest: np.ndarray, z: np.ndarray, contrasts: _Contrasts) -> None:
    """Raise each draw's largest |t| to those of the contrasts, in place."""
    size = len(largest)
    z = np.concatenate([z[:, :size], np.zeros((1, size), dtype=np.float32)])  # column -1 is 0
    for part in chunks(len(contrasts.a), _CHUNK // 4):
        t = z[contrasts.a[part]]
        t -= z[contrasts.b[part]]
        np.abs(t, out=t)
        t *= contrasts.scale[part, None].astype(np.float32)
        np.maximum(largest, t.max(axis=0), out=largest)


def _draw(factors: list[_Factor], n_clusters: int, generator: np.random.Generator) -> list[np.ndarray]:
    """A block of draws of every factor's columns, shape (C, _BLOCK)."""
    out = [np.zeros((factor.influence.shape[1], _BLOCK), dtype=np.float32) for factor in factors]
    for part in chunks(n_clusters, _CHUNK):
        xi = generator.standard_normal((part.stop - part.start, _BLOCK), dtype=np.float32)
        for z, factor in zip(out, factors, strict=True):
            rows, codes = factor.rows(part.start, part.stop)
            if len(rows):
                z += factor.influence[rows].astype(np.float32).T @ xi[codes - part.start]
    return out


def _factors(blocks: Sequence[Block], used: list[bool]) -> tuple[list[_Factor], int]:
    """What to multiply the draws with, and how many draws a column needs."""
    kept = [block.clusters for block, some in zip(blocks, used, strict=True) if some]
    named = [clusters for clusters in kept if clusters is not None]
    every = np.concatenate(named) if named else np.zeros(0)
    seen, times = np.unique(every, return_counts=True)
    shared = seen[times > 1]
    linked, alone = [], []
    for i, block in enumerate(blocks):
        if used[i] and block.clusters is not None and np.isin(block.clusters, shared).any():
            linked.append(i)
        elif used[i]:
            alone.append([i])  # its clusters are in no other block
    factors: list[_Factor] = []
    n_clusters = 0
    for members in [linked, *alone] if linked else alone:
        group, size = _number(blocks, members)
        width = sum(factor.influence.shape[1] for factor in group)
        if width < size and width <= _DENSE:
            group, size = [_condense(group, size, width)], width
        factors += [dataclasses.replace(factor, codes=factor.codes + n_clusters) for factor in group]
        n_clusters += size
    return factors, n_clusters


def _number(blocks: Sequence[Block], members: list[int]) -> tuple[list[_Factor], int]:
    """Factors of blocks that may share clusters, with the clusters numbered from 0."""
    rows = [len(blocks[i].influence) for i in members]
    own = [blocks[i].clusters for i in members]
    named = [np.arange(n) if c is None else c for c, n in zip(own, rows, strict=True)]
    unique, code = np.unique(np.concatenate(named), return_inverse=True)
    code = _by_content(blocks, members, code.reshape(-1), len(unique))
    group = []
    for i, codes in zip(members, np.split(code.reshape(-1), np.cumsum(rows)[:-1]), strict=True):
        order = np.argsort(codes, kind="stable")
        columns = [(i, slice(0, blocks[i].influence.shape[1]))]
        group.append(_Factor(influence=blocks[i].influence, order=order, codes=codes[order], columns=columns))
    return group, len(unique)


def _by_content(blocks: Sequence[Block], members: list[int], code: IntArray, size: int) -> IntArray:
    """Number the clusters by their influences, so that neither their names nor their order move a draw."""
    influences = [blocks[i].influence for i in members]
    mixed = [x @ np.cos(np.arange(1.0, x.shape[1] + 1) + k) for k, x in enumerate(influences)]
    key = np.bincount(code, weights=np.concatenate(mixed), minlength=size)
    rank = np.empty(size, dtype=np.int64)
    rounded = np.round(key / (np.abs(key).max(initial=0.0) or 1.0), 9)
    rank[np.argsort(rounded, kind="stable")] = np.arange(size)
    return rank[code]


def _condense(group: list[_Factor], n_clusters: int, width: int) -> _Factor:
    """One square factor with the same covariance."""
    stops = np.cumsum([factor.influence.shape[1] for factor in group])
    ends = zip(stops.tolist(), group, strict=True)
    runs = [slice(stop - factor.influence.shape[1], stop) for stop, factor in ends]
    covariance = np.zeros((width, width))
    for part in chunks(n_clusters, _CHUNK):
        dense = np.zeros((part.stop - part.start, width))
        for run, factor in zip(runs, group, strict=True):
            rows, codes = factor.rows(part.start, part.stop)
            dense[codes - part.start, run] = factor.influence[rows]
        covariance += dense.T @ dense
    variance = np.diag(covariance)
    # Columns that are copies of each other make it singular; so little more than rounding makes it regular.
    covariance[np.diag_indices(width)] += np.where(variance > 0, 1e-11 * variance, 1.0)
    root: FloatArray = np.linalg.cholesky(covariance).T.astype(np.float64, copy=False)
    columns = [(factor.columns[0][0], run) for run, factor in zip(runs, group, strict=True)]
    return _Factor(influence=root, order=np.arange(width), codes=np.arange(width), columns=columns)


def chunks(size: int, step: int) -> Iterator[slice]:
    """So many entries at a time."""
    return (slice(start, min(start + step, size)) for start in range(0, size, step))


def seeded_chunks(
    size: int, step: int, seed: np.random.SeedSequence
) -> Iterator[tuple[slice, np.random.Generator]]:
    """The same, each with a generator of its own."""
    parts = list(chunks(size, step))
    children = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key).spawn(len(parts))
    generators = (np.random.Generator(np.random.SFC64(child)) for child in children)
    return zip(parts, generators, strict=True)


# All families are sorted together, so that the cost is a sort whatever their number. Running maxima are taken over ranks,
# which are whole numbers: no rounding crosses from one family to another.


def adjust_pvalues(pvalues: object, method: Correction = "holm", *, family: object = None) -> FloatArray:
    r"""Adjust p-values for multiple testing, within each family.

    Parameters
    ----------
    pvalues : array_like of float
        P-values, of any shape. A nan stays nan and does not count as a test.
    method : {"holm", "bonferroni", "hochberg", "bh", "by", "none"}
        What is controlled, and under which assumption; see Notes.
    family : array_like of int, broadcastable to the shape of ``pvalues``, optional
        Family that each p-value belongs to. By default all are one family.

    Returns
    -------
    ndarray of float64
        Adjusted p-values, of the shape of ``pvalues``: a test is rejected at level alpha where its adjusted p is at most alpha.

    Raises
    ------
    MethodError
        A p-value outside [0, 1], an unknown method, or families that do not fit.
    EvalCIError
        P-values that are not numbers.

    Notes
    -----
    With :math:`p_{(1)} \le \dots \le p_{(m)}` the p-values of a family, nan left out, the adjusted :math:`p_{(j)}` are, each
    cut to 1:

    - ``"bonferroni"``: :math:`m p_{(j)}`. Controls the family-wise error rate under any dependence.
    - ``"holm"`` [1]_: :math:`\max_{k \le j} (m - k + 1) p_{(k)}`. Controls the family-wise error rate under any
      dependence, and is never above Bonferroni's.
    - ``"hochberg"`` [2]_: :math:`\min_{k \ge j} (m - k + 1) p_{(k)}`. Controls the family-wise error rate for independent
      p-values and for common kinds of positive dependence (where Simes' inequality holds).
    - ``"bh"`` [3]_: :math:`\min_{k \ge j} m p_{(k)} / k`. Controls the false discovery rate for independent p-values
      and under positive regression dependence.
    - ``"by"`` [4]_: Benjamini and Hochberg's times :math:`\sum_{i=1}^m 1/i`. Controls the false discovery rate under any
      dependence.
    - ``"none"``: the p-values as they are.

    All pairs of systems on the same items are not positively dependent as a whole: a - b and b - c pull in opposite
    directions. So ``"holm"`` is the default.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
       65-70. https://www.jstor.org/stable/4615733
    .. [2] Hochberg, Y. (1988). A sharper Bonferroni procedure for multiple tests of significance. Biometrika 75, 800-802.
       https://doi.org/10.1093/biomet/75.4.800
    .. [3] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful approach to
       multiple testing. Journal of the Royal Statistical Society B 57, 289-300.
       https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
    .. [4] Benjamini, Y. and Yekutieli, D. (2001). The control of the false discovery rate in multiple testing under
       dependency. Annals of Statistics 29, 1165-1188. https://doi.org/10.1214/aos/1013699998

    Examples
    --------
    >>> from evalci_accessor.stats.pairs.multiplicity import adjust_pvalues
    >>> print(adjust_pvalues([0.01, 0.04, 0.03, float("nan")]))
    [0.03 0.06 0.06  nan]
    >>> print(adjust_pvalues([0.01, 0.04, 0.03, 0.02], "bh", family=[0, 0, 1, 1]))
    [0.02 0.04 0.03 0.03]
    """
    check_option(method, Correction, "method")
    p = _pvalues(pvalues)
    families = _families(family, p.shape)
    known = ~np.isnan(p)
    out = p.copy()
    if method != "none" and known.any():
        _, code = np.unique(families[known], return_inverse=True)
        out[known] = _adjust(p[known], code.reshape(-1), method)
    return out


def _adjust(p: FloatArray, family: IntArray, method: Correction) -> FloatArray:
    """Adjusted p-values of families that are numbered from 0 without gaps."""
    order = np.lexsort((p, family))
    p, family = p[order], family[order]
    count = np.bincount(family)
    m = count[family]
    rank = np.arange(1, len(p) + 1) - (np.cumsum(count) - count)[family]
    if method == "bonferroni":
        adjusted = m * p
    elif method == "holm":
        adjusted = _running_max((m - rank + 1) * p, family)
    elif method == "hochberg":
        adjusted = _running_min_from_the_end((m - rank + 1) * p, family)
    else:
        factor = m / rank  # exactly 1 for the largest, which so stays as it is
        if method == "by":
            factor = factor * np.cumsum(1 / np.arange(1, count.max() + 1))[m - 1]
        adjusted = _running_min_from_the_end(factor * p, family)
    out = np.empty_like(p)
    out[order] = np.minimum(adjusted, 1.0)
    return out


def _running_max(values: FloatArray, family: IntArray) -> FloatArray:
    """Greatest value so far within each family; the families' numbers must not fall."""
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    # A later family outranks all earlier ones, so one pass over everything does not look back beyond its own.
    best = np.maximum.accumulate(family * len(values) + rank)
    return values[order[best - family * len(values)]]


def _running_min_from_the_end(values: FloatArray, family: IntArray) -> FloatArray:
    return -_running_max(-values[::-1], family[-1] - family[::-1])[::-1]


def _pvalues(values: object) -> FloatArray:
    p = as_numbers(values, "`pvalues`")
    wrong = p[(p < 0) | (p > 1)]
    if wrong.size:
        shown = ", ".join(f"{value:g}" for value in wrong[:5]) + (", ..." if wrong.size > 5 else "")
        raise MethodError(
            f"{wrong.size} of {p.size} p-values lie outside [0, 1]: {shown}. A missing one must be nan."
        )
    return p


def _families(family: object, shape: tuple[int, ...]) -> IntArray:
    """Family of each p-value."""
    if family is None:
        return np.zeros(shape, dtype=np.int64)
    codes = np.asarray(family)
    if codes.dtype.kind not in "iu":
        raise MethodError(
            f"`family` must be whole numbers, one for each family; got values of dtype {codes.dtype}."
        )
    try:
        return np.broadcast_to(codes, shape)
    except ValueError:
        shapes = f"shape {codes.shape} does not broadcast to the p-values' shape {shape}"
        raise MethodError(f"`family` of {shapes}.") from None
