"""Does planned power, and the planned half-width, come true? Simulated designs beside what `stats` plans for them.

    python benchmarks/planning.py           # about 10 minutes of CPU
    python benchmarks/planning.py --quick   # seconds; the numbers mean nothing

Each design is drawn anew from a law that the plan does not know of, but for the numbers it is given: rates of clusters (and of
items within them) from a Dirichlet law, normal variables with thresholds, or skewed effects of graded scores. The real test or
interval is run on every sample. Each cell draws from a seed of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
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
from scipy.special import ndtr, ndtri

from evalci_accessor import stats
from evalci_accessor.stats.pairs.difference import infer
from evalci_accessor.stats.pairs.matched import PairTotals

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "planning.csv"
TABLE = HERE.parent / "docs" / "explanation" / "planning_table.md"

SEED, N_POWER, N_WIDTH, BATCH = 20_261_130, 20_000, 2_000, 500
KEYS = ["measure", "goal", "margin", "generator", "samples", "clusters", "sizes", "icc", "effect"]
# Shares of the variance of a latent score: of clusters and of items, which both systems see alike, and of what a cluster is to one.
PROBIT = {"probit, weak": (0.2, 0.3, 0.05), "probit, strong": (0.2, 0.2, 0.25)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """A design and what is asked of it.

    ``effect`` is the true difference, or the true rate of a half-width; ``spread`` the disagreement, or a standard deviation.
    """

    measure: str
    generator: str
    clusters: int
    sizes: str
    icc: float
    effect: float
    spread: float = 0.0
    goal: str = ""
    margin: float = 0.0
    samples: int = 1
    item_icc: float = 0.0
    rate: float = 0.0  # of the second system, for the latent laws

    def seed(self, base: int) -> np.random.SeedSequence:
        words = sum(f"{self.measure}{self.generator}{self.sizes}{self.goal}".encode())
        return np.random.SeedSequence(
            [base, words, self.clusters, self.samples, round(1000 * self.icc), round(1000 * self.effect)]
        )

    def pattern(self) -> np.ndarray:
        """Sizes of the clusters, which belong to the design."""
        return np.sort(simulation.cluster_sizes(self.sizes, self.clusters, np.random.default_rng(3)))


def _latent(generator: str, clusters: int, sizes: str, rate: float, gap: float) -> Cell:
    """A design under a latent law, in the terms of a plan: by quadrature."""
    shared, item, own = PROBIT[generator]
    x, w = np.polynomial.hermite_e.hermegauss(60)
    w = w / w.sum()
    means = ndtri([rate + gap, rate])
    a, b = ndtr((means[:, None] + np.sqrt(shared + item) * x) / np.sqrt(1 - shared - item))
    disagreement = float(w @ (a * (1 - b) + b * (1 - a)))
    u, x_a, x_b = np.meshgrid(
        np.sqrt(shared) * x, np.sqrt(own) * x, np.sqrt(own) * x, indexing="ij", sparse=True
    )
    rest = np.sqrt(1 - shared - own)
    gaps = ndtr((means[0] + u + x_a) / rest) - ndtr((means[1] + u + x_b) / rest)
    between = float(np.einsum("ijk,i,j,k->", gaps**2, w, w, w)) - gap**2
    return Cell(
        measure="power", generator=generator, clusters=clusters, sizes=sizes, icc=between / (disagreement - gap**2), effect=gap,
        spread=disagreement, goal="superiority", rate=rate,
    )  # fmt: skip


def grid(*, quick: bool = False) -> list[Cell]:
    """The designs."""

    def power(
        generator: str, clusters: int, sizes: str, icc: float, effect: float, spread: float, **more: object
    ) -> Cell:
        more = {"goal": "superiority", **more}
        return Cell(
            measure="power",
            generator=generator,
            clusters=clusters,
            sizes=sizes,
            icc=icc,
            effect=effect,
            spread=spread,
            **more,
        )

    def width(generator: str, clusters: int, sizes: str, icc: float, effect: float, **more: object) -> Cell:
        return Cell(
            measure="half-width",
            generator=generator,
            clusters=clusters,
            sizes=sizes,
            icc=icc,
            effect=effect,
            **more,
        )

    cells = [
        power("dirichlet", 4, "equal 20", 0.1, 0.4, 0.5),
        power("dirichlet", 10, "equal 10", 0.1, 0.15, 0.3),
        power("dirichlet", 20, "equal 5", 0.3, 0.2, 0.3),
        power("dirichlet", 8, "equal 30", 0.05, 0.15, 0.3),
        power("dirichlet", 50, "equal 5", 0.0, 0.08, 0.2),
        power("dirichlet", 50, "equal 5", 0.3, 0.1, 0.2),
        power("dirichlet", 100, "equal 20", 0.2, 0.06, 0.2),
        power("dirichlet", 300, "equal 2", 0.5, 0.05, 0.1),
        power("dirichlet", 200, "equal 1", 0.0, 0.1, 0.2),
        power("dirichlet", 40, "log-normal", 0.1, 0.12, 0.2),
        power("dirichlet", 120, "log-normal", 0.05, 0.06, 0.15),
        power("dirichlet", 12, "dominated", 0.05, 0.15, 0.2),
        power("dirichlet", 60, "equal 5", 0.2, 0.0, 0.2, goal="noninferiority", margin=0.08),
        power("dirichlet", 60, "log-normal", 0.1, 0.0, 0.2, goal="noninferiority", margin=0.1),
        power("dirichlet", 100, "equal 5", 0.1, 0.0, 0.15, goal="equivalence", margin=0.07),
        power("dirichlet", 60, "equal 5", 0.2, 0.15, 0.3, margin=0.03),
        power("dirichlet", 40, "equal 5", 0.1, 0.1, 0.4, samples=4, item_icc=0.4),
        power("dirichlet", 15, "log-normal", 0.1, 0.15, 0.3, samples=3, item_icc=0.3),
        power("graded", 25, "equal 8", 0.2, 0.2, 0.6),
        power("graded", 40, "log-normal", 0.2, 0.2, 0.6),
        power("graded", 12, "dominated", 0.05, 0.15, 0.6),
        _latent("probit, weak", 20, "equal 10", 0.7, 0.12),
        _latent("probit, strong", 60, "equal 5", 0.7, 0.1),
        _latent("probit, strong", 100, "equal 20", 0.8, 0.05),
        _latent("probit, weak", 40, "log-normal", 0.6, 0.1),
        width("beta", 10, "equal 5", 0.3, 0.8),
        width("beta", 40, "equal 5", 0.3, 0.8),
        width("beta", 160, "equal 5", 0.3, 0.8),
        width("beta", 40, "equal 20", 0.3, 0.8),
        width("beta", 40, "equal 5", 0.05, 0.95),
        width("beta", 100, "equal 20", 0.1, 0.5),
        width("beta", 20, "equal 10", 0.0, 0.9),
        width("beta", 200, "equal 1", 0.0, 0.7),
        width("beta", 12, "dominated", 0.1, 0.8),
        width("beta", 40, "log-normal", 0.2, 0.7),
        width("beta", 30, "equal 4", 0.1, 0.6, samples=4, item_icc=0.4),
        width("graded", 25, "equal 8", 0.2, 0.0, spread=0.6),
        width("graded", 12, "dominated", 0.1, 0.0, spread=0.6),
    ]
    return [cells[k] for k in (2, 16, 18, 21, 26, 35, 37)] if quick else cells


def _dirichlet(mean: np.ndarray, icc: float, rng: np.random.Generator) -> np.ndarray:
    """Probabilities about a mean, the last axis over the outcomes, whose one-hot draws correlate by ``icc``."""
    if icc <= 0:
        return mean
    gamma = rng.standard_gamma(mean * (1 / icc - 1))
    total = gamma.sum(axis=-1, keepdims=True)
    # All too small to be told from 0: one outcome is certain.
    certain = rng.random(mean.shape[:-1])[..., None] < mean.cumsum(axis=-1)
    certain = certain & ~np.concatenate([np.zeros_like(certain[..., :1]), certain[..., :-1]], axis=-1)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, gamma / total, certain)


def values(cell: Cell, sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Values of the items, differences of two systems or scores of one, shape (n, items)."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    if cell.generator == "graded":
        # Skewed effects of clusters, heavy tails of items.
        cluster = np.sqrt(cell.icc) * (rng.gamma(4.0, 0.5, size=(n, len(sizes))) - 2)
        item = np.sqrt(1 - cell.icc) * rng.standard_t(6, size=(n, len(codes))) / np.sqrt(1.5)
        return cell.effect + cell.spread * (cluster[:, codes] + item)
    if cell.generator in PROBIT:
        shared, item, own = np.sqrt(PROBIT[cell.generator])
        noise = np.sqrt(1 - sum(PROBIT[cell.generator]))
        common = shared * rng.normal(size=(n, len(sizes)))[:, codes] + item * rng.normal(size=(n, len(codes)))
        passed = [
            mean
            + common
            + own * rng.normal(size=(n, len(sizes)))[:, codes]
            + noise * rng.normal(size=(n, len(codes)))
            > 0
            for mean in ndtri([cell.rate + cell.effect, cell.rate])
        ]
        return passed[0].astype(float) - passed[1]
    if cell.measure == "power":
        start = np.array([(cell.spread + cell.effect) / 2, (cell.spread - cell.effect) / 2, 1 - cell.spread])
    else:
        start = np.array([cell.effect, 0.0, 1 - cell.effect])
    p = _dirichlet(np.broadcast_to(start, (n, len(sizes), 3)), cell.icc, rng)[:, codes]
    if cell.samples > 1:
        p = _dirichlet(p, (cell.item_icc - cell.icc) / (1 - cell.icc), rng)
    counts = rng.multinomial(cell.samples, p)
    return (counts[..., 0] - counts[..., 1]) / cell.samples


def tested(cell: Cell, sizes: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Whether the claim is affirmed, by sample."""
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums, squares = np.add.reduceat(d, first, axis=1), np.add.reduceat(d**2, first, axis=1)
    ask = {"margin": cell.margin or None, "claim": cell.goal}
    if cell.generator == "graded" or cell.samples > 1:
        total, square, n = sums.sum(axis=1), squares.sum(axis=1), int(sizes.sum())
        t = PairTotals(
            n=n, size=sizes.astype(float), d=sums, total=total, square=square, binary=False, bounded=False,
            span=np.ptp(d, axis=1), scale=np.abs(d).max(axis=1), spread=square - total**2 / n,
        )  # fmt: skip
        found = infer(t, "cr2", alternative="two-sided", confidence_level=0.95, **ask)
    else:
        method = "tango" if (sizes == 1).all() else "auto"
        b, c = (squares + sums) / 2, (squares - sums) / 2
        if method == "tango":
            found = stats.diff_ci(b.sum(axis=1), c.sum(axis=1), int(sizes.sum()), **ask)
        else:
            found = stats.diff_ci(b, c, sizes, **ask)
    return (
        found.verdict
        == {"superiority": "superior", "noninferiority": "noninferior", "equivalence": "equivalent"}[
            cell.goal
        ]
    )


