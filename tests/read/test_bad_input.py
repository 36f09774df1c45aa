"""What is refused, and that the message says what was found, what is allowed and what to do."""

from __future__ import annotations

import ast
import decimal
import re

import numpy as np
import pandas as pd
import pytest
from strategies import BENIGN, frame_of, quiet, two_groups

from conftest import requires
from evalci_accessor.exceptions import (
    AlignmentError,
    AmbiguousNameError,
    ClusterError,
    ClusterIdWarning,
    ColumnNotFoundError,
    EvalCIError,
    MethodError,
    MissingClusterError,
    MissingScoreError,
    MissingScoreWarning,
    PilotError,
    ScoreError,
    ScoreRangeError,
    ScoreTypeError,
    SingletonClusterWarning,
    WeightError,
)


@pytest.fixture
def frame():
    """40 clusters of 5 in group A, the same in B; nothing wrong with it."""
    return two_groups(BENIGN).assign(w=1.0)


def with_scores(frame, **at):
    return frame.astype({"score": float}).assign(
        score=lambda d: d["score"].mask(d.index < at["rows"], at["value"])
    )


class TestNames:
    def test_absent_score_lists_what_could_be_it(self, frame):
        with pytest.raises(
            ColumnNotFoundError, match=r"score='correct'.*could be it: 'passed', 'w'\. Pass score="
        ):
            frame.rename(columns={"score": "passed"}).evalci.proportion_ci(score="correct")

    def test_absent_score_of_a_frame_of_text(self):
        with pytest.raises(ColumnNotFoundError, match="No column is numeric"):
            pd.DataFrame({"answer": ["a"]}).evalci.proportion_ci()

    @pytest.mark.parametrize("role", ["cluster", "by"])
    def test_absent_names_list_the_columns_and_hint(self, frame, role):
        given = {"cluster": "cluster", role: "modell" if role == "by" else "clusters"}
        hint = "model" if role == "by" else "cluster"
        with pytest.raises(
            ColumnNotFoundError, match=rf"Did you mean '{hint}'\? Available: 'model', 'cluster', 'score', 'w'"
        ):
            frame.evalci.cluster_ci(**given)

    def test_index_levels_are_listed(self, frame):
        with pytest.raises(ColumnNotFoundError, match=r"Available:.*'cluster'"):
            frame.set_index("cluster").evalci.cluster_ci("doc")

    def test_series_without_levels(self, frame):
        with pytest.raises(ColumnNotFoundError, match="no columns or named levels"):
            frame["score"].evalci.cluster_ci("cluster")

    def test_it_is_a_key_error_too(self, frame):
        with pytest.raises(KeyError, match="neither a column nor an index level"):
            frame.evalci.cluster_ci("nope")

    @pytest.mark.parametrize("name", ["score", "cluster", "model"])
    def test_duplicate_columns(self, frame, name):
        twice = pd.concat([frame, frame[[name]]], axis=1)
        with pytest.raises(AmbiguousNameError, match=f"'{name}' names 2 columns"):
            twice.evalci.cluster_ci("cluster", by="model")

    def test_other_duplicate_columns_do_no_harm(self, frame):
        twice = pd.concat([frame, frame[["w"]]], axis=1)
        pd.testing.assert_frame_equal(twice.evalci.cluster_ci("cluster"), frame.evalci.cluster_ci("cluster"))
        assert not twice.evalci.design_effect(by="model").empty

    def test_both_a_column_and_a_level(self, frame):
        with pytest.raises(AmbiguousNameError, match="'cluster' is both a column and an index level; rename"):
            frame.set_index("cluster", drop=False).evalci.cluster_ci("cluster")

    def test_columns_in_levels(self, frame):
        frame.columns = pd.MultiIndex.from_product([["run"], frame.columns])
        with pytest.raises(AmbiguousNameError, match=r"2 levels.*Flatten them first: df\.columns ="):
            frame.evalci.proportion_ci()

    @pytest.mark.parametrize("name", ["n", "estimate", "cluster", "method"])
    def test_keys_named_like_a_result(self, frame, name):
        with pytest.raises(AmbiguousNameError, match=rf"by='{name}' would stand twice.*rename\(columns="):
            frame.drop(columns="cluster").rename(columns={"model": name}).evalci.proportion_ci(by=name)

    def test_the_same_key_twice(self, frame):
        with pytest.raises(AmbiguousNameError, match="by='model' would stand twice"):
            frame.evalci.proportion_ci(by=["model", "model"])


