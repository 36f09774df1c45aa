"""Own results: from a CSV file to an interval for each group.

Run with ``python examples/own_data.py``. It first writes a small file of made results to a temporary folder; put the path of
your own in its place.
"""

import csv
import random
import tempfile
import textwrap
from pathlib import Path

import pandas as pd

import evalci_accessor


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.csv"
        write_made_results(path)
        # Ids as text: read as numbers they would lose leading zeros, or become floats where one is missing.
        df = pd.read_csv(path, dtype={"ticket": "string"})
    print(df.head(4).to_string(index=False))

    # Scores must be numbers or booleans; text is mapped by hand, never guessed at.
    df["score"] = df["verdict"].map({"pass": 1, "fail": 0})
    print(f"\n{len(df)} rows, {df['score'].isna().sum()} without a verdict, {df['ticket'].nunique()} tickets\n")

    try:
        df.evalci.cluster_ci("ticket", by=["system", "language"])
    except evalci_accessor.exceptions.MissingScoreError as error:
        print(textwrap.fill(f"As it is: {error}", 96) + "\n")

    # Those runs crashed, so they count as failures here. Were they never started, nan_policy="omit" would be the answer.
    df["score"] = df["score"].fillna(0)
    answer = df.evalci.cluster_ci("ticket", by=["system", "language"])
    columns = ["system", "language", "estimate", "ci_low", "ci_high", "n", "n_clusters", "n_eff"]
    print(answer[columns].round(3).to_string(index=False))

    # A tidy frame goes back to a file as it is.
    print("\n" + textwrap.fill(f"columns for a file: {', '.join(answer.columns)}", 96))


def write_made_results(path: Path) -> None:
    """Two systems, 90 tickets in three languages, 3 questions to each; some runs crashed."""
    draw = random.Random(5)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["system", "language", "ticket", "question", "verdict"])
        for ticket in range(90):
            language = ("de", "en", "fr")[ticket % 3]
            ease = draw.gauss(0.5, 0.8)
            for system, bonus in (("old", 0.0), ("new", 0.4)):
                for question in range(3):
                    verdict = "pass" if ease + bonus + draw.gauss(0, 1) > 0 else "fail"
                    rows.writerow([system, language, f"{ticket:03d}", question, "" if draw.random() < 0.01 else verdict])


if __name__ == "__main__":
    main()
