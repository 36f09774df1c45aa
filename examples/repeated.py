"""Several samples an item: pass@k and pass^k with the interval over items, and what would make it narrower.

Run with ``python examples/repeated.py``.
"""

from evalci_accessor import datasets


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

    found = df.evalci.variance_components(
        item="item", cluster="repo_id", sample="sample", by="model", costs={"item": 50, "cluster": 400}
    )
    print("\nWhat the noise is made of, and what more of each buys (a task costs 50 calls, a repository 400)")
    print(found[["model", "source", "share", "count", "std_error_doubled", "gain", "best"]].round(3).to_string(index=False))


if __name__ == "__main__":
    main()
