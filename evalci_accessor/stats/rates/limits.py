"""Limits of a proportion from its estimate and a number of independent scores, whole or not."""

from __future__ import annotations

import numpy as np

from evalci_accessor.options import Alternative, ProportionMethod
from evalci_accessor.stats import special
from evalci_accessor.stats.validate import FloatArray


def wald_limits(p: FloatArray, n: FloatArray, z: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Limits p -+ z sqrt(p (1 - p) / n), cut to [0, 1]."""
    half = z * np.sqrt(p * (1 - p) / n)
    return np.clip(p - half, 0.0, 1.0), np.clip(p + half, 0.0, 1.0)


def wilson_limits(p: FloatArray, n: FloatArray, z: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Wilson's score limits."""
    z2 = z * z / n
    centre = (p + z2 / 2) / (1 + z2)
    half = np.sqrt(z2 * (p * (1 - p) + z2 / 4)) / (1 + z2)
    # At the ends the limit is exactly the end, which rounding would miss.
    low, high = np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
    return np.where(p <= 0, 0.0, low), np.where(p >= 1, 1.0, high)


def beta_limits(
    p: FloatArray, n: FloatArray, outside: FloatArray | float, shift: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Clopper-Pearson limits for any real n > 0; with ``shift=0.5`` Jeffreys'."""
    x, f = p * n, (1 - p) * n
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(np.maximum(x + (1 - shift), 1e-300), f + shift, outside)
        high = special.betainccinv(x + shift, np.maximum(f + (1 - shift), 1e-300), outside)
    return np.where(p <= 0, 0.0, low), np.where(p >= 1, 1.0, high)


def agresti_coull_limits(p: FloatArray, n: FloatArray, z: float) -> tuple[FloatArray, FloatArray]:
    """Wald's limits after adding z**2 / 2 successes and as many failures, cut to [0, 1]."""
    n_adj = n + z * z
    return wald_limits((p * n + z * z / 2) / n_adj, n_adj, z)


def squared_ratio(top: FloatArray | float, bottom: FloatArray) -> FloatArray:
    """(top / bottom)^2 of two quantiles of the same probability, which are both 0 at one half."""
    same = (np.asarray(top) == 0) | (bottom == 0)
    return np.where(same, 1.0, top / np.where(same, 1.0, bottom)) ** 2


def proportion_limits(
    p: FloatArray, n: FloatArray, method: ProportionMethod, outside: float
) -> tuple[FloatArray, FloatArray]:
    """Two limits that each leave the probability ``outside`` beyond them; nan where n is 0."""
    z = float(-special.ndtri(outside))
    with np.errstate(divide="ignore", invalid="ignore"):
        if method == "wald":
            return wald_limits(p, n, z)
        if method == "wilson":
            return wilson_limits(p, n, z)
        if method == "agresti_coull":
            return agresti_coull_limits(p, n, z)
        return beta_limits(p, n, outside, 0.5 if method == "jeffreys" else 1.0)


def one_sided(
    low: FloatArray, high: FloatArray, alternative: Alternative, bounds: tuple[float, float] = (0.0, 1.0)
) -> tuple[FloatArray, FloatArray]:
    """Put the parameter's bound where a one-sided interval has no limit (nan, of an empty group, stays)."""
    if alternative == "greater":
        high = np.where(np.isnan(low), np.nan, bounds[1])
    elif alternative == "less":
        low = np.where(np.isnan(high), np.nan, bounds[0])
    return low, high
