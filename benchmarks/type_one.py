"""Two systems on the same items, by seeded simulation at nominal .05: how often each test rejects when they do not differ, and
how often each interval holds a difference that is there.

    python benchmarks/type_one.py --confirm 8         # the whole grid, about 15 minutes of CPU
    python benchmarks/type_one.py --beyond            # where the default is known to fail, outside the grid: a minute
    python benchmarks/type_one.py --quick             # a few small cells, seconds

Each cell draws from a seed of its own, so its numbers do not depend on the other cells or on the number of processes.
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
os.environ.setdefault("TQDM_DISABLE", "1")  # the package's own bars; the one below asks to be shown

import numpy as np
import pandas as pd
import simulation

from evalci_accessor import stats
from evalci_accessor.stats.pairs.difference import joint_law, prepare
from evalci_accessor.stats.pairs.laws import sided
from evalci_accessor.stats.pairs.matched import PairTotals

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "type_one.csv"
TABLE = HERE.parent / "docs" / "explanation" / "type_one_table.md"
BEYOND = HERE.parent / "docs" / "explanation" / "type_one_beyond_table.md"

SEED = 20_250_311
LEVEL = 0.95
DEFAULT = "icc_averaged"
LIMIT = 0.075
SIZES = ("equal 5", "log-normal", "dominated")
CLUSTERS = (5, 8, 12, 20, 40)
DISAGREEMENT = (0.1, 0.3)
# How the tendency u of a cluster to favour the first system is drawn; its mean is 0 in each, so the systems do not differ.
NULLS: dict[str, tuple[tuple[float, float], ...]] = {
    "no clustering": ((0.0, 1.0),),
    "exchangeable": ((0.5, 0.5), (-0.5, 0.5)),
    "exchangeable, whole": ((1.0, 0.5), (-1.0, 0.5)),
    "asymmetric": ((1 / 3, 0.75), (-1.0, 0.25)),
}
# The same where the first system is ahead: always, half of the time, and against a few clusters.
SHIFTS: dict[str, tuple[tuple[float, float], ...]] = {
    "one way": ((1.0, 1.0),),
    "half of the clusters": ((1.0, 0.5), (0.0, 0.5)),
    "against a tenth": ((1.0, 0.9), (-1.0, 0.1)),
}
SETTINGS = NULLS | SHIFTS
# Outside the grid: every cluster leans to one side, by 50 % of its items against 10 %.
COIN = {"coin": ((2 / 3, 0.5), (-2 / 3, 0.5))}
INTERVALS = ("icc_averaged", "bootstrap", "cr1", "cr2")
_CHUNK, _RESAMPLES = 250, 999
WORDS = {
    DEFAULT: "`icc_averaged` (the default)", "asymptotic": "McNemar, clusters ignored", "bootstrap": "percentile cluster bootstrap",
    "cr1": "`cr1` with t(G - 1)", "cr2": "`cr2` with Bell-McCaffrey t", "obuchowski": "Obuchowski", "durkalski": "Durkalski",
    "yang": "Yang", "sign_flip": "cluster sign-flip",
}  # fmt: skip


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting of the simulation."""

    setting: str
    sizes: str
    n_clusters: int
    disagreement: float

    def seed(self, base: int, stage: int) -> np.random.SeedSequence:
        settings, sizes = list(SETTINGS | COIN), (*SIZES, "equal 20", "equal 200")
        key = (
            settings.index(self.setting),
            sizes.index(self.sizes),
            self.n_clusters,
            round(1000 * self.disagreement),
        )
        return np.random.SeedSequence([base, stage, *key])

    @property
    def difference(self) -> float:
        """The true difference."""
        return self.disagreement * sum(u * chance for u, chance in (SETTINGS | COIN)[self.setting])


def grid(*, quick: bool = False) -> list[Cell]:
    """Every setting, pattern of sizes, number of clusters, and share of items on which the systems disagree."""
    if quick:
        return [
            Cell("no clustering", "equal 5", 5, 0.3), Cell("asymmetric", "dominated", 12, 0.3), Cell("one way", "equal 5", 8, 0.3)
        ]  # fmt: skip
    return sorted(Cell(*one) for one in itertools.product(SETTINGS, SIZES, CLUSTERS, DISAGREEMENT))


def beyond() -> list[Cell]:
    """Cells outside the grid: few clusters that lean (one of the grid among them), and systems that disagree on most items."""
    cells = [Cell("coin", "equal 200", g, 0.6) for g in (3, 4, 5)]
    cells += [
        Cell("exchangeable, whole", sizes, g, 0.3)
        for sizes, g in (("equal 20", 3), ("dominated", 3), ("log-normal", 5))
    ]
    return cells + [Cell("asymmetric", "dominated", g, share) for g in (5, 8) for share in (0.6, 1.0)]


