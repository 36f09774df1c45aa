"""Slow and plain versions of what the package computes, written from the formulas; for comparison only."""

import numpy as np
from scipy import stats
from scipy.integrate import quad_vec
from scipy.optimize import brentq
from scipy.special import betainc, betaln


def arcsine_nodes(size):
    return np.sin((np.arange(size) + 0.5) * np.pi / (2 * size)) ** 2


def smooth_loglik(s, m, count, rho, p):
    """Beta-binomial, at all rho: p (p + r) (p + 2r) ... over the successes, and so on, with r = rho / (1 - rho)."""
    t = ((1 - rho) / rho)[:, None]
    if (s % 1).any() or (m % 1).any():
        return (betaln(p * t + s, (1 - p) * t + m - s) - betaln(p * t, (1 - p) * t)) @ count
    j, r = np.arange(int(m.max())), 1 / t
    rises = [
        np.concatenate([0 * r, np.cumsum(np.log(start + j * r), axis=1)], axis=1) for start in (p, 1 - p, 1.0)
    ]
    s, m = s.astype(int), m.astype(int)
    return (rises[0][:, s] + rises[1][:, m - s] - rises[2][:, m]) @ count


def all_or_nothing_loglik(s, m, count, rho, p):
    rho = rho[:, None]
    whole = rho * p * (s == m) + rho * (1 - p) * (s == 0)
    return np.log((1 - rho) * p**s * (1 - p) ** (m - s) + whole) @ count


