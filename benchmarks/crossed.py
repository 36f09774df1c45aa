"""Crossed clusterings: coverage of the intervals of a rate and of a difference of equal systems, simulated at nominal .95.

    python benchmarks/crossed.py           # about 30 minutes of CPU
    python benchmarks/crossed.py --quick   # seconds; the numbers mean nothing
    python benchmarks/crossed.py --only difference   # these cells anew; the others stay as the file has them

Scores are 0/1 from a latent normal score with effects of the document, the prompt and the two together; two systems have such
effects each of its own, beside one of the item that they share. Each cell draws from a seed of its own, so its numbers do not
depend on the other cells or on the number of processes.
"""

from __future__ import annotations

import argparse
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
from scipy.special import ndtri

from evalci_accessor.options import RateOptions
from evalci_accessor.stats.pairs.difference import infer
from evalci_accessor.stats.pairs.matched import MatchedScores
from evalci_accessor.stats.rates.clustered import Given, rate
from evalci_accessor.stats.rates.crossed import Crossed
from evalci_accessor.stats.results import DifferenceResult, RateResult

HERE = Path(__file__).resolve().parent
CSV = HERE / "results" / "crossed.csv"
TABLE = HERE.parent / "docs" / "explanation" / "crossed_table.md"

SEED, LEVEL = 20_261_130, 0.95
_EDGE = 1e-12  # a limit that equals the rate covers it, whatever the rounding
_RESAMPLES, _RESAMPLED = 399, 200  # resamples, and replicates of a cell, of the bootstrap
# Shares of document, prompt and both together in the variance of the latent score.
EFFECTS = {
    "none": (0, 0, 0), "documents": (0.3, 0, 0), "prompts": (0, 0.3, 0), "both": (0.3, 0.3, 0), "strong": (0.5, 0.4, 0),
    "cells": (0.1, 0.1, 0.4),
}  # fmt: skip
# Documents, prompts, share of their meetings that hold scores, scores in each.
DESIGNS = {"10 x 5": (10, 5, 1, 1), "40 x 6": (40, 6, 1, 1), "30 x 30": (30, 30, 1, 1), "60 x 60, a tenth": (60, 60, 0.1, 1),
           "20 x 10, 3 each": (20, 10, 1, 3)}  # fmt: skip
_SHARED = 0.3  # share of the item in the latent scores of two systems; the effects above share the rest
METHODS = {
    "default": "`icc_averaged`, all clusterings (the default)", "smaller": "`icc_averaged`, only the one with the smaller n_eff",
    "documents": "`icc_averaged`, documents only", "cr1": "`cr1`, t on the fewest G - 1",
    "cr2": "`cr2`, t on the least Bell-McCaffrey df", "pigeonhole": "`bootstrap_pigeonhole`",
}  # fmt: skip


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """One setting of the simulation: of a ``"rate"`` or of a ``"difference"``."""

    kind: str
    design: str
    effect: str
    p: float

    def seed(self, base: int) -> np.random.SeedSequence:
        own = [list(DESIGNS).index(self.design), list(EFFECTS).index(self.effect), round(1000 * self.p)]
        return np.random.SeedSequence([base, *own, *([1] if self.kind == "difference" else [])])


def grid(*, quick: bool = False) -> list[tuple[Cell, int]]:
    """Cells and their numbers of simulations."""
    if quick:
        some = [("10 x 5", "both", 0.8), ("20 x 10, 3 each", "cells", 0.9)]
        return [(Cell(kind, *one), 8) for kind in ("rate", "difference") for one in some]
    cells = itertools.product(("rate", "difference"), DESIGNS, EFFECTS, (0.5, 0.8, 0.95))
    return [
        (Cell(*one), 1000) for one in cells
        if (one[2] == "cells") <= (one[1] == "20 x 10, 3 each")  # a single score has no cell of its own
    ]  # fmt: skip


def places(cell: Cell, rng: np.random.Generator) -> np.ndarray:
    """Document and prompt of each score, shape (2, n)."""
    n_docs, n_prompts, share, several = DESIGNS[cell.design]
    at = np.indices((n_docs, n_prompts)).reshape(2, -1)
    if share < 1:
        at = at[:, np.sort(rng.permutation(at.shape[1])[: round(share * at.shape[1])])]
    return np.repeat(at, several, axis=1)


