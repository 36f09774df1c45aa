"""Draws of 0/1 scores in clusters with a given rate and intracluster correlation, both exact.

Each cluster has a rate of its own, with mean p and variance icc * p * (1 - p), and its scores are independent given that rate:
so two scores of a cluster correlate by exactly the ICC, whatever the shape of the law of the rates.
"""

from __future__ import annotations

import functools

import numpy as np

from evalci_accessor._typing import ClusterShape
from evalci_accessor.stats import _special as special
from evalci_accessor.stats._validate import FloatArray, IntArray

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
    icc: float, rate: float, size: tuple[int, ...], rng: np.random.Generator, *, shape: ClusterShape = "beta_binomial"
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
    return rng.beta(np.maximum(of_clusters * strength, _LEAST), np.maximum((1 - of_clusters) * strength, _LEAST))
