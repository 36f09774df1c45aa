"""Exit with 0 if the candidate is not worse than the current system by more than MARGIN, and with 1 otherwise."""

import argparse
import pathlib
import sys

import pandas as pd

import evalci_accessor  # noqa: F401, puts .evalci on frames

MARGIN = 0.05  # in the units of the score: five points of a pass rate


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scores", help="CSV: model, item, doc_id, score")
    parser.add_argument("--candidate", required=True)
    parser.add_argument("--current", required=True)
    parser.add_argument("--to", type=pathlib.Path, default="gate")
    options = parser.parse_args()

    df = pd.read_csv(options.scores)
    df = df[df["model"].isin([options.candidate, options.current])]
    report = df.evalci.report(
        "doc_id",
        factor="model",
        item="item",
        baseline=options.current,
        margin=MARGIN,
        nouns=("questions", "documents"),
        title=f"May {options.candidate} replace {options.current}?",
        rng=0,
    )
    options.to.mkdir(parents=True, exist_ok=True)
    report.to_html(options.to / "report.html")
    report.to_markdown(options.to / "report.md")

    verdict = report.comparison["verdict"].item()
    low = report.comparison["ci_low"].item()
    print(report.sentence)
    print(f"Verdict: {verdict} (margin {MARGIN}, two-sided interval from {low:.3f})")
    return 0 if verdict == "noninferior" else 1


if __name__ == "__main__":
    sys.exit(main())
