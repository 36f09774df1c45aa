"""Family-wise error of the simultaneous intervals of `compare`, by seeded simulation at nominal .05: all pairs of equal systems.

    python benchmarks/simultaneous.py           # about 15 minutes of CPU
    python benchmarks/simultaneous.py --quick   # seconds; the numbers mean nothing

Scores are 0/1 with rate one half, from a latent normal score. Each cell draws from a seed of its own.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import itertools
import os
import textwrap
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
import pandas as pd
import simulation
from tqdm import tqdm

from evalci_accessor.stats.pairs.difference import infer
from evalci_accessor.stats.pairs.matched import MatchedScores
from evalci_accessor.stats.pairs.multiplicity import Block, simultaneous_outside
from evalci_accessor.stats.rates.moments import bell_mccaffrey_df

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "simultaneous.csv"
TABLE = HERE.parent / "docs" / "explanation" / "simultaneous_table.md"

SEED, ALPHA, DRAWS = 20_250_702, 0.05, 1999
SIZES = ("equal", "log-normal", "dominated")
# Shares of (cluster, item, cluster x system, cluster x family of systems, the rest) in the variance of the latent score.
WORLDS = {
    "independent": (0, 0, 0.3, 0, 0.7),
    "shared": (0.15, 0.35, 0.15, 0, 0.35),
    "families": (0.15, 0.3, 0.05, 0.3, 0.2),
}
RULES = {"ours": "`compare`", "gaussian": "sup-t, as if clusters were many", "bonferroni": "Bonferroni"}
METHODS = {"icc_averaged": "`icc_averaged` (the default)", "cr2": "`cr2`"}


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting of the simulation."""

    systems: int
    world: str
    sizes: str
    n_clusters: int

    def seed(self, base: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(
            [base, self.systems, list(WORLDS).index(self.world), SIZES.index(self.sizes), self.n_clusters]
        )


def grid(*, quick: bool = False) -> list[tuple[Cell, int]]:
    """Cells and their numbers of simulations."""
    if quick:
        return [(Cell(3, "shared", "equal", 5), 20), (Cell(10, "families", "log-normal", 12), 5)]
    cells = [(Cell(3, *one), 1000) for one in itertools.product(WORLDS, SIZES, (5, 12, 40, 160))]
    cells += [(Cell(10, *one), 600) for one in itertools.product(WORLDS, SIZES, (5, 12, 40, 160))]
    return cells + [
        (Cell(50, *one), 200)
        for one in itertools.product(("shared", "families"), SIZES[:2], (5, 12, 40, 160))
    ]


def cluster_sizes(cell: Cell, rng: np.random.Generator) -> np.ndarray:
    """About 10 items a cluster; the dominating one holds half of them."""
    share = rng.lognormal(0, 1, cell.n_clusters) if cell.sizes == "log-normal" else np.ones(cell.n_clusters)
    if cell.sizes == "dominated":
        share[0] = cell.n_clusters - 1
    return np.maximum(np.round(share / share.sum() * 10 * cell.n_clusters), 1).astype(int)


def draw(cell: Cell, m: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, M) of systems that do not differ, and the clusters of the items."""
    cluster, item, cross, family, rest = np.sqrt(WORLDS[cell.world])
    codes = np.repeat(np.arange(len(m)), m)
    clan = rng.standard_normal((len(m), 5))[:, np.arange(cell.systems) % 5]
    level = (
        cluster * rng.standard_normal((len(m), 1))
        + cross * rng.standard_normal((len(m), cell.systems))
        + family * clan
    )
    own = item * rng.standard_normal((len(codes), 1)) + rest * rng.standard_normal((len(codes), cell.systems))
    return (level[codes] + own > 0).astype(float), codes


def simulate(cell: Cell, n_sims: int, seed: int = SEED) -> list[dict]:
    """Family-wise error of each rule and method in one cell: one record for both."""
    rng = np.random.default_rng(cell.seed(seed))
    m = cluster_sizes(cell, rng)
    a, b = np.triu_indices(cell.systems, 1)
    df = bell_mccaffrey_df(m / m.sum())
    wrong = dict.fromkeys(itertools.product(METHODS, RULES), 0)
    ratio, pointwise = dict.fromkeys(RULES, 0.0), dict.fromkeys(METHODS, 0.0)
    for sim in range(n_sims):
        scores, codes = draw(cell, m, rng)
        matched = MatchedScores.from_items(scores, codes, binary=True, bounded=True)
        totals = matched.totals(a, b, matched.squares(a, b), by_cluster=True)
        pairs = np.stack([a, b], axis=1)
        levels = {"bonferroni": ALPHA / 2 / len(a)}
        for rule, freedom in (("ours", df), ("gaussian", np.inf)):
            block = Block(influence=matched.influence, contrasts=pairs, df=freedom)
            levels[rule] = simultaneous_outside(
                [block], ALPHA, n_draws=DRAWS, seed=np.random.SeedSequence(sim)
            )
        for method in METHODS:
            p = infer(
                totals, method, alternative="two-sided", confidence_level=1 - ALPHA, margin=None, claim=None
            ).pvalue
            pointwise[method] += float((p < ALPHA).mean()) / n_sims
            for rule in RULES:
                wrong[method, rule] += bool(p.min() < 2 * levels[rule])
        for rule in RULES:
            ratio[rule] += levels[rule] / levels["bonferroni"] / n_sims
    return [
        {
            **dataclasses.asdict(cell), "method": method, "rule": rule, "seed": seed, "simulations": n_sims,
            "fwer": count / n_sims, "pointwise": pointwise[method], "level_ratio": ratio[rule],
        }
        for (method, rule), count in wrong.items()
    ]  # fmt: skip


def _job(job: tuple[Cell, int]) -> list[dict]:
    return simulate(*job)


def summary(frame: pd.DataFrame) -> str:
    """The page of tables, without headings, so that another page can include it."""
    cells = len(frame.drop_duplicates(["systems", "world", "sizes", "n_clusters"]))
    seed = int(frame["seed"].iloc[0])
    made = (
        f"Made by `python benchmarks/simultaneous.py` with seed {seed}: all pairs of equal systems, {cells} cells of 200 to 1,000 "
        "simulations, 5 to 160 clusters of equal, log-normal and dominated sizes. Shown is how often any interval misses, at "
        "nominal .05. The last column is the mean level of one interval as a multiple of Bonferroni's."
    )
    header = ["systems", "method", "level by", "highest", "mean", "mean, 160 clusters", "level, 160 clusters"]
    body = []
    for (systems, method, rule), part in frame.groupby(["systems", "method", "rule"], sort=False):
        many = part[part["n_clusters"] == part["n_clusters"].max()]
        numbers = [part["fwer"].max(), part["fwer"].mean(), many["fwer"].mean()]
        body.append(
            [
                systems,
                METHODS[method],
                RULES[rule],
                *map("{:.3f}".format, numbers),
                f"{many['level_ratio'].mean():.2f}",
            ]
        )
    return "\n".join([textwrap.fill(made, 120), "", simulation.markdown(header, body), ""])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args(arguments)
    jobs = grid(quick=options.quick)
    with concurrent.futures.ProcessPoolExecutor(options.processes) as pool:
        found = list(tqdm(pool.map(_job, jobs), total=len(jobs), desc="cells", unit="cell", disable=False))
    frame = pd.DataFrame([record for records in found for record in records])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(options.output, index=False, float_format="%.6g", lineterminator="\n")
    page = summary(frame)
    options.table.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
