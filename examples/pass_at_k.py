"""
Several tries at each task: pass@k
==================================

Two models wrote ten programs for each task, and the tasks come from repositories. How often
does at least one of k work, and how often do all k? Ten programs for one task are no ten tasks,
so the interval is over tasks, in repositories.

The data come with the package, and are made.
"""

import sys

import matplotlib.pyplot as plt
import pandas as pd

from evalci_accessor import datasets

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
df = datasets.load_code_eval()
print(len(df), "programs:", df[["model", "repo_id", "item", "sample"]].nunique().to_dict())

# %%
# The naive way takes the pooled rate p, and 1 - (1 - p) ** k. It is too high, since tasks
# differ: those that are too hard stay unsolved however often they are tried. The honest
# estimate is made for each task and averaged, with limits that hold for all k together.

ask = {"item": "item", "cluster": "repo_id", "sample": "sample", "by": "model"}
pooled = df.groupby("model")["score"].mean()
answer = df.evalci.pass_at_k([1, 2, 3, 5, 8], **ask, rng=1)
answer["naive"] = 1 - (1 - answer["model"].map(pooled)) ** answer["k"]
limits = ["simultaneous_low", "simultaneous_high"]
columns = ["model", "k", "naive", "estimate", *limits, "n_items", "n_clusters"]
print("\nAt least one of k works", answer[columns], sep="\n")

# %%
# All k work, for whoever needs a model that does not fail. Here the naive p ** k is too low.

every = df.evalci.pass_hat_k([1, 2, 4], **ask, rng=1)
every["naive"] = every["model"].map(pooled) ** every["k"]
print("\nAll k work", every[columns], sep="\n")

# %%
# What would make it surer: more samples, more tasks, or more repositories? The noise of pass@1
# by its source, and the standard error with twice as many of each.

found = df.evalci.variance_components(**ask)
columns = ["model", "source", "share", "count", "std_error", "std_error_doubled"]
print("\nWhat the noise is made of", found[columns], sep="\n")

# %%
# The sentence, and the picture. The crosses are the naive numbers.

for row in answer[answer["k"] == 5].itertuples():
    limits = f"95 % interval {row.ci_low:.1%} to {row.ci_high:.1%}"
    print(f"\n{row.model}: pass@{row.k} {row.estimate:.1%}, {limits},", end="")
    print(f" {row.n_items} tasks in {row.n_clusters} repositories", end="")
    print(f"\n  (from the pooled rate it would have been {row.naive:.1%})")

ax = answer.evalci.plot.pass_at_k(title="At least one of k programs works")
for _, part in answer.groupby("model"):
    ax.plot(part["k"], part["naive"], "x:", color="gray")
ax.set_ylim(0, 1)
if sys.argv[-1].endswith(".png"):  # python examples/pass_at_k.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
