"""
Few clusters, and nothing that went wrong
=========================================

Nothing failed in a safety test; everything was right in a pilot; two repositories differ like
day and night. What may be said, when the runs come from a handful of families, documents or
repositories?

The data are made: small tables, written down here.
"""

import sys
import textwrap
import warnings

import matplotlib.pyplot as plt
import pandas as pd

import evalci_accessor  # noqa: F401  (registers .evalci)

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
counts = pd.DataFrame(
    [("no run failed", f"family-{i}", 0, 8) for i in range(5)]
    + [("no run failed", f"family-{i}", 0, 7) for i in range(5, 9)]
    + [("all right", f"doc-{i}", 5, 5) for i in range(4)]
    + [("two repositories", "first", 10, 10), ("two repositories", "second", 4, 10)],
    columns=["case", "source", "passed", "runs"],
)
for case, part in counts.groupby("case", sort=False):
    print(f"{case:18}", ", ".join(f"{c.passed} of {c.runs}" for c in part.itertuples()))

df = counts.loc[counts.index.repeat(counts["runs"])].copy()
df["score"] = (df.groupby(level=0).cumcount() < df["passed"]).astype(int)

# %%
# Three answers. ``proportion_ci`` takes the runs for independent. Two clustered standard errors
# to each side is what many tools give: nothing where all scores are the same, and limits beyond
# the scale where clusters differ. The default is wide, and says in warnings what it rests on.

naive = df.evalci.proportion_ci(by="case")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    honest = df.evalci.cluster_ci("source", by="case")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    robust = df.evalci.cluster_ci("source", by="case", method="cr1")
robust["ci_low"] = robust["estimate"] - 2 * robust["std_error"]
robust["ci_high"] = robust["estimate"] + 2 * robust["std_error"]

columns = ["case", "estimate", "ci_low", "ci_high", "n", "n_clusters"]
print("\nNaive: independent runs", naive[columns], sep="\n")
print("\nTwo clustered standard errors", robust[columns], sep="\n")
print("\nHonest", honest[columns], sep="\n")
for warning in caught:
    message = f"{warning.category.__name__}: {warning.message}"
    print(textwrap.fill(message, 96, subsequent_indent="  "))

# %%
# What may be said, at least and at most:

print()
for row in honest.itertuples():
    counted = f"{row.n} runs in {row.n_clusters} clusters"
    print(f"{row.case}: {row.ci_low:.0%} to {row.ci_high:.0%}, from {counted}")

honest.evalci.plot.forest(naive=naive, sort_by=None, title="Few clusters say little")
if sys.argv[-1].endswith(".png"):  # python examples/few_clusters.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
