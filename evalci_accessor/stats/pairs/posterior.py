r"""Posterior of the intracluster correlation (ICC) of item differences, for many pairs of systems at once.

The differences :math:`d_i \in \{-1, 0, 1\}` of the items get the Gaussian one-way marginal likelihood, in which the mean (flat
prior) and the variance (:math:`1/\sigma^2`) are integrated out. With :math:`w_g = m_g/(1 + (m_g-1)\rho)`,

.. math:: \log L(\rho) = -\tfrac12 \sum_g \log(1+(m_g-1)\rho) - \tfrac12 (n-G) \log(1-\rho) - \tfrac12 \log\sum_g w_g
          - \tfrac12 (n-1) \log Q, \qquad Q = \frac{SSW}{1-\rho} + \sum_g w_g (\bar d_g - \mu)^2.

The prior is Beta(1/2, 1/2), that is, flat in :math:`\varphi = \arcsin\sqrt\rho`. Of the clusters only two sums for each distinct
size matter, so the cost does not grow with their number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from evalci_accessor.stats.pairs.matched import Every, PairTotals
from evalci_accessor.stats.rates.intersections import counted, joint_effect
from evalci_accessor.stats.rates.posterior import HALF_PI, legendre
from evalci_accessor.stats.validate import FloatArray

Record = TypeVar("Record")
CrossedEvidence: TypeAlias = "Mapping[tuple[int, ...], Evidence]"
N_NODES = 64
_BINS = 128  # values of the effective share under crossed clusterings
_N_SEARCH = 48  # nodes of the passes that only have to find where the posterior lives
_DROP = 40.0  # log units below the peak at which it counts as zero
_CELLS = 2**20  # pairs x nodes x sizes worked on at a time
_FLAT = 1e-12  # share of the squares below which a sum of squares is rounding


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class PairPosterior:
    """Posterior of the ICC of the differences of each pair."""

    # rho, weight (P, R): nodes and their probabilities
    rho: FloatArray
    weight: FloatArray
    share: FloatArray  # (P, R): effective number of items at each node, as a share of their number

    @property
    def icc(self) -> FloatArray:
        """Posterior mean of the ICC."""
        return np.asarray((self.weight * self.rho).sum(axis=1))

    def quantile(self, probability: float) -> FloatArray:
        """Quantile of the ICC of each pair, interpolated in arcsin(sqrt(rho)); a node stands for half of its weight each way."""
        cdf = np.cumsum(self.weight, axis=1) - self.weight / 2
        phi = np.arcsin(np.sqrt(self.rho))
        at = [np.interp(probability, below, nodes) for below, nodes in zip(cdf, phi, strict=True)]
        return np.asarray(np.sin(np.array(at)) ** 2)

    @property
    def mean_share(self) -> FloatArray:
        """Harmonic mean of the effective share of the items."""
        return np.asarray(1 / (self.weight / self.share).sum(axis=1))


def pair_posterior(t: PairTotals, *, n_nodes: int = N_NODES) -> PairPosterior:
    """Posterior of each pair; the prior itself where the differences tell nothing."""
    return pair_posteriors([Evidence.of(t)], n_nodes=n_nodes)[0]


def pair_posteriors(lots: Sequence[Evidence], *, n_nodes: int = N_NODES) -> list[PairPosterior]:
    """Posteriors of several lots of pairs, found together."""
    out: list[PairPosterior | None] = [None] * len(lots)
    # Lots with about as many sizes go together, so that little is filled up.
    kinds = [-1 if lot.independent else int(np.ceil(np.log2(lot.size.shape[1]))) for lot in lots]
    for kind in set(kinds):
        members = [k for k, own in enumerate(kinds) if own == kind]
        if kind < 0:
            for k in members:
                one = np.ones((len(lots[k].within), 1))
                out[k] = PairPosterior(one / 2, one, one)
            continue
        joint = Evidence.join([lots[k] for k in members])
        step = max(_CELLS // (max(n_nodes, _N_SEARCH) * joint.size.shape[1]), 1)
        pairs = len(joint.within)
        found = [_nodes(joint.part(slice(start, start + step)), n_nodes) for start in range(0, pairs, step)]
        rho, weight = (np.concatenate(list(part)) for part in zip(*found, strict=True))
        share = 1 / (1 + joint.growth[:, None] * rho)
        stops = np.cumsum([len(lots[k].within) for k in members])
        for k, stop in zip(members, stops, strict=True):
            part = slice(int(stop) - len(lots[k].within), int(stop))
            out[k] = PairPosterior(rho=rho[part], weight=weight[part], share=share[part])
    return [one for one in out if one is not None]


def crossed_posteriors(lots: Sequence[CrossedEvidence]) -> list[PairPosterior]:
    r"""Posteriors of the effective shares of several lots of pairs under crossed clusterings, found together.

    With :math:`e = n/G^* - 1` the share is :math:`1/(1 + \sum_a e_a\rho_a - \sum_{a<b} e_{ab}\bar\rho_{ab} + \dots)`, and at most
    the smallest of the clusterings' own and at least :math:`1/(1 + \max e_a)`; the nodes have no single ICC.
    """
    of = [(k, some) for k, lot in enumerate(lots) for some in lot]
    found = dict(zip(of, pair_posteriors([lots[k][some] for k, some in of]), strict=True))
    out = []
    for k, lot in enumerate(lots):
        excess = {some: one.growth[:, None] * found[k, some].rho for some, one in lot.items()}
        common = np.zeros(len(next(iter(lot.values())).growth))
        for some, value in excess.items():
            if len(some) > 1:
                common += (-1) ** len(some) * (value * found[k, some].weight).sum(axis=1)
        parts = [(value, found[k, some].weight) for some, value in excess.items() if len(some) == 1]
        greatest = np.max([one.growth for some, one in lot.items() if len(some) == 1], axis=0)
        effect, weight = joint_effect(parts, common, greatest, _BINS)
        out.append(PairPosterior(rho=np.full_like(effect, np.nan), weight=weight, share=1 / effect))
    return out


def crossed_evidence(every: Every) -> CrossedEvidence:
    """What the likelihood needs by each clustering that counts, and by their intersections."""
    places = set(counted({some: t.n_clusters for some, t in every.items()}))
    return {some: Evidence.of(t) for some, t in every.items() if set(some) <= places}


def joined(records: Sequence[Record]) -> Record:
    """One dataclass whose arrays are those of several, one after the other."""
    first = records[0]
    if len(records) == 1:
        return first
    fields = {f.name: getattr(first, f.name) for f in dataclasses.fields(first)}  # type: ignore[arg-type]
    names = [name for name, value in fields.items() if isinstance(value, np.ndarray)]
    arrays: Any = {name: np.concatenate([getattr(one, name) for one in records]) for name in names}
    return dataclasses.replace(first, **arrays)  # type: ignore[type-var]


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Evidence:
    """What the likelihood needs of P pairs: sums over clusters of each of C sizes, of mean differences about the overall mean."""

    # size, count (P, C): sizes (Kish's, under weights), and how many clusters have them
    size: FloatArray
    count: FloatArray
    # first, second (P, C): sums of the cluster means about the overall mean, and of their squares
    first: FloatArray
    second: FloatArray
    within: FloatArray  # (P,): sum of squares within the clusters
    # n, growth (P,): sum of the sizes; and n / G* - 1, by which the variance grows with the ICC (n Kish's, under weights)
    n: FloatArray
    growth: FloatArray
    independent: bool  # whether the clusters tell nothing: no pair, or a single item in each

    @classmethod
    def of(cls, t: PairTotals) -> Evidence:
        """The sums of ready totals."""
        pairs = len(t.total)
        # Under weights a cluster counts with Kish's size.
        own = t.size if t.weights is None else t.weights.kish
        if t.size is None or own is None or t.d is None or (own == 1).all() or not pairs:
            none, zero = np.zeros((pairs, 1)), np.zeros(pairs)
            return cls(none, none, none, none, zero, zero, zero, independent=True)
        order = np.argsort(own, kind="stable")
        size, start, count = np.unique(own[order], return_index=True, return_counts=True)
        off = t.d[:, order] / t.size[order] - t.mean[:, None]
        within = t.square - (t.d**2 / t.size).sum(axis=1) if t.weights is None else t.weights.within
        flat = _FLAT * t.square * (own.sum() / t.mass)
        sizes, counts = (np.broadcast_to(v, (pairs, len(size))) for v in (size, count.astype(np.float64)))
        first, second = (np.add.reduceat(v, start, axis=1) for v in (off, off**2))
        n = np.full(pairs, float(own.sum()))
        growth = np.full(pairs, t.effective_items / t.effective_clusters - 1)
        within = np.where(within > flat, within, 0.0)
        return cls(sizes, counts, first, second, within, n, growth, independent=False)

    @classmethod
    def join(cls, lots: Sequence[Evidence]) -> Evidence:
        """Several lots as one; sizes that no cluster has fill up the shorter ones."""
        if len(lots) == 1:
            return lots[0]
        width, padded = max(lot.size.shape[1] for lot in lots), []
        for lot in lots:
            more = ((0, 0), (0, width - lot.size.shape[1]))
            sums: Any = {name: np.pad(getattr(lot, name), more) for name in ("count", "first", "second")}
            padded.append(dataclasses.replace(lot, size=np.pad(lot.size, more, constant_values=1.0), **sums))
        return joined(padded)

    def part(self, pairs: slice) -> Evidence:
        """Some of the pairs."""
        names = ("size", "count", "first", "second", "within", "n", "growth")
        return dataclasses.replace(self, **{name: getattr(self, name)[pairs] for name in names})

    def spread(self) -> FloatArray:
        """Sum of squares of the cluster means about the overall mean."""
        return np.asarray((self.second * self.size).sum(axis=1))

    def log(self, phi: FloatArray) -> FloatArray:
        """Log likelihood at phi = arcsin(sqrt(rho)), shape (P, K)."""
        rho, rest = np.sin(phi) ** 2, np.cos(phi) ** 2
        size = self.size[:, None, :]
        growth = 1 + (size - 1) * rho[..., None]
        weight = size / growth
        total = np.einsum("pkc,pc->pk", weight, self.count)
        first = np.einsum("pkc,pc->pk", weight, self.first)
        between = np.einsum("pkc,pc->pk", weight, self.second) - first**2 / total
        q = self.within[:, None] / rest + np.maximum(between, 0.0)
        clusters = self.count.sum(axis=1)
        with np.errstate(divide="ignore"):
            out = (
                -np.einsum("pkc,pc->pk", np.log(growth), self.count)
                - (self.n - clusters)[:, None] * np.log(rest)
                - np.log(total)
                - (self.n - 1)[:, None] * np.log(q)
            ) / 2
        # No difference varies: every ICC is as likely as another.
        return np.where((self.within + self.spread() <= 0)[:, None], 0.0, out)


def _nodes(like: Evidence, n_nodes: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of each pair: close together about the peak and ever further apart, inside the window that holds it."""
    pairs = len(like.within)
    # With whole clusters that agree and clusters that differ, the posterior is a point at 1.
    point = (like.within == 0) & (like.spread() > 0)
    inner = like
    if point.any():
        inner = dataclasses.replace(like, within=np.where(point, like.spread(), like.within))
    low, high = np.zeros(pairs), np.full(pairs, HALF_PI)
    grid = np.arange(_N_SEARCH) + 0.5
    for _ in range(30):
        step = (high - low) / _N_SEARCH
        value = inner.log(low[:, None] + grid * step[:, None])
        keep = value > value.max(axis=1, keepdims=True) - _DROP
        first, last = keep.argmax(axis=1), _N_SEARCH - 1 - keep[:, ::-1].argmax(axis=1)
        narrow = last - first + 1 < _N_SEARCH // 3
        low, high = np.maximum(low + (first - 1) * step, 0.0), np.minimum(low + (last + 2) * step, HALF_PI)
        if not narrow.any():
            break
    x, w = legendre(n_nodes)
    phi = low[:, None] + (x + 1) / 2 * (high - low)[:, None]
    span = np.broadcast_to(w / 2, phi.shape) * (high - low)[:, None]
    for _ in range(3):
        value = inner.log(phi)
        top = value.argmax(axis=1)
        mass = (np.exp(value - value.max(axis=1, keepdims=True)) * span).sum(axis=1)
        peak = np.take_along_axis(phi, top[:, None], axis=1)[:, 0]
        width = mass / np.sqrt(2 * np.pi)
        ends = np.arcsinh((np.stack([low, high]) - peak) / width)
        half = (ends[1] - ends[0]) / 2
        u = ends.mean(axis=0)[:, None] + half[:, None] * x
        phi = np.clip(peak[:, None] + width[:, None] * np.sinh(u), 0.0, HALF_PI)
        span = w * (half * width)[:, None] * np.cosh(u)
    value = inner.log(phi)
    weight = np.exp(value - value.max(axis=1, keepdims=True)) * span
    weight /= weight.sum(axis=1, keepdims=True)
    rho = np.where(point[:, None], 1.0, np.sin(phi) ** 2)
    return rho, weight
