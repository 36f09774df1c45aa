"""
A cube: model by language by question by sample
===============================================

Three models answered the same questions in three languages, several times each. The scores are
a cube, so they stay one: what is named in ``dim=`` is reduced, and every other dim is kept.

The data are made here, with a fixed seed.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr

import evalci_accessor  # noqa: F401  (registers .evalci)

pd.set_option("display.width", 100, "display.max_columns", 20, "display.precision", 3)
rng = np.random.default_rng(3)
topic = np.arange(72) // 3
ease = rng.normal(scale=0.7, size=24)[topic, None]  # topics are hard or easy for all
ease = ease + rng.normal(scale=0.6, size=(3, 3, 72, 1))  # and questions for a model
ease = ease + np.reshape([0.2, 0.8, 1.1], (3, 1, 1, 1)) + np.reshape([0.3, 0.1, -0.5], (3, 1, 1))
cube = xr.Dataset(
    {"score": (("model", "language", "item", "sample"), ease + rng.normal(size=(3, 3, 72, 4)) > 0)},
    coords={
        "model": ["small", "medium", "large"],
        "language": ["English", "Danish", "Swahili"],
        "item": np.arange(72),
        "sample": np.arange(4),
        "topic": ("item", [f"topic-{t:02d}" for t in topic]),
    },
)
print(cube)

# %%
# Samples of a question are no new questions, and questions on a topic hang together. For one
# model and language:

one = cube["score"].sel(model="large", language="English")
runs = ("item", "sample")
answers = {
    "every answer counts": one.evalci.proportion_ci(dim=runs),
    "answers to questions": one.evalci.cluster_ci("item", dim=runs),
    "questions on topics": one.evalci.cluster_ci("topic", dim=runs),
}
print()
for name, answer in answers.items():
    low, high, n, n_eff = (answer[x].item() for x in ("ci_low", "ci_high", "n", "n_eff"))
    print(f"{name:22}[{low:.3f}, {high:.3f}], {n} answers tell as much as {n_eff:3.0f}")

# %%
# The whole cube in one call. The result is a Dataset over the dims that are left, to be
# selected and computed with as usual.

rates = cube.evalci.cluster_ci("topic", dim=runs)
print("", rates[["estimate", "ci_low", "ci_high", "n", "n_clusters"]], sep="\n")
print("\nlowest:", rates["estimate"].idxmin("language").to_series().to_dict())

# %%
# How much is lost in the other languages? The same questions were asked, so this is a
# comparison of pairs, for each model; the samples of a question are averaged. It is far surer
# than a look at whether two intervals overlap. Each of the six is at 95 % by itself; ``compare``
# would correct for their number.

loss = cube.evalci.diff_ci(
    "language", item="item", cluster="topic", sample="sample", baseline="English"
)
table = loss.to_dataframe().reset_index()
columns = ["model", "language_a", "difference", "ci_low", "ci_high", "n_pairs", "n_clusters"]
print("\nMinus English", table[columns], sep="\n")
for row in table.itertuples():
    found = "is worse than" if row.verdict == "inferior" else "may be as good as"
    print(f"\n{row.model}: {row.language_a} {found} {row.language_b}", end="")
print()

# %%
# All cells of the cube. Dashed is what one would claim if every answer were a new question.

naive = cube.evalci.proportion_ci(dim=runs)
rates.evalci.plot.forest(naive=naive, group="language", title="Right answers, by language")
if sys.argv[-1].endswith(".png"):  # python examples/cube.py picture.png
    plt.savefig(sys.argv[-1])
plt.show()
