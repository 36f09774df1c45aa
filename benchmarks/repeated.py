"""Coverage of the intervals of pass@k, by seeded simulation at nominal .95: items in clusters, several samples an item.

    python benchmarks/repeated.py --confirm 8   # about 10 minutes of CPU
    python benchmarks/repeated.py --quick       # seconds; the numbers mean nothing

The rate of an item is normal on the logit scale, with a part that its cluster shares. pass^k of items that pass with probability p
is 1 less pass@k of items that pass with 1 - p, and its interval the mirror image, so that rates near 1 stand for pass^k of rates
near 0. Each cell draws from a seed of its own.

The least of many estimates is low by chance, too. So the lowest cells are drawn anew, with another seed and more often
(``--confirm``), and the second number counts.
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
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
import pandas as pd
import simulation

from evalci_accessor.exceptions import EvalCIWarning
from evalci_accessor.methods.repeated import repeated_columns
from evalci_accessor.options import RateOptions, RepeatedOptions
from evalci_accessor.read.ids import Codes
from evalci_accessor.read.items import Items
from evalci_accessor.read.rows import Names
from evalci_accessor.read.samples import Clustering
from evalci_accessor.stats.rates.clustered import cluster_ci

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "repeated.csv"
TABLE = HERE.parent / "docs" / "explanation" / "repeated_table.md"

SEED, KS = 20_251_130, np.array([1, 3, 5])
# Standard deviations of clusters and of items within them, on the logit scale.
WORLDS = {"alone": (0.0, 1.5), "weak": (0.5, 1.4), "strong": (1.4, 0.9)}
KEYS = ["world", "sizes", "clusters", "samples", "rate"]


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting of the simulation; ``rate`` is the mean rate of the items, ``alone`` has items without clusters."""

    world: str
    sizes: str
    clusters: int
    samples: int
    rate: float

    def seed(self, base: int) -> np.random.SeedSequence:
        own = [
            list(WORLDS).index(self.world),
            sum(self.sizes.encode()),
            self.clusters,
            self.samples,
            round(1000 * self.rate),
        ]
        return np.random.SeedSequence([base, *own])


def grid(*, quick: bool = False) -> list[tuple[Cell, int]]:
    """Cells and their numbers of simulations."""
    if quick:
        return [(Cell("strong", "log-normal", 8, 5, 0.5), 4), (Cell("alone", "equal 1", 30, 10, 0.1), 4)]
    rates, samples = (0.1, 0.9), (5, 10)
    alone = itertools.product(["alone"], ["equal 1"], (25, 100), samples, rates)
    within = itertools.product(("weak", "strong"), ("equal 5", "log-normal"), (10, 30), samples, rates)
    return [(Cell(*one), 250) for one in (*alone, *within)]


def law(cell: Cell) -> tuple[float, np.ndarray]:
    """The mean logit that gives the rate, and the true pass@k."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    spread = np.hypot(*WORLDS[cell.world])
    low, high = -20.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        rates = 1 / (1 + np.exp(-(middle + spread * nodes)))
        low, high = (middle, high) if weights @ rates < cell.rate else (low, middle)
    return middle, np.array([weights @ (1 - (1 - rates) ** k) for k in KS])


def items_of(c: np.ndarray, samples: int, clusters: np.ndarray | None) -> Items:
    """Items with c passes of so many samples each, as the accessors make them of rows."""
    names = Names(
        score="score",
        item=["item"],
        samples=[],
        entries="rows",
        n_groups=1,
        item_label=int,
        group_label=lambda _: "",
    )
    coded = None if clusters is None else Codes(codes=clusters, size=int(clusters.max()) + 1, label=int)
    found = [] if coded is None else [Clustering(name="cluster", coded=coded)]
    return Items(
        groups=np.zeros(len(c), dtype=np.int64), n=np.full(len(c), samples), label=int, words=str, weights=None,
        scores=(np.arange(samples) < c[:, None]).astype(float).ravel(), per_entry=np.full(len(c) * samples, samples),
        names=names, clusterings=found,
    )  # fmt: skip


def pass_options(rng: np.random.SeedSequence) -> RepeatedOptions:
    """Those of pass@k with its defaults and fewer draws."""
    return RepeatedOptions(measure="pass_at_k", too_few="raise", rate=RateOptions(n_resamples=999, rng=rng))


def simulate(cell: Cell, n_sims: int, seed: int = SEED, stage: int = 0) -> list[dict]:
    """Coverage of each k's interval, of all three simultaneous ones, and of the interval that takes rows as clustered by item."""
    rng = np.random.default_rng(cell.seed(seed))
    mean, true = law(cell)
    between, within = WORLDS[cell.world]
    m = simulation.cluster_sizes(cell.sizes, cell.clusters, rng)
    codes = np.repeat(np.arange(len(m)), m)
    held, width, together, rows = np.zeros(len(KS)), np.zeros(len(KS)), 0, 0
    for sim in range(n_sims):
        logit = mean + between * rng.normal(size=len(m))[codes] + within * rng.normal(size=len(codes))
        c = rng.binomial(cell.samples, 1 / (1 + np.exp(-logit)))
        options = pass_options(np.random.SeedSequence(sim))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvalCIWarning)
            items = items_of(c, cell.samples, None if cell.world == "alone" else codes)
            got = repeated_columns(items, KS, options)
            naive = cluster_ci(c, np.full(len(c), cell.samples), method="cr1")
        held += (got["ci_low"][0] <= true) & (true <= got["ci_high"][0])
        width += got["ci_high"][0] - got["ci_low"][0]
        together += bool(((got["simultaneous_low"][0] <= true) & (true <= got["simultaneous_high"][0])).all())
        rows += bool(naive.ci_low <= true[0] <= naive.ci_high)
    return [
        {
            "stage": stage, "method": "icc_averaged", **dataclasses.asdict(cell), "k": int(k), "seed": seed, "simulations": n_sims,
            "true": true[j], "coverage": held[j] / n_sims, "width": width[j] / n_sims, "all_k": together / n_sims,
            "rows_by_item": rows / n_sims if k == 1 else np.nan,
        }
        for j, k in enumerate(KS)
    ]  # fmt: skip


