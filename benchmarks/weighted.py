"""Two systems on the same weighted items, by seeded simulation at nominal .05: how often a difference is found where there is
none, and how often an interval misses one that is there.

    python benchmarks/weighted.py           # about 15 minutes of CPU
    python benchmarks/weighted.py --beyond  # where the default fails, outside the grid: a minute
    python benchmarks/weighted.py --quick   # seconds; the numbers mean nothing

The difference is that of the weighted means, so the truth is weighted too. Each cell draws from a seed of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
import pandas as pd
import simulation
from type_one import NULLS, SHIFTS

from evalci_accessor.stats.pairs.difference import infer
from evalci_accessor.stats.pairs.matched import MatchedScores, PairTotals
from evalci_accessor.stats.pairs.tests import pair_test

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "weighted.csv"
TABLE = HERE.parent / "docs" / "explanation" / "weighted_table.md"
BEYOND = HERE.parent / "docs" / "explanation" / "weighted_beyond_table.md"

SEED, LEVEL, LIMIT = 20_251_130, 0.95, 0.075
SIZES, CLUSTERS = ("equal 5", "log-normal", "dominated"), (8, 12, 20, 40)
SETTINGS = {name: NULLS[name] for name in ("no clustering", "exchangeable", "asymmetric")} | {
    "one way": SHIFTS["one way"]
}
# Weights that say nothing of the scores, by item and by cluster (log-normal, log-sd 1); and items that are contested five times
# as often as the others and weigh five times as much.
WEIGHTS = ("equal", "by item", "by cluster", "with disagreement")
DISAGREEMENT, CONTESTED, CALM = 0.3, 0.5, 0.1
DEFAULT = "icc_averaged"
WORDS = {
    DEFAULT: "`icc_averaged` (the default)", "kish": "the same on Kish's number of items alone", "cr1": "`cr1` with t(G - 1)",
    "cr2": "`cr2` with Bell-McCaffrey t", "obuchowski": "Obuchowski", "tango": "`tango`, clusters ignored",
    "asymptotic": "`asymptotic`, clusters ignored",
}  # fmt: skip
TESTS = ("obuchowski", "asymptotic")
_BATCH = 250


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting of the simulation."""

    setting: str
    weights: str
    sizes: str
    n_clusters: int

    def seed(self, base: int) -> np.random.SeedSequence:
        key = (
            list(SETTINGS).index(self.setting),
            WEIGHTS.index(self.weights),
            SIZES.index(self.sizes),
            self.n_clusters,
        )
        return np.random.SeedSequence([base, *key])


_KEYS = [field.name for field in dataclasses.fields(Cell)]


def grid(*, quick: bool = False) -> list[Cell]:
    """Every setting, kind of weights, pattern of sizes and number of clusters."""
    if quick:
        return [
            Cell("asymmetric", "with disagreement", "dominated", 8),
            Cell("one way", "by item", "equal 5", 8),
        ]
    return sorted(Cell(*one) for one in itertools.product(SETTINGS, WEIGHTS, SIZES, CLUSTERS))


@dataclasses.dataclass(frozen=True)
class Items:
    """The items of a cell, the same in every replicate."""

    codes: np.ndarray
    weights: np.ndarray
    disagreement: np.ndarray

    def difference(self, setting: str) -> float:
        """The true weighted difference."""
        mean = sum(u * chance for u, chance in SETTINGS[setting])
        return float(mean * (self.weights * self.disagreement).sum() / self.weights.sum())


def items_of(cell: Cell, rng: np.random.Generator) -> Items:
    sizes = simulation.cluster_sizes(cell.sizes, cell.n_clusters, rng)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    weights, disagreement = np.ones(len(codes)), np.full(len(codes), DISAGREEMENT)
    if cell.weights == "by item":
        weights = rng.lognormal(size=len(codes))
    elif cell.weights == "by cluster":
        weights = rng.lognormal(size=len(sizes))[codes]
    elif cell.weights == "with disagreement":
        contested = rng.random(len(codes)) < 0.5
        weights, disagreement = np.where(contested, 5.0, 1.0), np.where(contested, CONTESTED, CALM)
    return Items(codes, weights, disagreement)


