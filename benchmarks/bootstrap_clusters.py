"""How many clusters does a cluster bootstrap need? Coverage of the plain percentile, BCa and t bootstraps of one rate, nominal .95.

    python benchmarks/bootstrap_clusters.py           # about 2 minutes of CPU
    python benchmarks/bootstrap_clusters.py --quick   # a few small cells, seconds

The percentile bootstrap is exact, so its numbers hold no error from resampling. Plain: where all clusters have the same rate,
every resample gives it again and the interval is that one number. (The package gives a wider one there, and a warning.)
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

from evalci_accessor import stats
from evalci_accessor.stats.simulate import cluster_sums

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "bootstrap_clusters.csv"
TABLE = HERE.parent / "docs" / "explanation" / "bootstrap_table.md"

SEED = 20_260_301
CLUSTERS, RATES = (5, 10, 20, 30, 50, 100), (0.5, 0.8, 0.9, 0.95, 0.98)
SIZES, ICCS = (5, 20), (0.0, 0.1, 0.3, 0.8)
DRAWN = ("bootstrap_percentile", "bootstrap_bca", "bootstrap_t")
_CHUNK, _RESAMPLES, _RESAMPLED = 200, 999, 500
_EDGE = 1e-12  # a limit that equals the rate covers it, whatever the rounding


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting; ``drawn`` has the bootstraps that draw resamples beside the exact one."""

    n_clusters: int
    p: float
    size: int
    icc: float
    drawn: bool = False

    def seed(self) -> np.random.SeedSequence:
        key = [self.n_clusters, round(1000 * self.p), self.size, round(1000 * self.icc), int(self.drawn)]
        return np.random.SeedSequence([SEED, *key])


def grid(*, quick: bool = False) -> list[Cell]:
    """Every number of clusters, rate, size and ICC; the drawn ones at one size and ICC."""
    if quick:
        return [Cell(5, 0.9, 5, 0.3), Cell(10, 0.5, 20, 0.0), Cell(5, 0.9, 5, 0.3, drawn=True)]
    cells = [Cell(*one) for one in itertools.product(CLUSTERS, RATES, SIZES, ICCS)]
    cells += [Cell(g, p, 5, 0.3, drawn=True) for g, p in itertools.product((10, 30, 50), (0.8, 0.9, 0.98))]
    return sorted(cells)


