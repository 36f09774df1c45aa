"""Warnings of two systems on the same items: when they fire, whom they name, where they point, and that benign data raise none."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from strategies import GRADED, QUESTIONS, pair_frame, question_id

from evalci_accessor import exceptions as ex

each_name = pytest.mark.parametrize("name", ["mcnemar", "diff_ci", "compare"])

# 40 clusters of 5, with both kinds of discordant items all over: nothing to warn of.
BENIGN = {
    "both": [2] * 40,
    "only_a": [1, 0, 2, 0] * 10,
    "only_b": [0, 1, 0, 1] * 10,
    "neither": [2, 2, 1, 2] * 10,
}


def benign(**columns):
    return pair_frame(**BENIGN, **columns)


def caught(function, *args, **kwargs):
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function(*args, **kwargs)
    return seen


def only(seen, category):
    """The text of the one warning of a class."""
    (found,) = [w for w in seen if w.category is category]
    return str(found.message)


def ask(frame, name, **options):
    options = {"item": "item"} | options
    if name == "compare" or options.get("method") == "bootstrap_percentile":
        options |= {"n_resamples": 400, "rng": 1}
    return getattr(frame.evalci, name)("model", **options)


CR1, BOOT = {"method": "cr1"}, {"method": "bootstrap_percentile"}
FLIP, ASYMPTOTIC = {"method": "sign_flip"}, {"method": "asymptotic"}

# name: (cells, options, methods of the accessor, class, text after the names of groups and systems)
CASES = {
    "few": (([2] * 4, [1, 2, 0, 1], [0, 1, 1, 0], [2, 0, 2, 2]), {"cluster": "doc"}, "mdc", ex.FewClustersWarning,
            r"few clusters of 'doc' \(4\), so the answer leans on the prior of the ICC of the differences\."),
    "few, unequal": (([30] + [2] * 5, [9, 1, 1, 1, 1, 1], [5, 1, 0, 1, 1, 1], 2), {"cluster": "doc"}, "mdc", ex.FewClustersWarning,
                     r"few clusters of 'doc' \(\d\.\d effective of 6\), so"),
    "few, cr1": (([2] * 4, [1, 2, 0, 1], [0, 1, 1, 0], [2, 0, 2, 2]), {"cluster": "doc", **CR1}, "dc", ex.FewClustersWarning,
                 r"few clusters of 'doc' \(4\), where this method is unreliable; the default is made for few clusters\."),
    "dominant": (([60] + [2] * 39, [20] + [1, 0, 2] * 13, [9] + [0, 1, 0] * 13, [1] + [2, 2, 1] * 13), {"cluster": "doc"}, "mdc",
                 ex.DominantClusterWarning, r"one cluster of 'doc' holds over a quarter .*\(0 with 31\.6% of the items\)"),
    "single": ((15, [1] * 9, [0] * 9, 0), {"cluster": "item"}, "mdc", ex.SingletonClusterWarning,
               "every cluster of 'item' holds one item, so the items count as independent"),
    "flat": (([0] * 35, [2] * 35, 0, 0), {"cluster": "doc", **CR1}, "dc", ex.EffectiveSizeWarning,
             "the differences do not vary, which is no certainty"),
    "bootstrap": ((BENIGN["both"][:20], BENIGN["only_a"][:20], BENIGN["only_b"][:20], 2), {"cluster": "doc", **BOOT}, "dc",
                  ex.BootstrapWarning, r"a percentile bootstrap of \S+ effective clusters is known to be too narrow"),
    "bootstrap of items": ((10, 9, 7, 3), BOOT, "dc", ex.BootstrapWarning, "a percentile bootstrap of 29 items is known to be"),
    "equal": ((10, 0, 0, 12), {}, "mdc", ex.FewDiscordantWarning, "the systems have the same score on all 22 items"),
    "few items": ((10, 3, 1, 12), {}, "mdc", ex.FewDiscordantWarning,
                  r"the systems differ on 4 of 26 items, so hardly anything can be told\."),
    "few items, asymptotic": ((10, 14, 10, 12), ASYMPTOTIC, "m", ex.FewDiscordantWarning,
                              r"the systems differ on 24 of 46 items, too few for a normal.*; use method='exact' or 'midp'\."),
    "few clusters differ": (([3] * 40, [1] * 4 + [0] * 36, 0, 1), {"cluster": "doc"}, "mdc", ex.FewDiscordantWarning,
                            "only 4 clusters of 'doc' favour one of the systems, so one more could change the answer"),
    "sign flip": (([3] * 40, [1] * 5 + [0] * 35, 0, 1), {"cluster": "doc", **FLIP}, "m", ex.FewDiscordantWarning,
                  r"5 clusters of 'doc' favour one of the systems, and a sign-flip test cannot give a two-sided p below 0\.0625"),
}  # fmt: skip
METHODS = {"m": "mcnemar", "d": "diff_ci", "c": "compare"}
EACH = [(case, METHODS[letter]) for case in CASES for letter in CASES[case][2]]
each_case = pytest.mark.parametrize(("case", "name"), EACH, ids=[f"{case}-{name}" for case, name in EACH])


def crafted(case):
    cells, options, _, category, text = CASES[case]
    return pair_frame(*cells), options, category, text


@each_case
def test_fires(case, name):
    frame, options, category, text = crafted(case)
    seen = caught(ask, frame, name, **options)
    about_pair = category in (ex.FewDiscordantWarning, ex.EffectiveSizeWarning, ex.BootstrapWarning)
    assert re.match(("'A' against 'B': " if about_pair else "") + text, only(seen, category))
    assert len({w.category for w in seen}) == len(seen)


@each_case
def test_names_the_group(case, name):
    frame, options, category, text = crafted(case)
    both = pd.concat([frame.assign(lang="en"), benign(lang="da")], ignore_index=True)
    if options.get("cluster") == "item":
        both.loc[both["lang"] == "da", "item"] = both["doc"] // 2  # two items each
        both["item2"] = both.groupby(["lang", "model"]).cumcount()
        options = options | {"item": "item2"}
    message = only(caught(ask, both, name, by="lang", **options), category)
    about_pair = category in (ex.FewDiscordantWarning, ex.EffectiveSizeWarning, ex.BootstrapWarning)
    assert re.match(("'A' against 'B' in lang='en': " if about_pair else "lang='en': ") + text, message)


@each_case
def test_many_pairs_share_one_warning(case, name):
    frame, options, category, _ = crafted(case)
    many = pd.concat([frame.assign(lang=f"l{h}") for h in range(7)], ignore_index=True)
    seen = caught(ask, many, name, by="lang", **options)
    assert len({w.category for w in seen}) == len(seen)
    message = only(seen, category)
    first = "; ".join(f"'A' against 'B' in lang='l{h}'" for h in range(5))
    groups = "; ".join(f"lang='l{h}'" for h in range(5))
    assert message.startswith(
        (f"7 of 7 pairs ({first} and 2 more): ", f"7 of 7 groups ({groups} and 2 more): ")
    )


@each_case
def test_points_at_the_callers_line(case, name):
    frame, options, category, _ = crafted(case)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        getattr(frame.evalci, name)("model", item="item", **options)
    assert category in {w.category for w in seen}
    assert {w.filename for w in seen} == {__file__}
    assert len({w.lineno for w in seen}) == 1


@each_case
def test_a_cube_and_a_series_say_the_same(case, name):
    frame, options, category, _ = crafted(case)
    cube = frame.set_index(["model", "item"])["score"].to_xarray().to_dataset(name="score")
    cube = cube.assign_coords(doc=("item", frame["doc"][: len(frame) // 2].to_numpy()))
    series = frame.set_index(["model", "item", "doc"])["score"]
    expected = only(caught(ask, frame, name, **options), category)
    for obj in (cube, cube["score"], series):
        seen = caught(ask, obj, name, **options)
        assert only(seen, category) == expected
        assert {w.filename for w in seen} == {__file__}


@pytest.mark.parametrize(
    ("cells", "options", "name", "category"),
    [
        (
            ([2] * 5, [1, 2, 0, 1, 1], [1, 1, 1, 0, 1], [1, 0, 2, 2, 1]),
            {"cluster": "doc"},
            "mcnemar",
            ex.FewClustersWarning,
        ),
        (
            ([10] + [2] * 12, [3] + [1] * 12, [3] + [1] * 12, 0),
            {"cluster": "doc"},
            "mcnemar",
            ex.DominantClusterWarning,
        ),
        (([3] * 40, [1] * 5 + [0] * 35, 0, 1), {"cluster": "doc"}, "diff_ci", ex.FewDiscordantWarning),
        (
            ([3] * 40, [1] * 6 + [0] * 34, 0, 1),
            {"cluster": "doc", **FLIP},
            "mcnemar",
            ex.FewDiscordantWarning,
        ),
        ((10, 4, 2, 12), {}, "mcnemar", ex.FewDiscordantWarning),
        ((10, 14, 11, 12), ASYMPTOTIC, "mcnemar", ex.FewDiscordantWarning),
        ((10, 9, 8, 3), BOOT, "diff_ci", ex.BootstrapWarning),
        ((0, 1, [1] + [0] * 34, 0), {"cluster": "doc", **CR1}, "diff_ci", ex.EffectiveSizeWarning),
        ((2, 0, 0, [0] * 34 + [1]), {"cluster": "doc"}, "mcnemar", ex.SingletonClusterWarning),
    ],
)
def test_stays_quiet_just_short_of_the_threshold(cells, options, name, category):
    assert category not in {w.category for w in caught(ask, pair_frame(*cells), name, **options)}


@pytest.mark.parametrize("method", ["sign_flip", "icc_averaged"])
def test_differences_that_cancel_within_every_cluster(method):
    """There are discordant items, but no cluster takes a side: p is 1, and what is said must make sense."""
    frame = pair_frame([1] * 12, [1] * 12, [1] * 12, 1)
    seen = caught(ask, frame, "mcnemar", cluster="doc", method=method)
    for w in seen:
        assert "p below 2" not in str(w.message)
        assert "systems differ in 0 cluster" not in str(w.message)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.EvalCIWarning)
        assert ask(frame, "mcnemar", cluster="doc", method=method)["pvalue"].item() == 1


@each_name
class TestLeftOut:
    def test_unmatched_items(self, name):
        frame = benign().drop(index=[0, 1, 399])
        with pytest.warns(ex.UnmatchedItemsWarning, match="'A' against 'B' 3 of 200") as seen:
            ask(frame, name, unmatched="drop")
        assert [w.category for w in seen] == [ex.UnmatchedItemsWarning]
        message = str(seen[0].message)
        assert re.search("1 .*only in 'A'.*199", message)
        assert re.search("2 .*only in 'B'.*0, 1", message)
        assert seen[0].filename == __file__

    def test_missing_scores(self, name):
        frame = benign()
        frame["score"] = frame["score"].mask(frame["item"] < 2)
        with pytest.warns(
            ex.MissingScoreWarning, match="Missing scores were left out: 2 of 'A', 2 of 'B'"
        ) as seen:
            ask(frame, name, nan_policy="omit")
        assert [w.category for w in seen] == [ex.MissingScoreWarning]
        assert seen[0].filename == __file__

    def test_a_missing_score_that_takes_the_partner_along(self, name):
        frame = benign()
        frame["score"] = frame["score"].mask(frame.index == 0)
        seen = caught(ask, frame, name, nan_policy="omit", unmatched="drop")
        assert "score is missing" in only(seen, ex.UnmatchedItemsWarning)
        assert "1 of 'A'" in only(seen, ex.MissingScoreWarning)

    def test_lookalikes_among_the_left_out(self, name):
        frame = benign().assign(item=lambda d: "q" + d["item"].astype(str))
        frame.loc[200, "item"] = "Q0"
        with pytest.warns(
            ex.UnmatchedItemsWarning,
            match=r"1 item\(s\) of 'B' look like items of 'A' but for case: 'Q0' and 'q0'",
        ):
            ask(frame, name, unmatched="drop")


def test_scores_that_mark_a_failed_run():
    frame = benign().assign(score=lambda d: d["score"] * 9.5 + 0.5)
    assert not caught(ask, frame, "diff_ci", cluster="doc")
    frame.loc[[5, 6, 207], "score"] = -1
    for name in ("diff_ci", "compare"):
        message = only(caught(ask, frame, name, cluster="doc"), ex.SentinelScoreWarning)
        assert message.startswith("3 score(s) are -1 while all others are 0 or more")


def test_rates_in_percent():
    frame = benign()
    percent = frame.assign(score=100.0 * frame["score"])
    for name in ("diff_ci", "compare"):
        assert "Divide the scores by 100" in only(
            caught(ask, percent, name, cluster="doc"), ex.PercentScoreWarning
        )
        assert not caught(ask, frame, name, cluster="doc")
        assert not caught(ask, percent.assign(score=percent["score"].clip(upper=99)), name, cluster="doc")


def test_ids_that_look_alike():
    frame = benign()
    alike = frame.assign(doc=("d" + frame["doc"].astype(str)).replace({"d1": "d0 "}))
    with pytest.warns(ex.ClusterIdWarning, match="'d0' and 'd0 '") as seen:
        ask(alike, "diff_ci", cluster="doc")
    assert seen[0].filename == __file__
    third = pd.concat([frame, frame[frame["model"] == "A"].assign(model="A ")], ignore_index=True)
    with pytest.warns(ex.ClusterIdWarning, match="'A' and 'A '"):
        ask(third, "mcnemar", pairs=[("A", "B")])


@each_name
def test_items_that_share_a_part_of_their_id(name):
    """Ids of a cluster and a number within it, and no cluster named."""
    frame = benign().assign(i=lambda d: d["item"] % 5)
    message = only(caught(ask, frame, name, item=["doc", "i"]), ex.SharedKeyWarning)
    assert message.startswith("The 200 items are told apart by 'doc' (40 values) and 'i' (5 values)")
    assert "cluster='doc'" in message
    assert not caught(ask, frame, name, item=["doc", "i"], cluster="doc")
    assert not caught(ask, frame, name, item=["doc", "item"])  # the second is an id of its own
    # Within a document nothing is shared, and cluster="doc" would be a single cluster.
    assert ex.SharedKeyWarning not in {
        w.category for w in caught(ask, frame, name, item=["doc", "i"], by="doc")
    }
    cube = frame.set_index(["model", "doc", "i"])["score"].to_xarray()
    assert only(caught(ask, cube, name, item=["doc", "i"]), ex.SharedKeyWarning) == message


@pytest.mark.parametrize("name", ["diff_ci", "compare"])
def test_percent_beside_fractions(name):
    rng = np.random.default_rng(0)
    frame = benign().assign(score=lambda d: rng.random(len(d)))
    assert not caught(ask, frame, name)
    assert not caught(ask, frame.assign(score=frame["score"] * 100), name)
    mixed = frame.assign(score=frame["score"].where(frame["model"] == "A", frame["score"] * 100))
    message = only(caught(ask, mixed, name), ex.MixedScaleWarning)
    assert "such as 'A', do not go above 1" in message
    assert "such as 'B', go up to 99." in message


@pytest.mark.parametrize("name", ["diff_ci", "compare"])
def test_more_repeats_of_an_item_under_one_system(name):
    rng = np.random.default_rng(0)
    frame = pd.concat([benign().assign(sample=k, score=rng.random(400)) for k in range(3)], ignore_index=True)
    assert not caught(ask, frame, name, sample="sample")
    cut = frame[(frame["sample"] < 2) | (frame["item"] > 3) | (frame["model"] == "A")]
    message = only(caught(ask, cut, name, sample="sample"), ex.UnmatchedItemsWarning)
    assert message.startswith(
        "4 of 200 items have more repeats under one system than under another, such as 0: 3 of 'A', 2 of 'B'."
    )
    fewer = frame[(frame["sample"] < 2) | (frame["item"] > 3)]  # of both alike
    assert not caught(ask, fewer, name, sample="sample")


def test_only_pairs_that_were_asked_for_are_warned_of():
    twin = benign()
    frame = pd.concat([twin, twin[twin["model"] == "A"].assign(model="C")], ignore_index=True)
    for name in METHODS.values():
        message = only(caught(ask, frame, name, cluster="doc"), ex.FewDiscordantWarning)
        assert message.startswith("'A' against 'C': the systems have the same score on all 200 items")
        assert not caught(ask, frame, name, cluster="doc", pairs=[("A", "B"), ("C", "B")])


@pytest.mark.parametrize("question", QUESTIONS, ids=question_id)
def test_benign_data_raise_none(question):
    name, options = question
    frame = pd.concat([benign(lang="en"), benign(lang="da")], ignore_index=True)
    assert not caught(ask, frame, name, by="lang", **options)
    assert not caught(
        ask, frame.query("lang == 'en'").set_index(["model", "item", "doc"])["score"], name, **options
    )


@pytest.mark.parametrize("question", GRADED, ids=question_id)
def test_benign_graded_scores_raise_none(question):
    name, options = question
    rng = np.random.default_rng(0)
    frame = benign().assign(score=lambda d: rng.random(len(d)))
    assert not caught(ask, frame, name, **options)
    twice = pd.concat(
        [frame.assign(sample=0), frame.assign(sample=1, score=rng.random(len(frame)))], ignore_index=True
    )
    assert not caught(ask, twice, name, sample="sample", **options)


def test_all_warnings_can_be_turned_off_at_once():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ex.EvalCIWarning)
        for case in CASES:
            frame, options, _, _ = crafted(case)
            ask(frame, METHODS[CASES[case][2][0]], **options)
