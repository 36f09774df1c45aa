"""Coverage and mean width of the intervals of one clustered rate, by seeded simulation at nominal .95.

    python benchmarks/coverage.py --confirm 12        # the whole grid, about 20 minutes of CPU
    python benchmarks/coverage.py --quick             # a few small cells, seconds
    python benchmarks/coverage.py --resume            # go on with a run that was interrupted

Each cell draws from a seed of its own, so its numbers do not depend on the other cells or on the number of processes.
Finished cells are written at once; an interrupted run keeps them.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import textwrap
from collections.abc import Iterable, Iterator
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
from evalci_accessor.stats.simulate import cluster_sums

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "coverage.csv"
TABLE = HERE.parent / "docs" / "explanation" / "coverage_table.md"

SEED = 20_240_607
LEVEL = 0.95
DEFAULT = "icc_averaged"
GENERATORS = ("independent", "beta-binomial", "logit-normal", "all-or-nothing")
SIZES = ("equal 5", "equal 20", "log-normal", "dominated")
_EDGE = 1e-12  # a limit that equals the rate covers it, whatever the rounding
_CHUNK = 100  # tables in one call
_RESAMPLES, _RESAMPLED = (
    399,
    250,
)  # resamples, and replicates of a cell, of the percentile bootstrap that draws


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting of the simulation."""

    generator: str
    sizes: str
    n_clusters: int
    p: float
    icc: float

    def seed(self, base: int, stage: int) -> np.random.SeedSequence:
        key = (GENERATORS.index(self.generator), SIZES.index(self.sizes), self.n_clusters)
        return np.random.SeedSequence([base, stage, *key, round(1000 * self.p), round(1000 * self.icc)])


def grid(*, quick: bool = False) -> list[Cell]:
    """The cells. With ICC 0 all generators are the same. From 100 clusters on, only where trouble is known to live."""

    def cross(generator: str, sizes: Iterable[str], clusters: Iterable[int], p: Iterable[float],
              icc: Iterable[float]) -> list[Cell]:  # fmt: skip
        return [Cell(generator, *one) for one in itertools.product(sizes, clusters, p, icc)]

    if quick:
        return [
            *cross("independent", ["equal 5"], [4], [0.8], [0.0]),
            *cross("beta-binomial", ["equal 5", "log-normal"], [4, 10], [0.8], [0.3]),
            *cross("logit-normal", ["equal 5"], [6], [0.9], [0.3]),
            *cross("all-or-nothing", ["dominated"], [12], [0.9], [0.3]),
        ]
    cells = []
    some, all_rates = (0.5, 0.9, 0.98), (0.5, 0.8, 0.9, 0.95, 0.98)
    for sizes in SIZES:
        ten = 12 if sizes == "dominated" else 10
        # Where hardly two replicates are the same table a cell costs most: fewer rates and numbers of clusters there.
        rates = all_rates if sizes == "equal 5" else some
        few = {"equal 5": (4, 6, 10, 20, 50), "equal 20": (4, 10, 20, 50)}.get(sizes, (4, ten, 50))
        cells += cross("independent", [sizes], few, rates, [0.0])
        cells += cross("beta-binomial", [sizes], few, rates, [0.1, 0.3, 0.8])
        cells += cross("logit-normal", [sizes], (ten, 50), some, [0.3])
        cells += cross("all-or-nothing", [sizes], (ten, 20, 50), some, [0.1, 0.3])
    cells += cross("logit-normal", ["equal 5", "equal 20"], [10, 50], some, [0.8])
    cells += cross("all-or-nothing", ["equal 5", "equal 20"], [10, 20, 50], some, [0.8])
    many = (100, 200)
    cells += cross("independent", ["equal 5", "log-normal"], many, [0.5, 0.98], [0.0])
    cells += cross("beta-binomial", ["equal 5"], many, all_rates, [0.1, 0.3, 0.8])
    cells += cross("beta-binomial", ["log-normal"], many, [0.5, 0.98], [0.3])
    cells += cross("all-or-nothing", ["equal 5", "equal 20"], many, [0.9, 0.98], [0.1, 0.3])
    cells += cross("all-or-nothing", ["log-normal", "dominated"], many, [0.98], [0.1, 0.3])
    return sorted(cells)


def cluster_sizes(cell: Cell, rng: np.random.Generator) -> np.ndarray:
    """Sizes of the clusters, the same in every replicate of the cell."""
    return simulation.cluster_sizes(cell.sizes, cell.n_clusters, rng)


