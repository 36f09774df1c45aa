"""Rows and cells to tables of items: what pairs with what, what is refused, and in which words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from strategies import quiet

from conftest import requires
from evalci_accessor.exceptions import (
    AlignmentError,
    AmbiguousNameError,
    ClusterError,
    ClusterIdWarning,
    ColumnNotFoundError,
    DimensionError,
    MethodError,
    MissingClusterError,
    MissingScoreError,
    MissingScoreWarning,
    PairingError,
    ScoreRangeError,
    ScoreTypeError,
    SharedKeyWarning,
    UnmatchedItemsWarning,
)
from evalci_accessor.methods import pairs as methods
from evalci_accessor.methods.pairs import families
from evalci_accessor.options import Roles
from evalci_accessor.read.cube import CubeReader
from evalci_accessor.read.frame import FrameReader
from evalci_accessor.read.ids import encode_ids, join_key
from evalci_accessor.read.names import choose_pairs
from evalci_accessor.read.unmatched import canonical


def of_frame(data, factor="model", *, item="item", averages=True, **roles):
    return FrameReader(data).pairs(Roles(factor=factor, item=item, **roles), averages=averages).found


def of_cube(data, factor="model", *, averages=True, **roles):
    return CubeReader(data).pairs(Roles(factor=factor, **roles), averages=averages).found


def sides(matched, k=0):
    """Sorted pairs of scores of the first pair of systems in group k, with the cluster's label."""
    table, (a, b) = matched.tables[k], matched.pairs[0]
    cluster = [None] * len(table.scores)
    if table.clusters:
        cluster = [matched.clusterings[0].label(code) for code in table.clusters[0,]]
    return sorted(zip(cluster, table.scores[:, a], table.scores[:, b], strict=True), key=repr)


@pytest.fixture
def frame():
    """Two models on six items in three documents."""
    return pd.DataFrame(
        {
            "model": ["A"] * 6 + ["B"] * 6,
            "item": [f"q{i}" for i in range(6)] * 2,
            "doc": ["d0", "d0", "d1", "d1", "d2", "d2"] * 2,
            "score": [1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1],
        }
    )


WANTED = [
    ("d0", 0.0, 1.0),
    ("d0", 1.0, 1.0),
    ("d1", 1.0, 0.0),
    ("d1", 1.0, 1.0),
    ("d2", 0.0, 0.0),
    ("d2", 0.0, 1.0),
]


class TestChoosePairs:
    def test_all_in_order(self):
        assert choose_pairs(["x", "y", "z"], "model", None, None).tolist() == [[0, 1], [0, 2], [1, 2]]

    def test_baseline_comes_second(self):
        assert choose_pairs(["x", "y", "z"], "model", "y", None).tolist() == [[0, 1], [2, 1]]

    def test_pairs_as_asked_for(self):
        assert choose_pairs(["x", "y", "z"], "model", None, [("z", "x"), ["y", "x"]]).tolist() == [
            [2, 0],
            [1, 0],
        ]

    @pytest.mark.parametrize("label", [np.int64(2), 2, 2.0])
    def test_numpy_labels(self, label):
        assert choose_pairs([1, 2], "model", label, None).tolist() == [[0, 1]]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"baseline": "x", "pairs": [("x", "y")]}, "Both baseline= and pairs="),
            ({"baseline": "X"}, r"baseline names 'X'.*its levels are 'x', 'yy', 'z'\. Did you mean 'x'\?"),
            (
                {"pairs": [("x", "y")]},
                r"pairs names 'y', which is not a level of 'model'.*Did you mean 'yy'\?",
            ),
            ({"baseline": ["x"]}, r"baseline names \['x'\]"),
            ({"pairs": []}, "pairs is empty"),
            ({"pairs": "xz"}, "must be a list of two levels"),
            ({"pairs": ("x", "z")}, r"one of them is 'x'"),
            ({"pairs": ["yy"]}, r"pairs=\[\('x', 'yy'\)\]; one of them is 'yy'"),
            ({"pairs": [("x", "yy", "z")]}, "one of them is"),
            ({"pairs": 3}, "got 3"),
            ({"pairs": [("x", "x")]}, "compares 'x' with itself"),
            ({"pairs": [("x", "z"), ("z", "x")]}, "'z' and 'x' twice; the difference the other way round"),
        ],
    )
    def test_refused(self, options, message):
        with pytest.raises(MethodError, match=message):
            choose_pairs(["x", "yy", "z"], "model", **{"baseline": None, "pairs": None} | options)

    def test_the_same_written_as_text(self):
        with pytest.raises(MethodError, match=r"baseline names '1'.*Did you mean 1 \(int\)\?"):
            choose_pairs([1, 2], "size", "1", None)

    @pytest.mark.parametrize(("systems", "found"), [([], "no system"), (["A"], r"only one system \('A'\)")])
    def test_two_are_needed(self, systems, found):
        with pytest.raises(PairingError, match=f"{found} in 'model'; a comparison needs two"):
            choose_pairs(systems, "model", None, None)


KEYS = {"lang": np.array([0, 0, 1, 1]), "prompt": np.array([0, 1, 0, 1])}


class TestFamilies:
    def test_one_by_default(self):
        assert_array_equal(families(None, KEYS, 4), [0] * 4)

    def test_within_a_key(self):
        assert_array_equal(families("lang", KEYS, 4), [0, 0, 1, 1])
        assert_array_equal(families(["lang", "prompt"], KEYS, 4), [0, 1, 2, 3])

    def test_unknown(self):
        with pytest.raises(
            MethodError, match=r"correction_within='language' must be among by .*, which are 'lang', 'prompt'"
        ):
            families("language", KEYS, 4)
        with pytest.raises(MethodError, match="of which there are none here"):
            families("language", {}, 1)