def widths(cell: Cell, sizes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Half-width of the interval, by sample."""
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums, squares = np.add.reduceat(y, first, axis=1), np.add.reduceat(y**2, first, axis=1)
    graded = cell.generator == "graded" or cell.samples > 1
    method = "cr2" if cell.generator == "graded" else "auto"
    found = stats.cluster_ci(
        sums, np.broadcast_to(sizes, sums.shape), ss=squares if graded else None, method=method
    )
    return (found.ci_high - found.ci_low) / 2


def planned(cell: Cell) -> tuple[float, str]:
    """The plan, and the method that it is for."""
    more = {
        "icc": cell.icc, "n_clusters": cell.clusters, "items_per_cluster": cell.pattern(), "n_samples": cell.samples,
        "item_icc": cell.item_icc if cell.samples > 1 else None,
    }  # fmt: skip
    if cell.measure == "half-width":
        spread = {"std_dev": cell.spread} if cell.generator == "graded" else {"rate": cell.effect}
        plan = stats.half_width(**spread, **more)
        return float(plan.half_width), plan.method
    spread = {"std_dev" if cell.generator == "graded" else "disagreement": cell.spread}
    plan = stats.power(cell.effect, **spread, **more, margin=cell.margin or None, claim=cell.goal)
    return float(plan.power), plan.method


def simulate(cell: Cell, n_sims: int, seed: int = SEED) -> dict:
    """The plan beside the share of the samples in which the claim is affirmed, or the mean half-width."""
    rng, sizes, found = np.random.default_rng(cell.seed(seed)), cell.pattern(), []
    judge = tested if cell.measure == "power" else widths
    for start in range(0, n_sims, BATCH):
        found.append(judge(cell, sizes, values(cell, sizes, min(BATCH, n_sims - start), rng)))
    got = np.concatenate(found)
    plan, method = planned(cell)
    return {
        "stage": 0, "method": method, **dataclasses.asdict(cell), "items": int(sizes.sum()), "seed": seed, "simulations": n_sims,
        "planned": plan, "simulated": got.mean(), "error": got.std() / np.sqrt(n_sims),
    }  # fmt: skip


def _job(job: tuple[Cell, int]) -> list[dict]:
    return [simulate(*job)]


def summary(frame: pd.DataFrame) -> str:
    """The tables, without headings, so that another page can include them."""
    power, width = (frame[frame["measure"] == measure] for measure in ("power", "half-width"))
    made = (
        f"Made by `python benchmarks/planning.py` with seed {int(frame['seed'].iloc[0])}: {len(frame)} designs, "
        f"{int(power['simulations'].max()):,} samples each for a power and {int(width['simulations'].max()):,} for a half-width. "
        "The law of the samples is not the plan's: rates of clusters and items are Dirichlet (beta for one rate); *probit* has "
        "normal variables with thresholds; graded scores have skewed effects of clusters, and items with heavy tails. The test or "
        "interval is the default for such scores at nominal .95."
    )

    def common(one: Cell) -> list[str]:
        sizes = f"of {one.sizes.removeprefix('equal ')}" if one.sizes.startswith("equal") else one.sizes
        clusters = f"{one.clusters} {sizes}" + (f", {one.samples} samples" if one.samples > 1 else "")
        return [one.method, one.generator, clusters, f"{one.icc:.2f}"]

    def claim(one: Cell) -> str:
        return one.goal + (f", {one.margin:g}" if one.margin else "")

    first = simulation.markdown(
        ["claim, margin", "test", "law", "clusters", "ICC", "difference", "planned", "simulated"],
        (
            [claim(one), *common(one), f"{one.effect:g}", f"{one.planned:.3f}", f"{one.simulated:.3f}"]
            for one in power.itertuples()
        ),
    )
    second = simulation.markdown(
        ["interval", "law", "clusters", "ICC", "of", "planned", "simulated", "off"],
        (
            [*common(one), f"SD {one.spread:g}" if one.generator == "graded" else f"rate {one.effect:g}", f"{one.planned:.4f}",
             f"{one.simulated:.4f}", f"{one.planned / one.simulated - 1:+.1%}"]
            for one in width.itertuples()
        ),
    )  # fmt: skip
    return "\n".join([textwrap.fill(made, 120), "", "Power:", "", first, "", "Half-width:", "", second, ""])


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
    jobs = [
        (cell, 20 if options.quick else N_POWER if cell.measure == "power" else N_WIDTH)
        for cell in grid(quick=options.quick)
    ]
    records = []
    for done in simulation.spread(
        _job, jobs, processes=options.processes, label="planning", bar=not options.quick
    ):
        records += done
    frame = simulation.collect(records, KEYS, options.output)
    options.table.write_text(summary(frame), encoding="utf-8")


if __name__ == "__main__":
    main()
