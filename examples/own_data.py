"""
Your own results, from a CSV file
=================================

Two systems answered tickets in three languages, a few questions to each. The file has text for
verdicts, ids that look like numbers, and runs that crashed. From there to an interval for each
system and language.

The file is made here, with a fixed seed; read your own in its place.
"""

import io
import random
import sys
import textwrap

import matplotlib.pyplot as plt
import pandas as pd

import evalci_accessor

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
draw = random.Random(5)
lines = ["system,language,ticket,question,verdict"]
for ticket in range(90):
    language, ease = ("de", "en", "fr")[ticket % 3], draw.gauss(0.5, 0.8)
    for system, bonus in (("old", 0.0), ("new", 0.4)):
        for question in range(3):
            verdict = "pass" if ease + bonus + draw.gauss(0, 1) > 0 else "fail"
            verdict = "" if draw.random() < 0.01 else verdict
            lines.append(f"{system},{language},{ticket:03d},{question},{verdict}")
file = io.StringIO("\n".join(lines))

# %%
# Ids are read as text. As numbers they would lose leading zeros, and become floats where one is
# missing.

df = pd.read_csv(file, dtype={"ticket": "string"})
print(df.head(3))

# %%
# Scores are numbers or booleans. Text is mapped by hand, never guessed at; what is missing
# stays missing, and is found:

df["score"] = df["verdict"].map({"pass": 1, "fail": 0})
try:
    df.evalci.cluster_ci("ticket", by=["system", "language"])
except evalci_accessor.exceptions.MissingScoreError as error:
    print("", textwrap.fill(str(error), 96), sep="\n")

# %%
# Those runs crashed, so they count as failures. (Were they never started,
# ``nan_policy="omit"`` would be the answer.)

df["score"] = df["score"].fillna(0)
naive = df.evalci.proportion_ci(by=["system", "language"])
honest = df.evalci.cluster_ci("ticket", by=["system", "language"])
columns = ["system", "language", "estimate", "ci_low", "ci_high", "n", "n_clusters", "n_eff"]
print("\nNaive: every question counts", naive[columns], sep="\n")
print("\nHonest: questions about tickets", honest[columns], sep="\n")

# %%
# Is the new system better, in each language? The same questions, so they are paired.

key = {"item": ["ticket", "question"], "cluster": "ticket", "by": "language"}
pairs = df.evalci.compare("system", **key, pairs=[("new", "old")], rng=1)
columns = ["language", "difference", "ci_low", "ci_high", "pvalue_adj", "n_pairs", "n_clusters"]
print("\nNew minus old", pairs[columns].round(3), sep="\n")
for row in pairs.itertuples():
    found = "differ" if row.pvalue_adj < 0.05 else "cannot be told apart by these tickets"
    print(f"\n{row.language}: {row.system_a} and {row.system_b} {found}", end="")
print()

# %%
# A tidy frame goes back to a file as it is: ``honest.to_csv("rates.csv", index=False)``. And
# here is the picture.

print("", textwrap.fill(f"columns: {', '.join(honest.columns)}", 96), sep="\n")
honest.evalci.plot.forest(naive=naive, group="language", title="Solved, by language")
if sys.argv[-1].endswith(".png"):  # python examples/own_data.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
