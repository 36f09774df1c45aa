"""
Quickstart: the naive and the honest interval
=============================================

Both intervals side by side, from a frame and from a cube; what it is that clusters the scores;
and whether one model is better than another. This script draws nothing, and needs no more than
the package itself.

The data come with the package, and are made: three models, the same questions for each, several
to a document.
"""

import pandas as pd

from evalci_accessor import datasets

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
df = datasets.load_rag_eval()
print(df[["model", "item", "doc_id", "template_id", "conversation_id", "score"]].head(3))

# %%
# A frame. Naive: the questions are independent. Honest: those about one document hang together.
# ``by`` names what is kept.

naive = df.evalci.proportion_ci(by="model").set_index("model")
honest = df.evalci.cluster_ci("doc_id", by="model").set_index("model")
table = pd.DataFrame({"estimate": honest["estimate"]})
table["naive_lo"], table["naive_hi"] = naive["ci_low"], naive["ci_high"]
table["honest_lo"], table["honest_hi"] = honest["ci_low"], honest["ci_high"]
table["n"], table["n_clusters"] = honest["n"], honest["n_clusters"]
print("\nA frame, clustered by doc_id", table.reset_index().to_string(index=False), sep="\n")

# %%
# A cube. The same numbers, over the dims that are left. ``dim`` names what is reduced; with a
# cluster it need not be said.

cube = datasets.load_rag_eval_cube()
answer = cube.evalci.cluster_ci("doc_id")
print("\nA cube", dict(cube["score"].sizes), "->", dict(answer.sizes), "clustered by doc_id")
print(answer[["estimate", "ci_low", "ci_high", "n", "n_clusters"]].to_dataframe())

# %%
# What clusters them? Every column that repeats its values, the worst first, for one model.
# ``width_ratio`` says how many times too narrow the naive interval is.

atlas = df[df["model"] == "atlas"].drop(columns="model")
columns = ["cluster", "icc", "icc_low", "icc_high", "width_ratio", "n_eff", "n", "n_clusters"]
print(
    "\nWhat clusters them?", atlas.evalci.design_effect()[columns].to_string(index=False), sep="\n"
)

# %%
# Is one better than another? All pairs, on the same questions; p-values are corrected for their
# number.

pairs = df.evalci.compare("model", item="item", cluster="doc_id", rng=2026)
columns = ["model_a", "model_b", "difference", "ci_low", "ci_high", "pvalue_adj", "n_pairs"]
columns += ["n_clusters", "cluster"]
shown = pairs[columns].rename(columns={"pvalue_adj": "p_adj"})
print("\nIs one better?", shown.to_string(index=False), sep="\n")
for row in pairs.itertuples():
    found = "differ" if row.pvalue_adj < 0.05 else "cannot be told apart"
    print(f"\n{row.model_a} and {row.model_b} {found}", end="")
    print(f" (p = {row.pvalue_adj:.3f}, {row.n_clusters} documents)", end="")
print()