def _job(job: tuple[Cell, int, int, int]) -> list[dict]:
    return simulate(*job)


def lowest(frame: pd.DataFrame, number: int) -> list[Cell]:
    """Cells whose first estimate, of any k's interval or of all together, is lowest."""
    first = frame[frame["stage"] == 0]
    least = (
        first.assign(least=first[["coverage", "all_k"]].min(axis=1))
        .groupby(KEYS, as_index=False)["least"]
        .min()
    )
    return [Cell(*row) for row in least.sort_values(["least", *KEYS])[KEYS][:number].itertuples(index=False)]


def counted(frame: pd.DataFrame) -> pd.DataFrame:
    """The number that counts of each cell and k: of the second draw where there is one."""
    return frame.sort_values("stage", kind="stable").drop_duplicates([*KEYS, "k"], keep="last")


def summary(frame: pd.DataFrame) -> str:
    """The table, without headings, so that another page can include it."""
    again, whole = frame[frame["stage"] == 1], frame
    frame = frame[frame["stage"] == 0]
    cells = len(frame.drop_duplicates(KEYS))
    n_again = len(again.drop_duplicates(KEYS))
    command = f" --confirm {n_again}" if n_again else ""
    made = (
        f"Made by `python benchmarks/repeated.py{command}` with seed {int(frame['seed'].iloc[0])}: {cells} cells of "
        f"{int(frame['simulations'].max())} simulations, rates of .1 and .9, 5 and 10 samples an item; 25 and 100 items without "
        "clusters, or 10 and 30 clusters of equal (5) and log-normal sizes, alike a little or strongly. Shown is how often an "
        "interval at nominal .95 holds the true pass@k; under *all k*, how often the simultaneous ones of k = 1, 3 and 5 all do; "
        "under *by item*, k = 1 with CR1 by the item, as if there were no coarser clusters. The standard error of one cell's share "
        f"of .95 is {np.sqrt(0.95 * 0.05 / frame['simulations'].max()):.3f}."
    )
    header = ["items", "k", "least", "mean", "all k, least", "all k, mean", "by item, least"]
    body = []
    for world, label in (
        ("alone", "independent"),
        ("weak", "in clusters, a little alike"),
        ("strong", "in clusters, much alike"),
    ):
        for k in KS:
            part = frame[(frame["world"] == world) & (frame["k"] == k)]
            if not len(part):
                continue
            figures = [
                part["coverage"].min(),
                part["coverage"].mean(),
                part["all_k"].min(),
                part["all_k"].mean(),
            ]
            naive = f"{part['rows_by_item'].min():.3f}" if k == 1 else ""
            body.append([label, k, *map("{:.3f}".format, figures), naive])
    parts = [textwrap.fill(made, 120), "", simulation.markdown(header, body), ""]
    if len(again):
        least = counted(whole)
        told = (
            f"The least of so many estimates is low by chance, too. So the {n_again} cells with the lowest numbers above were "
            f"drawn anew, {int(again['simulations'].max()):,} times with seed {int(again['seed'].iloc[0])}: there the least is "
            f"{again['coverage'].min():.3f} for a single k, and {again['all_k'].min():.3f} for all together. With these in place "
            f"of their first numbers, the least of all cells is {least['coverage'].min():.3f} and {least['all_k'].min():.3f}."
        )
        parts += [textwrap.fill(told, 120), ""]
    return "\n".join(parts)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--confirm", type=int, default=0, metavar="N", help="draw the N lowest cells anew")
    parser.add_argument("--confirm-simulations", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args(arguments)
    if options.quick and (options.output == CSV or options.table == TABLE):
        parser.error("--quick would overwrite the committed numbers; name --output and --table")
    records = []
    jobs = [(cell, number, SEED, 0) for cell, number in grid(quick=options.quick)]
    settings = {"processes": options.processes, "bar": not options.quick}
    for done in simulation.spread(_job, jobs, label="repeated", **settings):
        records += done
    low = lowest(pd.DataFrame(records), options.confirm)
    jobs = [(cell, options.confirm_simulations, SEED + 1, 1) for cell in low]
    for done in simulation.spread(_job, jobs, label="lowest again", **settings) if jobs else ():
        records += done
    frame = simulation.collect(records, [*KEYS, "k"], options.output)
    options.table.write_text(summary(frame), encoding="utf-8")


if __name__ == "__main__":
    main()