class TestAlignment:
    @pytest.mark.parametrize("role", ["cluster", "score", "by", "weights"])
    def test_array_of_another_length(self, frame, role):
        given = {"cluster": "cluster", role: np.ones(399)}
        with pytest.raises(
            AlignmentError, match=rf"`{role}` is an array of 399 entries for 400 rows.*goes by label"
        ):
            frame.evalci.cluster_ci(**given)

    @pytest.mark.parametrize("role", ["cluster", "score", "by", "weights"])
    def test_series_with_other_labels(self, frame, role):
        other = pd.Series(1.0, index=np.arange(400) + 2)
        with pytest.raises(
            AlignmentError,
            match=rf"`{role}`.*2 row label\(s\) are not in it \(0, 1\), 2 of its labels.*to_numpy",
        ):
            frame.evalci.cluster_ci(**{"cluster": "cluster", role: other})

    def test_series_with_repeated_labels(self, frame):
        other = frame["cluster"].set_axis([0, *range(399)])
        with pytest.raises(AlignmentError, match="does not cover the index"):
            frame.evalci.cluster_ci(other)

    def test_two_dimensional_array(self, frame):
        with pytest.raises(AlignmentError, match="2 dimensions"):
            frame.evalci.cluster_ci(np.ones((400, 1)))

    def test_lists_of_clusterings(self, frame):
        with pytest.raises(MethodError, match="is the score itself"):
            frame.evalci.cluster_ci(["cluster", "score"])
        with pytest.raises(MethodError, match="names 'cluster' twice"):
            frame.evalci.cluster_ci(["cluster", "cluster"])
        for nothing in ([], None):
            with pytest.raises(
                ClusterError, match=r"names no clustering.*design_effect\(\) tries every column"
            ):
                frame.evalci.cluster_ci(nothing)
        with pytest.raises(MethodError, match=r"list of 40; a list names clusterings.*numpy\.asarray"):
            frame.evalci.cluster_ci(["c0"] * 40)

    def test_the_score_as_cluster(self, frame):
        with pytest.raises(MethodError, match="is the score itself"):
            frame.evalci.cluster_ci("score")

    @pytest.mark.parametrize(
        "given", [{"a": 1}, {"c0"}, pd.DataFrame({"a": [1]})], ids=lambda g: type(g).__name__
    )
    def test_lists_and_the_like(self, frame, given):
        with pytest.raises(
            MethodError, match=rf"got {type(given).__name__}\. Turn a list of ids into an array"
        ):
            frame.evalci.cluster_ci(given)


