"""
A release gate
==============

A new version may be released unless it is worse. It is cheaper, so it need not be better; but
in no suite may it lose more than the margin. Both versions answered the same questions, several
to a document.

The data are made here, with a fixed seed, picked for data in which the gates disagree: with most
seeds they do not.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import evalci_accessor  # noqa: F401  (registers .evalci)

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
rng = np.random.default_rng(19)
document = np.arange(400) // 8
frames = []
for suite, change, taste in [
    ("contracts", 0.10, 0.2),
    ("manuals", 0.0, 0.2),
    ("invoices", -0.02, 0.75),  # some documents suit the new version, some the old
]:
    old = rng.normal(1.0, 0.7, size=50)[document] + rng.normal(size=400)
    new = old + change + rng.normal(scale=taste, size=50)[document]
    new = new + rng.normal(scale=0.4, size=400)
    ids = [f"{suite}-{d:02d}" for d in document]
    for version, ease in [("old", old), ("new", new)]:
        part = {"suite": suite, "version": version, "question": range(400), "document": ids}
        frames.append(pd.DataFrame({**part, "score": (ease > 0).astype(int)}))
df = pd.concat(frames, ignore_index=True)
print(df.groupby(["suite", "version"], sort=False)["score"].agg(["mean", "size"]).unstack())

# %%
# Three gates. The first looks at the two rates. The second asks whether a loss of the margin
# can be ruled out, and takes the questions for independent. The third knows that questions
# about a document are won or lost together.

margin = 0.05
ask = {"item": "question", "by": "suite", "pairs": [("new", "old")], "margin": margin}
naive = df.evalci.diff_ci("version", **ask)
honest = df.evalci.diff_ci("version", **ask, cluster="document")

gates = honest[["suite", "difference", "ci_low", "ci_high"]].copy()
gates["rates"] = np.where(honest["difference"] > -margin, "pass", "hold")
gates["naive"], gates["honest"] = naive["verdict"], honest["verdict"]
print("\nThree gates", gates, sep="\n")

# %%
# Every suite has to pass, so the chance to let a version through that loses the margin in one
# of them is at most the level of the test in that suite, 5 %, without a correction for their
# number (an intersection-union test). In CI, end with ``sys.exit(len(held))``.

held = honest[honest["verdict"] != "noninferior"]
print("\nRELEASE" if held.empty else "\nHOLD")
for row in held.itertuples():
    change, low, high = (f"{100 * x:+.1f}" for x in (row.difference, row.ci_low, row.ci_high))
    print(f"{row.suite}: {change} points (95 % interval {low} to {high}).")
    print(f"{row.n_pairs} questions to {row.n_clusters} documents:", end=" ")
    print(f"only new was right on {row.only_a}, only old on {row.only_b}.")
    print(f"A loss of {100 * margin:.0f} points is not ruled out (p = {row.pvalue_verdict:.3f}).")

# %%
# The margin is the band. An open point has no verdict: its interval reaches too far below. (The
# verdict is a test on one side at 5 %, and the line leaves 2.5 % on each, so that of a full point
# may end a little below the band.)

honest.evalci.plot.differences(label="suite", title="New minus old, by suite")
if sys.argv[-1].endswith(".png"):  # python examples/release_gate.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