def normal_law(b: np.ndarray, c: np.ndarray, m: np.ndarray) -> np.ndarray:
    """P-values of the default as published, with the normal law however few the clusters."""
    law = joint_law([prepare(PairTotals.from_counts(b, c, m), DEFAULT)])
    return sided(*dataclasses.replace(law, df=np.full(len(b), np.inf)).tails(0.0), "two-sided")


def cluster_sizes(cell: Cell, rng: np.random.Generator) -> np.ndarray:
    """Sizes of the clusters, the same in every replicate of the cell."""
    return simulation.cluster_sizes(cell.sizes, cell.n_clusters, rng)


def draw(
    cell: Cell, sizes: np.ndarray, replicates: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Items that only the first and only the second passed, shape (replicates, G)."""
    values, chances = zip(*(SETTINGS | COIN)[cell.setting], strict=True)
    u = rng.choice(values, p=chances, size=(replicates, len(sizes)))
    disagree = rng.binomial(sizes, cell.disagreement, size=u.shape)
    only_a = rng.binomial(disagree, (1 + u) / 2)
    return only_a, disagree - only_a


def misses(
    b: np.ndarray, c: np.ndarray, m: np.ndarray, method: str, seed: np.random.SeedSequence, difference: float
) -> np.ndarray:
    """Whether the test rejects equal rates, or the interval misses the true difference."""
    alpha, found = 1 - LEVEL, []
    parts = range(0, len(b), _CHUNK)
    for start, child in zip(parts, seed.spawn(len(parts)), strict=True):
        rows = slice(start, start + _CHUNK)
        if method == "asymptotic":
            p = stats.mcnemar(b[rows].sum(axis=1), c[rows].sum(axis=1), method=method).pvalue
        elif method in INTERVALS:
            result = stats.diff_ci(
                b[rows], c[rows], m, method="bootstrap_percentile" if method == "bootstrap" else method, confidence_level=LEVEL,
                n_resamples=_RESAMPLES, rng=child,
            )  # fmt: skip
            found.append((result.ci_low > difference + 1e-12) | (result.ci_high < difference - 1e-12))
            continue
        else:
            p = stats.mcnemar(b[rows], c[rows], m, method=method, rng=child).pvalue
        found.append(p <= alpha * (1 + 1e-9))
    return np.concatenate(found)


def simulate(
    cell: Cell, replicates: int, *, seed: int = SEED, stage: int = 0, methods: str = "all"
) -> list[dict]:
    """Error rate of every method in one cell: one record a method."""
    size_seed = cell.seed(seed, 0).spawn(1)[0]  # the same sizes at every stage
    draw_seed, resample_seed = cell.seed(seed, stage).spawn(3)[1:]
    m = cluster_sizes(cell, np.random.default_rng(size_seed))
    b, c = draw(cell, m, replicates, np.random.default_rng(draw_seed))
    records = []
    for method in [DEFAULT] if methods == "default" else WORDS if cell.setting in NULLS else INTERVALS:
        share = float(misses(b, c, m, method, resample_seed, cell.difference).mean())
        records.append(
            {
                **dataclasses.asdict(cell), "effective_clusters": m.sum() ** 2 / (m**2).sum(), "method": method, "stage": stage,
                "seed": seed, "replicates": replicates, "missed": share,
                "missed_se": np.sqrt(share * (1 - share) / replicates),
            }
        )  # fmt: skip
    return records


def _job(job: tuple[Cell, int, int, int, str]) -> list[dict]:
    cell, replicates, seed, stage, methods = job
    return simulate(cell, replicates, seed=seed, stage=stage, methods=methods)


def run(
    cells: list[Cell], replicates: int, *, seed: int = SEED, stage: int = 0, methods: str = "all", processes: int = 1,
    bar: bool = True,
) -> Iterator[list[dict]]:  # fmt: skip
    """Simulate cells, handing on the records of each as soon as it is done."""
    jobs = [(cell, replicates, seed, stage, methods) for cell in cells]
    return simulation.spread(_job, jobs, processes=processes, label="cells", bar=bar)


_KEYS = [field.name for field in dataclasses.fields(Cell)]


def collect(records: list[dict], output: Path | None) -> pd.DataFrame:
    """Records as a sorted frame, written if there is a place for it."""
    return simulation.collect(records, _KEYS, output)


def highest(frame: pd.DataFrame, number: int) -> list[Cell]:
    """The cells in which the default rejects most."""
    own = frame[(frame["method"] == DEFAULT) & (frame["stage"] == 0)]
    rows = own.sort_values(["missed", *_KEYS], ascending=[False, *[True] * len(_KEYS)])[:number]
    return [Cell(*row) for row in rows[_KEYS].itertuples(index=False)]


def _by_method(main: pd.DataFrame, settings: list[str], methods: list[str]) -> str:
    body: list[list[object]] = []
    main = main[main["setting"].isin(settings)]
    for method in methods:
        missed = main.loc[main["method"] == method, "missed"]
        row: list[object] = [
            WORDS[method],
            f"{missed.max():.3f}",
            f"{missed.mean():.3f}",
            f"{100 * (missed > LIMIT).mean():.0f} %",
        ]
        row += [f"{missed[main['setting'] == setting].max():.3f}" for setting in settings]
        body.append(row)
    header = [
        "method",
        "highest",
        "mean",
        f"cells over {LIMIT}",
        *(f"highest, {setting}" for setting in settings),
    ]
    return simulation.markdown(header, body)


def summary(frame: pd.DataFrame, command: str) -> str:
    """The page of tables; it has no headings, so that another page can include it anywhere."""
    main = frame[frame["stage"] == 0]
    cells = len(main[_KEYS].drop_duplicates())
    replicates = int(main["replicates"].max())
    made = (
        f"Made by `{command}` with seed {int(main['seed'].iloc[0])}: {cells} cells of {replicates:,} replicates "
        f"({_RESAMPLES} resamples for the bootstrap). The nominal level is {1 - LEVEL:.2f}, and the standard error "
        f"of a rate of .05 is {np.sqrt(0.05 * 0.95 / replicates):.4f}, so the highest of many cells is partly luck."
    )
    out = [textwrap.fill(made, 120), "", "**Type I error: how often equal systems are found different**", ""]
    out += [_by_method(main, list(NULLS), list(WORDS)), ""]
    own = main[main["method"] == DEFAULT]
    equal = own[own["setting"].isin(list(NULLS))]
    table = equal.pivot_table(index="n_clusters", columns="sizes", values="missed", aggfunc="max").reindex(
        columns=list(SIZES)
    )
    rows = [
        [str(g), *(f"{x:.3f}" for x in row)] for g, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    title = "**Type I error of the default, by number of clusters and their sizes: highest**"
    out += [title, "", simulation.markdown(["clusters", *SIZES], rows), ""]
    if main["setting"].isin(list(SHIFTS)).any():
        out += ["**How often the 95 % interval misses a difference that is there**", ""]
        out += [_by_method(main, list(SHIFTS), list(INTERVALS)), ""]
    again = frame[(frame["stage"] == 1) & (frame["method"] == DEFAULT)].sort_values("missed", ascending=False)
    if len(again):
        before = own.set_index(_KEYS)["missed"]
        rows = [
            [*(str(row[key]) for key in _KEYS), f"{before[tuple(row[_KEYS])]:.3f}", f"{row['missed']:.3f}"]
            for _, row in again.iterrows()
        ]
        title = f"**The highest cells of the default again, with fresh draws ({int(again['replicates'].max()):,} replicates)**"
        out += [
            title,
            "",
            simulation.markdown(["setting", "sizes", "clusters", "disagreement", "first", "again"], rows),
            "",
        ]
    return "\n".join(out)


def report_beyond(replicates: int) -> str:
    """Type I error outside the grid, of the default and of the same with the normal law."""
    body = []
    for cell in beyond():
        m = cluster_sizes(cell, np.random.default_rng(cell.seed(SEED, 0).spawn(1)[0]))
        b, c = draw(cell, m, replicates, np.random.default_rng(cell.seed(SEED, 0).spawn(2)[1]))
        rates = [
            (stats.mcnemar(b, c, m).pvalue <= 1 - LEVEL).mean(),
            (normal_law(b, c, m) <= 1 - LEVEL).mean(),
        ]
        body.append(
            [cell.setting, cell.sizes, cell.n_clusters, cell.disagreement, *map("{:.3f}".format, rates)]
        )
    return simulation.markdown(
        ["setting", "sizes", "clusters", "disagreement", "default", "with the normal law"], body
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=20_000)
    parser.add_argument("--confirm", type=int, default=0, help="cells to simulate again with fresh draws")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="a few cells; the numbers mean nothing")
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--beyond", action="store_true", help="cells outside the grid")
    options = parser.parse_args(arguments)
    if options.beyond:
        made = f"Made by `python benchmarks/type_one.py --beyond` with seed {SEED}: {options.replicates:,} replicates each."
        page = f"{made}\n\n{report_beyond(options.replicates)}\n"
        (BEYOND if options.table == TABLE else options.table).write_text(page, encoding="utf-8")
        print(page)
        return
    replicates = 50 if options.quick else options.replicates
    records: list[dict] = []
    for done in run(grid(quick=options.quick), replicates, processes=options.processes):
        records += done
        collect(records, options.output)
    frame = collect(records, options.output)
    again = highest(frame, options.confirm)
    for done in (
        run(again, replicates, stage=1, methods="default", processes=options.processes) if again else ()
    ):
        records += done
    frame = collect(records, options.output)
    command = "python benchmarks/type_one.py" + (f" --confirm {options.confirm}" if options.confirm else "")
    page = summary(frame, command)
    options.table.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
