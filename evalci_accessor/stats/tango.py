r"""Tango's score statistic for the difference of two paired proportions, and its limits.

With :math:`b` and :math:`c` the items that only one of the two passed, of :math:`n`, the score statistic for a difference
:math:`\delta` is :math:`z(\delta) = (b - c - n\delta) / \sqrt{n(2\tilde p_{21} + \delta(1-\delta))}`, where
:math:`\tilde p_{21}` is the restricted maximum likelihood estimate, the larger root of a quadratic. At
:math:`\delta = 0` it is McNemar's :math:`(b-c)/\sqrt{b+c}`. Scaling all counts by f multiplies it by :math:`\sqrt f`, which is
all that an effective number of items does to it.
"""

from __future__ import annotations

import numpy as np

from evalci_accessor.stats._validate import FloatArray

_END = 1 - 1e-12


def tango_z(b: FloatArray, c: FloatArray, n: FloatArray | float, delta: FloatArray | float) -> FloatArray:
    """Score statistic for the difference ``delta``, by pair; 0 where the data are as expected and do not vary."""
    b, c, n, delta = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (b, c, n, delta)))
    linear = (2 * n - b + c) * delta - b - c
    root = np.sqrt(np.maximum(linear**2 + 8 * n * c * delta * (1 - delta), 0.0))
    # The larger root, written so that nothing cancels.
    with np.errstate(divide="ignore", invalid="ignore"):
        p21 = np.where(linear > 0, 2 * c * delta * (1 - delta) / (root + linear), (root - linear) / (4 * n))
    p21 = np.where((linear > 0) & (root + linear == 0), 0.0, p21)
    variance = n * (2 * p21 + delta * (1 - delta))
    excess = b - c - n * delta
    with np.errstate(divide="ignore", invalid="ignore"):
        z = excess / np.sqrt(np.maximum(variance, 0.0))
    # Without variance any deviation is infinitely far off, and none is no deviation.
    return np.where(variance > 1e-14 * n, z, np.where(np.abs(excess) < 1e-12 * n, 0.0, np.copysign(np.inf, excess)))


def _upper(b: FloatArray, c: FloatArray, n: FloatArray, z: FloatArray) -> FloatArray:
    """The difference at which the score statistic is -z."""
    from scipy.optimize import elementwise

    difference = (b - c) / n
    open_end = tango_z(b, c, n, np.full(len(b), _END)) > -z
    todo = np.flatnonzero(~open_end & (difference < _END))
    high = np.ones(len(b))
    if not len(todo):
        return high

    def excess(delta: FloatArray, i: FloatArray) -> FloatArray:
        at = i.astype(np.int64)
        return np.maximum(tango_z(b[at], c[at], n[at], delta), -1e6) + z[at]

    ends = (difference[todo], np.full(len(todo), _END))
    found = elementwise.find_root(excess, ends, args=(todo.astype(np.float64),), tolerances={"xatol": 1e-14, "xrtol": 1e-14})
    high[todo] = found.x
    return high


def tango_limits(
    b: FloatArray, c: FloatArray, n: FloatArray | float, z: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Both limits at the critical value ``z``, which may differ between the pairs."""
    critical = np.broadcast_to(np.asarray(z, dtype=np.float64), b.shape)
    items = np.broadcast_to(np.asarray(n, dtype=np.float64), b.shape)
    return -_upper(c, b, items, critical), _upper(b, c, items, critical)