class TestTables:
    def test_by_id_and_not_by_position(self, frame):
        for seed in range(5):
            shuffled = frame.sample(frac=1, random_state=seed)
            assert sides(of_frame(shuffled, cluster="doc", pairs=[("A", "B")])) == WANTED

    def test_what_else_is_known(self, frame):
        got = of_frame(frame, cluster="doc")
        assert (got.systems, got.pairs.tolist(), got.names.factor, got.names.key, got.cluster) == (
            ["A", "B"],
            [[0, 1]],
            "model",
            "item",
            "doc",
        )
        assert (got.score_range, got.binary, got.bounded, got.repeats) == ((0.0, 1.0), True, True, 1)
        assert got.names.group_label(0) == ""
        assert got.tables[0].clusters[0,].dtype == np.int64
        assert got.sentinel is None

    def test_without_a_cluster(self, frame):
        got = of_frame(frame)
        assert got.cluster is None
        assert not got.tables[0].clusters

    @pytest.mark.parametrize(
        "dtype",
        [
            "bool",
            "boolean",
            "int8",
            "uint8",
            "Int64",
            "float32",
            "Float64",
            "object",
            "bool[pyarrow]",
            "double[pyarrow]",
        ],
    )
    def test_dtypes_of_scores(self, frame, dtype):
        requires("pyarrow")
        given_ = frame.assign(score=frame["score"].astype(bool).astype(dtype))
        got = of_frame(given_, cluster="doc")
        assert got.binary
        assert sides(got) == WANTED

    @pytest.mark.parametrize(
        "dtype",
        [
            "object",
            "string",
            "category",
            "string[pyarrow]",
            "int64",
            "Int64",
            "uint64",
            "float64",
            "int64[pyarrow]",
            "datetime64[ns]",
        ],
    )
    @pytest.mark.parametrize("column", ["item", "doc", "model"])
    def test_dtypes_of_ids(self, frame, dtype, column):
        requires("pyarrow")
        ids = (
            frame[column]
            if dtype in ("object", "string", "category", "string[pyarrow]")
            else frame[column].factorize()[0]
        )
        got = of_frame(frame.assign(**{column: pd.Series(ids).astype(dtype)}), cluster="doc")
        assert [row[1:] for row in sides(got)] == [row[1:] for row in WANTED]
        assert len(set(got.tables[0].clusters[0,])) == 3

    def test_categories_that_do_not_occur(self, frame):
        frame = frame.astype(
            {"model": pd.CategoricalDtype(["Z", "B", "A"]), "item": "category", "doc": "category"}
        )
        got = of_frame(frame[frame["item"] != "q5"], cluster="doc")
        assert got.systems == ["A", "B"]  # as they appear, not as the categories are ordered
        assert len(got.tables[0].scores) == 5

    def test_the_callers_object_stays(self, frame):
        before = frame.copy(deep=True)
        got = of_frame(frame, cluster="doc")
        got.tables[0].scores[:] = -1
        pd.testing.assert_frame_equal(frame, before)

    def test_ids_in_the_index_arrays_and_series(self, frame):
        want = sides(of_frame(frame, cluster="doc"))
        indexed = frame.set_index(["model", "item"])
        assert sides(of_frame(indexed, cluster="doc")) == want
        assert sides(of_frame(frame, item=frame["item"].to_numpy(), cluster=frame["doc"][::-1])) == want
        assert (
            sides(of_frame(frame["score"], frame["model"], item=frame["item"], cluster=frame["doc"])) == want
        )

    def test_groups_in_order_of_first_appearance(self, frame):
        both = pd.concat([frame.assign(lang="en", score=1), frame.assign(lang="da")], ignore_index=True)
        got = of_frame(both, cluster="doc", by="lang")
        assert [got.names.group_label(h) for h in range(2)] == ["lang='en'", "lang='da'"]
        assert {row[1:] for row in sides(got, 0)} == {(1.0, 1.0)}
        assert sides(got, 1) == WANTED

    def test_an_item_of_another_group_is_another_item(self, frame):
        # The cluster of an item, too, may differ between groups.
        both = pd.concat(
            [
                frame.assign(lang="en"),
                frame.assign(lang="da", doc=frame["doc"].map({"d0": "d2"}).fillna("d0")),
            ]
        )
        assert [len(table.scores) for table in of_frame(both, cluster="doc", by="lang").tables] == [6, 6]

    def test_several_columns_make_the_key(self, frame):
        local = frame.assign(item=[0, 1] * 6)
        assert sides(of_frame(local, item=["doc", "item"], cluster="doc")) == WANTED
        assert sides(of_frame(local, item=[local["doc"].to_numpy(), "item"], cluster="doc")) == WANTED

    def test_encode_key_keeps_missing_parts_apart(self):
        key = join_key(
            [encode_ids(np.array(["a", None, "a"], dtype=object), "x"), encode_ids(np.array([1, 1, 2]), "y")]
        )
        assert key.codes.tolist()[1] == -1
        assert (key.label(int(key.codes[0])), key.label(int(key.codes[2]))) == (("a", 1), ("a", 2))

    def test_samples_are_averaged(self, frame):
        twice = pd.concat(
            [
                frame.assign(epoch=1),
                frame.assign(epoch=2, score=1 - frame["score"]),
                frame.iloc[:1].assign(epoch=3),
            ]
        )
        with pytest.warns(
            UnmatchedItemsWarning, match="^1 of 6 items have more repeats .* such as 'q0': 3 of 'A', 2 of 'B'"
        ):
            got = of_frame(twice, cluster="doc", sample="epoch", pairs=[("A", "B")])
        assert got.repeats == 3
        assert not got.binary
        assert sorted({row[1] for row in sides(got)}) == [0.5, 2 / 3]

    def test_systems_that_no_pair_names_are_nobodys_business(self, frame):
        rest = pd.DataFrame(
            {"model": "C", "item": ["q1", "q1", None], "doc": ["d9", None, "d0"], "score": [1.0, np.nan, 5.0]}
        )
        got = of_frame(pd.concat([rest, frame], ignore_index=True), cluster="doc", pairs=[("B", "A")])
        assert (got.systems, got.pairs.tolist(), got.score_range) == (["A", "B"], [[1, 0]], (0.0, 1.0))
        assert sorted((c, a, b) for c, b, a in sides(got)) == WANTED
        assert len(got.tables[0].scores) == 6


