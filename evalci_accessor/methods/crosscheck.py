"""Our estimates beside those of statsmodels: a row an estimator, what it should agree with, and why it need not."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from evalci_accessor.crosscheck import estimators as sm
from evalci_accessor.crosscheck.fitted import Theirs, of_scores
from evalci_accessor.crosscheck.reasons import FLAT, Unit, normal_words, reasons
from evalci_accessor.exceptions import MethodError, MissingClusterError
from evalci_accessor.methods.pairs import diff_by_methods, refuse_without_factor
from evalci_accessor.methods.rates import estimate
from evalci_accessor.options import CrosscheckOptions, RateOptions, Roles
from evalci_accessor.read import Answer, Read, Reader
from evalci_accessor.read.matched import Matched
from evalci_accessor.read.samples import Sample
from evalci_accessor.stats.progress import progress
from evalci_accessor.stats.rates.clustered import Given, rate
from evalci_accessor.stats.rates.moments import moments
from evalci_accessor.stats.results import RateResult
from evalci_accessor.stats.validate import FloatArray, IntArray, check_level

VARIANCES: tuple[Literal["cr0", "cr1", "cr2", "cr3"], ...] = ("cr0", "cr1", "cr2", "cr3")
OURS = (*VARIANCES, "default")
# Which of ours each should equal: in the standard error, and in the estimate.
COUNTERPART = {
    "ols_cluster": "cr1", "ols_cluster_t": "cr1", "ols_cr2": "cr2", "glm_binomial_cluster": "cr1", "gee_independence": "cr0",
    "gee_independence_bias_reduced": "cr3", "gee_exchangeable": "cr0",
}  # fmt: skip
# A narrow print shows both ends, as many columns of each as fit: so they start with the numbers and end with the verdict.
CROSSCHECK_COLUMNS = (
    "estimator", "estimate", "std_error", "ci_low", "ci_high", "df", "note", "n", "n_clusters", "cluster", "package",
    "confidence_level", "tolerance", "estimate_difference", "compared_with", "should_agree", "relative_difference", "agrees",
    "status",
)  # fmt: skip
# What `status` may be: what became of a comparison, of which only "differs" is an alarm.
AGREES, EXPECTED, DIFFERS, SKIPPED = "agrees", "differs as expected", "differs", "skipped"
ALONE = "not compared"
_ROUNDING = 1e-12
_LEAST = 1e-6  # of tolerances, where a factor was divided out
_FEW_EFFECTIVE, _UNEQUAL, _MUCH = 20, 0.6, 1.3
_NEGATIVE = "the variance over the crossed clusterings is negative: the largest of their own stands in"
_NOTES = {
    "glm_binomial_cluster": "by the delta method from the logit",
    "ols_cr2": "made from OLS's residuals and hat matrix: statsmodels has no CR2",
    "gee_independence": "CR0: CR1 without G/(G-1)",
    "gee_independence_bias_reduced": "Mancl and DeRouen's, which is CR3",
}
_NUMBERS = ("estimate", "std_error", "ci_low", "ci_high", "df")
_KINDS: dict[str, Any] = {
    **dict.fromkeys((*_NUMBERS, "estimate_difference", "relative_difference"), np.float64),
    **dict.fromkeys(("compared_with", "note", "status", "cluster"), object),
    **dict.fromkeys(("agrees", "should_agree"), bool),
    **dict.fromkeys(("n", "n_clusters"), np.int64),
}


def crosscheck(reader: Reader[Answer], roles: Roles, options: CrosscheckOptions) -> Answer:
    """Estimators side by side, as the accessor's method of that name."""
    if roles.cluster is None:
        raise MethodError(
            "crosscheck needs a clustering: a name or an array of ids, or a list of these where several are crossed, as "
            "cluster=['doc_id', 'prompt_id']."
        )
    axes: dict[str, dict[str, Any]] = {}
    read: Read[Any, Answer]
    with missing_ids_with_words(options.against):
        if roles.factor is None:
            refuse_without_factor(roles)
            read = reader.clustered(roles)
            read.write.refuse(*CROSSCHECK_COLUMNS)
            columns = rates(read.found, options)
        else:
            read = reader.pairs(roles)
            read.write.refuse(*CROSSCHECK_COLUMNS)
            columns = differences(read.found, options)
            axes["pair"] = read.write.sides(read.found.pairs)
            shape = (len(read.found.tables), len(read.found.pairs), -1)
            columns = {
                name: one.reshape(shape) if np.ndim(one) == 2 else one for name, one in columns.items()
            }
    estimators = columns.pop("estimator")
    return read.write(columns, axes | {"estimator": {"estimator": estimators.astype(str)}})