def log_marginal(s, m, rho, shape="smooth"):
    """Log of the integral over p, by adaptive quadrature; "both" is the equal mixture of the two shapes."""
    if shape == "both":
        parts = [log_marginal(s, m, rho, one) for one in ("smooth", "all_or_nothing")]
        return np.logaddexp(*parts) - np.log(2)
    loglik = smooth_loglik if shape == "smooth" else all_or_nothing_loglik
    pairs, count = np.unique(np.stack([s, m]), axis=1, return_counts=True)
    rho = np.asarray(rho, float)
    tolerance = 1e-9 if (pairs % 1).any() else 1e-13  # what rounding in betaln allows
    with np.errstate(divide="ignore"):
        grid = np.sin(np.linspace(1e-4, np.pi / 2 - 1e-4, 401)) ** 2
        values = np.array([loglik(*pairs, count, rho, p) for p in grid])
        peak, at = values.max(axis=0), grid[np.unique(values.argmax(axis=0))]
        integral, error = quad_vec(
            lambda p: np.exp(loglik(*pairs, count, rho, p) - peak),
            0, 1, epsabs=tolerance, epsrel=1e-12, norm="max", points=at[:: max(len(at) // 10, 1)], limit=2000,
        )  # fmt: skip
    assert error < 1e3 * tolerance * integral.min()
    return peak + np.log(integral)


def posterior(s, m, rho, shape="both"):
    value = log_marginal(s, m, rho, shape)
    weight = np.exp(value - value.max())
    return weight / weight.sum()


def averaged(s, m, *, outside=0.025, n_nodes=64, shape="both", inflation=1.0):
    """Limits, 1 / sum(w / n_k) and mean ICC. With singletons only the posterior is the prior."""
    s, m = np.asarray(s, float), np.asarray(m, float)
    rho = arcsine_nodes(n_nodes)
    singletons = (m == 1).all()
    w = np.full(n_nodes, 1 / n_nodes) if singletons else posterior(s * inflation, m * inflation, rho, shape)
    size = (m**2).sum() / m.sum()  # of the ICC of the scores, with the same design effect
    times = (inflation * size - 1) / (size - 1) if inflation > 1 and not singletons else 1.0
    return (*limits(s, m, rho, w, outside, inflation), w @ np.minimum(times * rho, 1.0))


def limits(s, m, rho, w, outside=0.025, inflation=1.0):
    """Limits and 1 / sum(w / n_k) from a posterior on nodes."""
    rows, p = inflation * m.sum(), s.sum() / m.sum()
    effective_clusters = m.sum() ** 2 / (m**2).sum()
    n = rows / (1 + (rows / effective_clusters - 1) * rho)

    def root(a, b, target):
        return brentq(lambda x: w @ betainc(a, b, x) - target, 0, 1, xtol=1e-15, rtol=1e-14)

    low = 0.0 if p == 0 else root(p * n, (1 - p) * n + 1, outside)
    high = 1.0 if p == 1 else root(p * n + 1, (1 - p) * n, 1 - outside)
    return low, high, 1 / (w @ (1 / n))


def guarded(s, m, **options):
    """The same with the guard (Korn-Graubard on CR2), and whether it fired."""
    s, m = np.asarray(s, float), np.asarray(m, float)
    low, high, n_eff, _ = averaged(s, m, **options)
    outside = options.get("outside", 0.025)
    rows, p, h = m.sum() * options.get("inflation", 1.0), s.sum() / m.sum(), m / m.sum()
    cr2 = (((s - p * m) / m.sum()) ** 2 / (1 - h)).sum()
    df = bell_mccaffrey(np.repeat(np.arange(len(m)), m.astype(int)), "cr2")[1]
    if not 0 < p < 1 or df < 8 or cr2 <= 1.3 * p * (1 - p) / n_eff:
        return low, high, False
    n = min(rows, p * (1 - p) / cr2 * (stats.norm.ppf(outside) / stats.t.ppf(outside, df)) ** 2)
    low = min(low, stats.beta.ppf(outside, p * n, (1 - p) * n + 1))
    high = max(high, stats.beta.ppf(1 - outside, p * n + 1, (1 - p) * n))
    return low, high, True


def quasi_inflation(y):
    """Quasi-counts per fractional score."""
    p, n = y.mean(), len(y)
    v = p * (1 - p)
    return max(1.0, (n + 1) * v / ((n - 1) * y.var(ddof=1) + 2 * v))


def bell_mccaffrey(g, kind, y=None):
    """Variance (of y) and Satterthwaite df of a mean by n x n matrices, as Bell and McCaffrey define them."""
    n, clusters = len(g), np.unique(g)
    residual_maker = np.eye(n) - 1 / n
    columns, scores = [], []
    for c in clusters:
        at = np.flatnonzero(g == c)
        value, vector = np.linalg.eigh(residual_maker[np.ix_(at, at)])
        power = {"cr0": 0.0, "cr1": 0.0, "cr2": -0.5, "cr3": -1.0}[kind]
        scale = np.sqrt(len(clusters) / (len(clusters) - 1)) if kind == "cr1" else 1.0
        adjust = scale * (vector * value**power) @ vector.T
        columns.append(residual_maker[:, at] @ adjust.sum(axis=1) / n)
        if y is not None:
            scores.append(adjust.sum(axis=0) @ (y[at] - y.mean()) / n)
    products = np.array(columns) @ np.array(columns).T
    return float(np.sum(np.square(scores))), np.trace(products) ** 2 / (products**2).sum()


def score_z(b, c, n, delta):
    """Score statistic of a paired difference, with the restricted maximum of the trinomial likelihood found by a root search."""
    low, high = max(0.0, -delta), (1 - delta) / 2  # of the second system's share

    def slope(p):
        terms = (
            (b, 1 / max(p + delta, 1e-300)),
            (c, 1 / max(p, 1e-300)),
            (n - b - c, -2 / max(1 - delta - 2 * p, 1e-300)),
        )
        return sum(count * term for count, term in terms if count)

    inside = 1e-15 * (high - low)
    ends = low + inside, high - inside
    p = (
        low
        if slope(ends[0]) <= 0
        else high
        if slope(ends[1]) >= 0
        else brentq(slope, *ends, xtol=1e-300, rtol=1e-15)
    )
    variance, excess = n * (2 * p + delta * (1 - delta)), b - c - n * delta
    return excess / np.sqrt(variance) if variance > 0 else np.inf * excess if excess else 0.0


def difference_loglik(b, c, m, rho):
    """Gaussian one-way likelihood of the item differences with mean and variance integrated out, from its formula."""
    clusters, count = np.unique(np.stack([b, c, m]).astype(float), axis=1, return_counts=True)
    b, c, m = clusters
    n, d = count @ m, (b - c) / m
    within = max(count @ (b + c - m * d**2), 0.0)
    out = []
    for r in np.array_split(np.asarray(rho)[:, None], len(rho) * len(m) // 2**20 + 1):
        growth = 1 + (m - 1) * r
        w = m / growth
        total = w @ count
        centre = w @ (count * d) / total
        q = within / (1 - r[:, 0]) + (w * (d - centre[:, None]) ** 2) @ count
        flat = q <= 1e-12 * n
        logs = np.log(growth) @ count + (n - count.sum()) * np.log1p(-r[:, 0]) + np.log(total)
        out.append(np.where(flat, 0.0, -(logs + (n - 1) * np.log(np.where(flat, 1.0, q))) / 2))
    return np.concatenate(out)


def reml_loglik(y, g, rho):
    """The same by n x n matrices: restricted likelihood of an equicorrelated normal vector, with the variance integrated out."""
    same = g[:, None] == g
    one, out = np.ones(len(y)), []
    for r in rho:
        v = np.where(same, r, 0.0) + (1 - r) * np.eye(len(y))
        inverse = np.linalg.inv(v)
        information = one @ inverse @ one
        residual = y - (one @ inverse @ y) / information
        q = residual @ inverse @ residual
        out.append(-(np.linalg.slogdet(v)[1] + np.log(information) + (len(y) - 1) * np.log(q)) / 2)
    return np.array(out)


def paired(b, c, m, *, outside=0.025, n_nodes=50_000, df=np.inf):
    """Limits, two-sided p, mean ICC and n_eff of the default difference, on many equal nodes; ``df`` other than inf for a t law."""
    b, c, m = (np.asarray(x, float) for x in (b, c, m))
    n, rows_b, rows_c = m.sum(), b.sum(), c.sum()
    angle = (np.arange(n_nodes) + 0.5) * np.pi / (2 * n_nodes)
    rho = np.sin(angle) ** 2
    value = difference_loglik(b, c, m, rho)
    weight = np.exp(value - value.max())
    weight /= weight.sum()
    share = 1 / (1 + (n * (m**2).sum() / n**2 - 1) * rho)
    icc, n_eff = weight @ rho, n / (weight @ (1 / share))
    held = weight > 1e-18
    weight, root = weight[held], np.sqrt(share[held])

    def above(delta, sign):
        z = score_z(rows_b, rows_c, n, delta)
        return weight @ stats.t.sf(sign * z * root, df)

    estimate, end = (rows_b - rows_c) / n, 1 - 1e-12

    def limit(sign):
        if sign * estimate >= end or above(sign * end, -sign) > outside:
            return float(sign)
        return brentq(lambda x: above(x, -sign) - outside, estimate, sign * end, xtol=1e-15)

    low, high = limit(-1), limit(1)
    p = min(1.0, 2 * min(above(0.0, 1), above(0.0, -1)))
    return {"low": low, "high": high, "p": p, "icc": icc, "n_eff": n_eff}


def weighted_paired(d, w, g, *, outside=0.025, n_nodes=20_000):
    """`paired` for item differences of -1, 0 and 1 with weights, one item at a time; without clusters where ``g`` is None."""
    d, w = np.asarray(d, float), np.asarray(w, float)
    total, kish = w.sum(), w.sum() ** 2 / sum(x * x for x in w)
    estimate = sum(w * d) / total
    linear = sum((x * (y - estimate)) ** 2 for x, y in zip(w, d, strict=True)) / total**2
    binomial = (sum(w * d**2) / total - estimate**2) / kish
    n = kish * (min(1.0, binomial / linear) if linear > 1e-20 else 1.0)
    b, c = n * w[d == 1].sum() / total, n * w[d == -1].sum() / total
    weight, share, df = np.ones(1), np.ones(1), np.inf
    if g is not None:
        rho = np.sin((np.arange(n_nodes) + 0.5) * np.pi / (2 * n_nodes)) ** 2
        k, mean, within, squares = [], [], 0.0, 0.0
        for cluster in np.unique(g):
            own_w, own_d = w[g == cluster], d[g == cluster]
            k.append(own_w.sum() ** 2 / (own_w**2).sum())
            mean.append((own_w * own_d).sum() / own_w.sum())
            within += k[-1] / own_w.sum() * (own_w * (own_d - mean[-1]) ** 2).sum()
            squares += own_w.sum() ** 2
        k, mean = np.array(k), np.array(mean)
        value = np.empty(len(rho))
        for i, r in enumerate(rho):
            v = k / (1 + (k - 1) * r)
            q = within / (1 - r) + (v * (mean - (v * mean).sum() / v.sum()) ** 2).sum()
            value[i] = (
                np.log(1 + (k - 1) * r).sum()
                + (k.sum() - len(k)) * np.log1p(-r)
                + np.log(v.sum())
                + (k.sum() - 1) * np.log(q)
            )
        weight = np.exp(-(value - value.min()) / 2)
        weight, share = weight / weight.sum(), 1 / (1 + (kish * squares / total**2 - 1) * rho)
        df = np.inf if len(k) > 5 else len(k) - 1
    root = np.sqrt(share)

    def above(delta, sign):
        return weight @ stats.t.sf(sign * score_z(b, c, n, delta) * root, df)

    low, high = (
        brentq(lambda x, s=sign: above(x, -s) - outside, estimate, sign * (1 - 1e-12), xtol=1e-14)
        for sign in (-1, 1)
    )
    error = np.sqrt((sum(w * d**2) / total - estimate**2) / n * (weight @ (1 / share)))
    return {
        "low": low,
        "high": high,
        "p": min(1.0, 2 * min(above(0.0, 1), above(0.0, -1))),
        "worth": n,
        "se": error,
    }