class TestRefused:
    def test_item_of_one_system(self, frame):
        with pytest.raises(
            PairingError,
            match=r"1 of the 6 items of 'A' is not among those of 'B' \('q5'\)\. Each item of 'item'.*the 5 items that both have "
            r"with unmatched='drop'",
        ):
            of_frame(frame.drop(index=11))

    def test_both_sides_with_counts_and_at_most_five_examples(self, frame):
        more = pd.DataFrame({"model": "B", "item": [f"x{i}" for i in range(8)], "doc": "d0", "score": 1})
        with pytest.raises(
            PairingError,
            match=r"1 of the 6 items of 'A' is not .* \('q5'\), and 8 of the 13 items of 'B' are not among those of 'A' "
            r"\('x0', 'x1', 'x2', 'x3', 'x4' and 3 more\)",
        ):
            of_frame(pd.concat([frame.drop(index=11), more]))

    def test_the_worst_of_several_pairs(self, frame):
        third = frame[frame["model"] == "A"].assign(model="C").iloc[:2]
        with pytest.raises(
            PairingError,
            match=r"^2 of 3 pairs of 'model' have items without a partner\. The worst: 4 of the 6 items",
        ):
            of_frame(pd.concat([frame, third]))

    def test_groups_are_named(self, frame):
        both = pd.concat([frame.assign(lang="en"), frame.drop(index=[10, 11]).assign(lang="da")])
        with pytest.raises(PairingError, match=r"'q4', 'q5'\), in 1 group\(s\): lang='da'\."):
            of_frame(both, by="lang")

    @pytest.mark.parametrize(
        ("other", "reason"),
        [("q5 ", "white space"), ("q 5", None), ("Q5", "case"), (" Q5", "case or white space")],
    )
    def test_near_misses(self, frame, other, reason):
        frame.loc[11, "item"] = other
        hint = (
            ""
            if reason is None
            else rf" 1 item\(s\) of 'B' look like items of 'A' but for {reason}: {other!r} and 'q5'\."
        )
        with pytest.raises(PairingError, match=rf"not among those of 'A' \({other!r}\)\.{hint} Each item"):
            of_frame(frame)

    def test_near_misses_of_unicode(self, frame):
        frame.loc[5, "item"], frame.loc[11, "item"] = "caf\u00e9", "cafe\u0301"
        with pytest.raises(PairingError, match=r"but for Unicode form: 'cafe\\u0301' and 'caf\\xe9'"):
            of_frame(frame)

    def test_near_misses_of_type(self, frame):
        mixed = frame.assign(item=[*range(6), *map(str, range(6))])
        with pytest.raises(
            PairingError,
            match=r"have no item of 'item' in common: .* 6 item\(s\) of 'B'.*but for type \(str and int\): '0' and 0",
        ):
            of_frame(mixed)

    def test_near_misses_in_one_part_of_a_key(self, frame):
        frame.loc[11, "doc"] = "D2"
        with pytest.raises(PairingError, match=r"but for case: \('D2', 'q5'\) and \('d2', 'q5'\)"):
            of_frame(frame, item=["doc", "item"], cluster="doc")

    def test_key_of_several_columns_without_a_cluster(self, frame):
        told = r"The 6 items are told apart by 'doc' \(3 values\) and 'kind' \(2 values\).*cluster='doc', if .*; repeats.*sample="
        frame = frame.assign(kind=[0, 1] * 6)
        with pytest.warns(SharedKeyWarning, match=told):
            of_frame(frame, item=["doc", "kind"])
        of_frame(frame, item=["doc", "kind"], cluster="doc")
        of_frame(frame, item=["doc", "kind"], by="doc")
        of_frame(frame, item=["doc", "item"])  # the item alone tells them apart

    def test_canonical(self):
        assert canonical(3.0) == canonical("3") == canonical(3) == "3"
        assert canonical(("A  b", 1)) == ("a b", "1")

    def test_nothing_in_common(self, frame):
        apart = frame.assign(item=[*"abcdef", *"ghijkl"])
        for unmatched in ("raise", "drop"):
            with pytest.raises(
                PairingError,
                match=r"'A' and 'B' have no item of 'item' in common: the one has 6 such as 'a', .*same questions",
            ):
                of_frame(apart, unmatched=unmatched)

    def test_dropped_items_are_told(self, frame):
        frame.loc[11, "item"] = "Q5"
        with pytest.warns(
            UnmatchedItemsWarning,
            match=r"'A' against 'B' 2 of 7 \(1 only in 'A': 'q5'; 1 only in 'B': 'Q5'\)\. 1 item\(s\) of 'B' look like",
        ):
            got = of_frame(frame, cluster="doc", unmatched="drop")
        scores = got.tables[0].scores
        assert np.isnan(scores).sum() == 2
        assert np.isfinite(scores).all(axis=1).sum() == 5

    def test_at_most_five_pairs_are_told(self, frame):
        parts = [frame.iloc[:6].assign(model=f"m{i}").drop(index=i % 6) for i in range(5)]
        with pytest.warns(UnmatchedItemsWarning, match="and 5 more pairs"):
            of_frame(pd.concat(parts), unmatched="drop")

    def test_two_scores(self, frame):
        with pytest.raises(
            PairingError,
            match=r"1 of 12 combinations of 'item' and 'model' have two scores or more: 'q0' of 'A' \(1, 0\)\. If they are "
            r"repeats: pass sample=\.\.\., which averages.*drop_duplicates.*item=\[\.\.\., \.\.\.\]",
        ):
            of_frame(pd.concat([frame, frame.iloc[:1].assign(score=0)]))

    def test_two_scores_for_mcnemar(self, frame):
        with pytest.raises(
            PairingError,
            match=r"mcnemar needs one score for each item: average with diff_ci or compare \(sample=\.\.\.\)",
        ):
            of_frame(pd.concat([frame, frame]), averages=False)

    def test_repeats_that_a_column_numbers(self, frame):
        twice = pd.concat([frame.assign(epoch=1), frame.assign(epoch=2)])
        with pytest.raises(
            PairingError,
            match=r"'epoch' tells them apart\. If 'epoch' numbers repeats of an item: pass sample='epoch'",
        ):
            of_frame(twice)
        with pytest.raises(
            PairingError, match=r"majority vote, first\. If the ids of 'item' are local to 'epoch'"
        ):
            of_frame(twice, averages=False)

    def test_ids_that_are_local_to_a_column(self, frame):
        local = frame.assign(item=[0, 1] * 6)
        wanted = r"If the ids of 'item' are local to 'doc', pass item=\['doc', 'item'\]"
        with pytest.raises(
            PairingError,
            match=rf"6 of|4 of 4 combinations.*'doc' tells them apart\. {wanted}\. To compare within each",
        ):
            of_frame(local)
        with pytest.raises(PairingError, match=rf"The cluster 'doc' tells them apart\. {wanted}\.$"):
            of_frame(local, cluster="doc")

    def test_a_running_number_is_not_offered(self, frame):
        twice = pd.concat([frame, frame], ignore_index=True)
        with pytest.raises(PairingError, match=r"If they are repeats: pass sample=\.\.\."):
            of_frame(
                twice.assign(row=np.arange(24), latency=np.linspace(0, 1, 24), log=[[] for _ in range(24)])
            )

    def test_the_same_sample_twice(self, frame):
        with pytest.raises(
            PairingError,
            match=r"'item', 'model' and 'epoch' have two scores or more: 'q0' of 'A', sample 1 \(1, 1\)",
        ):
            of_frame(pd.concat([frame, frame]).assign(epoch=1), sample="epoch")

    def test_an_item_in_two_clusters(self, frame):
        frame.loc[11, "doc"] = "d0"
        with pytest.raises(
            ClusterError,
            match=r"1 item\(s\) of 'item' lie in more than one cluster of 'doc': 'q5' in 'd2' and 'd0'\..*item=\['doc', 'item'\]",
        ):
            of_frame(frame, cluster="doc")

    @pytest.mark.parametrize(
        ("column", "error"), [("model", PairingError), ("item", PairingError), ("doc", MissingClusterError)]
    )
    def test_missing_names_and_ids(self, frame, column, error):
        frame[column] = frame[column].mask(frame.index == 3)
        with pytest.raises(error, match=rf"1 of 12 .*'{column}'.*row 3"):
            of_frame(frame, cluster="doc")

    def test_missing_sample(self, frame):
        with pytest.raises(PairingError, match="1 of 12 rows have no sample id in 'epoch': row 0"):
            of_frame(frame.assign(epoch=[np.nan, *[1] * 11]), sample="epoch")

    def test_missing_scores(self, frame):
        holes = frame.astype({"score": float})
        holes.loc[[2, 8], "score"] = np.nan
        with pytest.raises(MissingScoreError, match="2 of 12 scores"):
            of_frame(holes)
        with pytest.warns(
            MissingScoreWarning, match=r"Missing scores were left out: 1 of 'A', 1 of 'B'\. Where"
        ):
            got = of_frame(holes, cluster="doc", nan_policy="omit")
        assert len(got.tables[0].scores) == 5

    def test_a_missing_score_makes_a_hole(self, frame):
        holes = frame.astype({"score": float})
        holes.loc[2, "score"] = np.nan
        with pytest.raises(
            PairingError, match=r"\('q2'\)\. 1 of them would have a partner, whose score is missing"
        ):
            of_frame(holes, nan_policy="omit")
        told = "1 of these because the other's score is missing"
        with pytest.warns(MissingScoreWarning), pytest.warns(UnmatchedItemsWarning, match=told):
            of_frame(holes, nan_policy="omit", unmatched="drop")

    def test_a_system_without_scores(self, frame):
        holes = frame.assign(score=[np.nan] * 6 + [1.0] * 6)
        with pytest.raises(PairingError, match="'A' has no score that counts"):
            of_frame(holes, nan_policy="omit", unmatched="drop")

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"item": "model"}, MethodError, "'model' is given both as factor and as item"),
            ({"cluster": "model"}, MethodError, "as factor and as cluster"),
            ({"by": "model"}, MethodError, "as factor and as by"),
            ({"sample": "item"}, MethodError, "as item and as sample"),
            ({"item": "score"}, MethodError, "as score and as item"),
            ({"item": []}, MethodError, "item= names nothing"),
            ({"item": "itm"}, ColumnNotFoundError, "item='itm' is neither.*Did you mean 'item'"),
            ({"factor": "modell"}, ColumnNotFoundError, "factor='modell' is neither.*Did you mean 'model'"),
            ({"item": np.arange(3)}, AlignmentError, "`item` is an array of 3 entries for 12 rows"),
            (
                {"unmatched": "keep"},
                MethodError,
                "unmatched='keep' is not known; it must be one of 'raise', 'drop'",
            ),
            ({"nan_policy": "drop"}, MethodError, "nan_policy='drop' is not known"),
            ({"cluster": None, "score": "doc"}, ScoreTypeError, "'doc' is not numeric"),
        ],
    )
    def test_names_and_options(self, frame, options, error, message):
        with pytest.raises(error, match=message):
            of_frame(frame, **{"cluster": "doc"} | options)

    def test_one_system(self, frame):
        with pytest.raises(PairingError, match=r"only one system \('A'\) in 'model'; a comparison needs two"):
            of_frame(frame.query("model == 'A'"))
        with pytest.raises(PairingError, match="no system in 'model'"):
            of_frame(frame.iloc[:0])

    @pytest.mark.parametrize(
        ("ids", "message"),
        [([2.0**53] * 12, "so ids may already have merged"), ([[1]] * 12, "told apart by hashing")],
    )
    def test_ids_that_cannot_be_told_apart(self, frame, ids, message):
        with pytest.raises(PairingError, match=message):
            of_frame(frame.assign(item=ids))

    def test_lookalikes_among_systems_and_clusters_still_warn(self, frame):
        frame.loc[0, "doc"] = "d0 "
        with pytest.warns(ClusterIdWarning), pytest.raises(ClusterError):
            of_frame(frame, cluster="doc")

    def test_names_of_the_result(self, frame):
        with pytest.raises(AmbiguousNameError, match=r"'estimate_a' and 'estimate_b'.*rename"):
            frame.rename(columns={"model": "estimate"}).evalci.diff_ci("estimate", "item")
        with pytest.raises(AmbiguousNameError, match="by='model_a' would stand twice"):
            frame.assign(model_a=1).evalci.diff_ci("model", "item", by="model_a")


