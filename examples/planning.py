"""
How big must the next evaluation be?
====================================

A pilot asked two models the same questions, several to a document. The next run shall find a
difference, if there is one. Are more questions enough, or does it take more documents?

The data come with the package, and are made.
"""

import sys
import textwrap
import warnings

import matplotlib.pyplot as plt
import pandas as pd

from evalci_accessor import datasets

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
df = datasets.load_rag_eval()
print(f"The pilot: {df['item'].nunique()} questions about {df['doc_id'].nunique()} documents.")

pair = {"item": "item", "pairs": [("boreal", "atlas")]}
goal = {"difference": 0.08, "power": 0.8}

# %%
# If questions were independent, this many of them would do:

naive = df.evalci.required_clusters(factor="model", **pair, **goal).iloc[0]
print(f"\nNaive: {naive['n_items']} questions, whatever they are about.")

# %%
# They are not. In the pilot's documents no number of questions is enough, which a warning says.
# So the plan is in documents, and a range, since the pilot tells the correlation only roughly.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    plan = df.evalci.required_clusters(
        factor="model", **pair, **goal, cluster="doc_id", items_per_cluster=[5, 20]
    )
columns = ["items_per_cluster", "n_clusters_low", "n_clusters", "n_clusters_high", "n_items"]
print("\nHonest: that many documents", plan[columns], sep="\n")
for warning in caught:
    message = f"{warning.category.__name__}: {warning.message}"
    print(textwrap.fill(message, 96, subsequent_indent="  "))

# %%
# What the pilot itself could find, with the same power:

least = df.evalci.mde("model", **pair, power=goal["power"], cluster="doc_id").iloc[0]
low, found, high = (100 * least[x] for x in ("mde_low", "mde", "mde_high"))
print(f"\nThe pilot could find {found:.0f} points (between {low:.1f} and {high:.1f}).")

# %%
# More samples of each task? Programs by two models, with as many repositories as in their
# pilot, and with twice as many:

code = datasets.load_code_eval()
samples = code.evalci.power(
    "model", item="item", cluster="repo_id", sample="sample", difference=0.1, method="cr2",
    n_samples=[1, 4, 16], n_clusters=[20, 40],
)  # fmt: skip
columns = ["n_samples", "n_clusters", "n_items", "power_low", "power", "power_high"]
print("\nSamples or repositories?", samples[columns], sep="\n")

# %%
# The power over the number of documents; the bands are what the pilot leaves open. These two
# rows have the same number of questions:

curve = df.evalci.power(
    "model", **pair, difference=goal["difference"], cluster="doc_id",
    n_clusters=[20, 40, 80, 120, 160], items_per_cluster=[5, 20],
)  # fmt: skip
columns = ["items_per_cluster", "n_clusters", "n_items", "power_low", "power", "power_high"]
print("\nQuestions or documents?", curve.loc[curve["n_items"] == 800, columns], sep="\n")
curve.evalci.plot.power(title=f"Power to find {100 * goal['difference']:.0f} points")
if sys.argv[-1].endswith(".png"):  # python examples/planning.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
