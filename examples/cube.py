"""A cube of scores: model x prompt x item x sample, reduced over the dims that are named.

Run with ``python examples/cube.py``. The data are made.
"""

import numpy as np
import pandas as pd
import xarray as xr

import evalci_accessor  # noqa: F401  (registers .evalci)

pd.set_option("display.width", 100, "display.max_columns", 20)


def main() -> None:
    cube = made_cube()
    print(f"scores {dict(cube['score'].sizes)}; each item is about one of {len(set(cube['doc'].values))} documents\n")

    print("1. Over items and samples, clustered by document: one interval for each model and prompt.\n")
    answer = cube.evalci.cluster_ci("doc", dim=("item", "sample"))
    columns = ["estimate", "ci_low", "ci_high", "n", "n_clusters", "n_eff"]
    print(answer[columns].to_dataframe()[columns].round(3))

    print("\n2. The answer is a Dataset, so it is selected and computed with as usual.\n")
    best = answer["estimate"].mean("prompt").idxmax("model").item()
    width = (answer["ci_high"] - answer["ci_low"]).sel(model=best)
    print(f"{best} is highest on average; its intervals are {width.min():.2f} to {width.max():.2f} wide.")

    print("\n3. Samples of one item are no new items: taken as independent, they make the interval too narrow.\n")
    one = cube["score"].sel(model="large", prompt="plain")
    naive = one.evalci.proportion_ci(dim=...)
    by_item = one.evalci.cluster_ci("item", dim=("item", "sample"))
    by_document = one.evalci.cluster_ci("doc", dim=("item", "sample"))
    for name, row in (("all independent", naive), ("clustered by item", by_item), ("clustered by document", by_document)):
        print(f"{name:24}[{row['ci_low'].item():.3f}, {row['ci_high'].item():.3f}]  n_eff {row['n_eff'].item():6.1f}")

    print("\n4. Which coordinate matters most?\n")
    scan = one.evalci.design_effect(dim=("item", "sample"))
    columns = ["icc", "design_effect", "n_eff", "n", "n_clusters"]
    print(scan[columns].to_dataframe()[columns].round(2))


def made_cube() -> xr.Dataset:
    """2 models, 2 prompts, 120 items about 40 documents, 4 samples of each."""
    rng = np.random.default_rng(3)
    document = np.repeat(np.arange(40), 3)
    ease = (
        np.array([0.3, 0.9])[:, None, None, None]
        + np.array([0.0, 0.25])[None, :, None, None]
        + rng.normal(scale=0.7, size=40)[document][None, None, :, None]
        + rng.normal(scale=0.7, size=(2, 1, 120, 1))
    )
    score = ease + rng.normal(size=(2, 2, 120, 4)) > 0
    return xr.Dataset(
        {"score": (("model", "prompt", "item", "sample"), score)},
        coords={
            "model": ["small", "large"],
            "prompt": ["plain", "careful"],
            "item": np.arange(120),
            "sample": np.arange(4),
            "doc": ("item", [f"doc-{d:02d}" for d in document]),
        },
    )


if __name__ == "__main__":
    main()