@st.composite
def results(draw, *, repeats=(1, 3)):
    """A frame of scores of 2 to 4 models, some holes and clusters, and the same as a Dataset."""
    n_models, n_items = draw(st.integers(2, 4)), draw(st.integers(2, 6))
    n_prompts, n_samples = draw(st.integers(1, 2)), draw(st.integers(*repeats))
    shape = (n_models, n_prompts, n_items, n_samples)
    values = draw(
        st.lists(
            st.sampled_from([0.0, 0.5, 1.0, np.nan]),
            min_size=int(np.prod(shape)),
            max_size=int(np.prod(shape)),
        )
    )
    scores = np.array(values).reshape(shape)
    scores[:, :, 0] = np.nan_to_num(scores[:, :, 0])  # an item that all have
    doc = np.array(draw(st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items)))
    order = draw(st.permutations(range(n_items)))
    ds = xr.Dataset(
        {"score": (("model", "prompt", "item", "sample"), scores)},
        coords={
            "model": [f"m{i}" for i in range(n_models)],
            "prompt": [f"p{i}" for i in range(n_prompts)],
            "item": [f"q{i}" for i in order],
            "doc": ("item", [f"d{g}" for g in doc]),
        },
    )
    frame = ds.to_dataframe().reset_index()
    return ds, frame.sample(frac=1, random_state=draw(st.integers(0, 9)))