def draw(cell: Cell, items: Items, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Differences of the items, shape (n, replicates)."""
    values, chances = zip(*SETTINGS[cell.setting], strict=True)
    u = rng.choice(values, p=chances, size=(items.codes.max() + 1, replicates))[items.codes]
    differs = rng.random(u.shape) < items.disagreement[:, None]
    return differs * np.where(rng.random(u.shape) < (1 + u) / 2, 1.0, -1.0)


def totals(d: np.ndarray, items: Items, *, clustered: bool) -> PairTotals:
    """Totals of the replicates, each a pair of systems of its own."""
    scores = np.concatenate([d > 0, d < 0], axis=1).astype(float)
    matched = MatchedScores.from_items(
        scores, items.codes if clustered else None, weights=items.weights, binary=True, bounded=True
    )
    a = np.arange(d.shape[1])
    return matched.totals(a, a + len(a), np.abs(d).sum(axis=0), by_cluster=True)


def misses(t: PairTotals, method: str, difference: float) -> np.ndarray:
    """Whether the test rejects equal systems, or the interval misses the true difference."""
    if method in TESTS:
        result = pair_test(
            t, method, alternative="two-sided", n_resamples=9999, seed=np.random.SeedSequence(0)
        )
        return result.pvalue <= (1 - LEVEL) * (1 + 1e-9)
    if method == "kish":
        assert t.weights is not None
        known = dataclasses.replace(t.weights, worth=np.full(len(t.total), t.effective_items))
        t, method = dataclasses.replace(t, weights=known), DEFAULT
    found = infer(t, method, alternative="two-sided", confidence_level=LEVEL, margin=None, claim=None)
    return (found.ci_low > difference + 1e-12) | (found.ci_high < difference - 1e-12)


def simulate(cell: Cell, replicates: int, *, seed: int = SEED) -> list[dict]:
    """Error rate of every method in one cell: one record a method."""
    for_items, for_scores = cell.seed(seed).spawn(2)
    items, rng = items_of(cell, np.random.default_rng(for_items)), np.random.default_rng(for_scores)
    truth = items.difference(cell.setting)
    methods = [method for method in WORDS if cell.setting in NULLS or method not in TESTS]
    found: dict[str, list[np.ndarray]] = {method: [] for method in methods}
    for start in range(0, replicates, _BATCH):
        d = draw(cell, items, min(_BATCH, replicates - start), rng)
        clustered, alone = totals(d, items, clustered=True), totals(d, items, clustered=False)
        for method in methods:
            found[method].append(
                misses(alone if method in ("tango", "asymptotic") else clustered, method, truth)
            )
    shares = {method: float(np.concatenate(parts).mean()) for method, parts in found.items()}
    return [
        {
            **dataclasses.asdict(cell), "effective_items": clustered.effective_items,
            "effective_clusters": clustered.effective_clusters, "method": method, "stage": 0, "seed": seed,
            "replicates": replicates, "missed": share,
        }
        for method, share in shares.items()
    ]  # fmt: skip


def _job(job: tuple[Cell, int, int]) -> list[dict]:
    cell, replicates, seed = job
    return simulate(cell, replicates, seed=seed)


def run(
    cells: list[Cell], replicates: int, *, seed: int = SEED, processes: int = 1, bar: bool = True
) -> Iterator[list[dict]]:
    """Simulate cells, handing on the records of each as soon as it is done."""
    return simulation.spread(
        _job, [(cell, replicates, seed) for cell in cells], processes=processes, label="cells", bar=bar
    )


def summary(frame: pd.DataFrame, command: str) -> str:
    """The page of tables; it has no headings, so that another page can include it anywhere."""
    cells, replicates = len(frame[_KEYS].drop_duplicates()), int(frame["replicates"].max())
    error = np.sqrt(0.05 * 0.95 / replicates)
    made = (
        f"Made by `{command}` with seed {int(frame['seed'].iloc[0])}: {cells} cells of {replicates:,} replicates. The nominal "
        f"level is {1 - LEVEL:.2f}, and the standard error of a rate of .05 is {error:.4f}, so the highest of many cells is "
        "partly luck."
    )
    out = [textwrap.fill(made, 120), ""]
    null = frame["setting"].isin(list(NULLS))
    for title, part in (
        ("Type I error: highest of the cells with such weights", frame[null]),
        ("The same without clustering", frame[frame["setting"] == "no clustering"]),
        ("How often the 95 % interval misses a difference that is there: highest", frame[~null]),
    ):
        table = part.pivot_table(index="method", columns="weights", values="missed", aggfunc="max")
        methods = [method for method in WORDS if method in table.index]
        rows = [
            [WORDS[method], *(f"{table.loc[method, kind]:.3f}" if kind in table else "" for kind in WEIGHTS)]
            for method in methods
        ]
        out += [f"**{title}**", "", simulation.markdown(["method", *WEIGHTS], rows), ""]
    return "\n".join(out)


def report_beyond(replicates: int) -> str:
    """Type I error where weights say which system a cluster favours: one in four weighs three times as much, and sides
    with the second system, the others with the first. The weighted difference is still 0 in the mean.
    """
    body = []
    methods = (DEFAULT, "cr2", "obuchowski")
    for clusters in CLUSTERS:
        rng = np.random.default_rng([SEED, clusters])
        codes, found = np.repeat(np.arange(clusters), 5), []
        for _ in range(replicates):
            heavy = (rng.random(clusters) < 0.25)[codes]
            d = (rng.random(len(codes)) < DISAGREEMENT) * np.where(heavy, -1.0, 1.0)
            items = Items(codes, np.where(heavy, 3.0, 1.0), np.full(len(codes), DISAGREEMENT))
            t = totals(d[:, None], items, clustered=True)
            found.append([misses(t, method, 0.0)[0] for method in methods])
        body.append([clusters, *map("{:.3f}".format, np.mean(found, axis=0))])
    return simulation.markdown(["clusters of 5", *(WORDS[method] for method in methods)], body)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="a few cells; the numbers mean nothing")
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--beyond", action="store_true", help="weights that go with the side")
    options = parser.parse_args(arguments)
    if options.beyond:
        replicates = 50 if options.quick else 2_000
        made = f"Made by `python benchmarks/weighted.py --beyond` with seed {SEED}: {replicates:,} replicates each."
        page = f"{made}\n\n{report_beyond(replicates)}\n"
        (BEYOND if options.table == TABLE else options.table).write_text(page, encoding="utf-8")
        print(page)
        return
    records: list[dict] = []
    for done in run(
        grid(quick=options.quick), 50 if options.quick else options.replicates, processes=options.processes
    ):
        records += done
        simulation.collect(records, _KEYS, options.output)
    page = summary(simulation.collect(records, _KEYS, options.output), "python benchmarks/weighted.py")
    options.table.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