def draw(cell: Cell, sizes: np.ndarray, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Sums of 0/1 scores, shape (replicates, clusters); their mean and ICC are exactly the cell's."""
    if cell.generator != "all-or-nothing":
        smooth = "logit_normal" if cell.generator == "logit-normal" else "beta_binomial"
        return cluster_sums(sizes, cell.icc, cell.p, replicates, rng, shape=smooth)
    # As "all_or_nothing" of the package, but in the order in which the committed numbers were drawn.
    shape, p = (replicates, len(sizes)), cell.p
    whole = rng.random(shape) < cell.icc
    return np.where(whole, sizes * (rng.random(shape) < p), rng.binomial(sizes, p, size=shape))


def distinct_tables(s: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One replicate for each table of (s, m) pairs up to the order of the clusters, and which one each replicate is."""
    key = np.sort(m * (m.max() + 1) + s, axis=1)
    _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return first, inverse.ravel()


def _limits(s: np.ndarray, m: np.ndarray, method: str) -> tuple[np.ndarray, np.ndarray]:
    low, high = [], []
    for start in range(0, len(s), _CHUNK):
        rows = s[start : start + _CHUNK]
        if method == "wilson_naive":
            result = stats.proportion_ci(rows.sum(axis=1), m.sum(), method="wilson", confidence_level=LEVEL)
        else:
            result = stats.cluster_ci(
                rows, np.broadcast_to(m, rows.shape), method=method, confidence_level=LEVEL
            )
        low.append(result.ci_low)
        high.append(result.ci_high)
    return np.concatenate(low), np.concatenate(high)


def _known(s: np.ndarray, m: np.ndarray, icc: float) -> tuple[np.ndarray, np.ndarray]:
    """Clopper and Pearson's limits at the effective size of the true ICC, which no real data tell."""
    n = m.sum() / (1 + ((m**2).sum() / m.sum() - 1) * icc)
    x = s.sum(axis=1) / m.sum() * n
    alpha = (1 - LEVEL) / 2
    with np.errstate(invalid="ignore"):  # at the ends, which are put right
        low = np.where(x <= 0, 0.0, special.betaincinv(x, n - x + 1, alpha))
        high = np.where(x >= n, 1.0, special.betaincinv(x + 1, n - x, 1 - alpha))
    return low, high


def _percentile(s: np.ndarray, m: np.ndarray, seed: np.random.SeedSequence) -> tuple[np.ndarray, np.ndarray]:
    results = [
        stats.cluster_ci(
            row, m, method="bootstrap_percentile", n_resamples=_RESAMPLES, rng=child, confidence_level=LEVEL
        )
        for row, child in zip(s, seed.spawn(len(s)), strict=True)
    ]
    return np.array([r.ci_low for r in results]), np.array([r.ci_high for r in results])


def simulate(
    cell: Cell, replicates: int = 1000, *, seed: int = SEED, stage: int = 0, methods: str = "all"
) -> list[dict]:
    """Coverage and mean width of every method in one cell: one record a method.

    ``stage`` makes the draws independent of those of another stage; ``methods="default"`` leaves the others out.
    """
    size_seed = cell.seed(seed, 0).spawn(1)[0]  # the same sizes at every stage
    draw_seed, resample_seed = cell.seed(seed, stage).spawn(3)[1:]
    m = cluster_sizes(cell, np.random.default_rng(size_seed))
    s = draw(cell, m, replicates, np.random.default_rng(draw_seed))
    first, inverse = distinct_tables(s, m)
    names = [DEFAULT] if methods == "default" else [DEFAULT, "wilson_naive", "cr1", "korn_graubard"]
    answers = {name: tuple(x[inverse] for x in _limits(s[first], m, name)) for name in names}
    if methods == "all":
        answers["known_icc"] = _known(s, m, cell.icc)
    if methods == "all" and (m == m[0]).all():
        answers["bootstrap_exact"] = tuple(x[inverse] for x in _limits(s[first], m, "bootstrap_exact"))
    elif methods == "all":
        answers["bootstrap_percentile"] = _percentile(s[:_RESAMPLED], m, resample_seed)
    records = []
    for name, (low, high) in answers.items():
        covered = (low <= cell.p + _EDGE) & (cell.p <= high + _EDGE)
        share, width, n = covered.mean(), high - low, len(low)
        records.append(
            {
                **dataclasses.asdict(cell), "effective_clusters": m.sum() ** 2 / (m**2).sum(), "method": name,
                "stage": stage, "seed": seed, "replicates": n,
                "coverage": share, "coverage_se": np.sqrt(share * (1 - share) / n),
                "too_high": (low > cell.p + _EDGE).mean(), "too_low": (high < cell.p - _EDGE).mean(),
                "width": width.mean(), "width_se": width.std(ddof=1) / np.sqrt(n),
            }
        )  # fmt: skip
    return records


def _job(job: tuple[Cell, int, int, int, str]) -> list[dict]:
    cell, replicates, seed, stage, methods = job
    return simulate(cell, replicates, seed=seed, stage=stage, methods=methods)


def run(
    cells: list[Cell], replicates: int, *, seed: int = SEED, stage: int = 0, methods: str = "all", processes: int = 1,
    label: str = "cells", bar: bool = True,
) -> Iterator[list[dict]]:  # fmt: skip
    """Simulate cells, handing on the records of each as soon as it is done."""
    jobs = [(cell, replicates, seed, stage, methods) for cell in cells]
    return simulation.spread(_job, jobs, processes=processes, label=label, bar=bar)


_KEYS = [field.name for field in dataclasses.fields(Cell)]


def collect(records: list[dict], output: Path | None) -> pd.DataFrame:
    """Records as a sorted frame, written if there is a place for it."""
    return simulation.collect(records, _KEYS, output)


def lowest(frame: pd.DataFrame, number: int) -> list[Cell]:
    """The cells in which the default covers least."""
    rows = frame[(frame["method"] == DEFAULT) & (frame["stage"] == 0)].sort_values(["coverage", *_KEYS])[
        :number
    ]
    return [Cell(*row) for row in rows[_KEYS].itertuples(index=False)]


def _number(value: float, digits: int = 3) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}f}"


