"""
Turns of a conversation
=======================

A support assistant was graded turn by turn. A conversation that has gone wrong tends to stay
wrong, some are much longer than others, and one customer wrote for weeks. How often is a turn
right, and how sure are we?

The data are made here, with a fixed seed.
"""

import sys
import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import evalci_accessor  # noqa: F401  (registers .evalci)

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
rng = np.random.default_rng(21)
rows = []
for chat, turns in enumerate([140, *rng.integers(2, 16, size=42)]):
    ease, right = rng.normal(0.1, 0.7), True
    for turn in range(turns):
        right = ease + 0.8 * right + rng.normal() > 0
        rows.append((f"chat-{chat:02d}", turn, int(right)))
df = pd.DataFrame(rows, columns=["chat", "turn", "right"])
turns = df["chat"].value_counts()
print(f"{len(df)} turns in {len(turns)} conversations, the longest of {turns.head(3).to_list()}")

# %%
# First as if every turn were on its own, then as what they are: turns of conversations. The
# warning is part of the answer.

columns = ["estimate", "ci_low", "ci_high", "n", "n_clusters", "n_eff", "method"]
naive = df.evalci.proportion_ci(score="right")
print("\nNaive: every turn on its own", naive[columns], sep="\n")

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    honest = df.evalci.cluster_ci("chat", score="right")
print("\nHonest: turns of conversations", honest[columns], sep="\n")
for warning in caught:
    print(textwrap.fill(f"{warning.category.__name__}: {warning.message}", 96))

# %%
# Each step is a conversation, as high as its rate and as wide as it is long. One customer
# decides a good part of the rate:

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # said above
    df.evalci.plot.clusters("chat", score="right", title="Support chats, the worst first")

# %%
# That is right if the question is about *turns*. If it is about a *typical conversation*, let
# each of them count the same, by weights. This is another question, so another rate.

df["share"] = 1 / df.groupby("chat")["turn"].transform("size")
typical = df.evalci.cluster_ci("chat", score="right", weights="share")
both = pd.concat([honest, typical], ignore_index=True)
both["of"] = ["all turns", "a typical conversation"]
print("\nTwo questions", both[["of", *columns[:-1]]], sep="\n")
for row in both.itertuples():
    limits = f"95 % interval {row.ci_low:.1%} to {row.ci_high:.1%}"
    print(f"\nOf {row.of}, {row.estimate:.1%} right ({limits}),", end="")
print(f"\nfrom {row.n} turns in {row.n_clusters} conversations.")

# %%
both.evalci.plot.forest(label="of", sort_by=None, title="Right turns, by what is asked")
if sys.argv[-1].endswith(".png"):  # python examples/conversation_turns.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
