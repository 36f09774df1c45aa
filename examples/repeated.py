"""Several samples an item: pass@k and pass^k with the interval over items, and what would make it narrower.

Run with ``python examples/repeated.py``.
"""

from evalci_accessor import datasets, stats


def main() -> None:
    df = datasets.load_code_eval()
    print(f"{len(df)} programs: {df['model'].nunique()} models, {df['item'].nunique()} tasks, {df['sample'].nunique()} samples")

    ask = {"item": "item", "cluster": "repo_id", "sample": "sample", "by": "model", "rng": 1}
    for title, answer in (
        ("at least one of k passes", df.evalci.pass_at_k([1, 3, 5], **ask)),
        ("all of k pass", df.evalci.pass_hat_k([1, 2, 4], **ask)),
    ):
        print(f"\n{title}, limits for all k at once\n{'-' * 46}")
        shown = answer[["model", "k", "estimate", "simultaneous_low", "simultaneous_high", "sample_share"]]
        print(shown.round(3).to_string(index=False))

    rate = df.query("model == 'atlas'")["score"].mean()
    print(f"\nFrom the pooled rate, as if tasks did not differ, pass@5 of atlas would seem to be {1 - (1 - rate) ** 5:.3f}.")

    counts = df.query("model == 'atlas'").groupby(["repo_id", "item"])["score"].agg(["sum", "size"]).reset_index()
    found = stats.variance_components(counts["sum"], counts["size"], cluster=counts["repo_id"].to_numpy(str))
    total = found.std_error**2
    print("\nWhere the variance of the mean score of atlas comes from:")
    for name, part in (
        ("repositories", found.cluster_variance), ("tasks", found.item_variance), ("samples", found.sample_variance),
    ):  # fmt: skip
        print(f"  {name:13}{part / total:4.0%}")


if __name__ == "__main__":
    main()