class TestScores:
    @pytest.mark.parametrize("dtype", [object, "string", "category"])
    def test_text_booleans(self, frame, dtype):
        text = frame["score"].astype(bool).astype(str).astype(dtype)
        with pytest.raises(
            ScoreTypeError, match=r"'True' \(278\), 'False' \(122\).*\.map\(\{'True': 1, 'False': 0\}\)"
        ):
            frame.assign(score=text).evalci.cluster_ci("cluster")

    def test_labels_of_graders(self, frame):
        text = frame["score"].map({1: "C", 0: "I"})
        with pytest.raises(
            ScoreTypeError, match=r"'C' \(278\), 'I' \(122\).*\{'C': 1, 'I': 0, 'P': 0\.5, 'N': 0\}"
        ):
            frame.assign(score=text).evalci.proportion_ci()

    @pytest.mark.parametrize(
        ("good", "bad"),
        [
            ("PASS", "FAIL"),
            ("passed", "failed"),
            ("true", "false"),
            ("TRUE", "FALSE"),
            ("Yes", "no"),
            ("c", "i"),
        ],
    )
    def test_the_map_that_is_advised_does_as_it_stands(self, frame, good, bad):
        text = frame.assign(score=frame["score"].map({1: good, 0: bad}))
        with pytest.raises(ScoreTypeError) as refused:
            text.evalci.proportion_ci()
        advised = re.search(r"df\['score'\]\.map\((\{.*?\})\)", str(refused.value))[1]
        assert text["score"].map(ast.literal_eval(advised)).tolist() == frame["score"].tolist()

    def test_numbers_as_text(self, frame):
        with pytest.raises(ScoreTypeError, match="text is never guessed at"):
            frame.assign(score=frame["score"].astype(str)).evalci.proportion_ci()

    def test_mixed(self, frame):
        scores = frame["score"].astype(object)
        scores[:2] = ["error", [1]]
        with pytest.raises(ScoreTypeError, match=r"not numeric: found.*'error' \(1\)"):
            frame.assign(score=scores).evalci.proportion_ci()

    def test_objects_that_are_numbers_are_taken(self, frame):
        kinds = [int, float, bool, np.int8, np.float32, np.bool_, decimal.Decimal]
        scores = [kinds[i % 7](int(value)) for i, value in enumerate(frame["score"])]
        answer = frame.assign(score=pd.Series(scores, dtype=object)).evalci.proportion_ci()
        pd.testing.assert_frame_equal(answer, frame.evalci.proportion_ci())

    @pytest.mark.parametrize("dtype", ["datetime64[ns]", "timedelta64[ns]", "complex128", "period[D]"])
    def test_not_numbers(self, frame, dtype):
        scores = (
            frame["score"].astype("datetime64[ns]").dt.to_period("D")
            if dtype == "period[D]"
            else frame["score"].astype(dtype)
        )
        with pytest.raises(ScoreTypeError, match="must be numbers or booleans"):
            frame.assign(score=scores).evalci.cluster_ci("cluster")

    @pytest.mark.parametrize("value", [np.inf, -np.inf])
    @pytest.mark.parametrize("policy", ["raise", "omit"])
    def test_infinite(self, frame, value, policy):
        with pytest.raises(ScoreError, match=r"2 infinite score\(s\) among 400, at row 0, row 1\."):
            with_scores(frame, rows=2, value=value).evalci.cluster_ci("cluster", nan_policy=policy)

    @pytest.mark.parametrize(
        "method", ["icc_averaged", "wald", "wilson", "logit", "clopper_pearson", "korn_graubard"]
    )
    @pytest.mark.parametrize("value", [-1, 10])
    def test_outside_the_unit_interval(self, frame, method, value):
        low, high = min(value, 0), max(value, 1)
        with pytest.raises(ScoreRangeError, match=rf"'{method}'.*\[0, 1\].*from {low} to {high}\..*'cr2'"):
            with_scores(frame, rows=3, value=value).evalci.cluster_ci("cluster", method=method)

    @pytest.mark.parametrize("method", ["wilson", "wald", "clopper_pearson", "jeffreys", "agresti_coull"])
    def test_outside_the_unit_interval_naively(self, frame, method):
        with pytest.raises(ScoreRangeError, match=r"from -1 to 1\..*marks a failed run"):
            with_scores(frame, rows=1, value=-1).evalci.proportion_ci(method=method)

    def test_outside_the_unit_interval_for_the_posterior(self, frame):
        with pytest.raises(ScoreRangeError, match="icc_method='posterior'"):
            with_scores(frame, rows=1, value=-1).evalci.design_effect("cluster", icc_method="posterior")

    @pytest.mark.parametrize(
        "dtype", ["float64", "Int64", "Float64", "boolean", object, "float64[pyarrow]", "bool[pyarrow]"]
    )
    def test_missing(self, frame, dtype):
        if "pyarrow" in str(dtype):
            requires("pyarrow")
        scores = frame["score"].astype(bool if "bool" in str(dtype) else int).astype(dtype)
        scores[:7] = np.nan if dtype == "float64" else None if dtype is object else pd.NA
        broken = frame.assign(score=scores)
        message = r"7 of 400 scores in 'score' are missing, at row 0,.* row 4 and 2 more.*'omit'.*fillna\(0\)"
        for ask in (broken.evalci.proportion_ci, broken.evalci.cluster_ci, broken.evalci.design_effect):
            args = () if ask.__name__ == "proportion_ci" else ("cluster",)
            with pytest.raises(MissingScoreError, match=message):
                ask(*args)
        assert quiet(broken.evalci.proportion_ci, nan_policy="omit")["n"].item() == 393

    def test_all_missing(self, frame):
        broken = frame.assign(score=np.nan)
        with pytest.raises(MissingScoreError, match="400 of 400"):
            broken.evalci.cluster_ci("cluster")
        with pytest.warns(MissingScoreWarning, match=r"2 group\(s\) are left without a score"):
            answer = broken.evalci.cluster_ci("cluster", by="model", nan_policy="omit")
        assert answer["n"].tolist() == [0, 0]
        assert answer["ci_low"].isna().all()

    def test_huge_scores_do_not_end_in_nonsense(self):
        huge = pd.DataFrame({"score": [1e308, 1e308, -1e308, 1.0] * 5, "cluster": np.repeat(range(10), 2)})
        try:
            answer = quiet(huge.evalci.cluster_ci, "cluster")
        except EvalCIError:
            return
        assert np.isfinite(answer[["estimate", "ci_low", "ci_high"]]).all(axis=None)


