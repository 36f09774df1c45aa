"""Few clusters: what an interval can still say, and what it warns of.

Run with ``python examples/few_clusters.py``.
"""

import textwrap
import warnings

import pandas as pd

import evalci_accessor  # noqa: F401  (registers .evalci)


def main() -> None:
    tell(
        "0 of 68 runs failed; the prompts come in 9 families",
        pd.DataFrame({"score": 0, "family": [f"family-{i % 9}" for i in range(68)]}),
        "family",
    )
    tell(
        "20 of 20 questions right, 5 to each of 4 documents",
        pd.DataFrame({"score": 1, "document": [f"doc-{i // 5}" for i in range(20)]}),
        "document",
    )
    tell(
        "14 of 20 right in two repositories: 10 of 10 and 4 of 10",
        pd.DataFrame({"score": [1] * 14 + [0] * 6, "repository": ["first"] * 10 + ["second"] * 10}),
        "repository",
    )


def tell(title: str, data: pd.DataFrame, cluster: str) -> None:
    """Print the naive interval, the honest one, a plain cluster-robust one, and the warnings of the honest one."""
    print(f"\n{title}\n{'-' * len(title)}")
    naive = data.evalci.proportion_ci()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        honest = data.evalci.cluster_ci(cluster)
    for name, answer in (("naive (independent items)", naive), ("honest (clusters)", honest)):
        row = answer.iloc[0]
        print(f"{name:27}{row['estimate']:.2f}  [{row['ci_low']:.2f}, {row['ci_high']:.2f}]")
    row = honest.iloc[0]
    print(f"{row['n']} items in {row['n_clusters']} clusters are worth {row['n_eff']:.1f} independent ones.")
    for warning in caught:
        message = f"{warning.category.__name__}: {warning.message}"
        print(textwrap.fill(message, 96, initial_indent="  ! ", subsequent_indent="    "))


if __name__ == "__main__":
    main()