def rates(sample: Sample, options: CrosscheckOptions) -> dict[str, Any]:
    """The columns of every group, arrays (H, E)."""
    assert sample.rows is not None
    rows_of = sample.rows
    check_options(options, sample.totals.n_groups)
    level, t = options.confidence_level, sample.totals
    default = estimate(sample, RateOptions(confidence_level=level))
    crossed = None if sample.crossing is None else sample.crossing.totals
    given = Given(mo=moments(t) if crossed is None else crossed.moments, crossed=crossed)
    found: dict[str, RateResult] = {"default": default}
    for name in VARIANCES:
        found[name] = rate(t, RateOptions(method=name, confidence_level=level), given)
    columns = (*_NUMBERS, "negative")
    numbers = {name: {one: getattr(result, one) for one in columns} for name, result in found.items()}

    def unit(h: int) -> Unit:
        y, clusters, weights = rows_of(h)
        return Unit(
            scores=sm.Scores(y, None, clusters, bounded=t.bounded, weights=weights),
            method=default.method,
            orders=[(y, clusters)],
            names=[str(one.cluster) for one in sample.clusterings],
            **_ours(numbers, h),
        )

    return _columns(unit, t.n_groups, sample.cluster or "", options)


def _ours(numbers: Mapping[str, Mapping[str, Any]], k: int) -> dict[str, Any]:
    """Our numbers of one mean or difference."""
    ours = {
        name: {column: float(np.ravel(one[column])[k]) for column in _NUMBERS}
        for name, one in numbers.items()
    }
    negative = {name: bool(np.ravel(one["negative"])[k]) for name, one in numbers.items()}
    return {"ours": ours, "negative": negative}