def missing_ids():
    ids = [f"c{i % 40}" for i in range(400)]
    numbers = np.arange(400) % 40
    gone = [0, 1, 399]

    def lacking(values, mark):
        out = list(values)
        for i in gone:
            out[i] = mark
        return out

    return {
        "object None": pd.Series(lacking(ids, None), dtype=object),
        "object nan": pd.Series(lacking(ids, np.nan), dtype=object),
        "object NA": pd.Series(lacking(numbers, pd.NA), dtype=object),
        "float nan": pd.Series(lacking(numbers, np.nan), dtype=float),
        "category": pd.Series(lacking(ids, None), dtype="category"),
        "string": pd.Series(lacking(ids, None), dtype="string"),
        "string[pyarrow]": lambda: pd.Series(lacking(ids, None), dtype="string[pyarrow]"),
        "int64[pyarrow]": lambda: pd.Series(lacking(numbers.tolist(), None), dtype="int64[pyarrow]"),
        "default text": pd.Series(lacking(ids, None)),
        "Int64": pd.Series(lacking(numbers, pd.NA), dtype="Int64"),
        "datetime": pd.Series(lacking(pd.Timestamp("2025") + pd.to_timedelta(numbers, "D"), pd.NaT)),
        "timedelta": pd.Series(lacking(pd.to_timedelta(numbers, "D"), pd.NaT)),
        "period": pd.Series(
            lacking(pd.period_range("2025", periods=40, freq="D").tolist() * 10, pd.NaT), dtype="period[D]"
        ),
    }


