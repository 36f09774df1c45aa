r"""Several samples an item: what the best, or all, of k of them would score, without bias, item by item.

The value of an item is a U-statistic: the mean, over all subsets of k of its n samples, of the greatest score (pass@k for 0/1
scores) or of the least (pass^k). No subset is drawn. Its variance over new samples of the same item is the square of the value
less the mean over all pairs of disjoint subsets of the product, which estimates the square of what the value estimates; so it
takes 2k samples [1]_.

.. [1] Hoeffding, W. (1948). A class of statistics with asymptotically normal distribution. Annals of Mathematical Statistics
   19, 293-325. https://doi.org/10.1214/aoms/1177730196
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from evalci_accessor.exceptions import MethodError, SamplesError, ScoreError, examples
from evalci_accessor.options import TooFew
from evalci_accessor.stats.validate import FloatArray, IntArray, as_float, as_numbers, check_option, together

_CELLS = 2**20  # factors multiplied at a time
_MOST = 2**53  # whole numbers that a float holds
_GREATEST = 1e150  # squares of larger scores do not fit


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedResult:
    """Values of items with repeated samples. Arrays have the shape of the items, then that of ``k``.

    Parameters
    ----------
    value : ndarray of float
        Unbiased estimate of what k samples of the item would score; nan where it has fewer than k and these were omitted.
    variance : ndarray of float
        Unbiased estimate of the variance of ``value`` over new samples of the same item; it may be negative, and is nan where
        the item has fewer than 2k samples, from which no unbiased estimate can be made.
    k : ndarray of int
        Sizes of the subsets, as asked for.
    n : ndarray of int
        Samples of each item.
    measure : str
        ``"pass_at_k"``, ``"pass_hat_k"`` or ``"best_of_k"``.
    """

    value: FloatArray
    variance: FloatArray
    k: IntArray
    n: IntArray
    measure: str


def pass_at_k(c: object, n: object, k: object, *, too_few: TooFew = "raise") -> RepeatedResult:
    r"""Probability that at least one of k samples of an item passes: pass@k.

    Parameters
    ----------
    c, n : array_like of int
        Samples that passed, and samples, of each item; they broadcast against each other.
    k : int or array_like of int
        How many samples are drawn; an array adds its axes behind those of the items.
    too_few : {"raise", "omit"}
        What to do about items with fewer than k samples: ``"omit"`` gives them nan.

    Returns
    -------
    RepeatedResult

    Raises
    ------
    SamplesError
        Items with fewer than k samples.
    ScoreError
        Counts that are not whole, or more passes than samples.
    MethodError
        A k that is not a whole number of at least 1.

    See Also
    --------
    pass_hat_k : All k pass.
    best_of_k : Scores that are not 0/1.
    cluster_ci : The interval over items, whose values are scores (``s=value, m=1, ss=value**2``).

    Notes
    -----
    :math:`1 - \binom{n-c}{k}/\binom{n}{k}`, as :math:`-\operatorname{expm1} \sum_{j<k} \log(1 - c/(n-j))`, which neither
    overflows nor cancels [1]_. Never a power of the pooled rate: items differ. It assumes that the samples of an item are
    independent given the item.

    References
    ----------
    .. [1] Chen, M. et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> stats.pass_at_k([4, 0, 1], [10, 10, 10], [1, 5]).value.round(4)
    array([[0.4   , 0.9762],
           [0.    , 0.    ],
           [0.1   , 0.5   ]])
    """
    return _counted("pass_at_k", c, n, k, too_few)


def pass_hat_k(c: object, n: object, k: object, *, too_few: TooFew = "raise") -> RepeatedResult:
    r"""Probability that all of k samples of an item pass: pass^k.

    Parameters
    ----------
    c, n, k, too_few
        As in `pass_at_k`.

    Returns
    -------
    RepeatedResult

    Raises
    ------
    SamplesError, ScoreError, MethodError
        As in `pass_at_k`.

    Notes
    -----
    :math:`\binom{c}{k}/\binom{n}{k}` [1]_. The power :math:`(c/n)^k` would be too high on average.

    References
    ----------
    .. [1] Yao, S. et al. (2024). tau-bench: A benchmark for tool-agent-user interaction in real-world domains.
       https://arxiv.org/abs/2406.12045

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> stats.pass_hat_k([4, 3, 1], 4, [1, 2]).value
    array([[1.  , 1.  ],
           [0.75, 0.5 ],
           [0.25, 0.  ]])
    """
    return _counted("pass_hat_k", c, n, k, too_few)


def best_of_k(scores: object, k: object, *, too_few: TooFew = "raise") -> RepeatedResult:
    r"""Expected greatest score of k samples of an item, for scores on any scale.

    Parameters
    ----------
    scores : array_like, shape (..., n)
        Scores of each item, the samples along the last axis; nan where an item has fewer samples than others.
    k, too_few
        As in `pass_at_k`.

    Returns
    -------
    RepeatedResult

    Raises
    ------
    SamplesError
        Items with fewer than k samples.
    ScoreError
        Infinite scores, scores whose squares do not fit a float, or a scalar.
    MethodError
        A k that is not a whole number of at least 1.

    Notes
    -----
    With :math:`y_{(1)} \le \dots \le y_{(n)}`, :math:`\sum_j y_{(j)} \binom{j-1}{k-1}/\binom{n}{k}`: the mean of the maximum
    over all subsets of k, whatever the ties; for 0/1 scores it is `pass_at_k` [1]_. For the least of k take the negative of
    the scores and of the answer.

    References
    ----------
    .. [1] Chen, M. et al. (2021). Evaluating large language models trained on code. https://arxiv.org/abs/2107.03374

    Examples
    --------
    >>> from evalci_accessor import stats
    >>> stats.best_of_k([[0.2, 0.9, 0.4, 0.4]], [1, 2, 4]).value
    array([[0.475, 0.65 , 0.9  ]])
    """
    values = as_numbers(scores, "`scores`", "numbers, as many a row")
    if values.ndim == 0:
        raise ScoreError(
            "`scores` needs at least one axis, the last, along which the samples of an item lie; got a scalar."
        )
    if np.isinf(values).any():
        raise ScoreError(
            f"`scores` holds {int(np.isinf(values).sum())} infinite scores; they must be finite."
        )
    refuse_extremes(values[~np.isnan(values)], "scores")
    ks, shape = check_ks(k), values.shape[:-1]
    rows = values.reshape(int(np.prod(shape, dtype=np.int64)), values.shape[-1])
    held = ~np.isnan(rows)
    n = held.sum(axis=1)
    _refuse_few(n, ks.ravel(), too_few)
    value, variance = best_values(rows[held], n, ks.ravel())
    return _shaped("best_of_k", value, variance, ks, n, shape)


def check_ks(k: object) -> IntArray:
    """Sizes of subsets: whole numbers of at least 1, each once."""
    try:
        ks = np.asarray(k)
    except ValueError:
        ks = np.empty(0)
    if not ks.size or ks.dtype.kind not in "iu" or (ks < 1).any() or (ks > _MOST).any():
        raise MethodError(
            f"k={k!r} must be a whole number of at least 1, or several of them, as k=[1, 5, 10]."
        )
    if len(np.unique(ks)) < ks.size:
        raise MethodError(f"k={k!r} names a number twice; name each once.")
    return ks.astype(np.int64)


def refuse_extremes(scores: FloatArray, name: str) -> None:
    """Scores whose squares are no floats."""
    largest = float(np.abs(scores).max(initial=0.0))
    if largest > _GREATEST or 0 < largest < 1 / _GREATEST:
        raise ScoreError(
            f"The largest score in {name!r} is {largest:g} in size, whose square does not fit a float; rescale them."
        )


def passed_values(measure: str, c: IntArray, n: IntArray, ks: IntArray) -> tuple[FloatArray, FloatArray]:
    """Values and their variances by item and k, (I, K): nan where n < k, and n < 2k."""
    sizes, size_at = np.unique(n, return_inverse=True)
    counts, count_at = np.unique(c, return_inverse=True)
    width = max(len(counts), 1)
    shared, place = np.unique(size_at.reshape(-1) * width + count_at.reshape(-1), return_inverse=True)
    at_size, at_count = np.divmod(shared, width)
    size, passes = sizes[at_size], counts[at_count]
    # No pass among k, or no failure.
    absent = passes if measure == "pass_at_k" else size - passes
    both = np.unique(np.concatenate([ks, 2 * ks]))
    logs = _log_missed(absent, size, both)
    once, twice = (logs[:, np.searchsorted(both, wanted)] for wanted in (ks, 2 * ks))
    value = 0.0 - np.expm1(once) if measure == "pass_at_k" else np.exp(once)
    variance = np.exp(2 * once) - np.exp(twice)
    at = place.reshape(-1)
    return value[at], variance[at]


def best_values(scores: FloatArray, n: IntArray, ks: IntArray) -> tuple[FloatArray, FloatArray]:
    """The same of the greatest of k; ``scores`` holds the samples of one item after the other, ``n`` of each."""
    value = np.full((len(n), len(ks)), np.nan)
    variance = np.full_like(value, np.nan)
    start = np.cumsum(n) - n
    for size in np.unique(n[n > 0]).tolist():
        items = np.flatnonzero(n == size)
        ordered = np.sort(scores[start[items][:, None] + np.arange(size)], axis=1)
        for j, k in enumerate(ks.tolist()):
            if k > size:
                continue
            weights = _maximum_weights(size, k)
            value[items, j] = ordered @ weights
            if 2 * k <= size:
                # Pairs of disjoint subsets by their maxima, at places i < l: C(i-1, k-1) and C(l-1-k, k-1) ways for the rest.
                spread = ordered - ordered[:, :1]  # squares of scores far from 0 would swamp it
                below = np.cumsum(spread * weights, axis=1)[:, :-1]
                later = np.zeros(size)
                later[k:] = _maximum_weights(size - k, k)
                pairs = np.einsum("ij,ij,j->i", spread[:, 1:], below, later[1:])
                variance[items, j] = (spread @ weights) ** 2 - 2 * pairs
    return value, variance


def _maximum_weights(n: int, k: int) -> FloatArray:
    """Probability that the j-th smallest of n is the greatest of k drawn, C(j-1, k-1) / C(n, k), j = 1..n."""
    j = np.arange(n - 1, k - 1, -1, dtype=np.float64)
    weights = np.zeros(n)
    weights[k - 1 :] = (k / n * np.cumprod(np.concatenate([[1.0], (j - k + 1) / j])))[::-1]
    return weights


def _log_missed(absent: IntArray, n: IntArray, ks: IntArray) -> FloatArray:
    """Logarithm of C(n - absent, k) / C(n, k), shape (I, K) for ascending k; nan where k > n."""
    out = np.zeros((len(n), len(ks)))
    total, done = np.zeros(len(n)), 0
    step = max(_CELLS // max(len(n), 1), 1)
    highest = int(n.max(initial=0))
    for column, k in enumerate(ks.tolist()):
        while done < min(k, highest):
            j = np.arange(done, min(done + step, k, highest))
            total = total + _log_factors(absent[:, None], n[:, None], j).sum(axis=1)
            done = int(j[-1]) + 1
        out[:, column] = np.where(k <= n, total, np.nan)
    return out


def _log_factors(absent: IntArray, n: IntArray, j: IntArray) -> FloatArray:
    """log(1 - absent / (n - j)), with all digits at either end."""
    left = np.maximum(n - j, 1)
    rest = np.maximum(n - absent - j, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        few, many = np.log1p(-np.minimum(absent / left, 1.0)), np.log(np.minimum(rest / left, 1.0))
    return np.asarray(np.where(2 * absent < left, few, many), dtype=np.float64)


def _counted(measure: str, c: object, n: object, k: object, too_few: TooFew) -> RepeatedResult:
    passes, sizes = together(c=as_float(c, "c"), n=as_float(n, "n"))
    no_size = (sizes < 0) | (sizes != np.round(sizes)) | (sizes > _MOST)
    no_count = (passes < 0) | (passes != np.round(passes))
    refusals = {
        "`n` must be whole numbers from 0 to 2**53": no_size,
        "`c` must be whole numbers >= 0; best_of_k takes scores on any scale": no_count,
        "`c` must be at most `n`: no item passes more often than it was sampled": passes > sizes,
    }
    for text, bad in refusals.items():
        at = np.flatnonzero(bad).tolist()
        if at:
            shown = examples((f"c={passes.flat[i]:g}, n={sizes.flat[i]:g}" for i in at), between="; ")
            raise ScoreError(f"{text}; {len(at)} of {passes.size} item(s) have {shown}.")
    ks = check_ks(k)
    flat_n = sizes.ravel().astype(np.int64)
    _refuse_few(flat_n, ks.ravel(), too_few)
    value, variance = passed_values(measure, passes.ravel().astype(np.int64), flat_n, ks.ravel())
    return _shaped(measure, value, variance, ks, flat_n, passes.shape)


def _refuse_few(n: IntArray, ks: IntArray, too_few: TooFew) -> None:
    check_option(too_few, TooFew, "too_few")
    k = int(ks.max())
    if too_few == "raise" and (n < k).any():
        raise SamplesError(
            few_words(n, k, lambda i: f"item {i}", "")
            + " Ask for a smaller k, or leave these items out with too_few='omit'."
        )


def few_words(n: IntArray, k: int, label: Callable[[int], str], where: str) -> str:
    """Which items have fewer than k samples, as a sentence."""
    few = np.flatnonzero(n < k)
    shown = examples(few.tolist(), words=lambda i: f"{label(i)} has {n[i]}")
    return (
        f"k={k} needs at least {k} samples of an item, and {'all' if len(few) == len(n) else len(few)} of {len(n)} items have "
        f"fewer{where}: {shown}."
    )


def _shaped(
    measure: str, value: FloatArray, variance: FloatArray, ks: IntArray, n: IntArray, shape: tuple[int, ...]
) -> RepeatedResult:
    value, variance = (found.reshape((*shape, *ks.shape)) for found in (value, variance))
    return RepeatedResult(value=value, variance=variance, k=ks, n=n.reshape(shape), measure=measure)