def covers(s: np.ndarray, m: np.ndarray, p: float, method: str, seed: np.random.SeedSequence) -> np.ndarray:
    """Whether the plain interval of each row of sums holds p."""
    flat = (s == s[:, :1]).all(axis=1)
    low = s.mean(axis=1) / m[0]
    high = low.copy()
    rows = np.flatnonzero(~flat)
    if method == "bootstrap_exact":
        parts = [rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK)]
    else:
        parts = list(rows[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part, child in zip(parts, seed.spawn(len(parts)), strict=True):
            draws = {} if method == "bootstrap_exact" else {"n_resamples": _RESAMPLES, "rng": child}
            found = stats.cluster_ci(s[part], np.broadcast_to(m, s[part].shape), method=method, **draws)
            low[part], high[part] = found.ci_low, found.ci_high
    return (low <= p + _EDGE) & (p <= high + _EDGE)


def simulate(cell: Cell, replicates: int) -> list[dict]:
    """Coverage of each bootstrap in one cell: one record a method."""
    draw_seed, resample_seed = cell.seed().spawn(2)
    m = np.full(cell.n_clusters, cell.size)
    number = min(replicates, _RESAMPLED) if cell.drawn else replicates
    s = cluster_sums(m, cell.icc, cell.p, number, np.random.default_rng(draw_seed), shape="beta_binomial")
    records = []
    for method in DRAWN if cell.drawn else ("bootstrap_exact",):
        share = covers(s, m, cell.p, method, resample_seed).mean()
        records.append(
            {
                **dataclasses.asdict(cell), "method": method, "stage": 0, "replicates": number, "coverage": share,
                "coverage_se": np.sqrt(share * (1 - share) / number),
            }
        )  # fmt: skip
    return records


def _job(job: tuple[Cell, int]) -> list[dict]:
    return simulate(*job)


def in_rule(frame: pd.DataFrame) -> pd.Series:
    """At least 30 effective clusters, and at least 5 of them that would hold the rarer outcome."""
    rarer = frame["n_clusters"] * np.minimum(frame["p"], 1 - frame["p"])
    return (frame["n_clusters"] >= 30) & (rarer >= 5 - _EDGE)


def said(share: float) -> str:
    """Three digits; a mean that ends in a five, as those of whole numbers of data sets do, is one number in every pandas."""
    return f"{round(share, 9):.3f}"


def _crossed(part: pd.DataFrame, how: str) -> str:
    table = part.pivot_table(index="n_clusters", columns="p", values="coverage", aggfunc=how)
    body = [[f"{g}", *map(said, row)] for g, row in zip(table.index, table.to_numpy(), strict=True)]
    return simulation.markdown(["clusters", *(f"p = {p:g}" for p in table.columns)], body)


def summary(frame: pd.DataFrame) -> str:
    """The page of tables; it has no headings, so that another page can include it anywhere."""
    exact, drawn = frame[~frame["drawn"]], frame[frame["drawn"]]
    each = len(exact) // len(exact[["n_clusters", "p"]].drop_duplicates())
    made = (
        f"Made by `python benchmarks/bootstrap_clusters.py` with seed {SEED}: {len(exact)} cells of "
        f"{int(exact['replicates'].max()):,} data sets, beta-binomial clusters of equal size ({' or '.join(map(str, SIZES))}), "
        f"ICC {', '.join(f'{icc:g}' for icc in ICCS)}. A number is over the {each} cells of its number of clusters and rate. "
        f"The standard error of a cell's coverage of .95 is {np.sqrt(0.95 * 0.05 / exact['replicates'].max()):.4f}, of one of .5 "
        f"{np.sqrt(0.25 / exact['replicates'].max()):.4f}, so the least of {each} is partly luck."
    )
    out = [
        textwrap.fill(made, 120),
        "",
        "**Percentile bootstrap: mean coverage**",
        "",
        _crossed(exact, "mean"),
        "",
    ]
    out += ["**Percentile bootstrap: least coverage**", "", _crossed(exact, "min"), ""]
    inside = exact[in_rule(exact)]
    if len(inside):
        words = (
            f"Of the {len(inside)} cells within the rule the mean coverage is {said(inside['coverage'].mean())} and the least "
            f"{inside['coverage'].min():.3f}; of the {len(exact) - len(inside)} outside of it "
            f"{said(exact[~in_rule(exact)]['coverage'].mean())} and {exact[~in_rule(exact)]['coverage'].min():.3f}."
        )
        out += [textwrap.fill(words, 120), ""]
    table = drawn.pivot_table(index=["n_clusters", "p"], columns="method", values="coverage")[list(DRAWN)]
    body = [
        [f"{g}", f"{p:g}", *(f"{x:.3f}" for x in row)]
        for (g, p), row in zip(table.index, table.to_numpy(), strict=True)
    ]
    made = (
        f"{int(drawn['replicates'].max())} data sets each, {_RESAMPLES} resamples, clusters of 5, ICC .3; standard errors "
        f"{drawn['coverage_se'].min():.3f} to {drawn['coverage_se'].max():.3f}"
    )
    out += [
        f"**Other bootstraps** ({made})",
        "",
        simulation.markdown(["clusters", "p", "percentile", "BCa", "t"], body),
    ]
    return "\n".join(out) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=2_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="a few cells; the numbers mean nothing")
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args(arguments)
    jobs = [(cell, 40 if options.quick else options.replicates) for cell in grid(quick=options.quick)]
    records = itertools.chain.from_iterable(
        simulation.spread(_job, jobs, processes=options.processes, label="cells", bar=not options.quick)
    )
    keys = [field.name for field in dataclasses.fields(Cell)]
    frame = simulation.collect(list(records), keys, options.output)
    page = summary(frame)
    options.table.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
