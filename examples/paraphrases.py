"""
The same questions in other words
=================================

So as not to depend on a wording, every question was put to a model in several. Is each score a
piece of evidence of its own? A question that is hard is hard in all wordings, and a wording
that confuses the model does so for all questions.

The data are made here, with a fixed seed.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import evalci_accessor  # noqa: F401  (registers .evalci)

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
rng = np.random.default_rng(4)
hard = rng.normal(scale=1.1, size=(50, 1))
confusing = rng.normal(scale=0.4, size=(1, 8))
right = 0.6 + hard + confusing + rng.normal(size=(50, 8)) > 0
question, wording = np.indices(right.shape)
df = pd.DataFrame(
    {"question": question.ravel(), "wording": wording.ravel(), "score": right.ravel().astype(int)}
)
print(df.pivot(index="question", columns="wording", values="score").head(4))

# %%
# Which matters? Scores of one question are much more alike than those of one wording: ``icc``.
# But a wording holds many more scores, and what these share does not average out. So both cost
# evidence: ``n_eff`` says how many independent scores would tell as much.

found = df.evalci.design_effect(["question", "wording"])
columns = ["cluster", "icc", "design_effect", "width_ratio", "n_eff", "n", "n_clusters"]
print("\nWhich matters?", found[columns], sep="\n")

# %%
# Intervals for one rate. Which is honest depends on what is to be said. "On questions like
# these, in *these* wordings": cluster by question. "On questions like these, however they are
# put": by both, since other wordings could have been chosen.

answers = [
    df.evalci.proportion_ci(),
    df.evalci.cluster_ci("question"),
    df.evalci.cluster_ci("wording"),
    df.evalci.cluster_ci(["question", "wording"]),
]
table = pd.concat(answers, ignore_index=True)
table["sampled"] = ["every score", "questions", "wordings", "both"]
columns = ["sampled", "estimate", "ci_low", "ci_high", "n_eff", "n", "n_clusters"]
print("\nWhat was sampled?", table[columns], sep="\n")

last = table.iloc[-1]
print(f"\n{last['estimate']:.1%} right, by question and wording", end=" ")
print(f"(95 % interval {last['ci_low']:.1%} to {last['ci_high']:.1%}):")
print(f"{last['n']} scores tell as much as {last['n_eff']:.0f} independent ones.")

# %%
# The rate is the same, and so are the scores. What changes is how much they say.

table.evalci.plot.forest(label="sampled", sort_by=None, title="One rate; what was sampled?")
if sys.argv[-1].endswith(".png"):  # python examples/paraphrases.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