class TestClusters:
    @pytest.mark.parametrize("dtype", missing_ids())
    def test_missing_ids_of_any_dtype_get_the_same_error(self, frame, dtype):
        ids = missing_ids()[dtype]
        if callable(ids):
            requires("pyarrow")
            ids = ids()
        message = r"3 of 400 rows have no cluster id in 'doc': rows 0, 1, 399\..*neither one .* none.*dropna\(subset=\['doc'\]\)"
        for ask in (frame.assign(doc=ids).evalci.cluster_ci, frame.assign(doc=ids).evalci.design_effect):
            with pytest.raises(MissingClusterError, match=message):
                ask("doc")

    @pytest.mark.parametrize("ids", [np.nan, None, pd.NaT])
    def test_all_ids_missing(self, frame, ids):
        with pytest.raises(MissingClusterError, match="all of 400 rows have no cluster id"):
            frame.assign(doc=ids).evalci.cluster_ci("doc")

    def test_missing_ids_where_the_score_is_missing_too(self, frame):
        broken = with_scores(frame, rows=5, value=np.nan)
        broken.loc[:4, "cluster"] = None
        answer = quiet(broken.evalci.cluster_ci, "cluster", by="model", nan_policy="omit")
        pd.testing.assert_frame_equal(answer, broken.dropna().evalci.cluster_ci("cluster", by="model"))
        broken.loc[5, "cluster"] = None
        with pytest.raises(MissingClusterError, match="1 of 400 rows"):
            broken.evalci.cluster_ci("cluster", nan_policy="omit")

    def test_unused_levels_are_no_clusters(self, frame):
        levels = pd.CategoricalDtype([*frame["cluster"].unique()[::-1], "never", "seen"])
        answer = frame.astype({"cluster": levels}).evalci.cluster_ci("cluster", by="model")
        pd.testing.assert_frame_equal(answer, frame.evalci.cluster_ci("cluster", by="model"))

    def test_a_cluster_without_rows_left(self, frame):
        broken = with_scores(frame, rows=10, value=np.nan)
        with pytest.warns(MissingScoreWarning, match=r"10 of 200 in model='A'"):
            answer = broken.evalci.cluster_ci("cluster", by="model", nan_policy="omit")
        assert answer["n_clusters"].tolist() == [38, 40]
        with pytest.warns(MissingScoreWarning, match=r"2 cluster\(s\) lost all their scores"):
            broken[broken.model == "A"].evalci.cluster_ci("cluster", nan_policy="omit")

    def test_one_cluster(self, frame):
        one = frame.assign(doc="d1")
        with pytest.raises(
            ClusterError, match=r"^all scores lie in a single cluster of 'doc' \('d1'\).*use proportion_ci"
        ):
            one.evalci.cluster_ci("doc")
        with pytest.raises(ClusterError, match=r"^all scores lie in a single cluster of 'doc'"):
            one.evalci.design_effect("doc")

    def test_one_cluster_in_a_group(self, frame):
        one = frame.assign(doc=frame["cluster"].mask(frame["model"] == "B", "d1"))
        with pytest.raises(
            ClusterError, match=r"^1 of 2 groups \(model='B'\): all scores lie in a single .* \('d1'\)"
        ):
            one.evalci.cluster_ci("doc", by="model")

    def test_one_cluster_in_many_groups(self, frame):
        with pytest.raises(ClusterError, match=r"40 of 40 groups \(part='c0';.* and 35 more\)"):
            frame.assign(doc=1).rename(columns={"cluster": "part"}).evalci.cluster_ci("doc", by="part")

    def test_one_row_a_cluster(self, frame):
        with pytest.warns(SingletonClusterWarning, match="holds one score"):
            answer = frame.reset_index(names="row").evalci.cluster_ci("row")
        assert answer["n_clusters"].item() == 400

    @pytest.mark.parametrize("ids", [[1, 2], {"a": 1}])
    def test_unhashable_ids(self, frame, ids):
        with pytest.raises(ClusterError, match=r"'doc'.*hashing.*turn lists or dicts into strings"):
            frame.assign(doc=pd.Series([ids] * 400)).evalci.cluster_ci("doc")

    def test_unhashable_ids_of_arrow(self, frame):
        pa = requires("pyarrow")
        lists = pd.Series([[1, 2]] * 400, dtype=pd.ArrowDtype(pa.list_(pa.int64())))
        with pytest.raises(ClusterError, match=r"'doc'.*hashing"):
            frame.assign(doc=lists).evalci.cluster_ci("doc")
        assert "doc" not in set(frame.assign(doc=lists).evalci.design_effect(by="model")["cluster"])

    @pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "UInt64", object, "int64[pyarrow]"])
    @pytest.mark.parametrize("spread", [0, 2**40])
    def test_large_ids_one_apart_stay_apart(self, frame, dtype, spread):
        if "pyarrow" in str(dtype):
            requires("pyarrow")
        ids = pd.Series(np.where(frame.index % 2, 2**53, 2**53 + 1), dtype="int64")
        ids[frame.index % 4 == 0] += spread
        answer = quiet(frame.assign(doc=ids.astype(dtype)).evalci.cluster_ci, "doc")
        assert answer["n_clusters"].item() == (3 if spread else 2)

    @pytest.mark.parametrize("how", ["column", "array", "Series", "level"])
    def test_rounded_ids_are_refused(self, frame, how):
        ids = pd.Series(np.where(frame.index % 2, 2.0**53, 2.0**53 + 2), name="doc")
        data, spec = frame.assign(doc=ids), "doc"
        if how == "array":
            spec = ids.to_numpy()
        elif how == "Series":
            spec = ids
        elif how == "level":
            data = data.set_index("doc")
        with pytest.raises(
            ClusterError, match=r"400 ids as floating point numbers of 9007199254740992.*'Int64'"
        ):
            data.evalci.cluster_ci(spec)

    def test_small_float_ids_are_fine(self, frame):
        ids = frame["cluster"].str[1:].astype(float)
        answer = frame.evalci.cluster_ci(ids.rename("cluster"))
        pd.testing.assert_frame_equal(answer, frame.evalci.cluster_ci("cluster"))

    @pytest.mark.parametrize("dtype", [object, "string", "category"])
    @pytest.mark.parametrize(
        "pair",
        [("caf\u00e9", "cafe\u0301"), ("a b", "a  b"), ("c0 ", "c0"), ("a\tb", "a b"), ("a\u00a0b", "a b")],
    )
    def test_ids_that_look_alike_stay_apart(self, frame, pair, dtype):
        ids = frame["cluster"].replace({"c0": pair[0], "c1": pair[1]}).astype(dtype)
        with pytest.warns(
            ClusterIdWarning, match=r"1 id\(s\) in 'doc' look like another.*kept apart.*normalize"
        ):
            answer = frame.assign(doc=ids).evalci.cluster_ci("doc")
        assert answer["n_clusters"].item() == 40

    def test_texts_and_numbers_stay_apart(self, frame):
        ids = pd.Series([i % 5 if i % 2 else str(i % 5) for i in range(400)], dtype=object)
        with pytest.warns(ClusterIdWarning, match="5 id.* occur both as text and as int"):
            assert frame.evalci.cluster_ci(ids)["n_clusters"].item() == 10

    @pytest.mark.parametrize("blank", ["", "nan", "None", "N/A"])
    def test_missing_ids_as_text(self, frame, blank):
        ids = pd.Series([blank if i < 20 else f"d{i % 9}" for i in range(400)])
        with pytest.warns(ClusterIdWarning, match="look like missing ids written as text"):
            frame.evalci.cluster_ci(ids)

    @pytest.mark.parametrize("dtype", ["int8", "int16", "int64"])
    def test_narrow_integers_do_not_wrap(self, frame, dtype):
        group = np.repeat([-100, 100, 120, 127], 100).astype(dtype)
        assert frame.evalci.cluster_ci("cluster", by=group)["n"].tolist() == [100] * 4
        ids = np.repeat(np.arange(-128, 122, 5), 8).astype(dtype)
        assert frame.evalci.cluster_ci(ids)["n_clusters"].item() == 50

    def test_masked_array(self, frame):
        with pytest.raises(AlignmentError, match="masked array"):
            frame.evalci.cluster_ci(np.ma.masked_equal(np.arange(400) % 5, 0))

    def test_index_of_several_levels(self, frame):
        levels = pd.MultiIndex.from_arrays([np.arange(400) % 5, np.arange(400) % 3])
        with pytest.raises(AlignmentError, match="2 levels"):
            frame.evalci.cluster_ci(levels)

    def test_infinite_ids_are_ids(self, frame):
        assert (
            frame.evalci.cluster_ci(np.where(np.arange(400) % 8 == 0, np.inf, np.arange(400) % 8))[
                "n_clusters"
            ].item()
            == 8
        )