WORDS = {
    DEFAULT: "`icc_averaged` (the default)", "wilson_naive": "Wilson, clusters ignored", "cr1": "`cr1` with t",
    "korn_graubard": "`korn_graubard`", "bootstrap_exact": "`bootstrap_exact`, equal sizes",
    "bootstrap_percentile": "`bootstrap_percentile`, unequal sizes", "known_icc": "Clopper-Pearson, were the ICC known",
}  # fmt: skip


def by_method(frame: pd.DataFrame) -> list[list[str]]:
    main = frame[frame["stage"] == 0]
    width = main[main["method"] == DEFAULT].set_index(_KEYS)["width"]
    body = []
    for name, words in WORDS.items():
        part = main[main["method"] == name].set_index(_KEYS)
        if len(part):
            cover, relative = part["coverage"], part["width"] / width.reindex(part.index)
            body.append([words, str(len(part)), _number(cover.min()), _number(cover.quantile(0.05)), _number(cover.mean()),
                         f"{100 * (cover < 0.93).mean():.1f} %", _number(float(relative.median()), 2)])  # fmt: skip
    return body


def _crossed(part: pd.DataFrame, how: str) -> tuple[list[str], list[list[str]]]:
    table = part.pivot_table(index="n_clusters", columns="p", values="coverage", aggfunc=how)
    header = ["clusters", *(f"p = {p:g}" for p in table.columns)]
    return header, [
        [str(g), *map(_number, row)] for g, row in zip(table.index, table.to_numpy(), strict=True)
    ]


def summary(frame: pd.DataFrame, command: str) -> str:
    """The page of tables; it has no headings, so that another page can include it anywhere."""
    main = frame[frame["stage"] == 0]
    own = main[main["method"] == DEFAULT]
    replicates = int(own["replicates"].max())
    error = np.sqrt(0.95 * 0.05 / replicates)
    made = (
        f"Made by `{command}` with seed {int(own['seed'].iloc[0])}: {len(own)} cells of {replicates:,} replicates "
        f"({min(_RESAMPLED, replicates)}, with {_RESAMPLES} resamples, for the bootstrap that draws). The nominal level is "
        f"{LEVEL:.2f}, and the standard error of a coverage of .95 is {error:.4f}, so the least of many cells is partly "
        "luck: the last table has fresh draws for the lowest cells of the default. The design-based methods and the "
        "bootstraps have the fallback that the package gives them where the estimated variance is zero."
    )
    out = [textwrap.fill(made, 120), ""]

    def add(title: str, header: list[str], body: Iterable[Iterable[object]]) -> None:
        table = [simulation.markdown(header, body), ""]
        out.extend([f"**{title}**", "", *table] if title else table)

    relative = "median width (default = 1)"
    add(
        "",
        ["method", "cells", "least", "5 % of cells below", "mean", "cells under .93", relative],
        by_method(frame),
    )
    body = [
        [generator, sizes, len(part), _number(part["coverage"].min()), _number(part["coverage"].mean())]
        for (generator, sizes), part in own.groupby(["generator", "sizes"], observed=True, sort=True)
    ]
    title = "The default, by how the scores cluster and by cluster sizes: least and mean coverage"
    add(title, ["generator", "sizes", "cells", "least", "mean"], body)
    add("The default, by number of clusters and rate: least coverage", *_crossed(own, "min"))
    exact = "equal sizes; exact, so without resampling error"
    for name, words in (("bootstrap_exact", exact), ("bootstrap_percentile", "unequal sizes")):
        part = main[main["method"] == name]
        if len(part):
            title = f"Percentile cluster bootstrap ({words}), by number of clusters and rate: mean coverage"
            add(title, *_crossed(part, "mean"))
    again = frame[(frame["stage"] == 1) & (frame["method"] == DEFAULT)].sort_values("coverage")
    if len(again):
        before = own.set_index(_KEYS)["coverage"]
        body = [
            [row.generator, row.sizes, row.n_clusters, f"{row.p:g}", f"{row.icc:g}",
             _number(before[tuple(getattr(row, key) for key in _KEYS)]), _number(row.coverage), _number(row.coverage_se, 4)]
            for row in again.itertuples()
        ]  # fmt: skip
        title = (
            f"The lowest cells of the default again, with {int(again['replicates'].max()):,} fresh replicates"
        )
        add(title, ["generator", "sizes", "clusters", "p", "ICC", "at first", "again", "s.e."], body)
    return "\n".join(out)


