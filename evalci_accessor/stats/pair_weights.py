r"""What weights of the items do to the totals of a difference.

With weights :math:`w_i` the difference is :math:`D = \sum w_i d_i / \sum w_i`, and a cluster has the size
:math:`m_g = \sum w_i` and the sum :math:`\sum w_i d_i`. Unequal weights cost effective size: n items count as Kish's
:math:`M^* = (\sum w)^2 / \sum w^2`, and a cluster as :math:`k_g = m_g^2 / \sum w_i^2` items. Kish takes the weights as
unrelated to the differences. Where heavy items differ more than others, the linearised variance
:math:`V = \sum w_i^2 (d_i - D)^2 / M^2` is larger than :math:`V_0 = (\sum w_i d_i^2/M - D^2)/M^*`, and the items are worth only
:math:`M^* \min(1, V_0/V)`: weights that go with disagreement widen an interval, and never narrow it.

References
----------
Kish, L. (1965). Survey Sampling. Wiley.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from evalci_accessor.stats._validate import FloatArray, IntArray

_ROUNDING = 1e-20  # share of a squared difference below which a squared deviation is rounding


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairWeights:
    """What the weights add to the totals of P pairs.

    Parameters
    ----------
    total, effective : float
        Sum of the weights, and Kish's effective number of items.
    kish : ndarray of float, shape (G,), or None
        Kish's size of each cluster; None where each item stands for itself.
    square : ndarray of float, shape (P,)
        Sum of the squared differences times the squared weights.
    within : ndarray of float, shape (P,)
        Sum of squares within the clusters, each item counted by its share of its cluster's Kish size; 0 without clusters.
    worth : ndarray of float, shape (P,)
        How many independent items of equal weight the items are worth, were there no clustering.
    """

    total: float
    effective: float
    kish: FloatArray | None
    square: FloatArray
    within: FloatArray
    worth: FloatArray


def kish_size(weights: FloatArray) -> float:
    """Kish's effective number of items."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def kish_sizes(weights: FloatArray, codes: IntArray, n_clusters: int) -> FloatArray:
    """Kish's size of each cluster, shape (G,); whole up to rounding where the weights of a cluster are equal."""
    own = _by_largest(weights, codes, n_clusters)
    sums, squares = (np.bincount(codes, weights=x, minlength=n_clusters) for x in (own, own**2))
    return np.round(sums**2 / squares, 10)


def _by_largest(weights: FloatArray, codes: IntArray, n_clusters: int) -> FloatArray:
    """Weights as a share of their cluster's largest one, so that squares of very small ones do not vanish."""
    largest = np.zeros(n_clusters)
    np.maximum.at(largest, codes, weights)
    return weights / largest[codes]


def within_sums(d: FloatArray, mean: FloatArray, weights: FloatArray, codes: IntArray, kish: FloatArray) -> FloatArray:
    """Sum of squares within the clusters for each pair; ``d`` (n, P) are item differences, ``mean`` (P, G) cluster means."""
    own = _by_largest(weights, codes, len(kish))
    share = own * (kish / np.bincount(codes, weights=own, minlength=len(kish)))[codes]
    return np.asarray(share @ (d - mean.T[codes]) ** 2)


def worth(d: FloatArray, mean: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted sum of squared deviations of each pair, and how many independent items of equal weight the items are worth."""
    off = (d - mean) ** 2
    spread, linear = weights @ off, weights**2 @ off
    none = spread <= _ROUNDING * weights.sum()  # nothing varies
    ratio = spread * (weights**2).sum() / (weights.sum() * np.where(none, 1.0, linear))
    return np.where(none, 0.0, spread), kish_size(weights) * np.where(none, 1.0, np.minimum(ratio, 1.0))