def same(one, other):
    """The same tables, whatever the order of systems, items and codes."""
    assert (one.binary, one.repeats) == (other.binary, other.repeats)
    np.testing.assert_allclose(one.score_range, other.score_range)
    named = [[(m.systems[a], m.systems[b]) for a, b in m.pairs] for m in (one, other)]
    assert named[0] == named[1]
    for tables in zip(one.tables, other.tables, strict=True):
        rows = []
        for matched, table in zip((one, other), tables, strict=True):
            labels = [str(matched.clusterings[0].label(c)) for c in table.clusters[0,]]
            scores = table.scores[:, np.argsort(matched.systems)].round(12) + 0.0
            rows.append(sorted((g, *map(str, row)) for g, row in zip(labels, scores, strict=True)))
        assert rows[0] == rows[1]


class TestCubeAndFrame:
    @given(results())
    def test_same_tables(self, made):
        ds, frame = made
        pairs = [("m1", "m0"), *[(f"m{i}", "m0") for i in range(2, ds.sizes["model"])]]
        options = {
            "cluster": "doc",
            "sample": "sample",
            "pairs": pairs,
            "unmatched": "drop",
            "nan_policy": "omit",
        }
        frame = frame.sort_values(
            ["model", "prompt"], kind="stable"
        )  # systems and groups in the cube's order
        same(quiet(of_cube, ds, **options), quiet(of_frame, frame, by="prompt", **options))

    @given(results(), st.permutations(range(4)))
    def test_order_of_dims_and_rows_changes_nothing(self, made, order):
        ds, frame = made
        options = {
            "cluster": "doc",
            "sample": "sample",
            "pairs": [("m1", "m0")],
            "unmatched": "drop",
            "nan_policy": "omit",
        }
        turned = ds.transpose(*[list(ds.sizes)[i] for i in order]).isel(item=slice(None, None, -1))
        same(quiet(of_cube, ds, **options), quiet(of_cube, turned, **options))
        one = frame.query("prompt == 'p0'")
        same(quiet(of_frame, one, **options), quiet(of_frame, one.sort_values("score").iloc[::-1], **options))

    @given(results(repeats=(1, 1)))
    def test_dropping_is_a_merge(self, made):
        _, frame = made
        frame = frame.query("prompt == 'p0'").dropna()
        got = quiet(of_frame, frame, cluster="doc", pairs=[("m1", "m0")], unmatched="drop")
        a, b = (frame[frame["model"] == m][["item", "score", "doc"]] for m in ("m1", "m0"))
        want = a.merge(b, on=["item", "doc"], how="outer")[["doc", "score_x", "score_y"]]
        found = [
            (got.clusterings[0].label(c), *r[got.pairs[0]])
            for r, c in zip(got.tables[0].scores, got.tables[0].clusters[0,], strict=True)
        ]
        assert sorted(map(repr, found)) == sorted(
            repr((d, np.float64(x), np.float64(y))) for d, x, y in want.to_numpy()
        )