def latent(cell: Cell, at: np.ndarray, n_sims: int, rng: np.random.Generator) -> np.ndarray:
    """Latent scores (n_sims, n) of variance 1."""
    n_docs, n_prompts, _, several = DESIGNS[cell.design]
    doc, prompt = at
    by_doc, by_prompt, by_cell = np.sqrt(EFFECTS[cell.effect])
    out = (
        by_doc * rng.standard_normal((n_sims, n_docs))[:, doc]
        + by_prompt * rng.standard_normal((n_sims, n_prompts))[:, prompt]
    )
    out += by_cell * np.repeat(rng.standard_normal((n_sims, len(doc) // several)), several, axis=1)
    return out + np.sqrt(1 - sum(EFFECTS[cell.effect])) * rng.standard_normal(out.shape)


def simulate(cell: Cell, n_sims: int, seed: int = SEED) -> list[dict]:
    """Coverage and width of each method in one cell."""
    rng = np.random.default_rng(cell.seed(seed))
    at = places(cell, rng)
    found, truth = (
        (rates(cell, at, n_sims, rng), cell.p)
        if cell.kind == "rate"
        else (differences(cell, at, n_sims, rng), 0.0)
    )
    return [
        {
            **dataclasses.asdict(cell), "method": name, "seed": seed, "simulations": np.size(one.ci_low),
            "coverage": float(((one.ci_low <= truth + _EDGE) & (one.ci_high >= truth - _EDGE)).mean()),
            "width": float((one.ci_high - one.ci_low).mean()), "stage": 0,
        }
        for name, one in found.items()
    ]  # fmt: skip


def rates(cell: Cell, at: np.ndarray, n_sims: int, rng: np.random.Generator) -> dict[str, RateResult]:
    """Intervals of one rate by each method."""
    doc, prompt = at
    scores = (latent(cell, at, n_sims, rng) < ndtri(cell.p)).astype(float)

    def crossed(part: slice) -> Crossed:
        y = scores[part]
        group = np.repeat(np.arange(len(y)), len(doc))
        ids = [np.tile(one, len(y)) for one in (doc, prompt)]
        return Crossed.from_rows(y.ravel(), ids, groups=group, n_groups=len(y), bounded=True, binary=True)

    both, few = crossed(slice(None)), crossed(slice(_RESAMPLED))
    alone = [rate(t, RateOptions(confidence_level=LEVEL)) for t in both.margins]
    smaller = alone[0].n_eff < alone[1].n_eff
    found: dict[str, RateResult] = {
        "default": rate(both.margins[0], RateOptions(confidence_level=LEVEL), Given(crossed=both)),
        "documents": alone[0],
        "smaller": dataclasses.replace(
            alone[0],
            ci_low=np.where(smaller, alone[0].ci_low, alone[1].ci_low),
            ci_high=np.where(smaller, alone[0].ci_high, alone[1].ci_high),
        ),
        "pigeonhole": rate(
            few.margins[0],
            RateOptions(method="bootstrap_pigeonhole", n_resamples=_RESAMPLES, rng=1, confidence_level=LEVEL),
            Given(crossed=few),
        ),
        "cr1": rate(both.margins[0], RateOptions(method="cr1", confidence_level=LEVEL), Given(crossed=both)),
        "cr2": rate(both.margins[0], RateOptions(method="cr2", confidence_level=LEVEL), Given(crossed=both)),
    }
    return found


def differences(
    cell: Cell, at: np.ndarray, n_sims: int, rng: np.random.Generator
) -> dict[str, DifferenceResult]:
    """Intervals of the difference of two equal systems by each method; each replicate is a pair of columns."""
    shared = np.sqrt(_SHARED) * rng.standard_normal((n_sims, at.shape[1]))
    own = [shared + np.sqrt(1 - _SHARED) * latent(cell, at, n_sims, rng) for _ in range(2)]
    scores = (np.concatenate(own) < ndtri(cell.p)).astype(float).T
    a, b = np.arange(n_sims), np.arange(n_sims) + n_sims
    square = ((scores[:, a] - scores[:, b]) ** 2).sum(axis=0)

    def totals(ids: np.ndarray):
        one = MatchedScores.from_items(scores, ids, binary=True, bounded=True)
        return one.totals(a, b, square, by_cluster=True)

    every = {(0,): totals(at[0]), (1,): totals(at[1]), (0, 1): totals(at[0] * 1000 + at[1])}

    def by(t, method: str) -> DifferenceResult:
        return infer(t, method, alternative="two-sided", confidence_level=LEVEL, margin=None, claim=None)

    alone = [by(every[d,], "icc_averaged") for d in range(2)]
    smaller = alone[0].std_error > alone[1].std_error
    crossed = dataclasses.replace(every[0,], crossed=every)
    return {
        "default": by(crossed, "icc_averaged"), "documents": alone[0],
        "smaller": dataclasses.replace(
            alone[0], ci_low=np.where(smaller, alone[0].ci_low, alone[1].ci_low),
            ci_high=np.where(smaller, alone[0].ci_high, alone[1].ci_high),
        ),
        "cr1": by(crossed, "cr1"), "cr2": by(crossed, "cr2"),
    }  # fmt: skip


def _job(job: tuple[Cell, int]) -> list[dict]:
    return simulate(*job)


def summary(frame: pd.DataFrame) -> str:
    """The tables, without headings, so that another page can include them."""
    made = (
        f"Made by `python benchmarks/crossed.py` with seed {int(frame['seed'].iloc[0])}: "
        f"{len(frame.drop_duplicates(['kind', 'design', 'effect', 'p']))} cells of {int(frame['simulations'].max()):,} replicates "
        f"({int(frame['simulations'].min())} of the bootstrap), rates .5, .8 and .95, nominal .95. A design is so many documents "
        "by so many prompts. Effects are shares in the variance of a latent normal score: documents or prompts .3; both .3 each; "
        "strong document .5 and prompt .4; cells .4 for document and prompt together and .1 for each alone. Two systems have such "
        f"effects of their own, beside a share of {_SHARED} of the item in both. The standard error of a coverage of .95 is "
        f"{np.sqrt(0.95 * 0.05 / frame['simulations'].max()):.4f} ({np.sqrt(0.95 * 0.05 / frame['simulations'].min()):.3f} of the "
        "bootstrap), so the least of many cells is partly luck."
    )
    parts = [textwrap.fill(made, 120)]
    for kind, title in (("rate", "One rate:"), ("difference", "The difference of two equal systems:")):
        own = frame[frame["kind"] == kind]
        parts += ["", title, "", *_tables(own)] if len(own) else []
    return "\n".join([*parts, ""])


def _tables(frame: pd.DataFrame) -> list[str]:
    header = ["method", "least coverage", "mean coverage", "cells under .93", "mean width over the default's"]
    methods = {name: label for name, label in METHODS.items() if name in set(frame["method"])}
    width = frame.pivot(index=["design", "effect", "p"], columns="method", values="width")
    body = []
    for name, label in methods.items():
        part = frame[frame["method"] == name]["coverage"]
        shares = [f"{part.min():.3f}", f"{part.mean():.3f}", f"{(part < 0.93).mean():.0%}"]
        body.append([label, *shares, f"{(width[name] / width['default']).mean():.2f}"])
    by = frame.pivot_table(index=["design", "effect"], columns="method", values="coverage", aggfunc="min")
    rows = [
        [design, effect, *(f"{by.loc[(design, effect), name]:.3f}" for name in methods)]
        for design in DESIGNS for effect in EFFECTS if (design, effect) in by.index
    ]  # fmt: skip
    least = simulation.markdown(["design", "effects", *methods], rows)
    return [simulation.markdown(header, body), "", "Least coverage over the three rates:", "", least]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["rate", "difference"])
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=CSV)
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args(arguments)
    jobs = [job for job in grid(quick=options.quick) if options.only in (None, job[0].kind)]
    kept: list[dict] = []
    if options.only and options.output.exists():
        frame = pd.read_csv(options.output)
        kept = frame[frame["kind"] != options.only].to_dict("records")
    done = simulation.spread(_job, jobs, processes=options.processes, label="crossed", bar=True)
    records = [record for found in done for record in found]
    frame = simulation.collect([*kept, *records], ["kind", "design", "effect", "p"], options.output)
    page = summary(frame)
    options.table.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