class TestEmpty:
    @pytest.mark.parametrize("dtype", [float, int, bool, object])
    @pytest.mark.parametrize("method", ["auto", "cr1", "cr2", "wilson", "bootstrap_percentile"])
    def test_no_rows(self, dtype, method):
        empty = pd.DataFrame({"model": [], "doc": [], "score": []}, dtype=object).astype({"score": dtype})
        answers = [
            empty.evalci.cluster_ci("doc", method=method),
            empty.evalci.design_effect("doc"),
            empty.evalci.proportion_ci(),
        ]
        for answer in answers:
            assert answer[["n", "n_clusters"]].to_numpy().tolist() == [[0, 0]]
        assert answers[0][["estimate", "ci_low", "ci_high"]].isna().all(axis=None)
        assert len(empty.evalci.cluster_ci("doc", by="model", method=method)) == 0

    def test_no_rows_by_group_has_the_columns(self, frame):
        expected = frame.evalci.cluster_ci("cluster", by="model")
        answer = frame.iloc[:0].evalci.cluster_ci("cluster", by="model")
        assert list(answer) == list(expected)
        assert answer["model"].dtype == expected["model"].dtype

    def test_a_group_without_scores(self, frame):
        broken = with_scores(frame, rows=200, value=np.nan)
        with pytest.warns(
            MissingScoreWarning, match=r"200 of 200 in model='A'.*1 group\(s\) are left without"
        ):
            answer = broken.evalci.cluster_ci("cluster", by="model", nan_policy="omit")
        assert answer["n"].tolist() == [0, 200]
        assert answer["estimate"].isna().tolist() == [True, False]
        assert answer["n_eff"].iloc[0] == 0


