"""
Questions about the same documents
==================================

A search assistant was asked about the documents of a wiki, a few questions to each. Where a
document was cut up badly, or is not found, all of its questions go wrong together. How sure are
we of its rate?

The data come with the package, and are made: three models, the same questions for each.
"""

import sys
import textwrap

import matplotlib.pyplot as plt
import pandas as pd

from evalci_accessor import datasets

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
df = datasets.load_rag_eval()
print(df[["model", "item", "doc_id", "template_id", "conversation_id", "score"]].head(3))

# %%
# What makes questions alike? Every column that repeats its values is tried, for one model; the
# worst stands first. ``width_ratio`` says how many times too narrow the interval for
# independent questions is.

atlas = df[df["model"] == "atlas"].drop(columns="model")
columns = ["cluster", "icc", "design_effect", "width_ratio", "n_eff", "n", "n_clusters"]
print("\nWhat makes them alike", atlas.evalci.design_effect()[columns], sep="\n")

# %%
# It is the document. This is how it looks: each step is a document, as high as its rate. Of
# independent questions it would seldom happen that all to one document are wrong.

atlas.evalci.plot.clusters("doc_id", title="atlas, document by document")

# %%
# So the honest interval counts documents.

naive = df.evalci.proportion_ci(by="model")
honest = df.evalci.cluster_ci("doc_id", by="model")
columns = ["model", "estimate", "ci_low", "ci_high", "n", "n_clusters", "n_eff"]
print("\nNaive: every question counts", naive[columns], sep="\n")
print("\nHonest: questions about documents", honest[columns], sep="\n")

# %%
# The sentence for the report, and the picture: thick is the honest interval.

report = df.evalci.report("doc_id", by="model", nouns=("questions", "documents"))
print("", textwrap.fill(report.sentence, 96), sep="\n")

honest.evalci.plot.forest(naive=naive, title="Right answers, and how sure they are")
if sys.argv[-1].endswith(".png"):  # python examples/rag_by_document.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
