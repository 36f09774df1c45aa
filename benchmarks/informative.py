"""Rates that go with the sizes of their clusters: how often the intervals of one rate hold it, nominal .95.

    python benchmarks/informative.py           # about 2 minutes of CPU
    python benchmarks/informative.py --quick   # seconds

Clusters are drawn anew in each sample, with log-normal sizes and a logit of their mean rate that falls or rises with the log of the
size. The truth is that of all clusters there are: the expected sum over the expected size.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import textwrap
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("TQDM_DISABLE", "1")  # the package's own bars; the one below asks to be shown

import numpy as np
import pandas as pd
import simulation
from scipy import special

from evalci_accessor import stats

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "informative.csv"
TABLE = HERE.parent / "docs" / "explanation" / "informative_table.md"

SEED = 20_260_303
CLUSTERS = (15, 40, 100)
# What the logit rises by for each unit of the log size, and the standard deviation of the log size.
DEPENDENCE = {
    "none": (0.0, 1.0),
    "mild, falling": (-0.5, 0.5),
    "strong, falling": (-1.0, 1.0),
    "strong, rising": (1.0, 1.0),
}
METHODS = {
    "icc_averaged": "the default",
    "korn_graubard": "`korn_graubard`",
    "cr2": "`cr2` with Satterthwaite t",
}
_MEDIAN, _RATE, _ICC = 8, 0.8, 0.1
_LOGIT = float(special.logit(_RATE))
_EDGE = 1e-12


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting."""

    dependence: str
    n_clusters: int

    def seed(self) -> np.random.SeedSequence:
        return np.random.SeedSequence([SEED, list(DEPENDENCE).index(self.dependence), self.n_clusters])


def grid(*, quick: bool = False) -> list[Cell]:
    """The settings."""
    return sorted(Cell(*one) for one in itertools.product(DEPENDENCE, CLUSTERS[:1] if quick else CLUSTERS))


def clusters(cell: Cell, number: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of clusters, and their mean rates before what they have for themselves."""
    slope, spread = DEPENDENCE[cell.dependence]
    m = np.maximum(1, np.round(_MEDIAN * np.exp(spread * rng.normal(size=number)))).astype(np.int64)
    return m, special.expit(_LOGIT + slope * np.log(m / _MEDIAN))


def truth(cell: Cell) -> float:
    """Expected sum over expected size, by the law of the sizes: from the chance of each whole number."""
    slope, spread = DEPENDENCE[cell.dependence]
    m = np.arange(1, 40_000)
    edges = special.ndtr(np.log(np.r_[m - 0.5, m[-1] + 0.5] / _MEDIAN) / spread)
    chance = np.diff(edges)
    chance[0] += edges[0]  # what is rounded to 0 counts as 1
    return float(
        (chance * m * special.expit(_LOGIT + slope * np.log(m / _MEDIAN))).sum() / (chance * m).sum()
    )


def simulate(cell: Cell, replicates: int) -> list[dict]:
    """Coverage of each method in one cell: one record a method."""
    rng = np.random.default_rng(cell.seed())
    share, true = (1 - _ICC) / _ICC, truth(cell)
    hits = dict.fromkeys(METHODS, 0)
    for _ in range(replicates):
        m, mean = clusters(cell, cell.n_clusters, rng)
        s = rng.binomial(m, rng.beta(mean * share, (1 - mean) * share))
        for method in METHODS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = stats.cluster_ci(s, m, method=method)
            hits[method] += bool(found.ci_low <= true + _EDGE and true <= found.ci_high + _EDGE)
    return [
        {**dataclasses.asdict(cell), "rate": true, "method": name, "stage": 0, "replicates": replicates, "coverage": n / replicates}
        for name, n in hits.items()
    ]  # fmt: skip


def _job(job: tuple[Cell, int]) -> list[dict]:
    return simulate(*job)


def summary(frame: pd.DataFrame) -> str:
    """The table; it has no heading, so that another page can include it anywhere."""
    replicates = int(frame["replicates"].max())
    made = (
        f"Made by `python benchmarks/informative.py` with seed {SEED}: {replicates:,} samples each, whose clusters have log-normal "
        f"sizes. At their median of {_MEDIAN} the mean rate of a cluster is {_RATE}, and its logit changes by 0 (none; log-sd of "
        "the sizes 1), .5 (mild; log-sd .5) or 1 (strong; log-sd 1) for each unit of the log size; the ICC given the size is "
        f"{_ICC}. Nominal coverage is .95; the standard error of one of .95 is {np.sqrt(0.95 * 0.05 / replicates):.4f}, "
        f"of one of .88 {np.sqrt(0.88 * 0.12 / replicates):.4f}."
    )
    table = frame.pivot_table(index=["dependence", "n_clusters"], columns="method", values="coverage")[
        list(METHODS)
    ]
    body = [
        [name, g, *(f"{table.loc[(name, g), method]:.3f}" for method in METHODS)]
        for name in DEPENDENCE
        for g in sorted(frame["n_clusters"].unique())
    ]
    header = ["how rates go with sizes", "clusters", *METHODS.values()]
    return f"{textwrap.fill(made, 120)}\n\n{simulation.markdown(header, body)}\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="a few samples; the numbers mean nothing")
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args(arguments)
    jobs = [(cell, 10 if options.quick else options.replicates) for cell in grid(quick=options.quick)]
    found = simulation.spread(_job, jobs, processes=options.processes, label="cells", bar=not options.quick)
    frame = simulation.collect(
        list(itertools.chain.from_iterable(found)), ["dependence", "n_clusters"], options.output
    )
    page = summary(frame)
    options.table.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