class TestWeights:
    @pytest.mark.parametrize(
        ("value", "what"), [(-1.0, "negative"), (np.nan, "missing"), (np.inf, "infinite")]
    )
    @pytest.mark.parametrize("ask", ["cluster_ci", "design_effect"])
    def test_bad(self, frame, ask, value, what):
        frame.loc[[3, 9], "w"] = value
        with pytest.raises(WeightError, match=f"2 of 400 weights in 'w' are {what}, at row 3, row 9"):
            getattr(frame.evalci, ask)("cluster", weights="w")

    def test_all_zero(self, frame):
        with pytest.raises(WeightError, match="All 400 weights in 'w' are 0"):
            frame.assign(w=0).evalci.cluster_ci("cluster", weights="w")

    def test_all_zero_in_a_group(self, frame):
        with pytest.raises(WeightError, match="model='A'"):
            frame.assign(w=(frame["model"] == "B") * 1).evalci.cluster_ci("cluster", by="model", weights="w")

    def test_text(self, frame):
        for ask, given in (("cluster_ci", ("cluster",)), ("proportion_ci", ())):
            with pytest.raises(WeightError, match=r"'w' is not numeric.*Weights must be numbers >= 0; text"):
                getattr(frame.assign(w="1").evalci, ask)(*given, weights="w")
        with pytest.raises(WeightError, match=r"has dtype datetime64.*weights must be numbers >= 0"):
            frame.assign(w=pd.Timestamp("2026-01-01")).evalci.cluster_ci("cluster", weights="w")

    def test_by_kind(self, frame):
        with pytest.raises(MethodError, match=r"got dict\. To weigh by kind.*df\['kind'\]\.map\(weights\)"):
            frame.evalci.cluster_ci("cluster", weights={"A": 1, "B": 2})
        with pytest.raises(AlignmentError, match=r"does not cover the index.*To weigh by kind"):
            frame.evalci.cluster_ci("cluster", weights=pd.Series({"A": 1, "B": 2}))


