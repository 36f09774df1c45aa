"""Intervals of one clustered rate as other tools have them, and the default: coverage and mean width at nominal .95.

    python benchmarks/peers.py           # about 4 minutes of CPU
    python benchmarks/peers.py --quick   # a few small cells, seconds

The tools are not run; each interval is computed here from its formula, also where the sample has no variance, as the tools do it.
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
from evalci_accessor.stats.simulate import cluster_sums

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "peers.csv"
TABLE = HERE.parent / "docs" / "explanation" / "peers_table.md"

SEED = 20_260_302
CLUSTERS, SIZES, ICCS, RATES = (6, 12, 20, 40), ("5", "1 to 20"), (0.0, 0.3), (0.5, 0.9, 0.97)
_RESAMPLES, _CHUNK, _EDGE = 999, 100, 1e-12
Z = float(special.ndtri(0.975))
# Words, and where the method is found.
WORDS = {
    "naive": ("Wilson, clusters ignored", "most"),
    "bootstrap": ("percentile bootstrap of the clusters", "evalci, evalsig"),
    "cr1_z": ("CR1 with the normal quantile", "inspect_ai's standard error times 1.96"),
    "cr1_t": ("CR1 with t on G - 1", "errorbars, evalconfidence, evaluatellm, inspect_ai's `ci`"),
    "cr2": ("CR2 with Satterthwaite t", "clubSandwich"),
    "korn_graubard": ("Korn-Graubard", "R survey, svy"),
    "wilson_effective": ("Wilson on the Korn-Graubard size", "inspect_ai's `ci_wilson`"),
    "default": ("the default", "here"),
}


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting; all clusters are beta-binomial."""

    n_clusters: int
    sizes: str
    icc: float
    p: float

    def seed(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(
            [SEED, self.n_clusters, SIZES.index(self.sizes), round(100 * self.icc), round(100 * self.p)]
        )


def grid(*, quick: bool = False) -> list[Cell]:
    """The settings."""
    if quick:
        return [Cell(6, "5", 0.3, 0.9), Cell(12, "1 to 20", 0.0, 0.5)]
    return sorted(Cell(*one) for one in itertools.product(CLUSTERS, SIZES, ICCS, RATES))


def wilson(p: np.ndarray, n: np.ndarray | float, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's limits of a rate on n scores, with any quantile."""
    centre = (p + t**2 / (2 * n)) / (1 + t**2 / n)
    half = t / (1 + t**2 / n) * np.sqrt(p * (1 - p) / n + t**2 / (4 * n**2))
    return centre - half, centre + half


def intervals(
    s: np.ndarray, m: np.ndarray, seed: np.random.SeedSequence
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Limits of every method for each row of sums; nan where a tool gives none."""
    total, clusters = m.sum(), len(m)
    p = s.sum(axis=1) / total
    variance = clusters / (clusters - 1) * ((s - p[:, None] * m) ** 2).sum(axis=1) / total**2  # CR1
    error, t = np.sqrt(variance), float(special.stdtrit(clusters - 1, 0.975))
    flat = error < _EDGE
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where(flat, total, np.minimum(p * (1 - p) / variance, total))
    found = {
        "naive": wilson(p, float(total), Z),
        "cr1_z": (p - Z * error, p + Z * error),
        "cr1_t": (p - t * error, p + t * error),
        "wilson_effective": wilson(p, effective, t),
        "default": _ours(s, m, "auto"),
    }
    rows = np.flatnonzero(~flat)
    for name, empty in (("cr2", p), ("korn_graubard", np.full_like(p, np.nan)), ("bootstrap", p)):
        low, high = empty.copy(), empty.copy()
        if name == "bootstrap":
            for row, child in zip(rows, seed.spawn(len(rows)), strict=True):
                one = stats.cluster_ci(
                    s[row], m, method="bootstrap_percentile", n_resamples=_RESAMPLES, rng=child
                )
                low[row], high[row] = one.ci_low, one.ci_high
        elif len(rows):
            low[rows], high[rows] = _ours(s[rows], m, name)
        found[name] = (low, high)
    return found


def _ours(s: np.ndarray, m: np.ndarray, method: str) -> tuple[np.ndarray, np.ndarray]:
    parts = [s[start : start + _CHUNK] for start in range(0, len(s), _CHUNK)]
    results = [stats.cluster_ci(part, np.broadcast_to(m, part.shape), method=method) for part in parts]
    return np.concatenate([r.ci_low for r in results]), np.concatenate([r.ci_high for r in results])


def simulate(cell: Cell, replicates: int) -> list[dict]:
    """Coverage and mean width of each method in one cell: one record a method."""
    size_seed, draw_seed, resample_seed = cell.seed().spawn(3)
    equal = cell.sizes == "5"
    m = (
        np.full(cell.n_clusters, 5)
        if equal
        else np.random.default_rng(size_seed).integers(1, 21, cell.n_clusters)
    )
    s = cluster_sums(m, cell.icc, cell.p, replicates, np.random.default_rng(draw_seed), shape="beta_binomial")
    records = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = intervals(s, m, resample_seed)
    for method, (low, high) in answers.items():
        share = ((low <= cell.p + _EDGE) & (cell.p <= high + _EDGE)).mean()
        records.append(
            {
                **dataclasses.asdict(cell), "method": method, "stage": 0, "replicates": replicates, "coverage": share,
                "width": np.nanmean(high - low), "without": np.isnan(low).mean(),
            }
        )  # fmt: skip
    return records


def _job(job: tuple[Cell, int]) -> list[dict]:
    return simulate(*job)


def summary(frame: pd.DataFrame) -> str:
    """The table; it has no heading, so that another page can include it anywhere."""
    cells, replicates = len(frame) // frame["method"].nunique(), int(frame["replicates"].max())
    made = (
        f"Made by `python benchmarks/peers.py` with seed {SEED}: {cells} settings (beta-binomial; {min(CLUSTERS)} to "
        f"{max(CLUSTERS)} clusters of {' or '.join(SIZES)} items; ICC {' and '.join(f'{icc:g}' for icc in ICCS)}; rates "
        f"{', '.join(f'{p:g}' for p in RATES)}) of {replicates:,} samples each ({_RESAMPLES} resamples of the bootstrap). "
        f"Nominal coverage is .95; the standard error of one of .95 is {np.sqrt(0.95 * 0.05 / replicates):.4f}, so the worst is "
        "partly luck. A method that gives no "
        "interval for a sample has missed there, and its width is over the other samples."
    )
    by = frame.groupby("method")
    table = pd.DataFrame(
        {"mean": by["coverage"].mean(), "worst": by["coverage"].min(), "width": by["width"].mean()}
    )
    body = [[*WORDS[name], *(f"{x:.3f}" for x in table.loc[name])] for name in WORDS]
    header = ["method", "found in", "mean coverage", "worst", "mean width"]
    return f"{textwrap.fill(made, 120)}\n\n{simulation.markdown(header, body)}\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="a few cells; the numbers mean nothing")
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args(arguments)
    jobs = [(cell, 30 if options.quick else options.replicates) for cell in grid(quick=options.quick)]
    found = simulation.spread(_job, jobs, processes=options.processes, label="cells", bar=not options.quick)
    keys = [field.name for field in dataclasses.fields(Cell)]
    frame = simulation.collect(list(itertools.chain.from_iterable(found)), keys, options.output)
    page = summary(frame)
    options.table.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
