"""How often does the range that a pilot gives for the required number of clusters hold the true one?

    python benchmarks/pilots.py             # about 5 minutes of CPU
    python benchmarks/pilots.py --quick     # seconds; the numbers mean nothing

Pilots are drawn from known laws: normal scores of one mean, Dirichlet-multinomial differences of two systems. The true number is
what `stats.required_clusters` says of the true standard deviation or disagreement and the true ICC. A range holds it if the goal is
reached with it at the end of the ICC's limits that asks for least, and is not with one cluster less at the other end. Each cell
draws from a seed of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
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

from evalci_accessor import stats
from evalci_accessor.exceptions import EvalCIWarning, PilotError

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "pilots.csv"
TABLE = HERE.parent / "docs" / "explanation" / "pilots_table.md"

SEED, N_PILOTS = 20_261_131, 100
HALF_WIDTH = 0.1  # in standard deviations
DISAGREEMENT, TRUE, DIFFERENCE, POWER = 0.3, 0.04, 0.08, 0.8
KEYS = ["goal", "clusters", "sizes", "icc"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """The design of a pilot, and what is planned from it."""

    goal: str  # "half-width" of one mean, or "power" for two systems
    clusters: int
    sizes: str
    icc: float

    def seed(self, base: int) -> np.random.SeedSequence:
        words = sum(f"{self.goal}{self.sizes}".encode())
        return np.random.SeedSequence([base, words, self.clusters, round(1000 * self.icc)])


def grid(*, quick: bool = False) -> list[Cell]:
    """The designs."""
    if quick:
        return [Cell(goal=goal, clusters=10, sizes="equal 5", icc=0.2) for goal in ("half-width", "power")]
    return [
        Cell(goal=goal, clusters=clusters, sizes=sizes, icc=icc)
        for goal in ("power", "half-width")
        for clusters, sizes in ((10, "equal 5"), (40, "equal 5"), (40, "log-normal"))
        for icc in (0.05, 0.3)
    ]


def pilot(cell: Cell, sizes: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """A row a score: of one system, or of two on the same items."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    spread = 1 / cell.icc - 1
    if cell.goal == "half-width":
        own, rest = rng.normal(size=len(sizes)), rng.normal(size=len(cluster))
        return pd.DataFrame(
            {"cluster": cluster, "score": np.sqrt(cell.icc) * own[cluster] + np.sqrt(1 - cell.icc) * rest}
        )
    ahead, behind = (DISAGREEMENT + TRUE) / 2, (DISAGREEMENT - TRUE) / 2
    shares = rng.dirichlet(spread * np.array([ahead, behind, 1 - DISAGREEMENT]), len(sizes))
    place = (rng.random(len(cluster))[:, None] > np.cumsum(shares, axis=1)[cluster, :2]).sum(axis=1)
    both = np.stack([place != 1, place != 0]).astype(int)  # where they agree, both pass
    item = np.arange(len(cluster))
    return pd.DataFrame(
        {
            "system": np.repeat(["a", "b"], len(item)), "item": np.tile(item, 2), "cluster": np.tile(cluster, 2),
            "score": both.ravel(),
        }
    )  # fmt: skip


def true_number(cell: Cell, sizes: np.ndarray) -> int:
    """What the goal takes with these sizes as a pattern, were all known."""
    common = {"icc": cell.icc, "items_per_cluster": sizes}
    if cell.goal == "half-width":
        return int(stats.required_clusters(half_width=HALF_WIDTH, std_dev=1.0, **common).n_clusters)
    return int(
        stats.required_clusters(
            difference=DIFFERENCE, power=POWER, disagreement=DISAGREEMENT, **common
        ).n_clusters
    )


def look(cell: Cell, rows: pd.DataFrame, number: int) -> tuple[bool, bool, bool]:
    """Whether the range lies above the true number, below it, and holds the true ICC."""
    if cell.goal == "half-width":
        found = rows.evalci.half_width("cluster", n_clusters=[number - 1, number])
        above = found["half_width_low"].iloc[1] > HALF_WIDTH
        below = found["half_width_high"].iloc[0] <= HALF_WIDTH
    else:
        ask = {"item": "item", "cluster": "cluster", "difference": DIFFERENCE}
        found = rows.evalci.power("system", n_clusters=[number - 1, number], **ask)
        above, below = found["power_high"].iloc[1] < POWER, found["power_low"].iloc[0] >= POWER
    return above, below, found["icc_low"].iloc[0] <= cell.icc <= found["icc_high"].iloc[0]


def simulate(cell: Cell, n_pilots: int, seed: int = SEED) -> dict:
    """How often the range holds the true number."""
    rng = np.random.default_rng(cell.seed(seed))
    sizes = np.sort(simulation.cluster_sizes(cell.sizes, cell.clusters, np.random.default_rng(3)))
    number, found = true_number(cell, sizes), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalCIWarning)
        while len(found) < n_pilots:
            try:
                found.append(look(cell, pilot(cell, sizes, rng), number))
            except PilotError:  # nothing varies, or too little for the goal; there is no range
                continue
    above, below, icc = np.mean(found, axis=0)
    return {
        "stage": 0, "method": "auto", **dataclasses.asdict(cell), "items": int(sizes.sum()), "seed": seed, "pilots": n_pilots,
        "number": number, "holds": 1 - above - below, "above": above, "below": below, "holds_icc": icc,
    }  # fmt: skip


def _job(job: tuple[Cell, int]) -> list[dict]:
    return [simulate(*job)]


def summary(frame: pd.DataFrame) -> str:
    """The table, without a heading, so that another page can include it."""
    made = (
        f"Made by `python benchmarks/pilots.py` with seed {int(frame['seed'].iloc[0])}: {int(frame['pilots'].iloc[0])} pilots a "
        f"row. The goal is a half-width of {HALF_WIDTH:g} for a mean of normal scores with standard deviation 1, or a power of "
        f"{POWER:g} for a difference of {DIFFERENCE:g} of 0/1 scores at a disagreement of {DISAGREEMENT:g}. The standard deviation "
        "or disagreement of a pilot is uncertain too, which the range leaves out. The standard error of a share of .8 is "
        f"{np.sqrt(0.8 * 0.2 / frame['pilots'].iloc[0]):.2f}."
    )
    rows = [
        [
            one.goal, one.clusters, one.sizes, f"{one.icc:.2f}", one.number, f"{one.holds:.2f}", f"{one.above:.2f}",
            f"{one.below:.2f}", f"{one.holds_icc:.2f}",
        ]
        for one in frame.itertuples()
    ]  # fmt: skip
    header = [
        "goal",
        "clusters of the pilot",
        "sizes",
        "ICC",
        "true number",
        "in the range",
        "range above",
        "range below",
    ]
    header += ["ICC in its limits"]
    return "\n".join([textwrap.fill(made, 120), "", simulation.markdown(header, rows), ""])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args(arguments)
    if options.quick and (options.output == CSV or options.table == TABLE):
        parser.error("--quick would overwrite the committed numbers; name --output and --table")
    jobs = [(cell, 4 if options.quick else N_PILOTS) for cell in grid(quick=options.quick)]
    records = []
    for done in simulation.spread(
        _job, jobs, processes=options.processes, label="pilots", bar=not options.quick
    ):
        records += done
    frame = simulation.collect(records, KEYS, options.output)
    options.table.write_text(summary(frame), encoding="utf-8")


if __name__ == "__main__":
    main()