def differences(matched: Matched, options: CrosscheckOptions) -> dict[str, Any]:
    """The columns of every pair in every group, arrays (H * P, E)."""
    n_pairs = len(matched.pairs)
    check_options(options, len(matched.tables) * n_pairs)
    found = diff_by_methods(matched, (*VARIANCES, "auto"), options.confidence_level)
    methods = {name: one | {"estimate": one["difference"]} for name, one in zip(OURS, found, strict=True)}

    def unit(k: int) -> Unit:
        table, (a, b) = matched.tables[k // n_pairs], matched.pairs[k % n_pairs]
        both = ~np.isnan(table.scores[:, [a, b]]).any(axis=1)
        clusters = [table.clusters[d,][both] for d in range(len(matched.clusterings))]
        first, second = table.scores[both, a], table.scores[both, b]
        systems = [matched.systems[int(one)] for one in (a, b)]
        orders = [] if options.against is None else _orders(first, second, clusters)
        orders += matched.orders(systems) if orders and matched.orders is not None else []
        weights = None if table.weights is None else table.weights[both]
        return Unit(
            scores=sm.Scores(first, second, clusters, bounded=matched.bounded, weights=weights),
            names=[one.name for one in matched.clusterings],
            method=str(methods["default"]["method"]),
            orders=orders,
            sides=(str(systems[0]), str(systems[1])),
            **_ours(methods, k),
        )

    return _columns(unit, len(matched.tables) * n_pairs, matched.cluster or "", options)


def _orders(first: FloatArray, second: FloatArray, clusters: list[IntArray]) -> list[tuple[FloatArray, Any]]:
    """Orders that the rows of a model may have: an item a row, one system below the other, or turn by turn."""
    found = [(first - second, clusters), (second - first, clusters)]
    for sides in ((first, second), (second, first)):
        found.append((np.concatenate(sides), [np.tile(codes, 2) for codes in clusters]))
        found.append((np.stack(sides, axis=1).ravel(), [np.repeat(codes, 2) for codes in clusters]))
    return found


@contextlib.contextmanager
def missing_ids_with_words(against: Any) -> Iterator[None]:
    """Beside a fitted model, also say what statsmodels did with the rows that have no cluster id."""
    try:
        yield
    except MissingClusterError as error:
        if against is None:
            raise
        raise MissingClusterError(
            f"{error} statsmodels takes the rows without an id as one more cluster."
        ) from None


def check_options(options: CrosscheckOptions, n_units: int) -> None:
    """Refuse options that do not go together."""
    check_level(options.confidence_level)
    number = options.tolerance
    is_number = isinstance(number, (int, float, np.integer, np.floating)) and not isinstance(number, bool)
    if not is_number or not 0 <= number < np.inf:
        raise MethodError(
            f"tolerance={number!r} must be a number >= 0: the relative difference up to which numbers agree."
        )
    if options.against is None and options.contrast is not None:
        raise MethodError(
            f"contrast={options.contrast!r} names a coefficient of a fitted model, and none is given; pass it with against=."
        )
    if options.against is not None and n_units != 1:
        raise MethodError(
            f"against= is one fitted model, and {n_units} estimates are asked for. Ask for the one that it was fitted to: its rows "
            "alone, without by= (with every dim reduced), and with a factor one pair, as pairs=[(first, second)]."
        )


def _columns(
    unit: Callable[[int], Unit], n_units: int, cluster: str, options: CrosscheckOptions
) -> dict[str, Any]:
    """Fill in every unit by every estimator."""
    names = (*OURS, *sm.ESTIMATORS, *(["against"] if options.against is not None else []))
    rows, current = [], None
    every = [(k, name) for k in range(n_units) for name in names]
    for k, name in progress(every, label="crosscheck", unit="fit"):
        if current is None or name == names[0]:
            current = unit(k)
        rows.append({"cluster": cluster} | _row(current, name, options))
    out: dict[str, Any] = {
        column: np.array([row[column] for row in rows], dtype=kind).reshape(n_units, len(names))
        for column, kind in _KINDS.items()
    }
    packages = ["evalci_accessor" if name in OURS else "statsmodels" for name in names]
    out["estimator"], out["package"] = np.array(names, dtype=object), np.array(packages, dtype=object)
    out["tolerance"], out["confidence_level"] = float(options.tolerance), float(options.confidence_level)
    out["cluster"] = out["cluster"][0] if n_units else np.full(len(names), cluster, dtype=object)
    return {name: out[name] for name in CROSSCHECK_COLUMNS}


def _row(unit: Unit, name: str, options: CrosscheckOptions) -> dict[str, Any]:
    """One estimator."""
    scores, level, tolerance = unit.scores, options.confidence_level, options.tolerance
    n: dict[str, Any] = {"n": len(scores.first), "n_clusters": scores.n_clusters}
    if name in OURS:
        compared = _default(unit, options) if name == "default" and n["n"] else _own(unit, name)
        return unit.ours[name] | n | compared
    if name == "against":
        theirs = Theirs(options.against, options.contrast, unit.sides)
        theirs, counterpart, note, should, is_left = reasons(theirs, unit, level, tolerance)
        n = {"n": theirs.n, "n_clusters": theirs.n_clusters, "cluster": theirs.cluster}
        df = theirs.df if np.isfinite(theirs.df) else np.nan
        fitted = sm.with_quantile(theirs.estimate, theirs.std_error, level, df)
    else:
        fitted, counterpart = unit.fit(name, level), COUNTERPART[name]
        should, note, is_left = _expected(unit, name, fitted, options)
    compared = compare(fitted, unit.ours[counterpart], tolerance)
    agrees = compared["agrees"] and not is_left
    status = SKIPPED if fitted.problem or scores.flat else _status(agrees, should or is_left)
    told = {"agrees": agrees, "compared_with": counterpart, "should_agree": should, "note": note}
    return n | compared | told | {"status": status}


def _own(unit: Unit, name: str) -> dict[str, Any]:
    """One of ours beside itself."""
    known, scores, note = bool(len(unit.scores.first)), unit.scores, ""
    if not known:
        note = "no scores"
    elif scores.flat and scores.second is None:
        note = "no variance: the limits let each cluster count as one item"
    elif scores.flat:
        note = "no variance: one difference of the full span each way stands in"
    elif unit.negative[name]:
        note = _NEGATIVE
    elif name == "cr2":
        note = "statsmodels has none (see ols_cr2)" + ("; R's clubSandwich has" if scores.ways == 1 else "")
    shift = dict.fromkeys(("estimate_difference", "relative_difference"), 0.0 if known else np.nan)
    flags = dict.fromkeys(("agrees", "should_agree"), known)
    return shift | flags | {"compared_with": name, "note": note, "status": ALONE if known else SKIPPED}


def _status(agrees: bool, alarm: bool) -> str:
    if agrees:
        return AGREES
    return DIFFERS if alarm else EXPECTED


def _default(unit: Unit, options: CrosscheckOptions) -> dict[str, Any]:
    """The default beside the least squares of statsmodels: the estimate, and the error where it is CR2's."""
    with_error = unit.method == "cr2" and not unit.scores.flat and not unit.negative["default"]
    made = with_error or unit.scores.ways > 2  # statsmodels itself takes two clusterings
    beside, ours = "ols_cr2" if made else "ols_cluster_t", unit.ours["default"]
    note, theirs = f"method={unit.method!r}", unit.fit(beside, options.confidence_level)
    compared = compare(theirs, ours, options.tolerance) | ours
    if not with_error:
        shift = compared["estimate_difference"]
        agrees = _near(shift, unit.ours["cr1"] | {"estimate": ours["estimate"]}, options.tolerance)
        compared |= {"relative_difference": np.nan, "agrees": agrees}
        if unit.negative["default"] and not unit.scores.flat:
            note += f"; {_NEGATIVE}, so only the estimate is compared"
        elif not unit.method.startswith("cr"):
            note += ", which statsmodels lacks"
        note += f": its estimate {'equals' if agrees else 'is not'} that of {beside}{_beside_cr1(unit)}"
    status = ALONE if compared["agrees"] and not with_error else _status(compared["agrees"], True)
    return compared | {"compared_with": beside, "should_agree": True, "note": note, "status": status}


def _beside_cr1(unit: Unit) -> str:
    """How many times CR1's error that of the default is, and why, where they are far apart."""
    scores, error, cr1 = unit.scores, unit.ours["default"]["std_error"], unit.ours["cr1"]["std_error"]
    ratio = error / cr1 if cr1 > 0 else np.nan
    if scores.flat or unit.negative["cr1"] or not abs(np.log(ratio)) > np.log(_MUCH):
        return ""
    effective, why = scores.effective_clusters, ""
    if ratio > 1 and effective < _FEW_EFFECTIVE:
        why = f": few effective clusters ({effective:.3g})"
    elif ratio > 1 and effective < _UNEQUAL * scores.n_clusters:
        why = f": unequal clusters ({effective:.3g} effective of {scores.n_clusters})"
    elif ratio > 1 and cr1 < np.sqrt((of_scores(scores).rows ** 2).sum()):
        why = ": CR1's is below that of independent items"
    return f"; its error is {ratio:.2g} times CR1's{why}"


def _near(shift: float, ours: dict[str, float], tolerance: float) -> bool:
    return bool(abs(shift) <= tolerance * np.fmax(abs(ours["estimate"]), ours["std_error"]))


def compare(fitted: sm.Fit, ours: dict[str, float], tolerance: float) -> dict[str, Any]:
    """Their numbers, and how far they are from ours; the degrees of freedom count too, where both have some."""
    shift = fitted.estimate - ours["estimate"]
    # 0 for rounding, nan where ours is 0.
    relative = fitted.std_error / ours["std_error"] - 1 if ours["std_error"] > 0 else np.nan
    relative = 0.0 if abs(relative) < _ROUNDING else relative
    near = abs(relative) <= tolerance and _near(shift, ours, tolerance)
    if np.isfinite([fitted.df, ours["df"]]).all():
        near = near and abs(fitted.df - ours["df"]) <= tolerance * ours["df"]
    numbers = (fitted.estimate, fitted.std_error, fitted.low, fitted.high, fitted.df)
    return dict(zip(_NUMBERS, numbers, strict=True)) | {
        "estimate_difference": shift,
        "relative_difference": relative,
        "agrees": bool(near) and not fitted.problem,
    }


def _expected(unit: Unit, name: str, fitted: sm.Fit, options: CrosscheckOptions) -> tuple[bool, str, bool]:
    """Whether it should agree with its counterpart, what else there is to say, and whether more than that is apart."""
    scores, ours, is_left = unit.scores, unit.ours["cr1"], False
    if fitted.problem:
        return False, fitted.problem, False
    if scores.flat:
        return False, FLAT, False
    if unit.negative[COUNTERPART[name]]:
        what = f"is negative ({fitted.negative:.3g})" if fitted.negative < 0 else "is nothing but rounding"
        text = (
            f"its variance over the crossed clusterings {what}; for ours the largest of their own stands in"
        )
        return False, text, False
    paired = scores.second is not None
    notes, should = [_NOTES[name]] if name in _NOTES else [], True
    if name == "glm_binomial_cluster" and paired:
        factor = (2 * len(scores.first) - 1) / (2 * len(scores.first) - 2)
        without = dataclasses.replace(fitted, std_error=fitted.std_error / float(np.sqrt(factor)))
        rest = compare(without, ours, max(options.tolerance, _LEAST))
        should, is_left = False, not rest["agrees"]
        notes.append(
            f"its variance has a further factor (N-1)/(N-K) = {factor:.6g}, without which the relative difference is "
            f"{rest['relative_difference']:.1g}"
        )
    if name == "gee_exchangeable":
        should, text = _exchangeable(unit, fitted)
        notes.append(text)
    if np.isnan(fitted.df):
        notes.append(normal_words(ours["df"], options.confidence_level))
    if scores.bounded and (fitted.low < (-1.0 if paired else 0.0) or fitted.high > 1):
        notes.append("its limits leave the scale; ours are cut at its ends")
    return should, "; ".join(notes), is_left


def _exchangeable(unit: Unit, fitted: sm.Fit) -> tuple[bool, str]:
    scores = unit.scores
    largest, odd = float(scores.sizes.max()) * len(scores.sides), ""
    impossible = 1 + (largest - 1) * fitted.correlation <= 0 or fitted.correlation >= 1
    if impossible:
        odd = f"; a correlation of {fitted.correlation:.3g} cannot be in a cluster of {largest:.0f}"
    if scores.second is not None:
        return not impossible, "the working correlation cancels, since every cluster holds both systems" + odd
    if np.ptp(scores.sizes) == 0:
        return not impossible, "clusters of one size weigh the same, so this is CR0 too" + odd
    words = f"weighs clusters by m/(1+(m-1)r), r = {fitted.correlation:.3g}, so it estimates another mean"
    return False, words + odd
