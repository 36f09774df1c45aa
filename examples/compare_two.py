"""Is the new system better than the old one? Where they disagree, a test, a release gate, and a sentence for the report.

Run with ``python examples/compare_two.py``. The data are made: two systems, 84 questions, seven to each of 12 documents.
"""

import textwrap

import numpy as np
import pandas as pd

import evalci_accessor

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)


def main() -> None:
    df = made_results()
    print("1. Where they disagree is the evidence. Questions that only one of the two got right, by document:\n")
    print(disagreement(df).to_string())

    print("\n2. Do they differ? First as if the questions were independent, then with what they share.\n")
    plain = df.evalci.mcnemar("system", item="question", pairs=[("new", "old")])
    honest = df.evalci.mcnemar("system", item="question", cluster="document", pairs=[("new", "old")])
    columns = ["difference", "both_pass", "only_a", "only_b", "both_fail", "n_clusters", "pvalue", "method"]
    print(pd.concat([plain, honest], ignore_index=True)[columns].round(3).to_string(index=False))

    print("\n3. By how much, and is it enough? Better, better by more than 5 points, not worse by more than 2.\n")
    claims = [
        df.evalci.diff_ci("system", item="question", cluster="document", pairs=[("new", "old")], margin=margin, claim=claim)
        for margin, claim in ((None, "superiority"), (0.05, "superiority"), (0.02, "noninferiority"))
    ]
    columns = ["difference", "ci_low", "ci_high", "claim", "margin", "verdict", "pvalue_verdict"]
    print(pd.concat(claims, ignore_index=True)[columns].round(3).to_string(index=False))

    print("\n4. For the report:\n")
    print(textwrap.fill(sentence(claims[0].iloc[0]), 96, break_on_hyphens=False))


def disagreement(df: pd.DataFrame) -> pd.DataFrame:
    """By document: its questions, those that only one system got right, and the difference, with a last row of totals."""
    wide = df.pivot(index=["document", "question"], columns="system", values="score")
    counts = pd.DataFrame(
        {"questions": 1, "only new": wide["new"] > wide["old"], "only old": wide["old"] > wide["new"]}, index=wide.index
    )
    table = counts.groupby("document").sum()
    table.loc["all"] = table.sum()
    table["difference"] = ((table["only new"] - table["only old"]) / table["questions"]).round(3)
    return table


def sentence(row: pd.Series) -> str:
    """What a reader needs, from one row of the answer."""
    p = "p < .001" if row["pvalue"] < 0.001 else f"p = {row['pvalue']:.3f}"
    return (
        f"{row['system_a']} was right on {row['estimate_a']:.1%} of {row['n_pairs']} questions and {row['system_b']} on "
        f"{row['estimate_b']:.1%}: a difference of {100 * row['difference']:+.1f} points ({row['confidence_level']:.0%} interval "
        f"{100 * row['ci_low']:+.1f} to {100 * row['ci_high']:+.1f}, {p}). They disagreed on "
        f"{row['only_a'] + row['only_b']} questions, of which {row['system_a']} alone got {row['only_a']} right and "
        f"{row['system_b']} alone {row['only_b']}. The questions are clustered by {row['n_clusters']} documents; method "
        f"{row['method']}, evalci-accessor {evalci_accessor.__version__}."
    )


def made_results() -> pd.DataFrame:
    """Some documents suit the new system for most of their questions, some the old one."""
    rng = np.random.default_rng(8)
    document = np.repeat(np.arange(12), 7)
    ease = rng.normal(0.4, 0.8, size=84)
    suits = rng.normal(0.6, 0.7, size=12)[document]
    systems = {"new": ease + suits + rng.normal(size=84) > 0, "old": ease + rng.normal(size=84) > 0}
    return pd.DataFrame(
        {
            "system": np.repeat(list(systems), 84),
            "question": np.tile(np.arange(84), 2),
            "document": [f"doc-{d:02d}" for d in np.tile(document, 2)],
            "score": np.concatenate(list(systems.values())).astype(int),
        }
    )


if __name__ == "__main__":
    main()