class TestOptions:
    @pytest.mark.parametrize("ask", ["proportion_ci", "cluster_ci", "design_effect"])
    @pytest.mark.parametrize(("level", "hint"), [(95, r"Did you mean 0\.95\?"), (0, "strictly"), (1, "0 and 1"),
                                                 ("95%", "'95%'"), (np.nan, "nan"), (-0.5, "-0.5"), (True, "True"),
                                                 (None, "None")])  # fmt: skip
    def test_confidence_level(self, frame, ask, level, hint):
        args = () if ask == "proportion_ci" else ("cluster",)
        with pytest.raises(MethodError, match=f"confidence_level=.*{hint}"):
            getattr(frame.evalci, ask)(*args, confidence_level=level)

    @pytest.mark.parametrize(
        ("option", "value", "close"),
        [("method", "korngraubard", "korn_graubard"), ("df", "satterthwait", "satterthwaite"),
         ("nan_policy", "omitt", "omit"),
         ("alternative", "two_sided", "two-sided")],
    )  # fmt: skip
    def test_unknown_option(self, frame, option, value, close):
        with pytest.raises(
            MethodError,
            match=rf"{option}='{value}' is not known; it must be one of '.*Did you mean '{close}'\?",
        ):
            frame.evalci.cluster_ci("cluster", **{option: value})

    def test_unknown_options_elsewhere(self, frame):
        with pytest.raises(MethodError, match=r"method='wilsn'.*Did you mean 'wilson'\?"):
            frame.evalci.proportion_ci(method="wilsn")
        with pytest.raises(MethodError, match=r"icc_method='annova'.*Did you mean 'anova'\?"):
            frame.evalci.design_effect("cluster", icc_method="annova")

    @pytest.mark.parametrize("value", [["cr2"], None, 2])
    def test_options_of_another_type(self, frame, value):
        with pytest.raises(MethodError, match="is not known"):
            frame.evalci.cluster_ci("cluster", method=value)

    @pytest.mark.parametrize("value", [0, -5, 99, 1000.0, "many", True, None])
    def test_n_resamples(self, frame, value):
        with pytest.raises(MethodError, match=r"n_resamples=.*at least 100 \(the default is 9999\)"):
            frame.evalci.cluster_ci("cluster", method="bootstrap_percentile", n_resamples=value)

    @pytest.mark.parametrize("value", ["x", -1, 0.5, True, np.random.RandomState(1)])
    def test_rng(self, frame, value):
        with pytest.raises(MethodError, match="rng="):
            frame.evalci.cluster_ci("cluster", method="bootstrap_percentile", rng=value)

    @pytest.mark.parametrize("method", ["icc_averaged", "auto", "bootstrap_t"])
    def test_degrees_of_freedom_that_would_be_ignored(self, frame, method):
        with pytest.raises(MethodError, match="uses no t quantile"):
            frame.evalci.cluster_ci("cluster", method=method, df="clusters")

    def test_exact_bootstrap_of_unequal_sizes(self, frame):
        with pytest.raises(
            MethodError, match=r"not available for clusters of unequal sizes.*bootstrap_percentile"
        ):
            frame.iloc[:-1].evalci.cluster_ci("cluster", method="bootstrap_exact")


def test_errors_leave_the_frame_alone():
    frame = frame_of(BENIGN).astype({"score": float})
    frame.loc[3, "score"] = np.nan
    before = frame.copy(deep=True)
    with pytest.raises(MissingScoreError):
        frame.evalci.cluster_ci("cluster")
    pd.testing.assert_frame_equal(frame, before)


WITHOUT_ITEM = {
    "diff_ci": {}, "mcnemar": {}, "compare": {}, "power": {"difference": 0.1}, "mde": {}, "pass_at_k": {}, "pass_hat_k": {},
    "best_of_k": {}, "variance_components": {},
}  # fmt: skip


@pytest.mark.parametrize("method", WITHOUT_ITEM)
def test_without_an_item_the_error_says_what_it_is(rag, method):
    first = {"variance_components": (), "pass_at_k": (1,), "pass_hat_k": (1,), "best_of_k": (1,)}.get(
        method, ("model",)
    )
    for data in (rag, rag.set_index(["model", "item", "doc_id"])["score"]):
        with pytest.raises(
            MethodError, match=r"item= is missing: (the column that|what) tells the (questions|items) apart"
        ):
            getattr(data.evalci, method)(*first, **WITHOUT_ITEM[method])


def test_scores_in_several_columns_are_told_to_melt(rag):
    wide = rag.assign(s0=rag["score"], s1=1 - rag["score"])
    with pytest.raises(
        MethodError, match=r"df\.melt\(id_vars=\[\.\.\.\], value_vars=\['s0', 's1'\].*with sample='sample'"
    ):
        wide.evalci.pass_at_k(1, item="item", score=["s0", "s1"])
    with pytest.raises(MethodError, match=r"got list\. Turn a list of ids"):
        wide.evalci.cluster_ci("doc_id", score=[1, 0])


def test_points_given_for_a_difference_of_rates_are_told(rag):
    with pytest.raises(PilotError, match=r"which lie in \[0, 1\]\. Did you mean 0\.03\?"):
        rag.evalci.power(
            "model", item="item", cluster="doc_id", difference=3, n_clusters=40, pairs=[("atlas", "boreal")]
        )