@pytest.fixture
def grid():
    """Scores over model, prompt, item and sample."""
    rng = np.random.default_rng(5)
    return xr.Dataset(
        {"score": (("model", "prompt", "item", "sample"), rng.integers(0, 2, (3, 2, 12, 2)))},
        coords={
            "model": ["a", "b", "c"],
            "family": ("model", ["x", "x", "y"]),
            "prompt": ["p", "q"],
            "item": np.arange(12),
            "qid": ("item", [f"q{i}" for i in range(12)]),
            "doc": ("item", np.repeat(np.arange(4), 3)),
            "doc_by_prompt": (
                ("prompt", "item"),
                np.stack([np.repeat(np.arange(4), 3), np.tile(np.arange(4), 3)]),
            ),
            "grader": (("model", "item"), np.zeros((3, 12), dtype=int)),
            "judge": (("item", "sample"), np.zeros((12, 2), dtype=int)),
        },
    )


class TestCubes:
    def test_the_clusters_dims_are_the_items(self, grid):
        got = of_cube(grid, cluster="doc", sample="sample")
        assert [len(table.scores) for table in got.tables] == [12, 12]
        assert [got.names.group_label(h) for h in range(2)] == ["prompt='p'", "prompt='q'"]
        assert (got.names.key, got.cluster, got.repeats) == ("item", "doc", 2)

    def test_dims_that_stay_are_groups(self, grid):
        assert len(of_cube(grid, item="item").tables) == 4
        assert len(of_cube(grid, item="qid", dim="sample").tables) == 2
        with pytest.warns(SharedKeyWarning, match="'item' .12 values. and 'prompt' .2 values."):
            assert len(of_cube(grid, item=["item", "prompt"], sample="sample").tables) == 1
        assert len(of_cube(grid, cluster="doc", dim=...).tables) == 1

    def test_the_only_dim_left(self, grid):
        flat = grid.isel(prompt=0, sample=0)
        assert of_cube(flat).names.key == "item"
        assert of_cube(flat["score"]).names.key == "item"
        assert of_cube(grid.isel(prompt=0), sample="sample").names.key == "item"
        assert of_cube(grid, dim="item").names.key == "item"

    def test_clusters_that_vary_along_a_dim_that_stays(self, grid):
        got = of_cube(grid, cluster="doc_by_prompt", dim="item", sample="sample")
        assert [table.clusters[0,].tolist() for table in got.tables] == [
            np.repeat(range(4), 3).tolist(),
            [*range(4)] * 3,
        ]
        assert len(of_cube(grid, cluster="doc_by_prompt", sample="sample").tables[0].scores) == 24

    def test_factor_by_a_coordinate(self, grid):
        named = grid.assign_coords(name=("model", ["A", "B", "C"]))
        got = of_cube(named, "name", cluster="doc", sample="sample", pairs=[("C", "A")])
        assert (got.systems, got.pairs.tolist()) == (["A", "C"], [[1, 0]])
        assert_array_equal(
            got.tables[0].scores, of_cube(grid, cluster="doc", sample="sample").tables[0].scores[:, [0, 2]]
        )

    def test_dims_without_labels(self, grid):
        bare = grid.drop_vars(["model", "item", "prompt", "family", "qid", "grader"])
        assert of_cube(bare, cluster="doc", sample="sample").systems == [0, 1, 2]

    def test_chunks_stay_lazy(self, grid):
        requires("dask")
        lazy = grid.chunk({"item": 5})
        same(of_cube(lazy, cluster="doc", sample="sample"), of_cube(grid, cluster="doc", sample="sample"))
        assert lazy["score"].chunks is not None

    def test_the_callers_object_stays(self, grid):
        floats = grid.astype(float)
        before = floats.copy(deep=True)
        got = of_cube(floats.isel(prompt=0, sample=0), cluster="doc")
        got.tables[0].scores[:] = -1
        xr.testing.assert_identical(floats, before)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({}, DimensionError, r"which of the dims 'prompt', 'item', 'sample' holds.*item='item'; dims of repeats go"),
            ({"dim": ("item", "sample")}, DimensionError, "which of the dims 'item', 'sample' holds the items"),
            ({"cluster": "doc", "dim": ("item", "model")}, DimensionError, "dim names 'model', along which the systems lie"),
            ({"cluster": "doc", "dim": "epoch"}, DimensionError, "dim='epoch' is not a dim of the scores"),
            ({"cluster": "doc", "dim": "sample"}, DimensionError, "'doc' lies along 'item', none of which is in dim='sample'"),
            ({"cluster": "grader"}, DimensionError, "The cluster 'grader' varies along 'model'"),
            ({"cluster": "judge", "item": "item", "sample": "sample"}, DimensionError, "'judge' varies along 'sample'"),
            ({"cluster": "doc", "item": "sample"}, DimensionError, "does not vary along the items"),
            ({"item": "grader"}, DimensionError, "item='grader' varies along 'model'"),
            ({"item": "model"}, MethodError, "'model' is given both as factor and as item"),
            ({"item": "item", "sample": "qid"}, DimensionError, "sample names 'item', along which the items lie"),
            ({"item": "idem"}, ColumnNotFoundError, "item='idem' is neither a coordinate nor a variable"),
            ({"factor": "doc_by_prompt", "item": "sample"}, DimensionError, "factor='doc_by_prompt' must be a dim"),
            ({"factor": "family", "cluster": "doc", "dim": ...}, PairingError, "one name to several positions along 'model': 'x'"),
            ({"item": "item", "dim": "sample", "averages": False}, MethodError, r"needs one score.*item=\('item', 'sample'\)"),
            ({"cluster": "doc", "unmatched": "keep"}, MethodError, "unmatched='keep'"),
            ({"cluster": "doc", "baseline": "z"}, MethodError, "its levels are 'a', 'b', 'c'"),
        ],
    )  # fmt: skip
    def test_refused(self, grid, options, error, message):
        with pytest.raises(error, match=message):
            of_cube(grid, **options)

    def test_item_labels_that_repeat(self, grid):
        twice = grid.assign_coords(item=[*range(11), 0])
        with pytest.raises(
            PairingError,
            match=r"combinations of 'item', 'model' and 'sample' have two scores or more: 0 of 'a' in prompt='p'",
        ):
            of_cube(twice, cluster="doc", sample="sample")
        with pytest.raises(
            PairingError,
            match=r"'qid' tells them apart|The cluster 'doc' tells them apart.*item=\['doc', 'item'\]",
        ):
            of_cube(twice, cluster="doc", sample="sample")

    def test_item_labels_that_repeat_where_only_one_has_a_score(self, grid):
        twice = grid.astype(float).assign_coords(item=[*range(11), 10])
        twice["score"][:, 0, 10] = np.nan
        twice["score"][:, 1, 11] = np.nan
        got = quiet(of_cube, twice, cluster="doc", sample="sample", nan_policy="omit")
        assert [len(table.scores) for table in got.tables] == [11, 11]
        assert got.repeats == 2

    def test_missing_ids(self, grid):
        lacking = grid.assign_coords(qid=("item", np.array([*"abcdefghijk", None], dtype=object)))
        with pytest.raises(PairingError, match="cells have no item id in 'qid'"):
            of_cube(lacking, item="qid", sample="sample")
        with pytest.raises(MissingClusterError, match="1 of 12 entries of 'qid' are missing"):
            of_cube(lacking, cluster="qid", sample="sample")

    def test_holes(self, grid):
        holes = grid.astype(float)
        holes["score"][0, 0, 3] = np.nan
        with pytest.raises(
            MissingScoreError,
            match="2 of 144 scores in 'score' are missing, at prompt='p', model='a', item=3",
        ):
            of_cube(holes, cluster="doc", sample="sample")
        with pytest.raises(
            PairingError,
            match=r"2 of 2 pairs.*1 of the 24 items of 'b' is not among those of 'a' \(3\), in 1 group\(s\): prompt='p'",
        ):
            of_cube(holes, cluster="doc", sample="sample", nan_policy="omit", baseline="a")
        with (
            pytest.warns(MissingScoreWarning),
            pytest.warns(UnmatchedItemsWarning, match="'a' against 'b' 1 of 24"),
        ):
            of_cube(holes, cluster="doc", sample="sample", nan_policy="omit", unmatched="drop")

    def test_a_system_that_takes_no_part_may_have_holes(self, grid):
        holes = grid.astype(float)
        holes["score"][2] = np.nan
        assert of_cube(holes, cluster="doc", sample="sample", pairs=[("b", "a")]).systems == ["a", "b"]


