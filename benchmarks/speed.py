"""Ratios against peers, in CPU time within one process: the minimum of several runs, one row a comparison.

    python benchmarks/speed.py                      # everything, some minutes
    python benchmarks/speed.py --only bootstrap     # the groups whose name contains the word
    python benchmarks/speed.py --quick              # tiny sizes, to see that it runs; the ratios mean nothing
    python benchmarks/speed.py --write results.md   # and keep the table

Where a peer would take too long it is timed on fewer resamples and scaled linearly, and the row says so.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import gc
import itertools
import math
import os
import subprocess
import sys
import textwrap
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # CPU time adds threads up
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
import pandas as pd
import xarray as xr
from scipy import optimize
from scipy.special import betainc, gammaln, ndtr, stdtr

import evalci_accessor
from evalci_accessor import stats
from evalci_accessor.options import RateOptions
from evalci_accessor.stats.pairs.laws import ReplicateLaw
from evalci_accessor.stats.pairs.matched import MatchedScores
from evalci_accessor.stats.pairs.multiplicity import Block, simultaneous_outside
from evalci_accessor.stats.pairs.tests import binomial_tails
from evalci_accessor.stats.rates import averaged, clustered, posterior
from evalci_accessor.stats.rates.bootstrap import differences, mean_replicates
from evalci_accessor.stats.rates.moments import bell_mccaffrey_df, moments

N_RESAMPLES = 10_000


@dataclasses.dataclass(frozen=True)
class Row:
    """One comparison. Without a peer, ``ratio`` is nan and the target is about ``ours`` alone."""

    what: str
    ours: float
    peer: float
    ratio: float
    target: str
    met: bool | None
    unit: str = "s"

    def cells(self) -> list[str]:
        verdict = "" if self.met is None else " (met)" if self.met else " (MISSED)"
        return [
            self.what,
            _show(self.ours, self.unit),
            _show(self.peer, self.unit),
            _ratio(self.ratio),
            self.target + verdict,
        ]


def _show(value: float, unit: str) -> str:
    if math.isnan(value):
        return "-"
    if unit == "s":
        return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:,.4g} s"
    return f"{value:.1f} MB" if unit == "MB" else f"{value:.2g}"


def _ratio(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.0f}x" if value >= 100 else f"{value:.3g}x"


def faster(what: str, ours: float, peer: float, at_least: float | None = None) -> Row:
    """How many times faster than a peer."""
    ratio = peer / ours
    return Row(what, ours, peer, ratio, "" if at_least is None else f">= {at_least:g}x",
               None if at_least is None else ratio >= at_least)  # fmt: skip


def costs(what: str, ours: float, base: float, at_most: float | None = None) -> Row:
    """How many times the cost of something simpler."""
    ratio = ours / base
    return Row(what, ours, base, ratio, "" if at_most is None else f"<= {at_most:g}x",
               None if at_most is None else ratio <= at_most)  # fmt: skip


def within(what: str, ours: float, at_most: float | None = None, unit: str = "s") -> Row:
    """A figure of our own under a limit."""
    target = "" if at_most is None else f"<= {_show(at_most, unit)}"
    return Row(what, ours, math.nan, math.nan, target, None if at_most is None else ours <= at_most, unit)


def cpu(work: Callable[[], Any], repeat: int = 5, budget: float = 20.0) -> float:
    """Least CPU seconds of several runs; no new run once the budget is spent."""
    best, spent = math.inf, 0.0
    gc.collect()
    for _ in range(repeat):
        start = time.process_time()
        work()
        took = time.process_time() - start
        best, spent = min(best, took), spent + took
        if spent > budget:
            break
    return best


def peak_memory(work: Callable[[], Any]) -> float:
    """Most extra MB that were alive at once (numpy tells tracemalloc of its arrays)."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        work()
        return (tracemalloc.get_traced_memory()[1] - before) / 1e6
    finally:
        tracemalloc.stop()


# -- made data ---------------------------------------------------------------------------------------------------------


