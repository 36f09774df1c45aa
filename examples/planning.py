"""How big must the next eval be? More documents, more questions or more samples, from a pilot and what it does not know.

Run with ``python examples/planning.py``.
"""

import textwrap
import warnings

import pandas as pd

from evalci_accessor import datasets

pd.set_option("display.width", 100, "display.max_columns", 20)


def main() -> None:
    df = datasets.load_rag_eval()
    atlas = df[df["model"] == "atlas"]
    now = atlas.evalci.cluster_ci("doc_id").iloc[0]
    print(
        f"The pilot: {now['estimate']:.1%} right, interval {now['ci_low']:.1%} to {now['ci_high']:.1%}, "
        f"from {now['n']} questions to {now['n_clusters']} documents."
    )

    title("1. One rate: how wide would the interval be?")
    plan = atlas.evalci.half_width("doc_id", n_clusters=[40, 160], items_per_cluster=[5, 20], n_sims=40)
    for row in plan.itertuples():
        bar = "." * round(200 * row.half_width_low) + "=" * round(200 * (row.half_width_high - row.half_width_low))
        print(
            f"{row.n_clusters:4} documents of {row.items_per_cluster:2.0f}, {row.n_items:4} questions: "
            f"+/- {row.half_width:.3f}  {bar}"
        )
    print("(= from the lower to the upper limit of the ICC that the pilot allows)")

    title("2. How many documents for +/- 5 points?")
    need = told(
        lambda: atlas.evalci.required_clusters(cluster="doc_id", half_width=0.05, items_per_cluster=[5, 20], n_sims=40)
    )
    show(need[["items_per_cluster", "n_clusters_low", "n_clusters", "n_clusters_high", "n_items", "half_width_limit"]])

    title("3. Two systems: how many documents to find 8 points, with a power of .8?")
    pair = {"item": "item", "cluster": "doc_id", "pairs": [("boreal", "atlas")]}
    need = told(lambda: df.evalci.required_clusters("model", difference=0.08, items_per_cluster=[5, 20], **pair))
    show(
        need[["items_per_cluster", "disagreement", "icc", "n_clusters_low", "n_clusters", "n_clusters_high", "power_limit"]]
    )
    least = df.evalci.mde("model", **pair).iloc[0]
    print(f"The pilot's own size finds {100 * least['mde']:.0f} points ({least['mde_low']:.3f} to {least['mde_high']:.3f}).")

    title("4. Or more samples of each task? (programs: 20 repositories of 4 tasks)")
    code = datasets.load_code_eval()
    ask = {"item": "item", "cluster": "repo_id", "sample": "sample", "difference": 0.1, "method": "cr2"}
    show(code.evalci.power("model", n_samples=[1, 4, 16], n_clusters=[20, 40], **ask)[
        ["n_samples", "n_clusters", "n_items", "power_low", "power", "power_high", "item_icc"]
    ])  # fmt: skip


def title(words: str) -> None:
    print(f"\n{words}\n{'-' * len(words)}")


def show(table: pd.DataFrame) -> None:
    print(table.round(3).to_string(index=False))


def told(call) -> pd.DataFrame:
    """The answer, with its warnings printed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = call()
    for warning in caught:
        print(
            textwrap.fill(f"{warning.category.__name__}: {warning.message}", 96, initial_indent="! ", subsequent_indent="  ")
        )
    return answer


if __name__ == "__main__":
    main()