class TestAnswers:
    """The three methods from end to end, as far as it is a matter of pairing and of shape."""

    def test_graded_scores_are_refused_by_mcnemar(self, rag, cube):
        graded = rag.assign(score=rag["score"] * 0.5)
        with pytest.raises(ScoreRangeError, match=r"414 are neither, such as 0\.5\. diff_ci and compare"):
            graded.evalci.mcnemar("model", item="item")
        with pytest.raises(ScoreRangeError, match=r"such as 0\.5"):
            (cube * 0.5).evalci.mcnemar("model", item="item")

    def test_dtypes_of_the_labels_stay(self, rag):
        frame = rag.astype(
            {"model": pd.CategoricalDtype(["cascade", "x", "boreal", "atlas"]), "template_id": "string"}
        )
        got = quiet(frame.evalci.diff_ci, "model", item="item", by="template_id")
        assert got["model_a"].dtype == got["model_b"].dtype == frame["model"].dtype
        assert got["template_id"].dtype == frame["template_id"].dtype
        assert list(got.columns[:3]) == ["template_id", "model_a", "model_b"]
        assert list(got["model_a"].iloc[:3]) == ["atlas", "atlas", "boreal"]
        assert got.index.equals(pd.RangeIndex(24))

    @pytest.mark.parametrize("method", ["mcnemar", "diff_ci", "compare"])
    @pytest.mark.parametrize(
        "options", [{}, {"baseline": "boreal"}, {"pairs": [("cascade", "atlas")]}, {"cluster": "doc_id"}]
    )
    def test_frame_equals_cube(self, rag, cube, method, options):
        options = options | ({"rng": 1, "n_resamples": 199} if method == "compare" else {})
        want = getattr(rag.evalci, method)("model", item="item", **options)
        got = (
            getattr(cube.evalci, method)("model", **{"item": "item"} | options)
            .to_dataframe()
            .reset_index(drop=True)
        )
        pd.testing.assert_frame_equal(got[list(want.columns)], want, check_dtype=False)
        series = rag.set_index(["model", "item", "doc_id"])["score"]
        pd.testing.assert_frame_equal(
            getattr(series.evalci, method)("model", item="item", **options), want, check_dtype=False
        )
        array = getattr(cube["score"].evalci, method)("model", **{"item": "item"} | options)
        assert set(array.data_vars) == set(want.columns) - {"model_a", "model_b"}

    @pytest.mark.parametrize("method", ["mcnemar", "diff_ci"])
    def test_frame_equals_cube_by_group(self, grid, method):
        flat = grid.isel(sample=0, drop=True)
        want = quiet(
            getattr(flat[["score", "doc"]].to_dataframe().reset_index().evalci, method),
            "model",
            item="item",
            by="prompt",
        )
        got = quiet(getattr(flat.evalci, method), "model", item="item").to_dataframe().reset_index()
        pd.testing.assert_frame_equal(got[list(want.columns)], want, check_dtype=False)

    def test_compare_has_the_most_evidence_first(self, rag):
        got = quiet(rag.evalci.compare, "model", item="item", by="template_id", rng=1, n_resamples=199)
        assert got["pvalue"].is_monotonic_increasing
        assert got.index.equals(pd.RangeIndex(24))
        within = quiet(
            rag.evalci.compare,
            "model",
            item="item",
            by="template_id",
            correction_within="template_id",
            rng=1,
            n_resamples=199,
        )
        assert (within["pvalue_adj"] <= got["pvalue_adj"]).all()
        with pytest.raises(
            MethodError, match=r"correction_within='model' must be among by .*, which are 'template_id'"
        ):
            rag.evalci.compare("model", item="item", by="template_id", correction_within="model")

    def test_same_seed_same_numbers_whatever_the_order_of_rows(self, rag):
        options = {
            "item": "item",
            "cluster": "doc_id",
            "method": "bootstrap_percentile",
            "n_resamples": 199,
            "rng": 3,
        }
        pairs = [("boreal", "atlas"), ("cascade", "atlas")]
        want = quiet(rag.evalci.diff_ci, "model", pairs=pairs, **options)
        got = quiet(rag.sample(frac=1, random_state=1).evalci.diff_ci, "model", pairs=pairs, **options)
        pd.testing.assert_frame_equal(got, want)

    def test_coordinates_that_clash(self, cube):
        with pytest.raises(AmbiguousNameError, match="'pair' would stand twice"):
            quiet(cube.expand_dims(pair=2).evalci.mcnemar, "model", item="item")