def totals(
    n_clusters: int,
    mean_size: float = 10.0,
    sizes: str = "log-normal",
    *,
    fractional: bool = False,
    mean: float = 0.7,
    icc: float = 0.2,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Made sums, sizes and sums of squares of beta-binomial clusters; sizes equal, Poisson, or log-normal (log-sd 1)."""
    rng = np.random.default_rng([1, n_clusters])
    if sizes == "equal":
        size = np.full(n_clusters, int(mean_size))
    elif sizes == "Poisson":
        size = np.maximum(1, rng.poisson(mean_size, n_clusters))
    else:
        raw = rng.lognormal(0.0, 1.0, n_clusters)
        size = np.maximum(1, np.round(raw * mean_size / np.exp(0.5))).astype(int)
    strength = (1 - icc) / icc
    rate = rng.beta(mean * strength, (1 - mean) * strength, n_clusters)
    if not fractional:
        s = rng.binomial(size, rate).astype(float)
        return s, size.astype(float), s
    scores = rng.beta(4 * np.repeat(rate, size) + 1e-3, 4 * (1 - np.repeat(rate, size)) + 1e-3)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    return np.add.reduceat(scores, start), size.astype(float), np.add.reduceat(scores**2, start)


def rows(n: int, n_clusters: int, *, seed: int = 1, sparse: bool = False, text: bool = False) -> pd.DataFrame:
    """A frame of 0/1 scores with cluster ids in random order."""
    rng = np.random.default_rng([seed, n])
    code = rng.integers(0, n_clusters, n)
    rate = rng.beta(2.8, 1.2, n_clusters)
    score = (rng.random(n) < rate[code]).astype(np.int64)
    ids: Any = code * 1_000_003 + 17 if sparse else code
    if text:
        ids = pd.Series(
            np.array([f"document-{c:07d}" for c in range(n_clusters)], dtype=object)[code], dtype="str"
        )
    return pd.DataFrame({"cluster": ids, "score": score})


# -- bootstrap ---------------------------------------------------------------------------------------------------------


def _lists(s: np.ndarray, m: np.ndarray) -> dict[str, list[float]]:
    """The scores of each cluster as a list, as grouping a frame in no particular order by text ids gives them."""
    size = m.astype(int)
    code = np.repeat(np.arange(len(m)), size)
    start = np.cumsum(size) - size
    names = np.array([f"doc-{g:06d}" for g in range(len(m))], dtype=object)
    frame = pd.DataFrame(
        {"cluster": names[code], "score": (np.arange(len(code)) - start[code] < s[code]).astype(float)}
    )
    return frame.sample(frac=1, random_state=1).groupby("cluster")["score"].apply(list).to_dict()


def _loop(lists: dict[str, list[float]], n_resamples: int) -> tuple[float, float]:
    """What one writes first: draw cluster keys, concatenate their lists, take the mean."""
    rng = np.random.default_rng(0)
    keys = list(lists)
    means = []
    for _ in range(n_resamples):
        sample: list[float] = []
        for key in rng.choice(keys, size=len(keys), replace=True):
            sample.extend(lists[key])
        means.append(np.mean(sample))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _percentile(s: np.ndarray, m: np.ndarray, n_resamples: int = N_RESAMPLES) -> stats.RateResult:
    return stats.cluster_ci(s, m, method="bootstrap_percentile", n_resamples=n_resamples, rng=1)


def bootstrap_loop(quick: bool) -> Iterator[Row]:
    for n, clusters, sizes, loops, target in (
        (200, 40, "equal", 2000, 100), (10_000, 500, "log-normal", 200, 250), (1_000_000, 100_000, "Poisson", 2, 5_000),
        (1_000_000, 100_000, "log-normal", 2, None),
    ):  # fmt: skip
        if quick and n > 10_000:
            continue
        s, m, _ = totals(clusters, n / clusters, sizes)
        resamples, loops = (200, 5) if quick else (N_RESAMPLES, loops)
        lists = _lists(s, m)
        ours = cpu(lambda s=s, m=m, r=resamples: _percentile(s, m, r), 7, 5)
        peer = cpu(lambda lists=lists, loops=loops: _loop(lists, loops), 3) * resamples / loops
        yield faster(
            f"cluster bootstrap, {resamples:,} resamples, n={int(m.sum()):,}, G={clusters:,}, {sizes} sizes: loop over keys "
            f"(timed on {loops:,} and scaled)", ours, peer, target,
        )  # fmt: skip


def _paired_ratio(s: np.ndarray, m: np.ndarray, axis: int = -1) -> np.ndarray:
    return s.sum(axis=axis) / m.sum(axis=axis)


def bootstrap_scipy(quick: bool) -> Iterator[Row]:
    from scipy.stats import bootstrap

    for clusters, timed, batch in ((40, 10_000, None), (500, 10_000, None), (100_000, 100, 10)):
        if quick and clusters > 500:
            continue
        resamples, timed = (200, 200) if quick else (N_RESAMPLES, timed)
        s, m, _ = totals(clusters)

        def peer(s: np.ndarray = s, m: np.ndarray = m, timed: int = timed, batch: int | None = batch) -> None:
            bootstrap(
                (s, m), _paired_ratio, paired=True, vectorized=True, n_resamples=timed, method="percentile", batch=batch,
                rng=np.random.default_rng(1),
            )  # fmt: skip

        ours = cpu(lambda s=s, m=m, r=resamples: _percentile(s, m, r), 5, 5)
        scaled = "" if timed == resamples else f" (timed on {timed:,} and scaled)"
        what = f"cluster bootstrap, {resamples:,} resamples, G={clusters:,}"
        yield faster(f"{what}: scipy.stats.bootstrap on cluster sums{scaled}",
                     ours, cpu(peer, 3) * resamples / timed)  # fmt: skip


def bootstrap_arch(quick: bool) -> Iterator[Row]:
    try:
        from arch.bootstrap import IIDBootstrap
    except ImportError:
        return
    for clusters, timed in ((40, 10_000), (500, 10_000), (100_000, 200)):
        if quick and clusters > 500:
            continue
        resamples, timed = (200, 200) if quick else (N_RESAMPLES, timed)
        s, m, _ = totals(clusters)

        def peer(s: np.ndarray = s, m: np.ndarray = m, timed: int = timed) -> None:
            IIDBootstrap(s, m, seed=1).conf_int(lambda a, b: a.sum() / b.sum(), timed, method="percentile")

        ours = cpu(lambda s=s, m=m, r=resamples: _percentile(s, m, r), 5, 5)
        scaled = "" if timed == resamples else f" (timed on {timed:,} and scaled)"
        what = f"cluster bootstrap, {resamples:,} resamples, G={clusters:,}"
        yield faster(f"{what}: arch IIDBootstrap on cluster sums{scaled}",
                     ours, cpu(peer, 3) * resamples / timed)  # fmt: skip


def bootstrap_scale(quick: bool) -> Iterator[Row]:
    small, large, resamples = (1_000, 10_000, 200) if quick else (100_000, 1_000_000, N_RESAMPLES)

    def run(t: stats.ClusterTotals) -> None:
        clustered.rate(t, RateOptions(method="bootstrap_percentile", n_resamples=resamples, rng=1))

    for sizes, target in (("Poisson", 1.5), ("log-normal", None)):
        ready = [stats.ClusterTotals.from_sums(*totals(g, 10.0, sizes)[:2]) for g in (small, large)]
        base, ours = (cpu(functools.partial(run, t), 5, 5) for t in ready)
        what = f"cluster bootstrap, {resamples:,} resamples, 0/1, {sizes} sizes, from totals"
        yield costs(f"{what}: G={large:,} over G={small:,}", ours, base, target)  # fmt: skip


def bootstrap_memory(quick: bool) -> Iterator[Row]:
    resamples = 200 if quick else 2_000
    for clusters, fractional in (
        (500, False),
        (500, True),
        (10_000, True),
        (100_000, False),
        (100_000, True),
        (1_000_000, False),
    ):
        if quick and clusters > 500:
            continue
        s, m, ss = totals(clusters, fractional=fractional)
        t = stats.ClusterTotals.from_sums(s, m, ss)
        for method in ("bootstrap_percentile", "bootstrap_t"):
            most = resamples if clusters < 100_000 else min(resamples, 512)

            def work(t: Any = t, method: Any = method, most: int = most) -> None:
                clustered.rate(t, RateOptions(method=method, n_resamples=most, rng=1))

            kind = "fractional" if fractional else "0/1"
            yield within(
                f"extra memory of {method}, G={clusters:,}, {kind}, from totals",
                peak_memory(work),
                64.0,
                "MB",
            )


# -- closed form and reduction -----------------------------------------------------------------------------------------


def closed_form(quick: bool) -> Iterator[Row]:
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    for n, clusters, target, text in (
        (10_000, 500, 5, False), (1_000_000, 100_000, 8, False), (10_000, 500, None, True), (1_000_000, 100_000, None, True),
    ):  # fmt: skip
        if quick and n > 10_000:
            continue
        df = rows(n, clusters, text=text)

        def ours(df: pd.DataFrame = df) -> pd.DataFrame:
            return df.evalci.cluster_ci("cluster", method="cr1")

        def fit(model: Any, df: pd.DataFrame) -> np.ndarray:
            ids = (
                df["cluster"]
                if df["cluster"].dtype.kind == "i"
                else pd.Series(pd.factorize(df["cluster"])[0])
            )
            return np.ravel(model.fit(cov_type="cluster", cov_kwds={"groups": ids}, use_t=True).conf_int())

        def formula(df: pd.DataFrame = df) -> np.ndarray:
            return fit(smf.ols("score ~ 1", df), df)

        def arrays(df: pd.DataFrame = df) -> np.ndarray:
            return fit(sm.OLS(df["score"].to_numpy(), np.ones(len(df))), df)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            limits = ours()[["ci_low", "ci_high"]].to_numpy()[0]
            took = cpu(ours, 25, 5)
        kind = "text ids (factorized for the peer)" if text else "int ids"
        what = f"cluster_ci(method='cr1'), {n:,} rows, G={clusters:,}, {kind}, frame to answer"
        for peer, name, demand in ((formula, "formula", target), (arrays, "ready arrays", None)):
            np.testing.assert_allclose(limits, peer(), rtol=1e-9)
            yield faster(f"{what}: statsmodels OLS cov_type='cluster', {name}", took, cpu(peer, 9, 8), demand)


def reduction(quick: bool) -> Iterator[Row]:
    n, clusters = (10_000, 1_000) if quick else (10_000_000, 1_000_000)
    for sparse in (True, False):
        df = rows(n, clusters, sparse=sparse)
        ids = df["cluster"].to_numpy()
        base = cpu(lambda ids=ids: pd.factorize(ids), 3)
        ours = cpu(lambda df=df: df.evalci.cluster_ci("cluster", method="cr1"), 3)
        kind = "sparse" if sparse else "dense"
        yield costs(
            f"cluster_ci(method='cr1'), {n:,} rows, G={clusters:,}, {kind} int ids: pd.factorize alone",
            ours,
            base,
            1.5,
        )


def groups(quick: bool) -> Iterator[Row]:
    n, clusters = (10_000, 100) if quick else (10_000_000, 1_000)
    df = rows(n, clusters)
    rng = np.random.default_rng(2)
    df["many"], df["one"] = rng.integers(0, 100, n), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = cpu(lambda: df.evalci.cluster_ci("cluster", by="one", method="cr1"), 3)
        none = cpu(lambda: df.evalci.cluster_ci("cluster", method="cr1"), 3)
        many = cpu(lambda: df.evalci.cluster_ci("cluster", by="many", method="cr1"), 3)
    yield costs(f"cluster_ci(by=), 100 groups over 1 group, {n:,} rows", many, one, 2.0)
    yield costs(f"cluster_ci(by=), 100 groups over no `by`, {n:,} rows", many, none)


def many_groups(quick: bool) -> Iterator[Row]:
    n_groups, clusters, size = (10, 10, 5) if quick else (500, 40, 5)
    for fractional in (False, True):
        rng = np.random.default_rng(3)
        n = n_groups * clusters * size
        group, cluster = np.arange(n) // (clusters * size), np.arange(n) // size
        rate = rng.beta(1.4, 0.6, n_groups * clusters)[cluster]
        score = (
            rng.beta(4 * rate + 0.01, 4 * (1 - rate) + 0.01)
            if fractional
            else (rng.random(n) < rate).astype(int)
        )
        df = pd.DataFrame({"group": group, "cluster": cluster % clusters, "score": score})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            took = cpu(lambda df=df: df.evalci.cluster_ci("cluster", by="group"), 3)
        kind = "fractional" if fractional else "0/1"
        yield within(
            f"default, {n_groups} groups x {clusters} clusters x {size} rows in one call, {kind}", took, 3.0
        )


_TEXT_CASE = """
    import sys, time, warnings
    import numpy as np, pandas as pd, evalci_accessor
    n, clusters = {n}, {clusters}
    rng = np.random.default_rng(1)
    code = rng.integers(0, clusters, n)
    names = pd.array([f"document-{{c:07d}}" for c in range(clusters)], dtype="str")
    score = (rng.random(n) < rng.beta(2.8, 1.2, clusters)[code]).astype(int)
    df = pd.DataFrame({{"cluster": names.take(code), "score": score}})
    warnings.simplefilter("ignore")
    df.head(100).evalci.cluster_ci("cluster")  # whatever is imported late
    def status(key):
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024 / 1e6
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts anew
    before, start = status("VmRSS"), time.process_time()
    df.evalci.cluster_ci("cluster")
    print(time.process_time() - start, status("VmHWM") - before)
"""


def text_clusters(quick: bool) -> Iterator[Row]:
    n, clusters = (10_000, 1_000) if quick else (1_000_000, 100_000)
    if not Path("/proc/self/clear_refs").exists():
        return
    results = []
    for _ in range(1 if quick else 3):
        code = textwrap.dedent(_TEXT_CASE.format(n=n, clusters=clusters))
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        results.append([float(x) for x in out.split()])
    took, memory = np.min(results, axis=0)
    yield within(f"default, {n:,} rows in {clusters:,} text clusters", float(took), 3.0)
    yield within(
        f"default, {n:,} rows in {clusters:,} text clusters: extra resident memory",
        float(memory),
        300.0,
        "MB",
    )


# -- accuracy and cost of the default ----------------------------------------------------------------------------------


def _average(p: float, n_k: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    def root(tail: Callable[[float], float]) -> float:
        return float(optimize.brentq(tail, 0.0, 1.0, xtol=1e-14))

    low = root(lambda x: float(weight @ betainc(p * n_k, (1 - p) * n_k + 1, x)) - 0.025)
    return low, root(lambda x: float(weight @ betainc(p * n_k + 1, (1 - p) * n_k, x)) - 0.975)


def _effective(m: np.ndarray, rho: np.ndarray, inflation: float) -> np.ndarray:
    size = m * inflation
    total, kish = size.sum(), m.sum() ** 2 / (m**2).sum()
    return total / (1 + (total / kish - 1) * rho)


def _inflation(s: np.ndarray, m: np.ndarray, ss: np.ndarray) -> float:
    n, p = m.sum(), s.sum() / m.sum()
    v = p * (1 - p)
    return max(1.0, (n + 1) * v / (ss.sum() - n * p * p + 2 * v))


def _window_sum(loglik: Callable[[np.ndarray], np.ndarray], points: int = 120) -> float:
    """Log integral over theta in (0, pi/2) by midpoints, zoomed to within 40 log units of the integrand's peak."""
    low, high = 0.0, np.pi / 2
    for _ in range(8):
        step = (high - low) / points
        theta = low + (np.arange(points) + 0.5) * step
        value = loglik(theta) + np.log(np.sin(2 * theta))
        keep = np.flatnonzero(value > value.max() - 40)
        if len(keep) > points // 3:
            break
        low, high = max(0.0, theta[keep[0]] - 1.5 * step), min(np.pi / 2, theta[keep[-1]] + 1.5 * step)
    return float(value.max() + np.log(np.exp(value - value.max()).sum() * step))


def reference_small(s: np.ndarray, m: np.ndarray, ss: np.ndarray, n_nodes: int = 256) -> tuple[float, float]:
    """The default without its guard, slowly: every node of the prior, every integral on a fine grid, no shortcut."""
    phi = _inflation(s, m, ss) if (s != ss).any() else 1.0
    p, a = s.sum() / m.sum(), s
    far = np.round(ss if p <= 0.5 else m - 2 * s + ss)  # scores near the far end
    if (s != ss).any() and min(p, 1 - p) <= 0.1 and (far > 0).sum() < 5:
        phi, a = 1.0, far if p <= 0.5 else m - far  # scores that crowd at one end count as rounded
    binary = phi == 1.0 and bool((a == np.round(a)).all())
    a, size = a * phi, m * phi
    pairs, count = np.unique(np.stack([a, size], axis=1), axis=0, return_counts=True)
    s_u, m_u = pairs.T
    all_pass, none_pass = m_u == s_u, s_u == 0
    rho = np.sin((np.arange(n_nodes) + 0.5) * np.pi / (2 * n_nodes)) ** 2
    log_weight = np.empty(n_nodes)
    for k, r in enumerate(rho):
        t = (1 - r) / r

        def smooth(theta: np.ndarray, t: float = t) -> np.ndarray:
            x, y = (np.sin(theta) ** 2 * t)[:, None], (np.cos(theta) ** 2 * t)[:, None]
            value = (
                gammaln(x + s_u)
                - gammaln(x)
                + gammaln(y + (m_u - s_u))
                - gammaln(y)
                + gammaln(t)
                - gammaln(t + m_u)
            )
            return value @ count

        def all_or_nothing(theta: np.ndarray, r: float = r) -> np.ndarray:
            log_p, log_q = 2 * np.log(np.sin(theta))[:, None], 2 * np.log(np.cos(theta))[:, None]
            one = np.log1p(-r) + s_u * log_p + (m_u - s_u) * log_q
            one = np.where(all_pass, np.logaddexp(one, np.log(r) + log_p), one)
            return np.where(none_pass, np.logaddexp(one, np.log(r) + log_q), one) @ count

        log_weight[k] = _window_sum(smooth)
        if binary:
            log_weight[k] = np.logaddexp(log_weight[k], _window_sum(all_or_nothing))
    weight = np.exp(log_weight - log_weight.max())
    return _average(s.sum() / m.sum(), _effective(m, rho, phi), weight / weight.sum())


def reference_dense(s: np.ndarray, m: np.ndarray) -> tuple[float, float]:
    """The package's own rule, held to dense quadrature with four times the nodes (0/1 scores)."""
    old = posterior._DENSE_NS
    posterior._DENSE_NS = 1e12
    try:
        post = posterior.icc_posterior(s, m, n_nodes=256)
    finally:
        posterior._DENSE_NS = old
    return _average(s.sum() / m.sum(), _effective(m, post.rho, 1.0), post.weight)


def reference_large(
    s: np.ndarray, m: np.ndarray, ss: np.ndarray, half_points: int = 12
) -> tuple[float, float]:
    """Fractional scores in very many clusters: trapezoidal rule on a grid of half standard deviations about the joint peak.

    Both directions are arcsin(sqrt(.)); the rule converges exponentially for so nearly normal an integrand.
    """
    phi = _inflation(s, m, ss)
    a, b = s * phi, (m - s) * phi
    size, inverse = np.unique(m, return_inverse=True)
    times = np.bincount(inverse)

    def value(x: np.ndarray) -> float:
        rho, p = np.sin(x[0]) ** 2, np.sin(x[1]) ** 2
        t = (1 - rho) / rho
        fixed = (times * (gammaln(t) - gammaln(t + size * phi))).sum() - len(s) * (
            gammaln(p * t) + gammaln((1 - p) * t)
        )
        data = gammaln(p * t + a).sum() + gammaln((1 - p) * t + b).sum()
        return float(data + fixed + np.log(np.sin(2 * x[1])))

    start = np.array([0.4, np.arcsin(np.sqrt(s.sum() / m.sum()))])
    room = min(0.01, 0.1 * (np.pi / 2 - start[1]), 0.1 * start[1])
    simplex = start + np.array([[0.0, 0.0], [-0.1, 0.0], [0.0, room]])
    x = optimize.minimize(
        lambda x: -value(x), start, method="Nelder-Mead",
        options={"initial_simplex": simplex, "xatol": 1e-7, "fatol": 1e-5},
    ).x  # fmt: skip
    step = np.array([1e-3, 1e-4])  # becomes the width of the peak in each direction
    for _ in range(4):
        drops = [2 * value(x) - value(x + move) - value(x - move) for move in np.diag(step)]
        step = step / np.sqrt(np.array(drops))
    cross = value(x + step) + value(x - step) - value(x + step * (1, -1)) - value(x + step * (-1, 1))
    correlation = np.array([[1.0, -cross / 4], [-cross / 4, 1.0]])  # of the curvature, in units of the steps
    axes = step[:, None] * np.linalg.cholesky(np.linalg.inv(correlation))
    offsets = np.stack(np.meshgrid(*2 * [np.arange(-half_points, half_points + 1) * 0.5])).reshape(2, -1)
    points = x[:, None] + axes @ offsets
    grid = np.array([value(point) for point in points.T])
    weight = np.exp(grid - grid.max())
    assert weight[np.abs(offsets).max(axis=0) == half_points * 0.5].max() < 1e-4, "the grid is too small"
    return _average(s.sum() / m.sum(), _effective(m, np.sin(points[0]) ** 2, phi), weight / weight.sum())


def default_accuracy(quick: bool) -> Iterator[Row]:
    limit = {10: None, 1_000: None, 100_000: 3.0, 1_000_000: None}
    cases = itertools.product(
        (False, True),
        (10,) if quick else limit,
        (("log-normal", 10.0, 0.7), ("equal", 5.0, 0.7), ("log-normal", 10.0, 0.995)),
    )
    for fractional, clusters, (sizes, size, mean) in cases:
        if clusters == 10 and mean > 0.9:
            continue  # all pass
        s, m, ss = totals(clusters, size, sizes, fractional=fractional, mean=mean)

        def work(s: Any = s, m: Any = m, ss: Any = ss, fractional: bool = fractional) -> None:
            stats.cluster_ci(s, m, ss=ss if fractional else None)

        took = cpu(work, 5, 10)
        name = f"default, G={clusters:,}, {'fractional' if fractional else '0/1'}, {sizes} sizes, rate {mean}"
        yield within(f"{name}: from sums", took, limit[clusters] if fractional else None)
        if clusters <= 1_000:
            low, high = reference_small(s, m, ss, 32 if quick else 512 if clusters == 10 else 256)
        elif not fractional:
            low, high = reference_dense(s, m)
        else:
            low, high = reference_large(s, m, ss)
        t = stats.ClusterTotals.from_sums(s, m, ss if fractional else None)
        mo = moments(t)
        ours = averaged.averaged_limits(mo.p, averaged.averaged_posterior(t, mo), 0.025)  # before the guard
        error = max(abs(float(ours[0][0]) - low), abs(float(ours[1][0]) - high)) / (high - low)
        yield within(f"{name}: error of the limits over the width", error, 1e-3, "")


# -- imports and cubes -------------------------------------------------------------------------------------------------

HEAVY = ("scipy.stats", "scipy.optimize", "matplotlib", "statsmodels", "dask.array", "flox", "arch", "tqdm")


def _child_cpu(code: str) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def imports(quick: bool) -> Iterator[Row]:
    repeat = 1 if quick else 7
    base, ours = [], []
    for _ in range(repeat):  # in turns, so that a busy machine hurts both
        base.append(_child_cpu("import pandas, xarray"))
        ours.append(_child_cpu("import evalci_accessor"))
    yield costs("import evalci_accessor: import pandas, xarray", min(ours), min(base), 1.10)
    code = (
        "import pandas, xarray, sys; before = set(sys.modules); import evalci_accessor; "
        f"print(*[name for name in {HEAVY} if name in set(sys.modules) - before])"
    )
    extra = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    yield within(
        f"heavy modules that the import adds ({', '.join(extra) or 'none'})", float(len(extra)), 0.0, ""
    )


def cube(quick: bool) -> Iterator[Row]:
    n_items, clusters = (500, 20) if quick else (100_000, 2_000)
    rng = np.random.default_rng(4)
    docs = {"doc": ("item", rng.integers(0, clusters, n_items))}
    name = "xarray groupby without flox"
    with contextlib.suppress(ImportError):
        import flox  # noqa: F401

        name = "xarray groupby + flox"
    dims = ("model", "lang", "item", "sample")
    for shape, dim in (
        ((20, 10, n_items), ["item"]), ((20, 10, n_items), ["lang", "item"]), ((20, 10, n_items, 8), ["item", "sample"]),
    ):  # fmt: skip
        score = rng.integers(0, 4, shape, dtype=np.uint8) > 0
        ds = xr.Dataset({"score": (dims[: len(shape)], score)}, coords=docs)

        def ours(ds: xr.Dataset = ds, dim: list[str] = dim) -> xr.Dataset:
            return ds.evalci.cluster_ci("doc", dim=dim, method="cr1")

        def peer(ds: xr.Dataset = ds, dim: list[str] = dim) -> xr.DataArray:
            return ds["score"].groupby("doc").sum().sum([d for d in dim if d != "item"])

        size = score.nbytes / 1e6
        what = f"cube {' x '.join(f'{n:,}' for n in shape)} bool ({size:.0f} MB), G={clusters:,}, over {' and '.join(dim)}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            took, other, memory = cpu(ours, 3), cpu(peer, 2, 5), peak_memory(ours)
        yield faster(
            f"{what}: {name}, sums only",
            took,
            other,
            5.0 if "flox" in name and "without" not in name else None,
        )
        yield within(f"{what}: extra memory", memory, size / 2 if len(shape) == 4 else None, "MB")


# -- pairs of systems on the same items ----------------------------------------------------------------------------------


def systems(n_systems: int, n_items: int, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Made passes of systems, shape (systems, items), and the cluster of each item.

    Items and clusters are hard or easy for all, and clusters a little more so for some systems than for others.
    """
    rng = np.random.default_rng([5, n_systems, n_items, n_clusters])
    code = rng.integers(0, n_clusters, n_items)
    ease = rng.normal(size=n_clusters)[code] + rng.normal(size=n_items)
    own = 0.4 * rng.normal(size=(n_systems, n_clusters))[:, code] + np.linspace(-0.3, 0.9, n_systems)[:, None]
    return ease + own + rng.normal(size=own.shape) > 0, code


def _names(kind: str, count: int) -> np.ndarray:
    return np.array([f"{kind}-{i:06d}" for i in range(count)])


def _score_cube(score: np.ndarray, code: np.ndarray) -> xr.Dataset:
    """The same as a cube with text ids."""
    coords = {
        "system": _names("system", len(score)), "item": _names("item", score.shape[1]),
        "doc": ("item", _names("document", code.max() + 1)[code]),
    }  # fmt: skip
    return xr.Dataset({"score": (("system", "item"), score)}, coords=coords)


def _score_rows(score: np.ndarray, code: np.ndarray) -> pd.DataFrame:
    """The same as a frame with text ids, a row a system and item, in random order."""
    system, item = np.divmod(np.random.default_rng(6).permutation(score.size), score.shape[1])

    def ids(kind: str, codes: np.ndarray) -> Any:
        return pd.array(_names(kind, codes.max() + 1), dtype="str").take(codes)

    return pd.DataFrame(
        {
            "system": ids("system", system), "item": ids("item", item), "doc": ids("document", code[item]),
            "score": score[system, item].astype(np.int64),
        }
    )  # fmt: skip


def _four_cells(scores: MatchedScores, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Items that both, only the first, only the second and neither passed, by pair."""
    gram = scores.gram()
    passed, both, apart = np.diagonal(gram), gram[a, b], scores.squares(a, b, gram)
    only_a = (apart + passed[a] - passed[b]) / 2
    return np.stack([both, only_a, apart - only_a, scores.n - both - apart])


def pairs_tables(quick: bool) -> Iterator[Row]:
    from statsmodels.stats.contingency_tables import mcnemar

    m, n, timed = (5, 500, 4) if quick else (50, 100_000, 25)
    score, code = systems(m, n, n // 20)
    a, b = np.triu_indices(m, 1)
    some = range(0, len(a), len(a) // timed)
    ready = MatchedScores.from_items(score.T, binary=True, bounded=True)
    ds, df = _score_cube(score, code), _score_rows(score, code)
    wide = df.pivot(index="item", columns="system", values="score")  # the peer's time starts here
    columns = [wide[name] for name in wide]

    def crosstabs() -> list[np.ndarray]:
        return [pd.crosstab(columns[a[k]], columns[b[k]]).to_numpy() for k in some]

    def crosstabs_and_p() -> list[float]:
        return [mcnemar(table, exact=True).pvalue for table in crosstabs()]

    def tables_and_p() -> np.ndarray:
        _, only_a, only_b, _ = _four_cells(ready, a, b)
        return np.minimum(2 * np.minimum(*binomial_tails(only_a, only_b, half=False)), 1.0)

    def from_cube() -> xr.Dataset:
        return ds.evalci.mcnemar("system", item="item")

    def from_frame() -> pd.DataFrame:
        return df.evalci.mcnemar("system", item="item")

    cells = _four_cells(ready, a, b)[:, some]
    np.testing.assert_array_equal(cells.T, [[t[1, 1], t[1, 0], t[0, 1], t[0, 0]] for t in crosstabs()])
    for found in (tables_and_p(), from_cube()["pvalue"].to_numpy()):
        np.testing.assert_allclose(found[some], crosstabs_and_p(), rtol=1e-9)
    scale = len(a) / len(some)
    alone, full = cpu(crosstabs, 3) * scale, cpu(crosstabs_and_p, 3) * scale
    what, scaled = (
        f"{len(a):,} McNemar tables, {m} systems x {n:,} items",
        f"(timed on {len(some)} pairs and scaled)",
    )
    peer = f"pandas.crosstab of pivoted columns + statsmodels mcnemar(exact=True) {scaled}"
    yield faster(f"{what}, tables only, from ready scores: pandas.crosstab of pivoted columns {scaled}",
                 cpu(lambda: _four_cells(ready, a, b), 7, 5), alone, 1_000)  # fmt: skip
    yield faster(f"{what}, and exact p, from ready scores: {peer}", cpu(tables_and_p, 7, 5), full, 1_000)
    yield faster(f"{what}, mcnemar(), cube to answer: {peer}", cpu(from_cube, 5), full)
    yield faster(
        f"{what}, mcnemar(), frame with text ids ({len(df):,} rows) to answer: {peer}",
        cpu(from_frame, 3),
        full,
    )


def _shared_bootstrap(scores: MatchedScores, a: np.ndarray, b: np.ndarray, n_resamples: int) -> np.ndarray:
    """Percentile limits of all pairs from one matrix of counts."""
    means = mean_replicates(scores.sums, scores.sizes, n_resamples, np.random.SeedSequence(1)).T
    limits = []
    for start in range(0, len(a), 25):
        part = slice(start, start + 25)
        replicates = differences(means, a[part], b[part])
        law = ReplicateLaw(std_error=np.ones(len(replicates)), replicates=replicates, bound=1.0)
        limits.append(law.limits(0.025))
    return np.concatenate(limits, axis=1)


def _one_pair(d: np.ndarray, m: np.ndarray, n_resamples: int) -> np.ndarray:
    """Percentile limits of one pair, all its resamples at once."""
    index = np.random.default_rng(1).integers(0, len(m), (n_resamples, len(m)))
    return np.quantile(d[index].sum(axis=1) / m[index].sum(axis=1), (0.025, 0.975))


def _one_pair_scipy(d: np.ndarray, m: np.ndarray, n_resamples: int) -> object:
    """scipy.stats.bootstrap, vectorised."""
    from scipy.stats import bootstrap

    return bootstrap(
        (d, m),
        _paired_ratio,
        paired=True,
        vectorized=True,
        n_resamples=n_resamples,
        method="percentile",
        rng=1,
    ).confidence_interval


def _one_pair_loop(d: np.ndarray, m: np.ndarray, n_resamples: int) -> np.ndarray:
    """The same, one resample after the other."""
    rng = np.random.default_rng(1)
    found = np.empty(n_resamples)
    for k in range(n_resamples):
        index = rng.integers(0, len(m), len(m))
        found[k] = d[index].sum() / m[index].sum()
    return np.quantile(found, (0.025, 0.975))


def pairs_bootstrap(quick: bool) -> Iterator[Row]:
    m, n, clusters, resamples, timed = (4, 200, 20, 200, 2) if quick else (50, 10_000, 500, 9_999, 5)
    score, code = systems(m, n, clusters)
    a, b = np.triu_indices(m, 1)
    scores = MatchedScores.from_items(score.T, code, binary=True, bounded=True)
    ds = _score_cube(score, code)

    def shared() -> np.ndarray:
        return _shared_bootstrap(scores, a, b, resamples)

    def accessor() -> xr.Dataset:
        return ds.evalci.diff_ci(
            "system", item="item", cluster="doc", method="bootstrap_percentile", n_resamples=resamples, rng=1
        )

    def pair_by_pair(one: Callable[[np.ndarray, np.ndarray, int], np.ndarray], pairs: int) -> None:
        for k in range(pairs):
            one(scores.sums[:, a[k]] - scores.sums[:, b[k]], scores.sizes, resamples)

    what = f"all-pairs cluster bootstrap, {m} systems ({len(a):,} pairs), G={clusters:,}, {resamples:,} resamples"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        took = {"from cluster sums": cpu(shared, 5, 5), "diff_ci(), cube to answer": cpu(accessor, 5, 5)}
        memory = {
            "from cluster sums": peak_memory(shared),
            "diff_ci(), cube to answer": peak_memory(accessor),
        }
    for one, pairs, name, target in (
        (_one_pair_scipy, timed, "pair by pair, scipy.stats.bootstrap", 500.0),
        (_one_pair, timed, "pair by pair, numpy, all resamples of a pair at once", 500.0),
        (_one_pair_loop, min(timed, 2), "pair by pair, a loop over the resamples", None),
    ):  # fmt: skip
        peer = cpu(functools.partial(pair_by_pair, one, pairs), 3) * len(a) / pairs
        for how, ours in took.items():
            aim = (
                target if how == "from cluster sums" else None
            )  # as the peer, which does not read the scores
            yield faster(f"{what}, {how}: {name} (timed on {pairs} and scaled)", ours, peer, aim)
    for how, extra in memory.items():
        yield within(f"{what}, {how}: extra memory", extra, 64.0, "MB")
    for m, n, clusters in () if quick else ((20, 100_000, 10_000), (10, 100_000, 100_000)):
        score, code = systems(m, n, clusters)
        scores = MatchedScores.from_items(score.T, code, binary=True, bounded=True)
        extra = peak_memory(functools.partial(_shared_bootstrap, scores, *np.triu_indices(m, 1), 500))
        yield within(f"all-pairs cluster bootstrap, {m} systems, G={len(scores.sums):,}, from cluster sums: extra memory",
                     extra, 64.0, "MB")  # fmt: skip


def pairs_compare(quick: bool) -> Iterator[Row]:
    shapes = ((4, 200, 20, None),) if quick else ((50, 10_000, 500, 5.0), (20, 100_000, 10_000, None))
    for m, n, clusters, limit in shapes:
        score, code = systems(m, n, clusters)
        df = _score_rows(score, code)

        def compare(df: pd.DataFrame = df) -> pd.DataFrame:
            return df.evalci.compare("system", item="item", cluster="doc", rng=1)

        def bootstrap(df: pd.DataFrame = df, resamples: int = 200 if quick else 9_999) -> pd.DataFrame:
            return df.evalci.diff_ci(
                "system",
                item="item",
                cluster="doc",
                method="bootstrap_percentile",
                n_resamples=resamples,
                rng=1,
            )

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            took, memory, other, extra = (
                cpu(compare, 5),
                peak_memory(compare),
                cpu(bootstrap, 3),
                peak_memory(bootstrap),
            )
        what = f"{m} systems x {n:,} items, G={clusters:,}, frame with text ids ({len(df):,} rows) to answer"
        yield within(f"compare(), {what}", took, limit)
        yield within(f"compare(), {what}: extra memory", memory, None, "MB")
        yield within(f"diff_ci(method='bootstrap_percentile'), {what}", other)
        yield within(f"diff_ci(method='bootstrap_percentile'), {what}: extra memory", extra, None, "MB")


def pairs_simultaneous(quick: bool) -> Iterator[Row]:
    m, draws = (5, 500) if quick else (50, 9_999)
    contrasts = np.stack(np.triu_indices(m, 1), axis=1)
    for clusters in (50,) if quick else (500, 100_000):
        score, code = systems(m, 20 * clusters if clusters < 10_000 else 2 * clusters, clusters)
        scores = MatchedScores.from_items(score.T, code, binary=True, bounded=True)
        block = Block(
            influence=scores.influence, contrasts=contrasts, df=bell_mccaffrey_df(scores.sizes / scores.n),
            clusters=scores.cluster,
        )  # fmt: skip

        def work(block: Block = block) -> None:
            simultaneous_outside([block], 0.05, n_draws=draws, seed=np.random.SeedSequence(1))

        yield within(
            f"sup-t level of {len(contrasts):,} contrasts, {m} systems, G={clusters:,}, {draws:,} draws",
            cpu(work, 7, 5),
        )


def reference_pair(b: np.ndarray, c: np.ndarray, m: np.ndarray, n_nodes: int = 2_000) -> tuple[float, float]:
    """The default of a pair, slowly: every node of the prior, sums over the clusters, and a root search a limit.

    ``b`` and ``c`` are the items of each cluster that only the first, and only the second system passed.
    """
    n, groups, d = m.sum(), len(m), (b - c) / m
    rho = np.sin((np.arange(n_nodes) + 0.5) * np.pi / (2 * n_nodes)) ** 2
    growth = 1 + (m - 1) * rho[:, None]
    w = m / growth
    mean = w @ d / w.sum(axis=1)
    square = (b + c - m * d**2).sum() / (1 - rho) + (w * (d - mean[:, None]) ** 2).sum(axis=1)
    log_weight = (
        np.log(growth).sum(axis=1)
        + (n - groups) * np.log1p(-rho)
        + np.log(w.sum(axis=1))
        + (n - 1) * np.log(square)
    )
    weight = np.exp((log_weight.min() - log_weight) / 2)
    weight /= weight.sum()
    root_share = 1 / np.sqrt(1 + (n * (m**2).sum() / n**2 - 1) * rho)
    up, down = b.sum(), c.sum()

    def beyond(delta: float, sign: int) -> float:
        linear = (2 * n - up + down) * delta - up - down
        p21 = (np.sqrt(linear**2 + 8 * n * down * delta * (1 - delta)) - linear) / (4 * n)
        z = sign * (up - down - n * delta) / np.sqrt(n * (2 * p21 + delta * (1 - delta)))
        tail = ndtr(-z * root_share) if groups >= 6 else stdtr(groups - 1, -z * root_share)
        return float(weight @ tail) - 0.025

    centre, end = (up - down) / n, 1 - 1e-9
    low = -1.0 if beyond(-end, 1) > 0 else optimize.brentq(beyond, -end, centre, args=(1,), xtol=1e-14)
    high = 1.0 if beyond(end, -1) > 0 else optimize.brentq(beyond, centre, end, args=(-1,), xtol=1e-14)
    return float(low), float(high)


def _discordant(n_pairs: int, n_clusters: int, sizes: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Made discordant items of pairs and the clusters' sizes; clusters side with one of the systems to any degree.

    Pairs whose clusters agree in themselves are left out: the posterior of their ICC is a point, which nodes miss.
    """
    rng = np.random.default_rng([7, n_clusters])
    m = totals(n_clusters, 10.0, "log-normal" if sizes == "one of half the items" else sizes)[1]
    if sizes == "one of half the items":
        m[0] = m[1:].sum()
    disagree = rng.binomial(
        m.astype(int), rng.uniform(0.05, 0.5, (4 * n_pairs, 1)), (4 * n_pairs, n_clusters)
    )
    strength = rng.uniform(0.2, 20, (4 * n_pairs, 1))
    rate = rng.uniform(0.2, 0.8, (4 * n_pairs, 1))
    b = rng.binomial(disagree, rng.beta(rate * strength, (1 - rate) * strength, disagree.shape)).astype(float)
    c = disagree - b
    kept = np.flatnonzero((b + c - (b - c) ** 2 / m).sum(axis=1) > 1e-9)[:n_pairs]
    return b[kept], c[kept], m


def pairs_accuracy(quick: bool) -> Iterator[Row]:
    n_pairs = 3 if quick else 30
    for clusters in (4, 8) if quick else (4, 8, 20, 100, 500):
        errors = []
        for sizes in ("equal", "log-normal", "one of half the items"):
            b, c, m = _discordant(n_pairs, clusters, sizes)
            ours = stats.diff_ci(b, c, m)
            for low, high, *pair in zip(ours.ci_low, ours.ci_high, b, c, strict=True):
                slow = reference_pair(*pair, m)
                errors.append(max(abs(low - slow[0]), abs(high - slow[1])) / (slow[1] - slow[0]))
        yield within(f"default of a pair, G={clusters}, {len(errors)} pairs: largest error of the limits over the width",
                     max(errors), 1e-6, "")  # fmt: skip


GROUPS: dict[str, Callable[[bool], Iterator[Row]]] = {
    one.__name__: one
    for one in (
        bootstrap_loop,
        bootstrap_scale,
        bootstrap_memory,
        closed_form,
        reduction,
        groups,
        many_groups,
        text_clusters,
        default_accuracy,
        imports,
        cube,
        bootstrap_scipy,
        bootstrap_arch,
        pairs_tables,
        pairs_bootstrap,
        pairs_compare,
        pairs_simultaneous,
        pairs_accuracy,
    )
}

HEADER = ["what", "ours", "peer", "ratio", "target"]


def run(
    only: str | None = None, *, quick: bool = False, show: Callable[[str], None] | None = None
) -> list[Row]:
    """Run the groups whose name contains ``only``; ``show`` gets a table line as soon as it is there."""
    chosen = {name: work for name, work in GROUPS.items() if only is None or only in name}
    if not chosen:
        raise SystemExit(f"No group contains {only!r}; there are {', '.join(GROUPS)}.")
    found = []
    if show:
        show(" | ".join(HEADER))
    for work in chosen.values():
        for row in work(quick):
            if quick:  # tiny sizes say nothing about the targets
                row = dataclasses.replace(row, target="", met=None)
            found.append(row)
            if show:
                show(" | ".join(row.cells()))
    return found


def markdown(table: list[Row]) -> str:
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    return "\n".join(lines + ["| " + " | ".join(row.cells()) + " |" for row in table]) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="groups whose name contains this: " + ", ".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--write", type=Path, help="file for the table in Markdown")
    options = parser.parse_args(arguments)
    table = run(options.only, quick=options.quick, show=functools.partial(print, flush=True))
    if options.write:
        options.write.write_text(markdown(table))
    missed = [row.what for row in table if row.met is False]
    print(f"{len(missed)} target(s) missed" + "".join(f"\n  {what}" for what in missed))


if __name__ == "__main__":
    assert evalci_accessor.__version__
    main()