def verdict(frame: pd.DataFrame) -> list[str]:
    """What the default must show. A cell that was simulated again counts with the larger run."""
    own = frame[frame["method"] == DEFAULT].sort_values("stage").drop_duplicates(_KEYS, keep="last")
    least, mean = (
        own["coverage"].min(),
        frame[(frame["method"] == DEFAULT) & (frame["stage"] == 0)]["coverage"].mean(),
    )
    return [
        f"least coverage of the default {least:.4f}: {'met' if least >= 0.925 else 'MISSED'} (>= .925)",
        f"mean coverage of the default {mean:.4f}: {'met' if 0.95 <= mean <= 0.99 else 'MISSED'} (.95 to .99)",
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a few small cells; nothing is written unless asked for"
    )
    parser.add_argument(
        "--replicates", type=int, default=None, help="replicates a cell (1000; 100 with --quick)"
    )
    parser.add_argument(
        "--confirm", type=int, default=0, metavar="N", help="simulate the N lowest cells of the default again"
    )
    parser.add_argument("--confirm-replicates", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output", type=Path, default=None, help=f"CSV ({CSV.name} in results/)")
    parser.add_argument(
        "--table", type=Path, default=None, help=f"Markdown ({TABLE.name} in docs/explanation/)"
    )
    parser.add_argument("--resume", action="store_true", help="keep the cells of --output that are done")
    options = parser.parse_args(arguments)
    output = options.output or (None if options.quick else CSV)
    table = options.table or (None if options.quick else TABLE)
    replicates = options.replicates or (100 if options.quick else 1000)
    cells, records = grid(quick=options.quick), []
    if options.resume and output is not None and output.exists():
        old = pd.read_csv(output)
        wanted = np.where(old["stage"] == 0, replicates, options.confirm_replicates)
        least = np.where(old["method"] == "bootstrap_percentile", np.minimum(wanted, _RESAMPLED), wanted)
        kept = old[(old["seed"] == options.seed) & (old["replicates"] == least)].to_dict("records")
        known = set(cells)
        records = [r for r in kept if Cell(*(r[key] for key in _KEYS)) in known]
    settings = {"seed": options.seed, "processes": options.processes}
    try:
        done = {tuple(r[key] for key in _KEYS) for r in records if r["stage"] == 0 and r["method"] == DEFAULT}
        left = [cell for cell in cells if dataclasses.astuple(cell) not in done]
        np.random.default_rng(0).shuffle(
            left
        )  # the bar's forecast is better, and an interrupted run is a fair sample
        for found in run(left, replicates, **settings):
            records += found
            collect(records, output)
        if options.confirm:
            low = lowest(pd.DataFrame(records), options.confirm)
            done = {tuple(r[key] for key in _KEYS) for r in records if r["stage"] == 1}
            records = [r for r in records if r["stage"] == 0 or Cell(*(r[key] for key in _KEYS)) in low]
            left = [cell for cell in low if dataclasses.astuple(cell) not in done]
            for found in run(
                left, options.confirm_replicates, stage=1, methods="default", label="lowest again", **settings
            ):
                records += found
                collect(records, output)
    except KeyboardInterrupt:
        print(f"Interrupted; {len(records)} records are kept" + (f" in {output}." if output else "."))
    if not records:
        return
    frame = collect(records, output)
    command = "python benchmarks/coverage.py" + (" --quick" if options.quick else "")
    command += f" --confirm {options.confirm}" if options.confirm else ""
    text = summary(frame, command)
    if table is not None:
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text(text, encoding="utf-8")
    else:
        print(text)
    print("\n".join(verdict(frame)))


if __name__ == "__main__":
    main()