class TestRealData:
    @pytest.fixture
    def jailbreaks(self, data_dir):
        rows = pd.read_csv(data_dir / "jailbreakbench.csv")
        return dict(list(rows.groupby("model", observed=True, dropna=False, sort=False)))

    def test_spelling_trap(self, jailbreaks):
        rows = jailbreaks["vicuna-13b-v1.5"]
        call = {"score": "jailbroken", "pairs": [("PAIR", "DSN")]}
        with pytest.raises(
            PairingError,
            match=r"1 of the 100 items of 'PAIR'.*1 item\(s\) of 'DSN' look like items of 'PAIR' but for white space: "
            r"'Human  trafficking' and 'Human trafficking'",
        ):
            rows.evalci.mcnemar("attack", item="behavior", **call)
        with pytest.warns(UnmatchedItemsWarning, match="'PAIR' against 'DSN' 2 of 101"):
            got = rows.evalci.mcnemar("attack", item="behavior", unmatched="drop", **call).iloc[0]
        assert (got["n_pairs"], got["only_a"], got["only_b"]) == (99, 1, 27)
        got = rows.evalci.mcnemar("attack", item="index", **call).iloc[0]
        assert (got["n_pairs"], got["only_a"], got["only_b"]) == (100, 1, 27)

    def test_another_name_for_a_behaviour(self, jailbreaks):
        rows = jailbreaks["gpt-4-0125-preview"]
        call = {"score": "jailbroken", "pairs": [("PAIR", "GCG")]}
        with pytest.raises(
            PairingError, match=r"\('September 11th conspiracy'\).*\('9_11 conspiracy'\)\. Each item"
        ):
            rows.evalci.mcnemar("attack", item="behavior", **call)
        assert rows.evalci.mcnemar("attack", item="index", **call)["pvalue"].item() == pytest.approx(
            6.9e-8, rel=0.01
        )

    def test_ids_that_are_local_to_a_task(self, data_dir):
        rows = pd.read_csv(data_dir / "bbh_codex_cot_direct.csv")
        for cluster in (None, "task"):
            with pytest.raises(
                PairingError,
                match=r"500 of 500 combinations of 'item' and 'mode'.*pass item=\['task', 'item'\]",
            ):
                rows.evalci.diff_ci("mode", item="item", cluster=cluster, score="correct")
        got = rows.evalci.diff_ci(
            "mode", item=["task", "item"], cluster="task", score="correct", method="cr1"
        ).iloc[0]
        assert got["difference"] == pytest.approx(0.216249, abs=1e-6)
        assert (got["n_pairs"], got["n_clusters"]) == (6511, 27)
        assert len(rows.evalci.mcnemar("mode", item="item", by="task", score="correct")) == 27

    def test_templates_in_two_languages(self, data_dir):
        rows = pd.read_csv(data_dir / "gsm_symbolic_en_da.csv").query("model == 'Llama-3.1-70B'")
        with pytest.raises(
            PairingError, match=r"'variant' tells them apart\. If 'variant' numbers repeats.*sample='variant'"
        ):
            rows.evalci.compare("lang", item="template", score="correct")
        got = rows.evalci.diff_ci("lang", item="template", sample="variant", score="correct").iloc[0]
        assert (got["n_pairs"], got["method"]) == (100, "cr2")
        with (
            pytest.warns(SharedKeyWarning),
            pytest.warns(UnmatchedItemsWarning, match="'eng' against 'dan' 124 of 2099"),
        ):
            got = rows.evalci.mcnemar(
                "lang", item=["template", "variant"], score="correct", unmatched="drop", baseline="dan"
            ).iloc[0]
        assert (got["n_pairs"], got["only_a"], got["only_b"]) == (1975, 365, 284)
        assert got["pvalue"] == pytest.approx(0.0016673107, abs=1e-9)


def test_columns_are_as_decided():
    pair = ("estimate_a", "estimate_b", "difference")
    assert all(
        columns[:3] == pair
        for columns in (methods.MCNEMAR_COLUMNS, methods.DIFF_COLUMNS, methods.COMPARE_COLUMNS)
    )
