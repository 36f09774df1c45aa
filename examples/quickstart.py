"""Naive and honest intervals side by side, as a frame and as a cube, and what it is that clusters the scores.

Run with ``python examples/quickstart.py``. The data are made: three models, 200 questions, five to each of 40 documents.
"""

import pandas as pd

import evalci_accessor

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)


def main() -> None:
    df = evalci_accessor.datasets.load_rag_eval()
    print("One row a score:\n")
    print(df[["model", "item", "doc_id", "conversation_id", "template_id", "score"]].head(3).to_string(index=False))

    naive = df.evalci.proportion_ci(by="model").set_index("model")
    honest = df.evalci.cluster_ci("doc_id", by="model").set_index("model")
    print("\n1. A frame. Naive: the questions are independent. Honest: those about one document hang together.\n")
    side_by_side = pd.DataFrame(
        {
            "estimate": naive["estimate"],
            "naive": interval(naive),
            "honest": interval(honest),
            "wider": (width(honest) / width(naive)).map("{:.2f} times".format),
            "n": honest["n"],
            "n_clusters": honest["n_clusters"],
            "n_eff": honest["n_eff"].round().astype(int),
        }
    )
    print(side_by_side)

    cube = evalci_accessor.datasets.load_rag_eval_cube()
    print(f"\n2. A cube with the dims {dict(cube['score'].sizes)}. The same numbers, over the dims that are left.\n")
    naive_cube = cube.evalci.proportion_ci(dim="item")
    honest_cube = cube.evalci.cluster_ci("doc_id")
    limits = {
        f"{kind}_{limit}": answer[f"ci_{limit}"]
        for kind, answer in (("naive", naive_cube), ("honest", honest_cube))
        for limit in ("low", "high")
    }
    print(honest_cube[["estimate"]].assign(limits).assign(honest_cube[["n", "n_clusters"]]).to_dataframe()[
        ["estimate", *limits, "n", "n_clusters"]
    ])  # fmt: skip

    print("\n3. What clusters them? Every column that repeats its values, the worst first, for the first model.")
    print("   width_ratio: how many times too narrow the naive interval is.\n")
    first = df[df["model"] == "atlas"].drop(columns="model")
    columns = ["cluster", "icc", "icc_low", "icc_high", "design_effect", "width_ratio", "n_eff", "n", "n_clusters"]
    print(first.evalci.design_effect()[columns].round(2).to_string(index=False))

    print("\n4. Is one better than another? All pairs on the same questions, which doc_id clusters; p adjusted.\n")
    pairs = df.evalci.compare("model", item="item", cluster="doc_id", rng=2026)
    columns = ["model_a", "model_b", "difference", "ci_low", "ci_high", "pvalue_adj", "n_pairs", "n_clusters"]
    print(pairs[columns].round(3).to_string(index=False))


def interval(answer: pd.DataFrame) -> pd.Series:
    """Limits as text."""
    return "[" + answer["ci_low"].map("{:.3f}".format) + ", " + answer["ci_high"].map("{:.3f}".format) + "]"


def width(answer: pd.DataFrame) -> pd.Series:
    """Width of the intervals."""
    return answer["ci_high"] - answer["ci_low"]


if __name__ == "__main__":
    main()
