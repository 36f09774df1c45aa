r"""P-values adjusted for how many there are, over one family or many at once.

All families are sorted together, so that the cost is a sort whatever their number. Running maxima are taken over ranks,
which are whole numbers: no rounding crosses from one family to another.
"""

from __future__ import annotations

import numpy as np

from evalci_accessor._typing import Correction
from evalci_accessor.exceptions import EvalCIError, MethodError
from evalci_accessor.stats._validate import FloatArray, IntArray, check_option


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
    >>> from evalci_accessor.stats.multiplicity import adjust_pvalues
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
    try:
        p = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EvalCIError(f"`pvalues` must be numbers; got {type(values).__name__}: {error}.") from error
    wrong = p[(p < 0) | (p > 1)]
    if wrong.size:
        shown = ", ".join(f"{value:g}" for value in wrong[:5]) + (", ..." if wrong.size > 5 else "")
        raise MethodError(f"{wrong.size} of {p.size} p-values lie outside [0, 1]: {shown}. A missing one must be nan.")
    return p


def _families(family: object, shape: tuple[int, ...]) -> IntArray:
    """Family of each p-value."""
    if family is None:
        return np.zeros(shape, dtype=np.int64)
    codes = np.asarray(family)
    if codes.dtype.kind not in "iu":
        raise MethodError(f"`family` must be whole numbers, one for each family; got values of dtype {codes.dtype}.")
    try:
        return np.broadcast_to(codes, shape)
    except ValueError:
        raise MethodError(f"`family` of shape {codes.shape} does not broadcast to the p-values' shape {shape}.") from None
